//! Entry methods as values, and the tables by which the runtime calls them without knowing their types.
//!
//! A chare's `#[chare]` block implements [`Invoke<N>`] for its `N`th entry; [`EntryInfo::of`] turns that into a row
//! of plain function pointers. The pairing of an entry with its argument type is fixed here, by the compiler, so
//! the message path can move arguments as raw bytes.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::chare::Chare;
use crate::cx::Cx;
use crate::message::cell::{ArgsCell, Words};
use crate::message::envelope::Extra;
use crate::object::{Head, Object};
use crate::pe::Pe;
use crate::refusal;
use talisman_base::moves::Moves;
use talisman_pup::{Lender, Packed, Packer, PupError, Purpose, Segment, Unpacker, pack_away_with};

/// An entry method as a value: `Block::ghost`. `A` is the tuple of its arguments, `R` what it returns.
pub struct Entry<C, A, R = ()> {
    pub number: u16,
    types: PhantomData<fn(C, A) -> R>,
}

impl<C, A, R> Entry<C, A, R> {
    #[doc(hidden)]
    pub const fn of<const N: usize>() -> Self
    where
        C: Invoke<N, Args = A, Output = R>,
    {
        let _proof = C::ARGS_MOVE;
        Entry { number: N as u16, types: PhantomData }
    }
}

impl<C, A, R> Clone for Entry<C, A, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C, A, R> Copy for Entry<C, A, R> {}

/// The arguments of an entry as one value: `()`, the argument itself, or the tuple of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of an entry",
    note = "at most 8 arguments, each of which owns what it holds (`'static`)",
    note = "more of them go into a struct with `#[derive(Pup)]`"
)]
pub trait Args: 'static {
    /// What a callback to such an entry takes.
    type Value;
}

impl Args for () {
    type Value = ();
}

impl<A: 'static> Args for (A,) {
    type Value = A;
}

macro_rules! args_of_tuples {
    ($(($($a:ident)+))*) => { $(
        impl<$($a: 'static),+> Args for ($($a,)+) {
            type Value = ($($a,)+);
        }
    )* };
}
args_of_tuples!((A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H));

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

/// One exported entry, by its number in declaration order: everything the runtime knows of it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no entry with the number {N}",
    note = "`#[entry]` methods in the `#[chare]` block of `{Self}` make them"
)]
pub trait Invoke<const N: usize>: Chare {
    type Args: Args;
    /// The proof that the arguments may move between threads.
    const ARGS_MOVE: Moves<Self::Args>;
    type Output: 'static;
    const NAME: &'static str;
    const OPTIONS: EntryOptions;
    fn invoke(&mut self, flows: &mut Self::Flows, cx: &mut Cx<Self>, args: Self::Args);
    fn lend<'a>(args: &'a Self::Args, l: &mut Lender<'a>);
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self::Args, PupError>;
}

/// One `#[init]`, likewise.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `#[init]` with the number {N}",
    note = "`#[init]` functions in the `#[chare]` block of `{Self}` make them"
)]
pub trait Construct<const N: usize>: Chare {
    type Args: Args;
    /// The proof that the arguments may move between threads.
    const ARGS_MOVE: Moves<Self::Args>;
    const NAME: &'static str;
    fn construct(cx: &mut Cx<Self>, args: Self::Args) -> Self;
    fn lend<'a>(args: &'a Self::Args, l: &mut Lender<'a>);
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self::Args, PupError>;
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

impl EntryInfo {
    #[doc(hidden)]
    pub const fn of<C: Invoke<N>, const N: usize>() -> Self {
        // Evaluated, so that it exists: messages rely on it.
        let _proof = C::ARGS_MOVE;
        EntryInfo {
            name: C::NAME,
            number: N as u16,
            chare: C::KEY,
            options: C::OPTIONS,
            args: ArgsInfo {
                size: ArgsCell::<C::Args>::SIZE,
                // SAFETY: the caller's promise that the words hold this entry's arguments; `ARGS_MOVE` is the proof that
                // they are `Send`.
                pack: |words, p| unsafe { pack_away_with(ArgsCell::<C::Args>::take(words), p, C::lend) },
                unpack: |u| C::unpack(u).map(ArgsCell::<C::Args>::store),
                // SAFETY: as above; the caller does not use the words again.
                drop: |words| drop(unsafe { ArgsCell::<C::Args>::take(words) }),
                // SAFETY: as above; the words stay as they are.
                lend: |words, l| C::lend(unsafe { ArgsCell::<C::Args>::peek(words) }, l),
            },
            invoke: invoke::<C, N>,
        }
    }
}

unsafe fn invoke<C: Invoke<N>, const N: usize>(
    head: NonNull<Head>,
    pe: &Pe,
    extra: &mut Option<Box<Extra>>,
    words: &mut Words,
) {
    // SAFETY: the words hold this entry's arguments (promise of `EntryInfo::invoke`).
    let args = unsafe { ArgsCell::<C::Args>::take(words) };
    let mut cx = Cx::<C>::new(pe, head, extra.take());
    // SAFETY: the object is a live `C` that nobody else borrows (same promise).
    let (state, flows) = unsafe { Object::<C>::parts(head) };
    state.invoke(flows, &mut cx, args);
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

impl InitInfo {
    #[doc(hidden)]
    pub const fn of<C: Construct<N>, const N: usize>() -> Self {
        // Evaluated, so that it exists: messages rely on it.
        let _proof = C::ARGS_MOVE;
        InitInfo {
            name: C::NAME,
            number: N as u16,
            chare: C::KEY,
            args: ArgsInfo {
                size: ArgsCell::<C::Args>::SIZE,
                // SAFETY: the caller's promise that the words hold this `#[init]`'s arguments; `ARGS_MOVE` is the proof
                // that they are `Send`.
                pack: |words, p| unsafe { pack_away_with(ArgsCell::<C::Args>::take(words), p, C::lend) },
                unpack: |u| C::unpack(u).map(ArgsCell::<C::Args>::store),
                // SAFETY: as above; the caller does not use the words again.
                drop: |words| drop(unsafe { ArgsCell::<C::Args>::take(words) }),
                // SAFETY: as above; the words stay as they are.
                lend: |words, l| C::lend(unsafe { ArgsCell::<C::Args>::peek(words) }, l),
            },
            construct: construct::<C, N>,
        }
    }
}

unsafe fn construct<C: Construct<N>, const N: usize>(head: NonNull<Head>, pe: &Pe, words: &mut Words) {
    // SAFETY: the words hold this `#[init]`'s arguments (promise of `InitInfo::construct`).
    let args = unsafe { ArgsCell::<C::Args>::take(words) };
    let state = C::construct(&mut Cx::<C>::new(pe, head, None), args);
    // SAFETY: the object is a `C` without a state yet (same promise).
    unsafe { Object::<C>::initialise(head, state, C::Flows::default()) };
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
