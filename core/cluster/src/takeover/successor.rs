//! The launcher's loop in the process of a node that takes over.

use std::io;
use std::os::unix::net::UnixListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

use super::adopted::Adopted;
use super::folder::Doors;
use super::gathering::{Gathered, gather};
use super::streams::Streams;
use crate::children::Executable;
use crate::conclude::conclude;
use crate::descriptors;
use crate::host_pool::HostPool;
use crate::launcher::{Launcher, Means};
use crate::local::LocalHost;
use crate::memory::{Inheritance, host_memory};
use crate::printer::Printer;
use crate::spool::Spool;
use crate::standby::Turn;
use crate::voice::die;
use talisman_control::coordinator::Coordinator;
use talisman_control::exit_cause::named;
use talisman_control::kills::Kills;
use talisman_control::outcome::{ClusterOutcome, merge};
use talisman_control::plan::Plan;
use talisman_control::protocol::Task;
use talisman_job::Program;
use talisman_job::{Progress, RunArgs};
use talisman_store::restart::Keeping;

/// What a node needs to become the launcher of its job.
#[derive(Clone)]
pub struct Heir {
    program: Program,
    options: RunArgs,
}

impl Heir {
    pub fn new(program: &Program, options: &RunArgs) -> Self {
        Heir { program: *program, options: options.clone() }
    }

    /// This process leads from now on, besides being the node of this task. Where that cannot be, it ends at once, and the next one
    /// leads.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn lead(self, task: Arc<Task>, door: UnixListener, doors: Arc<Doors>) -> io::Result<Leading> {
        let (left, has_left) = oneshot::channel();
        let work = move || {
            let led = catch_unwind(AssertUnwindSafe(|| self.run(&task, (door, doors), has_left)));
            led.unwrap_or_else(|_| die()).unwrap_or_else(|_| die())
        };
        let thread = thread::Builder::new().name("launcher".into()).spawn(work)?;
        Ok(Leading { thread, left })
    }

    fn run(
        self,
        task: &Task,
        (door, doors): (UnixListener, Arc<Doors>),
        left: oneshot::Receiver<()>,
    ) -> io::Result<ClusterOutcome> {
        let Heir { program, options } = self;
        let runtime = descriptors::runtime()?;
        let Gathered { mut followers, connections, door } = runtime.block_on(gather(door, &doors, task))?;
        let (running, lives) = (followers.running(), followers.lives());
        let kills = Kills::new(&options.kill, options.chaos).after(running, followers.steps().done);
        let plan = plan(task, &options, &kills, lives);
        let checkpoint_dirs = plan.keeping.checkpoint_dirs.clone();
        let progress = if options.progress { Progress::stderr() } else { Progress::off() };
        let (printer, lines, written) = Printer::start(options.label_output, progress)?;
        followers.add_printed(Spool::go_on_with(&lines));
        let pid = task.heritage.as_ref().map_or_else(std::process::id, |heritage| heritage.launcher);
        let adopted = Adopted::new(connections, task.number, left);
        let sites = HostPool::adopted(task.nodes, adopted, plan.spares, host(pid, doors)?);
        let leader = named(task.number, Some(std::process::id()), None);
        let coordinator = Coordinator::taking_over(plan, kills, &leader, &followers);
        let start = Instant::now().checked_sub(running).unwrap_or_else(Instant::now);
        let launcher = Launcher::new(&program, coordinator, sites, lines).going_on(start, pid);
        let means = Means { executable: Executable::this(), memory: host_memory, turn: Turn::LAST };
        // Ctrl-C at the terminal is not for a process that a shell does not wait for.
        let (_, signals) = mpsc::unbounded_channel();
        let ended = runtime.block_on(launcher.run(&means, signals, written));
        drop((door, runtime));
        let mut outcome = merge(ended, task.pes as usize);
        conclude(&mut outcome, checkpoint_dirs.as_ref(), printer);
        Ok(outcome)
    }
}

/// The job's plan, as far as the task of a node and its command line tell it. Processes that waited have ended with their launcher:
/// as many will, but for those that have become nodes.
fn plan(task: &Task, options: &RunArgs, kills: &Kills, lives: u64) -> Plan {
    let keeping = Keeping {
        checkpoint_dirs: task.checkpoint_dirs.clone(),
        restart: task.restart.clone(),
        notes: Vec::new(),
    };
    let hosts = vec![(0..task.begins_with).collect()];
    let known = Plan::known(task.job, task.secret.clone(), hosts, options);
    let used = u32::try_from(lives).unwrap_or(u32::MAX);
    let spares = options.spares.saturating_sub(used);
    let (nodes, keepers) = (task.nodes, task.keepers.clone());
    Plan { nodes, keepers, build: task.build, watched: kills.watched(), keeping, spares, ..known }
}

/// Where this process starts others. These are linked with nobody through memory, and print to where this one does.
fn host(pid: u32, doors: Arc<Doors>) -> io::Result<LocalHost> {
    let means = (Streams::of_this_process()?, doors);
    Ok(LocalHost::new(Inheritance::default(), Stdio::null()).outlived(means, pid, None))
}

/// A job that is led by this process.
pub struct Leading {
    thread: JoinHandle<ClusterOutcome>,
    left: oneshot::Sender<()>,
}

impl Leading {
    /// The node of this process has been let go: waits for the end of all others.
    pub fn finish(self) -> ClusterOutcome {
        let _ = self.left.send(());
        self.thread.join().unwrap_or_else(|_| die())
    }
}
