//! How long a rank waits for what others of its host do, and how it does: it makes attempts, and others run in between.

use std::time::Duration;

use ::libc::{CLOCK_MONOTONIC, clockid_t, timespec};

use super::pause::{give_way_longer, world};

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// For how long a rank waits.
#[derive(Clone, Copy)]
pub struct Deadline(Option<(clockid_t, timespec)>);

impl Deadline {
    pub fn never() -> Deadline {
        Deadline(None)
    }

    /// # Safety
    /// There is a time.
    pub unsafe fn of(clock: clockid_t, time: *const timespec) -> Deadline {
        // SAFETY: the caller's promise.
        Deadline(Some((clock, unsafe { *time })))
    }

    /// So long from now on.
    pub fn after(span: timespec) -> Deadline {
        let now = now(CLOCK_MONOTONIC).unwrap_or(timespec { tv_sec: 0, tv_nsec: 0 });
        let rest = now.tv_nsec.saturating_add(span.tv_nsec);
        let seconds = now.tv_sec.saturating_add(span.tv_sec).saturating_add(rest / SECOND);
        Deadline(Some((CLOCK_MONOTONIC, timespec { tv_sec: seconds, tv_nsec: rest % SECOND })))
    }

    /// So many milliseconds from now on; a negative number is for ever.
    pub fn after_milliseconds(span: i32) -> Deadline {
        let span = i64::from(span);
        match span {
            ..0 => Deadline::never(),
            _ => Deadline::after(timespec { tv_sec: span / 1_000, tv_nsec: span % 1_000 * 1_000_000 }),
        }
    }

    /// Whether there is no time left, or was none when this was first asked.
    pub fn is_over(self) -> bool {
        world(&mut || [self.has_passed().into(), 0])[0] != 0
    }

    fn has_passed(self) -> bool {
        let Some((clock, until)) = self.0 else { return false };
        now(clock).is_none_or(|now| (now.tv_sec, now.tv_nsec) >= (until.tv_sec, until.tv_nsec))
    }

    /// Makes attempts until one gives something, or there is no time left for another one. A rank that does again what it did makes as
    /// many as it made then.
    pub fn attempt<T>(self, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
        let (mut rounds, mut given) = (0, None);
        loop {
            given = given.or_else(&mut attempt);
            let end = if given.is_some() {
                End::Given
            } else if self.has_passed() {
                End::Over
            } else {
                End::Not
            };
            match told_end(end) {
                End::Given => break,
                End::Over => return None,
                End::Not => give_way_longer(&mut rounds),
            }
        }
        for _ in 0..LATER {
            if given.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
            given = attempt();
        }
        given
    }
}

/// Milliseconds that a rank waits, when it does again what it did, for what it was given at once then.
const LATER: u32 = 10_000;

/// How an attempt has ended.
#[derive(Clone, Copy)]
enum End {
    Not,
    Given,
    Over,
}

/// The same, as it ended when it was first made.
fn told_end(now: End) -> End {
    match world(&mut || [now as u64, 0])[0] {
        0 => End::Not,
        1 => End::Given,
        _ => End::Over,
    }
}

fn now(clock: clockid_t) -> Option<timespec> {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the time.
    (unsafe { ::libc::clock_gettime(clock, &raw mut now) } == 0).then_some(now)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn attempts_end_with_their_time() {
        let past = timespec { tv_sec: 1, tv_nsec: 0 };
        // SAFETY: a time.
        let over = unsafe { Deadline::of(::libc::CLOCK_REALTIME, &raw const past) };
        assert_eq!(over.attempt(|| None::<()>), None);
        assert_eq!(over.attempt(|| Some(3)), Some(3), "one is made in any case");
        let left = Cell::new(20);
        let attempt = || (left.replace(left.get() - 1) == 0).then_some(());
        assert_eq!(Deadline::never().attempt(attempt), Some(()));
        assert_eq!(Deadline::after_milliseconds(2).attempt(|| None::<()>), None);
        assert!(!Deadline::after_milliseconds(-1).is_over());
        assert!(!Deadline::after(timespec { tv_sec: i64::MAX, tv_nsec: 999_999_999 }).is_over());
    }
}
