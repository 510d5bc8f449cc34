//! Read-only values that everyone may read (Charm++ manual: "readonly").

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::ids::PeId;
use crate::message::control::PeMessage;
use crate::message::envelope::Envelope;
use crate::mutations::mutated;
use crate::node::SharedValue;
use crate::pe::{Pe, current};
use crate::pup::{Packed, Packer, Pup, PupError, Purpose, Unpacker, Value};
use crate::refusal;
use crate::sometimes::sometimes;
use crate::witness::Until;

/// A value set once by `cx.share(value)` and readable everywhere, one copy a node.
///
/// It is a pointer to keep in a chare's state; in a message it is a number.
pub struct Shared<T> {
    id: u64,
    value: Arc<T>,
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared { id: self.id, value: self.value.clone() }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Value + Sync> Pup for Shared<T> {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        self.id.pack(p);
        p.need(self.id);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let id = u64::unpack(u)?;
        let found = current(|pe| pe.node.shared.get(id));
        let found = found.ok_or_else(|| u.invalid(format!("the shared value {id:#x} is not known here")))?;
        let value = match found.typed {
            Some(typed) => typed.downcast::<T>().map_err(|_| u.invalid("a shared value of another type"))?,
            None => {
                let value: Arc<T> = Arc::new(found.packed.read_copy(Purpose::Message, T::unpack)?);
                let typed = SharedValue { packed: found.packed, typed: Some(value.clone()) };
                current(|pe| pe.node.shared.put(id, typed));
                value
            }
        };
        Ok(Shared { id, value })
    }
}

impl Pe {
    /// Makes a value readable everywhere.
    pub(crate) fn share<T: Value + Sync>(&self, value: T) -> Shared<T> {
        let serial = self.names().shared.get() + 1;
        self.names().shared.set(serial);
        let id = (self.id as u64) << 32 | serial as u64;
        let packed = refusal::seen(Packed::of(&value), || "a shared value".into());
        let value = Arc::new(value);
        self.node.shared.put(id, SharedValue { packed: packed.clone(), typed: Some(value.clone()) });
        self.send_share(id, &packed);
        Shared { id, value }
    }

    pub(crate) fn on_share(&self, id: u64, value: Packed) {
        self.send_share(id, &value);
        let keep = self.pe_message(PeMessage::KeepShared { id, value });
        match self.lets_in(keep) {
            true => self.enqueue(keep),
            false => sometimes("a shared value came before another one in it"),
        }
    }

    /// Tells all nodes of a shared value after going back to a checkpoint.
    pub(crate) fn share_again(&self, id: u64, value: Packed) {
        self.send_share(id, &value);
        match self.lacks(value.needs()) {
            None => self.keep_shared(id, value),
            Some(lacking) => self.keep_lacking(lacking, self.pe_message(PeMessage::KeepShared { id, value })),
        }
    }

    /// A shared value has come to this node, and all that it refers to.
    pub(crate) fn keep_shared(&self, id: u64, value: Packed) {
        self.node.shared.put(id, SharedValue { packed: value, typed: None });
        let of_node = (0..self.node.shape.pes_per_node).map(|rank| self.first_pe + rank);
        for other in of_node.filter(|other| *other != self.id && !mutated("shared-value-not-told-in-node")) {
            self.tell(other, PeMessage::Shared { id });
        }
        self.on_shared(id);
    }

    /// A shared value has come to this node: messages that waited for it go on.
    pub(crate) fn on_shared(&self, id: u64) {
        let waiting = self.lacking.borrow_mut().remove(&id).unwrap_or_default();
        for envelope in self.one_by_one(waiting) {
            sometimes("a message came before a shared value in it");
            self.resume_kept(envelope);
        }
    }

    /// The first of these shared values that is not known to this node.
    #[inline]
    pub(crate) fn lacks(&self, needs: &[u64]) -> Option<u64> {
        needs.iter().copied().find(|id| !self.node.shared.has(*id))
    }

    /// Keeps a message until a shared value has come.
    pub(crate) fn keep_lacking(&self, id: u64, envelope: NonNull<Envelope>) {
        self.see_kept(envelope, Until::Shared);
        self.lacking.borrow_mut().entry(id).or_default().push(envelope);
    }

    /// Down a tree over the nodes, to the first PE of each.
    fn send_share(&self, id: u64, value: &Packed) {
        let shape = self.node.shape;
        let root = shape.node_of((id >> 32) as PeId);
        for node in self.view().nodes_below(self.node.number, root) {
            self.tell(shape.first_pe(node), PeMessage::Share { id, value: value.clone() });
        }
    }
}
