//! Of which read-only values a PE has heard. What other PEs of its node do with the node's values says nothing to it until it is told: so what
//! it does follows from the messages that it gets.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ptr::NonNull;

use super::Pe;
use crate::collection::gone::Gone;
use crate::message::envelope::Envelope;
use crate::witness::Until;
use talisman_base::ids::PeId;

/// Names, each the creator and a number. They are as large as the gaps in them.
#[derive(Default)]
pub struct SharedHeard {
    /// They can be read on this node, or never will be.
    told: RefCell<BTreeMap<PeId, Gone>>,
    /// They were destroyed.
    dropped: RefCell<BTreeMap<PeId, Gone>>,
    /// Whether any was: most programs never ask.
    any_dropped: Cell<bool>,
}

fn has(of: &RefCell<BTreeMap<PeId, Gone>>, id: u64) -> bool {
    of.borrow().get(&((id >> 32) as PeId)).is_some_and(|numbers| numbers.has(id as u32))
}

fn insert(of: &RefCell<BTreeMap<PeId, Gone>>, id: u64) {
    of.borrow_mut().entry((id >> 32) as PeId).or_default().insert(id as u32);
}

impl SharedHeard {
    /// A value has come to this node, or will not come any more.
    pub fn tell(&self, id: u64) {
        insert(&self.told, id);
    }

    /// A value was destroyed.
    pub fn drop(&self, id: u64) {
        self.any_dropped.set(true);
        insert(&self.dropped, id);
    }

    pub fn is_told(&self, id: u64) -> bool {
        has(&self.told, id)
    }

    /// Whether it was destroyed: whoever has it still takes it along.
    #[inline]
    pub fn is_dropped(&self, id: u64) -> bool {
        self.any_dropped.get() && has(&self.dropped, id)
    }

    /// Whether any of these was destroyed.
    pub fn is_any_dropped(&self, ids: &[u64]) -> bool {
        ids.iter().any(|id| self.is_dropped(*id))
    }

    /// After going back to a checkpoint: these were destroyed, and never come.
    pub fn go_on_without(&self, creator: PeId, gone: &Gone) {
        self.any_dropped.set(true);
        for of in [&self.told, &self.dropped] {
            of.borrow_mut().entry(creator).or_default().add(gone);
        }
    }

    /// The same: these were destroyed, and come all the same, for those that refer to them.
    pub fn go_on_with_doomed(&self, doomed: &[u64]) {
        doomed.iter().for_each(|id| self.drop(*id));
    }
}

impl Pe {
    /// The first of these shared values that has yet to come to this node.
    #[inline]
    pub fn lacks(&self, needs: &[u64]) -> Option<u64> {
        needs.iter().copied().find(|id| !self.shared_heard.is_told(*id))
    }

    /// Keeps a message until a shared value has come.
    pub fn defer(&self, id: u64, envelope: NonNull<Envelope>) {
        self.see_kept(envelope, Until::Shared);
        self.awaiting_readonly.borrow_mut().entry(id).or_default().push(envelope);
    }
}
