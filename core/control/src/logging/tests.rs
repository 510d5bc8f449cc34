//! What the launcher makes of a loss, of what is said twice, and of the end.

use super::messages::FromMember;
use super::*;
use talisman_ft::logging::Holdings;
use talisman_job::RunArgs;
use talisman_job::checkpoints::FaultTolerance;

fn logging(nodes: u32) -> Logging {
    let options = RunArgs { nodes, pes: Some(1), ft: FaultTolerance::Logging, ..RunArgs::default() };
    Logging::new(&Plan::local(&options, vec![]))
}

fn loss(node: u32) -> Failure {
    Failure { node: Some(node), at_s: 1.0, ..Failure::default() }
}

/// What a survivor that has taken nothing says.
fn held(node: u32, session: u32, keeps: Option<u32>) -> FromMember {
    let shape = Shape { nodes: 3, pes_per_node: 1 };
    let of = |node| Position::at_beginning(node, shape);
    let present = Position { image: 1, ..of(node) };
    let kept = keeps.into_iter().map(|kept| (kept, of(kept))).collect();
    let holdings = Holdings { kept, images: vec![of(node)], present, ..Holdings::default() };
    FromMember::Held(session, Box::new(holdings))
}

/// What the part of a node has.
fn blocks(node: u64) -> Contents {
    Contents { of: [("array Block".to_owned(), 3 + node)].into(), others: 0 }
}

fn log(node: u32, rank: u32) -> LogId {
    LogId { node, rank }
}

#[test]
fn a_lost_node_alone_is_restored_and_the_others_are_only_asked() {
    let mut logging = logging(3);
    let orders = logging.lose(loss(1), 1);
    assert!(matches!(orders[0], Order::Start { node: 1, incarnation: 1 }), "{orders:?}");
    let asked = orders.iter().filter_map(|order| match order {
        Order::Ask { to, .. } => Some(*to),
        _ => None,
    });
    assert_eq!(asked.collect::<Vec<_>>(), [0, 2]);
    assert_eq!(logging.begin(1, 1, false), Begin::Start);
    assert!(logging.on_arrived(1).is_empty());
    assert!(logging.on_word(0, held(0, 1, Some(2))).is_empty());
    let announced = logging.on_word(2, held(2, 1, Some(1)));
    assert_eq!(announced.len(), 2, "{announced:?}");
    logging.on_word(0, FromMember::Announced(1));
    let restored = logging.on_word(2, FromMember::Announced(1));
    assert!(matches!(&restored[..], [Order::Restore { to: 1, .. }]), "{restored:?}");
    logging.told(&restored[0]);
    assert_eq!(logging.begin(1, 2, true), Begin::End, "it was told: another process is to begin");
    assert!(logging.take_wanted(1) && !logging.take_wanted(1));
}

#[test]
fn what_a_restored_node_says_again_is_no_news() {
    let mut logging = logging(2);
    let news: Vec<_> = [0, 1, 0, 1, 2].into_iter().map(|number| logging.is_news(log(1, 0), number)).collect();
    assert_eq!(news, [true, true, false, false, true]);
    assert_eq!((logging.printed(log(1, 0)), logging.printed(log(0, 0))), (3, 0));
    assert!(logging.is_news(log(1, 1), 0), "each PE of a node counts for itself");
}

#[test]
fn the_job_ends_when_all_is_printed_and_a_failure_is_waited_for_only_so_long() {
    let mut logging = logging(2);
    let now = Duration::from_secs(1);
    assert!(logging.on_end(Stop::default(), None));
    logging.on_finished(0);
    assert_eq!(logging.take_end(now), None);
    let failure = Stop { status: 1, message: Some("why".into()) };
    assert!(!logging.on_end(failure.clone(), Some(Duration::from_secs(2))));
    assert_eq!(logging.take_end(now), None);
    assert_eq!(logging.take_end(Duration::from_secs(2)), Some(failure));
}

#[test]
fn a_node_that_is_lost_with_its_keeper_is_named_with_it() {
    let mut logging = logging(3);
    logging.lose(loss(1), 1);
    let orders = logging.lose(loss(2), 2);
    assert!(orders.iter().any(|order| matches!(order, Order::Ask { to: 0, session: 2, .. })));
    logging.on_arrived(1);
    logging.begin(2, 1, false);
    logging.begin(1, 2, true);
    logging.on_arrived(1);
    logging.on_arrived(2);
    let orders = logging.on_word(0, held(0, 2, Some(2)));
    let [Order::GiveUp(loss)] = &orders[..] else { panic!("{orders:?}") };
    let why = logging.given_up("node 2 is gone", loss);
    assert!(why.contains("node 1 is lost with node 2"), "{why}");
    assert!(why.contains("no checkpoint was taken") && why.contains("held by nodes 1 and 2"), "{why}");
}

