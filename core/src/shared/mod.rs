//! Read-only values that everyone may read (Charm++ manual: "readonly").

#[doc(hidden)]
pub mod message;

use std::ops::Deref;
use std::sync::Arc;

use easy_ext::ext;

use crate::shared::message::SharedMessage;
use talisman_base::ids::PeId;
use talisman_kernel::pe::{Pe, current, try_current};
use talisman_kernel::refusal;
use talisman_kernel::shared_values::SharedValue;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Packed, Packer, Pup, PupError, Purpose, Unpacker, Value};

/// A value set once by `cx.share(value)` and readable everywhere, one copy a node.
///
/// It is a pointer to keep in a chare's state; in a message it is a number.
///
/// Nodes keep it until the job ends, or until somebody says [`destroy`](Shared::destroy).
pub struct Shared<T> {
    id: u64,
    value: Arc<T>,
}

/// In place of a number: the value itself follows.
const OF_ITS_OWN: u64 = 0;

impl<T> Shared<T> {
    /// Says that no more messages with this value will be sent: all nodes give it back. (On any of its clones; once is enough.)
    ///
    /// Whoever has it still can read it as before, and takes a copy of its own along when it moves or is kept in a checkpoint; such a copy
    /// goes with the last who has it. A value that another shared value refers to, or with which a group was made, stays for as long as that.
    ///
    /// What was packed before and is read after this cannot find the value, and ends the job with an error that names the value's type and
    /// whoever wanted it: a message that is under way, and also an object that is just moving. So destroy it when everybody has it who will, which the answers to a broadcast
    /// tell, and when nobody who has it can be on the move: with chares that migrate, or a balancer, that is in
    /// [quiescence](crate::Cx::quiescence).
    ///
    /// ```
    /// use talisman::prelude::*;
    /// use talisman::testing::Test;
    ///
    /// #[derive(Pup)]
    /// struct Summer;
    ///
    /// #[chare(group)]
    /// impl Summer {
    ///     #[init]
    ///     fn new() -> Self {
    ///         Summer
    ///     }
    ///
    ///     #[entry]
    ///     fn sum(&mut self, table: Shared<Vec<u32>>) -> u32 {
    ///         table.iter().sum()
    ///     }
    /// }
    ///
    /// #[talisman::main]
    /// async fn main(cx: &mut Cx) {
    ///     let summers: Group<Summer> = Summer::group().new();
    ///     for round in 0..100 {
    ///         let table: Shared<Vec<u32>> = cx.share(vec![round; 1000]);
    ///         let sum: u32 = summers.sum(table.clone()).reduce(Max).await;
    ///         table.destroy();
    ///         assert_eq!(sum, 1000 * round);
    ///     }
    ///     cx.exit();
    /// }
    /// # fn test() { assert_eq!(Test::new().pes(2).run::<__Main>(()).status, 0); }
    /// # test();
    /// ```
    pub fn destroy(self) {
        if self.id != OF_ITS_OWN {
            current(|pe| pe.drop_shared(self.id));
        }
    }

    /// Whether it travels as a copy of its own.
    fn is_of_its_own(&self) -> bool {
        let is_destroyed = |pe: &Pe| pe.shared_heard.is_dropped(self.id);
        self.id == OF_ITS_OWN || try_current(is_destroyed).unwrap_or(false)
    }
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
        if self.is_of_its_own() {
            OF_ITS_OWN.pack(p);
            return (*self.value).pack(p);
        }
        self.id.pack(p);
        p.need(self.id);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let id = u64::unpack(u)?;
        if id == OF_ITS_OWN {
            return Ok(Shared { id, value: Arc::new(T::unpack(u)?) });
        }
        let Some(found) = current(|pe| pe.node.shared.get(id)) else {
            return Err(u.invalid(missing::<T>(id)));
        };
        let value = match found.typed {
            Some(typed) => typed.downcast::<T>().map_err(|_| u.invalid("a shared value of another type"))?,
            None => {
                let value: Arc<T> = Arc::new(found.packed.read_copy(Purpose::Message, T::unpack)?);
                current(|pe| pe.node.shared.type_it(id, value.clone()));
                value
            }
        };
        Ok(Shared { id, value })
    }
}

/// Why a shared value is not to be had, which something refers to that was packed before.
#[cold]
fn missing<T: Value>(id: u64) -> String {
    let (name, creator) = (T::name(), id >> 32);
    match current(|pe| pe.node.shared.is_destroyed(id)) {
        true => format!(
            "the shared `{name}` that PE {creator} made was destroyed while this, which refers to it, was on its way: say `destroy()` when \
             nobody who has it can be on the move and no message with it can be under way, for example after `cx.quiescence().await`"
        ),
        false => format!("the shared `{name}` that PE {creator} made is not known here"),
    }
}

