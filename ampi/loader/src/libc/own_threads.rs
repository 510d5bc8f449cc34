//! Threads that a rank starts: threads of the system, beside that of the PE. They have the rank's state of the C library,
//! thread-locals of their own, and the process's memory. So the rank stays where it is from then on.
//!
//! They are not the rank: its first thread does for them what they ask MPI for. That one goes on to take turns with other
//! ranks.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::arch::{asm, global_asm};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use ::libc::{pthread_attr_t, pthread_t};

use super::keys::{KEYS, destructor};
use super::pause::sleep;
use super::state::ABORTED;
use super::{CURRENT, State, current, exit, functions, with_process_memory};
use crate::PAGE;
use crate::linker::loaded;
use crate::thread_locals::thread_pointer;

/// What a rank knows of its threads.
#[repr(C)]
pub struct OwnThreads {
    have_begun: bool,
    changed: bool,
    /// How many have not ended.
    live: AtomicU32,
}

impl OwnThreads {
    pub const fn new() -> OwnThreads {
        OwnThreads { have_begun: false, changed: false, live: AtomicU32::new(0) }
    }

    /// Whether there has been one: what it has allocated may be in use when it has ended.
    pub fn have_begun(&self) -> bool {
        self.have_begun
    }

    /// Whether any runs.
    pub fn are_live(&self) -> bool {
        self.live.load(Ordering::Acquire) > 0
    }

    pub fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The same, and it stays so.
    pub fn has_change(&self) -> bool {
        self.changed
    }
}

// Where the thread-locals of the rank's first thread are, how many bytes, and where this thread has its own: zeroes in a
// thread that no rank has started.
global_asm!(
    ".pushsection .tbss.talisman_loader, \"awT\", @nobits",
    ".balign 8",
    ".hidden talisman_loader_own",
    ".globl talisman_loader_own",
    "talisman_loader_own:",
    ".zero 24",
    ".popsection",
);

/// The three words of this thread.
#[inline(never)]
fn own_words() -> *mut [usize; 3] {
    let distance: usize;
    // SAFETY: computes a distance only.
    unsafe {
        asm!("lea {}, [talisman_loader_own@tpoff]", out(reg) distance, options(pure, nomem, nostack));
    }
    thread_pointer().wrapping_add(distance) as *mut [usize; 3]
}

/// Where this thread has what the rank's first thread has at this address.
pub(crate) fn place_in_thread(address: usize) -> usize {
    // SAFETY: words of this thread, which nobody has borrowed.
    let [first, len, own] = unsafe { *own_words() };
    let offset = address.wrapping_sub(first);
    if offset < len { own + offset } else { address }
}

/// What a thread runs.
type Function = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

unsafe extern "C-unwind" {
    fn pthread_exit(result: *mut c_void) -> !;
}

unsafe extern "C" {
    fn pthread_create(
        place: *mut pthread_t,
        attributes: *const pthread_attr_t,
        function: Function,
        argument: *mut c_void,
    ) -> c_int;
}

/// Of one thread, in the process's memory.
struct Thread {
    state: *mut State,
    /// The thread of the system that the rank runs on, which stays there.
    of_rank: ::libc::pid_t,
    function: Function,
    argument: *mut c_void,
    values: [*mut c_void; KEYS],
    locals: *mut u8,
    layout: Layout,
    /// Where thread-locals begin in `locals`.
    begin: usize,
}

thread_local! {
    /// That of this thread, if a rank has started it.
    static OWN: Cell<*mut Thread> = const { Cell::new(null_mut()) };
}

/// Whether a rank has started the thread that calls.
pub fn is_own_thread() -> bool {
    !OWN.get().is_null()
}

/// Whether the rank that runs on this thread has started any: from then on its memory is the process's.
pub fn has_started_threads() -> bool {
    let state = CURRENT.get();
    // SAFETY: a state that is entered is there.
    !state.is_null() && unsafe { (*state).threads.have_begun }
}

/// Whether the rank that runs on this thread has started any that has not ended.
pub fn has_live_threads() -> bool {
    let state = CURRENT.get();
    // SAFETY: a state that is entered is there.
    !state.is_null() && unsafe { (*state).threads.are_live() }
}

