//! Fault tolerance of Talisman: protocols as pure state machines.
//!
//! Nothing is here yet: the runtime does not survive the loss of a node so far.
