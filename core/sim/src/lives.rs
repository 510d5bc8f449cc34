//! The lives of a simulated node: its PEs stop when another node is lost, or the program has ended, and are made anew on their
//! old links when the launcher says so.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::control_messages::Letter;
use super::disks::{NodeDisk, can_be_read};
use super::durability_oracle::Owed;
use super::giveup_oracle::committed;
use super::process::{self, Process, Running, Stage};
use super::trace::Who;
use super::world::{Event, World};
use talisman_base::history::Few;
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_control::protocol::PeerInLife;
use talisman_control::protocol::{NodeReport, Place, ToLauncher, ToNode};
use talisman_core::checkpoint::restart::RestartOnPe;
use talisman_ft::double::Order;
use talisman_ft::{Epoch, NodeId, Version};
use talisman_job::Results;
use talisman_job::checkpoints::FaultTolerance;
use talisman_kernel::net::Net;
use talisman_kernel::node::{Config, Node};
use talisman_kernel::witness::{self, Seen};
use talisman_node::turns::{self, Turns};
use talisman_observe::stats::Totals;
use talisman_store::files::checkpoint_dir::CheckpointDirError;
use talisman_store::versions::Store;
use talisman_transport::reconnect::Inbox;

/// What a process has beside the PEs that it has right now.
#[derive(Default)]
pub(super) struct Lives {
    /// Where connections come in for the PE of each lane, whichever life it is in.
    pub(super) inboxes: RefCell<Vec<Arc<Inbox>>>,
    /// What it holds of checkpoints.
    pub(super) store: Arc<Store>,
    /// Where that is kept, if it is to be on disk.
    pub(super) node_disk: Option<NodeDisk>,
    /// Why it cannot be kept there.
    pub(super) homeless: RefCell<Option<CheckpointDirError>>,
    /// The links of PEs that have stopped, or are yet to begin.
    pub(super) nets: RefCell<Vec<Option<Net>>>,
    /// It has gone on with the others.
    pub(super) has_begun: Cell<bool>,
    /// The last version of which it was to be sent its part, as it came later.
    pub(super) fetched: Cell<Option<Version>>,
    /// Who is lost, as it was told last.
    pub(super) lost: RefCell<Vec<NodeId>>,
    /// Which process each node is, for its next order.
    pub(super) places: RefCell<Vec<Place>>,
    /// Its PEs have halted, and still read their links.
    pub(super) lingers: Cell<bool>,
    /// How it is to go on once it is linked with these.
    pub(super) ordered: RefCell<Option<(Order, Vec<PeerInLife>)>>,
    /// What is held once since it went back, until a checkpoint begins.
    pub(super) owed: Cell<Option<Owed>>,
    /// What PEs counted in former lives.
    totals: RefCell<Vec<Totals>>,
    /// The epoch for which it is to halt, and who is lost, until it has said that it has.
    halting: RefCell<Option<(Epoch, Vec<NodeId>)>>,
    /// The last epoch for which it has said that it has halted.
    halted: Cell<Epoch>,
    /// It has said what it leaves behind.
    done: Cell<bool>,
    /// What that was the last time.
    report: RefCell<Option<NodeReport>>,
}

impl Lives {
    pub(super) fn of(store: Arc<Store>, node_disk: Option<NodeDisk>) -> Self {
        Lives { store, node_disk, ..Lives::default() }
    }

    /// Whether there have been PEs.
    pub(super) fn have_begun(&self) -> bool {
        !self.inboxes.borrow().is_empty()
    }

    /// What it left behind, when it had stopped last.
    pub(super) fn report(&self) -> Option<NodeReport> {
        self.report.borrow().clone()
    }

    /// All that goes with the process.
    pub(super) fn end(&self) {
        self.nets.take();
        self.store.stop_lending();
    }
}

impl World {
    /// Whether the job goes on when it loses a node.
    pub(super) fn survives(&self) -> bool {
        self.plan.survives()
    }

    /// The PEs of one node.
    pub(super) fn pes_of(&self, number: u32) -> Range<PeId> {
        let pes = self.plan.pes_per_node;
        number * pes..(number + 1) * pes
    }

