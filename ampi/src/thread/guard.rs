//! A stack that overflows says whose it is, and a rank whose program was mapped where it has failed.

use std::io;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::OnceLock;

use super::output::Part;
use super::say;
use crate::slot::{Header, SlotSpace, current, images, on_process_heap};

/// Room for the handler, and for the system's frame with all registers.
const SIGNAL_STACK: usize = 64 << 10;

static FORMER: OnceLock<libc::sigaction> = OnceLock::new();

/// From now on a rank that runs out of stack on this thread ends the process with a message. Other faults go to the
/// handler that was there before. To be called by each thread that resumes ranks.
///
/// # Errors
/// If the system refuses.
pub fn catch_overflows() -> io::Result<()> {
    signal_stack()?;
    if FORMER.get().is_some() {
        return Ok(());
    }
    let mut former = MaybeUninit::zeroed();
    // SAFETY: all zeroes is a value of this structure, with an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = on_fault as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the handler calls nothing that may not be called in one.
    if unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, former.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: written by the call that has succeeded.
    let _set_by_another = FORMER.set(unsafe { former.assume_init() });
    Ok(())
}

/// The handler needs a stack of its own, since the rank's has none left.
fn signal_stack() -> io::Result<()> {
    // SAFETY: all zeroes is a value of this structure.
    let mut now: libc::stack_t = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: asks only.
    unsafe { libc::sigaltstack(null_mut(), &raw mut now) };
    if now.ss_flags & libc::SS_DISABLE == 0 {
        return Ok(());
    }
    // It lives as long as the thread may get signals: for good.
    let stack = Box::leak(vec![0u8; SIGNAL_STACK].into_boxed_slice());
    let own = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
    // SAFETY: memory of that length that is used for nothing else.
    if unsafe { libc::sigaltstack(&raw const own, null_mut()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

unsafe extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system gives a handler of this kind a valid structure.
    let address = unsafe { (*info).si_addr() } as usize;
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
    let header = current();
    // SAFETY: a header that is current is that of a slot in place, whose rank has been interrupted.
    if !header.is_null() && unsafe { (*header).images } > 0 {
        // SAFETY: a handler of this kind is given the registers of what was interrupted.
        let code = unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] };
        say_fault(header, address, code as usize);
    }
    hand_on(signal, info, context);
}

/// A program that was mapped for the rank has met with a fault at this address, or a function that it has called.
fn say_fault(header: *mut Header, address: usize, code: usize) {
    // SAFETY: as in `on_fault`.
    let slot = unsafe { (*header).slot };
    let start =
        SlotSpace::get().and_then(|space| Ok(space.address(slot as u32)? + space.layout().images_start()));
    // Code of the rank's own program was interrupted, if anything is found: so no lock of the process is held.
    let function = on_process_heap(|| images().ok()?.function_at(start.ok()?, code));
    let (of, name) = function.as_ref().map_or((&b""[..], ""), |name| (&b" in function "[..], name));
    say(&[
        b"rank ".into(),
        slot.into(),
        b": segmentation fault at address ".into(),
        Part::Address(address),
        Part::Text(of),
        Part::Text(name.as_bytes()),
        b"\n".into(),
    ]);
    on_process_heap(|| drop(function));
}

/// As if this handler was not there.
fn hand_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let former = FORMER.get().filter(|former| former.sa_sigaction > libc::SIG_IGN);
    match former {
        Some(former) if former.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: a handler of this kind, by its flags.
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(former.sa_sigaction) };
            handler(signal, info, context);
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
