//! What a file gives to a rank that does again what it did (`--ft logging`): what it gave then. Others may have written to it since.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

use crate::class::Class;
use crate::common::agreement::{from_number, to_number};
use crate::hooks::hooks;

/// Does something that gives a number: what it gave when it was first done. It may not wait, and nothing that the rank keeps may be
/// allocated in it.
///
/// # Errors
/// Those of `does`, then.
pub fn then(does: impl Fn() -> Result<u64, Class>) -> Result<u64, Class> {
    let [error, number] = (hooks().world)(&mut || {
        let result = does();
        [to_number(result.map(|_| ())).cast_unsigned(), result.unwrap_or(0)]
    });
    from_number(error.cast_signed()).map(|()| number)
}

/// Changes a file that others change too. It is not done again where it was done first, as the system has it, and others may have changed
/// it since; but it is on another host, whose system may never have heard of it.
///
/// # Errors
/// Those of `does`, then.
pub fn changed(does: impl Fn() -> Result<u64, Class>) -> Result<u64, Class> {
    changed_from(host(), does)
}

fn changed_from(host: u64, does: impl Fn() -> Result<u64, Class>) -> Result<u64, Class> {
    let mut is_again = true;
    let [said, number] = (hooks().world)(&mut || {
        is_again = false;
        let result = does();
        [to_number(result.map(|_| ())).cast_unsigned() | host << ERRORS, result.unwrap_or(0)]
    });
    from_number((said & ((1 << ERRORS) - 1)).cast_signed())?;
    let is_here = host != UNKNOWN && said >> ERRORS == host;
    if is_again && !is_here {
        does()?;
    }
    Ok(number)
}

/// Bits for an error, beside a host.
const ERRORS: u32 = 16;

/// The number of a host that does not say which it is.
const UNKNOWN: u64 = 0;

/// A number for this host's system, as long as it runs.
fn host() -> u64 {
    static HOST: OnceLock<u64> = OnceLock::new();
    *HOST.get_or_init(|| {
        fs::read("/proc/sys/kernel/random/boot_id").map_or(UNKNOWN, |boot| {
            let mut hasher = DefaultHasher::new();
            hasher.write(&boot);
            (hasher.finish() >> ERRORS).max(1)
        })
    })
}

/// Reads bytes; how many.
///
/// # Errors
/// Those of `read`, then.
pub fn read(into: &mut [u8], read: impl Fn(&mut [u8]) -> Result<u64, Class>) -> Result<u64, Class> {
    let count = (hooks().world_bytes)(into, &mut |into| match read(into) {
        Ok(count) => count as isize,
        error => -(to_number(error.map(|_| ())) as isize),
    });
    match u64::try_from(count) {
        Ok(count) => Ok(count),
        Err(_) => from_number(-(count as i64)).map(|()| 0),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;
    use crate::hooks::{ALONE, Hooks, set_hooks};

    thread_local! {
        /// What this thread was told, and whether it does again what it did.
        static TOLD: RefCell<Vec<[u64; 2]>> = const { RefCell::new(Vec::new()) };
        static IS_AGAIN: Cell<bool> = const { Cell::new(false) };
    }

    fn world(read: &mut dyn FnMut() -> [u64; 2]) -> [u64; 2] {
        if IS_AGAIN.get() {
            return TOLD.with_borrow_mut(|told| told.remove(0));
        }
        let words = read();
        TOLD.with_borrow_mut(|told| told.push(words));
        words
    }

    #[test]
    fn what_another_host_has_done_is_done_again_here() {
        set_hooks(Hooks { world, ..ALONE });
        let times = Cell::new(0);
        let write = || {
            times.set(times.get() + 1);
            Ok(8)
        };
        let fails = || Err(Class::ReadOnly);
        for host in [7, 7, UNKNOWN] {
            assert_eq!(changed_from(host, write), Ok(8));
            assert_eq!(changed_from(host, fails), Err(Class::ReadOnly));
        }
        IS_AGAIN.set(true);
        for (host, expected) in [(7, 3), (9, 4), (UNKNOWN, 5)] {
            assert_eq!(changed_from(host, write), Ok(8));
            assert_eq!(changed_from(host, write), Err(Class::ReadOnly), "it had failed then");
            assert_eq!(times.get(), expected, "{host}");
        }
    }

    #[test]
    fn what_is_done_gives_its_number_or_its_error() {
        assert_eq!((then(|| Ok(7)), then(|| Err(Class::NoSuchFile))), (Ok(7), Err(Class::NoSuchFile)));
        assert_eq!((changed(|| Ok(7)), changed(|| Err(Class::ReadOnly))), (Ok(7), Err(Class::ReadOnly)));
        assert!(host() >> (u64::BITS - ERRORS) == 0 && host() != UNKNOWN);
        let mut bytes = [0; 4];
        let fill = |into: &mut [u8]| {
            into[..3].fill(5);
            Ok(3)
        };
        assert_eq!((read(&mut bytes, fill), bytes), (Ok(3), [5, 5, 5, 0]));
        assert_eq!(read(&mut bytes, |_| Err(Class::ReadOnly)), Err(Class::ReadOnly));
    }
}
