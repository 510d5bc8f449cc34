//! Fault tolerance.
