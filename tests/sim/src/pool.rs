//! Many runs on a few threads.

use std::ops::ControlFlow;
use std::process::exit;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many threads work, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// Threads.
    pub jobs: usize,
    /// Nothing is begun later than this.
    pub until: Option<Instant>,
}

/// How often somebody who watches hears how far it is.
const PROGRESS: Duration = Duration::from_secs(5);
/// A run takes milliseconds, shrinking it hundreds of runs; whatever is still there after so many looks hangs, outside of simulated time. Looks
/// are counted, and not the time: on a machine that stands still for want of memory, nobody looks either.
const STUCK: u32 = 120;

impl Pool {
    /// The same, for as long as one of so many may take that all have to be done in its time.
    pub fn share(self, of: u32) -> Pool {
        let now = Instant::now();
        let until = self.until.map(|until| now + until.saturating_duration_since(now) / of.max(1));
        Pool { until, ..self }
    }

    /// Works on all items. Results are taken here, in the order in which they are there, until one breaks it off; `said` is
    /// asked now and then how far it is. `named` names an item that hangs.
    ///
    /// Ends the process if one hangs: a thread that will not end cannot be ended otherwise.
    pub fn run<T: Send, R: Send>(
        &self,
        items: impl Iterator<Item = T> + Send,
        named: impl Fn(&T) -> String + Sync,
        work: impl Fn(T) -> R + Sync,
        said: impl Fn() -> String,
        mut taken: impl FnMut(R) -> ControlFlow<()>,
    ) {
        let items = Mutex::new(Some(items));
        let busy: Vec<_> = (0..self.jobs.max(1)).map(|_| Mutex::new(None)).collect();
        let (results, there) = channel();
        thread::scope(|scope| {
            for slot in &busy {
                let (results, items, named, work) = (results.clone(), &items, &named, &work);
                scope.spawn(move || self.work(items, slot, &results, named, work));
            }
            drop(results);
            let mut next = Instant::now() + PROGRESS;
            loop {
                match there.recv_timeout(next.saturating_duration_since(Instant::now())) {
                    Ok(result) => {
                        if taken(result).is_break() {
                            break *lock(&items) = None;
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        eprintln!("{}", said());
                        busy.iter().for_each(end_if_stuck);
                        next = Instant::now() + PROGRESS;
                    }
                }
            }
        });
    }

    fn work<T, R>(
        &self,
        items: &Mutex<Option<impl Iterator<Item = T>>>,
        slot: &Slot,
        results: &Sender<R>,
        named: &impl Fn(&T) -> String,
        work: &impl Fn(T) -> R,
    ) {
        while self.until.is_none_or(|until| Instant::now() < until) {
            let Some(item) = lock(items).as_mut().and_then(Iterator::next) else { break };
            *lock(slot) = Some((named(&item), 0));
            let result = work(item);
            *lock(slot) = None;
            if results.send(result).is_err() {
                break;
            }
        }
    }
}

/// What a thread works on, and for how many looks.
type Slot = Mutex<Option<(String, u32)>>;

fn end_if_stuck(slot: &Slot) {
    if let Some((name, looks)) = &mut *lock(slot) {
        *looks += 1;
        if *looks > STUCK {
            println!("FAILED: hangs outside of simulated time, for {:?}\n  {name}", PROGRESS * STUCK);
            exit(1);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        let mut results = Vec::new();
        let pool = Pool { jobs: 3, until: None };
        pool.run(
            0..100,
            u32::to_string,
            |item| item * 2,
            String::new,
            |result| {
                results.push(result);
                ControlFlow::Continue(())
            },
        );
        results.sort_unstable();
        assert_eq!(results, (0..200).step_by(2).collect::<Vec<u32>>());
    }

    #[test]
    fn nothing_is_taken_after_a_break() {
        let mut taken = 0;
        let pool = Pool { jobs: 2, until: None };
        pool.run(
            0..,
            u64::to_string,
            |item| item,
            String::new,
            |_| {
                taken += 1;
                if taken == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert_eq!(taken, 10);
    }

    #[test]
    fn nothing_is_begun_too_late() {
        let pool = Pool { jobs: 2, until: Some(Instant::now()) };
        pool.run(0..9, u64::to_string, |_| panic!("begun"), String::new, |()| ControlFlow::Continue(()));
    }
}
