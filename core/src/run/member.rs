//! A node that is a process of its own.

use std::error::Error;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use super::connections::Connections;
use super::linking::Host;
use super::panics;
use super::threads::run_nodes;
use super::{Done, create_main};
use crate::chare::{Args, MainChare};
use crate::cluster::Control;
use crate::cluster::control::{NodeReport, Stop, Task, Via};
use crate::cluster::member::{Joining, Orders};
use crate::launch::progress::Steps;
use crate::launch::{Output, Progress, RunArgs};
use crate::net::poller::Bell;
use crate::node::{Config, End, Job, Others, Shape};
use crate::pe::Pe;
use crate::transport::shm;

/// Runs this process's node to the end of the job; what went wrong before the program began goes to the launcher.
pub(crate) fn run<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    joining: Joining,
    output: Output,
) {
    panics::listen();
    keep_memory();
    let (task, control) = (joining.task().clone(), joining.control().clone());
    let job = Job::new(output);
    let neighbours = task.host.nodes.as_slice().into();
    let config = Config { host: task.host_number, neighbours, ..Config::of(options) };
    let host = match host(&task) {
        Ok(host) => host,
        Err(error) => control.failed(format!("cannot have the memory of its host: {error}")),
    };
    let connections = match Connections::new(&task, &control) {
        Ok(connections) => connections,
        Err(error) => control.failed(error.to_string()),
    };
    let address = match connections.listen() {
        Ok(address) => address,
        Err(error) => control.failed(format!("cannot listen at {} (--listen): {error}", task.listen)),
    };
    let mut meeting = joining.meet(address);
    let streams = match connections.connect(std::mem::take(&mut meeting.addresses)) {
        Ok(streams) => streams,
        Err(error) => control.failed(error),
    };
    let door = |lane, node: &_| connections.door(lane, node);
    let mut ready = match host.node(task.number, config, &job, streams, door) {
        Ok(ready) => ready,
        Err(error) => control.failed(format!("cannot be linked with the other nodes: {error}")),
    };
    ready.cores = host.cores(task.number);
    job.join(Box::new(Voice { control: control.clone(), job: Arc::downgrade(&job) }));
    meeting.begin(Arc::new(Ear(job.clone())));
    let main = (task.number == 0).then_some(|pe: &Pe| create_main::<C, A>(pe, args));
    let done = run_nodes(vec![ready], &job, Progress::off(), main);
    control.done(report(&job, done));
}

/// Keeps the memory of large messages for the next ones. The allocator would give each block of more than 128 KiB back to
/// the system and take it anew, page by page: that takes longer than the message.
#[cfg(target_env = "gnu")]
fn keep_memory() {
    /// The most that the allocator keeps itself, a half of its heaps.
    const BLOCK_MAX: i32 = 32 << 20;
    const UNUSED_MAX: i32 = 256 << 20;
    // SAFETY: only sets parameters of the allocator; one it does not take stays as it was.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, BLOCK_MAX);
        libc::mallopt(libc::M_TRIM_THRESHOLD, UNUSED_MAX);
    }
}

#[cfg(not(target_env = "gnu"))]
fn keep_memory() {}

fn host(task: &Task) -> Result<Host, Box<dyn Error>> {
    let shape = Shape { nodes: task.nodes, pes_per_node: task.pes };
    let on_host = shm::Shape { nodes: task.host.nodes.len() as u32, pes: task.pes };
    let memory = task.host.memory.filter(|_| task.has(Via::Shm)).map(|number| {
        // SAFETY: the launcher left it open for this process, under this number.
        let memory = unsafe { BorrowedFd::borrow_raw(number) };
        shm::Mapping::open(memory, on_host)
    });
    Ok(Host { shape, nodes: task.host.nodes.clone(), bells: bells(task)?, memory: memory.transpose()? })
}

/// What wakes the PEs of this host. Without shared memory, a node wakes only its own.
fn bells(task: &Task) -> Result<Vec<Arc<Bell>>, Box<dyn Error>> {
    let inherited = |number: &RawFd| {
        // SAFETY: the launcher left it open for this process, under this number, and nothing else uses it.
        Arc::new(Bell::of(unsafe { OwnedFd::from_raw_fd(*number) }))
    };
    let wanted = task.host.nodes.len() * task.pes as usize;
    if task.host.bells.len() == wanted {
        return Ok(task.host.bells.iter().map(inherited).collect());
    }
    Ok((0..wanted).map(|_| Bell::new().map(Arc::new)).collect::<Result<_, _>>()?)
}

/// What the PEs say to the other processes.
struct Voice {
    control: Control,
    job: std::sync::Weak<Job>,
}

impl Others for Voice {
    fn end(&self, end: &End) {
        self.control.ended(end.status, end.message.clone());
    }

    fn step(&self, _: u64) {
        if let Some(job) = self.job.upgrade() {
            self.control.step(job.progress());
        }
    }
}

/// What the launcher has this node do.
struct Ear(Arc<Job>);

impl Orders for Ear {
    fn stop(&self, Stop { status, message }: Stop) {
        self.0.end_here(End { status, message });
    }

    fn steps(&self) -> Steps {
        self.0.progress()
    }
}

fn report(job: &Job, done: Done) -> NodeReport {
    NodeReport {
        totals: done.totals,
        results: job.results(),
        steps: job.progress(),
        wall: done.wall,
        balancing: job.balancing(),
        checkpoints: job.checkpoints(),
    }
}
