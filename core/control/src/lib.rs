//! The control plane of a job: what its launcher and its nodes decide, as pure state machines.
//!
//! What happened and the time go in, actions come out: there is no clock, no socket, no process and no thread here. The launcher and
//! the nodes carry the actions out (`cluster`, `run`), simulated worlds in a simulated way.
//!
//! | module | is |
//! |---|---|
//! | [`protocol`], [`event`], [`heritage`] | what launcher and nodes say to each other; what happens to a node; what processes inherit |
//! | [`coordinator`] | what the launcher does about each event |
//! | [`plan`], [`members`], [`placing`] | how many nodes, where, how linked; how far each has come; where another process is started |
//! | [`job_result`], [`exit_cause`], [`outcome`] | how the job ended, what became of a node, what it leaves behind |
//! | [`recovery`], [`failure_detector`], [`crash_loop`], [`watchdog`] | losses that a job survives: what is decided, who has to go, which losses it causes itself, who is waited for |
//! | [`output_dedup`] | what was printed, so that nothing is printed twice |
//! | [`messages`] | who is lost, and what, for people |
//! | [`kills`], [`heartbeat`], [`lines`] | faults to inject, silence, whole lines |
//! | [`hosts`], [`slurm`], [`greeting`], [`agent_watch`] | which hosts there are, what they say first, whether one is silent |
//! | [`node_session`], [`connecting`] | a node's side: what it does about the launcher's words, and about its connections |
//! | [`follower`], [`search`], [`succession`] | what another launcher has to know, how it is found, and who becomes it |

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

pub mod agent_watch;
pub mod connecting;
pub mod coordinator;
pub mod crash_loop;
pub mod event;
pub mod exit_cause;
pub mod failure_detector;
pub mod follower;
pub mod greeting;
pub mod heartbeat;
pub mod heritage;
pub mod hosts;
pub mod job_result;
pub mod kills;
pub mod lines;
pub mod logging;
pub mod members;
pub mod messages;
pub mod node_session;
pub mod outcome;
pub mod output_dedup;
pub mod placing;
pub mod plan;
pub mod protocol;
pub mod recovery;
pub mod search;
pub mod seen;
pub mod slurm;
pub mod succession;
pub mod watchdog;
