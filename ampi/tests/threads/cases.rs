//! What a program may have on its stack and heap while its rank moves.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use talisman_ampi::slot::{Slot, SlotSpace};
use talisman_ampi::thread::{Resumed, Thread, running, suspend};

use crate::Test;

pub const ALL: &[Test] = &[
    ("deep stacks with vectors, maps and trait objects", || run(deep)),
    ("memory of a rank is in its slot", || run(own_memory)),
    ("maps grow after a move", || run(maps)),
    ("a panic is caught after a move", || run(caught)),
    ("values are dropped while a moved rank unwinds", || run(unwinding)),
    ("a lock is held over a move", || run(lock)),
    ("a callback inside a C sort", || run(sort)),
    ("thread-locals stay with the thread", || run(thread_locals)),
    ("large vectors, aside and back", || run(large)),
    ("a panic that nobody catches is told with its place", panics),
];

/// How often a program moves, at least.
const MOVES: u32 = 4;

static NEXT_SLOT: AtomicU32 = AtomicU32::new(0);

pub fn new_slot() -> Slot {
    Slot::new(NEXT_SLOT.fetch_add(1, Ordering::Relaxed)).expect("a slot that no other test has")
}

/// Packed, gone and unpacked.
pub fn moved(thread: Thread) -> Thread {
    let bytes = talisman_pup::to_bytes(&thread);
    drop(thread);
    talisman_pup::from_bytes(&bytes).expect("it was packed just now")
}

/// Runs a program that moves whenever it waits.
fn run(program: fn()) {
    let mut thread = Thread::new(new_slot(), program);
    let mut moves = 0;
    loop {
        match thread.resume().expect("its addresses are free") {
            Resumed::Suspended => moves += 1,
            Resumed::Ended => break,
            other => panic!("after {moves} moves: {other:?}"),
        }
        if moves % 2 == 0 {
            thread.slot_mut().put_aside().expect("there is room aside");
        } else {
            thread = moved(thread);
        }
    }
    assert!(moves >= MOVES, "only {moves} moves");
    assert_eq!(thread.slot().blocks(), 0, "the program has left nothing");
}

fn hop() {
    (0..MOVES).for_each(|_| suspend());
}

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);

struct Named {
    name: String,
    corners: Vec<u8>,
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Named {
    fn area(&self) -> f64 {
        (self.name.len() + self.corners.len()) as f64
    }
}

fn deep() {
    let mut visited = HashMap::new();
    let sum = descend(12, &mut visited);
    assert_eq!(sum, (0..=12).map(|depth| (depth * depth + depth + 10) as f64).sum::<f64>());
    assert_eq!(visited.len(), 13);
    assert!(visited.iter().all(|(key, all)| *key == format!("depth {}", all[0])));
}

#[inline(never)]
fn descend(depth: u32, visited: &mut HashMap<String, Vec<u32>>) -> f64 {
    let names: Vec<String> = (0..50).map(|at| format!("{depth}-{at}")).collect();
    let sevens: Vec<&String> = names.iter().filter(|name| name.ends_with('7')).collect();
    let tree: BTreeMap<u32, String> = (0..20).map(|at| (at, format!("leaf {at}"))).collect();
    let named = Named { name: "x".repeat(depth as usize), corners: vec![1; 10] };
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(f64::from(depth))), Box::new(named)];
    visited.entry(format!("depth {depth}")).or_default().push(depth);
    let below = if depth == 0 {
        hop();
        0.0
    } else {
        descend(depth - 1, visited)
    };
    assert_eq!(
        sevens.iter().map(|name| name.len()).sum::<usize>(),
        sevens.len() * format!("{depth}-17").len() - 1
    );
    assert_eq!(tree[&7], "leaf 7");
    let area = |more: f64| more + shapes.iter().map(|shape| shape.area()).sum::<f64>();
    area(below)
}

