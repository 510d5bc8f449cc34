//! The list of deliberate mistakes.

/// A deliberate mistake of the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// Its name in the runtime.
    pub name: &'static str,
}

/// All of them.
pub const MUTATIONS: &[Mutation] = &[];
