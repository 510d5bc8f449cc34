//! The exact actions of each call and frame.

use super::*;

#[test]
fn a_short_message_leaves_at_once_and_one_above_the_limit_is_announced() {
    let mut rank = Driven::new(0);
    let short = rank.send(Mode::Standard, 1, 7, EAGER_MAX);
    assert_eq!(rank.actions(), [sent(1, head(0, 7, 0, EAGER_MAX), Body::Eager(memory(EAGER_MAX)))]);
    assert_eq!(rank.engine.test(short), Ok(Some(Status::EMPTY)));

    let long = rank.send(Mode::Standard, 1, 8, EAGER_MAX + 1);
    let announce = Body::Announce { send: long, synchronous: false, loan: None };
    assert_eq!(rank.actions(), [sent(1, head(0, 8, 1, EAGER_MAX + 1), announce)]);
    assert_eq!(rank.engine.test(long), Ok(None));
}

#[test]
fn buffered_sends_never_wait_and_synchronous_ones_always_do() {
    let mut rank = Driven::new(0);
    let buffered = rank.send(Mode::Buffered, 1, 0, 1 << 20);
    assert_eq!(rank.actions(), [sent(1, head(0, 0, 0, 1 << 20), Body::Eager(memory(1 << 20)))]);
    assert_eq!(rank.engine.test(buffered), Ok(Some(Status::EMPTY)));

    let send = rank.send(Mode::Synchronous, 1, 0, 0);
    assert_eq!(
        rank.actions(),
        [sent(1, head(0, 0, 1, 0), Body::Announce { send, synchronous: true, loan: None })]
    );
    assert_eq!(rank.engine.test(send), Ok(None));
}

#[test]
fn a_posted_receive_gets_its_message_as_it_comes() {
    let mut rank = Driven::new(1);
    let request = rank.receive(Some(0), Some(7), 8);
    assert_eq!(rank.actions(), []);
    rank.frame(eager(0, 7, 0, b"12345678"));
    assert_eq!(rank.actions(), [delivered(b"12345678", 8)]);
    assert_eq!(rank.engine.test(request), Ok(Some(status(0, 7, 8))));
    assert_eq!(rank.engine.test(request), Err(UnknownRequest(request)), "it is gone");
}

#[test]
fn an_unexpected_message_waits_for_its_receive() {
    let mut rank = Driven::new(1);
    rank.frame(eager(0, 7, 0, b"abc"));
    assert_eq!(rank.actions(), []);
    assert_eq!(rank.engine.probe(&pattern(None, None)), Some(status(0, 7, 3)));
    let request = rank.receive(None, None, 100);
    assert_eq!(rank.actions(), [delivered(b"abc", 100)]);
    assert_eq!(rank.engine.test(request), Ok(Some(status(0, 7, 3))));
}

#[test]
fn contexts_sources_and_tags_keep_messages_apart() {
    let mut rank = Driven::new(1);
    let mut elsewhere = eager(0, 7, 0, b"other");
    elsewhere.head.context = 6;
    rank.frame(elsewhere);
    rank.frame(eager(0, 8, 0, b"tag"));
    rank.frame(eager(2, 7, 0, b"source"));
    rank.receive(Some(0), Some(7), 8);
    assert_eq!(rank.actions(), []);
    rank.frame(eager(0, 7, 1, b"it"));
    assert_eq!(rank.actions(), [delivered(b"it", 8)]);
}

#[test]
fn the_receive_posted_first_wins_whether_from_one_or_from_any() {
    let mut rank = Driven::new(1);
    let any = rank.receive(None, Some(7), 4);
    let one = rank.receive(Some(0), None, 5);
    let last = rank.receive(None, None, 6);
    for number in 0..3 {
        rank.frame(eager(0, 7, number, b"x"));
    }
    assert_eq!(rank.actions(), [delivered(b"x", 4), delivered(b"x", 5), delivered(b"x", 6)]);
    for request in [any, one, last] {
        assert_eq!(rank.engine.test(request), Ok(Some(status(0, 7, 1))));
    }
}

