//! A job over several hosts goes on without the process that started it (`--ft`).
//!
//! On every host an agent ([`remote`](crate::remote)) starts and serves the nodes; on the launcher's there is one too, if only to have what the launcher
//! prints to. When an agent loses its launcher, its nodes go on. The agents look at the hosts in their order, the launcher's first, as
//! nodes of one host do ([`takeover`](crate::takeover)); the first one that is left starts the program once more as a process that leads,
//! and all agents talk with that over TCP as they did with the launcher over ssh.
//!
//! ```text
//! launcher ──ssh── agents ── nodes          successor ──TCP── agents ── nodes
//! ```
//!
//! - **Who may lead.** Who is refused at an agent's address knows that its processes are dead. Who is out of reach may be alive and lead:
//!   so whoever leads, the first launcher too, goes on with the larger part of the hosts alone (`talisman_control::succession`).
//! - **Addresses** are known beforehand: each agent tells the launcher where it listens, the launcher tells all. Whoever comes there
//!   proves that it knows the job's secret ([`door`]).
//! - **What is known** comes from the nodes, which are told to introduce themselves. The rest is as after any loss.
//! - An agent that finds nobody to follow within a limit of time ends, and its nodes with it.
//!
//! | file | is |
//! |---|---|
//! | [`process_registry`] | what a launcher's conversations with its hosts share of that |
//! | [`beforehand`] | what is seen to before the job begins |
//! | [`estate`] | what agents are told beforehand, and say then |
//! | [`door`] | how they reach each other |
//! | [`seeking`] | that, carried out |
//! | `gathering` | that, as the successor finds it out |
//! | [`successor`] | the process that leads |

pub mod beforehand;
pub mod door;
pub mod estate;
mod gathering;
pub mod process_registry;
pub mod seeking;
pub mod successor;