/// The number of the rank that has started the thread that calls, if one has.
pub fn owner_of_thread() -> Option<u32> {
    let own = OWN.get();
    // SAFETY: both are there as long as the thread.
    (!own.is_null()).then(|| unsafe { (*(*own).state).owner })
}

/// The thread of the system on which the rank runs that has started the thread that calls, if one has.
pub fn thread_of_owner() -> Option<::libc::pid_t> {
    let own = OWN.get();
    // SAFETY: it is there as long as the thread.
    (!own.is_null()).then(|| unsafe { (*own).of_rank })
}

/// Where this thread has the value of a key, if a rank has started it.
pub(super) fn value<'a>(number: usize) -> Option<&'a mut *mut c_void> {
    let own = OWN.get();
    // SAFETY: it is there as long as the thread, which alone looks at it.
    (!own.is_null()).then(|| unsafe { &mut (&mut *own).values[number] })
}

functions! {
    "pthread_create" => create,
    "thrd_create" => create_of_c,
    "pthread_join" => join,
    "pthread_exit" => end,
}

unsafe extern "C" {
    fn pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    fn __cxa_thread_atexit_impl(function: usize, argument: *mut c_void, object: *const c_void) -> c_int;
    static __dso_handle: c_void;
}

unsafe extern "C" fn create(
    place: *mut pthread_t,
    attributes: *const pthread_attr_t,
    function: Function,
    argument: *mut c_void,
) -> c_int {
    let state = current();
    // SAFETY: the running rank's state.
    let threads = unsafe { &mut (*state).threads };
    threads.changed |= !threads.have_begun;
    threads.have_begun = true;
    threads.live.fetch_add(1, Ordering::AcqRel);
    // What the C library keeps of a thread is not the rank's.
    let created = with_process_memory(|| {
        let Some(own) = Thread::new(state, function, argument) else { return ::libc::EAGAIN };
        let own = Box::into_raw(Box::new(own));
        // SAFETY: called as C's function is; the thread takes what it is given.
        let created = unsafe { pthread_create(place, attributes, begin, own.cast()) };
        if created != 0 {
            // SAFETY: no thread has it.
            drop(unsafe { Box::from_raw(own) });
        }
        created
    });
    if created != 0 {
        threads.live.fetch_sub(1, Ordering::AcqRel);
    }
    created
}

/// Values of C11.
unsafe extern "C" fn create_of_c(place: *mut pthread_t, function: Function, argument: *mut c_void) -> c_int {
    const ERROR: c_int = 2;
    // SAFETY: called as C's function is. What the function returns is the lower half of a word.
    if unsafe { create(place, std::ptr::null(), function, argument) } == 0 { 0 } else { ERROR }
}

/// `pthread_exit` unwinds through what was called.
extern "C-unwind" fn begin(own: *mut c_void) -> *mut c_void {
    let own = own.cast::<Thread>();
    // SAFETY: what `create` has made for this thread, which alone has it.
    let (function, argument) = unsafe {
        OWN.set(own);
        CURRENT.set((*own).state);
        (*own).enter();
        // Called last, as it is the first.
        __cxa_thread_atexit_impl(finish as *const () as usize, own.cast(), &raw const __dso_handle);
        ((*own).function, (*own).argument)
    };
    function(argument)
}

/// How often destructors of values may set others (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ROUNDS: usize = 4;

