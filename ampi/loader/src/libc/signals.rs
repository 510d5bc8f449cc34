//! Signals: what a rank asks for is remembered, but not asked of the system.
//!
//! A signal comes to the process, where any rank may run, and its handler would be in a slot. So it is with the stack for handlers. A
//! program is told what it has asked for, and a signal that it sends itself calls its handler, or waits until it is not blocked
//! ([`super::signal_waits`]). `SIGINT` and its like stay the runtime's; so do faults, which end the rank that causes them.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use ::libc::{SIG_DFL, SIG_ERR, SIG_IGN, pid_t, pthread_t, sigaction, sigset_t, stack_t};

use super::own_threads::is_own_thread;
use super::process_number::process;
use super::{current, functions, set_errno};

/// Signals have numbers below this.
const SIGNALS: usize = 65;

/// What a rank wants to happen.
#[repr(C)]
pub struct Signals {
    actions: [Action; SIGNALS],
    /// Signals that its first thread has blocked, as far as it knows: bit 0 is signal 1.
    blocked: u64,
    /// Those that it has sent itself, and that are blocked.
    pending: AtomicU64,
}

thread_local! {
    /// What a thread has blocked that a rank has started.
    static BLOCKED: Cell<u64> = const { Cell::new(0) };
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Action {
    handler: usize,
    flags: c_int,
    mask: u64,
}

impl Signals {
    pub const fn new() -> Signals {
        let none = Action { handler: SIG_DFL, flags: 0, mask: 0 };
        Signals { actions: [none; SIGNALS], blocked: 0, pending: AtomicU64::new(0) }
    }
}

functions! {
    "signal" => signal,
    "bsd_signal" => signal,
    "__sysv_signal" => signal_once,
    "sysv_signal" => signal_once,
    "sigaction" => action,
    "__sigaction" => action,
    "raise" => raise,
    "gsignal" => raise,
    "kill" => send,
    "sigqueue" => send_with_value,
    "tgkill" => send_to_thread_of,
    "pthread_kill" => send_to_thread,
    "sigaltstack" => signal_stack,
}

fn actions<'a>() -> &'a mut [Action; SIGNALS] {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).signals.actions }
}

/// Those that can be handled.
fn number(signal: c_int) -> Option<usize> {
    let number = usize::try_from(signal).ok()?;
    let fixed = signal == ::libc::SIGKILL || signal == ::libc::SIGSTOP;
    (number > 0 && number < SIGNALS && !fixed).then_some(number)
}

fn remember(signal: c_int, action: Action) -> usize {
    match number(signal) {
        Some(number) => std::mem::replace(&mut actions()[number], action).handler,
        None => {
            set_errno(::libc::EINVAL);
            SIG_ERR
        }
    }
}

unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    remember(signal, Action { handler, flags: ::libc::SA_RESTART, mask: 0 })
}

unsafe extern "C" fn signal_once(signal: c_int, handler: usize) -> usize {
    remember(signal, Action { handler, flags: ::libc::SA_RESETHAND | ::libc::SA_NODEFER, mask: 0 })
}

unsafe extern "C" fn action(signal: c_int, new: *const sigaction, former: *mut sigaction) -> c_int {
    let Some(number) = number(signal) else {
        set_errno(::libc::EINVAL);
        return -1;
    };
    let known = actions()[number];
    // SAFETY: called as C's function is; the first word of a set has the signals up to 64.
    unsafe {
        if !new.is_null() {
            let mask = (&raw const (*new).sa_mask).cast::<u64>().read();
            actions()[number] = Action { handler: (*new).sa_sigaction, flags: (*new).sa_flags, mask };
        }
        if !former.is_null() {
            let mut told: sigaction = zeroed();
            (told.sa_sigaction, told.sa_flags) = (known.handler, known.flags);
            (&raw mut told.sa_mask).cast::<u64>().write(known.mask);
            former.write(told);
        }
    }
    0
}

