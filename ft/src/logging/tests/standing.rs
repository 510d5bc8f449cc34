//! Who leads next, from what those that are left say.

use super::super::{
    Cut, Gathering, Holdings, Leader, Lengths, Membership, Order, Position, Seen, Standing, Succession,
};
use super::{SHAPE, log};

fn fresh() -> Leader {
    Leader::new(SHAPE, (0..4).map(|node| Position::at_beginning(node, SHAPE)).collect())
}

/// In line 7, after the third recovery, in which node 3 got its first other process.
fn standing() -> Standing {
    let cuts = [Cut { node: 3, ended: 0, ends: vec![5] }].into_iter().collect();
    Standing {
        is_live: true,
        line: 7,
        session: 3,
        incarnations: vec![0, 0, 0, 1],
        cuts,
        printed: Lengths::default(),
        membership: None,
        coming: None,
    }
}

fn with_printed(lines: u64, node: u32) -> Standing {
    Standing { printed: [(log(node), lines)].into_iter().collect(), ..standing() }
}

fn led(left: &[(u32, Standing)], seen: &[Seen]) -> Succession {
    let mut gathering = Gathering::of(left.iter().map(|(node, _)| *node));
    for (node, standing) in left {
        assert!(!gathering.is_complete());
        gathering.on_standing(*node, standing.clone());
    }
    assert!(gathering.is_complete());
    gathering.lead(fresh(), seen)
}

/// Those that another process is started for, with its number, and those that are asked.
fn decided(succession: &Succession) -> (Vec<(u32, u32)>, Vec<u32>) {
    let (mut started, mut asked) = (Vec::new(), Vec::new());
    for order in &succession.orders {
        match order {
            Order::Start { node, incarnation } => started.push((*node, *incarnation)),
            Order::Ask { to, session, .. } => {
                assert_eq!(*session, 4);
                asked.push(*to);
            }
            _ => {}
        }
    }
    (started, asked)
}

fn if_nobody_is_lost_all_are_asked_and_go_on() {
    let left: Vec<_> = (0..4).map(|node| (node, standing())).collect();
    let mut succession = led(&left, &[]);
    assert_eq!(decided(&succession), (vec![], vec![0, 1, 2, 3]));
    assert_eq!((succession.votes.line(), &succession.behind[..]), (7, &[][..]));
    let leader = &mut succession.leader;
    assert!(!leader.is_running());
    for node in 0..4 {
        let present = Position { image: 1, ..Position::at_beginning(node, SHAPE) };
        _ = leader.on_held(node, 4, Holdings { present, ..Holdings::default() });
    }
    (0..3).for_each(|node| assert_eq!(leader.on_announced(node, 4), []));
    assert_eq!(leader.on_announced(3, 4), [Order::Degraded(false)]);
    assert!(leader.is_running());
}

fn who_is_lost_or_was_going_back_gets_a_process_of_a_new_number() {
    let back = Standing { is_live: false, ..standing() };
    let succession = led(&[(0, standing()), (2, standing()), (3, back)], &[]);
    assert_eq!(decided(&succession), (vec![(1, 1), (3, 2)], vec![0, 2]));
    assert_eq!(succession.unfinished, [3]);
}

fn the_newest_line_that_anybody_is_in_or_has_printed_in_has_begun() {
    let left: Vec<_> =
        (0..4).map(|node| (node, Standing { line: 5 + u64::from(node % 2), ..standing() })).collect();
    let succession = led(&left, &[]);
    assert_eq!((succession.votes.line(), &succession.behind[..]), (6, &[0, 2][..]));
    assert_eq!(led(&left, &[(9, log(1), 0)]).votes.line(), 9);
}

fn what_nodes_or_output_know_to_be_printed_is_printed() {
    let left = [(0, with_printed(4, 0)), (1, with_printed(6, 0)), (2, with_printed(2, 2)), (3, standing())];
    let seen = [(7, log(2), 1), (7, log(2), 2), (7, log(2), 3), (6, log(3), 8), (7, log(0), 1)];
    let leader = led(&left, &seen).leader;
    assert_eq!([0, 2, 3].map(|node| leader.printed(log(node))), [6, 4, 0]);
    let former = [(0, with_printed(4, 0)), (1, Standing { line: 8, ..standing() })];
    assert_eq!(led(&former, &[]).leader.printed(log(0)), 0, "of the line before");
    // The last bits of a number say which it is.
    let many = (5 << 32) + 1;
    let leader = led(&[(2, with_printed(many, 2))], &[(7, log(2), 1), (7, log(2), 2)]).leader;
    assert_eq!(leader.printed(log(2)), many + 2);
    assert_eq!(led(&[(2, with_printed(many, 2))], &[(7, log(2), u32::MAX)]).leader.printed(log(2)), many);
}

