//! What a message between two PEs of one process costs, against a raw hand-over; and what PEs cost each other when there
//! are more of them than cores.
//!
//! `cargo bench --bench between_pes`. The limit of a hop is two threads that poll and write each other's flag, and these
//! threads are the PEs themselves, inside an entry: so both sides of a ratio run on the same two cores. The ideal of
//! the crowded stencil is its work divided by the cores, with the cores' speed taken from running all of them at once.

mod common;

use common::{Budget, CHARM, MEASURED, Row, row};

const HOP_8: &str = "ping-pong, one way, 8 bytes";
const HOP_24: &str = "ping-pong, one way, 24 bytes";
const STREAM: &str = "stream, per message of 16 bytes | one hand-over";
const GRAIN_100: &str = "stencil, 8 PEs on 2 cores, 100 µs grain, µs per step | ideal";
const GRAIN_10: &str = "stencil, 8 PEs on 2 cores, 10 µs grain, µs per step | ideal";

fn main() {
    if common::wanted("hops") {
        hops::measure();
    }
    if common::wanted("crowd") {
        crowd::measure();
    }
    let charm = |row: Row, ns| row.beside(CHARM, ns);
    let measured = |what: &'static str| MEASURED.map(|(how, _)| format!("{what}{how}"));
    let hops = [HOP_8, HOP_24].into_iter().flat_map(measured);
    let hops = hops.map(|what| charm(row(what, Budget::Times(1.3)), 650.0));
    let streams = measured(STREAM).map(|what| row(what, Budget::Open));
    common::table("A message between two PEs", "ns", &hops.chain(streams).collect::<Vec<_>>());
    common::table(
        "More PEs than cores",
        "µs",
        &[row(GRAIN_100, Budget::Times(1.2)), row(GRAIN_10, Budget::Open)],
    );
}

/// Two PEs.
mod hops {
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicU64, Ordering};

    use talisman::prelude::*;

    use crate::common::{MEASURED, nanos, on_pes_measured, sample};

    /// So often a job is run with each way of measuring, in turn ...
    const JOBS: u32 = 6;
    /// ... for so many rounds.
    const ROUNDS: usize = 50;
    const TRIPS: u64 = 500;
    const MESSAGES: u64 = 5_000;

    pub fn measure() {
        for _ in 0..JOBS {
            for (how, measures) in MEASURED {
                FLAGS.iter().for_each(|flag| flag.0.store(0, Ordering::Relaxed));
                on_pes_measured::<__Main>(2, measures, (Options { how: how.into() },));
            }
        }
    }

    #[derive(clap::Parser, Pup)]
    struct Options {
        /// What the rows are called beside the usual.
        how: String,
    }

    /// Two lines, so that two flags never share one.
    #[repr(align(128))]
    struct Flag(AtomicU64);

    static FLAGS: [Flag; 2] = [const { Flag(AtomicU64::new(0)) }; 2];

    impl Flag {
        fn wait_for(&self, value: u64) {
            while self.0.load(Ordering::Acquire) != value {
                spin_loop();
            }
        }
    }

    /// One of two, each on a PE of its own.
    #[derive(Pup)]
    struct Player {
        seen: u64,
    }

    #[chare(group)]
    impl Player {
        #[init]
        fn new() -> Self {
            Player { seen: 0 }
        }

        #[entry]
        fn ball(&mut self, cx: &mut Cx<Self>, left: u64) {
            match left {
                0 => cx.group().on(0).finished(),
                _ => cx.group().on(1 - cx.pe()).ball(left - 1),
            }
        }

        #[entry]
        fn heavy_ball(&mut self, cx: &mut Cx<Self>, left: u64, a: u64, b: u64) {
            self.seen = self.seen.wrapping_add(a);
            match left {
                0 => cx.group().on(0).finished(),
                _ => cx.group().on(1 - cx.pe()).heavy_ball(left - 1, b, a),
            }
        }

        #[entry]
        fn finished();

        #[entry]
        async fn play(&mut self, cx: &mut Cx<Self>, trips: u64) -> f64 {
            let start: u64 = nanos();
            cx.group().on(1).ball(2 * trips);
            cx.when(Self::finished).await;
            (nanos() - start) as f64 / (2 * trips) as f64
        }

        #[entry]
        async fn play_heavy(&mut self, cx: &mut Cx<Self>, trips: u64) -> f64 {
            let start: u64 = nanos();
            cx.group().on(1).heavy_ball(2 * trips, 1, 2);
            cx.when(Self::finished).await;
            (nanos() - start) as f64 / (2 * trips) as f64
        }

        /// The limit: hands a flag over and over. Both PEs are in this entry at once.
        #[entry]
        fn echo(&mut self, first: u64, trips: u64) {
            for trip in first..first + trips {
                FLAGS[0].wait_for(trip);
                FLAGS[1].0.store(trip, Ordering::Release);
            }
        }

        #[entry]
        fn raw(&mut self, cx: &mut Cx<Self>, first: u64, trips: u64) -> f64 {
            cx.group().on(1).echo(first, trips);
            let hand_over = |trip| {
                FLAGS[0].0.store(trip, Ordering::Release);
                FLAGS[1].wait_for(trip);
            };
            hand_over(first); // Both are there now.
            let start = nanos();
            (first + 1..first + trips).for_each(hand_over);
            (nanos() - start) as f64 / (2 * (trips - 1)) as f64
        }

        #[entry]
        fn drop(&mut self, cx: &mut Cx<Self>, number: u64, last: u64) {
            self.seen = self.seen.wrapping_add(number);
            if number == last {
                cx.group().on(0).finished();
            }
        }

        /// Sends as fast as it can, a batch at a time so that the scheduler has its turn.
        #[entry]
        fn pour(&mut self, cx: &mut Cx<Self>, from: u64, last: u64) {
            let to = last.min(from + 63);
            (from..=to).for_each(|number| cx.group().on(1).drop(number, last));
            if to < last {
                cx.group().on(0).pour(to + 1, last);
            }
        }

        #[entry]
        async fn stream(&mut self, cx: &mut Cx<Self>, messages: u64) -> f64 {
            let start: u64 = nanos();
            cx.group().on(0).pour(1, messages);
            cx.when(Self::finished).await;
            (nanos() - start) as f64 / messages as f64
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx, options: Options) {
        let how: String = options.how;
        let players: Group<Player> = Player::group().new();
        for round in 0..ROUNDS {
            let first: u64 = 1 + 2 * round as u64 * TRIPS;
            let light: f64 = players.on(0).play(TRIPS).await;
            let raw: f64 = players.on(0).raw(first, TRIPS).await;
            sample(format!("{}{how}", super::HOP_8), light, raw);
            let heavy: f64 = players.on(0).play_heavy(TRIPS).await;
            let raw: f64 = players.on(0).raw(first + TRIPS, TRIPS).await;
            sample(format!("{}{how}", super::HOP_24), heavy, raw);
            let stream: f64 = players.on(0).stream(MESSAGES).await;
            sample(format!("{}{how}", super::STREAM), stream, raw);
        }
        cx.exit();
    }
}

