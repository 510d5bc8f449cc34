//! Jobs that log their messages and lose nodes: only these go back ([`talisman_core::logging`]).
//!
//! PEs, what they record, what nodes keep and say to each other, the leader and its plans are the real ones. Simulated are what is on its
//! way and how long it takes, the processes that come in the place of lost ones, and whoever prints. Everything that a restarted node does
//! is held against what has happened (`shadow.rs`); a difference ends the job.

mod driving;
mod post;
mod shadow;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::chance::Chance;
use super::model::Model;
use super::{Cluster, Machine, Rules};
use post::Post;
use shadow::Shadow;
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_core::logging::image::{Beginning, Image};
use talisman_core::logging::member::Member;
use talisman_ft::NodeId;
use talisman_ft::logging::{self, Incarnation, Leader};
use talisman_job::Output;
use talisman_job::job::{End, Job};
use talisman_kernel::node::Config;
use talisman_kernel::pe::Pe;
use talisman_kernel::port::Sent;
use talisman_node::Done;
use talisman_pup::Packed;

/// Events after the last strike at most: a node that waits for what never becomes stable asks again and again.
const EVENTS_MAX: u64 = 20_000_000;

/// What happens to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strike {
    /// When.
    pub when: When,
    /// What.
    pub what: Blow,
}

/// When something happens to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After so many events since the strike before.
    Events(u64),
    /// When the job has lasted so long.
    Time(Duration),
}

/// Something that happens to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blow {
    /// These nodes are lost at once.
    Lose(Vec<u32>),
    /// When all nodes are live, the whole job is cut: nobody goes back behind that.
    Cut,
}

/// Who went back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WentBack {
    /// How often the PEs of each node were made from their place in the line, and ran again.
    pub restored: BTreeMap<NodeId, u32>,
    /// How often each was lost, by the strikes or before it was live again.
    pub lost: BTreeMap<NodeId, u32>,
    /// Steps that restored PEs have done again.
    pub steps: u64,
    /// How long their entries took again, as far as programs say that they compute, in nanoseconds.
    pub redone_ns: u64,
    /// How long it took after each loss until all nodes were live, in nanoseconds.
    pub recovered_ns: Vec<u64>,
}

/// A job that logs.
pub struct Logged {
    shape: logging::Shape,
    config: Config,
    view: Arc<View>,
    members: Vec<Option<Member>>,
    /// The newest process of each node, started or about to be.
    newest: Vec<Incarnation>,
    leader: Leader,
    post: Post,
    shadow: Shadow,
    /// What a PE has put on its lanes, and the simulator has not put on its way.
    letters: BTreeMap<PeId, Vec<Sent>>,
    /// Nodes of which PEs are to be made.
    begins: Vec<(NodeId, Box<Image>)>,
    /// Lines that were heard of the program on each node.
    heard: BTreeMap<NodeId, Heard>,
    /// Nodes that are about to send their keepers what is new.
    flushing: BTreeMap<NodeId, Incarnation>,
    /// The job has ended, as soon as all is printed.
    ending: Option<End>,
    went_back: WentBack,
    /// When the loss was of which the job has not recovered.
    lost_at: Option<u64>,
    /// The event's time.
    now: u64,
}

/// What a node's program has said so far.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    lines: usize,
    end: bool,
}

/// Runs a job that is struck so often, unless it ends before: on the model of a machine, or, where there is none,
/// as its seed decides. After a loss it takes so long until a process is there in the lost one's place.
pub fn run(
    shape: Shape,
    config: &Config,
    job: &Arc<Job>,
    machine: Option<(&Machine, Duration)>,
    strikes: &[Strike],
    main: impl FnOnce(&Pe),
) -> (Done, WentBack) {
    let seed = config.seed;
    match machine {
        Some((machine, pause)) => {
            let logged = Line { shape, config, pause: Some(pause) };
            logged.run(job, |_| Model::new(machine, shape), strikes, main)
        }
        None => {
            let logged = Line { shape, config, pause: None };
            logged.run(job, |life| Chance::new(seed.wrapping_add(life)), strikes, main)
        }
    }
}

/// What is the same for all lines of a job.
struct Line<'a> {
    shape: Shape,
    config: &'a Config,
    pause: Option<Duration>,
}

impl Line<'_> {
    fn run<R: Rules>(
        &self,
        job: &Arc<Job>,
        rules_of: impl Fn(u64) -> R,
        strikes: &[Strike],
        main: impl FnOnce(&Pe),
    ) -> (Done, WentBack) {
        let mut rules = rules_of(0);
        let first = self.first_message(main);
        let begins = |pe| match pe {
            0 => Beginning::Message(first.clone()),
            _ => Beginning::Nothing,
        };
        let mut cluster = Cluster::logging(self, begins, 0, WentBack::default());
        cluster.begin_line(job, &mut rules);
        for (life, strike) in (1..).zip(strikes) {
            cluster.go_on_until(job, &mut rules, strike.when);
            match &strike.what {
                Blow::Lose(nodes) => cluster.lose(job, nodes),
                Blow::Cut => {
                    let most = cluster.trace.events + EVENTS_MAX;
                    cluster.go_on(job, &mut rules, |cluster| {
                        cluster.logged().is_at_rest() || cluster.trace.events >= most
                    });
                    let Some(version) = cluster.cut(job, &mut rules) else { break };
                    cluster = cluster.next_line(job, version, self);
                    rules = rules_of(life);
                    cluster.begin_line(job, &mut rules);
                }
            }
        }
        cluster.go_on_until(job, &mut rules, When::Events(EVENTS_MAX));
        if !job.is_over() {
            let why = format!("a job that logs has not come to its end after {EVENTS_MAX} events more");
            job.end(1, Some(why));
        }
        rules.finish(&mut cluster);
        cluster.take_results(job);
        cluster.take_leftovers(job);
        cluster.discard_rings();
        let went_back = cluster.logged().went_back.clone();
        (cluster.done(), went_back)
    }

    /// The program's first message, packed.
    fn first_message(&self, main: impl FnOnce(&Pe)) -> Packed {
        let job = Job::new(Output::capture());
        let cluster = Cluster::new(View::whole(self.shape), self.shape, self.config, &job, 0);
        cluster.begin_with(main);
        let first = cluster.pes[0].beginning().expect("a job begins with a message");
        cluster.done();
        first
    }
}

