//! A node that is a process of its own.

use std::error::Error;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use super::commands::{Commands, Word};
use super::connections::Connections;
use super::kept_memory::keep_memory;
use super::linking::{Host, Streams};
use super::lives::Lives;
use super::logged::{self, LoggedCommands, LoggedNode, LoggedVoice, OutputLines, Parts};
use super::shown::Shown;
use talisman_base::layout::mark::LayoutMark;
use talisman_base::topology::Shape;
use talisman_base::transport::Transport;
use talisman_cluster::Control;
use talisman_cluster::member::{Joining, Meeting};
use talisman_control::node_session::first_order;
use talisman_control::protocol::{NodeReport, Place, Task, ToLauncher};
use talisman_core::checkpoint::restart::RestartOnPe;
use talisman_ft::Version;
use talisman_ft::double::{Contents, Order};
use talisman_ft::logging::{Keepers, Membership};
use talisman_ft::view::View;
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::job::{End, Job, Others};
use talisman_job::lines::Lines;
use talisman_job::{Output, Results, RunArgs};
use talisman_kernel::node::Config;
use talisman_kernel::panics;
use talisman_kernel::pe::Pe;
use talisman_store::cma::Lent;
use talisman_store::files::manifest::JobMark;
use talisman_store::files::writer::WriterError;
use talisman_store::restart::CheckpointDirs;
use talisman_store::versions::Store;
use talisman_transport::inherited::Inherited;
use talisman_transport::poller::{Bell, Poller};

/// Runs this process's node to the end of the job; what went wrong before the program began goes to the launcher. `main` makes the
/// job's first message on the first PE, as often as the job begins anew.
pub fn run(options: &RunArgs, joining: Joining, output: Output, main: impl Fn(&Pe) + Sync) {
    panics::listen();
    keep_memory();
    let (task, control) = (joining.task().clone(), joining.control().clone());
    let logs = options.ft.logs();
    let said = OutputLines::default();
    let job = Job::new(if logs { Output::to(said.clone()) } else { output });
    let neighbours = task.host.nodes.as_slice().into();
    let seed = task.restart.as_ref().map_or(options.seed, |restart| restart.seed);
    let config = Config::of(options);
    let config = Config { host: task.host_number, neighbours, seed, has_process: true, ..config };
    if config.survives() && !logs {
        job.survive();
    }
    // Parts of checkpoints, and long messages of virtual ranks.
    Lent::allow();
    let host = match host(&task) {
        Ok(host) => host,
        Err(error) => control.failed(format!("cannot have the memory of its host: {error}")),
    };
    let connections = match Connections::new(&task, &control, job.survives() || logs) {
        Ok(connections) => connections,
        Err(error) => control.failed(error.to_string()),
    };
    let address = match connections.listen() {
        Ok(address) => address,
        Err(error) => control.failed(error),
    };
    let layout = joining.layout().cloned();
    let mut meeting = joining.meet(address);
    let streams = match connections.connect(std::mem::take(&mut meeting.addresses)) {
        Ok(streams) => streams,
        Err(error) => control.failed(error),
    };
    let reconnect = |lane| connections.reconnect(lane);
    let store =
        store((&task, logs), layout, &control).unwrap_or_else(|error| control.failed(error.to_string()));
    if job.survives() || logs {
        store.lend_pages();
    }
    if logs {
        let (log_budget, ft, checks) = (options.log_budget, options.ft, options.ft_check);
        let own = Own { task, control, job, connections, config, said, log_budget, ft, checks };
        return own.log(host, (streams, store), meeting, main);
    }
    let late = (task.life > 0).then_some(task.running);
    let lives = match Lives::new(host, task.number, late, config, (&job, store), streams, reconnect) {
        Ok(lives) => lives,
        Err(error) => control.failed(format!("cannot be linked with the other nodes: {error}")),
    };
    job.join(Box::new(Voice { control: control.clone(), job: Arc::downgrade(&job) }));
    let (to_wake, tried, missing) = (connections.clone(), connections.clone(), connections.clone());
    let try_all = move |inquiry, limit| tried.try_all(inquiry, limit);
    let complaints = move || missing.complaints();
    let orders = Commands::new(task.number, job.clone(), move || to_wake.knock(), try_all, complaints);
    let orders = Arc::new(orders.showing(Shown::new(&connections, &job)));
    meeting.begin(orders.clone());
    Member { task, control, job, connections, lives, orders }.run(main);
}

