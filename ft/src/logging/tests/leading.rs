//! What the leader of a recovery does, step by step.

use super::super::leader::{Leader, Order};
use super::super::{Holdings, Keepers, Lane, Loss, Membership, Missing, Orphan, Position};
use super::{SHAPE, lane, log};
use crate::view::View;

fn image(number: u64) -> Position {
    Position { image: number, logs: vec![0], ..Position::default() }
}

fn leader() -> Leader {
    Leader::new(SHAPE, (0..4).map(|_| image(0)).collect())
}

/// The holdings of a survivor, which keeps images for the node before it.
fn held(node: u32, told: &[(u32, u64)]) -> Holdings {
    Holdings {
        kept: vec![((node + 3) % 4, image(0))],
        images: vec![image(0)],
        present: image(1),
        told: told.iter().map(|(node, length)| (log(*node), *length)).collect(),
        ..Holdings::default()
    }
}

fn asked(orders: &[Order]) -> Vec<u32> {
    orders
        .iter()
        .filter_map(|order| if let Order::Ask { to, .. } = order { Some(*to) } else { None })
        .collect()
}

#[test]
fn one_is_lost_and_all_others_go_on() {
    let mut leader = leader();
    let lost = leader.on_lost([1]);
    let ask = |to| Order::Ask { to, session: 1, lost: vec![1] };
    assert_eq!(
        lost,
        [Order::Start { node: 1, incarnation: 1 }, ask(0), ask(2), ask(3), Order::Degraded(true)]
    );
    assert_eq!(leader.on_held(0, 1, held(0, &[])), []);
    assert_eq!(leader.on_held(2, 1, held(2, &[])), []);
    assert_eq!(leader.on_arrived(1, 1), []);
    let announced = leader.on_held(3, 1, held(3, &[]));
    assert_eq!(announced.len(), 3, "to each survivor: {announced:?}");
    assert_eq!(leader.on_announced(0, 1), []);
    assert_eq!(leader.on_announced(2, 1), []);
    let restore = leader.on_announced(3, 1);
    let [Order::Restore { to: 1, session: 1, incarnations, restore, .. }] = &restore[..] else {
        panic!("{restore:?}")
    };
    assert_eq!((incarnations, restore.keeper, restore.image), (&vec![0, 1, 0, 0], 2, 0));
    assert_eq!(leader.on_at_horizon(1, 1), []);
    assert_eq!(leader.on_covered(0, 1), [Order::GoLive { to: 1, session: 1 }, Order::Degraded(false)]);
    assert!(leader.is_running());
}

/// With `logging:ticket`: the order of what two had sent each other is gone with them.
#[test]
fn a_second_loss_is_one_too_many_until_the_first_is_live_again() {
    let give_up = |nodes: &[u32]| vec![Order::GiveUp(Loss::AtOnce(nodes.to_vec()))];
    let mut at_once = leader().one_at_a_time(true);
    assert_eq!(at_once.on_lost([1, 3]), give_up(&[1, 3]));
    let mut leader = leader().one_at_a_time(true);
    assert_eq!(asked(&leader.on_lost([1])), [0, 2, 3]);
    assert_eq!(asked(&leader.on_lost([1])), [0, 2, 3], "the same once more is one");
    [0, 2, 3].into_iter().for_each(|node| _ = leader.on_held(node, 2, held(node, &[])));
    _ = leader.on_arrived(1, 2);
    [0, 2, 3].into_iter().for_each(|node| _ = leader.on_announced(node, 2));
    let mut too_early = leader.clone();
    assert_eq!(too_early.on_lost([3]), give_up(&[1, 3]));
    _ = (leader.on_at_horizon(1, 2), leader.on_covered(0, 2));
    assert!(leader.is_running());
    assert_eq!(asked(&leader.on_lost([3])), [0, 1, 2]);
}

