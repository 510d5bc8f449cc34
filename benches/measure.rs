//! Whether objects' loads are measured right, on cores that others want as well.
//!
//! `cargo bench --bench measure`. Objects compute for different times, on PEs that share their cores: with a competing thread on
//! each, and with each other. What an object's entries really computed is added up from its thread's CPU time; the load that
//! balancing would be told has to be that. Short entries are too short for such a clock: theirs is known from how long many take.
//! What others had of a core while entries ran on it tells what they had of it in all, which has to be the background: how long a PE
//! waited for the beginning and the end of a period is neither.

mod common;

use common::{Budget, row};

const PES: [(u32, u32); 4] = [(1, 0), (2, 0), (2, 2), (8, 0)];

fn main() {
    for (pes, competitors) in PES {
        program::measure(pes, competitors);
    }
    let rows: Vec<_> = PES
        .into_iter()
        .flat_map(|(pes, competitors)| {
            let most = |what, percent| row(name(what, pes, competitors), Budget::AtMost(percent));
            [most("long", 5.0), most("mixed", 10.0), most("short", 15.0), most("background", 15.0)]
        })
        .collect();
    common::table("Measured loads: error, background in the period's percent", "%", &rows);
}

/// What a row is called.
fn name(what: &str, pes: u32, competitors: u32) -> String {
    format!("{what}, {pes} PEs, {competitors} competitors")
}