/// What a node of a job that logs is made of.
struct Own {
    task: Arc<Task>,
    control: Control,
    job: Arc<Job>,
    connections: Arc<Connections>,
    config: Config,
    said: OutputLines,
    log_budget: Option<u64>,
    ft: FaultTolerance,
    checks: bool,
}

impl Own {
    /// Runs it to the end of the job.
    fn log(
        self,
        host: Host,
        (mut streams, store): (Streams, Arc<Store>),
        meeting: Meeting,
        main: impl Fn(&Pe) + Sync,
    ) {
        let Own { task, control, job, connections, config, said, log_budget, ft, checks } = self;
        let (runs_again, start) = (Arc::new(AtomicBool::new(false)), logged::start_of(task.running));
        let mut make = || -> Result<_, Box<dyn Error>> {
            let links = match task.life {
                0 => host.links(task.number, 0, &mut streams)?,
                // Whoever comes later is told whom it is linked with.
                _ => Vec::new(),
            };
            let links = (0..).zip(links).filter_map(|(node, link)| Some((node, link?))).collect();
            let poller = Poller::new(host.bell(task.number, 0)?)?;
            Ok(Parts { pe: task.number, links, poller, reconnect: connections.reconnect(0) })
        };
        let parts = make().unwrap_or_else(|error| {
            control.failed(format!("cannot be linked with the other nodes: {error}"))
        });
        let (number, for_node) = (task.number, job.clone());
        let (first, kept_in) = (first_membership(&task), store.clone());
        let membership = task.membership.clone().unwrap_or_else(|| first.clone());
        let make_node = move |view: &View| {
            let pes = talisman_base::view::View::new(view.clone(), host.shape.pes_per_node);
            let ready = host.ready(pes, store.clone(), number, config.clone(), &for_node, vec![None]);
            ready.map(|ready| ready.node).map_err(|error| error.to_string())
        };
        // Whoever comes with a line is not there yet, and has another one in that.
        let whole = View::whole(membership.view.nodes());
        let view = if membership.view.is_there(number) { &membership.view } else { &whole };
        let node = make_node(view).unwrap_or_else(|error| control.failed(error));
        let voice = LoggedVoice {
            control: control.clone(),
            job: Arc::downgrade(&job),
            runs_again: runs_again.clone(),
            said: said.clone(),
        };
        job.join(Box::new(voice));
        connections.wakes(&node);
        let (to_wake, tried, missing) = (connections.clone(), connections.clone(), connections.clone());
        let try_all = move |inquiry, limit| tried.try_all(inquiry, limit);
        let (complaints, shown) = (move || missing.complaints(), Shown::new(&connections, &job));
        let now_there = task.membership.as_ref().map(|membership| membership.view.clone());
        let commands = LoggedCommands::new(
            job.clone(),
            move || to_wake.knock(),
            try_all,
            complaints,
            (shown, now_there),
        );
        let commands = Arc::new(commands);
        meeting.begin(commands.clone());
        let (node, make_node) = (Mutex::new(node), Box::new(make_node));
        let logged = LoggedNode {
            task,
            control,
            job,
            connections,
            first,
            membership,
            store: kept_in,
            node,
            make_node,
            commands,
            said,
            log_budget,
            ft,
            checks,
            runs_again,
            start,
        };
        logged.run(parts, main);
    }
}

/// Who is there at the beginning of a job that logs.
fn first_membership(task: &Task) -> Membership {
    Membership::first(first_order(task).view, Keepers::named(task.keepers.clone()))
}

