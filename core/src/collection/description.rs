//! What every PE is told of a new collection.

use crate::ids::CollectionId;
use crate::index::Bounds;
use crate::map::Map;
use crate::pup::{Packed, Pup};

/// A new collection. Every PE makes its part of the elements from this.
#[derive(Clone, Debug, Pup)]
pub(crate) struct Description {
    pub(crate) id: CollectionId,
    /// The chare type.
    pub(crate) key: u64,
    /// The dense box of its first elements, if it is one.
    pub(crate) bounds: Option<Bounds>,
    pub(crate) map: Map,
    /// How many elements it begins with; `None` until `done_inserting`.
    pub(crate) elements: Option<u64>,
    /// The `#[init]` of the elements to make, with its packed arguments.
    pub(crate) fill: Option<Fill>,
}

/// The first elements of a collection.
#[derive(Clone, Debug, Pup)]
pub(crate) struct Fill {
    pub(crate) init: u16,
    pub(crate) args: Packed,
    /// Which ones, where they are not a dense box.
    pub(crate) indices: Option<Vec<u128>>,
}
