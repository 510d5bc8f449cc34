//! Programs that make collections, elements and single chares for ever: what was destroyed leaves nothing behind.

#![allow(missing_docs)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering};

use talisman::chare::{Args, MainChare};
use talisman::prelude::*;
use talisman::testing::Test;

/// Counts the bytes of this process that are in use, without those of envelopes.
///
/// A PE keeps free envelopes up to a bound that its pool's own tests check; how many it has by when depends on how
/// messages met, so they would come and go in these figures for no reason.
struct Counting;

/// Whether this is a block of envelopes: nothing else that comes and goes has the alignment of a cache line.
fn is_pooled(layout: Layout) -> bool {
    layout.align() >= 64
}

static IN_USE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_pooled(layout) {
            IN_USE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if !is_pooled(layout) {
            IN_USE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes in use, now and then.
static NOTED: Mutex<Vec<isize>> = Mutex::new(Vec::new());

/// Rounds between two looks.
const BETWEEN: u32 = 250;

#[derive(Pup)]
struct Element;

#[chare(array1d)]
impl Element {
    #[init]
    fn new() -> Self {
        Element
    }

    #[entry]
    fn one(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.migrate_to((cx.pe() + 1) % cx.pes());
        1
    }
}

#[path = "flat/speakers.rs"]
mod speakers;
#[path = "flat/visitors.rs"]
mod visitors;

mod emptied {
    use super::*;

    pub const ARRAYS: u32 = 500;

    #[derive(Pup)]
    struct Leaf;

    #[chare(array1d)]
    impl Leaf {
        #[init]
        fn new() -> Self {
            Leaf
        }

        #[entry]
        fn fall(&mut self, cx: &mut Cx<Self>) {
            cx.destroy();
        }
    }

    #[talisman::main]
    async fn main(cx: &mut Cx) {
        for _ in 0..ARRAYS {
            let all: Array<Leaf> = Leaf::array(4).new();
            all.fall();
            cx.quiescence().await;
            NOTED.lock().unwrap().push(IN_USE.load(Ordering::Relaxed));
        }
        cx.exit();
    }

    pub fn run(test: &Test) -> isize {
        NOTED.lock().unwrap().clear();
        let tested = test.run::<__Main>(());
        assert_eq!((tested.status, &tested.message), (0, &None));
        let noted = std::mem::take(&mut *NOTED.lock().unwrap());
        let (half, end) = (noted[noted.len() / 2], noted[noted.len() - 1]);
        (end - half) / (ARRAYS as isize / 2)
    }
}

#[derive(Pup)]
struct Member;

#[chare(group)]
impl Member {
    #[init]
    fn new() -> Self {
        Member
    }

    #[entry]
    fn sum(&mut self, table: Shared<Vec<u64>>) -> u64 {
        table.iter().sum()
    }
}

#[derive(clap::Parser, Pup)]
struct Options {
    #[arg(long)]
    rounds: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let lasting: Array<Element> = Element::array(4).new();
    for round in 0..options.rounds {
        let of_lasting: Section<Element> = lasting.section(1..4);
        let ones: u32 = of_lasting.one().reduce(Sum).await;
        assert_eq!(ones, 3);
        of_lasting.destroy();
        let all: Array<Element> = Element::array(4).new();
        let ones: u32 = all.one().reduce(Sum).await;
        assert_eq!(ones, 4);
        let part: Section<Element> = all.section(0..3);
        let ones: u32 = part.one().reduce(Sum).await;
        assert_eq!(ones, 3);
        if round % 2 == 0 {
            part.destroy();
        }
        all.destroy();
        let group: Group<Member> = Member::group().new();
        let table: Shared<Vec<u64>> = cx.share(vec![1; 1000]);
        let sum: u64 = group.sum(table.clone()).reduce(Max).await;
        assert_eq!(sum, 1000);
        table.destroy();
        group.destroy();
        if round % BETWEEN == 0 {
            NOTED.lock().unwrap().push(IN_USE.load(Ordering::Relaxed));
        }
    }
    cx.exit();
}

/// A few bytes a round would be too much in weeks; what comes and goes is far more than that.
#[track_caller]
fn is_flat<C: MainChare>(test: &Test, args: impl Args + Send, rounds: u32) {
    NOTED.lock().unwrap().clear();
    let tested = test.run::<C>(args);
    assert_eq!((tested.status, &tested.message), (0, &None));
    let noted = std::mem::take(&mut *NOTED.lock().unwrap());
    println!("{noted:?}");
    let (first, rest) = noted.split_at(noted.len() / 3);
    let (before, after) = (first.iter().max(), rest[rest.len() / 2..].iter().min());
    let grown = after.expect("it was looked at") - before.expect("it was looked at");
    assert!(grown < rounds as isize, "{grown} bytes more: {noted:?}");
}

/// One after the other: memory is that of the whole process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn who_comes_and_goes_leaves_nothing_behind() {
    let _alone = ALONE.lock().unwrap();
    visitors::are_flat();
}

#[test]
fn who_is_destroyed_with_its_collection_leaves_no_counts_behind() {
    let _alone = ALONE.lock().unwrap();
    speakers::are_flat();
}

#[test]
fn what_was_destroyed_leaves_nothing_behind() {
    let run = |test: &Test, rounds: u32| is_flat::<__Main>(test, (Options { rounds },), rounds);
    let _alone = ALONE.lock().unwrap();
    run(&Test::new(), 10_000);
    run(&Test::new().pes(2), 5_000);
    run(&Test::new().pes(2).simulated(2, 1), 5_000);
    // Of an array whose elements have all gone, and that was not destroyed, there is what each PE knows of it.
    let left = emptied::run(&Test::new());
    assert!(left < 1536, "{left} bytes");
}
