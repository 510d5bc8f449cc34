//! A job of several processes: who starts them, watches them and ends them.
//!
//! The process that was started becomes the *launcher*. It starts the nodes, which are this program again, and has a
//! control connection with each, over which it tells them what they are, brings them together, and ends them. Messages
//! of the program do not pass here: nodes are linked with each other (`transport`).
//!
//! | file | is |
//! |---|---|
//! | [`launcher`], `outcome` | the launcher's loop: events in, actions carried out; what a job leaves behind |
//! | [`desk`] | signals of people and what is printed, beside whatever leads a job |
//! | `conductor` | what is to be done about each event; pure |
//! | `plan`, `roster` | how many nodes, where, how linked; how far each has come |
//! | `verdict`, `fate` | how the job ended, and what became of a node, in words; pure |
//! | `recovery`, `suspicions`, `printed`, `patience`, `relapses` | losses that a job survives: what is decided and reported, who has to go, what was printed, who is waited for, which it causes itself; pure |
//! | `words` | who is lost, and what, for people; pure |
//! | [`keeping`] | where checkpoints are kept on disk, and from which a whole job goes on |
//! | `kills`, `heartbeat`, `lines` | faults to inject, silence, whole lines; pure |
//! | [`sites`], `hosts`, `slurm` | the nodes of all hosts; which hosts there are |
//! | `placing` | on which of them another process is started; pure |
//! | [`remote`] | the nodes on another host, over ssh |
//! | [`local`], [`children`], [`memory`], [`descriptors`] | the nodes on this host: processes, connections, output, what they share |
//! | [`naming`] | what its processes are called |
//! | [`asked`] | who asks the job for something from outside |
//! | [`printer`], [`exhaustion`] | the thread that prints; whether memory ran out |
//! | [`spool`] | what it prints through, so that whoever takes the launcher's place prints the rest and nothing twice |
//! | [`succession`] | the same over several hosts: an agent that starts another launcher |
//! | [`takeover`] | a node that becomes the launcher when that is gone |
//! | [`standby`] | a process that starts the job again if that happens before the program has begun |
//! | `control` | what is said |
//! | [`events`] | what happens, for a closer look |
//! | [`hostile`] | what comes to doors, for fuzz targets |
//! | [`probe`] | a program of nodes without messages, for tests |
//! | `attendance` | the node's side: what it does about the launcher's words; pure |
//! | [`member`], [`voice`], [`control_thread`] | the node's side: its threads |

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

pub mod asked;
pub mod children;
pub mod conclude;
pub mod control_thread;
pub mod descriptors;
pub mod desk;
pub mod events;
pub mod exhaustion;
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
pub mod sites;
pub mod spool;
pub mod standby;
pub mod succession;
pub mod takeover;
#[cfg(test)]
mod tests;
pub mod voice;

pub use keeping::ProgramTypes;
pub use launcher::launch;
pub use standby::{Turn, stand_by};
pub use succession::successor::{Inherited, succeed, will};
pub use voice::Control;
