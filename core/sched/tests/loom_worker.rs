//! Every interleaving of handing a task to a worker and of what comes back, as the model checker `loom` sees it: no task and no result
//! is lost, none is seen before what it was made of, and nobody sleeps on. A lost wake-up is a deadlock, which it reports. What the
//! sleeping itself needs is in `loom_park.rs`.

#[allow(dead_code, unused_imports, unreachable_pub, reason = "a model uses a part of what it includes")]
#[path = "model/sync.rs"]
mod sync;

#[allow(dead_code, reason = "a model uses a part of what it includes")]
#[path = "../src/park.rs"]
mod park;

#[allow(dead_code, reason = "a model uses a part of what it includes")]
#[path = "../src/worker.rs"]
mod worker;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use park::Parker;
use worker::{Results, TaskSlot};

/// At most two involuntary switches, as in the models of sleeping.
fn bounded_model() -> loom::model::Builder {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model
}

/// A log of a PE: its worker writes to it while it has it, and its driver in between. Loom reports two at once.
struct Log(UnsafeCell<u32>);

// SAFETY: loom watches the cell, which is what the models are for.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

impl Log {
    fn new() -> Arc<Log> {
        Arc::new(Log(UnsafeCell::new(0)))
    }

    fn write(&self) {
        // SAFETY: whoever has it is alone, or loom says so.
        self.0.with_mut(|log| unsafe { *log += 1 });
    }

    fn read(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|log| unsafe { *log })
    }
}

/// The thread of a PE, as in a node that logs.
fn work(tasks: &TaskSlot<Arc<Log>>, put: impl Fn(Arc<Log>)) {
    loop {
        while !tasks.has_any() {
            tasks.park();
        }
        let Some(log) = tasks.take() else { break };
        log.write();
        put(log);
    }
}

#[test]
fn tasks_and_results_are_handed_over_with_all_that_was_written() {
    bounded_model().check(|| {
        let (tasks, results) = (Arc::new(TaskSlot::new()), Arc::new(Results::new()));
        let of_worker = (Arc::clone(&tasks), Arc::clone(&results));
        let worker = thread::spawn(move || work(&of_worker.0, |log| of_worker.1.put(log)));
        let mut log = Log::new();
        for turns in 0..2 {
            log.write();
            tasks.hand(log);
            log = results.wait();
            assert_eq!(log.read(), 2 * (turns + 1));
        }
        assert!(!results.has_any() && results.take().is_none());
        tasks.close();
        worker.join().unwrap();
    });
}

/// A driver that sleeps where others call it too, and looks before it does.
#[test]
fn a_driver_that_sleeps_elsewhere_hears_of_results() {
    bounded_model().check(|| {
        let (results, driver) = (Arc::new(Results::new()), Arc::new(Parker::new()));
        let of_worker = (Arc::clone(&results), Arc::clone(&driver));
        let worker = thread::spawn(move || {
            let log = Log::new();
            log.write();
            of_worker.0.put(log);
            of_worker.1.unpark_if_parked();
        });
        let log = loop {
            match results.take() {
                Some(log) => break log,
                None => _ = driver.park(|| results.has_any(), None),
            }
        };
        assert_eq!(log.read(), 1);
        worker.join().unwrap();
    });
}

#[test]
fn results_of_two_workers_all_come() {
    bounded_model().check(|| {
        let results = Arc::new(Results::new());
        let workers = [1, 2].map(|rank| {
            let results = Arc::clone(&results);
            thread::spawn(move || results.put(rank))
        });
        let first = results.wait();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(results.take().map(|second| first + second), Some(3));
        assert!(results.take().is_none());
    });
}

/// The last task is not passed over where the slot is closed at once.
#[test]
fn a_task_is_done_before_the_worker_ends() {
    bounded_model().check(|| {
        let (tasks, results) = (Arc::new(TaskSlot::new()), Arc::new(Results::new()));
        let of_worker = (Arc::clone(&tasks), Arc::clone(&results));
        let worker = thread::spawn(move || work(&of_worker.0, |log| of_worker.1.put(log)));
        tasks.hand(Log::new());
        tasks.close();
        worker.join().unwrap();
        assert_eq!(results.take().map(|log| log.read()), Some(1));
    });
}
