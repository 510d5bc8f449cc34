//! Loom's counterpart of `core/sched/src/sync.rs`: the same names and signatures, every step under the model checker.

pub use loom::cell::UnsafeCell;
pub use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard};

pub use blocking::{AsymmetricFence, Futex, Side, without_fence};

mod blocking {
    use std::cell::Cell;
    use std::time::Duration;

    use loom::sync::atomic::{AtomicU32, Ordering, fence};
    use loom::sync::{Condvar, Mutex};

    /// Both sides are full fences, which is what membarrier makes of them.
    #[derive(Clone, Copy, Debug)]
    pub struct AsymmetricFence;

    /// A side of the fence.
    #[derive(Clone, Copy, PartialEq)]
    pub enum Side {
        Light,
        Heavy,
    }

    impl AsymmetricFence {
        pub fn new() -> AsymmetricFence {
            AsymmetricFence
        }

        pub fn full() -> AsymmetricFence {
            AsymmetricFence
        }

        pub fn light(self) {
            fence_unless_left_out(Side::Light);
        }

        pub fn heavy(self) {
            fence_unless_left_out(Side::Heavy);
        }
    }

    std::thread_local! {
        // Loom runs all threads of a model on the thread of the test.
        static LEFT_OUT: Cell<Option<Side>> = const { Cell::new(None) };
    }

    /// Runs `f` with one side of every fence left out, to show that it is needed.
    pub fn without_fence<R>(side: Side, f: impl FnOnce() -> R) -> R {
        LEFT_OUT.set(Some(side));
        let result = f();
        LEFT_OUT.set(None);
        result
    }

    fn fence_unless_left_out(side: Side) {
        if LEFT_OUT.get() != Some(side) {
            fence(Ordering::SeqCst);
        }
    }

    /// The kernel's futex: comparing and joining the queue happen under the lock that `wake_one` takes.
    #[derive(Debug)]
    pub struct Futex {
        word: AtomicU32,
        queue: Mutex<()>,
        woken: Condvar,
    }

    impl Futex {
        pub fn new(value: u32) -> Futex {
            Futex { word: AtomicU32::new(value), queue: Mutex::new(()), woken: Condvar::new() }
        }

        pub fn load(&self, order: Ordering) -> u32 {
            self.word.load(order)
        }

        pub fn store(&self, value: u32, order: Ordering) {
            self.word.store(value, order);
        }

        pub fn swap(&self, value: u32, order: Ordering) -> u32 {
            self.word.swap(value, order)
        }

        pub fn compare_exchange(
            &self,
            current: u32,
            new: u32,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u32, u32> {
            self.word.compare_exchange(current, new, success, failure)
        }

        /// A bounded sleep ends at once here: the shortest one is the hardest case.
        pub fn wait(&self, expected: u32, timeout: Option<Duration>) {
            let queue = self.queue.lock().unwrap();
            if timeout.is_none() && self.word.load(Ordering::Relaxed) == expected {
                drop(self.woken.wait(queue).unwrap());
            }
        }

        pub fn wake_one(&self) {
            let _queue = self.queue.lock().unwrap();
            self.woken.notify_one();
        }
    }
}
