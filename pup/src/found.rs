//! Memory that the system is asked for at once, where much of it is new: it takes two thirds of the time that it takes page by page.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use rustix::mm::{Advice, madvise};

/// The smallest page there is.
const PAGE: usize = 4096;

thread_local! {
    static AT_ONCE: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, the memory of long segments that arrive on this thread is found at once.
#[must_use = "at its end, what was before counts again"]
#[derive(Debug)]
pub struct FoundAtOnce {
    before: bool,
    of_thread: PhantomData<*const ()>,
}

/// From now on, the memory of long segments that arrive on this thread is found at once: for who keeps them for long, so that most of it is
/// new. Where it is not, it is looked at in vain.
pub fn found_at_once() -> FoundAtOnce {
    FoundAtOnce { before: AT_ONCE.replace(true), of_thread: PhantomData }
}

impl Drop for FoundAtOnce {
    fn drop(&mut self) {
        AT_ONCE.set(self.before);
    }
}

/// Whether that is so.
pub(crate) fn is_found_at_once() -> bool {
    AT_ONCE.get()
}

/// Has the system find the pages that are in this memory. A system that does not know how does it page by page, as they are used.
pub fn find_at_once(memory: &mut [MaybeUninit<u8>]) {
    let skipped = memory.as_ptr().align_offset(PAGE);
    let Some(pages) = memory.get_mut(skipped..) else { return };
    let whole = pages.len() / PAGE * PAGE;
    if whole > 0 {
        // SAFETY: addresses of the memory. What is in pages that are there is not changed, and that of others is not initialised.
        _ = unsafe { madvise(pages.as_mut_ptr().cast(), whole, Advice::LinuxPopulateWrite) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_memory_stays_and_all_of_it_can_be_used() {
        let mut memory: Vec<u8> = vec![7; 10 * PAGE + 5];
        memory.reserve_exact(50 * PAGE);
        find_at_once(memory.spare_capacity_mut());
        memory.resize(60 * PAGE, 9);
        let is_it = |(at, byte): (usize, &u8)| *byte == if at < 10 * PAGE + 5 { 7 } else { 9 };
        assert!(memory.iter().enumerate().all(is_it));
        find_at_once(&mut []);
        find_at_once(Vec::with_capacity(PAGE - 1).spare_capacity_mut());
    }

    #[test]
    fn it_is_so_until_the_guard_goes() {
        let outer = found_at_once();
        drop(found_at_once());
        assert!(is_found_at_once());
        drop(outer);
        assert!(!is_found_at_once());
    }
}
