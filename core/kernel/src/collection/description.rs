//! What every PE is told of a new collection.

use crate::kind::Kind;
use crate::registry::ChareType;
use talisman_base::ids::CollectionId;
use talisman_base::index::Bounds;
use talisman_base::map::Map;
use talisman_pup::{Packed, Pup};

/// A new collection. Every PE makes its part of the elements from this.
#[derive(Clone, Debug, Pup)]
pub struct Description {
    pub id: CollectionId,
    /// The chare type.
    pub key: u64,
    /// The dense box of its first elements, if it is one.
    pub bounds: Option<Bounds>,
    pub map: Map,
    /// How many PEs had a number when it was made: homes are among those, however many there will be.
    pub pes: u32,
    /// How many elements it begins with; `None` until `done_inserting`.
    pub elements: Option<u64>,
    /// The `#[init]` of the elements to make, with its packed arguments.
    pub fill: Option<Fill>,
}

/// The first elements of a collection.
#[derive(Clone, Debug, Pup)]
pub struct Fill {
    pub init: u16,
    pub args: Packed,
    /// Which ones, where they are not a dense box.
    pub indices: Option<Vec<u128>>,
}

/// Elements of a dense box: each PE keeps a table of pages of them, so there has to be a bound. Small where what hostile
/// bytes can do is tested.
#[expect(unexpected_cfgs, reason = "`fuzzing` is what cargo-fuzz sets")]
const DENSE_MAX: u64 = if cfg!(any(test, fuzzing)) { 1 << 16 } else { 1 << 32 };

impl Description {
    /// Whether a collection of this type can be like this.
    pub fn check(&self, chare: &ChareType, pes: u32) -> Result<(), String> {
        if !(1..=pes).contains(&self.pes) {
            return Err(format!("it was made for {} PEs, of which there are {pes}", self.pes));
        }
        let dense = self.bounds.as_ref().map_or(0, Bounds::len);
        if dense > DENSE_MAX {
            return Err(format!(
                "it has a box of {dense} elements: at most {DENSE_MAX}; insert them into a sparse array"
            ));
        }
        if matches!(chare.kind, Kind::Single | Kind::Main) || self.id.is_singles() {
            return Err("its chares are none of a collection".into());
        }
        match &self.fill {
            Some(fill) if usize::from(fill.init) >= chare.inits.len() => {
                Err(format!("its elements are made by `#[init]` number {}, which there is not", fill.init))
            }
            _ => Ok(()),
        }
    }
}
