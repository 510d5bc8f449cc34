//! How both sides wait for each other: they poll, and where others want the core, one of whom may be the other side, they let them.

use std::hint::spin_loop;
use std::thread;

/// Longer than any hand-over between two cores takes.
const SPINS: u32 = 10_000;

/// Looks in vain so far.
#[derive(Default)]
pub struct Looks(u32);

impl Looks {
    /// One more.
    pub fn in_vain(&mut self) {
        self.0 = self.0.saturating_add(1);
        match self.0 < SPINS {
            true => spin_loop(),
            false => thread::yield_now(),
        }
    }
}

/// Until this is so.
pub fn wait_until(has_come: impl Fn() -> bool) {
    let mut looks = Looks::default();
    while !has_come() {
        looks.in_vain();
    }
}
