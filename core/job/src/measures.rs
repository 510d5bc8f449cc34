//! What is measured for load balancing.

/// What is measured for load balancing in a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// How long each object runs; nothing else without it.
    pub loads: bool,
    /// Messages between objects, for strategies that want them.
    pub edges: bool,
    /// What an object takes when packed, which takes going through each at the end of every period.
    pub sizes: bool,
}
