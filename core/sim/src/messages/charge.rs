//! What a program that stands for another says of itself: how long it computes.

use std::time::Duration;

use super::cores;
use talisman_base::clock::{Clock, Simulated};
use talisman_kernel::pe::try_current;

/// In simulation the entry that runs takes so much longer, on the model of a machine as its cores are fast. Elsewhere nothing
/// happens.
pub fn charge(time: Duration) {
    try_current(|pe| {
        if let Clock::Simulated(Simulated { now, .. }) = &pe.clock
            && !pe.clock.measures_machine()
        {
            now.set(now.get() + cores::takes(now.get(), time));
        }
    });
}
