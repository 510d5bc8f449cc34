//! A node on threads: one for each PE.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use super::Done;
use super::panics::caught;
use super::worker::work;
use crate::clock::Clock;
use crate::ids::PeId;
use crate::launch::Progress;
use crate::node::{Config, Job, Node, Shape};
use crate::pe::Pe;
use crate::port::{Port, Threads};
use crate::stats::Totals;

/// How often progress is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(super) fn run(
    shape: Shape,
    config: Config,
    job: &Arc<Job>,
    mut progress: Progress,
    main: impl FnOnce(&Pe) + Send,
) -> Done {
    let start = Instant::now();
    let node = Node::new(shape, 0, config, job.clone());
    let everyone = Barrier::new(shape.pes_per_node as usize);
    // Whether all threads are there: with one missing, the others would wait for it.
    let complete = OnceLock::<bool>::new();
    let mut main = Some(main);
    let (done, finished) = channel();
    let totals = thread::scope(|scope| {
        let mut threads = Vec::new();
        for (id, port) in (0..).zip(Threads::connect(&node)) {
            let (node, main, done) = (node.clone(), main.take(), done.clone());
            let (everyone, complete) = (&everyone, &complete);
            let pe = move || {
                if !*complete.wait() {
                    return Totals::default();
                }
                let pe = Pe::new(id, node, Clock::Real(start), Port::Threads(port));
                caught(&pe, || main.into_iter().for_each(|main| main(&pe)));
                work(&pe);
                // What is still in a ring is dropped by its receiver: nobody sends any more from here on.
                everyone.wait();
                let _ = done.send(());
                pe.stats.totals()
            };
            match thread::Builder::new().name(format!("pe{id}")).spawn_scoped(scope, pe) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    job.end(1, Some(no_thread(id, shape.pes_per_node, &error)));
                    break;
                }
            }
        }
        drop(done);
        let _ = complete.set(threads.len() == shape.pes_per_node as usize);
        let mut working = threads.len();
        while working > 0 {
            match finished.recv_timeout(LOOK_EVERY) {
                Ok(()) => working -= 1,
                Err(RecvTimeoutError::Timeout) => progress.update(start.elapsed(), job.progress()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        threads.into_iter().map(|thread| joined(thread.join(), job)).collect()
    });
    progress.finish(start.elapsed(), job.progress());
    Done { wall: start.elapsed(), totals, trace: None, events: 0 }
}

fn no_thread(id: PeId, pes: u32, error: &io::Error) -> String {
    format!(
        "the system gives no thread for PE {id} of {pes}: {error}; run with fewer (`--pes`), or raise the limit on \
         processes or memory (`ulimit -a`)"
    )
}

/// What a PE counted; a panic while its objects were dropped is a failure of the program.
fn joined(totals: thread::Result<Totals>, job: &Job) -> Totals {
    totals.unwrap_or_else(|_| {
        job.end(1, Some("a value panicked while it was dropped at the end of the job".into()));
        Totals::default()
    })
}
