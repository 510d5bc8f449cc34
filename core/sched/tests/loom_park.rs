//! Every interleaving of going to sleep and sending, as the model checker `loom` sees it: it reports a deadlock
//! if a wake-up is lost.

#[allow(dead_code, unused_imports, unreachable_pub, reason = "a model uses a part of what it includes")]
#[path = "model/sync.rs"]
mod sync;

#[allow(dead_code, reason = "a model uses a part of what it includes")]
#[path = "../src/ring.rs"]
mod ring;

#[allow(dead_code, reason = "a model uses a part of what it includes")]
#[path = "../src/park.rs"]
mod park;

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use park::{Parker, Woken};
use ring::{Consumer, Producer, ring};
use sync::Side;

const NO_TIMEOUT: Option<Duration> = None;

/// A search with at most two involuntary switches, which finds a missing fence, look or call in a second. The
/// full search of two messages takes minutes; it was run once, and found nothing.
fn bounded_model() -> loom::model::Builder {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model
}

/// A PE that sends one message.
fn send_one(mut producer: Producer, receiver: &Parker) {
    producer.try_push([7; 7]).expect("the ring has room");
    receiver.unpark_if_parked();
}

/// A PE that sleeps whenever its rings are empty, until it has `count` messages.
fn receive(count: usize, rings: &mut [Consumer], parker: &Parker) {
    let mut seen = 0;
    while seen < count {
        let drained: usize = rings.iter_mut().map(|ring| ring.drain(2, |_| ())).sum();
        seen += drained;
        if drained == 0 {
            let _ = parker.park(|| rings.iter().any(|ring| !ring.is_empty()), NO_TIMEOUT);
        }
    }
}

#[test]
fn no_wake_up_is_lost() {
    loom::model(|| {
        let (producer, consumer) = ring(2);
        let parker = Arc::new(Parker::new());
        let receiver = Arc::clone(&parker);
        let sending = thread::spawn(move || send_one(producer, &receiver));
        receive(1, &mut [consumer], &parker);
        sending.join().unwrap();
    });
}

#[test]
fn no_wake_up_is_lost_between_two_messages() {
    bounded_model().check(|| {
        let (mut producer, consumer) = ring(2);
        let parker = Arc::new(Parker::new());
        let receiver = Arc::clone(&parker);
        let sending = thread::spawn(move || {
            for _ in 0..2 {
                producer.try_push([7; 7]).expect("the ring has room");
                receiver.unpark_if_parked();
            }
        });
        receive(2, &mut [consumer], &parker);
        sending.join().unwrap();
    });
}

#[test]
fn no_wake_up_is_lost_among_two_senders() {
    bounded_model().check(|| {
        let parker = Arc::new(Parker::new());
        let (mut consumers, mut senders) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let (producer, consumer) = ring(2);
            let receiver = Arc::clone(&parker);
            consumers.push(consumer);
            senders.push(thread::spawn(move || send_one(producer, &receiver)));
        }
        receive(2, &mut consumers, &parker);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// Whether there is an order of events in which a PE sleeps on with a message in its ring and no call to come.
fn sleeps_on(last_look: fn(&Consumer) -> bool) -> bool {
    let found = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let finding = found.clone();
    loom::model(move || {
        let called = Arc::new(AtomicUsize::new(0));
        let calling = Arc::clone(&called);
        let parker = Arc::new(Parker::with_bell(move || calling.store(1, Ordering::Relaxed)));
        let (producer, consumer) = ring(2);
        let receiver = Arc::clone(&parker);
        let sending = thread::spawn(move || send_one(producer, &receiver));
        // The sleep lasts until the sender has done all it will do: by then it must have called.
        let woken = parker.park_in(|| last_look(&consumer), || sending.join().unwrap());
        if woken != Woken::NotParked && called.load(Ordering::Relaxed) == 0 {
            finding.store(true, Ordering::Relaxed);
        }
    });
    found.load(Ordering::Relaxed)
}

#[test]
fn the_last_look_and_both_fences_are_needed() {
    let last_look = |consumer: &Consumer| !consumer.is_empty();
    assert!(!sleeps_on(last_look));
    assert!(sleeps_on(|_| false));
    assert!(sync::without_fence(Side::Light, || sleeps_on(last_look)));
    assert!(sync::without_fence(Side::Heavy, || sleeps_on(last_look)));
}

#[test]
fn one_sleep_is_ended_by_one_sender() {
    bounded_model().check(|| {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let parker = Arc::new(Parker::with_bell(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        let senders = [(); 2].map(|()| {
            let parker = Arc::clone(&parker);
            thread::spawn(move || parker.unpark_if_parked())
        });
        let woken = parker.park_in(|| false, thread::yield_now);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        match woken {
            Woken::BySender => assert_eq!(calls.load(Ordering::Relaxed), 1),
            _ => assert_eq!(calls.load(Ordering::Relaxed), 0),
        }
    });
}

#[test]
fn a_sleep_that_times_out_hides_no_message() {
    loom::model(|| {
        let (producer, mut consumer) = ring(2);
        let parker = Arc::new(Parker::new());
        let receiver = Arc::clone(&parker);
        let sending = thread::spawn(move || send_one(producer, &receiver));
        let woken = parker.park(|| !consumer.is_empty(), Some(Duration::ZERO));
        if woken != Woken::ByItself {
            assert_eq!(consumer.pop(), Some([7; 7]));
        }
        sending.join().unwrap();
    });
}