impl Logged {
    fn new(line: &Line<'_>, begins: impl Fn(PeId) -> Beginning, now: u64, went_back: WentBack) -> Self {
        let (shape, config) = (line.shape, line.config);
        let of_ft = logging::Shape { nodes: shape.nodes, pes_per_node: shape.pes_per_node };
        let first = |node| shape.first_pe(node);
        let states = |node| (first(node)..first(node + 1)).map(&begins).collect();
        let images: Vec<_> =
            (0..shape.nodes).map(|node| Image::first(node, of_ft, now, states(node))).collect();
        let kept = |node: NodeId| images.iter().filter(move |image| of_ft.next_around(image.of) == node);
        let member = |image: &Image| {
            let kept: Vec<_> = kept(image.of).cloned().collect();
            Some(Member::first(image.clone(), of_ft, &kept).watched())
        };
        Logged {
            shape: of_ft,
            config: config.clone(),
            view: Arc::new(View::whole(shape)),
            members: images.iter().map(member).collect(),
            newest: vec![0; shape.nodes as usize],
            leader: Leader::new(of_ft, images.iter().map(|image| image.position.clone()).collect()),
            post: Post::new(config.seed ^ now, line.pause),
            shadow: Shadow::default(),
            letters: BTreeMap::new(),
            begins: Vec::new(),
            heard: BTreeMap::new(),
            flushing: BTreeMap::new(),
            ending: None,
            went_back,
            lost_at: None,
            now,
        }
    }

    pub(super) fn set_time(&mut self, now: u64) {
        self.now = now;
    }

    fn member(&mut self, node: NodeId) -> Option<&mut Member> {
        self.members.get_mut(node as usize)?.as_mut()
    }

    /// Whether all nodes are live.
    fn is_at_rest(&self) -> bool {
        self.leader.is_running() && self.members.iter().flatten().all(Member::is_live)
    }

    /// Whether all is printed that anybody has said.
    fn is_all_printed(&self) -> bool {
        !self.members.iter().flatten().any(Member::has_unprinted)
    }
}

impl Cluster {
    /// One whose nodes begin with this, and log.
    fn logging(line: &Line<'_>, begins: impl Fn(PeId) -> Beginning, now: u64, went_back: WentBack) -> Self {
        let (shape, config) = (line.shape, line.config);
        let logged = Logged::new(line, begins, now, went_back);
        let job = || Job::new(Output::capture());
        let view = logged.view.clone();
        let stores: Vec<_> = (0..shape.nodes).map(|_| (Arc::default(), job())).collect();
        let mut cluster = Cluster::of_jobs(view, &stores, shape, config, now);
        cluster.logged = Some(Box::new(logged));
        cluster
    }

    fn go_on_until(&mut self, job: &Job, rules: &mut impl Rules, when: When) {
        let events = self.trace.events;
        self.go_on(job, rules, |cluster| match when {
            When::Events(after) => cluster.trace.events >= events + after,
            When::Time(time) => cluster.clock.get() >= time.as_nanos() as u64,
        });
    }

    /// The node of a PE, and its rank there.
    fn place(&self, pe: PeId) -> (NodeId, u32) {
        let node = self.shape.node_of(pe);
        (node, pe - self.shape.first_pe(node))
    }

    fn logged(&self) -> &Logged {
        self.logged.as_ref().expect("a job that logs")
    }

    fn logged_mut(&mut self) -> &mut Logged {
        self.logged.as_mut().expect("a job that logs")
    }

    /// All PEs begin with what their nodes' images have.
    fn begin_line(&mut self, job: &Job, rules: &mut impl Rules) {
        let now = self.clock.get();
        for pe in 0..self.shape.pes() {
            let (node, rank) = self.place(pe);
            let member = self.logged_mut().member(node).expect("all are there");
            let image = member.own_image().expect("a job begins with one of each").clone();
            let recorder = member.record(rank).recorder();
            self.begin_pe(job, pe, &image, recorder, rules);
            self.wake(pe, now);
        }
    }

    /// After a cut: what its parts have goes on, on fresh PEs, and nobody goes back behind that.
    fn next_line(mut self, job: &Arc<Job>, version: u64, line: &Line<'_>) -> Cluster {
        let view = self.logged().view.clone();
        let parts = self.parts(version, &view);
        let parts: BTreeMap<_, _> = parts.into_iter().map(|(pe, parts)| (pe, Packed::of(&parts))).collect();
        self.print_all(job);
        self.take_results(job);
        self.discard_rings();
        let begins = |pe: PeId| parts.get(&pe).cloned().map_or(Beginning::Nothing, Beginning::Parts);
        let (now, went_back) = (self.clock.get(), self.logged().went_back.clone());
        let mut next = Cluster::logging(line, begins, now, went_back);
        next.trace = self.trace.clone();
        self.done();
        next
    }
}
