//! Links through memory that the nodes of one host share.
//!
//! The launcher makes one segment for the host ([`create`]); each node inherits and maps it ([`Mapping`]) and takes its
//! links from it. Everything about the memory is in `docs/src/reference/wire-shm.md`; the files here, from the memory up:
//!
//! | file | is |
//! |---|---|
//! | `layout.rs` | where everything lies, pure |
//! | `segment.rs`, `mapping.rs` | the memory itself, and the ends that are in this process |
//! | `slots.rs` | the slot ring, whose slots publish everything |
//! | `memory.rs`, `bytes.rs` | the byte ring, for what does not fit a slot |
//! | `frame.rs` | what a slot says, pure |
//! | `out.rs`, `waiting.rs` | the sending half, and messages that wait in it |
//! | `inbound.rs`, `arriving.rs`, `flaw.rs` | the receiving half, messages half way, and what can be wrong with them |
//! | `ends.rs` | both halves, as a PE has them |
//! | `table.rs` | lengths and alignments of segments |
//! | `hostile.rs` | another process that writes what it likes: for tests and fuzzing |

mod arriving;
mod bytes;
mod ends;
mod flaw;
mod frame;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
mod in_place;
mod inbound;
mod layout;
mod mapping;
mod memory;
mod out;
mod segment;
mod slots;
mod table;
mod waiting;

#[cfg(test)]
mod tests;

pub(crate) use ends::ShmEnds;
pub use in_place::{Arrived, Rest};
pub use inbound::Receiver;
pub use layout::{Shape, TooManyLinks};
pub use mapping::Mapping;
pub use out::Sender;
pub use segment::{NoSegment, create};

// What the files above use of other modules; the loom tests put others in their place.
use std::sync::Arc;

use super::{HEAD_MAX, Incoming, LinkError, Peer, SEGMENT_BYTES_MAX, SEGMENTS_MAX, TO_LINK, TO_STORE};
use talisman_pup::{Segment, SegmentBuffer, SegmentError};
use talisman_sched::park::Parker;
use talisman_sched::sync;
