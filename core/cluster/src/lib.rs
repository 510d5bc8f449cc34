//! A job of several processes: who starts them, watches them and ends them.
//!
//! The process that was started becomes the *launcher*. It starts the nodes, which are this program again, and has a
//! control connection with each, over which it tells them what they are, brings them together, and ends them. Messages
//! of the program do not pass here: nodes are linked with each other (`transport`).
//!
//! What is decided, and what is said, is in `talisman_control`.
//!
//! | file | is |
//! |---|---|
//! | [`launcher`], [`conclude`] | the launcher's loop: events in, actions carried out; what is left to do at the end |
//! | [`console`] | signals of people and what is printed, beside whatever leads a job |
//! | [`keeping`] | where checkpoints are kept on disk, and from which a whole job goes on |
//! | [`host_pool`] | the nodes of all hosts |
//! | [`remote`] | the nodes on another host, over ssh |
//! | [`local`], [`children`], [`memory`], [`descriptors`] | the nodes on this host: processes, connections, output, what they share |
//! | [`fixed_layout`] | processes with the same addresses, for programs that need them |
//! | [`naming`] | what its processes are called |
//! | [`asked`] | who asks the job for something from outside |
//! | [`printer`], [`exhaustion`] | the thread that prints; whether memory ran out |
//! | [`spool`] | what it prints through, so that whoever takes the launcher's place prints the rest and nothing twice |
//! | [`succession`] | the same over several hosts: an agent that starts another launcher |
//! | [`takeover`] | a node that becomes the launcher when that is gone |
//! | `standby` | a process that starts the job again if that happens before the program has begun |
//! | [`events`] | what happens, for a closer look |
//! | [`hostile`] | what comes to doors, for fuzz targets |
//! | [`probe`] | a program of nodes without messages, for tests |
//! | [`member`], [`voice`], [`control_thread`] | the node's side: its threads |

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

pub mod asked;
pub mod children;
pub mod conclude;
pub mod console;
pub mod control_thread;
pub mod descriptors;
pub mod events;
pub mod exhaustion;
pub mod fixed_layout;
mod going_back;
pub mod host_pool;
pub mod hostile;
pub mod keeping;
pub mod launcher;
pub mod local;
pub mod member;
pub mod memory;
pub mod naming;
pub mod printer;
pub mod probe;
pub mod remote;
pub mod seeing;
pub mod spool;
mod standby;
pub mod succession;
pub mod takeover;
#[cfg(test)]
mod tests;
pub mod voice;

pub use launcher::launch;
pub use standby::{Turn, stand_by};
pub use succession::successor::{Inherited, succeed, will};
pub use voice::Control;
