//! How many objects of which collections each node's part of a version has.

use std::collections::BTreeMap;

use talisman_base::ids::CollectionId;
use talisman_ft::NodeId;
use talisman_ft::double::Contents;
use talisman_pup::Pup;

/// Objects of each node, by collection; without one, of those that are not told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Counts(pub BTreeMap<NodeId, BTreeMap<Option<CollectionId>, u64>>);

/// What collections are called.
pub type Names = BTreeMap<CollectionId, String>;

impl Counts {
    /// With those of other PEs.
    pub fn add(&mut self, other: Counts) {
        for (node, of_node) in other.0 {
            let sums = self.0.entry(node).or_default();
            for (collection, count) in of_node {
                let sum = sums.entry(collection).or_default();
                *sum = sum.saturating_add(count);
            }
        }
    }

    /// What a node's part has in it.
    pub fn of(&self, node: NodeId, names: &Names) -> Option<Contents> {
        let mut contents = Contents::default();
        for (collection, count) in self.0.get(&node)? {
            match collection.and_then(|collection| names.get(&collection)) {
                Some(name) => *contents.of.entry(name.clone()).or_default() += count,
                None => contents.others += count,
            }
        }
        Some(contents)
    }
}
