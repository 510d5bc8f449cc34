//! A thread at the same place in every process: its stack has a fixed address, and so has what the C library keeps of
//! the thread, which lies at the upper end of that stack. So its thread pointer is the same, and addresses of
//! thread-locals are.
//!
//! Threads of the standard library lie wherever the system has room when they are started, which depends on what was
//! started and mapped before.

use std::ffi::{CString, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::thread;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// Where the stack ends: far below all that the system maps by itself, and above all programs.
const TOP: usize = 0x1800_0000_0000_u64 as usize;
/// Its length, unless the user says another: as that of a PE elsewhere.
const LENGTH: usize = 64 << 20;
/// Below it, and never accessible.
const GUARD: usize = 64 << 10;

/// Runs `body` on a thread of this name at the fixed place, and waits for its end. One at a time in a process.
///
/// # Errors
/// The addresses are taken, or the system gives no thread; `body` was not run. The inner result is what it panicked
/// with.
pub fn run<T: Send>(name: &str, body: impl FnOnce() -> T + Send) -> io::Result<thread::Result<T>> {
    let stack = Stack::map(length())?;
    let name = CString::new(name).unwrap_or_default();
    let mut call = Call { name, body: Some(body), result: None };
    let thread = start(&stack, &mut call)?;
    // SAFETY: the thread was started just now, and nobody else waits for it. After that neither `call` nor the stack is
    // used by it.
    let joined = unsafe { libc::pthread_join(thread, ptr::null_mut()) };
    assert_eq!(joined, 0, "a thread that was started can be waited for");
    Ok(call.result.expect("the thread leaves a result"))
}

/// The thread pointer of a thread at the fixed place, which is started for that.
///
/// # Errors
/// As [`run`].
pub fn thread_pointer() -> io::Result<u64> {
    let own = || {
        // SAFETY: it only tells.
        unsafe { libc::pthread_self() as u64 }
    };
    run("layout", own).map(|pointer| pointer.unwrap_or_default())
}

/// What a thread is started with, and leaves.
struct Call<F, T> {
    name: CString,
    body: Option<F>,
    result: Option<thread::Result<T>>,
}

fn start<F: FnOnce() -> T + Send, T: Send>(
    stack: &Stack,
    call: &mut Call<F, T>,
) -> io::Result<libc::pthread_t> {
    let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the attributes are initialized by the first call and used by none after the last. The stack is mapped,
    // nobody else's, and outlives the thread, as `call` does: whoever calls this waits for the thread's end.
    unsafe {
        checked(libc::pthread_attr_init(attributes.as_mut_ptr()))?;
        let started =
            checked(libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack.lowest(), stack.length))
                .and_then(|()| {
                    let call = ptr::from_mut(call).cast();
                    checked(libc::pthread_create(
                        thread.as_mut_ptr(),
                        attributes.as_ptr(),
                        begin::<F, T>,
                        call,
                    ))
                });
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        started.map(|()| thread.assume_init())
    }
}

extern "C" fn begin<F: FnOnce() -> T, T>(call: *mut c_void) -> *mut c_void {
    // SAFETY: it is the `Call` that `start` was given, which nobody else uses until this thread has ended.
    let call = unsafe { &mut *call.cast::<Call<F, T>>() };
    // SAFETY: the name ends with a zero. A longer one than the system takes is not set.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), call.name.as_ptr()) };
    call.result = call.body.take().map(|body| catch_unwind(AssertUnwindSafe(body)));
    ptr::null_mut()
}

fn checked(status: libc::c_int) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(status)) }
}

/// Addresses that end at [`TOP`], mapped for a thread.
struct Stack {
    length: usize,
}

impl Stack {
    fn map(length: usize) -> io::Result<Self> {
        let (all, flags) = (length + GUARD, MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK);
        let at = (TOP - all) as *mut c_void;
        // SAFETY: it replaces nothing.
        let mapped =
            unsafe { mmap_anonymous(at, all, ProtFlags::empty(), flags | MapFlags::FIXED_NOREPLACE) }?;
        if mapped != at {
            // A system that does not know the flag takes the address for a wish.
            // SAFETY: it was mapped just now, and nobody knows of it.
            unsafe { munmap(mapped, all) }?;
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let stack = Stack { length };
        // SAFETY: the addresses are this stack's, and not used yet.
        unsafe { mprotect(stack.lowest(), length, MprotectFlags::READ | MprotectFlags::WRITE) }?;
        Ok(stack)
    }

    fn lowest(&self) -> *mut c_void {
        (TOP - self.length) as *mut c_void
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let (at, all) = ((TOP - self.length - GUARD) as *mut c_void, self.length + GUARD);
        // SAFETY: the addresses are this stack's, and its thread has ended or was never started.
        let _ = unsafe { munmap(at, all) };
    }
}

/// As the standard library takes it from its variable. Where the stack ends does not depend on it.
fn length() -> usize {
    let wanted = std::env::var("RUST_MIN_STACK").ok().and_then(|value| value.parse::<usize>().ok());
    let most = TOP / 16;
    wanted.map_or(LENGTH, |bytes| bytes.clamp(1 << 20, most).next_multiple_of(GUARD))
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;
    use std::sync::Mutex;

    use super::*;

    /// There is one place.
    static PLACE: Mutex<()> = Mutex::new(());

    #[test]
    fn its_stack_and_thread_pointer_are_the_same_each_time() {
        let _place = PLACE.lock();
        let look = || {
            let local = 0_u8;
            (ptr::from_ref(&local) as usize, thread_pointer_of_this_thread())
        };
        let first = run("one", look).unwrap().unwrap();
        // What was mapped and started before does not matter.
        let _memory = vec![0_u8; 1 << 24];
        let second =
            thread::scope(|scope| scope.spawn(|| run("another", look).unwrap().unwrap()).join().unwrap());
        assert_eq!(first, second);
        assert!((TOP - LENGTH..TOP).contains(&first.0) && (TOP - LENGTH..TOP).contains(&first.1));
        assert_eq!(thread_pointer().unwrap() as usize, first.1);
    }

    #[test]
    fn what_it_panics_with_comes_back() {
        let _place = PLACE.lock();
        let panic = run::<()>("panics", || resume_unwind(Box::new("as it should"))).unwrap().unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"as it should"));
    }

    #[test]
    fn there_is_one_at_a_time() {
        let _place = PLACE.lock();
        let inner = run("outer", || run("inner", || ()).map(drop).map_err(|error| error.kind()));
        assert!(inner.unwrap().unwrap().is_err());
        assert_eq!(run("next", || 7).unwrap().unwrap(), 7);
    }

    fn thread_pointer_of_this_thread() -> usize {
        // SAFETY: it only tells.
        unsafe { libc::pthread_self() as usize }
    }
}
