//! Ranks without a job: all in this thread, none of which moves. For examples in documents, and to look at a program
//! under a debugger.

use super::{Error, Universe};
use crate::rank::{Outgoing, Rank};
use crate::slot::{BASE, Layout, Slot, SlotSpace};
use crate::thread::Resumed;

/// Runs a program on so many ranks, and returns when all have ended. Once in a process.
///
/// ```
/// # extern crate talisman_core as talisman;
/// use talisman_ampi::api::{run_alone, traits::*};
///
/// run_alone(3, |universe| universe.world().barrier());
/// ```
///
/// # Panics
/// If a rank fails, or all wait for each other.
pub fn run_alone(ranks: u32, program: fn(Universe) -> Result<(), Error>) {
    SlotSpace::reserve(BASE, Layout::DEFAULT, ranks).expect("nobody has these addresses");
    let mut all: Vec<Rank> = (0..ranks).map(|number| rank(number, ranks, program)).collect();
    let mut flying: Vec<Outgoing> = Vec::new();
    let mut left = ranks;
    while left > 0 {
        let mut is_stuck = flying.is_empty();
        for (to, frame) in std::mem::take(&mut flying) {
            all[to as usize].on_frame(frame, &mut flying).expect("a rank has sent it");
        }
        for rank in &mut all {
            if rank.is_ready() {
                is_stuck = false;
                left -= u32::from(has_ended(rank, &mut flying));
            }
        }
        assert!(!is_stuck, "all ranks wait");
    }
}

fn rank(number: u32, ranks: u32, program: fn(Universe) -> Result<(), Error>) -> Rank {
    let slot = Slot::new(number).expect("a free slot");
    let run = move || program(Universe::new()).unwrap_or_else(|error| panic!("{error}"));
    Rank::new(slot, number, ranks, run)
}

fn has_ended(rank: &mut Rank, sent: &mut Vec<Outgoing>) -> bool {
    match rank.resume(sent).expect("its memory is there") {
        Resumed::Suspended => false,
        Resumed::Ended => true,
        failed => panic!("{failed:?}"),
    }
}
