//! Nodes on threads: one for each PE.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use rustix::process::{Resource, getrlimit};

use super::Done;
use super::cores;
use super::held_up::{HeldUp, LOOK_EVERY};
use super::recorded_worker::Recording;
use super::trace::TraceWriter;
use super::worker::work;
use talisman_base::clock::Clock;
use talisman_base::topology::Shape;
use talisman_cluster::fixed_layout;
use talisman_core::services::SERVICES;
use talisman_job::Progress;
use talisman_job::job::Job;
use talisman_kernel::net::Net;
use talisman_kernel::node::{Config, Node};
use talisman_kernel::panics::caught;
use talisman_kernel::pe::Pe;
use talisman_kernel::port::{Port, Threads};
use talisman_observe::stats::Totals;
use talisman_pup::lease_from;

/// A node of this process, and its PEs' ways to the other nodes.
pub(super) struct Ready {
    pub(super) node: Arc<Node>,
    pub(super) nets: Vec<Option<Net>>,
    /// A core for each PE, if they are to stay on one.
    pub(super) cores: Option<Vec<usize>>,
}

/// Runs a job of one node.
pub(super) fn run(
    shape: Shape,
    config: Config,
    job: &Arc<Job>,
    progress: Progress,
    main: impl FnOnce(&Pe) + Send,
) -> Done {
    let node = Node::new(shape, 0, config, job.clone());
    let nets = (0..shape.pes_per_node).map(|_| None).collect();
    run_nodes(vec![Ready { node, nets, cores: None }], job, progress, Some(main))
}

/// Runs nodes until the job is over; the first PE of the first runs `main` first.
pub(super) fn run_nodes(
    nodes: Vec<Ready>,
    job: &Arc<Job>,
    mut progress: Progress,
    main: Option<impl FnOnce(&Pe) + Send>,
) -> Done {
    let (start, main) = (Instant::now(), Mutex::new(main));
    let first = nodes.first().map(|ready| ready.node.shape.first_pe(ready.node.number));
    let begin = |pe: &Pe| {
        let main = if first == Some(pe.id) { lock(&main).take() } else { None };
        main.into_iter().for_each(|main| main(pe));
    };
    let totals = live(nodes, job, start, &mut progress, begin).totals;
    progress.finish(start.elapsed(), job.progress());
    Done { wall: start.elapsed(), totals, trace: None, events: 0 }
}

/// What is left of PEs that have stopped, in their order.
pub(super) struct Life {
    pub(super) totals: Vec<Totals>,
    pub(super) nets: Vec<Option<Net>>,
}

