//! What cannot be packed, because its receiver, or whoever goes back to a checkpoint, could not read it: the job ends where it is sent or
//! kept, and says what it is, of whom, and which limit it is beyond ([`talisman_base::limits`]).

use std::ptr::NonNull;

use crate::collection::Collection;
use crate::message::control::{ObjectMessage, PeMessage};
use crate::message::envelope::{Body, Envelope};
use crate::object::Head;
use crate::pe::{Pe, try_current};
use crate::pup::{Packed, PupError};
use talisman_base::ids::{CollectionId, ObjId};
use talisman_base::limits::Count;

/// What was packed of a value that `what` names, by whoever runs. If it is too much, the job ends here.
#[inline]
pub(crate) fn seen(packed: Packed, what: impl FnOnce() -> String) -> Packed {
    if let Some(why) = packed.refusal() {
        try_current(|pe| pe.refuse_to_send(&what(), why));
    }
    packed
}

impl Pe {
    /// Whoever runs sends what cannot be packed.
    #[cold]
    pub(crate) fn refuse_to_send(&self, what: &str, why: &PupError) {
        let sender = self.who_runs();
        self.node.job.end(1, Some(format!("{sender} sends what no receiver can take: {what}: {why}")));
    }

    /// An object that cannot be packed goes to another PE.
    #[cold]
    pub(crate) fn refuse_to_move(&self, collection: &Collection, index: u128, to: u32, why: &PupError) {
        let who = collection.label(index);
        self.node.job.end(1, Some(format!("{who} is to move to PE {to}, which cannot take it: {why}")));
    }

    /// The state of an object cannot be kept: there is no checkpoint then. It is not dropped either: it may be nested too deeply for that.
    #[cold]
    pub(crate) fn refuse_to_keep(&self, head: NonNull<Head>, why: &PupError) {
        // SAFETY: the caller's object, which is live.
        let object = unsafe { head.as_ref() };
        let who = object.collection().label(object.index());
        self.refuse_checkpoint(&who, why);
        self.slots.remove(object.slot.get());
    }

    /// Something else cannot be kept.
    #[cold]
    pub(crate) fn refuse_checkpoint(&self, what: &str, why: &PupError) {
        if let Some(checkpoints) = self.checkpoints.as_deref() {
            checkpoints.refuse();
        }
        self.node.job.end(1, Some(format!("no checkpoint can take what {what} has: {why}")));
    }

    /// `Block[3]`, of an object that this PE may know.
    pub(crate) fn label_of(&self, id: ObjId) -> String {
        let known = self.collections.get(id.collection);
        known.map_or_else(|| format!("an object of {:?}", id.collection), |known| known.label(id.index))
    }

    /// `Block::entry of Block[3]`, of a message for an object, whoever has packed it.
    pub(crate) fn label_of_call(&self, to: ObjId, message: &ObjectMessage) -> String {
        let Some(known) = self.collections.get(to.collection) else { return self.label_of(to) };
        let chare = known.chare;
        let what = match message {
            ObjectMessage::Invoke { entry, .. } => chare.entries.get(*entry as usize).map(|entry| entry.name),
            ObjectMessage::Create { init, .. } => chare.inits.get(*init as usize).map(|init| init.name),
            ObjectMessage::Reply { .. } => Some("(an answer)"),
            ObjectMessage::Forget { .. } | ObjectMessage::Marker { .. } | ObjectMessage::Lost { .. } => None,
        };
        let (name, who) = ((chare.name)(), known.label(to.index));
        what.map_or_else(|| who.clone(), |what| format!("`{name}::{what}` for {who}"))
    }

    /// The same of a message for an object, as it stands.
    pub(crate) fn label_of_message(&self, message: &Envelope) -> String {
        match message.body {
            Body::Invoke(entry) => self.label_of_named(message.to(), entry.name),
            Body::Create(init) => self.label_of_named(message.to(), init.name),
            Body::Object => message
                .object_message()
                .map_or_else(String::new, |packed| self.label_of_call(message.to(), packed)),
            Body::Pe => {
                message.pe_message().map_or_else(String::new, |of| self.label_of_request(About::of(of)))
            }
            Body::Empty => self.label_of(message.to()),
        }
    }

    pub(crate) fn label_of_named(&self, to: ObjId, name: &str) -> String {
        let who = self.label_of(to);
        let known = self.collections.get(to.collection);
        known.map_or_else(|| who.clone(), |known| format!("`{}::{name}` for {who}", (known.chare.name)()))
    }

    /// What a message from PE to PE is about.
    pub(crate) fn label_of_request(&self, About { what, object, collection }: About) -> String {
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
    pub(crate) fn one_more(
        &self,
        of: Count,
        count: u32,
        collection: &Collection,
        index: Option<u128>,
    ) -> u32 {
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

/// What a message from PE to PE is about, for people.
#[derive(Clone, Copy)]
pub(crate) struct About {
    what: &'static str,
    object: Option<ObjId>,
    collection: Option<CollectionId>,
}

impl About {
    pub(crate) fn of(message: &PeMessage) -> About {
        let (what, object) = match message {
            PeMessage::Arrive { id, .. } => ("a move of", Some(*id)),
            PeMessage::Insert { to, .. } => ("the arguments of the new", Some(*to)),
            PeMessage::Missed { id, .. } => ("a broadcast to", Some(*id)),
            PeMessage::Contribution(_) | PeMessage::Part { .. } => ("a contribution to a reduction", None),
            PeMessage::CastRequest { .. } | PeMessage::Cast { .. } => ("a broadcast to the elements", None),
            PeMessage::SectionRequest { .. } | PeMessage::SectionCast { .. } => {
                ("a multicast to elements", None)
            }
            PeMessage::NewCollection(_) | PeMessage::Adopt(_) => ("the arguments of new elements", None),
            PeMessage::Share { .. } => ("a shared value", None),
            PeMessage::Function { .. } => ("the value of a callback", None),
            _ => ("a message of the runtime", None),
        };
        About { what, object, collection: message.collection() }
    }
}
