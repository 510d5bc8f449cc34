//! What cannot be packed, because its receiver, or whoever goes back to a checkpoint, could not read it: the job ends where it is sent or
//! kept, and says what it is, of whom, in which field, and which limit it is beyond ([`talisman_base::limits`]).
//!
//! Whoever sends is known where bytes are made, because a message that leaves the node is packed while its sender runs. A message has its
//! sender's PE only. Of those that have waited on that PE for their receiver (which is on its way, or in a collection that is not known yet)
//! the caller was noted ([`crate::undelivered`]); of those that go on from a PE that their receiver has left the PE is said
//! (an envelope has no room for its sender, and whatever is noted of each message costs each; `docs/src/explanation/unrecoverable.md`). A contribution to a
//! reduction is packed with others, by whoever contributes last: whose it is, its reducer knows ([`PupError::giver`]). What several contributions
//! have become together is nobody's.

use std::ptr::NonNull;

use crate::collection::Collection;
use crate::message::control::ObjectMessage;
use crate::message::envelope::{Body, Envelope};
use crate::message::service::About;
use crate::migrate::pack_object;
use crate::object::Head;
use crate::pe::{Pe, try_current};
use crate::witness;
use talisman_base::ids::{ObjId, PeId};
use talisman_base::limits::Count;
use talisman_pup::{Lender, Packed, Packer, PupError, Purpose, Unpacker};

/// What was packed of a value that `what` names, by whoever runs. If it is too much, the job ends here.
#[inline]
pub fn seen(packed: Packed, what: impl FnOnce() -> String) -> Packed {
    if let Some(why) = packed.refusal() {
        try_current(|pe| pe.refuse_to_send(pe.id, &what(), why));
    }
    packed
}

impl Pe {
    /// What was sent on PE `from` cannot be packed: by the object that runs, or else by one that has called before, and whose message
    /// has waited or came by way of this PE.
    #[cold]
    pub fn refuse_to_send(&self, from: PeId, what: &str, why: &PupError) {
        let sender = match self.running() {
            Some(_) if from == self.id => self.who_runs(),
            _ => format!("an object of PE {from}"),
        };
        self.refuse(&sender, what, why);
    }

    /// The same of a message for an object. If it has waited here, whoever called was noted.
    #[cold]
    pub fn refuse_call(&self, from: PeId, to: ObjId, call: Call, why: &PupError) {
        let what = self.label_of_call(to, call);
        let sender = match call {
            Call::Entry(entry) if from == self.id && self.running().is_none() => self.who_called(to, entry),
            _ => None,
        };
        match sender {
            Some(sender) => self.refuse(&format!("{sender}, or another object of PE {from},"), &what, why),
            None => self.refuse_to_send(from, &what, why),
        }
    }

    pub fn refuse(&self, sender: &str, what: &str, why: &PupError) {
        self.node.job.end(1, Some(format!("{sender} sends what no receiver can take: {what}: {why}")));
    }

    /// An object that cannot be packed goes to another PE.
    #[cold]
    pub fn refuse_to_move(&self, collection: &Collection, index: u128, to: u32, packed: &Packed) {
        let packed = packed.clone().placed(Purpose::Migration, |u| self.try_to_unpack(collection, index, u));
        let Some(why) = packed.refusal() else { return };
        let who = collection.label(index);
        self.node.job.end(1, Some(format!("{who} is to move to PE {to}, which cannot take it: {why}")));
    }

    /// The state of an object cannot be kept: there is no checkpoint then. It is not dropped either: it may be nested too deeply for that.
    #[cold]
    pub fn refuse_to_keep(&self, head: NonNull<Head>, why: &PupError) {
        // SAFETY: the caller's object, which is live.
        let object = unsafe { head.as_ref() };
        let (collection, index) = (object.collection(), object.index());
        // SAFETY: as above, and of this type.
        let packed = unsafe { pack_object(collection.chare, head) };
        let packed = packed.placed(Purpose::Migration, |u| self.try_to_unpack(collection, index, u));
        self.refuse_checkpoint(&collection.label(index), packed.refusal().unwrap_or(why));
        self.slots.remove(object.slot.get());
    }

    /// A message that waits cannot be kept.
    #[cold]
    pub fn refuse_to_keep_message(&self, message: &Envelope, why: &PupError) {
        let packed = placed_args(message);
        let why = packed.as_ref().and_then(Packed::refusal).unwrap_or(why);
        self.refuse_checkpoint(
            &format!("{}, sent on PE {},", self.label_of_message(message), message.from),
            why,
        );
    }

    /// Reads an object only to see whether it can be read.
    fn try_to_unpack(
        &self,
        collection: &Collection,
        index: u128,
        u: &mut Unpacker<'_>,
    ) -> Result<(), PupError> {
        let chare = collection.chare;
        let head = (chare.allocate)(Head::new(index, NonNull::from(collection), 0));
        witness::see_allocated(head);
        // SAFETY: just allocated as this type, without a state.
        let unpacked = unsafe { (chare.unpack)(head, u) };
        witness::see_freed(head);
        // SAFETY: allocated above; nobody else has it.
        unsafe { (chare.free)(head) };
        unpacked
    }

    /// Something else cannot be kept.
    #[cold]
    pub fn refuse_checkpoint(&self, what: &str, why: &PupError) {
        self.services.refuse_checkpoint(self);
        self.node.job.end(1, Some(format!("no checkpoint can take what {what} has: {why}")));
    }