/// Of a job that goes on from one with more nodes.
#[test]
fn nobody_waits_for_numbers_that_no_node_has() {
    let (view, keepers) = (View::beginning_with(3, 4), Keepers::named(vec![1, 2, 0, 3]));
    let mut leader = leader().among(Membership::first(view, keepers));
    assert_eq!(leader.there().collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(asked(&leader.on_lost([1, 3])), [0, 2]);
    let keeps = |of: u32, held: Holdings| Holdings { kept: vec![(of, image(0))], ..held };
    assert_eq!(leader.on_held(0, 1, keeps(2, held(0, &[]))), []);
    assert_eq!(leader.on_held(2, 1, keeps(1, held(2, &[]))), []);
    assert_eq!(leader.on_arrived(1, 1).len(), 2, "to each survivor");
    assert_eq!(leader.on_announced(0, 1), []);
    let restore = leader.on_announced(2, 1);
    assert!(matches!(&restore[..], [Order::Restore { to: 1, .. }]), "{restore:?}");
    assert_eq!(leader.on_at_horizon(1, 1), []);
    assert_eq!(leader.on_covered(0, 1), [Order::GoLive { to: 1, session: 1 }, Order::Degraded(false)]);
    let all = leader.on_lost([0, 1, 2]);
    assert_eq!(all, [Order::GiveUp(Loss::Everybody)]);
}

#[cfg(feature = "mutations")]
#[test]
fn numbers_without_a_node_have_a_place_in_the_line() {
    assert!(super::notices("absent-have-no-place", nobody_waits_for_numbers_that_no_node_has));
}

/// Three nodes run, and a line begins with one more, for which node 0 had acted.
fn with_one_more() -> (Leader, Vec<Order>) {
    let few = Membership::first(View::beginning_with(3, 4), Keepers::around(3));
    let mut leader = leader().among(few.clone());
    let orders = leader.begin_line(Some(few.gaining(1, &[3], |node| node)));
    (leader, orders)
}

/// What those say that were there: one has the part of which that is made with which node 3 begins, and another may keep that.
fn held_by_former(node: u32, keeps: &[u32]) -> Holdings {
    let makes = if node < 2 { vec![3] } else { Vec::new() };
    Holdings { makes, kept: keeps.iter().map(|of| (*of, image(0))).collect(), ..held(node, &[]) }
}

/// Node 3 has come, and the others have said what they hold: how it is restored.
fn restored(leader: &mut Leader, session: u32, keeps: [&[u32]; 3]) -> (u32, bool) {
    let mut orders = leader.on_arrived(3, session);
    for (node, keeps) in (0..).zip(keeps) {
        orders = leader.on_held(node, session, held_by_former(node, keeps));
    }
    assert_eq!(orders.len(), 3, "to each of the others: {orders:?}");
    for node in 0..3 {
        orders = leader.on_announced(node, session);
    }
    let [Order::Restore { to: 3, restore, .. }] = &orders[..] else { panic!("{orders:?}") };
    (restore.keeper, restore.is_new)
}

fn comes() {
    let (mut leader, orders) = with_one_more();
    assert_eq!((asked(&orders), leader.is_lost(3)), (vec![0, 1, 2], true));
    assert_eq!(orders[0], Order::Start { node: 3, incarnation: 1 });
    assert_eq!(restored(&mut leader, 1, [&[2], &[0], &[1]]), (0, true));
    assert_eq!(leader.on_at_horizon(3, 1), [], "nobody keeps what it begins with");
    assert_eq!(leader.on_covered(3, 1), [Order::GoLive { to: 3, session: 1 }, Order::Degraded(false)]);
    // From now on it goes back to what its keeper has.
    assert_eq!(asked(&leader.on_lost([3])), [0, 1, 2]);
    assert_eq!(restored(&mut leader, 2, [&[2, 3], &[0], &[1]]), (0, false));
    assert_eq!(leader.on_at_horizon(3, 2), [Order::GoLive { to: 3, session: 2 }, Order::Degraded(false)]);
}

#[test]
fn who_comes_with_a_line_is_restored_as_if_lost() {
    comes();
}

#[test]
fn who_comes_does_not_need_the_one_that_had_acted_for_it() {
    let (mut leader, _) = with_one_more();
    let orders = leader.on_lost([0]);
    assert_eq!(asked(&orders), [1, 2]);
    assert_eq!(orders[1], Order::Start { node: 3, incarnation: 2 });
    let _ = (leader.on_arrived(0, 1), leader.on_arrived(3, 2));
    assert_eq!(leader.on_held(1, 2, held_by_former(1, &[0])), []);
    assert_eq!(leader.on_held(2, 2, held_by_former(2, &[1])).len(), 2);
    assert_eq!(leader.on_announced(1, 2), []);
    let restore = leader.on_announced(2, 2);
    let [Order::Restore { to: 0, .. }, Order::Restore { to: 3, restore, .. }] = &restore[..] else {
        panic!("{restore:?}")
    };
    assert_eq!((restore.keeper, restore.is_new), (1, true));
    // The lost one keeps again what it had kept, and what comes.
    assert_eq!([leader.on_at_horizon(3, 2), leader.on_at_horizon(0, 2)], [[], []]);
    assert_eq!(leader.on_covered(2, 2), []);
    let live = |node| Order::GoLive { to: node, session: 2 };
    assert_eq!(leader.on_covered(3, 2), [live(0), live(3), Order::Degraded(false)]);
}

/// Its log is with its keeper alone: without that nobody knows what it had been given when it said that.
fn spoke() {
    let (mut leader, _) = with_one_more();
    assert_eq!(restored(&mut leader, 1, [&[2], &[0], &[1]]), (0, true));
    let _ = (leader.on_at_horizon(3, 1), leader.on_covered(3, 1));
    leader.on_printed(log(3), 1);
    let _ = (leader.on_lost([0, 3]), leader.on_arrived(0, 1), leader.on_arrived(3, 2));
    assert_eq!(leader.on_held(1, 2, held_by_former(1, &[0])), []);
    let given_up = leader.on_held(2, 2, held_by_former(2, &[1]));
    assert_eq!(given_up, [Order::GiveUp(Loss::Missing(Missing { node: 3, needed_by: None }))]);
}

#[test]
fn who_came_and_has_said_something_is_lost_with_its_keeper() {
    spoke();
}

#[test]
fn who_comes_is_not_one_of_those_that_are_lost_at_once() {
    let (leader, _) = with_one_more();
    let mut leader = leader.one_at_a_time(true);
    assert_eq!(asked(&leader.on_lost([0])), [1, 2]);
    assert_eq!(leader.on_lost([1]), [Order::GiveUp(Loss::AtOnce(vec![0, 1]))]);
}

#[cfg(feature = "mutations")]
#[test]
fn mistakes_about_those_that_come_are_noticed() {
    assert!(super::notices("live-before-it-is-kept", comes));
    assert!(super::notices("made-though-something-was-said", spoke));
}

#[test]
fn a_second_loss_begins_with_both_and_answers_for_the_first_are_void() {
    let mut leader = leader();
    assert_eq!(asked(&leader.on_lost([1])), [0, 2, 3]);
    assert_eq!(leader.on_held(0, 1, held(0, &[])), []);
    let again = leader.on_lost([3]);
    assert_eq!(asked(&again), [0, 2]);
    assert_eq!(
        &again[..2],
        [Order::Start { node: 1, incarnation: 2 }, Order::Start { node: 3, incarnation: 1 }]
    );
    assert_eq!(leader.on_held(2, 1, held(2, &[])), []);
    assert_eq!(leader.on_arrived(1, 1), [], "a process of the session before");
    assert_eq!(leader.on_arrived(1, 2), []);
    assert_eq!(leader.on_arrived(3, 1), []);
    assert_eq!(leader.on_held(2, 2, held(2, &[])), []);
    assert_eq!(leader.on_held(0, 2, held(0, &[])).len(), 2);
}

#[test]
fn a_node_and_its_keeper_are_one_too_many() {
    let mut leader = leader();
    let _ = leader.on_lost([1, 2]);
    let _ = (leader.on_arrived(1, 1), leader.on_arrived(2, 1));
    assert_eq!(leader.on_held(0, 1, held(0, &[])), []);
    let given_up = leader.on_held(3, 1, held(3, &[]));
    assert_eq!(given_up, [Order::GiveUp(Loss::Missing(Missing { node: 1, needed_by: None }))]);
    assert_eq!(leader.on_lost([0]), [], "it has given up");
}

fn orphans() {
    let mut leader = leader();
    let _ = leader.on_lost([1]);
    let _ = leader.on_arrived(1, 1);
    let _ = (leader.on_held(0, 1, held(0, &[])), leader.on_held(2, 1, held(2, &[])));
    // Node 3 depends on five entries of a log of which nobody has any.
    let given_up = leader.on_held(3, 1, held(3, &[(1, 5)]));
    assert_eq!(given_up, [Order::GiveUp(Loss::Orphan(Orphan { log: log(1), known: 0, told: 5 }))]);
}

#[test]
fn what_was_told_of_a_log_has_to_be_known() {
    orphans();
}

#[test]
fn all_may_forget_what_every_image_has() {
    let mut leader = leader();
    let with = |lane: Lane, sent, taken| Position {
        taken: [(lane, taken)].into(),
        sent: [(lane, sent)].into(),
        retained: [(lane, std::iter::once(0..sent).collect())].into(),
        ..image(1)
    };
    let newer = with(lane(0, 1), 3, 0);
    let forget = leader.on_imaged(0, newer.clone());
    assert_eq!(forget, [Order::Forget { kept: vec![newer, image(0), image(0), image(0)] }]);
    assert_eq!(leader.on_imaged(0, image(1)), [], "it is known");
    let _ = leader.on_lost([2]);
    assert_eq!(leader.on_imaged(1, image(1)), [], "nothing is forgotten during a recovery");
}

#[test]
fn everybody_is_too_many() {
    assert_eq!(leader().on_lost(0..4), [Order::GiveUp(Loss::Everybody)]);
}

#[cfg(feature = "mutations")]
#[test]
fn a_length_that_is_not_told_is_noticed() {
    assert!(super::notices("log-length-not-told", orphans));
}
