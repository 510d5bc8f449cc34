//! A job that logs has lost its launcher, as the next one leads it.

use talisman_ft::logging::{Incarnation, Lengths, LogId, Order, Standing};

use super::logging::{held, orders, words};
use super::taking_over::follower;
use super::*;
use crate::follower::{Follower, Followers};
use crate::logging::messages::{FromMember, Said, ToMember};
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::lines::Piece;

/// Of three nodes, those that are left, after these were printed.
fn taken_over(followers: Vec<Follower>, printed: Vec<Piece>) -> Coordinator {
    let options = RunArgs { nodes: 3, pes: Some(1), ft: FaultTolerance::Logging, ..RunArgs::default() };
    let mut all = Followers::default();
    followers.into_iter().for_each(|follower| all.add(follower));
    all.add_printed(printed);
    Coordinator::taking_over(Plan::local(&options, Vec::new()), Kills::new(&[], None), "node 1", &all)
}

fn log(node: u32) -> LogId {
    LogId { node, rank: 0 }
}

/// A node that is live, in the line of checkpoint 7, in which so much is printed of its program.
fn standing(node: u32, printed: u64) -> Standing {
    let incarnations: Vec<Incarnation> = vec![0, 2, 0];
    let printed: Lengths = [(log(node), printed)].into_iter().collect();
    Standing { is_live: true, line: 7, session: 4, incarnations, printed, ..Standing::default() }
}

fn stands(standing: Standing) -> FromMember {
    FromMember::Standing { standing: Box::new(standing), end: None, took: Vec::new() }
}

fn told(coordinator: &mut Coordinator) -> Vec<(u32, &'static str)> {
    orders(&words(coordinator.take_actions()).0)
}

#[test]
fn those_that_are_left_are_asked_where_they_are_and_go_on() {
    let mut coordinator = taken_over((0..3).map(follower).collect(), vec![(7, 2, 4)]);
    assert_eq!(told(&mut coordinator), [0, 1, 2].map(|node| (node, "introduce")));
    // Before they have said where they are nothing counts.
    let line = |number| FromMember::Said { rank: 0, number, said: Said::Line("a line".into()) };
    assert_eq!(coordinator.tell(60_001, 0, &line(0)), (vec![], vec![]));
    assert_eq!(coordinator.tell(60_002, 0, &stands(standing(0, 2))).0, []);
    let former = Standing { line: 5, ..standing(1, 9) };
    assert_eq!(coordinator.tell(60_002, 1, &stands(former)).0, []);
    let (all, _) = coordinator.tell(60_003, 2, &stands(standing(2, 3)));
    assert_eq!(
        orders(&all),
        [(1, "line"), (0, "ask"), (1, "ask"), (2, "ask")],
        "one had not heard of the line"
    );
    let ToMember::Order { order: Order::Ask { session: 5, lost, .. }, line: 7, .. } = &all[1].1 else {
        panic!("{all:?}")
    };
    assert!(lost.is_empty(), "nobody goes back");
    for node in 0..3 {
        coordinator.tell(60_004, node, &held(node, 5));
    }
    for node in [0, 1] {
        assert_eq!(coordinator.tell(60_005, node, &FromMember::Announced(5)), (vec![], vec![]));
    }
    let (_, said) = coordinator.tell(60_010, 2, &FromMember::Announced(5));
    let line_of = "the job goes on 10 ms after the loss of the launcher; nobody went back";
    assert_eq!(said, [Action::Say(line_of.into())]);
    // What was printed is not printed again: as nodes know, or what output goes through.
    assert_eq!(coordinator.tell(60_011, 0, &line(1)).1, []);
    assert_eq!(coordinator.tell(60_011, 0, &line(2)).1.len(), 1);
    assert_eq!(coordinator.tell(60_011, 2, &line(4)).1, []);
    assert_eq!(coordinator.tell(60_011, 2, &line(5)).1.len(), 1);
    assert_eq!(coordinator.tell(60_011, 1, &line(0)).1.len(), 1, "its count was of another line");
}

