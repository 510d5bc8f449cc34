//! `--slice`: a rank that computes for longer is suspended where it is, so that others have their turn.
//!
//! A timer of the PE's thread counts the time that this computes, and sends a signal each time a slice is over. If the
//! same rank runs as at the signal before, and the code that was interrupted is the program's own or that of a library
//! that is private to the rank, the rank is to be suspended: nothing of the runtime, of the C library or of the
//! allocator is half done then. All registers are written to the rank's stack, and the thread goes on in a function
//! that suspends the rank as a call of it would; when it is resumed, maybe in another process, it loads all registers
//! again. So a rank that was interrupted is like one that waits: it may move, and be copied.
//!
//! A rank with threads of its own, one of which waits for what the rank is to do for it (`rank::other_threads`), is
//! interrupted in the same way by that thread, also where it waits for its threads.
//!
//! ```text
//!   addresses      ┌──────────────────────────┐
//!   fall           │ 128 bytes: may be in use │ System V ABI, 3.2.2: the red zone
//!        │         │ where it goes on         │ `ret 128` takes this, and leaves all else of the stack as it was
//!        ▼         │ flags, 15 registers      │
//!                  │ state of floating point  │ as the system has saved it for the handler (`xsave`)
//!   rsp then ────► └──────────────────────────┘
//! ```

use std::arch::naked_asm;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, zeroed};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use libc::{
    REG_EFL, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RAX, REG_RBP, REG_RBX,
    REG_RCX, REG_RDI, REG_RDX, REG_RIP, REG_RSI, REG_RSP, ucontext_t,
};
use talisman_ampi::slot::{SlotSpace, on_process_heap};
use talisman_ampi::{rank, thread};
use talisman_loader::libc::{set_waits_for_threads, thread_of_owner, waits_for_threads};

use crate::control;
use crate::images;

/// Nanoseconds; 0 if ranks are not interrupted.
static SLICE: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// This thread has its timer.
    static HAS_TIMER: Cell<bool> = const { Cell::new(false) };
    /// How often ranks had gone on when the last slice was over.
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// Nobody else uses it: a rank's own timers are not asked of the system.
const SIGNAL: c_int = libc::SIGVTALRM;

/// Room on the stack for what suspends the rank, beside what is saved.
const ROOM: usize = 16 << 10;

/// What a function may use below its stack pointer without having moved that (System V ABI, 3.2.2).
const RED_ZONE: usize = 128;

/// In the order in which they are taken from the stack.
const REGISTERS: [c_int; 15] = [
    REG_R15, REG_R14, REG_R13, REG_R12, REG_R11, REG_R10, REG_R9, REG_R8, REG_RDI, REG_RSI, REG_RBP, REG_RBX,
    REG_RDX, REG_RCX, REG_RAX,
];

/// `xsave`'s area: where the system tells of it, in bytes that it leaves to software (Linux, `struct _fpx_sw_bytes`).
const SOFTWARE: usize = 464;
/// The first of these words, if all state was saved.
const MAGIC: u32 = 0x4650_5853;
/// More has no processor.
const STATE_MAX: usize = 32 << 10;
/// What `xrstor` wants its area aligned to.
const STATE_ALIGN: usize = 64;