    /// A node of this view.
    pub(super) fn node_in(&self, number: u32, view: View) -> Arc<Node> {
        let process = &self.nodes[number as usize];
        let config = Config {
            seed: self.tasks[0].restart.as_ref().map_or(self.plan.seed, |restart| restart.seed),
            pack_all: false,
            repack: false,
            replays: false,
            host: process.host,
            neighbours: self.nodes_of(process.host).filter(|node| *node < self.tasks[0].nodes).collect(),
            few: Few(self.plan.limits.few),
            is_simulated: true,
            ..Config::of(&self.plan.options)
        };
        let store = process.lives.store.clone();
        Node::in_view(Arc::new(view), store, self.shape(), number, config, process.job.clone())
    }

    pub(super) fn shape(&self) -> Shape {
        // A job that goes on from another may have numbers of nodes that it has no processes for.
        Shape { nodes: self.tasks[0].nodes, ..self.plan.shape() }
    }

    /// From now on these are its PEs.
    pub(super) fn run_on(&self, number: u32, pes: Vec<Turns>) {
        let process = &self.nodes[number as usize];
        *process.turns.borrow_mut() = vec![process::Turns::default(); pes.len()];
        *process.running.borrow_mut() = Some(Rc::new(Running { pes }));
    }

    /// Others are lost: its PEs are to stop.
    pub(super) fn halt(&self, number: u32, epoch: Epoch, lost: &[u32]) {
        let process = &self.nodes[number as usize];
        *process.lives.halting.borrow_mut() = Some((epoch, lost.to_vec()));
        *process.lives.lost.borrow_mut() = lost.to_vec();
        process.lives.places.take();
        process.lives.ordered.take();
        self.with_connecting(number, |connecting| connecting.on_gone(|node| lost.contains(&node)));
        process.job.halt();
        self.plan(self.now(), Event::Stopped(number));
    }

    /// The PEs of a node are to stop: once none of them is in the midst of an entry, they are no more, and it is said why.
    pub(super) fn stopped(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if process.stage.get() != Stage::Up || !process.job.is_over() || process.is_amid() {
            return;
        }
        // Whoever has ended has nothing to wait for.
        let lingers =
            self.plan.lingers && process.job.how_it_ended().is_none() && process.running().is_some();
        match lingers {
            true => process.lives.lingers.set(true),
            false => self.end_life(number),
        }
        self.hand_over_what_was_said(number);
        match process.lives.halting.take() {
            Some((epoch, lost)) => {
                let held = process.lives.store.held_without(&lost, number);
                let steps = process.job.progress().done;
                process.lives.halted.set(epoch);
                self.commit(committed(&held));
                self.judge_held(process, &held);
                self.tell_launcher(number, ToLauncher::Halted { epoch, held, steps });
            }
            None if process.lives.done.get() || process.job.how_it_ended().is_none() => {}
            None => {
                process.lives.done.set(true);
                let report = process.report(process.job.last_words(number));
                *process.lives.report.borrow_mut() = Some(report.clone());
                self.hand_over_what_was_said(number);
                self.tell_launcher(number, ToLauncher::Done(report.into()));
            }
        }
    }

    /// The launcher is about to send this. What nobody knows but the world: whether who is told to go on in an epoch has stopped for it, and
    /// not for an earlier one only, after which it may have come to hold other parts.
    pub(super) fn judge_order(&self, letter: &Letter) {
        let Letter::ToNode(number, ToNode::Resume(order)) = letter else { return };
        self.forget(order);
        let (epoch, halted) = (order.view.epoch, self.nodes[*number as usize].lives.halted.get());
        if halted < epoch {
            self.flaw(format!(
                "node {number} is told to go on in epoch {epoch}, and has not said that it has halted for it"
            ));
        }
    }

