//! How many objects of which collections each node's part of a version has, as every node knows: should both copies of
//! a part be lost, then whoever is left can say what was in it.
//!
//! The counts go up the tree of PEs with what says that parts have been taken, and down it with the thaw. So everybody who takes part in
//! a version has them before its part is safe, and that is before the version can be committed: no version that is committed and
//! lost is one of which survivors do not know what was in it.

use std::collections::{BTreeMap, BTreeSet};

use easy_ext::ext;

use super::part::{Part, SavedObject};
use talisman_ft::double::Contents;
use talisman_ft::{NodeId, Version};
use talisman_kernel::collection::Collection;
use talisman_kernel::kind::Kind;
use talisman_kernel::pe::Pe;
use talisman_store::contents::{Counts, Names};

/// Collections that are told apart, those of singletons aside. All PEs know the same ones at a cut, and tell the same ones apart.
const TOLD_APART_MAX: usize = 64;

/// The launcher of a job of more nodes is not told of each checkpoint what all parts of it have in them.
const TOLD_OF_MAX: usize = 1024;

#[ext(ContentsOnPe)]
pub impl Pe {
    /// What this PE's part has in it.
    fn count_objects(&self, objects: &[SavedObject]) -> Counts {
        let told_apart: BTreeSet<_> = self.told_apart().map(|collection| collection.id).collect();
        let mut counts = BTreeMap::new();
        for object in objects {
            let collection = Some(object.id.collection).filter(|id| told_apart.contains(id));
            *counts.entry(collection).or_default() += 1;
        }
        Counts(BTreeMap::from([(self.node.number, counts)]))
    }

    /// What a node has in its parts, of which these are the ones of its PEs.
    fn contents_of_node(&self, parts: &[Part]) -> Contents {
        let mut counts = Counts::default();
        parts.iter().for_each(|part| counts.add(self.count_objects(&part.objects)));
        counts.of(self.node.number, &self.names_of_collections()).unwrap_or_default()
    }

    /// What all parts have in them is known.
    fn note_contents(&self, version: Version, counts: &Counts) {
        if self.id == self.first_pe {
            self.node.store.note_contents(version, counts.clone(), self.names_of_collections());
        }
    }

    /// What the part of each node has in it, for the launcher of a job that is not too large to tell it each time.
    fn all_contents(&self, version: Version) -> Vec<(NodeId, Contents)> {
        let contents = |node| Some((node, self.node.store.contents(version, node)?));
        let there = self.view().of_nodes().there();
        if self.view().nodes().len() > TOLD_OF_MAX {
            Vec::new()
        } else {
            there.filter_map(contents).collect()
        }
    }

    fn told_apart(&self) -> impl Iterator<Item = &Collection> {
        let (singles, others): (Vec<_>, Vec<_>) =
            self.collections.iter().partition(|collection| collection.id.is_singles());
        singles.into_iter().chain(others.into_iter().take(TOLD_APART_MAX))
    }

    fn names_of_collections(&self) -> Names {
        let all: Vec<_> = self.told_apart().collect();
        let of_type = |key| all.iter().filter(move |other| other.key == key);
        let nth = |one: &Collection| of_type(one.key).take_while(|other| other.id != one.id).count() + 1;
        let named = |one: &Collection| match of_type(one.key).count() {
            1 => name(one),
            _ => format!("{} (number {})", name(one), nth(one)),
        };
        all.iter().map(|collection| (collection.id, named(collection))).collect()
    }
}

/// `array Block`.
fn name(collection: &Collection) -> String {
    let kind = match collection.chare.kind {
        Kind::Single => "single chare",
        Kind::Array => "array",
        Kind::Group => "group",
        Kind::NodeGroup => "nodegroup",
        Kind::Main => "main chare",
    };
    format!("{kind} {}", (collection.chare.name)())
}
