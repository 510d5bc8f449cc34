//! A rank whose program was mapped, and that meets with a fault, ends: its PE goes on, and can say so.
//!
//! The handler notes what has happened in the rank's header, and has the system go on at the switch to who has resumed
//! the rank. Nothing of the rank runs any more. This is so if code of the program was interrupted, or of a library of
//! the process that it has called; where the runtime's own code was, nobody knows what it has left half done, and the
//! process ends.
//!
//! A thread that a rank has started has the rank end the job, if code of the program was interrupted. In a library of the
//! process it may have something locked that its rank needs for that: then it is said whose it was, and the process ends.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::OnceLock;

use super::{Part, say, state, switch, write_line};
use crate::slot::{Header, SlotSpace, images, images_of, on_process_heap};

/// What people call faults.
fn name(signal: c_int) -> &'static [u8] {
    match signal {
        libc::SIGSEGV => b"segmentation fault",
        libc::SIGBUS => b"bus error",
        libc::SIGFPE => b"arithmetic exception",
        _ => b"illegal instruction",
    }
}

/// Has the rank end that was interrupted by a fault at this address; false if it cannot, and the process has to.
///
/// # Safety
/// The header is null, or that of the rank that runs on this thread, which was interrupted with these registers.
pub unsafe fn ends_rank(
    header: *mut Header,
    signal: c_int,
    address: usize,
    context: &mut libc::ucontext_t,
) -> bool {
    // SAFETY: the caller's promise.
    let Some(header) = (unsafe { header.as_mut() }).filter(|header| header.images > 0) else { return false };
    let registers = &mut context.uc_mcontext.gregs;
    let code = registers[libc::REG_RIP as usize] as usize;
    let program = images_of(header.slot as u32, header.images as usize);
    let is_own = program.contains(&code);
    // What it says is found in the executable's own tables, and allocated on the process's heap: of which nothing is
    // held, as the program was interrupted, or a library.
    let returns_to = returns_to(header, registers[libc::REG_RSP as usize] as usize);
    let slot = header.slot as u32;
    let full = stack_below(slot, registers[libc::REG_RSP as usize] as usize, address);
    let (function, caller) = on_process_heap(|| {
        let caller = if is_own { None } else { caller_in(slot, &program, returns_to) };
        (function_at(slot, &program, code), caller)
    });
    header.thread.message.fill(0);
    write_line(
        &mut header.thread.message,
        &[
            Part::Text(name(signal)),
            b" at address ".into(),
            Part::Address(address),
            Part::Text(if function.is_some() { b" in function " } else { b"" }),
            Part::Text(function.as_deref().unwrap_or_default().as_bytes()),
            Part::Text(if caller.is_some() { b", called by " } else { b"" }),
            Part::Text(caller.as_deref().unwrap_or_default().as_bytes()),
            Part::Text(if full.is_some() { b": it is behind the end of the rank's stack of " } else { b"" }),
            full.map_or(Part::Text(b""), Part::Number),
            Part::Text(if full.is_some() { b" bytes; --rank-stack gives it more" } else { b"" }),
        ],
    );
    on_process_heap(|| drop((function, caller)));
    if header.thread.ended != state::LIVE || (!is_own && is_of_runtime(code)) {
        say(&[
            b"rank ".into(),
            header.slot.into(),
            b": ".into(),
            Part::Text(text(&header.thread.message)),
            b"\n".into(),
        ]);
        return false;
    }
    header.thread.ended = state::FAULTED + signal.unsigned_abs();
    // The rank's stack may be the fault: what is left of it is used from its upper end.
    let stack = std::ptr::from_mut(header).addr() - 256;
    for (register, value) in [
        (libc::REG_RSI, header.thread.resumer),
        (libc::REG_RSP, stack / 16 * 16 - 8),
        (libc::REG_RIP, switch::abandon as *const () as usize),
    ] {
        registers[register as usize] = value as i64;
    }
    true
}