/// The process is a copy of which this rank is alone, and has no handlers: none of the runtime's.
pub(super) fn leave_to_system() {
    for signal in 1..SIGNALS as c_int {
        // SAFETY: zeroes are a value of an action; it fails for signals that cannot be handled.
        unsafe {
            let mut known: sigaction = zeroed();
            ::libc::sigaction(signal, null(), &raw mut known);
            if known.sa_sigaction != SIG_IGN {
                ::libc::signal(signal, SIG_DFL);
            }
        }
    }
}

/// What the rank ignores and blocks is ignored and blocked by the program that this process is about to become.
pub(super) fn pass_on() {
    for signal in (1..SIGNALS as c_int).filter(|signal| number(*signal).is_some()) {
        let ignored = actions()[signal as usize].handler == SIG_IGN;
        // SAFETY: no handler is set.
        unsafe { ::libc::signal(signal, if ignored { SIG_IGN } else { SIG_DFL }) };
    }
    // SAFETY: the running rank's state; the first word of a set has the signals up to 64.
    unsafe {
        let mut blocked: sigset_t = zeroed();
        (&raw mut blocked).cast::<u64>().write((*current()).signals.blocked);
        ::libc::pthread_sigmask(::libc::SIG_SETMASK, &raw const blocked, null_mut());
    }
}

fn bit(number: usize) -> u64 {
    1 << (number - 1)
}

/// Signals that the calling thread has blocked.
pub(super) fn blocked() -> u64 {
    // SAFETY: the running rank's state.
    if is_own_thread() { BLOCKED.get() } else { unsafe { (*current()).signals.blocked } }
}

/// What is not blocked any more, and was sent before, is handled.
pub(super) fn set_blocked(blocked: u64) {
    match is_own_thread() {
        true => BLOCKED.set(blocked),
        // SAFETY: the running rank's state.
        false => unsafe { (*current()).signals.blocked = blocked },
    }
    while let Some(signal) = take_pending(!blocked) {
        if !handle(signal, null_mut()) {
            // SAFETY: needs nothing.
            unsafe { ::libc::raise(signal) };
        }
    }
}

/// Signals that the rank has sent itself, and that have not been handled.
pub(super) fn pending() -> u64 {
    // SAFETY: the running rank's state.
    unsafe { (*current()).signals.pending.load(Ordering::Relaxed) }
}

/// The first of these that is pending, which it is not any more.
pub(super) fn take_pending(of: u64) -> Option<c_int> {
    // SAFETY: the running rank's state.
    let all = unsafe { &(*current()).signals.pending };
    let first = all.load(Ordering::Relaxed) & of;
    let taken = first & first.wrapping_neg();
    let is_there = taken != 0 && all.fetch_and(!taken, Ordering::Relaxed) & taken != 0;
    is_there.then(|| taken.trailing_zeros() as c_int + 1)
}

/// A signal of the rank's for the thread that calls, or another one: it is handled at once, or is pending. False if it has no handler, and
/// is not blocked.
fn receive(signal: c_int, value: *mut c_void, is_own: bool) -> bool {
    let Some(number) = number(signal) else { return false };
    let is_handled = if is_own { blocked() & bit(number) == 0 } else { actions()[number].handler != SIG_DFL };
    if is_handled {
        return handle(signal, value);
    }
    // SAFETY: the running rank's state.
    unsafe { (*current()).signals.pending.fetch_or(bit(number), Ordering::Relaxed) };
    true
}

/// Without a handler it is what it is for the process.
unsafe extern "C" fn raise(signal: c_int) -> c_int {
    if receive(signal, null_mut(), true) {
        return 0;
    }
    // SAFETY: needs nothing.
    unsafe { ::libc::raise(signal) }
}

/// Calls the running rank's handler; false if it has none.
pub(super) fn handle(signal: c_int, value: *mut c_void) -> bool {
    handle_while(signal, value, blocked())
}

