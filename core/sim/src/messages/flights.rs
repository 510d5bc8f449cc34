//! What is on its way between PEs.

use talisman_base::ids::PeId;
use talisman_kernel::port::Parcel;

/// All that is on its way, each under a number that is free again after it has arrived.
#[derive(Default)]
pub(super) struct Flights {
    all: Vec<Option<Flight>>,
    free: Vec<u32>,
}

/// Something on its way.
pub(super) struct Flight {
    pub(super) from: PeId,
    pub(super) to: PeId,
    /// Of the event that it was first planned for.
    pub(super) serial: u64,
    /// On a wire; none within a node.
    pub(super) bytes: u32,
    pub(super) stage: Stage,
    pub(super) parcel: Parcel,
}

/// What it gets to next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The line of its sender's host.
    Leaves,
    /// The line of its receiver's host.
    Reaches,
    /// Its receiver, without any line.
    Arrives,
}

impl Flights {
    pub(super) fn put(&mut self, flight: Flight) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.all[number as usize] = Some(flight);
                number
            }
            None => {
                self.all.push(Some(flight));
                (self.all.len() - 1) as u32
            }
        }
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut Flight {
        self.all[number as usize].as_mut().expect("an event is of something on its way")
    }

    pub(super) fn take(&mut self, number: u32) -> Flight {
        self.free.push(number);
        self.all[number as usize].take().expect("something arrives once")
    }

    /// All that never arrived.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Parcel> + use<> {
        std::mem::take(&mut self.all).into_iter().flatten().map(|flight| flight.parcel)
    }
}
