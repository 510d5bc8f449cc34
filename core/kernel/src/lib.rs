//! One processing element (PE): from the call of an entry to its execution.
//!
//! A message is made, finds its receiver's PE, crosses, is queued and runs: all of that path is in this crate. Objects, collections,
//! locations and moves are here too, and what a PE measures. What is built on it, such as broadcasts, reductions or checkpoints,
//! is known here only as [`Services`](pe::services::Services).
//!
//! Programs depend on the root package `talisman`; nothing of this crate is promised to them.
//!
//! | module | is |
//! |---|---|
//! | [`pe`] | a PE: its queue, `turn`, `execute`, sending and delivering |
//! | [`message`] | envelopes, their pool and queue, messages of services |
//! | [`object`], [`registry`], [`entry_info`], [`kind`] | an object's header, its type and entries |
//! | [`collection`] | arrays, groups and singletons, as one PE sees them |
//! | [`location`], [`migrate`], [`order`] | where objects are, how they move, the order of messages between two |
//! | [`node`], [`port`], [`net`], [`wire`] | a PE's process, its ways to other PEs, the bytes |
//! | [`measure`] | loads and communication for balancing |
//! | [`trace`] | what a PE writes down of what it does |
//! | [`refusal`], [`undelivered`], [`waiting`], [`panics`], [`witness`] | errors by name, and for whom tests look |

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

// The code that `#[derive(Pup)]` writes says `::talisman::pup`.
#[cfg(not(test))]
extern crate talisman_pup as talisman;

#[cfg(not(target_os = "linux"))]
compile_error!(
    "Talisman runs on Linux: PEs sleep on its futexes, and order their wake-ups by its membarrier"
);

#[doc(hidden)]
pub use inventory;

pub mod collection;
pub mod entry_info;
pub mod kind;
pub mod location;
pub mod measure;
pub mod message;
pub mod migrate;
pub mod net;
pub mod node;
pub mod object;
pub mod order;
pub mod panics;
pub mod pe;
pub mod port;
pub mod refusal;
pub mod registry;
pub mod route;
pub mod shared_values;
pub mod trace;
pub mod undelivered;
pub mod waiting;
pub mod wire;
pub mod witness;
