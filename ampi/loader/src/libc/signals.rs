//! Signals: what a rank asks for is remembered, but not asked of the system.
//!
//! A signal comes to the process, where any rank may run, and its handler would be in a slot. So are timers that send
//! signals, and the stack for handlers. A program is told what it has asked for, and a signal that it sends itself
//! calls its handler. `SIGINT` and its like stay the runtime's;
//! so do faults, which end the rank that causes them.

use std::ffi::c_int;
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::Once;

use ::libc::{SIG_DFL, SIG_ERR, SIG_IGN, itimerval, sigaction, sigset_t, stack_t};

use super::{current, functions, set_errno, with_process_memory};

/// Signals have numbers below this.
const SIGNALS: usize = 65;

/// What a rank wants to happen.
#[repr(C)]
pub struct Signals {
    actions: [Action; SIGNALS],
    /// Signals that it has blocked, as far as it knows: bit 0 is signal 1.
    blocked: u64,
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
        Signals { actions: [Action { handler: SIG_DFL, flags: 0, mask: 0 }; SIGNALS], blocked: 0 }
    }

    pub fn blocked(&self) -> u64 {
        self.blocked
    }

    pub fn set_blocked(&mut self, blocked: u64) {
        self.blocked = blocked;
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
    "sigprocmask" => block,
    "pthread_sigmask" => block_in_thread,
    "sigaltstack" => signal_stack,
    "alarm" => alarm,
    "ualarm" => alarm_microseconds,
    "setitimer" => set_timer,
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

/// Without a handler it is what it is for the process.
unsafe extern "C" fn raise(signal: c_int) -> c_int {
    if handle(signal) {
        return 0;
    }
    // SAFETY: needs nothing.
    unsafe { ::libc::raise(signal) }
}

/// Calls the running rank's handler; false if it has none.
pub(super) fn handle(signal: c_int) -> bool {
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
    // SAFETY: a handler that the program has set. With SA_SIGINFO it takes two more arguments, of zeroes.
    unsafe {
        let handler: extern "C" fn(c_int, *mut ::libc::siginfo_t, usize) =
            std::mem::transmute(action.handler);
        let mut info: ::libc::siginfo_t = zeroed();
        info.si_signo = signal;
        handler(signal, &raw mut info, 0);
    }
    true
}

/// To itself it is `raise`.
unsafe extern "C" fn send(process: ::libc::pid_t, signal: c_int) -> c_int {
    // SAFETY: needs nothing.
    if process == unsafe { ::libc::getpid() } && handle(signal) {
        return 0;
    }
    // SAFETY: needs nothing.
    unsafe { ::libc::kill(process, signal) }
}

unsafe extern "C" fn block_in_thread(how: c_int, set: *const sigset_t, former: *mut sigset_t) -> c_int {
    // SAFETY: the running rank's state.
    let blocked = unsafe { &mut (*current()).signals.blocked };
    let known = *blocked;
    // SAFETY: called as C's function is; the first word of a set has the signals up to 64.
    unsafe {
        if !set.is_null() {
            let set = set.cast::<u64>().read();
            *blocked = match how {
                ::libc::SIG_BLOCK => known | set,
                ::libc::SIG_UNBLOCK => known & !set,
                ::libc::SIG_SETMASK => set,
                _ => return ::libc::EINVAL,
            };
        }
        if !former.is_null() {
            former.write(zeroed());
            former.cast::<u64>().write(known);
        }
    }
    0
}

unsafe extern "C" fn block(how: c_int, set: *const sigset_t, former: *mut sigset_t) -> c_int {
    // SAFETY: called as C's function is.
    match unsafe { block_in_thread(how, set, former) } {
        0 => 0,
        error => {
            set_errno(error);
            -1
        }
    }
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

/// Timers are not there: whoever relies on one is told, once in a process.
fn warn_of_timers(is_set: bool) {
    static WARNED: Once = Once::new();
    if is_set {
        with_process_memory(|| {
            WARNED.call_once(|| {
                eprintln!("a rank has set a timer (`alarm`, `setitimer`), whose signal never comes")
            });
        });
    }
}

/// No signal comes: there was none before, either.
unsafe extern "C" fn alarm(seconds: u32) -> u32 {
    warn_of_timers(seconds > 0);
    0
}

unsafe extern "C" fn alarm_microseconds(first: u32, _interval: u32) -> u32 {
    warn_of_timers(first > 0);
    0
}

/// As above.
unsafe extern "C" fn set_timer(_which: c_int, new: *const itimerval, former: *mut itimerval) -> c_int {
    // SAFETY: called as C's function is.
    let first = unsafe { new.as_ref() }.map(|new| new.it_value);
    warn_of_timers(first.is_some_and(|first| first.tv_sec != 0 || first.tv_usec != 0));
    if !former.is_null() {
        // SAFETY: called as C's function is; zeroes are a value of it.
        unsafe { former.write(zeroed()) };
    }
    0
}