#[test]
fn frames_that_come_early_wait_for_those_before_them() {
    let mut rank = Driven::new(1);
    rank.receive(Some(0), None, 8);
    rank.frame(eager(0, 2, 2, b"third"));
    rank.frame(eager(0, 1, 1, b"second"));
    assert_eq!((rank.actions(), rank.engine.early()), (vec![], 2));
    rank.moved();
    rank.frame(eager(0, 0, 0, b"first"));
    assert_eq!((rank.actions(), rank.engine.early()), (vec![delivered(b"first", 8)], 0));
    let tags: Vec<_> = rank.engine.unexpected().map(|head| head.tag).collect();
    assert_eq!(tags, [1, 2]);
}

#[test]
fn numbers_wrap_around() {
    let mut rank = Driven::new(1);
    rank.engine.order.begin_at(5, 0, u32::MAX);
    rank.frame(eager(0, 0, 0, b"later"));
    rank.frame(eager(0, 1, u32::MAX, b"sooner"));
    let tags: Vec<_> = rank.engine.unexpected().map(|head| head.tag).collect();
    assert_eq!(tags, [1, 0]);
    rank.send(Mode::Standard, 0, 0, 0);
    rank.send(Mode::Standard, 0, 0, 0);
    let numbers = rank.actions().into_iter().map(|action| match action {
        Action::Send { frame, .. } => frame.head.number,
        other => panic!("{other:?}"),
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [u32::MAX, 0]);
}

#[test]
fn frames_that_no_peer_sends_are_refused() {
    let mut rank = Driven::new(1);
    rank.frame(eager(0, 7, 0, b""));
    rank.frame(eager(0, 7, 2, b""));
    for number in [0, 2] {
        let error = rank.engine.on_frame(eager(0, 7, number, b""), &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), format!("frame {number} of rank 0 in context 5 came twice"));
    }
    let data = Body::Data { receive: token(3), payload: Payload::of(b"ab") };
    let error =
        rank.engine.on_frame(Frame { head: head(0, 0, 0, 2), body: data }, &mut Vec::new()).unwrap_err();
    assert_eq!(error, FrameError::NotPulled { source_rank: 0, bytes: 2 });
    let mut lying = eager(0, 7, 1, b"abc");
    lying.head.bytes = 4;
    let error = rank.engine.on_frame(lying, &mut Vec::new()).unwrap_err();
    assert_eq!(error, FrameError::Length { source_rank: 0, head: 4, here: 3 });
}

#[test]
fn an_announced_message_is_pulled_when_it_is_matched() {
    let (mut sender, mut receiver) = (Driven::new(0), Driven::new(1));
    let send = sender.send(Mode::Standard, 1, 7, 9_000);
    sender.actions();
    receiver.frame(announce(0, 7, 0, 9_000, send.index));
    assert_eq!(receiver.actions(), []);
    let receive = receiver.receive(Some(0), Some(7), 10_000);
    let pull = Body::Pull { send, receive };
    assert_eq!(receiver.actions(), [sent(0, head(1, 0, 0, 0), pull)]);
    receiver.moved();

    sender.moved();
    sender.frame(Frame { head: head(1, 0, 0, 0), body: Body::Pull { send, receive } });
    let data = Body::Data { receive, payload: memory(9_000) };
    assert_eq!(sender.actions(), [sent(1, head(0, 7, 0, 9_000), data)]);
    assert_eq!(sender.engine.test(send), Ok(Some(Status::EMPTY)));

    let bytes = vec![1; 9_000];
    let data = Body::Data { receive, payload: Payload::of(&bytes) };
    receiver.frame(Frame { head: head(0, 7, 0, 9_000), body: data });
    assert_eq!(receiver.actions(), [delivered(&bytes, 10_000)]);
    assert_eq!(receiver.engine.test(receive), Ok(Some(status(0, 7, 9_000))));
}

#[test]
fn a_message_longer_than_its_buffer_is_an_error_that_names_both() {
    let mut rank = Driven::new(1);
    let request = rank.receive(Some(0), Some(7), 2);
    rank.frame(eager(0, 7, 0, b"four"));
    let status = rank.engine.test(request).unwrap().unwrap();
    assert_eq!((status.bytes, status.truncated), (4, Some(Truncated { message: 4, buffer: 2 })));
    let text = status.truncated.unwrap().to_string();
    assert_eq!(text, "a message of 4 bytes does not fit into a buffer of 2 bytes");
}

