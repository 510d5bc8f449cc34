//! Large pages, where the system finds them sooner than as much in small ones.
//!
//! What the system does for a page, it does for a large one once: to find 168 MB takes it 11 ms so, in place of 68, and 0.5 in place of 38 to
//! have them back. They are not had by asking for new memory, where the settings of the system are as they usually are, but by asking that what
//! is there becomes one, with all that is missing of it (Linux 6.1).
//!
//! Where the machine is a virtual one that has given its free memory back to its host, the host has to find each of their bytes first, and
//! 168 MB took up to 400 ms. Of small pages more are about that were used not long ago. So each is timed, and after a slow one
//! some are not asked for.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use talisman_base::clock::computed_by_this_thread;

/// A large page. Where they are larger there are none in slabs, and all is as it is without.
pub const HUGE_PAGE: usize = 2 << 20;
/// As much in small pages takes about as long.
const SLOW: Duration = Duration::from_millis(1);
/// So many are not asked for at most, before another one is.
const MOST_SKIPPED: u32 = 1 << 10;

/// Whether they are worth asking for.
#[derive(Default)]
pub struct HugePages {
    /// So many more are not asked for.
    skip: AtomicU32,
    /// As many were not, the last time.
    skipped: AtomicU32,
}

impl HugePages {
    /// Has the system make one of what is there and what is missing, in memory of a file. Whether it did.
    ///
    /// # Safety
    /// A large page has room at this address, which is a multiple of one, in memory that is mapped.
    pub unsafe fn find(&self, at: NonNull<u8>) -> bool {
        if !self.is_due() {
            return false;
        }
        let began = computed_by_this_thread();
        // SAFETY: the caller's promise, and nothing that is there changes. A small page has to be there, as it is once it was read.
        let found = unsafe {
            at.as_ptr().read_volatile();
            libc::madvise(at.as_ptr().cast(), HUGE_PAGE, libc::MADV_COLLAPSE) == 0
        };
        let is_unknown = !found && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL);
        self.learn(is_unknown, found && computed_by_this_thread() - began < SLOW);
        found
    }

    #[cfg(test)]
    pub fn forbid(&self) {
        self.learn(true, false);
    }

    fn is_due(&self) -> bool {
        let less = |skip: u32| if skip == u32::MAX { None } else { skip.checked_sub(1) };
        match self.skip.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => false,
            Err(skip) => skip == 0,
        }
    }

    fn learn(&self, is_unknown: bool, was_fast: bool) {
        let skip = match self.skipped.load(Ordering::Relaxed) {
            _ if is_unknown => u32::MAX,
            _ if was_fast => 0,
            before => (2 * before).clamp(1, MOST_SKIPPED),
        };
        self.skip.store(skip, Ordering::Relaxed);
        self.skipped.store(skip.min(MOST_SKIPPED), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many are not asked for before the next one is.
    fn skipped(pages: &HugePages) -> usize {
        (0..5000).take_while(|_| !pages.is_due()).count()
    }

    #[test]
    fn fewer_and_fewer_are_asked_for_while_they_are_slow() {
        let pages = HugePages::default();
        assert_eq!(skipped(&pages), 0);
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024] {
            pages.learn(false, false);
            assert_eq!(skipped(&pages), expected);
        }
        pages.learn(false, true);
        assert_eq!(skipped(&pages), 0, "one was fast");
        pages.learn(false, false);
        assert_eq!(skipped(&pages), 1);
    }

    #[test]
    fn a_system_that_has_none_is_not_asked_again() {
        let pages = HugePages::default();
        pages.learn(true, false);
        assert_eq!(skipped(&pages), 5000);
    }
}