    /// The PEs of a node are no more, if there are any; its links stay.
    pub(super) fn end_life(&self, number: u32) {
        let process = &self.nodes[number as usize];
        process.lives.lingers.set(false);
        let Some(running) = process.running.borrow_mut().take() else { return };
        process.clock.set(self.now());
        let Some(Running { pes }) = Rc::into_inner(running) else {
            unreachable!("PEs that have no turn are nobody's but their process's")
        };
        let mut totals = process.lives.totals.borrow_mut();
        totals.resize(pes.len(), Totals::default());
        let mut nets = Vec::new();
        for (mut pe, totals) in pes.into_iter().zip(totals.iter_mut()) {
            pe.end();
            totals.add(&pe.pe.stats.totals());
            nets.push(pe.take_net());
        }
        *process.lives.nets.borrow_mut() = nets;
    }

    /// All others that are left have halted: it goes on as the order says.
    pub(super) fn resume(&self, number: u32, order: Order) {
        let process = &self.nodes[number as usize];
        self.end_life(number);
        process.job.begin_again();
        process.lives.store.go_back(&order);
        // Whoever leads now may know of one of which none that are left does.
        self.known.set(self.known.get().max(order.committed));
        process.lives.done.set(false);
        if !order.fetch.is_empty() {
            process.lives.fetched.set(order.version);
        }
        self.meet(number, order);
    }

    /// It is linked with all that it is to go on with.
    pub(super) fn begin_epoch(&self, number: u32, order: &Order) {
        let process = &self.nodes[number as usize];
        let epoch = order.view.epoch;
        self.say(Who::Node(number), format_args!("begins epoch {epoch}"));
        process.clock.set(self.now());
        let (version, pes) = (order.version, self.pes_of(number));
        let life = self.nodes.life(number);
        witness::see(|| Seen::Begun { epoch, version, pes, life });
        let node = self.node_in(number, View::new(order.view.clone(), self.plan.pes_per_node));
        let nets = process.lives.nets.take();
        self.run_on(number, turns::pes_again(&node, &process.clock.clock(), nets, order));
        self.begin_by(number, order);
        let has_begun = process.running().is_some_and(|running| running.pes.iter().all(Turns::has_begun));
        if process.is_up() && has_begun {
            process.lives.has_begun.set(true);
            process.lives.owed.set(process.running().and_then(|running| Owed::after(order, &running)));
            let steps = process.job.progress().done;
            self.tell_launcher(number, ToLauncher::Resumed { epoch, steps });
        }
    }

    /// Its PEs begin as an order says, and take their turns.
    pub(super) fn begin_by(&self, number: u32, order: &Order) {
        let process = &self.nodes[number as usize];
        let Some(running) = process.running() else { return };
        // On threads of their own they look at once what their links have, whoever of them waits for what it begins with.
        let wake_all = || (0..self.plan.pes_per_node).for_each(|rank| self.wake(number, rank, self.now()));
        wake_all();
        for turns in &running.pes {
            turns.begin(|pe| {
                let begun = pe.begin_by(order, &*self.main);
                begun.map_err(|error| self.lack(number, format!("cannot go on: {error}"))).is_ok()
            });
        }
        if !self.nodes.is_last(process) {
            // It was killed while it waited for what it begins with.
            return;
        }
        wake_all();
        self.after_turn(number);
    }

    /// A node has not what it is told to go on with, which is its end. Only disks that do not give back what is on them may come to that.
    fn lack(&self, number: u32, why: String) {
        if self.plan.options.ft != FaultTolerance::Disk || can_be_read(self.plan.disk) {
            self.flaw(format!("node {number} {why}"));
        }
        self.fail(number, why);
    }
}

impl Process {
    /// Whether a PE is in the midst of an entry, further down on the stack.
    pub(super) fn is_amid(&self) -> bool {
        let waits = |running: Rc<Running>| running.pes.iter().any(Turns::is_waiting);
        self.running().is_some_and(waits) || self.steps.has_waiting()
    }

    /// What it leaves behind.
    pub(super) fn report(&self, results: Results) -> NodeReport {
        NodeReport {
            totals: self.lives.totals.borrow().clone(),
            results,
            steps: self.job.progress(),
            wall: self.clock.clock().now(),
            balancing: self.job.balancing(),
            checkpoints: self.job.checkpoints(),
            kept: None,
            leftovers: self.job.leftovers(),
            loads: self.job.loads(),
        }
    }
}
