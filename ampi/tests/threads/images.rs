//! A program that is mapped into slots: text, a hole, data, and data of zeroes.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};
use talisman_ampi::slot::{Images, ImagesError, PAGE, Slot, on_process_heap};
use talisman_ampi::thread::{Resumed, Thread, suspend};

use crate::Test;
use crate::cases::{moved, new_slot};

pub const ALL: &[Test] = &[
    ("a program that was mapped moves with what was written to it", moves),
    ("a program that was mapped is put aside, and back", aside),
    ("pages of a program that were not written to are not packed", unwritten),
    ("who maps a program is told where ranks come and go", told),
    ("pages of another program, or outside of what is written, are refused", refused),
];

const TEXT: Range<usize> = 0..2 * PAGE;
const DATA: Range<usize> = 3 * PAGE..12 * PAGE;
const ZEROES: Range<usize> = 12 * PAGE..16 * PAGE;

/// Where ranks that have it are at their addresses, and how often it was mapped again.
static PRESENT: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
static MAPPED_AGAIN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Where the program of the rank is that runs on this thread; 0 if none does.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

#[derive(Debug)]
pub struct Program {
    file: OwnedFd,
    written: [Range<usize>; 2],
}

pub static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let file = memfd_create("program", MemfdFlags::CLOEXEC).expect("a file in memory");
    let mut writer = File::from(file.try_clone().expect("a descriptor"));
    writer.write_all(&vec![b'T'; TEXT.len()]).expect("there is room");
    writer.write_all(&vec![b'D'; DATA.len()]).expect("there is room");
    Program { file, written: [DATA, ZEROES] }
});

impl Program {
    fn map(&self, base: usize) -> io::Result<()> {
        let part = |range: &Range<usize>| ((base + range.start) as *mut c_void, range.len());
        let (private, data) = (MapFlags::PRIVATE | MapFlags::FIXED, ProtFlags::READ | ProtFlags::WRITE);
        let ((text, text_len), (start, data_len), (zeroes, zeroes_len)) =
            (part(&TEXT), part(&DATA), part(&ZEROES));
        // SAFETY: the addresses are the caller's, and nobody uses what is there.
        unsafe {
            mmap(text, text_len, ProtFlags::READ, private, &self.file, 0)?;
            mmap(start, data_len, data, private, &self.file, TEXT.len() as u64)?;
            mmap_anonymous(zeroes, zeroes_len, data, private)?;
        }
        Ok(())
    }
}

impl Images for Program {
    fn span(&self) -> usize {
        ZEROES.end
    }

    fn mark(&self) -> u64 {
        77
    }

    fn written(&self) -> &[Range<usize>] {
        &self.written
    }

    unsafe fn load(&self, base: usize) -> Result<(), ImagesError> {
        Ok(self.map(base)?)
    }

    unsafe fn map_again(&self, base: usize) -> io::Result<()> {
        MAPPED_AGAIN.fetch_add(1, Ordering::Relaxed);
        self.map(base)
    }

    fn arrive(&self, base: usize) {
        // What is allocated here is the rank's otherwise.
        let is_new = on_process_heap(|| PRESENT.lock().unwrap().insert(base));
        assert!(is_new, "a rank arrives once");
    }

    fn leave(&self, base: usize) {
        let was_there = on_process_heap(|| PRESENT.lock().unwrap().remove(&base));
        assert!(was_there, "a rank that has arrived leaves");
    }

    fn end(&self, base: usize) {
        self.leave(base);
    }

    fn note(&self, base: usize) {
        assert!(PRESENT.lock().unwrap().contains(&base), "what is copied is there");
    }

    fn resume(&self, base: usize) {
        RUNNING.set(base);
    }

    fn suspend(&self, base: usize) {
        assert_eq!(RUNNING.replace(0), base, "the rank that was resumed");
    }

    fn function_at(&self, base: usize, address: usize) -> Option<String> {
        (base..base + TEXT.end).contains(&address).then(|| "text".into())
    }
}

/// A slot with the program, and where that begins.
fn loaded() -> (Slot, usize) {
    let mut slot = new_slot();
    slot.load_images().expect("there is room for it");
    let base = slot.images().start;
    (slot, base)
}

fn byte(at: usize) -> u8 {
    // SAFETY: callers give addresses of the program, which is in place.
    unsafe { (at as *const u8).read_volatile() }
}

