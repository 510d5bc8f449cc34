//! Large messages in both directions at once, more than links and sockets have room for.
//!
//! Pairs of elements, most of them on different nodes, send each other bursts of slices, from a few bytes to several times
//! what the links' limits are, without waiting for each other; between them drops, small messages by the hundred. In some
//! floods one of each pair only reads. Every slice says what must be in it, and they come in order.

use std::time::Duration;

use talisman::prelude::*;
use talisman::rng::Rng;
use talisman::simulation::{self, simulate};

use super::ledger::{self, HERE};
use super::{Checked, Size};

/// What a job sends at most: a swarm has no time for more. Most send that in many messages.
const BYTES_MAX: u64 = 1 << 20;
/// What would be sent at most in a job in which only half of the elements send.
const ONE_WAY_MAX: u64 = 6 << 20;
/// Drops of a job.
const DROPS_MAX: u64 = 4_000;
/// What a job of four messages sends at most.
const FOUR_MAX: u64 = 4 << 20;

#[derive(Clone, Copy, Pup, clap::Parser)]
struct Flood {
    #[arg(skip)]
    seed: u64,
    /// Two elements each.
    #[arg(skip)]
    pairs: i32,
    /// Slices that each sends in a burst, and bursts.
    #[arg(skip)]
    burst: u32,
    #[arg(skip)]
    bursts: u32,
    /// Bytes of the largest slice.
    #[arg(skip)]
    largest: u64,
    /// Drops after each slice.
    #[arg(skip)]
    drops: u32,
    /// The first streams to the second, faster than that can read.
    #[arg(skip)]
    streams: bool,
    /// Only one of each pair sends, so that the other has nothing to say but how far it has read.
    #[arg(skip)]
    one_way: bool,
}

pub fn run(seed: u64, size: Size, plan: &simulation::Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let (pairs, burst, bursts, bytes) = match rng.below(8) {
        0 => (1, 2, 1, FOUR_MAX),
        _ => {
            let (pairs, burst) = (1 + rng.below(1 + u64::from(size.0)), 2 + rng.below(6));
            (pairs, burst, 1 + u64::from(size.0), BYTES_MAX)
        }
    };
    let one_way = rng.below(3) == 0;
    let messages = 2 * pairs * burst * bursts;
    let largest = match one_way {
        // More than may be on its way before anything is acknowledged.
        true => ONE_WAY_MAX / messages,
        false => largest(plan).min(bytes / messages),
    };
    let flood = Flood {
        seed,
        pairs: pairs as i32,
        burst: burst as u32,
        bursts: bursts as u32,
        largest,
        drops: [0, 3, 10, 300][rng.below(4) as usize].min(DROPS_MAX / messages) as u32,
        streams: rng.below(2) == 0,
        one_way,
    };
    let ledger = ledger::open(HERE, 0);
    let ran = simulate::<__Main>((flood,), plan, logging);
    ledger::close(HERE);
    Checked::by_ledger(ran, &ledger)
}

/// Several times what fits, unless that takes many more turns of the network than a run has.
fn largest(plan: &simulation::Plan) -> u64 {
    let limits = plan.limits;
    let room = limits.unsent_bytes.min(16 * limits.socket_bytes) as u64;
    (4 * room).max(1 << 10)
}

/// Slices of several types, beside small values.
#[derive(Pup)]
enum Water {
    Bytes(Vec<u8>),
    Words(Vec<u64>),
    Mixed(String, Vec<u32>, Vec<f64>),
}

impl Water {
    /// The one of this number from an element: nothing else decides what is in it.
    fn new(flood: Flood, from: i32, number: u32) -> Self {
        let mut rng = Rng::new(flood.seed ^ ((from as u64) << 40) ^ ((u64::from(number)) << 8));
        let bytes = match rng.below(4) {
            0 => rng.below(64),
            1 => rng.below(flood.largest),
            _ => flood.largest - rng.below(flood.largest / 4),
        };
        let drop = rng.next_u64();
        let word = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ drop;
        match rng.below(3) {
            0 => Water::Bytes((0..bytes).map(|n| word(n / 61) as u8).collect()),
            1 => Water::Words((0..bytes / 8).map(word).collect()),
            _ => Water::Mixed(
                format!("{number} of {from}"),
                (0..bytes / 16).map(|n| word(n) as u32).collect(),
                (0..bytes / 32).map(|n| n as f64 + drop as f64).collect(),
            ),
        }
    }

    /// Whether this is what it should be.
    fn is(&self, other: &Water) -> bool {
        match (self, other) {
            (Water::Bytes(one), Water::Bytes(other)) => one == other,
            (Water::Words(one), Water::Words(other)) => one == other,
            (Water::Mixed(a, b, c), Water::Mixed(d, e, f)) => (a, b, c) == (d, e, f),
            _ => false,
        }
    }
}

