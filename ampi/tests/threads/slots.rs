//! Addresses and pages of slots.

use std::ffi::c_void;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use talisman_ampi::slot::{PAGE, Slot, SlotError, SlotSpace};
use talisman_ampi::thread::{Resumed, Thread, suspend};
use talisman_pup::{Lender, Packed, Packer, Pup, Purpose, SegmentBuffer};

use crate::cases::{moved, new_slot};
use crate::{LAYOUT, Test};

pub const ALL: &[Test] = &[
    ("one rank at a time is at its addresses", occupied),
    ("addresses of a rank that is aside stay reserved", reserved),
    ("a rank whose pages have arrived grows, and moves on", grows_after_a_move),
    ("a rank comes back before the link has sent what left", comes_back),
    ("pages that were not touched are not packed", untouched),
    ("bytes that are no slot are refused", refused),
    ("nothing is left in a slot that is gone", wiped),
];

fn counting() -> Thread {
    Thread::new(new_slot(), || {
        let mut seen = vec![0u32; 1_000];
        for round in 0..3 {
            seen.fill(round);
            suspend();
            assert!(seen.iter().all(|value| *value == round));
        }
    })
}

fn occupied() {
    let mut thread = counting();
    assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
    let number = thread.slot().number();
    assert!(matches!(Slot::new(number), Err(SlotError::Occupied(at)) if at == number));
    let mut copy: Thread = talisman_pup::from_bytes(&talisman_pup::to_bytes(&thread)).unwrap();
    assert_eq!(copy.resume().unwrap_err().to_string(), format!("the addresses of slot {number} are in use"));
    thread.slot_mut().put_aside().unwrap();
    assert_eq!(copy.resume().unwrap(), Resumed::Suspended, "now they are free");
    assert!(matches!(thread.resume(), Err(SlotError::Occupied(_))));
    copy.slot_mut().put_aside().unwrap();
    // Each goes on where it was: one has had its second round, the other has not.
    for expected in [Resumed::Suspended, Resumed::Suspended, Resumed::Ended] {
        assert_eq!(thread.resume().unwrap(), expected);
    }
    drop(thread);
    for expected in [Resumed::Suspended, Resumed::Ended] {
        assert_eq!(copy.resume().unwrap(), expected);
    }
}

fn reserved() {
    let mut thread = Thread::new(new_slot(), || {
        let in_heap = Box::new([1u8; PAGE]);
        suspend();
        assert_eq!(in_heap[0], 1);
    });
    assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
    thread.slot_mut().put_aside().unwrap();
    let space = SlotSpace::get().unwrap();
    let start = space.address(thread.slot().number()).unwrap();
    for offset in [0, LAYOUT.guard, LAYOUT.header_start(), LAYOUT.heap_start(), LAYOUT.slot() - PAGE] {
        let (none, flags) = (ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE);
        // SAFETY: replaces nothing, and is refused if the addresses are taken.
        let taken = unsafe { mmap_anonymous((start + offset) as *mut c_void, PAGE, none, flags) };
        assert_eq!(taken, Err(Errno::EXIST), "offset {offset:#x}");
    }
    assert_eq!(thread.resume().unwrap(), Resumed::Ended);
}

fn grows_after_a_move() {
    let program = || {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        for round in 1..=4u8 {
            parts.extend((0..8).map(|_| vec![round; 100_000]));
            suspend();
        }
        assert!(
            parts
                .iter()
                .enumerate()
                .all(|(at, part)| part.iter().all(|byte| usize::from(*byte) == at / 8 + 1))
        );
    };
    let mut thread = Thread::new(new_slot(), program);
    for _ in 0..4 {
        assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
        thread = arrived(moved(thread));
    }
    assert_eq!(thread.resume().unwrap(), Resumed::Ended);
}

/// As it comes over a link: its pages beside the bytes.
fn arrived(mut thread: Thread) -> Thread {
    thread.slot_mut().put_aside().unwrap();
    let mut lender = Lender::new(Packer::new(Purpose::Migration));
    thread.lend(&mut lender);
    let copy = |bytes: &[u8], align: usize| {
        let mut buffer = SegmentBuffer::new(bytes.len(), align).unwrap();
        buffer.fill(bytes);
        buffer.finish()
    };
    let packed = Packed::from(lender.finish_in(copy));
    drop(thread);
    packed.read(Purpose::Migration, Thread::unpack).unwrap()
}

fn comes_back() {
    let mut leaving = counting();
    assert_eq!(leaving.resume().unwrap(), Resumed::Suspended);
    leaving.slot_mut().put_aside().unwrap();
    let left = talisman_pup::to_bytes(&leaving);
    let mut back: Thread = talisman_pup::from_bytes(&left).unwrap();
    assert_eq!(back.resume().unwrap(), Resumed::Suspended);
    assert_eq!(talisman_pup::to_bytes(&leaving), left, "what the link still sends has not changed");
    drop(leaving);
    assert_eq!(back.resume().unwrap(), Resumed::Suspended, "nor was what came back taken away");
    assert_eq!(moved(back).resume().unwrap(), Resumed::Ended);
}

fn untouched() {
    let mut thread = Thread::new(new_slot(), || {
        let large = Vec::<u8>::with_capacity(8 << 20);
        deep(200);
        suspend();
        assert_eq!(large.capacity(), 8 << 20);
    });
    assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
    let packed = talisman_pup::to_bytes(&thread).len();
    assert!(packed < 32 * PAGE, "{packed} bytes of a rank that has nothing");
    assert_eq!(moved(thread).resume().unwrap(), Resumed::Ended);
}

/// Touches stack that is not needed any more when it returns.
#[inline(never)]
fn deep(depth: u32) -> u64 {
    let frame = std::hint::black_box([u64::from(depth); 64]);
    if depth == 0 { 0 } else { deep(depth - 1) + frame[3] }
}

fn refused() {
    let mut thread = counting();
    assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
    let good = talisman_pup::to_bytes(&thread);
    drop(thread);
    let refusal =
        |bytes: &[u8]| talisman_pup::from_bytes::<Thread>(bytes).err().map(|error| error.to_string());
    for len in [0, 3, 20, 100, good.len() - 1] {
        assert!(refusal(&good[..len]).is_some(), "{len} bytes");
    }
    let with = |at: usize, value: u64| {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        refusal(&bytes).expect("it is wrong")
    };
    // Number 4 bytes, stack 8, heap 8, program 16, runs 8, offset of the first 8.
    assert!(with(4, 4096).contains("a stack of 4096"));
    assert!(with(12, LAYOUT.heap as u64 * 2).contains("heap"));
    assert!(with(44, 1 << 40).contains("a page outside of its slot"));
    let mut bytes = good.clone();
    bytes[..4].copy_from_slice(&999u32.to_le_bytes());
    assert!(refusal(&bytes).unwrap().contains("slot 999 of 64"));
    assert_eq!(refusal(&good), None);
}

fn wiped() {
    let slot = new_slot();
    let number = slot.number();
    let mut thread = Thread::new(slot, || {
        let full = vec![0xaau8; 1 << 20];
        suspend();
        std::mem::forget(full);
    });
    assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
    drop(thread);
    let again = Thread::new(Slot::new(number).unwrap(), || {
        let zeroes = vec![0u8; 1 << 20];
        suspend();
        assert!(zeroes.iter().all(|byte| *byte == 0));
    });
    let mut again = moved(again);
    assert_eq!(again.resume().unwrap(), Resumed::Suspended);
    assert_eq!(again.resume().unwrap(), Resumed::Ended);
}
