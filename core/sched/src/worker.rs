//! A thread that is handed tasks, one at a time, and what it hands back.

use std::collections::VecDeque;
use std::sync::PoisonError;

use super::park::Parker;
use super::sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering};

/// Where a worker finds its next task. One thread hands it tasks, each after what came of the one before.
pub struct TaskSlot<T> {
    /// There is a task, or there will be none any more.
    has_any: AtomicBool,
    next: Mutex<Next<T>>,
    parker: Parker,
}

struct Next<T> {
    task: Option<T>,
    is_closed: bool,
}

impl<T> TaskSlot<T> {
    pub fn new() -> TaskSlot<T> {
        let next = Mutex::new(Next { task: None, is_closed: false });
        TaskSlot { has_any: AtomicBool::new(false), next, parker: Parker::new() }
    }

    pub fn hand(&self, task: T) {
        self.change(|next| next.task = Some(task));
    }

    /// No task comes any more: the worker ends, after the one that may be there.
    pub fn close(&self) {
        self.change(|next| next.is_closed = true);
    }

    fn change(&self, change: impl FnOnce(&mut Next<T>)) {
        let mut next = lock(&self.next);
        change(&mut next);
        self.has_any.store(true, Ordering::Release);
        drop(next);
        self.parker.unpark_if_parked();
    }

    /// Whether [`take`](TaskSlot::take) has an answer.
    pub fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Acquire)
    }

    /// The worker sleeps, at most until there is an answer.
    pub fn park(&self) {
        _ = self.parker.park(|| self.has_any(), None);
    }

    /// The task; none if it is closed. Only if there is any.
    pub fn take(&self) -> Option<T> {
        let mut next = lock(&self.next);
        self.has_any.store(next.is_closed, Ordering::Relaxed);
        next.task.take()
    }
}

impl<T> Default for TaskSlot<T> {
    fn default() -> TaskSlot<T> {
        TaskSlot::new()
    }
}

/// What has come of the tasks of several workers, in order, for the thread that has handed them.
pub struct Results<T> {
    has_any: AtomicBool,
    queue: Mutex<VecDeque<T>>,
    came: Condvar,
}

impl<T> Results<T> {
    pub fn new() -> Results<T> {
        Results { has_any: AtomicBool::new(false), queue: Mutex::new(VecDeque::new()), came: Condvar::new() }
    }

    pub fn put(&self, result: T) {
        let mut queue = lock(&self.queue);
        queue.push_back(result);
        self.has_any.store(true, Ordering::Release);
        drop(queue);
        self.came.notify_one();
    }

    /// Where its thread sleeps elsewhere: it looks at this before, and is woken after [`put`](Results::put).
    pub fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Acquire)
    }

    pub fn take(&self) -> Option<T> {
        if !self.has_any() {
            return None;
        }
        self.first_of(&mut lock(&self.queue))
    }

    /// Waits for the next, which some worker is at.
    pub fn wait(&self) -> T {
        let mut queue = lock(&self.queue);
        loop {
            match self.first_of(&mut queue) {
                Some(first) => return first,
                None => queue = self.came.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn first_of(&self, queue: &mut VecDeque<T>) -> Option<T> {
        let first = queue.pop_front();
        self.has_any.store(!queue.is_empty(), Ordering::Release);
        first
    }
}

impl<T> Default for Results<T> {
    fn default() -> Results<T> {
        Results::new()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in a critical section panics half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
