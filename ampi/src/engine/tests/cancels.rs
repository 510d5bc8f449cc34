//! Taking back, and paying before a move: whichever frame comes first.

use super::*;

/// A receiver of rank 0's announced message, and the sender.
fn announced(mode: Mode) -> (Driven, Driven, Token) {
    let (mut sender, mut receiver) = (Driven::new(0), Driven::new(1));
    let send = sender.send(mode, 1, 7, 9_000);
    carry(&mut sender, &mut receiver);
    (sender, receiver, send)
}

/// Delivers what one has sent to the other, each payload being as long as its buffer.
fn carry(from: &mut Driven, to: &mut Driven) {
    for action in from.actions() {
        if let Action::Send { frame, .. } = action {
            to.frame(frame.map(|buffer| Payload::of(&vec![7; buffer.bytes as usize])));
        }
    }
}

#[test]
fn a_posted_receive_is_taken_back_and_a_matched_one_is_not() {
    let mut rank = Driven::new(1);
    let (first, second) = (rank.receive(Some(0), None, 8), rank.receive(Some(0), None, 9));
    rank.cancel(first);
    rank.frame(eager(0, 7, 0, b"x"));
    rank.cancel(second);
    assert_eq!(rank.actions(), [delivered(b"x", 9)]);
    assert_eq!(rank.engine.test(first), Ok(Some(Status::CANCELLED)));
    assert_eq!(rank.engine.test(second), Ok(Some(status(0, 7, 1))));
}

#[test]
fn an_announced_send_is_taken_back_if_nobody_has_matched_it() {
    let (mut sender, mut receiver, send) = announced(Mode::Standard);
    sender.cancel(send);
    carry(&mut sender, &mut receiver);
    assert_eq!(receiver.engine.probe(&pattern(None, None)), None);
    carry(&mut receiver, &mut sender);
    assert_eq!(sender.engine.test(send), Ok(Some(Status::CANCELLED)));
}

#[test]
fn a_send_that_was_matched_is_not_taken_back() {
    let (mut sender, mut receiver, send) = announced(Mode::Standard);
    let receive = receiver.receive(None, None, 9_000);
    sender.cancel(send);
    carry(&mut sender, &mut receiver);
    carry(&mut receiver, &mut sender);
    assert_eq!(sender.engine.test(send), Ok(Some(Status::EMPTY)), "the pull came before the answer");
    carry(&mut sender, &mut receiver);
    assert_eq!(receiver.engine.test(receive), Ok(Some(status(0, 7, 9_000))));
}

#[test]
fn a_rank_that_leaves_pays_what_it_has_announced() {
    let (mut sender, mut receiver, send) = announced(Mode::Standard);
    sender.pay();
    let paid = Body::Paid { send, payload: memory(9_000) };
    assert_eq!(sender.actions(), [sent(1, head(0, 7, 1, 9_000), paid)]);
    assert_eq!(sender.engine.test(send), Ok(Some(Status::EMPTY)));
    sender.pay();
    assert_eq!(sender.actions(), [], "once");

    let bytes = vec![3; 9_000];
    let paid = Body::Paid { send, payload: Payload::of(&bytes) };
    receiver.frame(Frame { head: head(0, 7, 1, 9_000), body: paid });
    receiver.moved();
    let receive = receiver.receive(None, None, 9_000);
    assert_eq!(receiver.actions(), [delivered(&bytes, 9_000)], "nothing is pulled");
    assert_eq!(receiver.engine.test(receive), Ok(Some(status(0, 7, 9_000))));
}

#[test]
fn a_payment_that_crosses_the_pull_is_received_once() {
    for mode in [Mode::Standard, Mode::Synchronous] {
        let (mut sender, mut receiver, send) = announced(mode);
        let receive = receiver.receive(None, None, 9_000);
        sender.pay();
        carry(&mut sender, &mut receiver);
        assert!(receiver.engine.test(receive).unwrap().is_some());
        carry(&mut receiver, &mut sender);
        assert_eq!(sender.actions(), [], "no data a second time");
        assert_eq!(sender.engine.test(send), Ok(Some(Status::EMPTY)));
    }
}

