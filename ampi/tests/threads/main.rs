//! Ranks' threads and memory, moved. The tests that end a process start this program anew, in a role.

mod cases;
mod children;
mod images;
mod machine;
mod slots;
mod world;

use libtest_mimic::{Arguments, Trial};
use talisman_ampi::slot::{BASE, Layout, RankAllocator, SlotSpace, set_images};
use talisman_ampi::thread::{catch_faults, note_panics};

#[global_allocator]
static ALLOCATOR: RankAllocator = RankAllocator;

/// Enough for a few frames of backtraces in unoptimized code.
const LAYOUT: Layout = Layout { guard: 64 << 10, stack: 1 << 20, images: 512 << 10, heap: 14 << 20 };

fn main() {
    SlotSpace::reserve(BASE, LAYOUT, 64).expect("these addresses are free in a process that begins");
    set_images(&*images::PROGRAM).expect("no other was set");
    catch_faults().expect("signals can be caught");
    note_panics();
    if let Some(role) = std::env::var_os(children::ROLE) {
        return children::play(&role.to_string_lossy());
    }
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let all = [cases::ALL, machine::ALL, slots::ALL, images::ALL, children::ALL, world::ALL].concat();
    libtest_mimic::run(
        &Arguments::from_args(),
        all.into_iter().map(|(name, test)| trial(name, test)).collect(),
    )
    .exit();
}

/// The name of a test, and the test.
pub type Test = (&'static str, fn());
