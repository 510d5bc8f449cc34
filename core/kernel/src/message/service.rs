//! Messages from PE to PE: what each service of the runtime says to its like on other PEs.
//!
//! A service's messages are one enum, with all that is to be known of each in its file: what it does, whether it can be let in, whether
//! it waits on a frozen PE. On the wire the number of the service stands before it.

use std::fmt;
use std::sync::OnceLock;

use crate::collection::Collection;
use crate::pe::Pe;
use crate::wire::check::Checked;
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_pup::{Lender, Packed, Packer, Pup, PupError, Segment, Unpacker, pack_away};

/// The services of the runtime, by their number on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pup)]
pub enum Service {
    Collections,
    Insertions,
    Location,
    Broadcasts,
    Sections,
    Reductions,
    Shared,
    Quiescence,
    Functions,
    Balancing,
    Checkpoints,
    Recovery,
}

/// How many services there are.
pub const SERVICES: usize = Service::Recovery as usize + 1;

/// When a message for a PE runs there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queueing {
    /// When its turn comes, among the messages for objects.
    InTurn,
    /// Before all that wait.
    Expedited,
    /// As it comes.
    AtOnce,
}

/// What becomes of a message on a PE that is frozen for a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFrozen {
    /// It is for the runtime, and does what it does.
    Runs,
    /// The program asked for it: it waits, and a checkpoint keeps it.
    Waits,
    /// It is part of a count that goes on at the thaw; whoever goes back to the checkpoint begins that anew.
    IsPutOff,
}

/// A short message as words, for another PE of its node. The lowest byte of the first is not the message's.
pub type ShortWords = [u64; 7];

/// What a message is about, for people.
#[derive(Clone, Copy)]
pub struct About {
    pub what: &'static str,
    pub object: Option<ObjId>,
    pub collection: Option<CollectionId>,
    /// Elements of the collection gave what is in it. What it is if the one is known that gave what is wrong.
    pub given: Option<&'static str>,
}

impl About {
    /// Nothing of the program is in it.
    pub const RUNTIME: About = About::of_collection("a message of the runtime", None);

    pub const fn of_collection(what: &'static str, collection: Option<CollectionId>) -> About {
        About { what, object: None, collection, given: None }
    }

    pub const fn of_object(what: &'static str, object: ObjId) -> About {
        About { what, object: Some(object), collection: None, given: None }
    }
}

/// What a service says from PE to PE.
pub trait ServiceMessage: Pup + fmt::Debug + Send + 'static {
    const SERVICE: Service;

    /// What the PE does that gets it.
    fn run(self, pe: &Pe, from: PeId);

    /// Whether it can be let in from another node, where it could be read.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, pe: &Pe) -> Checked;

    /// The collection that has to be known for it to mean anything.
    fn collection(&self) -> Option<CollectionId> {
        None
    }

    /// What this PE itself will read of it, rather than pass on.
    fn packed(&self) -> Option<&Packed> {
        None
    }

    /// Whether quiescence waits for it.
    fn is_counted(&self) -> bool {
        true
    }

    fn queueing(&self) -> Queueing {
        Queueing::InTurn
    }

    fn when_frozen(&self) -> WhenFrozen {
        WhenFrozen::Runs
    }

    /// It has come, and its turn has not: what others that come after it have to find.
    fn accepted(&self, pe: &Pe, collection: &Collection) {
        let _ = (pe, collection);
    }

    fn about(&self) -> About {
        About::RUNTIME
    }

    /// What the program misses if its collection was destroyed before it came.
    fn missed(&self) -> Option<&'static str> {
        None
    }

    /// Its collection was destroyed before it came.
    fn too_late(&self, pe: &Pe) {
        let _ = pe;
    }

    /// What goes to another node in its place.
    fn into_travelling(self) -> Self {
        self
    }

    /// All of it that another PE of the node needs, if that is so short: it travels so, without memory of its own. Such a message has its
    /// turn among others, and refers to no shared value.
    fn to_words(&self) -> Option<ShortWords> {
        None
    }

    /// The message that is in those words, which are those of one.
    fn of_words(_: &ShortWords) -> Option<Self> {
        None
    }

    /// Whether such a message may run where it comes if none waits before it, in the midst of taking in others: no entry runs over it.
    fn runs_as_it_comes(&self) -> bool {
        false
    }

    /// The program had asked for it before a checkpoint, and the PE that it had asked may be lost.
    fn request_again(self, pe: &Pe) {
        pe.tell(pe.id, self);
    }
}

/// A [`ServiceMessage`] of any service.
pub trait PeMessage: fmt::Debug + Send {
    fn run(self: Box<Self>, pe: &Pe, from: PeId);
    /// # Errors
    /// See [`ServiceMessage::check`].
    fn check(&self, pe: &Pe) -> Checked;
    fn collection(&self) -> Option<CollectionId>;
    fn packed(&self) -> Option<&Packed>;
    fn is_counted(&self) -> bool;
    fn queueing(&self) -> Queueing;
    fn when_frozen(&self) -> WhenFrozen;
    fn accepted(&self, pe: &Pe, collection: &Collection);
    fn about(&self) -> About;
    fn missed(&self) -> Option<&'static str>;
    fn too_late(&self, pe: &Pe);
    fn request_again(self: Box<Self>, pe: &Pe);
    fn service(&self) -> Service;
    fn to_words(&self) -> Option<ShortWords>;
    fn runs_as_it_comes(&self) -> bool;
    /// Packs a copy.
    fn lend<'a>(&'a self, l: &mut Lender<'a>);
    /// Packs it for another node, and gives it up.
    fn pack_away(self: Box<Self>, p: Packer) -> (Packer, Vec<Segment>);
}