/// Node 2 is lost as well, and had heard of the former process of node 3.
fn where_the_logs_of_former_processes_end_is_known_on() {
    let mut leader = led(&[(0, standing()), (1, standing()), (3, standing())], &[]).leader;
    _ = leader.on_arrived(2, 1);
    for node in [0, 1, 3] {
        let present = Position { image: 1, ..Position::at_beginning(node, SHAPE) };
        let kept = (node == 3).then(|| (2, Position::at_beginning(2, SHAPE)));
        _ = leader.on_held(
            node,
            4,
            Holdings { kept: kept.into_iter().collect(), present, ..Holdings::default() },
        );
    }
    _ = leader.on_announced(0, 4);
    _ = leader.on_announced(1, 4);
    let orders = leader.on_announced(3, 4);
    let [Order::Restore { to: 2, cuts, incarnations, .. }] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!(incarnations, &[0, 0, 1, 1]);
    assert_eq!(cuts.iter().map(|cut| (cut.node, cut.ended)).collect::<Vec<_>>(), [(3, 0), (2, 0)]);
}

fn a_membership_that_was_to_come_is_taken_back() {
    let next = Membership::around(4).releasing(3, &[2], |node| node).expect("three stay");
    let told = || Standing { coming: Some(next.clone()), ..standing() };
    let succession = led(&[(0, standing()), (1, told()), (2, standing()), (3, told())], &[]);
    assert_eq!(succession.leader.membership(), &Membership::around(4));
    assert_eq!(succession.votes.coming(), Some(&Membership::around(4).again(4)));
    assert_eq!((succession.released.len(), succession.behind.len()), (0, 0));
}

fn who_was_released_in_the_newest_line_may_go() {
    let next = Membership::around(4).releasing(3, &[2], |node| node).expect("three stay");
    let behind = || Standing { line: 5, coming: Some(next.clone()), ..standing() };
    let ahead = Standing { membership: Some(next.clone()), ..standing() };
    let succession = led(&[(0, behind()), (1, ahead), (2, behind()), (3, behind())], &[]);
    assert_eq!((succession.leader.membership(), succession.votes.coming()), (&next, None));
    assert_eq!((&succession.behind[..], &succession.released[..]), (&[0, 3][..], &[2][..]));
    assert_eq!(decided(&succession), (vec![], vec![0, 1, 3]));
    // Whoever was in it is lost, and had printed something.
    let succession = led(&[(0, behind()), (2, behind()), (3, behind())], &[(7, log(1), 0)]);
    assert_eq!((succession.leader.membership(), &succession.released[..]), (&next, &[2][..]));
    assert_eq!(decided(&succession), (vec![(1, 1)], vec![0, 3]));
}

const CHECKS: [fn(); 7] = [
    if_nobody_is_lost_all_are_asked_and_go_on,
    who_is_lost_or_was_going_back_gets_a_process_of_a_new_number,
    the_newest_line_that_anybody_is_in_or_has_printed_in_has_begun,
    what_nodes_or_output_know_to_be_printed_is_printed,
    where_the_logs_of_former_processes_end_is_known_on,
    a_membership_that_was_to_come_is_taken_back,
    who_was_released_in_the_newest_line_may_go,
];

#[test]
fn whoever_leads_next_knows_all_that_counts() {
    CHECKS.into_iter().for_each(|check| check());
}

#[test]
fn one_that_is_lost_meanwhile_is_not_waited_for() {
    let mut gathering = Gathering::of([0, 1, 2]);
    gathering.on_standing(0, standing());
    gathering.on_standing(2, standing());
    gathering.on_lost(2);
    gathering.on_standing(3, standing());
    assert!(!gathering.is_complete());
    gathering.on_lost(1);
    assert!(gathering.is_complete());
    let succession = gathering.lead(fresh(), &[]);
    assert_eq!(decided(&succession), (vec![(1, 1), (2, 1), (3, 2)], vec![0]));
}

#[cfg(feature = "mutations")]
#[test]
fn mistakes_are_noticed() {
    let all = [
        ("sessions-begin-again", 0),
        ("whoever-is-left-is-live", 1),
        ("incarnations-begin-again", 1),
        ("next-leader-takes-the-former-line", 2),
        ("printed-is-not-asked-for", 3),
        ("seen-is-not-looked-at", 3),
        ("cuts-are-not-asked-for", 4),
    ];
    for (mistake, check) in all {
        assert!(super::notices(mistake, CHECKS[check]), "{mistake}");
    }
}
