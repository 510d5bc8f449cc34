//! All orders in which members of a small job can count, take, keep and be told.

mod model;

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use model::Model;

/// Every state that can be reached, each checked. Returns how many there are.
fn explore(first: Model) -> usize {
    let hasher = RandomState::new();
    let mut seen = HashSet::new();
    let mut open = vec![first];
    while let Some(model) = open.pop() {
        if !seen.insert(hasher.hash_one(&model)) {
            continue;
        }
        model.check_losses();
        let next = model.next();
        if next.is_empty() {
            model.check_rest();
        }
        open.extend(next);
    }
    seen.len()
}

fn two_images_while_messages_go_around() {
    assert!(explore(Model::new(2, 2, 1, 0)) > 1000);
}

fn one_image_of_a_tree() {
    assert!(explore(Model::new(3, 1, 1, 0)) > 1000);
}

fn two_images_of_which_a_part_cannot_be_kept() {
    assert!(explore(Model::new(2, 2, 0, 1)) > 100);
    assert!(explore(Model::new(3, 1, 0, 1)) > 1000);
}

#[test]
fn messages_on_their_way_are_waited_for() {
    two_images_while_messages_go_around();
}

#[test]
fn a_tree_counts_and_commits() {
    one_image_of_a_tree();
}

#[test]
fn what_cannot_be_kept_is_given_up() {
    two_images_of_which_a_part_cannot_be_kept();
}

#[test]
fn one_member_alone_commits_what_it_has() {
    assert!(explore(Model::new(1, 2, 0, 0)) > 5);
}

#[cfg(feature = "mutations")]
#[test]
fn every_mistake_is_noticed() {
    let sweeps =
        [two_images_while_messages_go_around, one_image_of_a_tree, two_images_of_which_a_part_cannot_be_kept];
    let mistakes = [
        "taken-before-drained",
        "counted-pe-goes-on",
        "committed-before-all-are-safe",
        "safe-without-a-copy",
        "refusal-not-heard",
    ];
    for mistake in mistakes {
        talisman_observe::mutations::choose(Some(mistake));
        let noticed = sweeps.iter().any(|sweep| std::panic::catch_unwind(sweep).is_err());
        talisman_observe::mutations::choose(None);
        assert!(noticed, "{mistake}");
    }
}
