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
pub use talisman_launch::start;
#[doc(hidden)]
pub use talisman_launch::{self as launch, run};
#[doc(hidden)]
pub use talisman_simulator::{self as simulation, known_program};

#[doc(inline)]
pub use talisman_core::{
    Array, ArrayIndex, Callback, Chare, Cx, Entry, Group, Map, Priority, Proxy, Pup, Section, Shared, Value,
    balancer, call, chare, function, index, lb, main, map, pup, pup_object, reduce, register,
    register_function, register_map, rng,
};
#[doc(inline)]
pub use talisman_launch::{RunArgs, testing};

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
    pub use talisman_core::collection::create::{ArrayBuilder, GroupBuilder, Insert, SingleBuilder};
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
    pub use talisman_launch::options::{OptionsError, Transport};
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
        All, Any, BitAnd, BitOr, BitXor, Concat, Gather, Max, Merge, Merged, Min, Nothing, Product, ReduceError,
        Reducer, Set, Statistics, Stats, Sum, Xor,
    };
    #[doc(no_inline)]
    pub use crate::{
        Array, ArrayIndex, Callback, Chare, Cx, Group, Map, Priority, Proxy, Pup, Section, Shared, Value, chare,
    };
}

/// What comes from outside, for fuzz targets and their corpora. Nothing that programs use.
#[doc(hidden)]
pub mod hostile {
    pub use talisman_cluster::hostile::{read_knock, read_messages, read_request};
    pub use talisman_store::files::hostile::read_checkpoint;
}

#[doc = include_str!("../docs/src/reference/async-entries.md")]
pub mod async_entries {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
