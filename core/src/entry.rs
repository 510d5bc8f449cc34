//! Entry methods as values, and how rows of the tables are made by which the runtime calls them without knowing their types.
//!
//! A chare's `#[chare]` block implements [`Invoke<N>`] for its `N`th entry; [`entry_info`] turns that into a row
//! of plain function pointers. The pairing of an entry with its argument type is fixed here, by the compiler, so
//! the message path can move arguments as raw bytes.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::chare::Chare;
use crate::cx::Cx;
use crate::object_of::Object;
use talisman_base::moves::Moves;
use talisman_kernel::entry_info::{ArgsInfo, EntryInfo, EntryOptions, InitInfo};
use talisman_kernel::message::cell::{ArgsCell, Words};
use talisman_kernel::message::envelope::Extra;
use talisman_kernel::object::Head;
use talisman_kernel::pe::Pe;
use talisman_pup::{Lender, PupError, Unpacker, pack_away_with};

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

/// The row of an entry.
#[doc(hidden)]
pub const fn entry_info<C: Invoke<N>, const N: usize>() -> EntryInfo {
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

/// The row of an `#[init]`.
#[doc(hidden)]
pub const fn init_info<C: Construct<N>, const N: usize>() -> InitInfo {
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

unsafe fn construct<C: Construct<N>, const N: usize>(head: NonNull<Head>, pe: &Pe, words: &mut Words) {
    // SAFETY: the words hold this `#[init]`'s arguments (promise of `InitInfo::construct`).
    let args = unsafe { ArgsCell::<C::Args>::take(words) };
    let state = C::construct(&mut Cx::<C>::new(pe, head, None), args);
    // SAFETY: the object is a `C` without a state yet (same promise).
    unsafe { Object::<C>::initialise(head, state, C::Flows::default()) };
}
