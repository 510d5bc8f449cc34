//! Which message a receive accepts.

use talisman_pup::Pup;

use super::{Context, Head, Rank, Tag};

/// What a receive or a probe asks for; `None` is a wildcard (MPI-3.1, 3.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Pattern {
    /// Of which communicator.
    pub context: Context,
    /// From whom; `None` from anybody (`MPI_ANY_SOURCE`).
    pub source: Option<Rank>,
    /// With which tag; `None` with any (`MPI_ANY_TAG`).
    pub tag: Option<Tag>,
}

impl Pattern {
    /// Whether a message with this head is accepted.
    pub fn accepts(&self, head: &Head) -> bool {
        self.context == head.context
            && self.source.is_none_or(|source| source == head.source)
            && self.tag.is_none_or(|tag| tag == head.tag)
    }
}