/// A node whose program has begun.
struct Member {
    task: Arc<Task>,
    control: Control,
    job: Arc<Job>,
    connections: Arc<Connections>,
    lives: Lives,
    orders: Arc<Commands>,
}

impl Member {
    /// One life after the other, until the launcher lets this node go; without fault tolerance there is one.
    fn run(mut self, beginning: impl Fn(&Pe) + Sync) {
        let mut next = match self.task.life {
            0 => Some((first_order(&self.task), Vec::new())),
            // The others are there already.
            _ => self.next_order(None),
        };
        while let Some((order, places)) = next {
            self.live(&order, &places, &beginning);
            if !self.job.survives() {
                return self.control.done(self.last_report());
            }
            next = self.next_order(Some(&order.view));
        }
    }

    /// A life as this order says, until the job is over or halts.
    fn live(&mut self, order: &Order, places: &[Place], beginning: &(impl Fn(&Pe) + Sync)) {
        if order.view.epoch > 0 {
            self.lives.store().go_back(order);
        }
        self.connections.keep_to(|node| order.view.is_there(node));
        let met = self.connections.meet(&self.job, places, |node| order.view.is_there(node));
        let Some(streams) = met else { return };
        self.find_neighbours(places);
        let ready = match self.lives.next(order, streams) {
            Ok(ready) => ready,
            Err(error) => self.control.failed(format!("cannot go on: {error}")),
        };
        self.connections.wakes(&ready.node);
        let (control, job, missing) = (&self.control, &self.job, AtomicU32::new(self.task.pes));
        let begin = |pe: &Pe| {
            if let Err(error) = pe.begin_by(order, beginning) {
                // There is another copy: without this one, the others go on.
                control.failed(format!("cannot go on: {error}"));
            }
            if missing.fetch_sub(1, Ordering::Relaxed) == 1 && order.view.epoch > 0 {
                let (epoch, steps) = (order.view.epoch, job.progress().done);
                control.send(ToLauncher::Resumed { epoch, steps });
            }
        };
        self.lives.live(ready, begin);
    }

    /// Where some process has been replaced, it is said where all are now: not all need be where others of their numbers were.
    fn find_neighbours(&mut self, places: &[Place]) {
        let Some(own) = places.iter().find(|place| place.node == self.task.number) else { return };
        let near = places.iter().filter(|place| place.host == own.host);
        self.lives.live_on(own.host, near.map(|place| place.node).collect());
    }

    /// What the launcher wants after a life; nothing if this node is to leave.
    fn next_order(&self, view: Option<&View>) -> Option<(Order, Vec<Place>)> {
        loop {
            match self.orders.next() {
                Word::Halt(epoch, lost) => {
                    // Whoever is there under these numbers later is another process.
                    self.connections.keep_to(|node| !lost.contains(&node));
                    let held = self.lives.store().held_without(&lost, self.task.number);
                    let steps = self.job.progress().done;
                    self.control.send(ToLauncher::Halted { epoch, held, steps });
                }
                Word::Resume(order, places) => return Some((order, places)),
                Word::Over => self.control.stopped(self.last_report()),
                Word::Leave => {
                    if self.job.how_it_ended().is_none() {
                        // The others go on without it, and do again what was said since the cut that they go on from.
                        self.control.done(self.report(Results::default()));
                    }
                    view.into_iter().for_each(|view| self.tidy(view));
                    return None;
                }
            }
        }
    }

    /// After an end in order nobody goes back to anything.
    fn tidy(&self, view: &View) {
        if self.job.how_it_ended().is_some_and(|end| end.status == 0) {
            self.lives.store().clear(view.there().collect());
        }
    }

    /// With what the program said last.
    fn last_report(&self) -> NodeReport {
        let said = self.job.last_words(self.task.number);
        self.report(if self.job.survives() { said } else { self.job.results() })
    }

