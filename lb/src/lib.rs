//! Load balancing of Talisman: measurements in, plans out. It knows nothing of chares, threads, clocks and sockets.
//!
//! ```text
//! Local (a PE's own objects) ─► Member ─┬─ notes to other members
//!                                       └─ moves of its objects
//!           central: gathered into one Snapshot ─► Strategy ─► Plan
//! ```
//!
//! [`load`] measures, [`snapshot`] is what is known, [`strategy`] what decides (one file each in [`strategies`]), [`plan`] what comes
//! out, [`quality`] how good that is; [`distributed`] is for strategies of which no part sees everything. [`member`] is a PE's part in a
//! balancing step: a state machine that the runtime drives.
//! For strategies there are [`loads`], a plan in the making, and [`ideal`], what cannot be surpassed; for those who try them [`generate`]
//! and [`dump`].

// Generated code says `::talisman::pup::…`, because programs depend on the root package.
extern crate self as talisman;
#[doc(hidden)]
pub mod pup {
    pub use talisman_pup::*;
}

pub mod background;
pub mod distributed;
pub mod dump;
pub mod generate;
pub mod ideal;
pub mod load;
pub mod loads;
pub mod lowest;
pub mod member;
mod neighborhoods;
pub mod plan;
pub mod quality;
pub mod rng;
pub mod room;
pub mod sampler;
pub mod smooth;
pub mod snapshot;
pub mod strategies;
pub mod strategy;
pub mod trigger;
