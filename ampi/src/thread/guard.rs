//! A stack that overflows says whose it is; and a rank whose program was mapped ends where it meets with a fault.

use std::cell::RefCell;
use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::OnceLock;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::fault;
use super::say;
use crate::slot::{SlotSpace, current, in_call};

/// Room for the handler, which looks who has called whom, and for the system's frame with all registers.
const SIGNAL_STACK: usize = 128 << 10;

/// The fault is no access to memory: the processor refuses an instruction.
const SI_KERNEL: i32 = 0x80;

/// Faults, and what was done about each before.
static FORMER: [(i32, OnceLock<libc::sigaction>); 4] = [
    (libc::SIGSEGV, OnceLock::new()),
    (libc::SIGBUS, OnceLock::new()),
    (libc::SIGFPE, OnceLock::new()),
    (libc::SIGILL, OnceLock::new()),
];

/// From now on a rank that runs out of stack on this thread ends the process with a message, and one whose program was
/// mapped [ends](super::Resumed::Faulted) if it meets with a fault. Other faults go to the handler that was there before.
/// To be called by each thread that resumes ranks.
///
/// # Errors
/// If the system refuses.
pub fn catch_faults() -> io::Result<()> {
    signal_stack()?;
    FORMER.iter().try_for_each(|(signal, former)| catch(*signal, former))
}

fn catch(signal: i32, former_action: &OnceLock<libc::sigaction>) -> io::Result<()> {
    if former_action.get().is_some() {
        return Ok(());
    }
    let mut former = MaybeUninit::zeroed();
    // SAFETY: all zeroes is a value of this structure, with an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = on_fault as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler calls nothing that may not be called in one.
    if unsafe { libc::sigaction(signal, &raw const action, former.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: written by the call that has succeeded.
    let _set_by_another = former_action.set(unsafe { former.assume_init() });
    Ok(())
}

/// The handler needs a stack of its own, since the rank's has none left.
fn signal_stack() -> io::Result<()> {
    // SAFETY: all zeroes is a value of this structure.
    let mut now: libc::stack_t = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: asks only.
    unsafe { libc::sigaltstack(null_mut(), &raw mut now) };
    if now.ss_flags & libc::SS_DISABLE == 0 && now.ss_size >= SIGNAL_STACK {
        return Ok(());
    }
    let stack = SignalStack::new()?;
    let own = libc::stack_t { ss_sp: stack.at, ss_flags: 0, ss_size: SIGNAL_STACK };
    // SAFETY: memory of that length that is used for nothing else, and stays until the handler has no stack any more.
    if unsafe { libc::sigaltstack(&raw const own, null_mut()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    STACK.set(Some(stack));
    Ok(())
}

thread_local! {
    /// As long as the thread lives.
    static STACK: RefCell<Option<SignalStack>> = const { RefCell::new(None) };
}

/// Memory of its own for a handler's stack.
struct SignalStack {
    at: *mut c_void,
}

impl SignalStack {
    fn new() -> io::Result<SignalStack> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory, wherever there is room.
        let at = unsafe { mmap_anonymous(null_mut(), SIGNAL_STACK, access, MapFlags::PRIVATE) }?;
        Ok(SignalStack { at })
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        let none = libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        // SAFETY: from here on handlers of this thread, which ends, run on its own stack.
        unsafe { libc::sigaltstack(&raw const none, null_mut()) };
        // SAFETY: mapped by `new`, and used by nobody any more. What the system refuses to take back stays.
        let _stays = unsafe { munmap(self.at, SIGNAL_STACK) };
    }
}

unsafe extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system gives a handler of this kind a valid structure.
    let address = unsafe { (*info).si_addr() } as usize;
    if signal == libc::SIGSEGV {
        end_at_overflow(address);
    }
    // SAFETY: a handler of this kind is given the registers of what was interrupted.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    // SAFETY: the same structure.
    let is_forbidden = signal == libc::SIGSEGV && unsafe { (*info).si_code } == SI_KERNEL;
    // SAFETY: the header, if there is one, is that of the rank that was interrupted, on this thread.
    if is_forbidden && unsafe { fault::is_answered(current(), context) } {
        return;
    }
    // SAFETY: the header, if there is one, is that of the rank that was interrupted, on this thread.
    let ends_rank = unsafe { fault::ends_rank(current(), signal, address, context) };
    if ends_rank || fault::ends_thread(signal, address, context) {
        return;
    }
    // SAFETY: the same of a rank that is in a call.
    unsafe { fault::say_whose_call(in_call(), signal, address) };
    hand_on(signal, info, context);
}

/// Does not return if the address is one behind the end of a rank's stack.
fn end_at_overflow(address: usize) {
    if let Ok(space) = SlotSpace::get()
        && let Some((slot, offset)) = space.slot_of(address)
        && offset < space.layout().guard
    {
        let stack = space.layout().stack as u64;
        let rank = u64::from(slot);
        say(&[
            b"rank ".into(),
            rank.into(),
            b" has overflowed its stack of ".into(),
            stack.into(),
            b" bytes; --rank-stack gives it more\n".into(),
        ]);
        // SAFETY: may be called in a handler.
        unsafe { libc::abort() };
    }
}

/// As if this handler was not there.
fn hand_on(signal: i32, info: *mut libc::siginfo_t, context: &mut libc::ucontext_t) {
    let former = FORMER.iter().find(|(number, _)| *number == signal).and_then(|(_, former)| former.get());
    let former = former.filter(|former| former.sa_sigaction > libc::SIG_IGN);
    match former {
        Some(former) if former.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: a handler of this kind, by its flags.
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(former.sa_sigaction) };
            handler(signal, info, std::ptr::from_mut(context).cast());
        }
        Some(former) => {
            // SAFETY: a handler of this kind, by its flags.
            let handler: extern "C" fn(i32) = unsafe { std::mem::transmute(former.sa_sigaction) };
            handler(signal);
        }
        // The fault comes again, and ends the process.
        // SAFETY: may be called in a handler.
        None => unsafe {
            libc::signal(signal, libc::SIG_DFL);
        },
    }
}
