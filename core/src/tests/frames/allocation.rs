//! A small message takes no memory, and the same bytes whether it has an envelope or not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::mem::MaybeUninit;

use super::Main;
use crate::lab::{Frame, Lab};
use talisman_kernel::message::cell::WORDS;
use talisman_kernel::message::envelope::Body;
use talisman_kernel::pe::Here;
use talisman_kernel::pe::Pe;
use talisman_kernel::wire::{
    COMPACT, ShortStart, copy_to_keep, pack, read_known, read_known_args, receive, write_call,
};
use talisman_pup::Tail;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Counts what each thread takes.
struct Counting;

// SAFETY: the system's allocator does it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.set(TAKEN.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A small frame of the program, after it has run for a while.
fn small_frame(lab: &mut Lab) -> Frame {
    lab.run(60);
    let frame = lab.frames().iter().find(|frame| frame.head[0] == COMPACT && frame.segments.is_empty());
    frame.expect("the program sends some").clone()
}

/// What it does takes no memory, but for the first time: the pool and the scratch buffers have what they need then.
fn takes_no_memory(again: impl Fn()) {
    again();
    let before = TAKEN.get();
    (0..100).for_each(|_| again());
    assert_eq!(TAKEN.get() - before, 0);
}

#[test]
fn a_small_message_takes_no_memory() {
    let mut lab = Lab::new::<Main>();
    let frame = small_frame(&mut lab);
    let pe = &lab.pes[frame.to as usize];
    let _here = Here::enter(pe);
    takes_no_memory(|| {
        let envelope = receive(pe, &frame.head, Vec::new()).unwrap();
        pack(pe, envelope, |head, segments| assert!(head == frame.head && segments.is_empty()));
    });
    takes_no_memory(|| assert!(is_written_back(pe, &frame.head)));
}

/// Reads a message and writes it, both without what larger ones take; whether it is one that is read so.
fn is_written_back(pe: &Pe, head: &[u8]) -> bool {
    let Some((envelope, _)) = read_known(pe, head) else { return false };
    // SAFETY: just made.
    let message = unsafe { envelope.as_ref() };
    let Body::Invoke(entry) = message.body else { panic!("only entries' messages are read so") };
    let mut packer = pe.packer.borrow_mut();
    let written = write_call(&mut packer, message.from, (message.to(), entry), &message.words);
    assert_eq!(written, Some(head));
    pe.release(envelope);
    true
}

/// Of all that the program sends, and of each of it cut off or changed somewhere: what is read in the short way is what is read in the
/// long one, and is written as it came.
#[test]
fn both_ways_to_read_a_message_read_the_same() {
    let mut lab = Lab::new::<Main>();
    lab.run(60);
    let (mut whole, mut damaged) = (0, 0);
    for Frame { to, head, segments } in lab.frames().iter().filter(|frame| frame.segments.is_empty()) {
        let pe = &lab.pes[*to as usize];
        let _here = Here::enter(pe);
        whole += usize::from(is_written_back(pe, head));
        let changed = |at: usize, by: u8| {
            let mut head = head.clone();
            head[at] ^= by;
            head
        };
        let places = 0..head.len();
        let cut = places.clone().map(|at| head[..at].to_vec());
        let heads = cut.chain(places.flat_map(|at| [1, 2, 0x80, 0xff].map(|by| changed(at, by))));
        for head in heads.chain([[head.as_slice(), &[0]].concat()]) {
            let Some((envelope, collection)) = read_known(pe, &head) else { continue };
            let same = receive(pe, &head, segments.clone()).expect("it was read");
            // SAFETY: both just made.
            let (message, other) = unsafe { (envelope.as_ref(), same.as_ref()) };
            assert_eq!(copy_to_keep(message).bytes(), copy_to_keep(other).bytes());
            assert_eq!(collection.id, message.to().collection);
            pe.release(envelope);
            pe.release(same);
            damaged += 1;
        }
    }
    assert!(whole > 0 && damaged > 0, "{whole} whole ones and {damaged} others were read");
}

/// Bytes that are somewhere else.
struct Elsewhere<'a>(&'a [u8]);

// SAFETY: all are copied.
unsafe impl Tail for Elsewhere<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn copy_to(&self, to: &mut [MaybeUninit<u8>]) {
        assert_eq!(to.len(), self.0.len());
        to.iter_mut().zip(self.0).for_each(|(to, byte)| _ = to.write(*byte));
    }
}

/// Wherever the part begins that is not here: either it is read as if it were, or not at all.
#[test]
fn arguments_that_end_elsewhere_are_read_as_if_they_did_not() {
    use super::super::expected_chares::program;
    let mut lab = Lab::new::<program::Main>();
    // As soon as those of two nodes have heard of each other.
    while lab.frames().iter().all(|frame| ShortStart::read(&frame.head).is_none()) {
        lab.run(1);
    }
    let mut read = 0;
    for Frame { to, head, segments } in lab.frames().iter().filter(|frame| frame.segments.is_empty()) {
        let pe = &lab.pes[*to as usize];
        let _here = Here::enter(pe);
        let Some(start) = ShortStart::read(head) else { continue };
        let Some(collection) = pe.collections.get(start.to.collection) else { continue };
        for here in 0..start.args.len() {
            let (args, rest) = start.args.split_at(here);
            let mut words = [const { MaybeUninit::uninit() }; WORDS];
            let args = (args, &Elsewhere(rest) as &dyn Tail);
            let Some(entry) = read_known_args(collection, start.entry, args, &mut words) else { continue };
            let envelope = pe.filled(start.to, entry, &words, start.from);
            let same = receive(pe, head, segments.clone()).expect("it was sent");
            // SAFETY: both just made.
            let (message, other) = unsafe { (envelope.as_ref(), same.as_ref()) };
            assert_eq!(copy_to_keep(message).bytes(), copy_to_keep(other).bytes());
            pe.release(envelope);
            pe.release(same);
            read += 1;
        }
    }
    assert!(read > 0, "none was read");
}
