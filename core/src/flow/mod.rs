//! What async entries run on.
//!
//! `#[chare]` compiles an `#[entry] async fn` to a state machine; `core/macros/README.md` tells how. Its states are
//! plain data: they are packed with the object, so an object in the middle of one can move to another machine or come
//! back from a checkpoint. What the generated code uses at run time is here: messages that nobody has received yet
//! ([`Mailbox`]), answers that have arrived ([`Replies`]), the entries that are running ([`RunningList`]), loop
//! counters ([`Counter`]). All of it is data without clock, thread or socket.
//!
//! Programs see [`Awaitable`] in error messages, and [`Waiting`] in what the runtime says when nothing moves any more.

mod awaitable;
mod counter;
mod mailbox;
mod replies;
mod running;
mod shared;
mod stamp;

pub use crate::call::answer;
pub use awaitable::{Awaitable, Begin};
pub use counter::{Countable, Counter, Int};
pub use mailbox::Mailbox;
pub use replies::{Answer, Replies};
pub use running::{Running, RunningList, Step};
pub use shared::{UsedAfterOverlap, UsedByAnotherPart, used_after_overlap, used_by_another_part};
pub use stamp::{Stamp, unknown_state};
pub use talisman_kernel::route::Route;
pub use talisman_kernel::waiting::Waiting;