    /// `Block[3]`, of an object that this PE may know.
    pub fn label_of(&self, id: ObjId) -> String {
        let known = self.collections.get(id.collection);
        known.map_or_else(|| format!("an object of {:?}", id.collection), |known| known.label(id.index))
    }

    /// `Block::entry of Block[3]`, of a message for an object, whoever has packed it.
    fn label_of_call(&self, to: ObjId, call: Call) -> String {
        let Some(known) = self.collections.get(to.collection) else { return self.label_of(to) };
        let chare = known.chare;
        let what = match call {
            Call::Entry(entry) => chare.entries.get(entry as usize).map(|entry| entry.name),
            Call::Init(init) => chare.inits.get(init as usize).map(|init| init.name),
            Call::Answer => Some("(an answer)"),
            Call::Other => None,
        };
        let (name, who) = ((chare.name)(), known.label(to.index));
        what.map_or_else(|| who.clone(), |what| format!("`{name}::{what}` for {who}"))
    }

    /// The same of a message for an object, as it stands.
    pub fn label_of_message(&self, message: &Envelope) -> String {
        match message.body {
            Body::Invoke(entry) => self.label_of_named(message.to(), entry.name),
            Body::Create(init) => self.label_of_named(message.to(), init.name),
            Body::Object => message
                .object_message()
                .map_or_else(String::new, |packed| self.label_of_call(message.to(), Call::of(packed))),
            Body::Pe => message.pe_message().map_or_else(String::new, |of| self.label_of_request(of.about())),
            Body::Empty => self.label_of(message.to()),
        }
    }

    pub fn label_of_named(&self, to: ObjId, name: &str) -> String {
        let who = self.label_of(to);
        let known = self.collections.get(to.collection);
        known.map_or_else(|| who.clone(), |known| format!("`{}::{name}` for {who}", (known.chare.name)()))
    }

    /// A message from PE to PE cannot be read where it goes.
    #[cold]
    pub fn refuse_request(&self, from: PeId, about: About, why: &PupError) {
        match (about.given, about.collection.and_then(|id| self.collections.get(id))) {
            (Some(one), Some(collection)) => {
                // Who runs is the last that has contributed: another may have given what is wrong.
                let sender = self.who_contributed(collection, why);
                let what = if why.giver().is_some() { one } else { about.what };
                let name = (collection.chare.name)();
                self.refuse(&sender, &format!("{what} over the elements of `{name}`"), why);
            }
            _ => self.refuse_to_send(from, &self.label_of_request(about), why),
        }
    }

    /// Who has given what is refused, as far as that is known.
    pub fn who_contributed(&self, collection: &Collection, why: &PupError) -> String {
        let Some(index) = why.giver() else {
            return format!("elements of `{}` on PE {}", (collection.chare.name)(), self.id);
        };
        match self.running() {
            Some(head) if head.id() == collection.object(index) => self.who_runs(),
            _ => collection.label(index),
        }
    }

    /// What a message from PE to PE is about.
    pub fn label_of_request(&self, About { what, object, collection, .. }: About) -> String {
        if let Some(id) = object {
            return format!("{what} {}", self.label_of(id));
        }
        let known = collection.and_then(|id| self.collections.get(id));
        known.map_or_else(|| what.into(), |known| format!("{what} of {}", (known.chare.name)()))
    }
}

impl Pe {
    /// One more of something of an object; if that is too many the job ends, and the count stays.
    #[inline]
    pub fn one_more(&self, of: Count, count: u32, collection: &Collection, index: Option<u128>) -> u32 {
        of.next(count).unwrap_or_else(|| {
            self.end_at(of, collection, index);
            count
        })
    }

    #[cold]
    fn end_at(&self, of: Count, collection: &Collection, index: Option<u128>) {
        let who = index.map_or_else(|| (collection.chare.name)(), |index| collection.label(index));
        self.node.job.end(1, Some(format!("{who}: {of}; {}", of.advice)));
    }
}

/// The arguments of a message, packed by themselves, with the place of what they are refused for; none if they are packed already.
fn placed_args(message: &Envelope) -> Option<Packed> {
    let args = match message.body {
        Body::Invoke(entry) => &entry.args,
        Body::Create(init) => &init.args,
        Body::Object | Body::Pe | Body::Empty => return None,
    };
    let mut lender = Lender::new(Packer::new(Purpose::Message));
    // SAFETY: the body says that the words hold these arguments.
    unsafe { (args.lend)(&message.words, &mut lender) };
    Some(Packed::from(lender.finish()).placed(Purpose::Message, args.unpack_and_drop()))
}

/// What a message for an object is about, for people.
#[derive(Clone, Copy)]
pub enum Call {
    /// An entry, by its number.
    Entry(u16),
    /// An `#[init]`, by its number.
    Init(u16),
    /// What was waited for.
    Answer,
    /// Something of the runtime.
    Other,
}

impl Call {
    pub fn of(message: &ObjectMessage) -> Call {
        match message {
            ObjectMessage::Invoke { entry, .. } => Call::Entry(*entry),
            ObjectMessage::Create { init, .. } => Call::Init(*init),
            ObjectMessage::Reply { .. } => Call::Answer,
            ObjectMessage::Forget { .. }
            | ObjectMessage::Marker { .. }
            | ObjectMessage::Lost { .. }
            | ObjectMessage::Reconcile(_)
            | ObjectMessage::SenderGone { .. } => Call::Other,
        }
    }
}