/// The same while these are blocked.
pub(super) fn handle_while(signal: c_int, value: *mut c_void, blocks: u64) -> bool {
    let Some(number) = number(signal) else { return false };
    let action = actions()[number];
    match action.handler {
        SIG_DFL => return false,
        SIG_IGN => return true,
        _ => {}
    }
    if action.flags & ::libc::SA_RESETHAND != 0 {
        actions()[number].handler = SIG_DFL;
    }
    let before = blocked();
    let own = if action.flags & ::libc::SA_NODEFER != 0 { 0 } else { bit(number) };
    set_blocked(blocks | action.mask | own);
    // SAFETY: a handler that the program has set. With SA_SIGINFO it takes two more arguments, the last of zeroes.
    unsafe {
        let handler: extern "C" fn(c_int, *mut Info, usize) = std::mem::transmute(action.handler);
        let mut info: Info = zeroed();
        (info.signal, info.process, info.value) = (signal, process(), value);
        handler(signal, &raw mut info, 0);
    }
    set_blocked(before);
    true
}

/// What the system says of a signal that a process has sent (`siginfo_t`).
#[repr(C)]
struct Info {
    signal: c_int,
    error: c_int,
    code: c_int,
    padding: c_int,
    process: pid_t,
    user: u32,
    value: *mut c_void,
    rest: [u64; 12],
}

/// Whether that is the number of the rank's process.
fn is_own(other: pid_t) -> bool {
    // SAFETY: takes nothing.
    other == unsafe { ::libc::getpid() } || other == process()
}

/// A number as the system knows it.
fn of_system(other: pid_t) -> pid_t {
    // SAFETY: takes nothing.
    if is_own(other) { unsafe { ::libc::getpid() } } else { other }
}

/// To itself it is `raise`.
unsafe extern "C" fn send(process: pid_t, signal: c_int) -> c_int {
    if is_own(process) && signal != 0 {
        // SAFETY: needs nothing.
        return unsafe { raise(signal) };
    }
    // SAFETY: needs nothing.
    unsafe { ::libc::kill(of_system(process), signal) }
}

unsafe extern "C" fn send_with_value(process: pid_t, signal: c_int, value: *mut c_void) -> c_int {
    unsafe extern "C" {
        fn sigqueue(process: pid_t, signal: c_int, value: *mut c_void) -> c_int;
    }
    if is_own(process) && receive(signal, value, true) {
        return 0;
    }
    // SAFETY: called as C's function is.
    unsafe { sigqueue(of_system(process), signal, value) }
}

/// The rank's threads have no handlers of the system's.
unsafe extern "C" fn send_to_thread(thread: pthread_t, signal: c_int) -> c_int {
    // SAFETY: takes nothing.
    let is_own = thread == unsafe { ::libc::pthread_self() };
    if signal != 0 && receive(signal, null_mut(), is_own) {
        return 0;
    }
    // SAFETY: called as C's function is.
    unsafe { ::libc::pthread_kill(thread, signal) }
}

unsafe extern "C" fn send_to_thread_of(process: pid_t, thread: pid_t, signal: c_int) -> c_int {
    // SAFETY: takes nothing.
    let is_own_thread = thread == unsafe { ::libc::gettid() };
    if is_own(process) && signal != 0 && receive(signal, null_mut(), is_own_thread) {
        return 0;
    }
    // SAFETY: needs nothing.
    unsafe { ::libc::syscall(::libc::SYS_tgkill, of_system(process), thread, signal) as c_int }
}

/// The thread has one, for faults, which is the runtime's.
unsafe extern "C" fn signal_stack(_new: *const stack_t, former: *mut stack_t) -> c_int {
    if !former.is_null() {
        // SAFETY: called as C's function is; zeroes are a value of it.
        unsafe {
            former.write(zeroed());
            (*former).ss_flags = ::libc::SS_DISABLE;
        }
    }
    0
}
