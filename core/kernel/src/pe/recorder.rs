//! Who hears what a PE is given, as it is given: message logging, and records on disk.

use super::Pe;
use super::turn::Command;
use talisman_base::ids::PeId;
use talisman_pup::{Packed, Segment};

/// Keeps what a PE is given, for another PE to be given the same. It is told in the midst of turns.
///
/// A PE that is run again has one as well: it says what values of the world were.
pub trait Recorder {
    /// Its clock says this from now on, in nanoseconds. Told before everything else, also where that is nothing new.
    fn time(&self, now: u64);

    /// A message of its queue is about to run.
    fn runs(&self);

    /// Timers that are due fire.
    fn timers(&self);

    /// It has nothing else to do: idle work, reductions to send on, waves to answer.
    fn rests(&self);

    /// It was told that it had been idle, and had given its core to others, in nanoseconds.
    fn idle(&self, idle_ns: u64, released_ns: u64);

    /// Somebody beside the PEs asks for something.
    fn asked(&self, command: &Command);

    /// It has read a value of the world, here packed.
    fn value(&self, packed: Vec<u8>);

    /// The value that it reads in place of one of the world, if it is run again and that was read before.
    fn value_again(&self) -> Option<Vec<u8>>;

    /// Whether it is run again, so that what it does beside sending is done already.
    fn runs_again(&self) -> bool;

    /// It takes in a frame that another PE has sent, of its own node too where these are packed. Who logs messages hears of it from the
    /// driver, which knows the source.
    fn takes(&self, _from: PeId, _head: &[u8], _segments: &[Segment]) {}

    /// It has packed a frame for another PE, and sends it. The PE is only looked at.
    fn sends(&self, _: &Pe, _to: PeId, _head: &[u8], _segments: &[Segment]) {}

    /// Another PE of its node has put there a read-only value of this name, which it may read from now on.
    fn shared(&self, _id: u64, _value: &Packed) {}

    /// What is packed now has bytes that do not follow from what it was given, as the stack of a virtual rank has: in the frame that is
    /// sent next they need not be the same when it runs again.
    fn packs_undetermined(&self) {}

    /// Whether it runs again alone, for somebody who watches it: nobody gets what it sends.
    fn runs_alone(&self) -> bool {
        false
    }

    /// Its turn is over.
    fn turn_is_over(&self) {}
}
