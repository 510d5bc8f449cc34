//! The kinds of collections that chares live in.

/// The kinds of chares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A chare of its own.
    Single,
    /// An element of a chare array.
    Array,
    /// One per PE.
    Group,
    /// One per node (process).
    NodeGroup,
    /// Where the program starts.
    Main,
}
