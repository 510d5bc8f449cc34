//! Which part goes to which PE: there, where most of it is already.

use std::collections::BTreeMap;

use super::work::{NOWHERE, Work};
use crate::snapshot::Snapshot;

/// Exchanges places that get the same, so that fewer bytes move. What is together on a node or host stays together.
///
/// Hosts are exchanged first, each whole with one of the same kind, then the nodes inside them, then the PEs.
pub(super) fn keep(snapshot: &Snapshot, work: &Work, placed: &mut [u32]) {
    let kept = kept(snapshot, work, placed);
    if kept.is_empty() {
        return;
    }
    let levels = levels(work);
    let mut exchange: Vec<u32> = vec![0];
    for (number, level) in levels.iter().enumerate() {
        let above = number.checked_sub(1).map(|above| &levels[above]);
        let parent = |group: usize| above.map_or(0, |above| above.group_of[level.first[group] as usize]);
        let from = (0..level.kinds.len()).map(|group| (exchange[parent(group) as usize], level.kinds[group]));
        let to = (0..level.kinds.len()).map(|group| (parent(group), level.kinds[group]));
        exchange = matched(&from.collect::<Vec<_>>(), &to.collect::<Vec<_>>(), &level.sum(&kept));
    }
    for place in placed.iter_mut().filter(|place| **place != NOWHERE) {
        *place = exchange[*place as usize];
    }
}

/// What would stay if a part went to a place: pairs of them in order, and what it is worth.
type Kept = Vec<((u32, u32), u64)>;

/// Places in groups: hosts, nodes, or each alone.
struct Level {
    /// By place.
    group_of: Vec<u32>,
    /// By group: its first place.
    first: Vec<u32>,
    /// By group. Those of one kind can be exchanged.
    kinds: Vec<u32>,
}

impl Level {
    /// Groups of neighbours for which `same` holds, with kinds by what is inside.
    fn new(work: &Work, inner: &[u32], same: impl Fn(usize, usize) -> bool) -> Self {
        let (mut group_of, mut first): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut contents: Vec<Vec<u32>> = Vec::new();
        for place in 0..work.places.len() {
            if place == 0 || !same(place - 1, place) {
                first.push(place as u32);
                contents.push(Vec::new());
            }
            group_of.push(first.len() as u32 - 1);
            if let Some(group) = contents.last_mut() {
                group.push(inner[place]);
            }
        }
        contents.iter_mut().for_each(|group| group.sort_unstable());
        Level { group_of, first, kinds: numbered(contents) }
    }

    /// What is kept between groups.
    fn sum(&self, kept: &Kept) -> Kept {
        let group = |place: u32| self.group_of[place as usize];
        merged(kept.iter().map(|&((part, place), worth)| ((group(part), group(place)), worth)).collect())
    }
}

/// Hosts, nodes and places.
fn levels(work: &Work) -> [Level; 3] {
    let place = |number: usize| &work.places[number];
    let kinds = kinds_of_places(work);
    let alone = Level::new(work, &kinds, |_, _| false);
    let nodes =
        Level::new(work, &kinds, |a, b| place(a).node == place(b).node && place(a).host == place(b).host);
    // Hosts are alike if their nodes are: each place counts as what its node is.
    let of_node: Vec<u32> = nodes.group_of.iter().map(|&node| nodes.kinds[node as usize]).collect();
    let hosts = Level::new(work, &of_node, |a, b| place(a).host == place(b).host);
    [hosts, nodes, alone]
}

/// Places are of one kind if their shares differ by less than the balance that anybody can hope for.
fn kinds_of_places(work: &Work) -> Vec<u32> {
    let share = |place: usize| work.places[place].share;
    let mut order: Vec<usize> = (0..work.places.len()).collect();
    order.sort_by(|&a, &b| share(a).total_cmp(&share(b)));
    let (mut kinds, mut kind, mut least) = (vec![0; order.len()], 0, f64::NEG_INFINITY);
    for place in order {
        if share(place) > least * SAME_SHARE {
            kind += 1;
            least = share(place);
        }
        kinds[place] = kind;
    }
    kinds
}

/// A measured background is never the same twice, so neither are shares: this much is no difference.
const SAME_SHARE: f64 = 1.01;

/// Equal ones get equal numbers.
fn numbered(contents: Vec<Vec<u32>>) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    let number = |content| {
        let next = numbers.len() as u32;
        *numbers.entry(content).or_insert(next)
    };
    contents.into_iter().map(number).collect()
}

/// For each part the bytes of its objects, by the place they are at now.
fn kept(snapshot: &Snapshot, work: &Work, placed: &[u32]) -> Kept {
    let current = work.current(snapshot);
    let worth = |at: usize| snapshot.objects[work.objects[at] as usize].bytes.min(1 << 40) + OBJECT_WORTH;
    let here = |&at: &usize| placed[at] != NOWHERE && current[at] != NOWHERE;
    merged((0..placed.len()).filter(here).map(|at| ((placed[at], current[at]), worth(at))).collect())
}

/// An object's move costs about as much as so many bytes, beside its own.
const OBJECT_WORTH: u64 = 128;

fn merged(mut kept: Kept) -> Kept {
    kept.sort_unstable_by_key(|&(pair, _)| pair);
    kept.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        if same {
            sum.1 = sum.1.saturating_add(next.1);
        }
        same
    });
    kept
}

/// Where each group goes: to one that `to` describes as `from` does, where most is kept first. What is left over is paired in order.
fn matched(from: &[(u32, u32)], to: &[(u32, u32)], kept: &Kept) -> Vec<u32> {
    let mut goes = vec![NOWHERE; from.len()];
    let mut taken = vec![false; to.len()];
    let mut best: Kept =
        kept.iter().copied().filter(|((a, b), _)| from[*a as usize] == to[*b as usize]).collect();
    best.sort_by_key(|&((a, b), worth)| (std::cmp::Reverse(worth), a != b, a, b));
    for ((a, b), _) in best {
        if goes[a as usize] == NOWHERE && !taken[b as usize] {
            goes[a as usize] = b;
            taken[b as usize] = true;
        }
    }
    let mut free: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for group in (0..to.len()).rev().filter(|&group| !taken[group]) {
        free.entry(to[group]).or_default().push(group as u32);
    }
    for group in (0..from.len()).filter(|&group| goes[group] == NOWHERE).collect::<Vec<_>>() {
        // There are as many of a kind in `from` as in `to`.
        goes[group] = free.get_mut(&from[group]).and_then(Vec::pop).unwrap_or(group as u32);
    }
    goes
}
