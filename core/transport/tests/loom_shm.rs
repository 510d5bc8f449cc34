//! Every interleaving of the two ends of a link through shared memory, and of sleeping and sending between processes, as
//! the model checker `loom` sees it.

#[allow(dead_code, unused_imports, unreachable_pub, reason = "a model uses a part of what it includes")]
#[path = "../../sched/tests/model/sync.rs"]
mod sync;

#[allow(dead_code, reason = "a model uses a part of what it includes")]
#[path = "../../sched/src/park.rs"]
mod park;

#[allow(dead_code, unreachable_pub, missing_docs, reason = "a model uses a part of what it includes")]
#[path = "model/shm.rs"]
mod shm;

use std::ptr::NonNull;
use std::sync::Arc;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use park::{Parker, Woken};
use shm::{Receiver, Sender, direction};
use sync::{AsymmetricFence, Futex, Side};

/// The full search of more than two messages takes minutes.
fn bounded_model() -> loom::model::Builder {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model
}

/// The parkers that two processes make over one word.
fn parkers(bell: impl Fn() + Clone + Send + Sync + 'static) -> [Arc<Parker>; 2] {
    struct Word(Futex);
    let word = Arc::new(Word(Futex::new(0)));
    [(); 2].map(|()| {
        let state = NonNull::from(&word.0);
        // SAFETY: the word is kept, and only parkers use it.
        Arc::new(unsafe { Parker::in_shared_memory(state, word.clone(), AsymmetricFence, bell.clone()) })
    })
}

fn awake() -> Arc<Parker> {
    Arc::new(Parker::with_bell(|| ()))
}

/// A head of so many bytes, none of which is that of another message.
fn head(number: u8, len: usize) -> Vec<u8> {
    (0..len).map(|i| i as u8 ^ number << 4).collect()
}

/// Sends messages of these lengths, and waits for room.
fn send_all(mut sender: Sender, lengths: &[usize]) {
    for (number, &len) in (1..).zip(lengths) {
        sender.send(0, &head(number, len), Vec::new());
    }
    while sender.unsent() > 0 {
        if !sender.flush() {
            thread::yield_now();
        }
    }
}

/// Receives them, each whole and in order.
fn receive_all(mut receiver: Receiver, lengths: &[usize]) {
    let mut seen = 0;
    while seen < lengths.len() {
        let mut check = |incoming: talisman_transport::Incoming<'_>| {
            assert_eq!(incoming.head, head(seen as u8 + 1, lengths[seen]));
            seen += 1;
        };
        if receiver.receive(2, &mut check).expect("an honest sender") == 0 {
            thread::yield_now();
        }
    }
    assert!(!receiver.has_work());
}

/// The same where some are taken as they arrive, and the others are not.
fn hear_all(mut receiver: Receiver, lengths: &[usize]) {
    let seen = std::cell::Cell::new(0);
    let check = |got: &[u8]| {
        assert_eq!(got, head(seen.get() as u8 + 1, lengths[seen.get()]));
        seen.set(seen.get() + 1);
    };
    while seen.get() < lengths.len() {
        let mut take = |arrived: &shm::Arrived<'_>| {
            let is_taken = seen.get().is_multiple_of(2);
            if is_taken {
                check(arrived.start);
            }
            is_taken
        };
        if receiver.hear(&mut take, &mut |incoming| check(incoming.head)).expect("an honest sender") == 0 {
            thread::yield_now();
        }
    }
    assert!(!receiver.has_work());
}

fn pass(model: &loom::model::Builder, slots: usize, lengths: &'static [usize]) {
    model.check(move || {
        let (sender, receiver) = direction(slots, awake());
        let sending = thread::spawn(move || send_all(sender, lengths));
        receive_all(receiver, lengths);
        sending.join().unwrap();
    });
}

#[test]
fn short_messages_pass_whole_and_in_order_around_the_end() {
    pass(&bounded_model(), 2, &[8, 0, 48]);
}

#[test]
fn longer_messages_pass_through_the_byte_ring() {
    pass(&bounded_model(), 2, &[49, 64]);
}

#[test]
fn what_is_heard_is_given_back_when_it_was_copied() {
    bounded_model().check(|| {
        let lengths = &[64, 49, 60];
        let (sender, receiver) = direction(2, awake());
        let sending = thread::spawn(move || send_all(sender, lengths));
        hear_all(receiver, lengths);
        sending.join().unwrap();
    });
}

#[test]
fn chunks_become_one_message() {
    pass(&bounded_model(), 2, &[130, 8]);
}

#[test]
fn a_full_byte_ring_is_waited_for() {
    // Nine chunks in a ring of eight, and slots for all of them. One switch suffices to fill it, and one to empty it.
    let mut model = bounded_model();
    model.preemption_bound = Some(1);
    pass(&model, 16, &[9 * 64]);
}

/// Whether there is an order of events in which a PE sleeps on with a message in its ring and no call to come.
fn sleeps_on(last_look: fn(&Receiver) -> bool, len: usize) -> bool {
    let found = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let finding = found.clone();
    loom::model(move || {
        let called = loom::sync::Arc::new(AtomicBool::new(false));
        let calling = called.clone();
        let [mine, theirs] = parkers(move || calling.store(true, Ordering::Relaxed));
        let (mut sender, receiver) = direction(2, theirs);
        let sending = thread::spawn(move || sender.send(0, &head(1, len), Vec::new()));
        // The sleep lasts until the sender has done all it will do: by then it must have called.
        let woken = mine.park_in(|| last_look(&receiver), || sending.join().unwrap());
        if woken != Woken::NotParked && !called.load(Ordering::Relaxed) {
            finding.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    found.load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn the_last_look_and_both_fences_are_needed_between_processes() {
    let last_look = |receiver: &Receiver| receiver.has_work();
    assert!(!sleeps_on(last_look, 8));
    assert!(!sleeps_on(last_look, 130));
    assert!(sleeps_on(|_| false, 8));
    assert!(sync::without_fence(Side::Light, || sleeps_on(last_look, 8)));
    assert!(sync::without_fence(Side::Heavy, || sleeps_on(last_look, 8)));
}
