//! A suspended rank is woken once, as soon as what it waits for has come.

use super::*;

#[test]
fn a_rank_that_waits_for_all_wakes_with_the_last() {
    let mut rank = Driven::new(1);
    let (a, b) = (rank.receive(Some(0), Some(1), 8), rank.receive(Some(0), Some(2), 8));
    assert!(!rank.engine.block_on(Condition::All(vec![a, b, a])));
    rank.frame(eager(0, 2, 0, b"b"));
    assert_eq!(rank.actions(), [delivered(b"b", 8)]);
    rank.moved();
    rank.frame(eager(0, 1, 1, b"a"));
    assert_eq!(rank.actions(), [delivered(b"a", 8), Action::Wake]);
    assert_eq!(rank.engine.waits_for(), None);
    assert!(rank.engine.block_on(Condition::All(vec![a, b])), "both have ended");
}

#[test]
fn a_rank_that_waits_for_one_wakes_with_it() {
    let mut rank = Driven::new(1);
    let (a, b) = (rank.receive(Some(0), Some(1), 8), rank.receive(Some(0), Some(2), 8));
    assert!(!rank.engine.block_on(Condition::One(b)));
    rank.frame(eager(0, 1, 0, b"a"));
    assert_eq!(rank.actions(), [delivered(b"a", 8)]);
    rank.frame(eager(0, 2, 1, b"b"));
    assert_eq!(rank.actions(), [delivered(b"b", 8), Action::Wake]);
    assert!(rank.engine.block_on(Condition::One(a)));
}

#[test]
fn a_rank_that_waits_for_any_wakes_with_the_first_and_once() {
    let mut rank = Driven::new(1);
    let (a, b) = (rank.receive(Some(0), Some(1), 8), rank.receive(Some(0), Some(2), 8));
    let both = [None, Some(a), Some(b)];
    assert_eq!(rank.engine.test_any(&both), Ok(AnyOf::Pending));
    assert!(!rank.engine.block_on(Condition::Any(vec![a, b])));
    rank.frame(eager(0, 2, 0, b"b"));
    assert_eq!(rank.actions(), [delivered(b"b", 8), Action::Wake]);
    rank.frame(eager(0, 1, 1, b"a"));
    assert_eq!(rank.actions(), [delivered(b"a", 8)]);
    assert_eq!(rank.engine.test_any(&both), Ok(AnyOf::Done(1, status(0, 1, 1))));
    assert_eq!(rank.engine.test_some(&[Some(b)]), Ok(Some(vec![(0, status(0, 2, 1))])));
    assert_eq!(rank.engine.test_any(&[None]), Ok(AnyOf::Nothing));
    assert_eq!(rank.engine.test_some(&[None]), Ok(None));
}

#[test]
fn a_rank_that_probes_wakes_when_a_message_is_there_that_nobody_has_posted_for() {
    let mut rank = Driven::new(1);
    rank.receive(Some(0), Some(1), 8);
    assert!(!rank.engine.block_on(Condition::Message(pattern(Some(0), None))));
    rank.frame(eager(2, 1, 0, b"from another"));
    rank.frame(eager(0, 1, 0, b"received"));
    assert_eq!(rank.actions(), [delivered(b"received", 8)]);
    rank.frame(announce(0, 1, 1, 9_000, 0));
    assert_eq!(rank.actions(), [Action::Wake]);
    assert!(rank.engine.block_on(Condition::Message(pattern(Some(0), None))));
}

#[test]
fn nobody_waits_for_inactive_and_null_requests() {
    let mut rank = Driven::new(1);
    let idle = rank.engine.receive_init(pattern(Some(0), None), memory(8));
    let null = rank.engine.null();
    assert!(rank.engine.block_on(Condition::All(vec![idle, null])));
    assert!(rank.engine.block_on(Condition::Any(vec![idle])));
    assert_eq!(rank.engine.test(null), Ok(Some(Status::EMPTY)));
}

#[test]
fn requests_that_others_finish() {
    let mut rank = Driven::new(1);
    let request = rank.engine.open(USER);
    assert!(!rank.engine.block_on(Condition::All(vec![request])));
    let mut out = Vec::new();
    rank.engine.finish(request, status(0, 0, 3), &mut out);
    assert_eq!(out, [Action::Wake]);
    assert_eq!(rank.engine.test(request), Ok(Some(status(0, 0, 3))));
    let again = rank.engine.open_init(USER);
    assert_eq!(rank.engine.start(again, &mut out), Ok(true));
    assert_eq!(rank.engine.start(again, &mut out), Err(StartError::Active));
}
