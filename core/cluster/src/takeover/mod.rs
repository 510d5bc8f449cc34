//! A job goes on without the process that started it (`--ft`, all nodes on one host).
//!
//! When a node's control connection ends, its launcher is dead. Every node then looks for the lowest node that lives, and follows that;
//! the one that finds no lower one alive becomes the launcher, in a thread of its process.
//!
//! ```text
//! each node:   (end of the control connection) ─► is node 0 there? ─no─► is node 1 there? ─no─► … ─► me: lead
//!                                                      └─yes─► Follow ─► (its first word) ─► as ever
//! the leader:  Follow of all that live ─► Halt with the next epoch to all ─► as after any loss
//! ```
//!
//! - **Who lives** is known, not guessed: each node listens at a socket ([`door`]) in a folder that only its user can enter ([`folder`]) for as
//!   long as its process lives. Refused means dead. Who is there but does not say anything for as long as `--silence` allows is killed, through a
//!   descriptor of just that process. So no two of them can think themselves the lowest, and no majority is needed.
//! - **What is known** comes from those that follow (`talisman_control::follower`): epoch, view, steps, which lines the former launcher printed.
//!   The rest is as after a loss of nodes: a new epoch, all halt, and go back to the newest whole version.
//! - **Output** goes to what the launcher printed to, whose descriptors each node has from the beginning ([`streams`]).
//! - The next one succeeds a successor that dies, in the same way.
//!
//! | file | is |
//! |---|---|
//! | [`seeking`] | a node's search carried out |
//! | [`door`] | how a node that has taken over is reached |
//! | [`folder`] | where all of them are, out of the reach of other users |
//! | [`adopted`] | its connections with the others, as the launcher has them |
//! | [`missing`] | who may still come to the one that leads; pure |
//! | `gathering` | who follows, and who is lost |
//! | [`successor`] | the launcher's loop in a node's process |
//! | [`hangup`] | a closed terminal still ends the job |
//! | [`streams`] | the descriptors that outlive the launcher |

pub mod adopted;
pub mod door;
pub mod folder;
mod gathering;
pub mod hangup;
pub mod missing;
pub mod seeking;
pub mod streams;
pub mod successor;
