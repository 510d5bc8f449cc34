//! Message logging: only what failed goes back (FTL-Charm++: Chakravorty, Kalé 2004), with the repairs of its holes
//! (`ft/README.md`).
//!
//! What is replayed is a PE, with all of the runtime in it. Its inputs are logged; frames between nodes stay with
//! their senders; images are taken by each node alone. A lost node is restored from its image, fed its log, and runs
//! on until it has sent what was taken of it.
//!
//! | modules | are |
//! |---|---|
//! | [`Entry`], [`Entries`], [`InputLog`], [`Batch`] | what a PE was given, and how that is kept and sent |
//! | [`Retained`] | frames that their sender keeps |
//! | [`Spread`], [`Ride`], [`Cuts`] | where entries go: to the keeper, and on frames until it has them |
//! | [`Images`] | what a node has of images, its own and others' |
//! | [`Position`], [`line::line`] | who goes back where, and what may be forgotten |
//! | [`Leader`], [`Plan`], [`Guide`], [`Reach`] | recovery |
//! | [`Gathering`], [`Standing`] | who leads next, when whoever led is lost |
//! | [`Votes`] | when the next line begins, after which nobody goes back behind it |
//! | [`Membership`] | who is there in a line: nodes are released at a cut |
//! | [`Output`], [`Gate`] | what leaves the job, or with `logging:strict` the node, and when |
//! | [`Budget`] | how much is kept for others |

mod batch;
mod budget;
mod coder;
mod cuts;
mod entries;
mod entry;
mod gate;
mod guide;
mod holdings;
mod horizon;
mod ids;
mod images;
mod input_log;
mod keepers;
mod known;
pub mod leader;
mod lengths;
pub mod line;
mod membership;
mod output;
mod plan;
mod position;
mod retained;
mod ride;
mod rows;
mod spread;
mod standing;
#[cfg(test)]
mod tests;
pub mod ticket;
mod varint;
mod votes;

pub use batch::Batch;
pub use budget::Budget;
pub use cuts::{Cut, Cuts};
pub use entries::Entries;
pub use entry::{Entry, Input};
pub use gate::Gate;
pub use guide::{Diverged, Guide, Step};
pub use holdings::Holdings;
pub use horizon::Reach;
pub use ids::{Incarnation, Lane, LogId, Shape};
pub use images::Images;
pub use input_log::InputLog;
pub use keepers::Keepers;
pub use known::Orphan;
pub use leader::{Leader, Order, Session};
pub use lengths::Lengths;
pub use line::{Missing, Place, Places};
pub use membership::Membership;
pub use output::Output;
pub use plan::{Answers, Loss, Plan, Restore};
pub use position::{ImageId, Position};
pub use retained::{Retained, Segment};
pub use ride::{Ride, Stable};
pub use spread::Spread;
pub use standing::{Gathering, Seen, Standing, Succession};
pub use varint::Malformed;
pub use votes::Votes;