fn own_memory() {
    let space = SlotSpace::get().unwrap();
    let on_stack = 0u8;
    let in_heap = Box::new(0u8);
    for _ in 0..MOVES {
        for address in [&raw const on_stack, &raw const *in_heap] {
            assert_eq!(space.slot_of(address as usize).map(|(slot, _)| slot), running());
        }
        suspend();
    }
}

fn maps() {
    let mut map: HashMap<u64, u64> = (0..1_000).map(|key| (key, key)).collect();
    hop();
    map.extend((1_000..5_000).map(|key| (key, key)));
    let other: HashMap<u64, u64> = (0..5_000).map(|key| (key, key)).collect();
    assert_eq!(map, other);
}

struct Count<'a>(&'a Cell<u32>);

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

fn caught() {
    let drops = Cell::new(0);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let before = Vec::from([Count(&drops), Count(&drops)]);
        hop();
        let _after = Count(&drops);
        if before.len() == 2 {
            panic!("two {}", before.len());
        }
    }));
    assert_eq!(result.unwrap_err().downcast_ref::<String>().unwrap(), "two 2");
    assert_eq!(drops.get(), 3);
    suspend();
    assert!(!std::thread::panicking());
}

/// Notes whether it was dropped by unwinding, and works with the heap meanwhile.
struct Witness<'a>(&'a Mutex<Vec<String>>);

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        let note = format!("panicking: {}", std::thread::panicking());
        self.0.lock().unwrap().push(note);
    }
}

fn unwinding() {
    let notes = Mutex::new(Vec::new());
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _witness = Witness(&notes);
        hop();
        panic!("now");
    }));
    assert!(result.is_err());
    suspend();
    assert_eq!(*notes.lock().unwrap(), ["panicking: true"]);
}

fn lock() {
    let values = Mutex::new(vec![1, 2, 3]);
    let mut guard = values.lock().unwrap();
    for value in 4..4 + MOVES {
        guard.push(value);
        suspend();
    }
    assert!(values.try_lock().is_err());
    drop(guard);
    assert_eq!(values.lock().unwrap().len(), 3 + MOVES as usize);
}

unsafe extern "C" fn compare(a: *const c_void, b: *const c_void) -> i32 {
    // SAFETY: the sort gives two of the values that it was given.
    let (a, b) = unsafe { (*a.cast::<i32>(), *b.cast::<i32>()) };
    if a % 8 == 0 {
        suspend();
    }
    a.cmp(&b) as i32
}

fn sort() {
    let mut values: Vec<i32> = (0..64).map(|at| at * 37 % 64).collect();
    // SAFETY: so many values of this length.
    unsafe { libc::qsort(values.as_mut_ptr().cast(), values.len(), 4, Some(compare)) };
    assert!(values.iter().copied().eq(0..64));
}

thread_local! {
    static COUNTER: Cell<u32> = const { Cell::new(0) };
}

fn thread_locals() {
    let first = COUNTER.with(|counter| black_box(counter as *const Cell<u32> as usize));
    for _ in 0..MOVES {
        COUNTER.set(COUNTER.get() + 1);
        suspend();
        assert_eq!(COUNTER.with(|counter| counter as *const Cell<u32> as usize), first);
    }
    assert_eq!(COUNTER.get(), MOVES, "the thread is the same, though the rank has moved");
}

fn large() {
    let vectors: Vec<Vec<u64>> = (0..128).map(|value| vec![value; 8_192]).collect();
    (0..5 * MOVES).for_each(|_| suspend());
    assert!(vectors.iter().zip(0..).all(|(vector, value)| vector.iter().all(|word| *word == value)));
}

fn panics() {
    let mut thread = Thread::new(new_slot(), || {
        suspend();
        panic!("{} is too many", 7);
    });
    assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
    thread = moved(thread);
    let Resumed::Panicked { message, place } = thread.resume().unwrap() else {
        panic!("it has not panicked")
    };
    assert_eq!(message, "7 is too many");
    assert!(place.contains("tests/threads/cases.rs:"), "{place}");
    assert!(matches!(thread.resume().unwrap(), Resumed::Panicked { .. }), "it has ended");
}
