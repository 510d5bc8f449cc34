//! The tables by which the runtime calls entries and `#[init]`s without knowing their types.

use std::borrow::Cow;
use std::ptr::NonNull;

use crate::message::cell::{ArgsCell, Words};
use crate::message::envelope::Extra;
use crate::object::Head;
use crate::pe::Pe;
use crate::refusal;
use talisman_pup::{Lender, Packed, Packer, PupError, Purpose, Segment, Unpacker};

/// What `#[entry(…)]` said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryOptions {
    /// Of every message to this entry that says nothing else; smaller is more urgent, 0 is the default.
    pub priority: i32,
    /// Goes before everything that waits, whatever its priority.
    pub expedited: bool,
}

impl EntryOptions {
    /// An entry without options.
    pub const fn new() -> Self {
        EntryOptions { priority: 0, expedited: false }
    }

    /// With a default priority.
    pub const fn priority(self, priority: i32) -> Self {
        EntryOptions { priority, ..self }
    }

    /// With messages that wait for nothing.
    pub const fn expedited(self) -> Self {
        EntryOptions { expedited: true, ..self }
    }
}

impl Default for EntryOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// How arguments are kept in a message, without their type. Every function takes the message's argument words.
pub struct ArgsInfo {
    /// Bytes that have to be copied when the message is; the arguments themselves, or a pointer to them.
    pub size: u8,
    /// Packs and gives up the arguments; large plain slices of them become segments.
    pub pack: unsafe fn(&mut Words, Packer) -> (Packer, Vec<Segment>),
    pub unpack: fn(&mut Unpacker<'_>) -> Result<Words, PupError>,
    pub drop: unsafe fn(&mut Words),
    /// Packs the arguments, which stay: large plain slices of them are only noted.
    pub lend: for<'a> unsafe fn(&'a Words, &mut Lender<'a>),
}

/// One row of a chare's table of entries.
#[doc(hidden)]
pub struct EntryInfo {
    pub name: &'static str,
    pub number: u16,
    /// The chare type it belongs to, which guards against a message for an object of another type.
    pub chare: u64,
    pub options: EntryOptions,
    pub args: ArgsInfo,
    /// # Safety
    /// `Head` is that of a live object of the entry's chare type which nobody else borrows, and the words hold
    /// this entry's arguments, which are moved out.
    pub invoke: unsafe fn(NonNull<Head>, &Pe, &mut Option<Box<Extra>>, &mut Words),
}

/// One row of a chare's table of `#[init]`s.
#[doc(hidden)]
pub struct InitInfo {
    pub name: &'static str,
    pub number: u16,
    pub chare: u64,
    pub args: ArgsInfo,
    /// # Safety
    /// `Head` is that of an object of the `#[init]`'s chare type, allocated and not constructed yet; the words hold
    /// the arguments, which are moved out.
    pub construct: unsafe fn(NonNull<Head>, &Pe, &mut Words),
}

/// Packs arguments that are not in a message, of what `whose` names.
pub fn pack_args<A>(info: &ArgsInfo, args: A, whose: impl FnOnce() -> String) -> Packed {
    let mut words = ArgsCell::store(args);
    // SAFETY: stored just above; the callers pass the info of the entry, or `#[init]`, that takes an `A`.
    refusal::seen(unsafe { info.pack_words(&mut words) }, whose)
}

impl ArgsInfo {
    /// Packs and gives up the arguments in a message's words.
    ///
    /// # Safety
    /// The words hold these arguments, and are not used again.
    pub unsafe fn pack_words(&self, words: &mut Words) -> Packed {
        // SAFETY: the caller's promise.
        let packed = Packed::from(unsafe { (self.pack)(words, Packer::new(Purpose::Message)) });
        packed.placed(Purpose::Message, self.unpack_and_drop())
    }

    /// Reads arguments only to see whether they can be read.
    pub fn unpack_and_drop(&self) -> impl FnOnce(&mut Unpacker<'_>) -> Result<(), PupError> {
        |u| {
            let mut words = (self.unpack)(u)?;
            // SAFETY: just unpacked as these arguments; dropped once.
            unsafe { (self.drop)(&mut words) };
            Ok(())
        }
    }

    /// Bytes that the arguments in a message's words take when packed.
    ///
    /// # Safety
    /// The words hold these arguments.
    pub unsafe fn size_of_packed(&self, words: &Words) -> usize {
        let mut lender = Lender::new(Packer::sizer(Purpose::Message));
        // SAFETY: the caller's promise.
        unsafe { (self.lend)(words, &mut lender) };
        lender.size()
    }

    /// Rebuilds the arguments. What is borrowed is left as it is.
    pub fn read(&self, packed: Cow<'_, Packed>) -> Result<Words, PupError> {
        // What is left over makes the arguments leak, as their type is not known here: the job ends over it.
        match packed {
            Cow::Owned(packed) => packed.read(Purpose::Message, self.unpack),
            Cow::Borrowed(packed) => packed.read_copy(Purpose::Message, self.unpack),
        }
    }
}
