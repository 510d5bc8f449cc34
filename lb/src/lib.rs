//! Load balancing.

pub mod load;
