//! Load balancing.
