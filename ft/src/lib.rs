//! Fault tolerance of Talisman: protocols as pure state machines.
//!
//! What happened goes in, what is to be done comes out. Nothing in here reads a clock, opens a socket or starts a
//! thread: a runtime drives it on real processes, and the same runtime does in simulation.
//!
//! | module | is |
//! |---|---|
//! | [`protocol`], [`event`], [`action`] | what all protocols have in common, and which there are |
//! | [`coordinated`] | the commit of a coordinated checkpoint |
//! | [`logging`] | message logging: only what failed goes back (FTL-Charm++: Chakravorty, Kalé 2004) |
//! | [`view`] | who is there in an epoch, and who acts for those who are not |
//! | [`period`] | how often to take checkpoints |
//! | [`double`] | the coordinated double checkpoint of FTC-Charm++ (Zheng, Shi, Kalé 2004) with its repairs |
//! | [`reliability`] | how likely it is that nothing can be restored |

pub mod action;
pub mod coordinated;
pub mod double;
pub mod event;
pub mod logging;
pub mod period;
pub mod protocol;
pub mod reliability;
pub mod view;

/// A node of the job: a process, under the number that it has from the job's start. A process that takes the place of
/// a lost one has its number, and a later life.
pub type NodeId = u32;

/// The time between two failures (FTC): whatever was sent in another one is obsolete. The job begins in epoch 0.
pub type Epoch = u32;

/// A checkpoint of the whole job. The versions rise, also across failures; none is used twice.
pub type Version = u64;
