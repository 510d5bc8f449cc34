//! Talisman runs parallel programs made of **migratable objects** (*chares*, as in Charm++). You divide a problem into
//! many more objects than there are processors. They call each other by message; the runtime decides where each lives
//! and when it runs, moves it to even out the load, and goes on without machines that were lost.
//!
//! ```
//! use talisman::prelude::*;
//!
//! #[derive(Pup)] // may be packed: in a message, to move, in a checkpoint
//! struct Slice;
//!
//! #[chare(array1d)] // elements of an array, with an integer as the index
//! impl Slice {
//!     #[init]
//!     fn new() -> Self {
//!         Slice
//!     }
//!
//!     #[entry] // called by message, from anywhere
//!     fn area(&mut self, cx: &mut Cx<Self>, slices: i32) -> f64 {
//!         let x = (f64::from(cx.index()) + 0.5) / f64::from(slices);
//!         4.0 / (1.0 + x * x) / f64::from(slices)
//!     }
//! }
//!
//! #[talisman::main] // with the options of the runtime: --pes 4, --nodes 2, --ft double …
//! async fn main(cx: &mut Cx) {
//!     let slices: Array<Slice> = Slice::array(1000).new();
//!     let pi: f64 = slices.area(1000).reduce(Sum).await; // call all of them, sum what they return
//!     writeln!(cx.output(), "pi is about {pi:.6}");
//! }
//! # fn test() {
//! # let done = talisman::testing::Test::new().pes(2).run::<__Main>(());
//! # assert_eq!(done.output, ["pi is about 3.141593"]);
//! # }
//! # test();
//! ```
//!
//! # Where to look
//!
//! | I want to | see |
//! |---|---|
//! | write a chare, an entry, a main chare | [`macro@chare`], [`macro@main`] |
//! | let an entry wait for messages and answers | [`async_entries`] |
//! | know what an entry may ask of the runtime | [`Cx`] |
//! | call an element, an array, a group, a section | [`Proxy`], [`Array`], [`Group`], [`Section`]; what calls return: [`call`] |
//! | create them | [`create`] |
//! | reduce values, with a reducer of my own | [`reduce`] |
//! | pack a type | [`macro@Pup`], [`pup`] |
//! | share a value that nobody changes | [`Shared`] |
//! | place elements; use an index of my own | [`Map`], [`map`]; [`macro@ArrayIndex`], [`index`] |
//! | decide where objects go | [`lb`], [`balancer!`] |
//! | run a program in a test | [`testing`] |
//! | read or preset the runtime's options | [`RunArgs`], [`options`] |
//!
//! The book, in `docs/` of the repository, has a tutorial, how-to pages, and pages for those who come from Charm++ or
//! MPI.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `tls` (default) | `--tls`: links between nodes are encrypted |
//! | `metis` | `--balancer metis`; the library is built along |

// What generated code and the project's own tests name. Nothing in it is promised; what is, is listed below.
#[doc(hidden)]
pub use talisman_core::*;
#[doc(hidden)]
pub use talisman_job::program;
#[doc(hidden)]
pub use talisman_kernel::witness;
#[doc(hidden)]
pub use talisman_launch::start;
#[doc(hidden)]
pub use talisman_launch::{self as launch, run};
#[doc(hidden)]
pub use talisman_simulator::{self as simulation, known_program};

#[doc(inline)]
pub use talisman_core::prelude::chare;
#[doc(inline)]
pub use talisman_core::{
    Array, ArrayIndex, Callback, Chare, Cx, Entry, Group, Map, Priority, Proxy, Pup, Section, Shared, Value,
    balancer, main, pup_object, register, register_function, register_map,
};
#[doc(inline)]
pub use talisman_launch::RunArgs;

