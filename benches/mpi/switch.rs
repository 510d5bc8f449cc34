//! A rank's thread resumed and suspended, without anything else.

use talisman_ampi::slot::{BASE, Layout, Slot, SlotSpace};
use talisman_ampi::thread::{Resumed, Thread, suspend};

use crate::common::{Budget, alone, ns_each, row, table};
use crate::job::rounds;

const ROUNDS: u32 = 31;
const PAIRS: u64 = 200_000;
const WHAT: &str = "to a rank and back";

pub fn measure() {
    SlotSpace::reserve(BASE, Layout::DEFAULT, 1).expect("these addresses are free");
    let mut thread = Thread::new(Slot::new(0).expect("a free slot"), || {
        loop {
            suspend();
        }
    });
    for _ in 0..rounds(ROUNDS) {
        let ns = ns_each(PAIRS, || {
            for _ in 0..PAIRS {
                assert_eq!(thread.resume().expect("in place"), Resumed::Suspended);
            }
        });
        alone(WHAT, ns);
    }
    table("Switching", "ns", &[row(WHAT, Budget::AtMost(60.0))]);
}
