//! The leader's decisions, as exact lists of actions.

use super::*;

mod model;
mod random;
mod sweep;

/// Of a job whose nodes are each on a host of their own.
fn leader(nodes: u32) -> Leader {
    Leader::new((0..nodes).collect())
}

/// What a node holds of a version that was taken when all were there: its own part, and that of the one before it.
fn held(node: NodeId, nodes: u32, version: Version) -> Held {
    let before = (node + nodes - 1) % nodes;
    Held { version, view: View::whole(nodes), held: vec![before, node], committed: true, missed: Vec::new() }
}

fn uncommitted(node: NodeId, nodes: u32, version: Version) -> Held {
    Held { committed: false, ..held(node, nodes, version) }
}

/// Whose contents nobody has told.
fn lost_part(of: NodeId, held_by: [NodeId; 2]) -> LostPart {
    LostPart { of, held_by: held_by.into(), contents: None }
}

fn halts(to: &[NodeId], epoch: Epoch, lost: &[NodeId]) -> Vec<Action> {
    to.iter().map(|to| Action::Halt { to: *to, epoch, lost: lost.to_vec() }).collect()
}

#[test]
fn survivors_halt_go_back_to_the_checkpoint_and_go_on() {
    let mut leader = leader(3);
    assert_eq!(leader.awaited(), None);
    assert_eq!(leader.on_lost([1]), halts(&[0, 2], 1, &[1]));
    assert!(!leader.is_running());
    assert_eq!(leader.awaited(), Some(Awaited::ToHalt(vec![0, 2])));
    assert_eq!(leader.on_halted(2, 1, vec![held(2, 3, 7)]), []);
    assert_eq!(leader.awaited(), Some(Awaited::ToHalt(vec![0])));
    let view = View::whole(3).after(1, 3, |node| node != 1, |_| 2);
    let order = |restore| Order { restore, failures: 1, ..Order::new(view.clone(), Some(7), 8) };
    let orders = [(0, order(vec![0])), (2, order(vec![2, 1]))];
    assert_eq!(
        leader.on_halted(0, 1, vec![held(0, 3, 7)]),
        orders.map(|(to, order)| Action::Resume { to, order })
    );
    assert_eq!(leader.awaited(), Some(Awaited::ToResume(vec![0, 2])));
    assert_eq!(leader.on_resumed(0, 1), []);
    assert_eq!(leader.awaited(), Some(Awaited::ToResume(vec![2])));
    assert_eq!(leader.on_resumed(2, 1), [Action::Recovered { epoch: 1, version: Some(7) }]);
    assert!(leader.is_running() && leader.awaited().is_none());
}

#[test]
fn the_program_begins_anew_if_no_checkpoint_was_ever_complete() {
    let mut leader = leader(2);
    assert_eq!(leader.on_lost([0]), halts(&[1], 1, &[0]));
    let part = Held { held: vec![1], ..uncommitted(1, 2, 1) };
    let view = View::whole(2).after(1, 2, |node| node == 1, |_| 1);
    let order = Order { failures: 1, ..Order::new(view, None, 2) };
    assert_eq!(leader.on_halted(1, 1, vec![part]), [Action::Resume { to: 1, order }]);
    assert_eq!(leader.on_resumed(1, 1), [Action::Recovered { epoch: 1, version: None }]);
}

#[test]
fn who_takes_over_begins_the_next_epoch_whoever_is_left() {
    let before = View::whole(3).after(1, 3, |node| node != 1, |_| 2);
    let taking_over =
        |lost: &[NodeId]| Leader::taking_over(vec![0; 3], before.clone(), 2, 8, lost.iter().copied());
    let (mut leader, actions) = taking_over(&[]);
    assert_eq!(actions, halts(&[0, 2], 3, &[1]), "who was lost before stays so");
    assert_eq!(leader.failures, 1, "that of the former leader");
    leader.add_failures(3);
    assert_eq!((leader.failures, taking_over(&[0]).0.failures), (4, 2));
    assert_eq!(leader.on_halted(0, 2, vec![held(0, 3, 9)]), [], "of the former leader's epoch");
    assert_eq!(leader.on_halted(0, 3, vec![held(0, 3, 9)]), []);
    let actions = leader.on_halted(2, 3, vec![held(2, 3, 9)]);
    let [Action::Resume { to: 0, order }, Action::Resume { to: 2, .. }] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!((order.version, order.next_version, order.view.epoch), (Some(9), 10, 3));

    let (mut leader, actions) = taking_over(&[0]);
    assert_eq!(actions, halts(&[2], 3, &[0, 1]));
    let lost = Lost { version: Some(9), parts: vec![lost_part(0, [0, 2])] };
    let mut own = held(2, 3, 9);
    own.view = before.clone();
    own.held = vec![2];
    assert_eq!(leader.on_halted(2, 3, vec![own]), [Action::GiveUp(lost)]);
}

