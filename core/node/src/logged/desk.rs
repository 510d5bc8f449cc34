//! Where the threads of a node's PEs and its driver meet.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::hosted::Hosted;
use super::task::{Answer, Done, Handed};
use talisman_sched::idle::Idle;
use talisman_sched::park::Parker;

/// Where the thread of a PE finds what it is to do, one thing at a time.
pub(super) struct Desk {
    /// There is something, or nothing will be any more.
    has_any: AtomicBool,
    top: Mutex<Top>,
    parker: Parker,
}

#[derive(Default)]
struct Top {
    task: Option<Handed>,
    is_closed: bool,
}

impl Desk {
    pub(super) fn new() -> Desk {
        Desk { has_any: AtomicBool::new(false), top: Mutex::default(), parker: Parker::new() }
    }

    pub(super) fn hand(&self, handed: Handed) {
        self.put(|top| top.task = Some(handed));
    }

    /// Nothing will be handed any more: the thread ends.
    pub(super) fn close(&self) {
        self.put(|top| top.is_closed = true);
    }

    fn put(&self, put: impl FnOnce(&mut Top)) {
        let mut top = lock(&self.top);
        put(&mut top);
        self.has_any.store(true, Ordering::Release);
        drop(top);
        self.parker.unpark_if_parked();
    }

    fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Acquire)
    }

    /// Waits for the next task, as long as the driver is there; none if it is not. How long its core was others' meanwhile.
    fn wait(&self, idle: &mut Idle) -> (Option<Handed>, Duration) {
        let (given, mut asleep) = (idle.given(), Duration::ZERO);
        let mut park = || {
            let since = Instant::now();
            _ = self.parker.park(|| self.has_any(), None);
            asleep += since.elapsed();
        };
        while !self.has_any() {
            idle.idle(|| self.has_any(), &mut park);
        }
        let mut top = lock(&self.top);
        self.has_any.store(top.is_closed, Ordering::Relaxed);
        (top.task.take(), idle.given().saturating_sub(given) + asleep)
    }
}

/// What has come of tasks, by the PE's rank, for the driver.
#[derive(Default)]
pub(super) struct Returns {
    has_any: AtomicBool,
    done: Mutex<VecDeque<(u32, Done)>>,
    came: Condvar,
}

impl Returns {
    fn put(&self, rank: u32, done: Done) {
        lock(&self.done).push_back((rank, done));
        self.has_any.store(true, Ordering::Release);
        self.came.notify_one();
    }

    pub(super) fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Acquire)
    }

    pub(super) fn take(&self) -> Option<(u32, Done)> {
        if !self.has_any() {
            return None;
        }
        self.next(&mut lock(&self.done))
    }

    /// Waits for the next. Some PE is at something: an entry ends, or its thread does, and both are told.
    pub(super) fn wait(&self) -> (u32, Done) {
        let mut done = lock(&self.done);
        loop {
            match self.next(&mut done) {
                Some(next) => return next,
                None => done = self.came.wait(done).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn next(&self, done: &mut VecDeque<(u32, Done)>) -> Option<(u32, Done)> {
        let next = done.pop_front();
        self.has_any.store(!done.is_empty(), Ordering::Release);
        next
    }
}

/// The thread of a PE, until its desk is closed.
pub(super) fn work(mut hosted: Hosted<'_>, desk: &Desk, returns: &Returns) {
    let (mut idle, mut goes_on) = (Idle::new(), true);
    while goes_on {
        let since = Instant::now();
        let (handed, released) = desk.wait(&mut idle);
        let Some(handed) = handed else { break };
        hosted.count_idleness(since.elapsed(), released);
        let done = catch_unwind(AssertUnwindSafe(|| hosted.perform(handed)));
        goes_on = done.is_ok();
        let panicked = |panic| Done { answer: Answer::Panicked(panic), ..Done::default() };
        returns.put(hosted.rank(), done.unwrap_or_else(panicked));
        hosted.wake_driver();
    }
    // Of a PE that has panicked: the driver knows, and ends the job.
    _ = catch_unwind(AssertUnwindSafe(|| drop(hosted)));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in a critical section panics half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;
    use crate::logged::task::Task;
    use talisman_core::logging::recorder::Lent;

    #[test]
    fn a_thread_that_waits_is_handed_what_comes_and_ends_when_its_desk_is_closed() {
        let (desk, returns) = (Arc::new(Desk::new()), Arc::new(Returns::default()));
        let thread = thread::spawn({
            let (desk, returns) = (desk.clone(), returns.clone());
            move || {
                let mut idle = Idle::new();
                while let (Some(handed), _) = desk.wait(&mut idle) {
                    returns.put(handed.now as u32, Done { record: handed.record, ..Done::default() });
                }
            }
        });
        assert!(returns.take().is_none());
        for now in 0..1_000 {
            desk.hand(Handed { now, record: Lent::default(), task: Task::EndInLine });
            assert_eq!(returns.wait().0, now as u32);
            assert!(!returns.has_any() && returns.take().is_none());
            if now % 100 == 0 {
                // Long enough for the thread to sleep, which nothing here depends on.
                thread::sleep(Duration::from_millis(1));
            }
        }
        // Both before it looks.
        desk.hand(Handed { now: 7, record: Lent::default(), task: Task::EndInLine });
        desk.close();
        thread.join().expect("it ends");
        assert_eq!(returns.wait().0, 7);
    }
}