#[test]
fn a_matched_probe_takes_the_message_out() {
    let mut rank = Driven::new(1);
    rank.frame(eager(0, 7, 0, b"one"));
    rank.frame(eager(0, 7, 1, b"two!"));
    let (held, found) = rank.engine.matched_probe(&pattern(Some(0), None)).unwrap();
    assert_eq!(found, status(0, 7, 3));
    rank.receive(Some(0), Some(7), 8);
    assert_eq!(rank.actions(), [delivered(b"two!", 8)]);
    rank.moved();
    let mut out = Vec::new();
    let request = rank.engine.receive_held(held, memory(8), USER, &mut out).unwrap();
    assert_eq!(out, [delivered(b"one", 8)]);
    assert_eq!(rank.engine.test(request), Ok(Some(status(0, 7, 3))));
    assert_eq!(rank.engine.receive_held(held, memory(8), USER, &mut out), None);
}

#[test]
fn persistent_requests_start_again_and_again() {
    let mut rank = Driven::new(0);
    let send = rank.engine.send_init(Mode::Standard, envelope(1, 7), memory(4));
    let receive = rank.engine.receive_init(pattern(Some(1), None), memory(4));
    assert_eq!(rank.engine.test(send), Ok(Some(Status::EMPTY)), "inactive");
    for number in 0..3 {
        let mut out = Vec::new();
        assert_eq!(rank.engine.start(send, &mut out), Ok(false));
        assert_eq!(out, [sent(1, head(0, 7, number, 4), Body::Eager(memory(4)))]);
        assert_eq!(rank.engine.start(receive, &mut out), Ok(false));
        assert_eq!(rank.engine.start(receive, &mut out), Err(StartError::Active));
        rank.frame(eager(1, 9, number, b"back"));
        assert_eq!(rank.actions(), [delivered(b"back", 4)]);
        let both = [Some(send), Some(receive)];
        assert_eq!(rank.engine.test_all(&both), Ok(Some(vec![Status::EMPTY, status(1, 9, 4)])));
    }
    rank.engine.free(send).unwrap();
    assert_eq!(rank.engine.test(send), Err(UnknownRequest(send)));
    let once = rank.send(Mode::Standard, 1, 0, 0);
    assert_eq!(rank.engine.start(once, &mut Vec::new()), Err(StartError::NotPersistent));
}

#[test]
fn a_freed_receive_still_takes_its_message() {
    let mut rank = Driven::new(1);
    let freed = rank.receive(Some(0), None, 8);
    rank.engine.free(freed).unwrap();
    rank.frame(eager(0, 7, 0, b"x"));
    assert_eq!(rank.actions(), [delivered(b"x", 8)]);
    assert_eq!(rank.engine.test(freed), Err(UnknownRequest(freed)));
}

#[test]
fn what_a_collective_waits_for_is_told_at_once() {
    let (mut rank, mut out) = (Driven::new(1), Vec::new());
    rank.engine.receive(pattern(Some(0), None), memory(8), Owner::Schedule(4), &mut out);
    rank.frame(eager(0, 7, 0, b"x"));
    rank.engine.send(Mode::Standard, envelope(0, 1), memory(8), Owner::Schedule(5), &mut out);
    let finished: Vec<_> = std::iter::from_fn(|| rank.engine.next_finished()).collect();
    assert_eq!(finished, [(4, status(0, 7, 1)), (5, Status::EMPTY)]);
    assert_eq!(rank.engine.requests.iter().count(), 0);
}

#[test]
fn blocking_calls_need_no_request_for_what_ends_at_once() {
    let (mut rank, mut out) = (Driven::new(1), Vec::new());
    let engine = &mut rank.engine;
    assert_eq!(
        engine.begin_blocking_send(Mode::Ready, envelope(0, 3), memory(8), &mut out),
        Begun::Done(Status::EMPTY)
    );
    assert_eq!(std::mem::take(&mut out), [sent(0, head(1, 3, 0, 8), Body::Eager(memory(8)))]);
    let Begun::Pending(send) =
        engine.begin_blocking_send(Mode::Synchronous, envelope(0, 3), memory(8), &mut out)
    else {
        panic!("it waits for its match")
    };
    assert_eq!(
        std::mem::take(&mut out),
        [sent(0, head(1, 3, 1, 8), Body::Announce { send, synchronous: true, loan: None })]
    );

    let Begun::Pending(first) = engine.begin_blocking_receive(pattern(Some(0), None), memory(2), &mut out)
    else {
        panic!("nothing is here")
    };
    rank.frame(eager(0, 7, 0, b"ab"));
    rank.frame(eager(0, 7, 1, b"cdef"));
    assert_eq!(rank.engine.test(first), Ok(Some(status(0, 7, 2))));
    let begun = rank.engine.begin_blocking_receive(pattern(Some(0), None), memory(2), &mut out);
    assert_eq!(out, [delivered(b"cdef", 2)]);
    let truncated = Some(Truncated { message: 4, buffer: 2 });
    assert_eq!(begun, Begun::Done(Status { truncated, ..status(0, 7, 4) }));
    rank.frame(announce(0, 7, 2, 9_000, 4));
    let begun = rank.engine.begin_blocking_receive(pattern(Some(0), None), memory(2), &mut out);
    assert!(matches!(begun, Begun::Pending(_)), "its bytes have to be pulled");
}