#[test]
fn processes_that_end_by_their_own_fault_end_a_job_that_comes_no_further() {
    let mut logging = logging(2);
    assert_eq!([5, 5, 5, 5].map(|steps| logging.is_crash_loop(steps)), [false, false, false, true]);
    assert!(!logging.is_crash_loop(6));
}

#[test]
fn the_next_line_begins_once_all_hold_the_same_cut_and_the_job_does_not_end() {
    let mut logging = logging(2);
    logging.on_holds(0, 1, (0, 0), blocks(0));
    assert_eq!(logging.begin_line(), None);
    logging.on_holds(1, 1, (0, 0), blocks(1));
    logging.is_news(log(1, 0), 0);
    assert_eq!((logging.begin_line(), logging.line()), (Some((1, vec![])), 1));
    assert_eq!((logging.begin_line(), logging.printed(log(1, 0))), (None, 0), "what is said is counted anew");
    logging.on_holds(0, 1, (0, 0), blocks(0));
    logging.on_holds(1, 1, (0, 0), blocks(1));
    assert_eq!(logging.begin_line(), None, "that has begun");
    logging.on_holds(0, 2, (0, 0), blocks(0));
    logging.on_holds(1, 2, (0, 0), blocks(1));
    assert!(logging.on_end(Stop::default(), None));
    assert_eq!(logging.begin_line(), None, "the job ends");
}

#[test]
fn what_a_node_had_that_is_lost_with_its_keeper_is_counted() {
    let mut logging = logging(3);
    (0..3).for_each(|node| logging.on_holds(node, 1, (0, 0), blocks(node.into())));
    assert_eq!(logging.begin_line(), Some((1, vec![])));
    // What a node has in the next one is none of the line.
    logging.on_holds(1, 2, (0, 0), blocks(90));
    let loss = Loss::Missing(Missing { node: 1, needed_by: None });
    let why = logging.given_up("node 2 is gone", &loss);
    for text in [
        "node 2 is gone; the job cannot go on: node 1 is lost with node 2",
        "of checkpoint 1, all copies are lost of 4 objects",
        "array Block",
        "node 1 (4 objects, held by nodes 1 and 2)",
    ] {
        assert!(why.contains(text), "no {text:?} in {why}");
    }
}

#[test]
fn a_job_goes_back_to_disk_only_if_nothing_was_printed_since() {
    let mut logging = logging(2);
    let begin = |logging: &mut Logging, version| {
        (0..2).for_each(|node| logging.on_holds(node, version, (0, 0), blocks(0)));
        assert_eq!(logging.begin_line(), Some((version, vec![])));
    };
    logging.is_news(log(0, 0), 0);
    begin(&mut logging, 1);
    assert!(logging.begin_writing(0..2, 0));
    assert_eq!(logging.unseen_since(), None, "it is not on disk");
    logging.on_written(0, 1, None);
    assert!(logging.on_written(1, 1, None).is_some());
    assert_eq!(logging.unseen_since(), Some(1));
    begin(&mut logging, 2);
    assert_eq!(logging.unseen_since(), Some(1), "the later line has printed nothing either");
    logging.is_news(log(1, 0), 0);
    assert_eq!(logging.unseen_since(), None);
    begin(&mut logging, 3);
    assert!(logging.begin_writing(0..2, 0));
    logging.is_news(log(1, 0), 0);
    logging.on_written(0, 3, None);
    logging.on_written(1, 3, None);
    assert_eq!(logging.unseen_since(), None, "something was printed since that line began");
}

/// Each deliberate mistake about checkpoints on disk is noticed.
#[cfg(feature = "mutations")]
#[test]
fn mistakes_about_disks_are_noticed() {
    use talisman_observe::mutations::choose;
    let checks: [(&str, fn()); 2] = [
        ("printed-is-unseen", a_job_goes_back_to_disk_only_if_nothing_was_printed_since),
        ("line-is-written-when-one-has", a_job_goes_back_to_disk_only_if_nothing_was_printed_since),
    ];
    for (mistake, check) in checks {
        choose(Some(mistake));
        let failed = std::panic::catch_unwind(check).is_err();
        choose(None);
        assert!(failed, "{mistake}");
    }
}
