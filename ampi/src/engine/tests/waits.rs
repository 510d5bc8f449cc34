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

#[test]
fn a_rank_that_waits_for_the_message_of_its_call_gets_it_behind_receives_that_were_posted_before() {
    let mut rank = Driven::new(1);
    let wanted = pattern(Some(0), None);
    let before = rank.receive(Some(0), Some(1), 8);
    rank.engine.await_message(wanted, memory(2));
    rank.moved();
    assert_eq!(rank.engine.blocked_on(), [Doing::Receive(wanted)]);
    assert!(!rank.engine.is_idle());
    rank.frame(eager(0, 1, 0, b"to another"));
    rank.frame(eager(2, 1, 0, b"from another"));
    assert_eq!(rank.actions(), [delivered(b"to another", 8)]);
    assert!(!rank.engine.has_received());
    rank.frame(eager(0, 1, 1, b"here"));
    assert_eq!(rank.actions(), [delivered(b"here", 2), Action::Wake]);
    rank.moved();
    assert!(rank.engine.has_received());
    assert_eq!(rank.engine.waits_for(), None);
    let truncated = Some(Truncated { message: 4, buffer: 2 });
    assert_eq!(rank.engine.end_awaited(), Ok(Status { truncated, ..status(0, 1, 4) }));
    assert!(rank.engine.end_awaited().is_err(), "it is told once");
    assert!(rank.engine.test(before).unwrap().is_some());
}

#[test]
fn a_message_that_meets_the_call_is_told_to_who_drives_the_rank_without_an_action() {
    let mut rank = Driven::new(1);
    rank.engine.await_message(pattern(None, Some(1)), memory(8));
    let (other, wanted) = (head(0, 2, 0, 3), head(0, 1, 0, 3));
    assert_eq!(rank.engine.meet(&other, 3), None);
    assert_eq!(rank.engine.meet(&wanted, 2), None, "it is not whole");
    let (met, into) = rank.engine.meet(&wanted, 3).expect("it is waited for");
    assert_eq!((met, into), (Met::Awaited, memory(8)));
    rank.engine.met(&wanted, met, &into, &mut rank.out);
    assert_eq!(rank.actions(), []);
    assert!(rank.engine.has_received());
    assert_eq!(rank.engine.end_awaited(), Ok(status(0, 1, 3)));
}

#[test]
fn the_call_becomes_a_request_where_its_message_is_announced_or_another_receive_begins() {
    let mut rank = Driven::new(1);
    rank.engine.await_message(pattern(Some(0), Some(1)), memory(100));
    rank.frame(announce(0, 1, 0, 9, 4));
    let asked = rank.actions();
    let [Action::Send { to: 0, frame: Frame { body: Body::Pull { receive, .. }, .. } }] = asked[..] else {
        panic!("its bytes are asked for: {asked:?}")
    };
    assert!(matches!(rank.engine.waits_for(), Some(Condition::One(request)) if *request == receive));
    rank.moved();
    let data = Body::Data { receive, payload: Payload::of(b"the bytes") };
    rank.frame(Frame { head: head(0, 0, 0, 9), body: data });
    assert_eq!(rank.actions(), [delivered(b"the bytes", 100), Action::Wake]);
    assert_eq!(rank.engine.end_awaited(), Ok(status(0, 1, 9)));

    rank.engine.await_message(pattern(Some(0), None), memory(8));
    let behind = rank.receive(Some(0), None, 8);
    rank.frame(eager(0, 7, 1, b"1st"));
    assert_eq!(rank.engine.test(behind), Ok(None));
    assert_eq!(rank.engine.end_awaited(), Ok(status(0, 7, 3)));
    rank.frame(eager(0, 7, 2, b"2nd"));
    assert_eq!(rank.engine.test(behind), Ok(Some(status(0, 7, 3))));
}
