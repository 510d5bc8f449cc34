//! When the next line begins.

use super::super::{Keepers, Leader, Membership, Order, Position, Votes};
use super::SHAPE;
use crate::view::View;

fn leader() -> Leader {
    Leader::new(SHAPE, (0..4).map(|node| Position::at_beginning(node, SHAPE)).collect())
}

/// All but the last one hold their parts of version 3.
fn all_but_one(leader: &Leader) -> Votes {
    let mut votes = Votes::default();
    (0..3).for_each(|node| votes.on_holds(node, 3, (0, 0), leader));
    votes
}

#[test]
fn the_next_line_begins_when_all_hold_their_parts_of_one_cut() {
    let mut leader = leader();
    let mut votes = all_but_one(&leader);
    assert_eq!(votes.begin_line(&mut leader), None);
    votes.on_holds(3, 2, (0, 0), &leader);
    assert_eq!(votes.begin_line(&mut leader), None, "that is another cut");
    votes.on_holds(3, 3, (0, 0), &leader);
    votes.on_holds(4, 3, (0, 0), &leader);
    assert_eq!((votes.begin_line(&mut leader), votes.line()), (Some((3, vec![])), 3));
    assert_eq!(votes.begin_line(&mut leader), None);
    (0..4).for_each(|node| votes.on_holds(node, 3, (0, 0), &leader));
    assert_eq!(votes.begin_line(&mut leader), None, "it has begun");
}

#[test]
fn a_loss_voids_what_was_said_before_it() {
    let mut leader = leader();
    let mut votes = all_but_one(&leader);
    votes.on_lost();
    assert!(!leader.on_lost([1]).is_empty());
    votes.on_holds(3, 3, (0, 0), &leader);
    votes.on_holds(3, 3, (1, 0), &leader);
    assert_eq!(votes.begin_line(&mut leader), None);
    (0..3).for_each(|node| votes.on_holds(node, 3, (0, 0), &leader));
    assert_eq!(votes.begin_line(&mut leader), None, "they had not heard of it");
}

#[test]
fn nodes_that_are_released_are_not_waited_for() {
    let mut leader = leader();
    let mut votes = all_but_one(&leader);
    let next = Membership::around(4).releasing(1, &[3], |node| node).expect("three stay");
    votes.expect(Some(next.clone()));
    (0..3).for_each(|node| votes.on_holds(node, 3, (0, 0), &leader));
    assert_eq!(votes.begin_line(&mut leader), None, "they had not heard of it");
    (0..4).for_each(|node| votes.on_holds(node, 3, (0, 1), &leader));
    assert_eq!((votes.begin_line(&mut leader), votes.coming()), (Some((3, vec![])), None));
    assert_eq!((leader.membership(), leader.there().collect::<Vec<_>>()), (&next, vec![0, 1, 2]));
    // What is taken back does not count.
    votes.expect(Some(next.releasing(2, &[2], |node| node).expect("two stay")));
    votes.expect(Some(next.again(3)));
    (0..2).for_each(|node| votes.on_holds(node, 4, (0, 2), &leader));
    assert_eq!(votes.begin_line(&mut leader), None);
    (0..3).for_each(|node| votes.on_holds(node, 4, (0, 3), &leader));
    assert_eq!(votes.begin_line(&mut leader), Some((4, vec![])));
    assert_eq!(leader.membership(), &next.again(3));
}

#[test]
fn nodes_that_are_added_hold_nothing() {
    let few = Membership::first(View::beginning_with(3, 4), Keepers::around(3));
    let mut leader = leader().among(few.clone());
    let mut votes = Votes::default();
    let next = few.gaining(1, &[3], |node| node);
    votes.expect(Some(next.clone()));
    (0..2).for_each(|node| votes.on_holds(node, 3, (0, 1), &leader));
    assert_eq!(votes.begin_line(&mut leader), None);
    votes.on_holds(2, 3, (0, 1), &leader);
    let (version, orders) = votes.begin_line(&mut leader).expect("all hold that were there");
    assert_eq!((version, leader.membership(), leader.is_lost(3)), (3, &next, true));
    assert_eq!(orders[0], Order::Start { node: 3, incarnation: 1 });
    // It is as if the node had been lost.
    (0..4).for_each(|node| votes.on_holds(node, 4, (0, 1), &leader));
    assert_eq!(votes.begin_line(&mut leader), None);
}

#[cfg(feature = "mutations")]
#[test]
fn mistakes_are_noticed() {
    use super::notices;
    let all = the_next_line_begins_when_all_hold_their_parts_of_one_cut;
    for mistake in ["line-begins-before-the-last-holds", "lost-goes-back-to-the-former-line"] {
        assert!(notices(mistake, all), "{mistake}");
    }
    assert!(notices("held-in-another-membership-counts", nodes_that_are_released_are_not_waited_for));
    assert!(notices("held-before-a-loss-counts", a_loss_voids_what_was_said_before_it));
}
