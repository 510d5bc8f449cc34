//! What a chare is. Nothing here is written by hand: `#[chare(…)]` on an impl block writes it.

#[doc(hidden)]
pub use crate::chare_type::chare_type;
use crate::create::{ArrayBuilder, GroupBuilder, SingleBuilder};
use crate::cx::Cx;

pub use crate::entry::{Args, Construct, Entry, Invoke};
#[doc(hidden)]
pub use crate::entry::{entry_info, init_info};
use crate::proxy::{Array, Proxy};
pub use crate::proxy::{Create, Existing, SendTo};
use talisman_base::index::{ArrayIndex, Extent};
pub use talisman_base::moves::Moves;
pub use talisman_kernel::entry_info::{EntryInfo, EntryOptions, InitInfo};
pub use talisman_kernel::kind::Kind;
pub use talisman_kernel::pe::execute::Restored;
use talisman_kernel::registry;
use talisman_kernel::route::Route;
pub use talisman_kernel::waiting::{Explainer, Waiting};
use talisman_pup::{Lender, Packed, PupError, Unpacker};

/// A migratable object whose entry methods are invoked by messages (Charm++ manual: "chare").
///
/// `#[chare(…)]` on an inherent impl block implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a chare",
    note = "put `#[chare(…)]` on its impl block; a generic chare needs its parameters bounded by `talisman::Value`"
)]
pub trait Chare: Sized + 'static {
    #[doc(hidden)]
    const KEY: u64;
    /// The proof that objects may move between threads.
    #[doc(hidden)]
    const MOVES: Moves<Self>;
    /// What kind of collection its objects live in.
    const KIND: Kind;
    /// Whether messages between two objects keep their order through migrations.
    const ORDERED: bool;
    #[doc(hidden)]
    const FILE: &'static str;
    #[doc(hidden)]
    fn name() -> String;
    /// The index of one object in its collection.
    type Index: ArrayIndex;
    #[doc(hidden)]
    type Entries<T: SendTo<Self>>: Wrap<T>;
    #[doc(hidden)]
    type Inits<T: Create<Self>>: WrapInit<T>;
    #[doc(hidden)]
    type Flows: Default + Send + 'static;
    #[doc(hidden)]
    const ENTRIES: &'static [EntryInfo];
    #[doc(hidden)]
    const INITS: &'static [InitInfo];
    #[doc(hidden)]
    fn lend_state<'a>(&'a self, flows: &'a Self::Flows, l: &mut Lender<'a>);
    #[doc(hidden)]
    fn unpack_state(u: &mut Unpacker<'_>) -> Result<(Self, Self::Flows), PupError>;
    #[doc(hidden)]
    fn replied(&mut self, flows: &mut Self::Flows, cx: &mut Cx<Self>, wait: u64, value: Packed) {
        let _ = (flows, cx, wait, value);
    }
    #[doc(hidden)]
    fn waiting(flows: &Self::Flows) -> Vec<Waiting> {
        let _ = flows;
        vec![]
    }
    /// Entries that are running and owe an answer, by name, and where that goes.
    #[doc(hidden)]
    fn owed(flows: &Self::Flows) -> Vec<(&'static str, Route)> {
        let _ = flows;
        vec![]
    }
    #[doc(hidden)]
    fn restored(&mut self, cx: &mut Cx<Self>, why: Restored) {
        let _ = (cx, why);
    }
    #[doc(hidden)]
    const HEARS_OF_DEPARTURE: bool = false;
    #[doc(hidden)]
    fn departs(&mut self) {}
    #[doc(hidden)]
    fn waits(&self) -> Vec<Waiting> {
        vec![]
    }
    #[doc(hidden)]
    const HEARS_OF_LOST: bool = false;
    #[doc(hidden)]
    fn lost(&mut self, cx: &mut Cx<Self>, other: Self) {
        let _ = (cx, other);
    }

    /// An array with these elements, to be created by one of the chare's `#[init]`s:
    /// `Block::array((4, 4, 4)).new(args)`.
    #[track_caller]
    fn array(extent: impl Extent<Self::Index>) -> ArrayBuilder<Self>
    where
        Self: ArrayChare,
    {
        ArrayBuilder::make(extent)
    }

    /// An array without elements yet: `let pairs = Pair::sparse();`, then `pairs.insert(i).new(args)` and
    /// `pairs.done_inserting()`.
    fn sparse() -> Array<Self>
    where
        Self: ArrayChare,
    {
        crate::create::sparse()
    }

    /// One of these on every PE (`#[chare(group)]`) or node (`#[chare(nodegroup)]`): `Counter::group().new()`.
    fn group() -> GroupBuilder<Self>
    where
        Self: GroupChare,
    {
        GroupBuilder::make()
    }

    /// One of these, placed by the runtime or by `.on(pe)`: `Tree::chare().new(args)`.
    fn chare() -> SingleBuilder<Self>
    where
        Self: SingleChare,
    {
        SingleBuilder::make()
    }

    /// The program's one main chare.
    fn main_chare() -> Proxy<Self>
    where
        Self: MainChare,
    {
        Proxy::to(registry::main_chare_of(Self::KEY))
    }
}

/// A chare with `#[chare(array…)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a chare array",
    label = "needs `#[chare(array1d)]` … `#[chare(array(Index))]` on its impl block"
)]
pub trait ArrayChare: Chare {}

/// A chare with `#[chare(group)]` or `#[chare(nodegroup)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a group",
    label = "needs `#[chare(group)]` or `#[chare(nodegroup)]` on its impl block"
)]
pub trait GroupChare: Chare {}

/// A chare with `#[chare(single)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a chare of its own",
    label = "needs `#[chare(single)]` on its impl block"
)]
pub trait SingleChare: Chare {}

/// The chare with `#[talisman::main]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the main chare",
    label = "needs `#[talisman::main]` on its impl block; any other chare is reached through a proxy you were given"
)]
pub trait MainChare: Chare {}

/// How a generated set of proxy methods holds its target.
#[doc(hidden)]
pub trait Wrap<T>: Copy {
    fn wrap(target: T) -> Self;
    fn __target(&self) -> &T;
}

/// The same for a generated set of creation methods.
#[doc(hidden)]
pub trait WrapInit<T> {
    fn wrap(target: T) -> Self;
    fn __target(&self) -> &T;
}
