//! What survivors hold of checkpoints, put together.

use std::collections::{BTreeMap, BTreeSet};

use super::{Contents, Held};
use crate::view::View;
use crate::{NodeId, Version};
use talisman_observe::mutations::mutated;

/// All versions that any survivor holds something of.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    found: BTreeMap<Version, Found>,
    /// The newest version that one of them knows to be committed.
    pub committed: Option<Version>,
}

/// What is held of one version.
#[derive(Clone, Debug)]
pub struct Found {
    /// In which it was taken: it has a part of each who was there.
    pub view: View,
    /// By part: who holds it.
    holders: BTreeMap<NodeId, BTreeSet<NodeId>>,
    /// By part that may be lost: what is in it.
    contents: BTreeMap<NodeId, Contents>,
}

impl Survey {
    /// What each survivor said that it holds.
    #[must_use]
    pub fn of<'a>(answers: impl IntoIterator<Item = (NodeId, &'a [Held])>) -> Self {
        let mut survey = Survey::default();
        for (node, held) in answers {
            held.iter().for_each(|held| survey.add(node, held));
        }
        survey
    }

    /// The newest version of all, whole or not.
    #[must_use]
    pub fn newest(&self) -> Option<Version> {
        self.found.keys().next_back().copied()
    }

    /// The newest version of which every part is held, if it is not older than `least`.
    #[must_use]
    pub fn newest_whole(&self, least: Option<Version>) -> Option<(Version, &Found)> {
        let mut newest_first = self.found.iter().rev();
        let found = newest_first.find(|(_, found)| found.is_whole() || mutated("newest-though-incomplete"));
        found.map(|(version, found)| (*version, found)).filter(|(version, _)| least <= Some(*version))
    }

    /// What is held of this version.
    #[must_use]
    pub fn of_version(&self, version: Version) -> Option<&Found> {
        self.found.get(&version)
    }

    fn add(&mut self, node: NodeId, held: &Held) {
        let nothing =
            || Found { view: held.view.clone(), holders: BTreeMap::new(), contents: BTreeMap::new() };
        let found = self.found.entry(held.version).or_insert_with(nothing);
        // All who know it know the same.
        found.contents.extend(held.missed.iter().cloned());
        for part in &held.held {
            found.holders.entry(*part).or_default().insert(node);
        }
        if held.committed {
            self.committed = self.committed.max(Some(held.version));
        }
    }
}

impl Found {
    /// Parts that nobody holds.
    #[must_use]
    pub fn missing(&self) -> Vec<NodeId> {
        self.view.there().filter(|part| !self.holders.contains_key(part)).collect()
    }

    /// What is in a part, if one of those is left who know; only asked for those that are missing.
    #[must_use]
    pub fn contents(&self, part: NodeId) -> Option<&Contents> {
        self.contents.get(&part)
    }

    /// Who restores each part that is held: whoever it is of, if it still holds it; else one of those who do, such that nobody
    /// gets much more than others. The same for the same holders.
    #[must_use]
    pub fn heirs(&self) -> BTreeMap<NodeId, NodeId> {
        let parts = self.view.there().filter_map(|part| Some((part, self.holders.get(&part)?)));
        let (own, others): (Vec<_>, Vec<_>) = parts.partition(|(part, holders)| holders.contains(part));
        let mut heirs: BTreeMap<_, _> = own.into_iter().map(|(part, _)| (part, part)).collect();
        let mut loads: BTreeMap<NodeId, u32> = heirs.keys().map(|node| (*node, 1)).collect();
        let mut others = others;
        // Whoever has no choice is first.
        others.sort_by_key(|(_, holders)| holders.len());
        for (part, holders) in others {
            let load = |node: &NodeId| loads.get(node).copied().unwrap_or(0);
            let heir = holders.iter().copied().min_by_key(load).expect("it is held");
            *loads.entry(heir).or_default() += 1;
            heirs.insert(part, heir);
        }
        heirs
    }

    fn is_whole(&self) -> bool {
        self.missing().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(version: Version, nodes: u32, parts: &[NodeId]) -> Held {
        Held { version, view: View::whole(nodes), held: parts.to_vec(), committed: false, missed: Vec::new() }
    }

    fn survey(answers: &[(NodeId, Vec<Held>)]) -> Survey {
        Survey::of(answers.iter().map(|(node, held)| (*node, &held[..])))
    }

    #[test]
    fn the_newest_version_counts_of_which_nothing_is_missing() {
        let first = vec![held(3, 3, &[0, 2]), held(4, 3, &[0])];
        let second = vec![held(3, 3, &[1, 0]), held(4, 3, &[1, 0])];
        let survey = survey(&[(0, first), (1, second)]);
        assert_eq!(survey.newest(), Some(4));
        assert_eq!(survey.of_version(4).unwrap().missing(), [2]);
        assert_eq!(survey.newest_whole(None).unwrap().0, 3);
        assert_eq!(survey.newest_whole(Some(3)).unwrap().0, 3);
        assert!(survey.newest_whole(Some(4)).is_none());
    }

    #[test]
    fn parts_are_spread_over_those_who_hold_them() {
        let answers: Vec<_> = [(0, vec![0, 3, 4]), (1, vec![1, 3, 4]), (2, vec![2, 5, 4])]
            .map(|(node, parts)| (node, vec![held(1, 6, &parts)]))
            .into();
        let heirs = survey(&answers).of_version(1).unwrap().heirs();
        assert_eq!(heirs, BTreeMap::from([(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2)]));
    }
}