/// What calls return, and what else an async entry waits for.
///
/// A call of one object is a [`Call`](call::Call), a call of many a [`Collective`](call::Collective). It is sent once its
/// answer has somewhere to go, or when it is dropped.
///
/// ```
/// use talisman::prelude::*;
///
/// #[derive(Pup)]
/// struct Square;
///
/// #[chare(array1d)]
/// impl Square {
///     #[init]
///     fn new() -> Self {
///         Square
///     }
///
///     #[entry]
///     fn of_index(&mut self, cx: &mut Cx<Self>) -> i32 {
///         cx.index() * cx.index()
///     }
/// }
///
/// #[derive(Pup)]
/// struct Asker;
///
/// #[chare(single)]
/// impl Asker {
///     #[init]
///     fn new() -> Self {
///         Asker
///     }
///
///     #[entry]
///     fn answer(&mut self, cx: &mut Cx<Self>, square: i32) {
///         writeln!(cx.output(), "a callback got {square}");
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let squares: Array<Square> = Square::array(4).new();
///     let one: i32 = squares.at(3).of_index().await; // a call of one: its value
///     let sum: i32 = squares.of_index().reduce(Sum).await; // of all: one value of theirs
///     writeln!(cx.output(), "{one} {sum}");
///     squares.at(1).of_index().ignore(); // nobody wants the value
///     let asker: Proxy<Asker> = Asker::chare().new();
///     squares.at(2).of_index().reply(asker.callback(Asker::answer)); // it goes to an entry
///     cx.quiescence().await; // until no message is on its way
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).run::<__Main>(());
/// # assert_eq!(done.output, ["9 14", "a callback got 4"]);
/// # }
/// # test();
/// ```
pub mod call {
    #[doc(hidden)]
    pub use talisman_core::call::*;
    #[doc(inline)]
    pub use talisman_core::call::{AllReduce, AtSync, Barrier, Call, Collective, Pause, Quiescence};
}

/// Traits of chares, which `#[chare]` implements, for code that is generic over them; why an object was restored.
pub mod chare {
    #[doc(hidden)]
    pub use talisman_core::chare::*;
    #[doc(inline)]
    pub use talisman_core::chare::{
        Args, ArrayChare, Chare, Entry, GroupChare, Kind, MainChare, Restored, SingleChare, Waiting,
    };
}

/// Functions that a callback can call on a PE.
pub mod function {
    #[doc(inline)]
    pub use talisman_core::function::Function;
    #[doc(hidden)]
    pub use talisman_core::function::*;
}

/// Indices of arrays: integers, tuples of up to six, and types of one's own with [`macro@ArrayIndex`](crate::ArrayIndex).
pub mod index {
    #[doc(hidden)]
    pub use talisman_core::index::*;
    #[doc(inline)]
    pub use talisman_core::index::{ArrayIndex, Extent, IntoIndex, Sparse};
}

/// Load balancing, for programs with a strategy of their own: what is known of the job, and what is decided about it.
///
/// [`balancer!`](crate::balancer) registers one, for `--balancer`.
///
/// ```
/// use talisman::lb::{Plan, Snapshot, Strategy};
///
/// /// Deals objects out to the PEs in turn, whatever they take.
/// struct Deal;
///
/// impl Strategy for Deal {
///     fn name(&self) -> &str {
///         "deal"
///     }
///
///     fn plan(&mut self, snapshot: &Snapshot) -> Plan {
///         let pes = snapshot.pes.len() as u32;
///         let places: Vec<u32> = (0..snapshot.objects.len() as u32).map(|object| object % pes).collect();
///         Plan::to_places(snapshot, &places)
///     }
/// }
///
/// talisman::balancer!("deal", Deal); // from here on there is `--balancer deal`
/// # fn main() {}
/// ```
pub mod lb {
    #[doc(hidden)]
    pub use talisman_core::lb::*;
    #[doc(inline)]
    pub use talisman_core::lb::{Edge, Key, Move, Node, Object, Pe, Plan, Snapshot, Strategy, Wants};
}

/// Where elements of an array are placed at first: by a [`Map`], or a [`Placement`](map::Placement) of one's own.
pub mod map {
    #[doc(hidden)]
    pub use talisman_core::map::*;
    #[doc(inline)]
    pub use talisman_core::map::{IntoMap, Map, MapError, Placement};
}