mod program {
    use std::cell::Cell;
    use std::hint::spin_loop;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};
    use talisman::callback::Callback;
    use talisman::function::Function;
    use talisman::prelude::*;
    use talisman::run::Measures;
    use talisman::testing::end_period;

    use super::name;
    use crate::common::{alone, grain, nanos, on_pes_measured};

    const WORKERS: u32 = 16;
    const PERIODS: u32 = 9;
    const PERIOD: Duration = Duration::from_millis(400);
    /// A short entry, in units of work.
    const SHORT: u64 = 40;
    const SHORT_ENTRIES: u64 = 20_000;
    /// One after the other: long entries, the same with many short ones in between, and nothing but short ones.
    const KINDS: [&str; 3] = ["long", "mixed", "short"];

    /// What PEs measured: loads by worker, their backgrounds, and how long their periods were.
    static MEASURED: Mutex<Vec<(f32, f64)>> = Mutex::new(Vec::new());
    static BACKGROUND: Mutex<Vec<(f64, f64)>> = Mutex::new(Vec::new());

    thread_local! {
        /// When this PE's period began.
        static BEGAN: Cell<u64> = const { Cell::new(0) };
    }

    struct EndPeriod;

    impl Function for EndPeriod {
        const NAME: &'static str = "talisman::benches::measure::EndPeriod";
        type Value = ();

        fn call((): ()) {
            let local = end_period();
            let loads = local.objects.iter().filter_map(|object| Some((object.position?[0], object.load)));
            MEASURED.lock().expect("no one panics with it").extend(loads);
            let now = nanos();
            let lasted = (now - BEGAN.replace(now)) as f64 * 1e-9;
            BACKGROUND.lock().expect("no one panics with it").push((local.pe.background, lasted));
        }
    }

    talisman::register_function!(EndPeriod);

    /// Seconds that this thread has computed.
    fn computed() -> f64 {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }

    /// What a unit of work takes, whoever else wants the core.
    fn ns_per_unit() -> f64 {
        let once = || {
            let start = computed();
            grain::work(1_000_000);
            (computed() - start) * 1e9 / 1e6
        };
        let mut all: Vec<f64> = (0..9).map(|_| once()).collect();
        all.sort_by(f64::total_cmp);
        all[4]
    }

    /// Computes over and over until a period is over.
    #[derive(Pup)]
    struct Worker {
        computed: f64,
        /// How long its entries took, others on the core included.
        lasted: f64,
        until_ns: u64,
    }

    #[chare(array1d)]
    impl Worker {
        #[init]
        fn new() -> Self {
            Worker { computed: 0.0, lasted: 0.0, until_ns: 0 }
        }

        /// In entries of so many units, each after some that do nothing.
        #[entry]
        fn begin(&mut self, cx: &mut Cx<Self>, units: u64, before: u32, until_ns: u64) {
            (self.computed, self.lasted) = (0.0, 0.0);
            self.until_ns = until_ns;
            cx.me().work(units, before, before);
        }

        #[entry]
        fn work(&mut self, cx: &mut Cx<Self>, units: u64, before: u32, left: u32) {
            if left > 0 {
                return cx.me().work(units, before, left - 1);
            }
            let (start, start_ns) = (computed(), nanos());
            grain::work(units);
            self.computed += computed() - start;
            self.lasted += (nanos() - start_ns) as f64 * 1e-9;
            if (cx.now().as_nanos() as u64) < self.until_ns {
                cx.me().work(units, before, before);
            }
        }

        /// The same without looking at a clock each time; a round of so many is one entry after the other.
        #[entry]
        fn short(&mut self, cx: &mut Cx<Self>, units: u64, left: u64) {
            grain::work(units);
            if left > 0 {
                cx.me().short(units, left - 1);
            }
        }

        #[entry]
        fn done(&self) -> (f64, f64) {
            (self.computed, self.lasted)
        }
    }

    #[derive(clap::Parser, Pup)]
    struct Options {
        pes: u32,
        competitors: u32,
        ns_per_unit: f64,
    }

    pub fn measure(pes: u32, competitors: u32) {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..competitors {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        spin_loop();
                    }
                });
            }
            let measures = Measures { loads: true, ..Measures::default() };
            let options = Options { pes, competitors, ns_per_unit: ns_per_unit() };
            on_pes_measured::<__Main>(pes, measures, (options,));
            stop.store(true, Ordering::Relaxed);
        });
    }

    #[talisman::main]
    async fn main(cx: &mut Cx, options: Options) {
        let workers: Array<Worker> = Worker::array((WORKERS * options.pes) as i32).new();
        for period in 0..PERIODS {
            end_periods(cx.pes());
            cx.quiescence().await;
            clear();
            let kind: u32 = period % 3;
            let start_ns: u64 = cx.now().as_nanos() as u64;
            begin(workers, kind, &options, start_ns + PERIOD.as_nanos() as u64);
            cx.quiescence().await;
            end_periods(cx.pes());
            cx.quiescence().await;
            let (mut total, mut lasted): (f64, f64) = (0.0, 0.0);
            for worker in 0..WORKERS * options.pes {
                let seen: (f64, f64) = workers.at(worker as i32).done().await;
                let computed: f64 = if kind == 2 { short_s(worker, &options) } else { seen.0 };
                let error: f64 = (load_of(worker) / computed - 1.0).abs();
                alone(name(KINDS[kind as usize], options.pes, options.competitors), 100.0 * error);
                total += computed;
                lasted += seen.1;
            }
            if kind != 2 {
                // A part of each period; short entries do not look at clocks.
                let taken: f64 = (1.0 - total / lasted).max(0.0);
                let error: f64 = (background() - taken).abs();
                alone(name("background", options.pes, options.competitors), 100.0 * error);
            }
        }
        cx.exit();
    }

    /// Workers differ by up to sixteen times, in the same way on each PE.
    fn size_of(worker: u32) -> u64 {
        1 + u64::from(worker % WORKERS)
    }

    fn begin(workers: Array<Worker>, kind: u32, options: &Options, until_ns: u64) {
        for worker in 0..WORKERS * options.pes {
            let units = grain::units(20 * size_of(worker) as u32, options.ns_per_unit);
            let worker_proxy = workers.at(worker as i32);
            match kind {
                0 => worker_proxy.begin(units, 0, until_ns),
                1 => worker_proxy.begin(units, 6, until_ns),
                _ => worker_proxy.short(SHORT * size_of(worker), SHORT_ENTRIES - 1),
            }
        }
    }

    /// What the short entries of a worker take.
    fn short_s(worker: u32, options: &Options) -> f64 {
        (SHORT_ENTRIES * SHORT * size_of(worker)) as f64 * options.ns_per_unit * 1e-9
    }

    fn end_periods(pes: u32) {
        (0..pes).for_each(|pe| Callback::function::<EndPeriod>(pe).send(()));
    }

    fn clear() {
        MEASURED.lock().expect("no one panics with it").clear();
        BACKGROUND.lock().expect("no one panics with it").clear();
    }

    fn load_of(worker: u32) -> f64 {
        let measured = MEASURED.lock().expect("no one panics with it");
        measured.iter().find(|(position, _)| *position == worker as f32).map_or(f64::NAN, |(_, load)| *load)
    }

    /// Of the PEs' periods.
    fn background() -> f64 {
        let all = BACKGROUND.lock().expect("no one panics with it");
        all.iter().map(|(background, _)| background).sum::<f64>()
            / all.iter().map(|(_, lasted)| lasted).sum::<f64>()
    }
}
