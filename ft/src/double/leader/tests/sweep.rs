//! All orders in which nodes can be lost and answers can come.

use std::collections::BTreeSet;

use super::model::Model;
use super::{held, uncommitted};
use crate::double::Held;
use crate::{NodeId, Version};

/// Every way in which this can go on from here, with at most so many more losses.
fn explore(model: &Model, losses: u32, seen: &mut BTreeSet<String>) {
    if !seen.insert(format!("{losses} {model:?}")) {
        return;
    }
    let mut next = Vec::new();
    for node in model.living() {
        for step in [Model::read, Model::hear] {
            let mut after = model.clone();
            if step(&mut after, node) {
                next.push((after, losses));
            }
        }
    }
    if next.is_empty() {
        model.check_rest();
    }
    if losses > 0 && !model.gave_up {
        next.extend(model.living().into_iter().map(|node| {
            let mut after = model.clone();
            after.die(&[node]);
            (after, losses - 1)
        }));
    }
    next.into_iter().for_each(|(after, losses)| explore(&after, losses, seen));
}

/// How many states there are.
fn sweep(nodes: u32, losses: u32, held: impl Fn(NodeId) -> Vec<Held>) -> usize {
    let hosts: Vec<u32> = (0..nodes).collect();
    let mut seen = BTreeSet::new();
    explore(&Model::new(&hosts, held), losses, &mut seen);
    seen.len()
}

/// The version that all have been told of.
const OLD: Version = 4;

#[test]
fn every_way_of_three_nodes() {
    assert!(sweep(3, 3, |node| vec![held(node, 3, OLD)]) > 50);
    sweep(3, 3, |_| vec![]);
}

#[test]
fn every_way_of_three_nodes_while_a_checkpoint_is_committed() {
    // The last one has dropped the old version already, the others have not heard.
    sweep(3, 3, |node| match node {
        2 => vec![held(2, 3, OLD + 1)],
        _ => vec![held(node, 3, OLD), uncommitted(node, 3, OLD + 1)],
    });
}

#[test]
fn every_way_of_four_nodes_while_a_checkpoint_is_taken() {
    sweep(4, 4, |node| match node {
        0 | 1 => vec![held(node, 4, OLD), uncommitted(node, 4, OLD + 1)],
        _ => vec![held(node, 4, OLD)],
    });
}

#[test]
fn every_way_of_four_nodes_while_copies_are_on_their_way() {
    // Only that of node 3 has come: should it be lost, the new version is whole, and less safe than the old one.
    sweep(4, 2, |node| {
        let new = uncommitted(node, 4, OLD + 1);
        vec![held(node, 4, OLD), if node == 0 { new } else { Held { held: vec![node], ..new } }]
    });
}

#[test]
fn every_way_of_five_nodes() {
    sweep(5, 3, |node| vec![held(node, 5, OLD)]);
}

/// Two neighbours take the only copies of a part with them: what was committed is gone, but for an older version that one node has not dropped yet.
#[test]
fn every_way_of_four_nodes_that_have_dropped_an_old_version_at_different_times() {
    sweep(4, 2, |node| match node {
        0 => vec![Held { held: vec![0, 1, 2, 3], ..held(0, 4, OLD) }, uncommitted(0, 4, OLD + 1)],
        _ => vec![held(node, 4, OLD + 1)],
    });
}

#[cfg(feature = "mutations")]
#[test]
fn every_mistake_is_noticed() {
    let mistakes = [
        "epoch-not-raised",
        "older-epoch-believed",
        "one-has-halted-is-enough",
        "newest-though-incomplete",
        "back-behind-what-was-committed",
        "heir-without-a-copy",
        "committed-dropped-too-early",
    ];
    let all: [fn(); 6] = [
        every_way_of_three_nodes,
        every_way_of_three_nodes_while_a_checkpoint_is_committed,
        every_way_of_four_nodes_while_a_checkpoint_is_taken,
        every_way_of_four_nodes_while_copies_are_on_their_way,
        every_way_of_five_nodes,
        every_way_of_four_nodes_that_have_dropped_an_old_version_at_different_times,
    ];
    for mistake in mistakes {
        talisman_observe::mutations::choose(Some(mistake));
        let noticed = all.iter().any(|sweep| std::panic::catch_unwind(sweep).is_err());
        talisman_observe::mutations::choose(None);
        assert!(noticed, "{mistake}");
    }
}
