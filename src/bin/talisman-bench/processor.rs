//! What PEs compute and copy, alone and all at once.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};
use talisman::prelude::*;

use crate::figures::Copied;
use crate::place::Place;
use crate::raw::clock::nanos;

/// For so long a PE computes or copies at least: much longer than a broadcast takes to be everywhere.
const LASTS_NS: u64 = 20_000_000;
/// Steps between two looks at the clock.
const STEPS: u64 = 50_000;
/// Memory that is copied: more than a core's own caches.
const COPIED: usize = 16 << 20;

/// One on each PE.
#[derive(Pup)]
pub struct Processor {
    #[pup(skip)]
    memory: Option<(Vec<u8>, Vec<u8>)>,
}

#[chare(group)]
impl Processor {
    #[init]
    pub fn new() -> Self {
        Processor { memory: None }
    }

    #[entry]
    pub fn place(&mut self, cx: &mut Cx<Self>) -> Place {
        Place::here(cx.pe(), cx.node())
    }

    /// Steps in a microsecond, while no other PE has anything to do.
    #[entry]
    pub fn speed_alone(&mut self) -> f64 {
        steps_in_a_microsecond()
    }

    /// The same, while all do it, with the PE.
    #[entry]
    pub fn speed(&mut self, cx: &mut Cx<Self>) -> (u32, f64) {
        (cx.pe(), steps_in_a_microsecond())
    }

    /// What is copied while all PEs copy.
    #[entry]
    pub fn copy(&mut self, cx: &mut Cx<Self>) -> Copied {
        let (from, to) = self.memory.get_or_insert_with(|| (vec![1; COPIED], vec![2; COPIED]));
        let began_ns = monotonic_ns();
        let copies = over_and_over(|| {
            to.copy_from_slice(black_box(from));
            black_box(&to);
        });
        let ended_ns = monotonic_ns();
        let bytes = copies * COPIED as f64 * (ended_ns - began_ns) as f64;
        Copied { pe: cx.pe(), bytes, began_ns, ended_ns }
    }
}

/// The clock that all processes of a host have.
fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn steps_in_a_microsecond() -> f64 {
    over_and_over(|| {
        // A chain of which each step needs the one before.
        black_box((0..STEPS).fold(black_box(1.0f64), |x, _| x * 1.000_000_1 + 1e-9));
    }) * STEPS as f64
        * 1000.0
}

/// How often this can be done in a nanosecond.
fn over_and_over(mut work: impl FnMut()) -> f64 {
    let (start, mut times) = (nanos(), 0);
    loop {
        work();
        times += 1;
        let lasted = nanos() - start;
        if lasted >= LASTS_NS {
            return f64::from(times) / lasted as f64;
        }
    }
}
