//! What the process does when one of its threads ends, noted in the process's memory also while a rank runs.
//!
//! Thread-locals of this executable register their destructors when they are first used, which may be while a rank runs:
//! the C library notes each in memory from `malloc`, which is the rank's then. The thread finds them when it ends, when
//! the rank has left for another process or is gone.

use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::sync::OnceLock;

use talisman_ampi::slot::on_process_heap;

/// A destructor, its object, and the library that it is of (Itanium C++ ABI, 3.3.6.3; here for thread-locals).
type Register = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int;

/// The C library's, which stands behind ours. Looked for at the first call.
fn of_library() -> Option<Register> {
    static FOUND: OnceLock<Option<Register>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        // SAFETY: a name that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"__cxa_thread_atexit_impl".as_ptr()) };
        // SAFETY: the C library has no other function of that name, and it is of this type.
        (!found.is_null()).then(|| unsafe { transmute::<*mut c_void, Register>(found) })
    })
}

/// Stands in for the C library's, which Rust's thread-locals and those of C++ call.
///
/// # Safety
/// As of that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_thread_atexit_impl(
    destructor: unsafe extern "C" fn(*mut c_void),
    object: *mut c_void,
    library: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    on_process_heap(|| of_library().map_or(-1, |register| unsafe { register(destructor, object, library) }))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use talisman_ampi::slot::{BASE, Layout, PAGE, Slot, SlotSpace};
    use talisman_ampi::thread::{Resumed, Thread, suspend};

    static DROPPED: AtomicUsize = AtomicUsize::new(0);

    struct Counted;

    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    thread_local! {
        static FIRST: Counted = const { Counted };
        static SECOND: Counted = const { Counted };
    }

    /// A rank moves away, and then the thread that it was on ends.
    #[test]
    fn destructors_that_a_rank_has_registered_are_called_when_it_has_left() {
        let layout = Layout { guard: PAGE, stack: 1 << 20, images: 0, heap: 1 << 20 };
        SlotSpace::reserve(BASE, layout, 1).expect("no other test takes them");
        let thread = std::thread::spawn(|| {
            let slot = Slot::new(0).expect("no other test has it");
            let mut rank = Thread::new(slot, || {
                FIRST.with(|_| ());
                suspend();
                SECOND.with(|_| ());
            });
            assert_eq!(rank.resume().expect("it is at its addresses"), Resumed::Suspended);
            assert_eq!(rank.resume().expect("as before"), Resumed::Ended);
            rank.slot_mut().put_aside().expect("the system moves pages");
        });
        thread.join().expect("nothing has panicked");
        assert_eq!(DROPPED.load(Ordering::Relaxed), 2);
    }
}
