//! What of the machine is the rank's, and what is the thread's.

use std::arch::asm;
use std::sync::atomic::{AtomicU32, Ordering};

use talisman_ampi::slot::on_process_heap;
use talisman_ampi::thread::{Resumed, Thread, suspend};

use crate::Test;
use crate::cases::{moved, new_slot};

pub const ALL: &[Test] = &[
    ("errno and rounding are the rank's", modes),
    ("the canary is the same in all ranks, and the thread has its own back", canary),
    ("what a stack protector has stored is found in another process", canary_elsewhere),
    #[cfg(feature = "mutations")]
    ("a canary that is not set is noticed", missing_canary),
    ("destructors of thread-locals that a rank uses first run when the thread ends", destructors),
    ("a backtrace in a rank ends", backtrace),
    ("registers and alignment survive", registers),
];

fn errno(value: Option<i32>) -> i32 {
    // SAFETY: the C library's own variable of this thread.
    let errno = unsafe { &mut *libc::__errno_location() };
    value.inspect(|value| *errno = *value);
    *errno
}

/// Sets how floating point is rounded, if asked to; the mode.
fn rounding(mode: Option<u32>) -> u32 {
    const ROUNDING: u32 = 3 << 13;
    let mut mxcsr = 0u32;
    // SAFETY: writes a word.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack)) };
    if let Some(mode) = mode {
        mxcsr = mxcsr & !ROUNDING | mode;
        // SAFETY: the modes of rounding alone are changed; no arithmetic is near.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack)) };
    }
    mxcsr & ROUNDING
}

fn modes() {
    const UP: u32 = 2 << 13;
    let mut thread = Thread::new(new_slot(), || {
        rounding(Some(UP));
        for code in [7, 11] {
            errno(Some(code));
            suspend();
            assert_eq!((errno(None), rounding(None)), (code, UP));
        }
    });
    for _ in 0..2 {
        errno(Some(3));
        assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
        assert_eq!(rounding(None), 0, "the thread rounds as before");
        thread = moved(thread);
    }
    assert_eq!(thread.resume().unwrap(), Resumed::Ended);
}

fn stack_guard() -> u64 {
    let canary;
    // SAFETY: reads a word of the thread's control block.
    unsafe { asm!("mov {}, fs:0x28", out(reg) canary, options(nostack)) };
    canary
}

fn canary() {
    let own = stack_guard();
    let program = move || {
        let first = stack_guard();
        assert!(first != own && first & 0xff == 0);
        suspend();
        assert_eq!(stack_guard(), first);
    };
    let (mut one, mut other) = (Thread::new(new_slot(), program), Thread::new(new_slot(), program));
    for expected in [Resumed::Suspended, Resumed::Ended] {
        for thread in [&mut one, &mut other] {
            assert_eq!(thread.resume().unwrap(), expected);
            assert_eq!(stack_guard(), own);
        }
    }
}

fn set_stack_guard(canary: u64) {
    // SAFETY: writes that word; no function that has stored it returns before it is put back.
    unsafe { asm!("mov fs:0x28, {}", in(reg) canary, options(nostack)) };
}

/// What becomes of a rank that waits in a function with a stack protector, and goes on where the canary is another one.
fn guarded_over_a_move() -> Resumed {
    let program = || {
        let stored = stack_guard();
        suspend();
        assert_eq!(stack_guard(), stored, "stack smashing detected");
    };
    let mut thread = Thread::new(new_slot(), program);
    assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
    thread = moved(thread);
    let own = stack_guard();
    set_stack_guard(own ^ 0xff00);
    let end = thread.resume().unwrap();
    set_stack_guard(own);
    end
}

fn canary_elsewhere() {
    assert_eq!(guarded_over_a_move(), Resumed::Ended);
}

#[cfg(feature = "mutations")]
fn missing_canary() {
    talisman_observe::mutations::choose(Some("canary-of-the-process"));
    let end = guarded_over_a_move();
    talisman_observe::mutations::choose(None);
    assert!(
        matches!(&end, Resumed::Panicked { message, .. } if message.contains("stack smashing")),
        "{end:?}"
    );
}

fn destructors() {
    struct Counted;
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    thread_local! {
        static LOCAL: Counted = const { Counted };
    }
    let slot = new_slot();
    let run = move || {
        let mut thread = Thread::new(slot, || LOCAL.with(|_| suspend()));
        assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
        assert_eq!(thread.resume().unwrap(), Resumed::Ended);
    };
    std::thread::spawn(run).join().expect("it ends");
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
}

fn backtrace() {
    let program = || {
        let frames =
            || on_process_heap(|| std::backtrace::Backtrace::force_capture().to_string().lines().count());
        let before = frames();
        suspend();
        assert!(before > 3 && frames() == before);
    };
    let mut thread = Thread::new(new_slot(), program);
    assert_eq!(thread.resume().unwrap(), Resumed::Suspended);
    thread = moved(thread);
    assert_eq!(thread.resume().unwrap(), Resumed::Ended);
}

/// A value that has to lie at a multiple of 32, as vector registers do.
#[repr(align(32))]
struct Wide([f64; 4]);

fn registers() {
    let mut thread = Thread::new(new_slot(), || {
        let wide = Wide([1.0, 2.0, 3.0, 4.0]);
        let (mut sum, mut product) = (0.0, 1u64);
        for round in 1..=10u64 {
            assert!((&raw const wide).addr().is_multiple_of(32));
            sum += wide.0.iter().sum::<f64>() * round as f64;
            product *= round;
            suspend();
        }
        assert_eq!((sum, product), (550.0, 3_628_800));
    });
    while thread.resume().unwrap() == Resumed::Suspended {
        thread = moved(thread);
    }
    assert_eq!(thread.resume().unwrap(), Resumed::Ended);
}
