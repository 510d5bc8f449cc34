//! Frames that no peer sends, and bytes that are none: refused or without effect, never a panic.

use proptest::prelude::*;
use talisman_pup::{from_bytes, to_bytes};

use super::*;

fn payload() -> impl Strategy<Value = Payload> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60).prop_map(|bytes| Payload::of(&bytes)),
        prop::collection::vec(any::<u8>(), 0..60).prop_map(Payload::Copied),
    ]
}

/// Names of requests, many of them of such as exist.
fn name() -> impl Strategy<Value = Token> {
    (prop_oneof![0..6u32, any::<u32>()], prop_oneof![4 => Just(0), 1 => any::<u32>()])
        .prop_map(|(index, generation)| Token { index, generation })
}

fn body() -> impl Strategy<Value = Body<Payload>> {
    prop_oneof![
        payload().prop_map(Body::Eager),
        (name(), any::<bool>()).prop_map(|(send, synchronous)| Body::Announce {
            send,
            synchronous,
            loan: None
        }),
        (name(), payload()).prop_map(|(send, payload)| Body::Paid { send, payload }),
        name().prop_map(|send| Body::CancelAsk { send }),
        (name(), name()).prop_map(|(send, receive)| Body::Pull { send, receive }),
        (name(), payload()).prop_map(|(receive, payload)| Body::Data { receive, payload }),
        name().prop_map(|send| Body::Taken { send }),
        (name(), any::<bool>()).prop_map(|(send, granted)| Body::CancelAnswer { send, granted }),
    ]
}

fn frame() -> impl Strategy<Value = Frame<Payload>> {
    let length = prop_oneof![3 => Just(None), 1 => any::<u64>().prop_map(Some)];
    (0..3u32, 0..2i32, 0..12u32, length, body()).prop_map(|(source, tag, number, length, body)| {
        let here = match &body {
            Body::Eager(payload) | Body::Paid { payload, .. } | Body::Data { payload, .. } => payload.len(),
            _ => 9_000,
        };
        Frame { head: head(source, tag, number, length.unwrap_or(here)), body }
    })
}

proptest! {
    #[test]
    fn any_frame_is_taken_or_refused(frames in prop::collection::vec(frame(), 0..40)) {
        let mut rank = Driven::new(0);
        let requests = [
            rank.receive(None, Some(1), 20),
            rank.receive(Some(1), None, 20),
            rank.send(Mode::Standard, 1, 0, 9_000),
            rank.send(Mode::Synchronous, 2, 0, 9),
        ];
        assert!(!rank.engine.block_on(Condition::All(requests.to_vec())));
        let mut woken = 0;
        for frame in frames {
            let result = rank.engine.on_frame(frame, &mut rank.out);
            prop_assert!(result.is_ok() || result.is_err_and(|error| error.to_string().contains("rank")));
            woken += rank.actions().iter().filter(|action| **action == Action::Wake).count();
            rank.moved();
        }
        let ended = requests.iter().all(|request| rank.engine.status(*request).unwrap().is_some());
        prop_assert_eq!(woken, usize::from(ended), "woken once, and only when all have ended");
    }

    #[test]
    fn bytes_are_a_frame_or_refused(frame in frame(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = to_bytes(&frame);
        prop_assert_eq!(from_bytes::<Frame<Payload>>(&bytes).unwrap(), frame);
        let at = at.index(bytes.len());
        prop_assert!(from_bytes::<Frame<Payload>>(&bytes[..at]).is_err());
        bytes[at] = byte;
        if let Ok(other) = from_bytes::<Frame<Payload>>(&bytes) {
            prop_assert_eq!(to_bytes(&other), bytes);
        }
    }
}

#[test]
fn a_length_beyond_what_is_inline_is_refused() {
    let mut bytes = to_bytes(&Payload::of(&[7; INLINE_MAX]));
    assert!(matches!(from_bytes(&bytes).unwrap(), Payload::Inline(_)));
    let at = bytes.len() - INLINE_MAX - 1;
    bytes[at] = INLINE_MAX as u8 + 1;
    let error = from_bytes::<Payload>(&bytes).unwrap_err().to_string();
    assert!(error.contains("41 bytes inline, where 40 have room"), "{error}");
}