/// Eight PEs on the cores that there are.
mod crowd {
    use talisman::prelude::*;

    use super::{GRAIN_10, GRAIN_100};
    use crate::common::{grain, nanos, on_pes, result, sample};

    const PES: u32 = 8;
    const ROUNDS: usize = 11;

    pub fn measure() {
        let speed = grain::ns_per_unit();
        for _ in 0..ROUNDS {
            for (what, grain_us, steps) in [(GRAIN_100, 100, 100), (GRAIN_10, 10, 400)] {
                let grain = grain::units(grain_us, speed);
                let outcome = on_pes::<__Main>(PES, (Options { grain, steps },));
                sample(what, result(&outcome, "us per step"), grain::ideal_us(PES, grain, steps));
            }
        }
    }

    /// One cell of a ring: works, tells both neighbours, waits for both.
    #[derive(Pup)]
    struct Cell {
        grain: u64,
    }

    #[chare(group)]
    impl Cell {
        #[init]
        fn new(grain: u64) -> Self {
            Cell { grain }
        }

        #[entry]
        fn edge(step: u32);

        #[entry]
        async fn run(&mut self, cx: &mut Cx<Self>, steps: u32) -> u64 {
            for step in 0..steps {
                grain::work(grain::share(self.grain, cx.pe(), step));
                cx.group().on((cx.pe() + 1) % PES).edge(step);
                cx.group().on((cx.pe() + PES - 1) % PES).edge(step);
                cx.when(Self::edge, step).await;
                cx.when(Self::edge, step).await;
            }
            nanos()
        }
    }

    #[derive(clap::Parser, Pup)]
    struct Options {
        grain: u64,
        steps: u32,
    }

    #[talisman::main]
    async fn main(cx: &mut Cx, options: Options) {
        let cells: Group<Cell> = Cell::group().new(options.grain);
        let _warm: u64 = cells.run(2).reduce(Max).await;
        let start: u64 = nanos();
        let end: u64 = cells.run(options.steps).reduce(Max).await;
        cx.result("us per step", (end - start) as f64 / 1000.0 / options.steps as f64);
    }
}