fn write(at: usize, value: u8) {
    // SAFETY: callers give addresses of the program's data, which is in place and the caller's alone.
    unsafe { (at as *mut u8).write_volatile(value) };
}

/// A rank that writes to its program's data, and finds it after each move.
fn writing() -> (Thread, usize) {
    let (slot, base) = loaded();
    let program = move || {
        for round in 1..=4 {
            // Short runs travel among other bytes, long ones beside them.
            write(base + DATA.start + 7, round);
            (1..7).for_each(|page| write(base + DATA.start + (2 + page) * PAGE - 1, round));
            write(base + ZEROES.end - 1, round);
            assert_eq!(RUNNING.get(), base);
            suspend();
            assert_eq!((RUNNING.get(), byte(base), byte(base + TEXT.end - 1)), (base, b'T', b'T'));
            assert_eq!((byte(base + DATA.start), byte(base + DATA.start + 7)), (b'D', round));
            assert_eq!(byte(base + DATA.start + 8 * PAGE - 1), round);
            assert_eq!((byte(base + DATA.end - 1), byte(base + ZEROES.start)), (b'D', 0));
            assert_eq!(byte(base + ZEROES.end - 1), round);
        }
    };
    (Thread::new(slot, program), base)
}

fn moves() {
    let (mut thread, base) = writing();
    for _ in 0..4 {
        let before = MAPPED_AGAIN.load(Ordering::Relaxed);
        assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
        thread = moved(thread);
        assert!(MAPPED_AGAIN.load(Ordering::Relaxed) > before);
        assert_eq!(thread.slot().images(), base..base + ZEROES.end);
    }
    assert_eq!(thread.resume().unwrap(), Resumed::Ended);
}

fn aside() {
    let (mut thread, base) = writing();
    for _ in 0..4 {
        assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
        thread.slot_mut().put_aside().unwrap();
        let mut other = Slot::new(thread.slot().number()).expect("its addresses are free");
        other.load_images().expect("the same program, at the same addresses");
        assert_eq!(byte(base + DATA.start + 7), b'D', "what the other has written is its own");
    }
    assert_eq!(thread.resume().unwrap(), Resumed::Ended);
}

fn unwritten() {
    let (slot, base) = loaded();
    let mut thread = Thread::new(slot, move || {
        let all = (DATA.start..ZEROES.end).step_by(PAGE);
        assert!(all.map(|at| u64::from(byte(base + at))).sum::<u64>() > 0);
        suspend();
        write(base + DATA.start + PAGE, 1);
        suspend();
    });
    let mut lengths = Vec::new();
    for _ in 0..2 {
        assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
        lengths.push(talisman_pup::to_bytes(&thread).len());
    }
    let one_page_more = lengths[1] - lengths[0];
    assert!((PAGE..2 * PAGE).contains(&one_page_more), "{lengths:?}");
}

fn told() {
    let is_present = |base| PRESENT.lock().unwrap().contains(&base);
    let (mut thread, base) = writing();
    assert!(is_present(base));
    for _ in 0..4 {
        assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
        thread.slot_mut().put_aside().unwrap();
        assert!(!is_present(base));
        thread = moved(thread);
        assert!(!is_present(base), "it has come, and is not at its addresses yet");
    }
    assert_eq!(thread.resume().unwrap(), Resumed::Ended);
    assert!(is_present(base));
    drop(thread);
    assert!(!is_present(base));
}

fn refused() {
    let (mut thread, _) = writing();
    assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
    let good = talisman_pup::to_bytes(&thread);
    drop(thread);
    let with = |at: usize, value: u64| {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let refused = talisman_pup::from_bytes::<Thread>(&bytes).err();
        refused.expect("it is wrong").to_string()
    };
    // Number 4 bytes, stack 8, heap 8, then the length of the program, its mark, runs and the offset of the first.
    assert!(with(20, PAGE as u64).contains("another program"));
    assert!(with(28, 78).contains("another program"));
    let of_images = |offset: usize| (1 << 62) | offset as u64;
    assert!(with(44, of_images(0)).contains("does not write to"));
    assert!(with(44, of_images(ZEROES.end)).contains("a page outside of its slot"));
    assert!(talisman_pup::from_bytes::<Thread>(&good).is_ok());
}
