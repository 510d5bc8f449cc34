//! The coordinated checkpoint (`--ft double`, `--ft disk`): all members make one cut, and it is committed when every
//! part is held twice.
//!
//! ```text
//! root      Wanted ─► Freeze ─► Counted: as many sent as taken? ─► Take ─► all have taken ─► Thaw ─► all are safe ─►
//! Commit
//!                                    │ no                                                        │ one cannot be
//!                                    └─► Ask, the next wave                                      └─► Abort: the one before stays
//! member    freezes ─► comes to rest, counts, holds still ─► takes its part ─► thaws ─► kept here and by its keepers
//! ─► says it is safe
//! ```
//!
//! Orders go down a tree of members, counts up; what is safe is told to the root directly. After FTC-Charm++ (Zheng,
//! Shi, Kalé 2004), with a commit in two phases. Who goes back after a loss is decided elsewhere ([`crate::double`]).

mod member;
mod root;
#[cfg(test)]
mod tests;
mod word;

pub use member::{Coordinated, Place};
pub use word::Word;
