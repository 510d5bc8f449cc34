//! Read-only values that everyone may read (Charm++ manual: "readonly").

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use bytes::Bytes;

use crate::ids::PeId;
use crate::message::control::PeMessage;
use crate::message::envelope::Envelope;
use crate::node::SharedValue;
use crate::pe::{Pe, current};
use crate::pup::{Packer, Pup, PupError, Unpacker, Value, from_bytes, to_bytes};
use crate::sometimes::sometimes;
use crate::tree;

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
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let id = u64::unpack(u)?;
        let found = current(|pe| pe.node.shared.get(id));
        let found = found.ok_or_else(|| {
            current(|pe| pe.missing.set(Some(id)));
            u.invalid(format!("the shared value {id:#x} is not known here"))
        })?;
        let value = match found.typed {
            Some(typed) => typed.downcast::<T>().map_err(|_| u.invalid("a shared value of another type"))?,
            None => {
                let value: Arc<T> = Arc::new(from_bytes(&found.packed)?);
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
        let packed = Bytes::from(to_bytes(&value));
        let value = Arc::new(value);
        self.node.shared.put(id, SharedValue { packed: packed.clone(), typed: Some(value.clone()) });
        self.send_share(id, &packed);
        Shared { id, value }
    }

    pub(crate) fn on_share(&self, id: u64, value: Bytes) {
        self.send_share(id, &value);
        self.node.shared.put(id, SharedValue { packed: value, typed: None });
        let waiting = self.lacking.borrow_mut().remove(&id).unwrap_or_default();
        for envelope in waiting {
            sometimes("a message came before a shared value in it");
            self.resume_kept(envelope);
        }
    }

    /// Keeps a message that could not be read because a shared value in it has not come yet; `false` if it was not for that.
    pub(crate) fn keep_if_lacking(&self, envelope: impl FnOnce() -> NonNull<Envelope>) -> bool {
        let Some(id) = self.missing.take() else { return false };
        self.lacking.borrow_mut().entry(id).or_default().push(envelope());
        true
    }

    /// Down a tree over the nodes, to the first PE of each.
    fn send_share(&self, id: u64, value: &Bytes) {
        let shape = self.node.shape;
        let root = shape.node_of((id >> 32) as PeId);
        for node in tree::children(self.node.number, root, shape.nodes) {
            self.tell(shape.first_pe(node), PeMessage::Share { id, value: value.clone() });
        }
    }
}
