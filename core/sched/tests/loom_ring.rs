//! Every interleaving of the two ends of a ring of two slots, as the model checker `loom` sees it.

// The model's `sync` and the included source serve several tests; each uses a part.
#[allow(dead_code, unused_imports, unreachable_pub, reason = "a model uses a part of what it includes")]
#[path = "model/sync.rs"]
mod sync;

#[allow(dead_code, reason = "a model uses a part of what it includes")]
#[path = "../src/ring.rs"]
mod ring;

use loom::thread;
use ring::{Consumer, Producer, Words, ring};

/// Seven words that all differ from those of any other message, so that a torn or stale one shows.
fn message(number: u64) -> Words {
    std::array::from_fn(|word| number * 10 + word as u64)
}

/// Pushes messages 1..=count, waiting for room.
fn push_all(mut producer: Producer, count: u64) {
    for number in 1..=count {
        while producer.try_push(message(number)).is_err() {
            thread::yield_now();
        }
    }
}

/// Pops messages 1..=count by `take` and finds each whole and in order.
fn pop_all(mut consumer: Consumer, count: u64, mut take: impl FnMut(&mut Consumer, &mut dyn FnMut(&Words))) {
    let mut seen = 0;
    while seen < count {
        take(&mut consumer, &mut |words| {
            seen += 1;
            assert_eq!(*words, message(seen));
        });
        if seen < count {
            thread::yield_now();
        }
    }
    assert!(consumer.is_empty());
}

#[test]
fn messages_pass_whole_and_in_order_around_the_end() {
    loom::model(|| {
        let (producer, consumer) = ring(2);
        let pushing = thread::spawn(move || push_all(producer, 3));
        pop_all(consumer, 3, |consumer, check| {
            if let Some(words) = consumer.pop() {
                check(&words);
            }
        });
        pushing.join().unwrap();
    });
}

#[test]
fn drain_hands_out_slots_that_are_not_overwritten_meanwhile() {
    loom::model(|| {
        let (producer, consumer) = ring(2);
        let pushing = thread::spawn(move || push_all(producer, 3));
        pop_all(consumer, 3, |consumer, check| {
            consumer.drain(2, |words| check(words));
        });
        pushing.join().unwrap();
    });
}

#[test]
fn a_full_ring_gives_the_message_back() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring(2);
        assert_eq!(producer.try_push(message(1)), Ok(()));
        assert_eq!(producer.try_push(message(2)), Ok(()));
        let popping = thread::spawn(move || (consumer.pop(), consumer));
        let third = producer.try_push(message(3));
        let (first, mut consumer) = popping.join().unwrap();
        assert_eq!(first, Some(message(1)));
        assert_eq!(consumer.pop(), Some(message(2)));
        match third {
            Ok(()) => assert_eq!(consumer.pop(), Some(message(3))),
            Err(words) => assert_eq!((words, consumer.pop()), (message(3), None)),
        }
    });
}