/// The thread ends, in whatever way.
unsafe extern "C" fn finish(own: *mut c_void) {
    let own = own.cast::<Thread>();
    for _ in 0..ROUNDS {
        for number in 0..KEYS {
            // SAFETY: this thread's own, until it is freed below.
            let value = unsafe { std::mem::replace(&mut (&mut *own).values[number], null_mut()) };
            if let Some(function) = destructor(number).filter(|_| !value.is_null()) {
                // SAFETY: the program has given it for such values.
                unsafe { std::mem::transmute::<usize, extern "C" fn(*mut c_void)>(function)(value) };
            }
        }
    }
    OWN.set(null_mut());
    CURRENT.set(null_mut());
    // SAFETY: words of this thread; nobody looks for its thread-locals any more. The state stays as long as one lives.
    unsafe {
        *own_words() = [0; 3];
        let own = Box::from_raw(own);
        (*own.state).threads.live.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A thread-local of the thread that calls is to be destroyed at its end.
pub(super) fn at_exit(function: usize, argument: *mut c_void) -> c_int {
    // SAFETY: the program's own function and its argument.
    unsafe { __cxa_thread_atexit_impl(function, argument, &raw const __dso_handle) }
}

/// So often it is looked whether a thread has ended.
const LOOK: u64 = 50_000;

/// Others run while the rank's first thread waits for one.
unsafe extern "C" fn join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
    if is_own_thread() {
        // SAFETY: called as C's function is.
        return unsafe { ::libc::pthread_join(thread, result) };
    }
    loop {
        // SAFETY: called as C's function is.
        match unsafe { pthread_tryjoin_np(thread, result) } {
            ::libc::EBUSY => sleep(LOOK),
            joined => return joined,
        }
    }
}

/// Of the first thread: the rank ends when all others have.
unsafe extern "C-unwind" fn end(result: *mut c_void) -> ! {
    if is_own_thread() {
        // SAFETY: called as C's function is.
        unsafe { pthread_exit(result) }
    }
    // SAFETY: the running rank's state.
    while unsafe { (*current()).threads.are_live() } {
        sleep(LOOK);
    }
    // SAFETY: called by the rank.
    unsafe { exit::exit(0) }
}

/// Has the first thread of the rank call the function with these two numbers, that has started the thread that calls.
pub type EndRank = fn(fn(c_int, c_int) -> !, c_int, c_int) -> !;

static END_RANK: OnceLock<EndRank> = OnceLock::new();

/// Says how a thread that is not a rank's first ends it. Once in a process: later calls change nothing.
pub fn set_end_rank(end: EndRank) {
    let _first = END_RANK.set(end);
}

/// A thread cannot end its rank, which is elsewhere on its stack: that does it by itself. Where nobody can tell it the process ends.
pub(super) fn end_rank(how: c_int, status: c_int) -> ! {
    match END_RANK.get() {
        Some(end_rank) => end_rank(exit::end_here, how, status),
        // SAFETY: takes nothing.
        None if how == ABORTED => unsafe { ::libc::abort() },
        // SAFETY: a number.
        None => unsafe { ::libc::_exit(status) },
    }
}

impl Thread {
    /// None without memory.
    fn new(state: *mut State, function: Function, argument: *mut c_void) -> Option<Thread> {
        // SAFETY: the running rank's state.
        let base = unsafe { (*state).base };
        let program = loaded::at(base)?.program;
        let all = program.all_thread_locals();
        // Each has the place in its page that it has in the image.
        let begin = (base + all.start) % PAGE;
        let layout = Layout::from_size_align(begin + all.len() + 1, PAGE).ok()?;
        // SAFETY: it is not empty.
        let locals = unsafe { alloc_zeroed(layout) };
        if locals.is_null() {
            return None;
        }
        for (at, from, len) in program.first_values() {
            // SAFETY: first values are in the image, as the plan was checked; and their places among thread-locals.
            unsafe {
                let place = locals.add(begin + (at - all.start));
                std::ptr::copy_nonoverlapping((base + from) as *const u8, place, *len);
            }
        }
        // SAFETY: takes nothing.
        let of_rank = thread_of_owner().unwrap_or_else(|| unsafe { ::libc::gettid() });
        Some(Thread { state, of_rank, function, argument, values: [null_mut(); KEYS], locals, layout, begin })
    }

    /// Thread-locals of the thread that calls are these from now on.
    ///
    /// # Safety
    /// No code of the program has run on it.
    unsafe fn enter(&self) {
        // SAFETY: the state of a rank that is there.
        let base = unsafe { (*self.state).base };
        let Some(copy) = loaded::at(base) else { return };
        let (all, pad) = (copy.program.all_thread_locals(), copy.program.thread_locals());
        // SAFETY: room below the thread pointer of each thread of this executable; the pad comes first.
        unsafe {
            let first = self.locals.add(self.begin);
            let place = (thread_pointer() - pad.len) as *mut u8;
            std::ptr::copy_nonoverlapping(first, place, pad.len);
            *own_words() = [base + all.start, all.len(), first as usize];
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.locals, self.layout) };
    }
}