/// What all went back to last, under a leader that is gone, was not committed.
#[test]
fn another_leader_goes_back_behind_what_was_not_committed_but_not_behind_what_was() {
    let taken_over = |held: Vec<Held>| {
        let (mut leader, _) = Leader::taking_over(vec![0; 2], View::whole(2), 1, 6, [0]);
        leader.on_committed(4);
        leader.on_halted(1, 2, held)
    };
    for (held, version) in [(vec![held(1, 2, 4), uncommitted(1, 2, 5)], 5), (vec![held(1, 2, 4)], 4)] {
        let actions = taken_over(held);
        let [Action::Resume { order, .. }] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!((order.version, order.committed), (Some(version), Some(4)));
    }
    let actions = taken_over(vec![held(1, 2, 3)]);
    assert!(matches!(&actions[..], [Action::GiveUp(lost)] if lost.version == Some(4)), "{actions:?}");
}

#[test]
fn what_is_complete_counts_whether_anybody_was_told_or_not() {
    let mut leader = leader(2);
    assert_eq!(leader.on_lost([0]), halts(&[1], 1, &[0]));
    let actions = leader.on_halted(1, 1, vec![held(1, 2, 4), uncommitted(1, 2, 5)]);
    let [Action::Resume { to: 1, order }] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!((order.version, order.next_version), (Some(5), 6));
    assert_eq!(order.committed, Some(4), "which nobody says of the other one");
    let kept: Vec<_> = (3..7).filter(|version| order.keeps(*version)).collect();
    assert_eq!(kept, [4, 5], "what may be gone back to before the next one is committed");
}

#[test]
fn what_was_committed_is_gone_back_to_if_what_was_only_complete_is_lost() {
    let mut leader = leader(3);
    let _ = leader.on_lost([2]);
    let _ = leader.on_halted(0, 1, vec![held(0, 3, 4), uncommitted(0, 3, 5)]);
    let actions = leader.on_halted(1, 1, vec![held(1, 3, 4), uncommitted(1, 3, 5)]);
    let [Action::Resume { order, .. }, ..] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!((order.version, order.committed), (Some(5), Some(4)));
    let _ = leader.on_resumed(0, 1);
    assert!(!leader.on_resumed(1, 1).is_empty(), "all go on");
    // Its disk did not take the own part of version 5, and nobody else has that any more.
    let _ = leader.on_lost([0]);
    let old = Held { held: vec![0, 1, 2], ..held(1, 3, 4) };
    let actions = leader.on_halted(1, 2, vec![old, Held { held: vec![0], ..uncommitted(1, 3, 5) }]);
    let [Action::Resume { to: 1, order }] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!((order.version, order.committed, order.next_version), (Some(4), Some(4), 7));
    assert!(!order.keeps(5), "what begins from there is another version");
}

#[test]
fn both_copies_gone_is_the_end_and_tells_whose_they_were() {
    let mut leader = leader(4);
    assert_eq!(leader.on_lost([1, 2]), halts(&[0, 3], 1, &[1, 2]));
    assert_eq!(leader.on_halted(0, 1, vec![held(0, 4, 7)]), []);
    let lost = Lost { version: Some(7), parts: vec![lost_part(1, [1, 2])] };
    assert_eq!(leader.on_halted(3, 1, vec![held(3, 4, 7)]), [Action::GiveUp(lost)]);
    assert_eq!(leader.on_lost([0]), [], "it is over");
    assert_eq!(leader.on_halted(3, 1, vec![]), []);
}