/// Does what an instruction does that the processor refuses, and says whether it did. Whether it is the program's own is said to it.
///
/// # Safety
/// See [`set_answers`].
pub type Answers = unsafe fn(context: &mut libc::ucontext_t, is_of_program: bool) -> bool;

static ANSWERS: OnceLock<Answers> = OnceLock::new();

/// Has this function asked at each instruction that the processor refuses to a thread that runs ranks, in a handler of signals, with the
/// registers of what was interrupted. Once in a process: later calls change nothing.
pub fn set_answers(answers: Answers) {
    let _first = ANSWERS.set(answers);
}

/// Whether the instruction was answered, and the program can go on.
///
/// # Safety
/// The header is null, or that of the rank that runs on this thread, which was interrupted with these registers.
pub unsafe fn is_answered(header: *mut Header, context: &mut libc::ucontext_t) -> bool {
    let Some(answers) = ANSWERS.get() else { return false };
    let code = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    // SAFETY: the caller's promise.
    let header = unsafe { header.as_ref() }.filter(|header| header.images > 0);
    let is_of_program =
        header.is_some_and(|header| images_of(header.slot as u32, header.images as usize).contains(&code));
    // SAFETY: the caller's promise; the processor has read the code.
    unsafe { answers(context, is_of_program) }
}

/// Says which rank was in a call when the runtime met with a fault: mostly for a buffer of it that is not its memory. The process ends, as
/// nobody knows what was left half done.
///
/// # Safety
/// The header is null, or that of a rank whose call was interrupted on this thread.
pub unsafe fn say_whose_call(header: *mut Header, signal: c_int, address: usize) {
    // SAFETY: the caller's promise.
    let Some(header) = (unsafe { header.as_ref() }) else { return };
    say(&[
        b"rank ".into(),
        header.slot.into(),
        b": ".into(),
        Part::Text(name(signal)),
        b" at address ".into(),
        Part::Address(address),
        b" in a call of MPI: is what it was given memory of the program?\n".into(),
    ]);
}

/// What is known of threads that ranks have started by whoever lets them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherThreads {
    /// The rank that has started the thread that calls, if it is such a thread.
    pub rank_of_caller: fn() -> Option<u32>,
    /// Such a thread has its rank end the job with this exit status, and say why. It does not go on.
    pub end_job: fn(u8, &str) -> !,
}

static OTHER_THREADS: OnceLock<OtherThreads> = OnceLock::new();

/// Says what is known of them. Once in a process: later calls change nothing.
pub(crate) fn set_other_threads(threads: OtherThreads) {
    let _first = OTHER_THREADS.set(threads);
}

/// How a thread ends that was interrupted by a fault.
struct Ending {
    threads: OtherThreads,
    status: u8,
    why: String,
}

/// Has the thread end the job that was interrupted by a fault at this address with these registers, if a rank has started it; false if it
/// cannot, and the process has to.
pub(super) fn ends_thread(signal: c_int, address: usize, context: &mut libc::ucontext_t) -> bool {
    let Some(threads) = OTHER_THREADS.get() else { return false };
    let Some(rank) = (threads.rank_of_caller)() else { return false };
    let registers = &mut context.uc_mcontext.gregs;
    let code = registers[libc::REG_RIP as usize] as usize;
    let program = images(rank).map_or(0..0, |images| images_of(rank, images.span()));
    if !program.contains(&code) {
        say(&[
            b"rank ".into(),
            u64::from(rank).into(),
            b": ".into(),
            Part::Text(name(signal)),
            b" at address ".into(),
            Part::Address(address),
            b" in a thread that it has started\n".into(),
        ]);
        return false;
    }
    // Nothing of the runtime or the process was interrupted, so it can be called and can allocate.
    let function =
        function_at(rank, &program, code).map_or_else(String::new, |name| format!(" in function {name}"));
    let what = String::from_utf8_lossy(name(signal));
    let why =
        format!("rank {rank}: {what} at address {address:#x}{function}, in a thread that it has started");
    let ending = Ending { threads: *threads, status: 128 | signal as u8, why };
    let stack = registers[libc::REG_RSP as usize] as usize - RED_ZONE;
    for (register, value) in [
        (libc::REG_RDI, Box::into_raw(Box::new(ending)).expose_provenance()),
        // As a call leaves it: aligned but for where it returns to.
        (libc::REG_RSP, stack / 16 * 16 - 8),
        (libc::REG_RIP, end_thread as *const () as usize),
    ] {
        registers[register as usize] = value as i64;
    }
    true
}

