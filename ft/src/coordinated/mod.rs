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
//!
//! A member that has been counted holds still: until it is asked again it says nothing, and what comes waits unread and is not
//! counted. So whatever was received was sent before its sender had answered, and is in both sums. If these are equal, nothing is
//! on its way. (Where who has answered goes on, it takes two waves to know that: Mattern 1987, the four-counter method.)

mod member;
mod part;
mod root;
#[cfg(test)]
mod tests;
mod word;

pub use member::{Coordinated, Place};
pub use part::At;
pub use word::Word;