/// Packing and unpacking, for messages, migration and checkpoints.
///
/// `#[derive(Pup)]` is enough for most types; [`macro@Pup`](crate::Pup) lists its attributes. Large plain arrays can be
/// [`Pages`](pup::Pages), whose memory a checkpoint keeps in place of a copy.
///
/// ```
/// use talisman::prelude::*;
/// use talisman::pup::{from_bytes, to_bytes};
///
/// #[derive(Pup, PartialEq, Debug)]
/// struct Block {
///     cells: Vec<f64>,
///     #[pup(skip)] // made again with `Default`
///     scratch: Vec<f64>,
/// }
///
/// let block = Block { cells: vec![0.5; 3], scratch: vec![] };
/// let bytes = to_bytes(&block);
/// assert_eq!(from_bytes::<Block>(&bytes).unwrap(), block);
/// assert!(from_bytes::<Block>(&bytes[1..]).is_err()); // bytes from outside never cause a panic
/// ```
pub mod pup {
    #[doc(hidden)]
    pub use talisman_pup::*;
    #[doc(inline)]
    pub use talisman_pup::{
        Fault, Lender, Named, Packer, Pages, Plain, Pup, PupError, Unpacker, Value, from_bytes, join, key,
        limits, pup_object, size_of_packed, to_bytes, try_to_bytes,
    };
}

/// Reducers: how the values of many elements become one, with the same bits in every run.
///
/// | reducer | of | gives |
/// |---|---|---|
/// | `Sum`, `Product`, `Min`, `Max` | numbers | a number; an integer that does not fit is an error |
/// | `All`, `Any`, `Xor` | `bool` | `bool` |
/// | `BitAnd`, `BitOr`, `BitXor` | integers | an integer |
/// | `Stats` | `f64` | `Statistics` |
/// | any of these | arrays `[T; N]` and rows `Vec<T>`, nested too | the same, element by element |
/// | `Concat`, `Gather` | anything | `Vec<T>`, `Vec<(I, T)>`, in index order |
/// | `Set` | `Ord` values | the distinct ones, a `BTreeSet<T>` |
/// | `Merged` | types with `impl Merge` | one of them |
/// | `Nothing` | `()` | `()`: only that everyone was there |
/// | a tuple of reducers | a tuple of as many values | a tuple |
///
/// A reducer of one's own is a type with [`Merge`](reduce::Merge), or, where the partial result differs from the value, an
/// `impl` of [`Reducer`](reduce::Reducer).
///
/// ```
/// use talisman::prelude::*;
///
/// /// The lowest and the highest of some values.
/// #[derive(Clone, Copy, Debug, Pup)]
/// struct Range {
///     low: i32,
///     high: i32,
/// }
///
/// impl Merge for Range {
///     const COMMUTES: bool = true; // the order of the values changes nothing
///
///     fn merge(&mut self, other: Self) {
///         self.low = self.low.min(other.low);
///         self.high = self.high.max(other.high);
///     }
/// }
///
/// #[derive(Pup)]
/// struct Sample;
///
/// #[chare(array1d)]
/// impl Sample {
///     #[init]
///     fn new() -> Self {
///         Sample
///     }
///
///     #[entry]
///     fn range(&mut self, cx: &mut Cx<Self>) -> Range {
///         let value = (cx.index() - 3) * (cx.index() - 3);
///         Range { low: value, high: value }
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let range: Range = Sample::array(10).new().range().reduce(Merged).await;
///     writeln!(cx.output(), "{range:?}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).run::<__Main>(());
/// # assert_eq!(done.output, ["Range { low: 0, high: 36 }"]);
/// # }
/// # test();
/// ```
pub mod reduce {
    #[doc(hidden)]
    pub use talisman_core::reduce::*;
    #[doc(inline)]
    pub use talisman_core::reduce::{
        All, Any, BitAnd, BitOr, BitXor, Concat, ExactSum, Gather, Max, Merge, Merged, Min, Nothing, Product,
        ReduceError, Reducer, Set, Statistics, Stats, Sum, Xor, register_reducer,
    };
}

/// Random numbers, the same in every run: `cx.rng()` draws an object's own.
pub mod rng {
    #[doc(inline)]
    pub use talisman_core::rng::Rng;
}

/// Running a program inside a test.
///
/// ```
/// use talisman::prelude::*;
/// use talisman::testing::Test;
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     writeln!(cx.output(), "hello from {} PEs", cx.pes());
/// }
///
/// # fn test() {
/// let done = Test::new().pes(2).run::<__Main>(()); // `__Main` is what becomes of `async fn main`
/// assert_eq!(done.output, ["hello from 2 PEs"]);
/// # }
/// # test();
/// ```
pub mod testing {
    #[doc(hidden)]
    pub use talisman_launch::testing::*;
    #[doc(inline)]
    pub use talisman_launch::testing::{Test, Tested};
}