#[test]
fn a_synchronous_send_that_was_paid_still_waits_for_its_match() {
    let (mut sender, mut receiver, send) = announced(Mode::Synchronous);
    sender.pay();
    carry(&mut sender, &mut receiver);
    assert_eq!(sender.engine.test(send), Ok(None));
    let receive = receiver.receive(None, None, 9_000);
    assert!(receiver.engine.test(receive).unwrap().is_some(), "the bytes are there");
    carry(&mut receiver, &mut sender);
    assert_eq!(sender.engine.test(send), Ok(Some(Status::EMPTY)));
}

#[test]
fn a_persistent_send_does_not_meet_the_pull_of_the_one_before() {
    let (mut sender, mut receiver) = (Driven::new(0), Driven::new(1));
    let send = sender.engine.send_init(Mode::Standard, envelope(1, 7), memory(9_000));
    sender.start(send);
    carry(&mut sender, &mut receiver);
    let first = receiver.receive(None, None, 9_000);
    let pull = receiver.actions();
    sender.pay();
    assert_eq!(
        sender.engine.test(send),
        Ok(None),
        "begun again now, it would be taken for the one that is pulled"
    );
    carry(&mut sender, &mut receiver);
    assert!(receiver.engine.test(first).unwrap().is_some());
    for action in pull {
        let Action::Send { frame, .. } = action else { panic!("{action:?}") };
        sender.frame(frame.map(|_| unreachable!("a pull has no bytes")));
    }
    assert_eq!(sender.engine.test(send), Ok(Some(Status::EMPTY)));
    sender.start(send);
    carry(&mut sender, &mut receiver);
    assert!(receiver.engine.probe(&pattern(None, None)).is_some(), "the next one is a message of its own");
}

#[test]
fn a_send_whose_bytes_were_read_where_they_are_has_ended() {
    let (mut sender, mut receiver, send) = announced(Mode::Standard);
    let receive = receiver.receive(None, None, 10_000);
    // As much as there is, not as there is room for.
    assert_eq!(receiver.engine.pulls_into(receive), Some(Buffer { bytes: 9_000, ..memory(10_000) }));
    receiver.took(receive);
    assert_eq!(receiver.engine.test(receive), Ok(Some(status(0, 7, 9_000))));
    let taken = Frame { head: Head { number: 0, ..head(1, 0, 0, 0) }, body: Body::Taken { send } };
    sender.frame(taken.clone());
    assert_eq!(sender.engine.test(send), Ok(Some(Status::EMPTY)));
    assert_eq!(sender.actions(), [], "nothing is sent");
    // One that was paid for meanwhile has ended before, or ends now.
    let (mut sender, _, send) = announced(Mode::Synchronous);
    sender.pay();
    sender.frame(taken);
    assert_eq!(sender.engine.test(send), Ok(Some(Status::EMPTY)));
}

#[test]
fn a_payment_for_a_message_that_a_probe_has_taken_out_finds_it() {
    let (mut sender, mut receiver, _) = announced(Mode::Standard);
    let (held, _) = receiver.engine.matched_probe(&pattern(None, None)).unwrap();
    sender.pay();
    carry(&mut sender, &mut receiver);
    let mut out = Vec::new();
    receiver.engine.receive_held(held, memory(9_000), USER, &mut out).unwrap();
    assert_eq!(out, [delivered(&vec![7; 9_000], 9_000)]);
}

#[test]
fn a_send_that_is_taken_back_while_its_rank_leaves_is_either_received_or_cancelled() {
    for matched in [false, true] {
        let (mut sender, mut receiver, send) = announced(Mode::Standard);
        sender.cancel(send);
        sender.pay();
        assert_eq!(sender.engine.test(send), Ok(None), "the answer decides");
        let receive = matched.then(|| receiver.receive(None, None, 9_000));
        let pull = receiver.actions();
        carry(&mut sender, &mut receiver);
        carry(&mut receiver, &mut sender);
        for action in pull {
            let Action::Send { frame, .. } = action else { panic!("{action:?}") };
            sender.frame(frame.map(|_| unreachable!("a pull has no bytes")));
        }
        let expected = if matched { Status::EMPTY } else { Status::CANCELLED };
        assert_eq!(sender.engine.test(send), Ok(Some(expected)));
        let received = receive.map(|receive| receiver.engine.test(receive).unwrap().is_some());
        assert_eq!(received, matched.then_some(true));
        assert_eq!(receiver.engine.unexpected().count(), 0);
    }
}
