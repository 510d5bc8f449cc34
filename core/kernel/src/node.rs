//! What the PEs of one process share, and what the nodes of one job share in this process.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use crate::message::pool::Depot;
use crate::pe::figures::FiguresWindow;
use crate::pe::running::Window;
use crate::pe::try_current;
use crate::shared_values::SharedValues;
use crate::trace::{TraceSettings, TraceSink};
use talisman_base::history::Few;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_job::balancing::LbSettings;
use talisman_job::checkpoints::CkptSettings;
use talisman_job::job::{Job, Stop};
use talisman_job::options::Traced;
use talisman_job::{Measures, RunArgs};
use talisman_sched::idle::are_more_than_cores;
use talisman_sched::park::Parker;
use talisman_store::versions::Store;

/// How the program is to be run, as far as PEs look at it.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Seeds `cx.rng()`.
    pub seed: u64,
    /// Packs every message, even within a node.
    pub pack_all: bool,
    /// Packs and unpacks every object after each of its messages.
    pub repack: bool,
    /// Keeps what each PE is given and sends, packed, so that the PE can be run again from it.
    pub replays: bool,
    /// Messages between the PEs of a node are packed as between nodes: what each is given and sends is written down or compared, for it to
    /// be run again without the others.
    pub packs_within: bool,
    /// What is measured for load balancing.
    pub measures: Measures,
    /// If that are not loads: whether these are estimated, for advice at the job's end.
    pub estimates_loads: bool,
    /// The number of the host that the node is on.
    pub host: u32,
    /// How objects are balanced, if they are.
    pub balance: Option<Arc<LbSettings>>,
    /// The nodes of its host, itself too; none where there are no processes of nodes.
    pub neighbours: Arc<[u32]>,
    /// When checkpoints are taken, if they are.
    pub checkpoints: Option<Arc<CkptSettings>>,
    /// It has a process of its own: another one that is there belongs to the line before, and is about to go.
    pub has_process: bool,
    /// It is simulated: other nodes may be in its process at any time, of its own job or of one that another thread simulates.
    pub is_simulated: bool,
    /// PEs of a lost node do again what they did, and those of others go on meanwhile (`--ft logging`).
    pub logs: bool,
    /// The folder in which each PE records what it is given, if it does.
    pub record: Option<Arc<Path>>,
    /// Where PEs write what they do, if that is traced.
    pub trace: Option<TraceSink>,
    /// Of how much of what has been tables make nothing.
    pub few: Few,
}

impl Config {
    pub fn of(options: &RunArgs) -> Self {
        Config {
            seed: options.seed,
            pack_all: options.pack_all,
            repack: options.repack,
            replays: options.verify_replay && options.simulate,
            packs_within: options.verify_replay && options.simulate || options.record.is_some(),
            host: 0,
            neighbours: Arc::default(),
            measures: LbSettings::of(options).map_or(options.measures, |settings| settings.measures()),
            // What a PE is given is its whole input where it may be run again from that, or has a clock that is made up.
            estimates_loads: !options.simulate && !options.ft.logs() && options.record.is_none(),
            balance: LbSettings::of(options).map(Arc::new),
            checkpoints: CkptSettings::of(options).map(Arc::new),
            has_process: false,
            is_simulated: options.simulate,
            logs: options.ft.logs(),
            record: options.record.as_deref().map(Arc::from),
            trace: traced(options).map(TraceSink::new),
            few: options.few,
        }
    }
}

impl Config {
    /// Whether the job may go on when it loses a node.
    pub fn survives(&self) -> bool {
        self.checkpoints.is_some()
    }
}

/// What is to be traced, if anything is.
fn traced(options: &RunArgs) -> Option<TraceSettings> {
    let nodes = u64::from(options.numbers().max(1));
    let bytes_max = options.trace_size / nodes;
    let simulated_pes = options.simulate.then(|| nodes * u64::from(options.pes_per_node()));
    options.trace.as_ref().map(|file| {
        let file = file.clone();
        // A simulated clock says when something was: nothing is left out before.
        let parts = if options.simulate { Traced::default() } else { options.traced() };
        TraceSettings { file, parts, bytes_max, simulated_pes }
    })
}

/// Nodes in this process: in tests there are several.
static IN_PROCESS: AtomicUsize = AtomicUsize::new(0);

/// What the PEs of one process share.
pub struct Node {
    pub shape: Shape,
    /// Who is there, of those that have a number.
    pub view: Arc<View>,
    pub number: u32,
    pub config: Config,
    pub depot: Arc<Depot>,
    pub shared: SharedValues,
    pub job: Arc<Job>,
    /// The parts of checkpoints that this process holds.
    pub store: Arc<Store>,
    /// Where the PEs of this node sleep, by their rank in it.
    pub parkers: Box<[Parker]>,
    /// Where other threads see what they run.
    pub windows: Box<[Window]>,
    /// Where others ask what they have counted.
    pub figures: Box<[FiguresWindow]>,
}

impl Node {
    /// One whose PEs sleep on futexes: it has no other node to listen to.
    pub fn new(shape: Shape, number: u32, config: Config, job: Arc<Job>) -> Arc<Node> {
        Node::in_view(Arc::new(View::whole(shape)), Arc::default(), shape, number, config, job)
    }