/// What a function may use below the end of its stack (System V ABI for x86-64, 3.2.2).
const RED_ZONE: usize = 128;

/// What a thread goes on with that was interrupted by a fault.
extern "C" fn end_thread(ending: Box<Ending>) -> ! {
    (ending.threads.end_job)(ending.status, &ending.why)
}

fn text(message: &[u8]) -> &[u8] {
    &message[..message.iter().position(|byte| *byte == 0).unwrap_or(message.len())]
}

fn function_at(slot: u32, program: &Range<usize>, code: usize) -> Option<String> {
    images(slot).ok()?.function_at(program.start, code)
}

/// Bytes of the rank's stack, if a function has more variables than fit, so many that what it met with is far behind the end.
fn stack_below(slot: u32, pointer: usize, address: usize) -> Option<u64> {
    /// More has no function's variables, and less is found at the end itself.
    const MOST: usize = 1 << 40;
    let space = SlotSpace::get().ok()?;
    let start = space.address(slot).ok()? + space.layout().guard;
    let is_below = pointer < start
        && start - pointer < MOST
        && (pointer.saturating_sub(1 << 20)..start).contains(&address);
    is_below.then_some(space.layout().stack as u64)
}

/// The word at the end of the rank's stack: where a function returns to that has only been called.
fn returns_to(header: &Header, end: usize) -> usize {
    let above = std::ptr::from_ref(header).addr();
    let stack = SlotSpace::get().map_or(0, |space| space.layout().stack);
    let is_there = (above - stack..above).contains(&end) && end.is_multiple_of(size_of::<usize>());
    // SAFETY: a word of the rank's stack.
    if is_there { unsafe { (end as *const usize).read() } } else { 0 }
}

/// The program's function that has called what was interrupted, which is not its own.
fn caller_in(slot: u32, program: &Range<usize>, returns_to: usize) -> Option<String> {
    let mut search = Search { program: program.clone(), found: None };
    // SAFETY: walks the stack by tables of the process's libraries; the program has none there, and is not walked.
    unsafe { _Unwind_Backtrace(look, (&raw mut search).cast()) };
    let called = returns_to.wrapping_sub(1);
    function_at(slot, program, search.found.or(program.contains(&called).then_some(called))?)
}

struct Search {
    program: Range<usize>,
    found: Option<usize>,
}

extern "C" fn look(context: *mut c_void, search: *mut c_void) -> c_int {
    /// `_URC_NO_REASON`: on to the next frame; any other one ends it.
    const GO_ON: c_int = 0;
    const STOP: c_int = 4;
    // SAFETY: what was handed over, and the unwinder's own.
    let (search, code) = unsafe { (&mut *search.cast::<Search>(), _Unwind_GetIP(context)) };
    // It is where the call returns to.
    search.found = Some(code.wrapping_sub(1)).filter(|code| search.program.contains(code));
    if search.found.is_some() { STOP } else { GO_ON }
}

// The C++ ABI for Itanium, Level I; Rust's own library has it from the same place.
unsafe extern "C" {
    fn _Unwind_Backtrace(look: extern "C" fn(*mut c_void, *mut c_void) -> c_int, with: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// Whether this is code of this executable.
fn is_of_runtime(code: usize) -> bool {
    let object = |code: usize| {
        let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: a place for what is found; all zeroes is a value of it.
        unsafe {
            libc::dladdr(code as *const c_void, found.as_mut_ptr());
            found.assume_init().dli_fbase.addr()
        }
    };
    object(code) == object(is_of_runtime as *const () as usize)
}
