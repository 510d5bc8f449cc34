//! States of objects, packed while a checkpoint waits for what is on its way.
//!
//! No entry runs on a frozen PE, so its objects stay what they are until it thaws, whatever else the runtime still has to do. When
//! nothing is on its way any more, little is left to be packed: messages that wait, and objects that have come since. Small messages
//! of the checkpoint go to and fro meanwhile, where all would have waited for them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use easy_ext::ext;

use super::Checkpoints;
use super::capture::is_live;
use crate::checkpoint::capture::CaptureOnPe;
use talisman_kernel::pe::Pe;
use talisman_pup::Packed;
use talisman_store::slabs::Room;

/// Bytes that are packed at once, some tens of microseconds: messages do not wait for long.
const AT_ONCE: usize = 256 << 10;
/// An object without any state takes as long as so many bytes.
const PER_OBJECT: usize = 1 << 10;

/// What is packed already.
#[derive(Default)]
pub(super) struct Ahead {
    states: RefCell<States>,
    room: RefCell<Room>,
    /// Slots below this have been looked at.
    next: Cell<u32>,
}

/// States of objects by slot and generation, lowest slots first.
#[derive(Default)]
pub struct States(VecDeque<(u32, u32, Packed)>);

impl Ahead {
    /// The PE is frozen from now on.
    pub(super) fn begin(&self) {
        drop(self.end());
    }

    /// What was packed, and where it is.
    pub(super) fn end(&self) -> (States, Room) {
        self.next.set(0);
        (self.states.take(), self.room.take())
    }
}

impl States {
    /// That of the object in a slot, if it was packed. To be asked for lower slots first.
    pub(super) fn take(&mut self, slot: u32, generation: u32) -> Option<Packed> {
        while self.0.front().is_some_and(|(packed, ..)| *packed < slot) {
            self.0.pop_front();
        }
        let is_next = self.0.front().is_some_and(|(packed, ..)| *packed == slot);
        let (_, of, state) = if is_next { self.0.pop_front()? } else { return None };
        // Another one may be in its slot by now.
        (of == generation).then_some(state)
    }
}

#[ext(PrepackOnPe)]
pub impl Pe {
    /// Packs the next states of a frozen PE that has not taken its part; whether there were any.
    fn pack_ahead(&self, checkpoints: &Checkpoints) -> bool {
        let ahead = &checkpoints.ahead;
        let (first, mut size) = (ahead.next.get(), 0);
        if checkpoints.refused.get() || checkpoints.drain.has_taken() {
            return false;
        }
        while size < AT_ONCE && ahead.next.get() < self.slots.count() {
            let slot = ahead.next.replace(ahead.next.get() + 1);
            let Some((head, generation)) = self.slots.at(slot).filter(|(head, _)| is_live(*head)) else {
                continue;
            };
            let state = self.packed_state(head, &mut ahead.room.borrow_mut());
            size += state.size() + PER_OBJECT;
            ahead.states.borrow_mut().0.push_back((slot, generation, state));
        }
        ahead.next.get() > first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(slots: &[u32]) -> States {
        States(slots.iter().map(|slot| (*slot, 10 * slot, Packed::of(slot))).collect())
    }

    #[test]
    fn each_state_is_that_of_its_object() {
        let mut states = packed(&[1, 2, 5]);
        assert_eq!(states.take(0, 0), None);
        assert_eq!(states.take(1, 10), Some(Packed::of(&1_u32)));
        assert_eq!(states.take(3, 30), None, "it came later");
        assert_eq!(states.take(5, 51), None, "another one is in the slot by now");
        assert!(states.0.is_empty());
    }
}