    /// The same where perhaps not all are there, and parts of checkpoints may be.
    pub fn in_view(
        view: Arc<View>,
        store: Arc<Store>,
        shape: Shape,
        number: u32,
        config: Config,
        job: Arc<Job>,
    ) -> Arc<Node> {
        let shares = are_more_than_cores(shape.pes_per_node.into());
        let parkers = (0..shape.pes_per_node).map(|_| Parker::sharing_cores(shares)).collect();
        Node::sleeping_in_view(parkers, view, store, shape, number, config, job)
    }

    /// The same with places to sleep, where perhaps not all are there, and parts of checkpoints may be.
    pub fn sleeping_in_view(
        parkers: Box<[Parker]>,
        view: Arc<View>,
        store: Arc<Store>,
        shape: Shape,
        number: u32,
        config: Config,
        job: Arc<Job>,
    ) -> Arc<Node> {
        let (depot, shared) = (Arc::default(), SharedValues::default());
        if config.replays {
            shared.keep_all();
        }
        let windows = (0..shape.pes_per_node).map(|_| Window::default()).collect();
        let figures = (0..shape.pes_per_node).map(|_| FiguresWindow::default()).collect();
        let node = Arc::new(Node {
            shape,
            view,
            number,
            config,
            depot,
            shared,
            job,
            store,
            parkers,
            windows,
            figures,
        });
        let stops: Weak<dyn Stop> = Arc::downgrade(&node) as _;
        node.job.runs_on(stops);
        IN_PROCESS.fetch_add(1, Ordering::Relaxed);
        node
    }

    /// Has the PE of a lane look up, also if a process that was about to wake it was lost then: the others take that for done.
    pub fn wake(&self, lane: u32) {
        self.parkers[lane as usize].wake();
    }

    /// Whether its host has more PEs than cores.
    pub fn shares_cores(&self) -> bool {
        let nodes = self.config.neighbours.len().max(1);
        are_more_than_cores(nodes as u64 * u64::from(self.shape.pes_per_node))
    }

    /// Whether other nodes are in this process, or may be. What PEs do depends on it, so it must not depend on when a node of a former line is
    /// dropped; and what simulated PEs do, not on whether another node of theirs is lost, nor on what other threads simulate meanwhile.
    pub fn shares_process(&self) -> bool {
        self.config.is_simulated || !self.config.has_process && IN_PROCESS.load(Ordering::Relaxed) > 1
    }
}

impl Node {
    /// Asks all its PEs for their figures, also those that sleep.
    pub fn ask_for_figures(&self) {
        self.figures.iter().for_each(FiguresWindow::ask);
        self.parkers.iter().for_each(Parker::wake);
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        IN_PROCESS.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Stop for Node {
    fn stop(&self) {
        try_current(|pe| pe.stopped.set(true));
        // Whoever was to wake one of them may be what is lost.
        self.parkers.iter().for_each(Parker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::NonNull;
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;
    use talisman_job::Output;
    use talisman_sched::bell::Bell;
    use talisman_sched::sync::AsymmetricFence;

    /// Nothing here takes long.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Memory that processes share, in which a PE says that it sleeps.
    #[derive(Default)]
    struct Word(AtomicU32);

    #[test]
    fn a_pe_hears_that_the_job_halts_when_whoever_was_to_wake_it_was_killed_before_it_did() {
        wakes_a_pe_of_a_killed_sender(|_, job| job.halt());
    }

    #[test]
    fn a_pe_hears_the_launcher_when_whoever_was_to_wake_it_was_killed_before_it_did() {
        wakes_a_pe_of_a_killed_sender(|node, _| node.wake(0));
    }

    #[track_caller]
    fn wakes_a_pe_of_a_killed_sender(wake: impl FnOnce(&Node, &Job)) {
        let (word, bell) = (Arc::new(Word::default()), Arc::new(Bell::new().unwrap()));
        let ring = {
            let bell = bell.clone();
            move || bell.ring()
        };
        // SAFETY: the word is kept, and has the layout of a futex; a parker allows for whatever others write there.
        let parker = unsafe {
            Parker::in_shared_memory(
                NonNull::from(&word.0).cast(),
                word.clone(),
                AsymmetricFence::new(),
                ring,
            )
        };
        let (shape, job) = (Shape { nodes: 2, pes_per_node: 1 }, Job::new(Output::capture()));
        let (view, parkers) = (Arc::new(View::whole(shape)), Box::new([parker]));
        let node =
            Node::sleeping_in_view(parkers, view, Arc::default(), shape, 0, Config::default(), job.clone());
        let (done, woke) = channel();
        let sleeper = node.clone();
        thread::spawn(move || {
            let sleep = || {
                // As another process does that is killed just then.
                word.0.store(0, Ordering::SeqCst);
                let _ = done.send(());
                let mut heard = [PollFd::new(&*bell, PollFlags::IN)];
                poll(&mut heard, None).unwrap();
            };
            let _ = sleeper.parkers[0].park_in(|| sleeper.job.is_over(), sleep);
            let _ = done.send(());
        });
        woke.recv_timeout(PATIENCE).expect("the PE sleeps");
        wake(&node, &job);
        woke.recv_timeout(PATIENCE).expect("the PE wakes");
    }
}