#[test]
fn whoever_is_lost_with_the_launcher_or_was_going_back_goes_back() {
    let mut coordinator =
        taken_over(vec![follower(0), Follower { life: 3, lives: 3, ..follower(1) }], Vec::new());
    assert_eq!(told(&mut coordinator), [0, 1].map(|node| (node, "introduce")));
    coordinator.tell(60_001, 0, &stands(standing(0, 0)));
    let goes_back = Standing { is_live: false, ..standing(1, 0) };
    let (told, others) = coordinator.tell(60_002, 1, &stands(goes_back));
    assert_eq!(orders(&told), [(0, "ask")]);
    assert_eq!(others, [Action::Kill(1), Action::Start(2)]);
    let ToMember::Order { order: Order::Ask { lost, .. }, .. } = &told[0].1 else { panic!("{told:?}") };
    assert_eq!(lost, &[1, 2]);
    let (_, others) = words(coordinator.happen(at(60_003), 1, killed()));
    assert_eq!(others, [Action::Start(1)]);
    let task = coordinator.say(at(60_004), 2, hello());
    assert!(matches!(&task[..], [Action::Send(2, ToNode::Task(task))] if task.life == 4), "{task:?}");
}

#[test]
fn a_node_that_is_lost_before_it_has_said_where_it_is_is_not_waited_for() {
    let mut coordinator = taken_over((0..3).map(follower).collect(), Vec::new());
    _ = coordinator.take_actions();
    coordinator.tell(60_001, 0, &stands(standing(0, 0)));
    coordinator.tell(60_001, 1, &stands(standing(1, 0)));
    let (told, others) = words(coordinator.happen(at(60_002), 2, killed()));
    assert_eq!(orders(&told), [(0, "ask"), (1, "ask")]);
    assert!(others.contains(&Action::Start(2)), "{others:?}");
}

#[test]
fn a_job_that_was_about_to_end_ends() {
    let stop = Stop { status: 4, message: None };
    let mut coordinator = taken_over((0..3).map(follower).collect(), Vec::new());
    _ = coordinator.take_actions();
    coordinator.tell(60_001, 0, &stands(standing(0, 0)));
    let standing = |node| Box::new(standing(node, 0));
    coordinator.tell(
        60_001,
        1,
        &FromMember::Standing { standing: standing(1), end: Some(stop.clone()), took: vec![] },
    );
    let (told, _) =
        coordinator.tell(60_001, 2, &FromMember::Standing { standing: standing(2), end: None, took: vec![] });
    assert_eq!(told[0], (0, ToMember::Finish(stop)));
    assert_eq!(orders(&told)[3..], [(0, "ask"), (1, "ask"), (2, "ask")]);
}

#[cfg(feature = "mutations")]
#[test]
fn an_end_that_is_forgotten_is_noticed() {
    talisman_observe::mutations::choose(Some("end-is-not-asked-for"));
    let failed = std::panic::catch_unwind(a_job_that_was_about_to_end_ends).is_err();
    talisman_observe::mutations::choose(None);
    assert!(failed);
}

/// Whoever was told to stop does not say where it is.
#[test]
fn a_job_that_was_told_to_stop_stops() {
    let mut coordinator = taken_over((0..3).map(follower).collect(), Vec::new());
    _ = coordinator.take_actions();
    let told = coordinator.say(at(60_001), 1, ToLauncher::Ended(Stop::default()));
    assert_eq!(told, to_all(3, &ToNode::Stop(Stop::default())));
    let mut coordinator = taken_over(vec![follower(0), follower(1)], Vec::new());
    _ = coordinator.take_actions();
    coordinator.say(at(60_001), 1, ToLauncher::Ended(Stop::default()));
    let (status, why) = end(coordinator);
    assert_eq!((status, &*why), (3, "node 2 is gone too"), "it has left nothing");
}

#[test]
fn nonsense_of_where_a_node_is_is_a_failure_of_that_node() {
    let hostile = [
        Standing { session: u32::MAX, ..standing(0, 0) },
        Standing { incarnations: vec![0; 2], ..standing(0, 0) },
        Standing { incarnations: vec![0, 0, u32::MAX], ..standing(0, 0) },
        standing(7, 1),
        standing(0, u64::MAX),
    ];
    for hostile in hostile {
        let mut coordinator = taken_over((0..3).map(follower).collect(), Vec::new());
        _ = coordinator.take_actions();
        coordinator.tell(60_001, 0, &stands(hostile));
        let (status, why) = end(coordinator);
        assert!(status == 3 && why.contains("nowhere"), "{why}");
    }
}