#[test]
fn what_was_in_lost_parts_is_told_by_whoever_knows() {
    let mut leader = leader(4);
    let contents = |count| Contents { of: [("array Block".to_owned(), count)].into(), others: 0 };
    assert_eq!(leader.on_lost([1, 2]), halts(&[0, 3], 1, &[1, 2]));
    // The node with the lowest number has nothing of that version any more; and of what is held, nothing is told.
    assert_eq!(leader.on_halted(0, 1, vec![held(0, 4, 6)]), []);
    let missed = vec![(1, contents(5)), (2, contents(6))];
    let own = Held { held: vec![3], missed: [missed, vec![(3, contents(7))]].concat(), ..held(3, 4, 7) };
    let known = |of, held_by, count| LostPart { contents: Some(contents(count)), ..lost_part(of, held_by) };
    let parts = vec![lost_part(0, [0, 1]), known(1, [1, 2], 5), known(2, [2, 3], 6)];
    assert_eq!(leader.on_halted(3, 1, vec![own]), [Action::GiveUp(Lost { version: Some(7), parts })]);
}

#[test]
fn nobody_goes_back_behind_what_was_printed() {
    let mut leader = leader(3);
    leader.on_committed(5);
    assert_eq!(leader.on_lost([1, 2]), halts(&[0], 1, &[1, 2]));
    let old = Held { held: vec![0, 1, 2], ..held(0, 3, 4) };
    let lost = Lost { version: Some(5), parts: vec![lost_part(1, [1, 2])] };
    assert_eq!(
        leader.on_halted(0, 1, vec![old, Held { held: vec![0, 2], ..uncommitted(0, 3, 5) }]),
        [Action::GiveUp(lost)]
    );
}

#[test]
fn a_job_that_nobody_is_left_of_has_lost_all() {
    let mut leader = leader(2);
    assert_eq!(leader.on_lost([1]), halts(&[0], 1, &[1]));
    let parts = vec![lost_part(0, [0, 1]), lost_part(1, [1, 0])];
    assert_eq!(leader.on_lost([0]), [Action::GiveUp(Lost { version: None, parts })]);
}

#[test]
fn another_loss_begins_again_with_the_next_epoch() {
    let mut leader = leader(4);
    assert_eq!(leader.on_lost([3]), halts(&[0, 1, 2], 1, &[3]));
    assert_eq!(leader.on_halted(0, 1, vec![held(0, 4, 2)]), []);
    assert_eq!(leader.on_lost([3]), [], "it was known");
    assert_eq!(leader.on_lost([1]), halts(&[0, 2], 2, &[1, 3]));
    for (node, epoch) in [(0, 1), (2, 1), (1, 2), (9, 2)] {
        assert_eq!(leader.on_halted(node, epoch, vec![held(node % 4, 4, 2)]), [], "of {node} for {epoch}");
    }
    assert_eq!(leader.on_halted(2, 2, vec![held(2, 4, 2)]), []);
    assert_eq!(leader.on_halted(0, 2, vec![held(0, 4, 2)]).len(), 2);
    assert_eq!(leader.on_halted(0, 2, vec![held(0, 4, 2)]), [], "it has been ordered");
    assert_eq!(leader.on_resumed(0, 1), []);
    assert_eq!(leader.on_resumed(0, 2), []);
    assert_eq!(leader.on_resumed(2, 2).len(), 1);
}

#[test]
fn versions_rise_even_if_nothing_of_one_is_left() {
    let mut leader = leader(3);
    assert_eq!(leader.on_lost([2]).len(), 2);
    assert_eq!(leader.on_halted(0, 1, vec![]), []);
    let next = |actions: &[Action]| match actions {
        [Action::Resume { order, .. }, ..] => order.next_version,
        _ => panic!("{actions:?}"),
    };
    assert_eq!(next(&leader.on_halted(1, 1, vec![])), 2);
    assert_eq!(leader.on_lost([1]).len(), 1);
    assert_eq!(next(&leader.on_halted(0, 2, vec![])), 3, "2 may have been begun");
}