/// Has ranks of this process interrupted after so much time; never if it is 0.
///
/// # Errors
/// If the processor does not save its state in the way that is needed.
pub fn set(slice: Duration) -> Result<(), String> {
    if !slice.is_zero() && !std::arch::is_x86_feature_detected!("xsave") {
        return Err("--slice needs a processor with xsave".into());
    }
    SLICE.store(slice.as_nanos().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
    Ok(())
}

/// The same, unless they are interrupted already, or cannot be.
pub fn set_if_none(slice: Duration) {
    if SLICE.load(Ordering::Relaxed) == 0 {
        // Without it they are not interrupted, as before.
        let _ = set(slice);
    }
}

/// A rank is about to run on this thread.
pub fn begin() {
    let slice = SLICE.load(Ordering::Relaxed);
    if slice != 0 && !HAS_TIMER.replace(true) {
        on_process_heap(|| {
            if let Err(error) = start_timer(Duration::from_nanos(slice)) {
                eprintln!("ranks are not interrupted (--slice): {error}");
            }
        });
    }
}

fn done(result: c_int) -> std::io::Result<()> {
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// The signal has its handler from now on.
fn handle() -> std::io::Result<()> {
    // SAFETY: all zeroes are a value of this structure.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = on_slice as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the structure is whole, and the handler calls nothing that may not be called in one.
    done(unsafe { libc::sigaction(SIGNAL, &raw const action, null_mut()) })
}

/// It ends with the thread, whose time it counts.
fn start_timer(slice: Duration) -> std::io::Result<()> {
    handle()?;
    // SAFETY: all zeroes are a value of this structure.
    let mut event: libc::sigevent = unsafe { zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = SIGNAL;
    let (seconds, nanoseconds) = (slice.as_secs() as i64, slice.subsec_nanos().into());
    let every = libc::timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = libc::itimerspec { it_interval: every, it_value: every };
    let mut timer = MaybeUninit::uninit();
    // SAFETY: the structures are whole.
    unsafe {
        event.sigev_notify_thread_id = libc::gettid();
        done(libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, timer.as_mut_ptr()))?;
        done(libc::timer_settime(timer.assume_init(), 0, &raw const times, null_mut()))
    }
}

unsafe extern "C" fn on_slice(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let runs = images::runs();
    if SEEN.replace(runs) != runs && !rank::is_asked() {
        return;
    }
    // SAFETY: a handler of this kind is given what was interrupted, which is on this thread.
    unsafe { interrupt(&mut *context.cast::<ucontext_t>()) };
}

/// Has the thread go on where it suspends the rank, if it was interrupted in the rank's own code.
///
/// # Safety
/// What was interrupted on this thread.
unsafe fn interrupt(context: &mut ucontext_t) {
    let registers = &mut context.uc_mcontext.gregs;
    let (code, stack) = (registers[REG_RIP as usize] as usize, registers[REG_RSP as usize] as usize);
    // While the runtime works for a rank, or allocates for the process, no rank runs by this.
    let Some((lowest, waits)) = lowest_stack(code, stack) else { return };
    let state = context.uc_mcontext.fpregs.cast::<u8>();
    // SAFETY: the system has saved the state there, as these words tell.
    let (magic, features, len) = unsafe {
        let told = state.add(SOFTWARE);
        (
            told.cast::<u32>().read(),
            told.add(8).cast::<u64>().read(),
            told.add(16).cast::<u32>().read() as usize,
        )
    };
    let words = stack - RED_ZONE - (REGISTERS.len() + 2) * size_of::<u64>();
    if magic != MAGIC || len > STATE_MAX || words.saturating_sub(len + STATE_ALIGN + ROOM) < lowest {
        return;
    }
    let area = (words - len) & !(STATE_ALIGN - 1);
    // SAFETY: the rank's stack below what it uses, of which there is enough; nothing else is there.
    unsafe {
        for (at, register) in REGISTERS.iter().chain(&[REG_EFL, REG_RIP]).enumerate() {
            (words as *mut u64).add(at).write(registers[*register as usize] as u64);
        }
        let saved = area as *mut u8;
        saved.copy_from_nonoverlapping(state, len);
        // Where the words are, and what of the state is to be loaded: `xrstor` does not read these bytes.
        saved.add(SOFTWARE).cast::<u64>().write(words as u64);
        saved.add(SOFTWARE + 8).cast::<u64>().write(features);
        saved.add(SOFTWARE + 16).cast::<u64>().write(waits.into());
    }
    // Not where it does what its threads ask for.
    set_waits_for_threads(false);
    /// The direction of copying, which functions find to be up (System V ABI, 3.2.1).
    const DOWN: i64 = 1 << 10;
    registers[REG_EFL as usize] &= !DOWN;
    registers[REG_RSP as usize] = area as i64;
    registers[REG_RIP as usize] = suspended as *const () as i64;
}

/// The lowest address of the stack of the rank that runs, if it runs there, and its own code, or waits for its threads; and whether
/// it does.
fn lowest_stack(code: usize, stack: usize) -> Option<(usize, bool)> {
    let (rank, space) = (thread::running()?, SlotSpace::get().ok()?);
    let start = space.address(rank).ok()? + space.layout().guard;
    let base = control::base_of_caller()?;
    if !(start..start + space.layout().stack).contains(&stack) {
        return None;
    }
    let is_own = (base..base + images::of_process()?.control()).contains(&code);
    let waits = waits_for_threads();
    (is_own || waits).then_some((start, waits))
}

/// Suspends the rank, and goes on where it was interrupted. Gone to with the stack pointer at the area of the state.
///
/// The state of floating point may be any, such as values in the registers of the x87 or another way of rounding: the
/// runtime gets what every function may expect.
#[unsafe(naked)]
unsafe extern "sysv64" fn suspended() {
    naked_asm!(
        "fninit",
        "push {mxcsr}",
        "ldmxcsr [rsp]",
        "add rsp, 8",
        "mov rdi, rsp",
        "call {suspend}",
        "mov eax, [rsp + {features}]",
        "mov edx, [rsp + {features} + 4]",
        "xrstor64 [rsp]",
        "mov rsp, [rsp + {software}]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rbp",
        "pop rbx",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "popfq",
        "ret {red_zone}",
        // Rounding to nearest, no exceptions (System V ABI, 3.4.1).
        mxcsr = const 0x1f80,
        suspend = sym suspend,
        features = const SOFTWARE + 8,
        software = const SOFTWARE,
        red_zone = const RED_ZONE,
    )
}

/// With the area of the state.
extern "sysv64" fn suspend(area: *const u8) {
    rank::give_way();
    // SAFETY: written by `interrupt`.
    let waits = unsafe { area.add(SOFTWARE + 16).cast::<u64>().read() };
    set_waits_for_threads(waits != 0);
}

/// Interrupts the rank that has started the thread that calls.
pub fn interrupt_owner() {
    static HANDLES: OnceLock<bool> = OnceLock::new();
    let handles = *HANDLES.get_or_init(|| std::arch::is_x86_feature_detected!("xsave") && handle().is_ok());
    if let Some(thread) = thread_of_owner().filter(|_| handles) {
        // SAFETY: a signal that has a handler, for a thread of this process.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, SIGNAL) };
    }
}