    fn report(&self, results: Results) -> NodeReport {
        let done = self.lives.done();
        NodeReport {
            totals: done.totals,
            results,
            steps: self.job.progress(),
            wall: done.wall,
            balancing: self.job.balancing(),
            checkpoints: self.job.checkpoints(),
            kept: None,
            leftovers: self.job.leftovers(),
            loads: self.job.loads(),
        }
    }
}

/// What holds the parts of checkpoints: as the task says, on disk too, all or those that are asked for. In a job that logs, the launcher asks.
fn store(
    (task, logs): (&Task, bool),
    layout: Option<LayoutMark>,
    control: &Control,
) -> Result<Arc<Store>, WriterError> {
    let store = Arc::new(Store::default());
    let nodes = task.restart.as_ref().map_or(task.nodes, |restart| restart.view.nodes());
    let shape = Shape { nodes, pes_per_node: task.pes };
    let marked = |job: &JobMark| JobMark { layout, ..job.clone() };
    match &task.checkpoint_dirs {
        Some(CheckpointDirs { dir, key, has_all: true, job, .. }) if !logs => {
            store.keep_in((dir, key), task.number, marked(job), shape)?;
        }
        Some(CheckpointDirs { dir, key, job, .. }) => {
            store.write_what_is_asked_for_in((dir, key), task.number, marked(job), shape);
        }
        None => {}
    }
    if store.is_in_memory() && task.host.nodes.len() > 1 {
        store.share();
    }
    if let Some(restart) = &task.restart {
        let control = control.clone();
        let fetch_remote = Box::new(move |pe, place, from| control.fetch(pe, place, from));
        store.go_on_from(restart.clone(), task.pes, task.host_number, fetch_remote);
    }
    Ok(store)
}

fn host(task: &Task) -> Result<Host, Box<dyn Error>> {
    let shape = Shape { nodes: task.nodes, pes_per_node: task.pes };
    let on_host = task.host.nodes.len() as u32;
    let inherited = task.host.memory.filter(|_| task.has(Transport::is_inherited)).map(|number| {
        // SAFETY: the launcher left it open for this process, under this number.
        let memory = unsafe { BorrowedFd::borrow_raw(number) };
        Inherited::open(memory, on_host, task.pes)
    });
    let (begins_with, nodes) = (task.begins_with, task.host.nodes.clone());
    Ok(Host { shape, begins_with, nodes, bells: bells(task)?, inherited: inherited.transpose()? })
}

/// What wakes the PEs of this host. Without shared memory, a node wakes only its own.
fn bells(task: &Task) -> Result<Vec<Arc<Bell>>, Box<dyn Error>> {
    let inherited = |number: &RawFd| {
        // SAFETY: the launcher left it open for this process, under this number, and nothing else uses it.
        Arc::new(Bell::of(unsafe { OwnedFd::from_raw_fd(*number) }))
    };
    let wanted = task.host.nodes.len() * task.pes as usize;
    // Nobody but its own threads wakes the PEs of a process that came later.
    if task.host.bells.len() == wanted && task.life == 0 {
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

    fn suspect(&self, node: u32, why: String) {
        self.control.send(ToLauncher::Suspect { node, why });
    }

    fn answer(&self, asked: u32, checkpoint: Result<Version, String>, not_written: Option<String>) {
        self.control.send(ToLauncher::Checkpointed { asked, checkpoint, not_written });
    }

    fn balanced(&self, asked: u32, step: Result<String, String>) {
        self.control.send(ToLauncher::Balanced { asked, step });
    }

    fn note(&self, text: String) {
        self.control.send(ToLauncher::Note(text));
    }

    fn committed(&self, version: Version, contents: Vec<(u32, Contents)>) {
        self.control.send(ToLauncher::Committed { version, contents });
    }

    fn say(&self, lines: Lines) {
        self.control.send(ToLauncher::Lines(lines));
    }

    fn step(&self, _: u64) {
        if let Some(job) = self.job.upgrade() {
            self.control.step(job.progress());
        }
    }
}