#[derive(Pup)]
struct Shore {
    flood: Flood,
    sent: u32,
    come: u32,
    /// Drops that went to each, and came from each.
    dripped: Vec<u32>,
    dropped: Vec<u32>,
}

#[chare(array1d)]
impl Shore {
    #[init]
    fn new(flood: Flood) -> Self {
        let none = vec![0; 2 * flood.pairs as usize];
        Shore { flood, sent: 0, come: 0, dripped: none.clone(), dropped: none }
    }

    /// Sends a burst, and goes on with the next, soon or at once, whatever comes meanwhile.
    #[entry]
    fn pour(&mut self, cx: &mut Cx<Self>, left: u32, _now: ()) {
        if self.flood.one_way && cx.index() % 2 == 1 {
            return;
        }
        if self.flood.streams && cx.index() == 0 && left == self.flood.bursts {
            cx.me().stream(12);
        }
        for _ in 0..self.flood.burst {
            let water = Water::new(self.flood, cx.index(), self.sent);
            let id = ledger::of(HERE).send();
            cx.array().at(cx.index() ^ 1).come(id, self.sent, water);
            self.sent += 1;
            let to: i32 = cx.rng().below(self.dripped.len() as u64) as i32;
            self.drip(cx, to, self.flood.drops);
        }
        if left > 1 {
            let pause = Duration::from_micros(cx.rng().below(1600).saturating_sub(400));
            cx.after(pause, cx.callback(Self::pour).with(left - 1));
        }
    }

    /// Many drops, and soon again as many, while those before are still being read.
    #[entry]
    fn stream(&mut self, cx: &mut Cx<Self>, left: u32) {
        self.drip(cx, 1, 100);
        if left > 1 {
            cx.me().stream(left - 1);
        }
    }

    #[entry]
    fn come(&mut self, cx: &mut Cx<Self>, id: u64, number: u32, water: Water) {
        let (ledger, from) = (ledger::of(HERE), cx.index() ^ 1);
        ledger.receive(id, cx.index());
        if number != self.come {
            ledger.violation(format!("{number} of {from} came instead of {}", self.come));
        }
        if !water.is(&Water::new(self.flood, from, number)) {
            ledger.violation(format!("{number} of {from} is not what was sent"));
        }
        self.come += 1;
    }

    /// A small message, of which many fit anywhere. They come in order, too.
    #[entry]
    fn drop_of(&mut self, cx: &mut Cx<Self>, id: u64, from: i32, number: u32) {
        ledger::of(HERE).receive(id, cx.index());
        let dropped = &mut self.dropped[from as usize];
        if number != *dropped {
            ledger::of(HERE).violation(format!("drop {number} of {from} came instead of {dropped}"));
        }
        *dropped += 1;
    }

    #[entry]
    fn arrived(&self) -> u64 {
        u64::from(self.come) + self.dropped.iter().copied().map(u64::from).sum::<u64>()
    }
}

impl Shore {
    fn drip(&mut self, cx: &mut Cx<Self>, to: i32, drops: u32) {
        let dripped = &mut self.dripped[to as usize];
        for _ in 0..drops {
            cx.array().at(to).drop_of(ledger::of(HERE).send(), cx.index(), *dripped);
            *dripped += 1;
        }
    }
}

/// Where the elements of a pair are: on different nodes, if there are any, or sometimes on neighbours within one.
fn places<C: Chare>(cx: &Cx<C>, rng: &mut Rng) -> [u32; 2] {
    let (pes, per_node) = (u64::from(cx.pes()), u64::from(cx.pes() / cx.nodes()));
    let one = rng.below(pes);
    if rng.below(4) == 0 {
        return [one as u32, (one - one % per_node + (one + 1) % per_node) as u32];
    }
    let nodes_apart = 1 + rng.below(u64::from(cx.nodes()).max(2) - 1);
    [one as u32, ((one + nodes_apart * per_node) % pes) as u32]
}

#[talisman::main]
async fn main(cx: &mut Cx, flood: Flood) {
    let mut rng = Rng::new(flood.seed);
    let shores: Array<Shore> = Shore::sparse();
    for pair in 0..flood.pairs {
        for (side, place) in (0..).zip(places(cx, &mut rng)) {
            shores.insert(2 * pair + side).on(place).new(flood);
        }
    }
    shores.done_inserting();
    shores.pour(flood.bursts, ());
    cx.quiescence().await;
    let ledger = ledger::of(HERE);
    ledger.quiet("after the flood");
    let arrived: Vec<u64> = shores.arrived().reduce(Concat).await;
    cx.result("arrived", format!("{arrived:?}"));
    ledger::of(HERE).finish();
}