#[test]
fn a_whole_message_meets_its_receive_only_when_its_turn_is_now_and_nothing_waits_behind_it() {
    let mut rank = Driven::new(1);
    let (first, second, last) = (eager(0, 7, 0, b"1st"), eager(0, 7, 1, b"2nd"), eager(0, 7, 2, b"3rd"));
    let meet = |rank: &mut Driven, frame: &Frame<Payload>| match &frame.body {
        Body::Eager(payload) => rank.engine.meet(&frame.head, payload.len()),
        _ => None,
    };
    assert_eq!(meet(&mut rank, &first), None, "nobody waits for it");
    let one = rank.receive(Some(0), Some(7), 2);
    let two = rank.receive(None, None, 8);
    assert_eq!(meet(&mut rank, &second), None, "another one comes before");
    rank.frame(second);
    assert_eq!(meet(&mut rank, &first), None, "another one waits behind it");
    rank.frame(first);
    assert_eq!(rank.actions(), [delivered(b"1st", 2), delivered(b"2nd", 8)]);

    let three = rank.receive(Some(0), None, 8);
    let met = Met::Posted(three);
    assert_eq!(meet(&mut rank, &last), Some((met, memory(8))));
    rank.engine.met(&last.head, met, &memory(8), &mut rank.out);
    assert_eq!(rank.actions(), [], "its bytes are there");
    assert_eq!(rank.engine.test(three), Ok(Some(status(0, 7, 3))));
    assert!(rank.engine.on_frame(last, &mut Vec::new()).is_err(), "it comes once");
    assert!([one, two].map(|request| rank.engine.test(request).unwrap().is_some()) == [true, true]);
}

#[test]
fn a_whole_message_meets_a_receive_that_is_not_posted_unless_another_one_gets_it() {
    let mut rank = Driven::new(1);
    let messages = [eager(0, 7, 0, b"1st"), eager(0, 8, 1, b"2nd"), eager(0, 7, 2, b"3rd")];
    let [first, second, third] = messages.map(|frame| frame.head);
    let meet = |rank: &mut Driven, tag: i32, head: &Head, bytes: u64| {
        rank.engine.meet_unposted((&pattern(None, Some(tag)), &memory(2)), head, bytes)
    };
    assert_eq!(meet(&mut rank, 8, &first, 3), None, "it is for another tag");
    assert_eq!(meet(&mut rank, 7, &first, 4), None, "its length is another");
    assert_eq!(meet(&mut rank, 8, &second, 3), None, "another one comes before");
    let truncated = Some(Truncated { message: 3, buffer: 2 });
    assert_eq!(meet(&mut rank, 7, &first, 3), Some(Status { truncated, ..status(0, 7, 3) }));
    assert_eq!(meet(&mut rank, 7, &first, 3), None, "it comes once");

    for source in [Some(0), None] {
        let posted = rank.receive(source, Some(8), 8);
        assert_eq!(meet(&mut rank, 8, &second, 3), None, "it is for the one that was posted before");
        assert_eq!(rank.engine.cancel(posted, &mut rank.out), Ok(()));
    }
    assert!(meet(&mut rank, 8, &second, 3).is_some());
    assert!(!rank.engine.has_for(&pattern(Some(0), None)), "nothing of all that is kept");
    rank.frame(eager(0, 7, 2, b"3rd"));
    assert!(rank.engine.has_for(&pattern(Some(0), None)));
    assert_eq!(meet(&mut rank, 7, &third, 3), None, "it is kept already");
}
