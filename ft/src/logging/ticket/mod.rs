//! `--ft logging:ticket`: the sequence of the paper (Chakravorty, Kalé 2004, sections 5.1 – 5.4), with the repairs of
//! its holes.
//!
//! ```text
//! sender     logs m with its SN ─► asks for a ticket ─────────────┐                ┌─► notes the TN ─► sends m
//! receiver                                       hands out a TN ──┘                └─► runs messages in the order of
//! TNs
//! ```
//!
//! SNs count the messages of a sender to a receiver, TNs are the order in which a receiver runs. Of a message between
//! objects of one PE the keeper has (sender, SN, TN) before it runs. A TN is known to a message's sender and to its
//! receiver, and to nobody else: so one loss at a time is repaired, and the next one when what was lost has run again
//! what it had run. It is here to be compared with.

use serde::{Deserialize, Serialize};

mod local;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
mod window;

pub use local::{Local, Record};
pub use receiver::{Delivered, Receiver, Ticket};
pub use sender::{Resend, Sender};
pub use window::Window;

/// An object, by a number of its own.
pub type ObjectId = u64;

/// A ticket number: the place of a message among all that its receiver runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tn {
    /// Counted from 1.
    pub number: u64,
    /// What the receiver's clock said when it handed it out, in nanoseconds. It is what the message sees of time, so that
    /// this is the same when it runs again.
    pub time: u64,
}