impl<M: ServiceMessage> PeMessage for M {
    fn run(self: Box<Self>, pe: &Pe, from: PeId) {
        M::run(*self, pe, from);
    }

    fn check(&self, pe: &Pe) -> Checked {
        M::check(self, pe)
    }

    fn collection(&self) -> Option<CollectionId> {
        M::collection(self)
    }

    fn packed(&self) -> Option<&Packed> {
        M::packed(self)
    }

    fn is_counted(&self) -> bool {
        M::is_counted(self)
    }

    fn queueing(&self) -> Queueing {
        M::queueing(self)
    }

    fn when_frozen(&self) -> WhenFrozen {
        M::when_frozen(self)
    }

    fn accepted(&self, pe: &Pe, collection: &Collection) {
        M::accepted(self, pe, collection);
    }

    fn about(&self) -> About {
        let about = M::about(self);
        About { collection: about.collection.or(M::collection(self)), ..about }
    }

    fn missed(&self) -> Option<&'static str> {
        M::missed(self)
    }

    fn too_late(&self, pe: &Pe) {
        M::too_late(self, pe);
    }

    fn request_again(self: Box<Self>, pe: &Pe) {
        M::request_again(*self, pe);
    }

    fn service(&self) -> Service {
        M::SERVICE
    }

    fn to_words(&self) -> Option<ShortWords> {
        M::to_words(self)
    }

    fn runs_as_it_comes(&self) -> bool {
        M::runs_as_it_comes(self)
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        M::SERVICE.pack(l.packer());
        Pup::lend(self, l);
    }

    fn pack_away(self: Box<Self>, mut p: Packer) -> (Packer, Vec<Segment>) {
        M::SERVICE.pack(&mut p);
        pack_away(Box::new(M::into_travelling(*self)), p)
    }
}

/// How a service's messages are read. Each has one, by `service`.
#[derive(Clone, Copy)]
pub struct Reader {
    /// Whose messages it reads.
    pub service: Service,
    read: fn(&mut Unpacker<'_>) -> Result<Box<dyn PeMessage>, PupError>,
    of_words: fn(&ShortWords) -> Box<dyn PeMessage>,
    take_words: TakeWords,
}

/// Words come from PEs of this process only, whose service made them of a message.
const AS_WRITTEN: &str = "the service reads what it has written";

type TakeWords = fn(&Pe, PeId, &ShortWords, bool) -> Option<Box<dyn PeMessage>>;

inventory::collect!(Reader);

impl Reader {
    pub const fn of<M: ServiceMessage>() -> Reader {
        Reader {
            service: M::SERVICE,
            read: |u| Ok(Box::new(M::unpack(u)?)),
            of_words: |words| Box::new(M::of_words(words).expect(AS_WRITTEN)),
            take_words: take_words::<M>,
        }
    }

    fn find(service: usize) -> Option<Reader> {
        static READERS: OnceLock<[Option<Reader>; SERVICES]> = OnceLock::new();
        let readers = READERS.get_or_init(|| {
            let mut readers = [None; SERVICES];
            // Those of the program itself come last: its unit tests may be linked with another copy of a crate.
            for reader in inventory::iter::<Reader>() {
                readers[reader.service as usize] = Some(*reader);
            }
            readers
        });
        *readers.get(service)?
    }
}

/// Reads what [`PeMessage::lend`] and [`PeMessage::pack_away`] pack.
///
/// # Errors
/// When it is none.
pub fn read(u: &mut Unpacker<'_>) -> Result<Box<dyn PeMessage>, PupError> {
    let service = Service::unpack(u)?;
    let reader = Reader::find(service as usize);
    (reader.ok_or_else(|| u.invalid(format!("this program has no messages of {service:?}")))?.read)(u)
}

/// The message of this service that is in the words.
pub fn of_words(service: usize, words: &ShortWords) -> Box<dyn PeMessage> {
    (Reader::find(service).expect(AS_WRITTEN).of_words)(words)
}

/// Takes in the message of this service that is in the words. It comes back if it is to be queued.
pub(crate) fn take_words_of(
    service: usize,
    pe: &Pe,
    from: PeId,
    words: &ShortWords,
    at_once: bool,
) -> Option<Box<dyn PeMessage>> {
    (Reader::find(service).expect(AS_WRITTEN).take_words)(pe, from, words, at_once)
}

fn take_words<M: ServiceMessage>(
    pe: &Pe,
    from: PeId,
    words: &ShortWords,
    at_once: bool,
) -> Option<Box<dyn PeMessage>> {
    let message = M::of_words(words).expect(AS_WRITTEN);
    if !at_once || !message.runs_as_it_comes() || !pe.may_run_as_it_comes(message.collection()) {
        return Some(Box::new(message));
    }
    pe.count_taken();
    message.run(pe, from);
    None
}

/// Says that an enum is what a service says.
#[doc(hidden)]
#[macro_export]
macro_rules! service {
    ($messages:ty) => {
        $crate::inventory::submit! { $crate::message::service::Reader::of::<$messages>() }
    };
}
pub use service;