#[ext(SharedValuesOnPe)]
pub(crate) impl Pe {
    /// Makes a value readable everywhere.
    fn share<T: Value + Sync>(&self, value: T) -> Shared<T> {
        let serial = self.names().shared.get() + 1;
        self.names().shared.set(serial);
        let id = (self.id as u64) << 32 | serial as u64;
        let packed = refusal::seen(Packed::of(&value), || format!("a shared `{}`", T::name()));
        let value = Arc::new(value);
        self.node.shared.put(id, SharedValue { packed: packed.clone(), typed: Some(value.clone()) });
        self.send_share(id, &packed);
        self.tell_node_of_shared(id);
        Shared { id, value }
    }

    fn on_share(&self, id: u64, value: Packed) {
        self.send_share(id, &value);
        let keep = self.pe_message(SharedMessage::Keep { id, value });
        match self.lets_in(keep) {
            true => self.enqueue(keep),
            false => sometimes("a shared value came before another one in it"),
        }
    }

    /// Tells all nodes of a shared value after going back to a checkpoint.
    fn share_again(&self, id: u64, value: Packed) {
        self.send_share(id, &value);
        match self.lacks(value.needs()) {
            None => self.keep_shared(id, value),
            Some(lacking) => self.defer(lacking, self.pe_message(SharedMessage::Keep { id, value })),
        }
    }

    /// A shared value has come to this node, and all that it refers to.
    fn keep_shared(&self, id: u64, value: Packed) {
        self.node.shared.put(id, SharedValue { packed: value, typed: None });
        self.tell_node_of_shared(id);
    }

    /// Nobody of this node waits for a shared value any more.
    fn tell_node_of_shared(&self, id: u64) {
        for other in others_of_node(self).filter(|_| !mutated("shared-value-not-told-in-node")) {
            self.tell(other, SharedMessage::Has { id });
        }
        self.on_shared(id);
    }

    /// A shared value has come to this node: messages that waited for it go on.
    fn on_shared(&self, id: u64) {
        self.shared_heard.tell(id);
        let waiting = self.awaiting_readonly.borrow_mut().remove(&id).unwrap_or_default();
        for envelope in self.one_by_one(waiting) {
            sometimes("a message came before a shared value in it");
            self.resume_kept(envelope);
        }
    }

    /// Asks for the end of a shared value.
    fn drop_shared(&self, id: u64) {
        self.tell(self.view().acting_for((id >> 32) as PeId), SharedMessage::Drop { id });
    }

    /// A shared value ends: for this PE, and if it is the one that keeps the node's values for its creator's, on the node and on those below it
    /// in the creator's tree.
    fn on_drop_shared(&self, id: u64) {
        if self.shared_heard.is_dropped(id) {
            return;
        }
        self.shared_heard.drop(id);
        let (shape, root) = (self.node.shape, self.view().acting_for((id >> 32) as PeId));
        let keeper = if shape.node_of(root) == self.node.number { root } else { self.first_pe };
        if self.id == keeper {
            self.pass_on_end_of_shared(id);
        }
        self.node.shared.destroy_for_one(id, shape.pes_per_node);
    }

    fn pass_on_end_of_shared(&self, id: u64) {
        for pe in self.first_pes_below(id).chain(others_of_node(self)) {
            self.tell(pe, SharedMessage::Drop { id });
        }
        if !self.shared_heard.is_told(id) {
            sometimes("a shared value was destroyed before it could be read");
            self.tell_node_of_shared(id);
        }
    }

    /// Down a tree over the nodes, to the first PE of each.
    fn send_share(&self, id: u64, value: &Packed) {
        for pe in self.first_pes_below(id) {
            self.tell(pe, SharedMessage::Share { id, value: value.clone() });
        }
    }

    fn first_pes_below(&self, id: u64) -> impl Iterator<Item = PeId> {
        let shape = self.node.shape;
        let root = shape.node_of((id >> 32) as PeId);
        self.view().nodes_below(self.node.number, root).map(move |node| shape.first_pe(node))
    }
}

/// The other PEs of its node.
fn others_of_node(pe: &Pe) -> impl Iterator<Item = PeId> + use<> {
    let (first, pes, me) = (pe.first_pe, pe.node.shape.pes_per_node, pe.id);
    (first..first + pes).filter(move |other| *other != me)
}
