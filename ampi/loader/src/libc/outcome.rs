//! What a function that looks at files has given. A rank that does again what it has done is told what it was told then:
//! what it looked for may be there only since, and what it made is there already.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use super::files::stand_ins::goes_on;
use super::pause::{world, world_bytes};
use super::set_errno;

/// What a function has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub result: c_int,
    /// The number of the error, if it has failed.
    pub error: c_int,
    /// Something else to know of it when it is done again.
    pub mark: u64,
}

/// What it has returned when it was first done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub then: Outcome,
    /// That was before: it is being done again now.
    pub is_again: bool,
}

impl Outcome {
    /// Of a function as in C, which returns a negative number where it fails.
    pub fn of(call: impl FnOnce() -> c_int) -> Self {
        let result = call();
        let error = if result < 0 { std::io::Error::last_os_error().raw_os_error().unwrap_or(0) } else { 0 };
        Outcome { result, error, mark: 0 }
    }

    pub fn is_done(self) -> bool {
        self.result >= 0
    }

    /// Returned, as the function itself would.
    pub fn give(self) -> c_int {
        if !self.is_done() {
            set_errno(self.error);
        }
        self.result
    }
}

/// What `call` gives, or has given when it was first done. It is not called then. What it allocates is of the process's memory, not the
/// rank's: nothing of that may be kept in the rank's state, which moves.
pub fn told(mut call: impl FnMut() -> Outcome) -> Told {
    let mut is_again = true;
    let [first, mark] = world(&mut || {
        is_again = false;
        let Outcome { result, error, mark } = call();
        [u64::from(result.cast_unsigned()) | u64::from(error.cast_unsigned()) << 32, mark]
    });
    if !is_again {
        goes_on();
    }
    let [result, error] = [first as u32, (first >> 32) as u32].map(u32::cast_signed);
    Told { then: Outcome { result, error, mark }, is_again }
}

static MAY_RUN_AGAIN: AtomicBool = AtomicBool::new(false);

/// Ranks of this process may do again what they did. To be called before any runs.
pub fn let_run_again() {
    MAY_RUN_AGAIN.store(true, Ordering::Relaxed);
}

pub fn may_run_again() -> bool {
    MAY_RUN_AGAIN.load(Ordering::Relaxed)
}

/// Whether the rank does again what it has done. That it asks is done again too.
pub fn is_again() -> bool {
    told(|| Outcome { result: 0, error: 0, mark: 0 }).is_again
}

/// As [`told`], of one that writes to these bytes: all of them are as it has left them when it was first done.
pub fn told_with(bytes: &mut [u8], mut call: impl FnMut() -> c_int) -> Outcome {
    let given = world_bytes(bytes, &mut |bytes| {
        let outcome = Outcome::of(&mut call);
        if outcome.is_done() { bytes.len() as isize } else { -(outcome.error as isize) }
    });
    let error = c_int::try_from(-given.min(0)).unwrap_or(0);
    Outcome { result: if error == 0 { 0 } else { -1 }, error, mark: 0 }
}

/// As [`told_with`], of one that says how many of the bytes it has written.
pub fn told_size(bytes: &mut [u8], mut call: impl FnMut(&mut [u8]) -> isize) -> isize {
    let given = world_bytes(bytes, &mut |bytes| {
        let size = call(bytes);
        let error = || std::io::Error::last_os_error().raw_os_error().unwrap_or(0) as isize;
        if size < 0 { -error() } else { size }
    });
    if given < 0 {
        set_errno(c_int::try_from(-given).unwrap_or(0));
    }
    given.max(-1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_told_with_its_error() {
        let fails = || {
            Outcome::of(|| {
                set_errno(::libc::ENOENT);
                -1
            })
        };
        let told_now = told(fails);
        assert_eq!(told_now.then, Outcome { result: -1, error: ::libc::ENOENT, mark: 0 });
        assert!(!told_now.is_again && !told_now.then.is_done());
        set_errno(0);
        assert_eq!(told_now.then.give(), -1);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(::libc::ENOENT));
        assert_eq!(
            told(|| Outcome { mark: 7, ..Outcome::of(|| 5) }).then,
            Outcome { result: 5, error: 0, mark: 7 }
        );
    }

    #[test]
    fn what_is_written_is_there_unless_it_fails() {
        let mut bytes = [0_u8; 4];
        let at = bytes.as_mut_ptr();
        // SAFETY: within the bytes, which are looked at afterwards.
        let fill = || unsafe { at.write_bytes(3, 4) };
        assert_eq!(
            told_with(&mut bytes, || {
                fill();
                0
            })
            .give(),
            0
        );
        assert_eq!(bytes, [3; 4]);
        let fails = || {
            set_errno(::libc::EACCES);
            -1
        };
        assert_eq!(told_with(&mut bytes, fails), Outcome { result: -1, error: ::libc::EACCES, mark: 0 });
    }
}