/// What creates arrays, groups, single chares and elements: `Block::array((4, 4)).map(Map::RoundRobin).new(…)`.
///
/// A builder's methods say where and how. The call of one of the chare's `#[init]`s, by its name, creates, and returns
/// the handle.
///
/// ```
/// use talisman::prelude::*;
///
/// #[derive(Pup)]
/// struct Block {
///     heat: f64,
/// }
///
/// #[chare(array2d)]
/// impl Block {
///     #[init]
///     fn new(heat: f64) -> Self {
///         Block { heat }
///     }
///
///     #[entry]
///     fn heat(&self) -> f64 {
///         self.heat
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let even: Array<Block> = Block::array((2, 3)).map(Map::RoundRobin).new(0.5);
///     let each: Array<Block> = Block::array((2, 3)).each(|(i, j), new| { new.new(f64::from(i * j)); });
///     let few: Array<Block> = Block::sparse();
///     few.insert((7, 7)).new(1.0);
///     few.done_inserting();
///     let even: f64 = even.heat().reduce(Sum).await;
///     let each: f64 = each.heat().reduce(Sum).await;
///     let few: f64 = few.heat().reduce(Sum).await;
///     writeln!(cx.output(), "{even} {each} {few}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).run::<__Main>(());
/// # assert_eq!(done.output, ["3 3 1"]);
/// # }
/// # test();
/// ```
pub mod create {
    #[doc(inline)]
    pub use talisman_core::create::{ArrayBuilder, GroupBuilder, Insert, SingleBuilder};
}

/// The types of the runtime's options, for programs that preset them and for tests: see [`RunArgs`].
///
/// ```
/// use std::time::Duration;
/// use talisman::RunArgs;
/// use talisman::options::{CkptEvery, FaultTolerance};
///
/// let options = RunArgs {
///     nodes: 4,
///     ft: FaultTolerance::Double,
///     ckpt_every: Some(CkptEvery::Time(Duration::from_secs(60))),
///     ..RunArgs::default()
/// };
/// assert!(options.validate().is_ok());
/// ```
pub mod options {
    #[doc(inline)]
    pub use talisman_launch::balancing::{Every, PeSpeed};
    #[doc(inline)]
    pub use talisman_launch::checkpoints::{CkptEvery, FaultTolerance};
    #[doc(inline)]
    pub use talisman_launch::faults::{Chaos, Kill, When};
    #[doc(inline)]
    pub use talisman_launch::options::{OptionsError, TraceEvery, TraceWindow, Transport};
}

/// What programs use: `use talisman::prelude::*;`.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::chare::Restored;
    #[doc(no_inline)]
    pub use crate::index::Sparse;
    #[doc(no_inline)]
    pub use crate::map::Placement;
    #[doc(no_inline)]
    pub use crate::pup::{Packer, Pages, PupError, Unpacker};
    #[doc(no_inline)]
    pub use crate::reduce::{
        All, Any, BitAnd, BitOr, BitXor, Concat, Gather, Max, Merge, Merged, Min, Nothing, Product,
        ReduceError, Reducer, Set, Statistics, Stats, Sum, Xor,
    };
    #[doc(no_inline)]
    pub use crate::{
        Array, ArrayIndex, Callback, Chare, Cx, Group, Map, Priority, Proxy, Pup, Section, Shared, Value,
    };
    #[doc(no_inline)]
    pub use talisman_core::prelude::chare;
}

/// What comes from outside, for fuzz targets and their corpora. Nothing that programs use.
#[doc(hidden)]
pub mod hostile {
    pub use talisman_cluster::hostile::{TOKEN, read_knock, read_messages, read_page_request, read_request};
    pub use talisman_core::logging::hostile::{logged_seeds, read_logged};
    pub use talisman_core::record::hostile::{read_record, record_seeds};
    pub use talisman_launch::read_trace;
    pub use talisman_store::files::hostile::read_checkpoint;
}

#[doc = include_str!("../docs/src/reference/async-entries.md")]
pub mod async_entries {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(doctest)]
#[doc = include_str!("../docs/src/howto/mpi.md")]
mod mpi {}