/// Runs nodes until the job is over or halts; each PE runs `begin` first. The clock began at `start`.
pub(super) fn live(
    nodes: Vec<Ready>,
    job: &Arc<Job>,
    start: Instant,
    progress: &mut Progress,
    begin: impl Fn(&Pe) + Sync,
) -> Life {
    let pes = nodes.iter().map(|ready| ready.nets.len()).sum();
    let everyone = Barrier::new(pes);
    let is_fixed = pes == 1 && fixed_layout::is_here();
    let mut held_up = HeldUp::new(nodes.iter().map(|ready| &ready.node));
    // Whether all threads are there: with one missing, the others would wait for it.
    let complete = OnceLock::<bool>::new();
    let (done, finished) = channel();
    let writer = nodes.first().and_then(|ready| trace_writer(&ready.node, 0, job, start));
    let left = thread::scope(|scope| {
        let mut threads = Vec::new();
        let (going, over) = channel();
        let tracing = writer.map(|writer| scope.spawn(move || writer.run(&over)));
        for (node, id, port, core) in nodes.into_iter().flat_map(ports) {
            let done = done.clone();
            let (everyone, complete, begin) = (&everyone, &complete, &begin);
            let pe = move || {
                if !*complete.wait() {
                    return Left::default();
                }
                core.into_iter().for_each(cores::stay_on);
                let recording = Recording::of(&node, id, start);
                let clock = recording.as_ref().map_or(Clock::Real(start), Recording::clock);
                let mut pe = Pe::new(id, node, clock, Port::Threads(port), SERVICES);
                let _leasing = lease_from(pe.node.store.pages());
                recording.iter().for_each(|recording| recording.begin(&mut pe));
                caught(&pe, || begin(&pe));
                match &recording {
                    None => work(&pe),
                    Some(recording) => recording.work(&pe),
                }
                // What is still in a ring is dropped by its receiver: nobody sends any more from here on.
                everyone.wait();
                let _ = done.send(());
                Left::of(pe)
            };
            let pe = move || if is_fixed { at_fixed_place(id, job, pe) } else { pe() };
            let named = thread::Builder::new().name(thread_name(id));
            let size = if is_fixed { Some(WAITING) } else { stack_size() };
            let thread = size.into_iter().fold(named, thread::Builder::stack_size);
            match thread.spawn_scoped(scope, pe) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    job.end(1, Some(no_thread(id, pes, &error)));
                    break;
                }
            }
        }
        drop(done);
        let _ = complete.set(threads.len() == pes);
        let mut working = threads.len();
        while working > 0 {
            match finished.recv_timeout(LOOK_EVERY) {
                Ok(()) => working -= 1,
                Err(RecvTimeoutError::Timeout) => {
                    let now = start.elapsed();
                    progress.update(now, job.progress());
                    held_up.look(now, job).into_iter().for_each(|line| job.warn(line));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let left = threads.into_iter().map(|thread| joined(thread.join(), job)).collect::<Vec<_>>();
        drop(going);
        let missing = tracing.and_then(|thread| thread.join().unwrap_or_default());
        tell_of_missing(missing, job);
        left
    });
    let (totals, nets) = left.into_iter().map(|left| (left.totals, left.net)).unzip();
    Life { totals, nets }
}

/// The trace lacks something, and why, if it does.
pub(super) fn tell_of_missing(why: Option<String>, job: &Job) {
    why.into_iter().for_each(|why| job.warn(format!("--trace: something is missing: {why}")));
}

/// What writes the trace of the process with this node. If there can be none, the job ends.
pub(super) fn trace_writer(node: &Node, life: u64, job: &Job, start: Instant) -> Option<TraceWriter> {
    TraceWriter::of(node, life, start).unwrap_or_else(|error| {
        job.end(1, Some(format!("--trace: its parts cannot be written: {error}")));
        None
    })
}

/// What is left of a PE.
#[derive(Default)]
struct Left {
    totals: Totals,
    net: Option<Net>,
}

impl Left {
    /// Everything else is dropped, and what it says meanwhile stays on this node.
    fn of(mut pe: Pe) -> Self {
        let net = if pe.node.job.survives() { pe.port.take_net() } else { None };
        Left { totals: pe.stats.totals(), net }
    }
}

/// The PEs of a node, with their ways to the others.
fn ports(ready: Ready) -> impl Iterator<Item = (Arc<Node>, u32, Threads, Option<usize>)> {
    let Ready { node, nets, cores } = ready;
    let first = node.shape.first_pe(node.number);
    let ports = Threads::connect(&node, nets);
    let core = move |rank: usize| cores.as_ref().and_then(|cores| cores.get(rank).copied());
    (first..).zip(ports).enumerate().map(move |(rank, (id, port))| (node.clone(), id, port, core(rank)))
}

/// What the stack of a PE may grow to, unless the user says that, or has few addresses. Objects are dropped on it: of a chain of boxes, one
/// call in the other.
pub(super) fn stack_size() -> Option<usize> {
    let is_asked_for = std::env::var_os("RUST_MIN_STACK").is_some();
    let has_few_addresses = getrlimit(Resource::As).current.is_some();
    (!is_asked_for && !has_few_addresses && cfg!(target_pointer_width = "64")).then_some(64 << 20)
}

/// The stack of a thread that only waits for another.
const WAITING: usize = 256 << 10;

/// Runs a PE on a thread at the same place in every process, for which this one waits.
fn at_fixed_place(id: u32, job: &Job, pe: impl FnOnce() -> Left + Send) -> Left {
    match fixed_layout::thread::run(&thread_name(id), pe) {
        Ok(left) => left.unwrap_or_else(|panic| resume_unwind(panic)),
        Err(error) => {
            let why = format!("the thread of PE {id} cannot be where it is on all nodes: {error}");
            job.end(1, Some(why));
            Left::default()
        }
    }
}

pub(super) fn thread_name(id: u32) -> String {
    format!("pe{id}")
}

fn no_thread(id: u32, pes: usize, error: &io::Error) -> String {
    format!(
        "the system gives no thread for PE {id} of {pes}: {error}; run with fewer (`--pes`), or raise the limit on \
         processes or memory (`ulimit -a`)"
    )
}

/// What is left of a PE; a panic while its objects were dropped is a failure of the program.
fn joined(left: thread::Result<Left>, job: &Job) -> Left {
    left.unwrap_or_else(|_| {
        job.end(1, Some("a value panicked while it was dropped at the end of the job".into()));
        Left::default()
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in a critical section panics.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
