//! Nodes on other hosts.
//!
//! ```text
//! launcher ── RemoteHost ──ssh── agent ──┬── node 2
//!                                        └── node 3
//! ```
//!
//! On each host one process, the **agent**, starts the host's nodes as the launcher starts those of its own: it is the
//! same program, called with [`agent::FLAG`]. What a node and the launcher say to each other passes through it, and what
//! the nodes print. It learns everything it needs by its standard input: nothing stands in arguments, environment or files.
//!
//! Who is lost takes along who depends on it: without the launcher or ssh the agent's input ends, and it kills its nodes;
//! without the agent the system kills them. Where nothing ends because the network is silent, both sides notice the
//! silence.
//!
//! | file | is |
//! |---|---|
//! | [`message`] | what both say from then on |
//! | [`agent`], `relay` | the agent; what passes through it |
//! | `orphaned` | what it does without a launcher, if the job goes on then |
//! | `ssh`, `srun` | how ssh and Slurm's `srun` are called, and what their failures mean |
//! | [`session`] | a process of ssh or `srun` |
//! | [`host`], `conversation`, `input` | the launcher's end; its standard input |
//! | [`survey`] | what hosts have of a former job, before any node is started |
//! | `asks` | what a host was asked about files |

pub mod agent;
mod asks;
mod conversation;
pub mod host;
mod input;
pub mod message;
mod orphaned;
mod relay;
pub mod session;
mod srun;
mod ssh;
pub mod survey;

pub use message::Begin;
