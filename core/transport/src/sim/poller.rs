//! What tells which simulated connections are ready: they do so themselves.

use std::cell::RefCell;

use super::{Hand, Pipe};
use crate::sim_wait::sim_wait;
use talisman_base::ids::PeId;

/// The connections of a PE, in the order of their nodes.
#[derive(Default)]
pub struct SimPoller(RefCell<Vec<(u32, Hand)>>);

impl SimPoller {
    pub(crate) fn watch(&self, pipe: &Pipe, node: u32) {
        let mut watched = self.0.borrow_mut();
        match watched.binary_search_by_key(&node, |(node, _)| *node) {
            Ok(at) => watched[at].1 = pipe.hand(),
            Err(at) => watched.insert(at, (node, pipe.hand())),
        }
    }

    pub(crate) fn forget(&self, node: u32) {
        self.0.borrow_mut().retain(|(other, _)| *other != node);
    }

    pub(crate) fn ready(&self, f: impl FnMut(u32)) {
        let readable = |(node, hand): &(u32, Hand)| hand.is_readable().then_some(*node);
        // All of them first: `f` may watch others.
        let ready: Vec<u32> = self.0.borrow().iter().filter_map(readable).collect();
        ready.into_iter().for_each(f);
    }

    pub(crate) fn any_is_ready(&self) -> bool {
        self.0.borrow().iter().any(|(_, hand)| hand.is_readable())
    }

    pub(crate) fn is_ready(&self, node: u32) -> bool {
        self.0.borrow().iter().any(|(of, hand)| *of == node && hand.is_readable())
    }

    /// Lets the rest of the world go on, which says when something may have changed.
    pub(crate) fn sleep(&self, pe: PeId) {
        sim_wait(pe);
    }
}