#[test]
fn who_stood_in_for_others_leaves_them_to_its_heir() {
    let mut leader = leader(3);
    let view = View::whole(3).after(1, 3, |node| node != 2, |_| 0);
    assert_eq!(leader.on_lost([2, 0]).len(), 1);
    let held = Held { version: 9, view, held: vec![0, 1], committed: true, missed: Vec::new() };
    let actions = leader.on_halted(1, 1, vec![held]);
    let [Action::Resume { to: 1, order }] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(order.restore, [1, 0]);
    assert_eq!([0, 1, 2].map(|node| order.view.acting_for(node)), [1, 1, 1]);
}

#[test]
fn a_node_that_is_replaced_is_waited_for_and_fetches_its_part() {
    let mut leader = leader(3);
    assert_eq!(leader.on_lost([1]), halts(&[0, 2], 1, &[1]));
    assert!(leader.expect(1) && !leader.expect(0));
    assert_eq!(leader.on_halted(0, 1, vec![held(0, 3, 7)]), []);
    assert_eq!(leader.on_halted(2, 1, vec![held(2, 3, 7)]), [], "node 1 has not come");
    assert_eq!(leader.on_come(1), halts(&[1], 1, &[]));
    assert_eq!(leader.on_come(1), [], "it has");
    let view = View::whole(3).after(1, 3, |_| true, |node| node);
    let order = |node| Order { restore: vec![node], failures: 1, ..Order::new(view.clone(), Some(7), 8) };
    let orders =
        [order(0), Order { fetch: vec![(1, 2)], ..order(1) }, Order { send: vec![(1, 1)], ..order(2) }];
    let resumes = (0..).zip(orders).map(|(to, order)| Action::Resume { to, order });
    assert_eq!(leader.on_halted(1, 1, vec![]), resumes.collect::<Vec<_>>());
}

#[test]
fn without_a_node_that_does_not_come_the_others_go_on() {
    let mut leader = leader(3);
    assert_eq!(leader.on_lost([1]).len(), 2);
    assert!(leader.expect(1));
    assert_eq!(leader.on_halted(0, 1, vec![held(0, 3, 7)]), []);
    assert_eq!(leader.on_halted(2, 1, vec![held(2, 3, 7)]), []);
    let actions = leader.on_not_coming(1);
    let [Action::Resume { to: 0, .. }, Action::Resume { to: 2, order }] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!((&order.restore[..], &order.fetch[..]), (&[2, 1][..], &[][..]));
    assert_eq!(leader.on_come(1), [], "nobody waits for it any more");
    assert!(!leader.expect(1));
}

