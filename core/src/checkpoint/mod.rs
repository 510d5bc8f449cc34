//! Checkpoints: a consistent cut of the job while it runs, its copies, and going on from one.
//!
//! The cut is taken where nothing is on its way. PE 0's seat has all PEs *freeze*: entries no longer run, but everything that the
//! runtime itself has to say is still said, until nothing is left of that. So of all the runtime's conversations only
//! their results have to be kept: an object is somewhere and its home knows it, a contribution is at its root, a broadcast has
//! reached every element or is kept with it, a message is in the queue of its receiver's PE. Then every PE *takes* its
//! [`Part`], and goes on; copies travel meanwhile.
//!
//! | file | is |
//! |---|---|
//! | [`part`] | what is kept of one PE |
//! | [`said`] | lines and results of the program, until they cannot be taken back |
//! | [`store`] | the parts that a process holds, by version, for longer than its PEs live |
//! | [`message`] | what PEs say to each other about it |

pub(crate) mod message;
pub(crate) mod part;
pub(crate) mod said;
pub(crate) mod store;