#[test]
fn a_node_that_is_released_leaves_its_part_to_whoever_holds_it() {
    let mut leader = leader(3);
    assert_eq!(leader.on_release(&[0, 1, 2]), [], "somebody has to stay");
    assert_eq!(leader.on_release(&[1, 7]), halts(&[0, 1, 2], 1, &[]));
    assert_eq!(leader.on_release(&[2]), [], "it does not run");
    for node in [0, 1] {
        assert_eq!(leader.on_halted(node, 1, vec![held(node, 3, 7)]), []);
    }
    let view = View::whole(3).after(1, 3, |node| node != 1, |_| 2);
    let order = |restore| Order { restore, ..Order::new(view.clone(), Some(7), 8) };
    let resumes = [(0, order(vec![0])), (2, order(vec![2, 1]))];
    let resumes = resumes.map(|(to, order)| Action::Resume { to, order });
    let release = vec![Action::Release(vec![1])];
    assert_eq!(leader.on_halted(2, 1, vec![held(2, 3, 7)]), [resumes.to_vec(), release].concat());
    assert_eq!(leader.there().collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn a_node_whose_part_nobody_else_holds_stays() {
    let mut leader = leader(3);
    assert_eq!(leader.on_release(&[1]).len(), 3);
    assert_eq!(leader.on_lost([2]), halts(&[0, 1], 2, &[2]), "that was its buddy");
    assert_eq!(leader.on_halted(0, 2, vec![held(0, 3, 7)]), []);
    let actions = leader.on_halted(1, 2, vec![held(1, 3, 7)]);
    let [Action::Resume { to: 0, .. }, Action::Resume { to: 1, order }] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!(order.view.there().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_node_that_is_added_begins_with_what_is_made_of_the_part_of_its_acting_node() {
    let mut leader = leader(3);
    assert_eq!(leader.on_added(&[1]), [], "it is there");
    assert_eq!(leader.on_lost([1]).len(), 2);
    assert_eq!(leader.on_added(&[1]), [], "nobody goes on");
    for node in [0, 2] {
        let _ = leader.on_halted(node, 1, vec![held(node, 3, 7)]);
    }
    for node in [0, 2] {
        let _ = leader.on_resumed(node, 1);
    }
    assert_eq!(leader.on_added(&[0, 1, 7]), halts(&[0, 1, 2], 2, &[]));
    // Version 8 was taken without it, when node 2 acted for it.
    let without = View::whole(3).after(1, 3, |node| node != 1, |_| 2);
    let held = |parts: &[NodeId]| {
        vec![Held { version: 8, view: without.clone(), held: parts.into(), committed: true, missed: vec![] }]
    };
    assert_eq!(leader.on_halted(0, 2, held(&[0, 2])), []);
    assert_eq!(leader.on_halted(1, 2, vec![]), []);
    let view = View::whole(3).after(2, 3, |_| true, |node| node);
    let order = |node| Order { restore: vec![node], failures: 1, ..Order::new(view.clone(), Some(8), 9) };
    let orders =
        [order(0), Order { fetch: vec![(1, 2)], ..order(1) }, Order { send: vec![(1, 1)], ..order(2) }];
    let resumes = (0..).zip(orders).map(|(to, order)| Action::Resume { to, order });
    assert_eq!(leader.on_halted(2, 2, held(&[2, 0])), resumes.collect::<Vec<_>>());
}

#[test]
fn whoever_has_the_part_of_an_acting_node_that_is_lost_makes_that_of_the_node_that_is_added() {
    let mut leader = leader(3);
    let _ = leader.on_lost([1]);
    for node in [0, 2] {
        let _ = leader.on_halted(node, 1, vec![held(node, 3, 7)]);
    }
    for node in [0, 2] {
        let _ = leader.on_resumed(node, 1);
    }
    assert_eq!(leader.on_added(&[1]).len(), 3);
    assert_eq!(leader.on_lost([2]), halts(&[0, 1], 3, &[2]));
    let view = View::whole(3).after(1, 3, |node| node != 1, |_| 2);
    let both = Held { version: 8, view, held: vec![0, 2], committed: true, missed: vec![] };
    assert_eq!(leader.on_halted(1, 3, vec![]), []);
    let actions = leader.on_halted(0, 3, vec![both]);
    let [Action::Resume { to: 0, order: first }, Action::Resume { to: 1, order: second }] = &actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!((&first.restore[..], &first.send[..]), (&[0, 2][..], &[(1, 1)][..]));
    assert_eq!((&second.restore[..], &second.fetch[..]), (&[1][..], &[(1, 0)][..]));
    assert_eq!([0, 1, 2].map(|node| first.view.acting_for(node)), [0, 1, 0]);
}

#[test]
fn who_has_come_since_does_not_begin_anew_when_all_are_lost_that_had_anything() {
    let mut leader = leader(2);
    assert_eq!(leader.on_lost([1]), halts(&[0], 1, &[1]));
    assert!(leader.expect(1));
    assert_eq!(leader.on_come(1), halts(&[1], 1, &[]));
    assert_eq!(leader.on_halted(1, 1, Vec::new()), []);
    let parts = vec![lost_part(0, [0, 1]), lost_part(1, [1, 0])];
    assert_eq!(leader.on_lost([0]), [Action::GiveUp(Lost { version: None, parts })]);
}

#[test]
fn nor_under_another_leader() {
    let (mut leader, _) = Leader::taking_over(vec![0, 0], View::whole(2), 1, 1, [0]);
    leader.add_newcomers([1]);
    let parts = vec![lost_part(0, [0, 1]), lost_part(1, [1, 0])];
    assert_eq!(leader.on_halted(1, 2, Vec::new()), [Action::GiveUp(Lost { version: None, parts })]);
}
