//! Jobs that log their messages and lose nodes: only these go back ([`talisman_core::logging`]).
//!
//! PEs, what they record, what nodes keep and say to each other, the leader and its plans are the real ones. Simulated are what is on its
//! way and how long it takes, the processes that come in the place of lost ones, and whoever prints. Everything that a restarted node does
//! is held against what has happened (`shadow.rs`); a difference ends the job.

mod again;
mod cuts;
mod driving;
mod leading;
mod output;
mod overlap;
mod post;
mod recovery;
mod releasing;
mod shadow;
#[cfg(test)]
mod tests;
mod twin;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::chance::Chance;
use super::model::Model;
use super::{Cluster, Machine, Rules};
use crate::disks_after::Remains;
use cuts::FromNode;
use leading::Leading;
use overlap::Overlaps;
use post::Post;
use shadow::Shadow;
use talisman_base::clock::Meter;
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_core::logging::image::{Beginning, Image};
use talisman_core::logging::line_door::LineDoor;
use talisman_core::logging::member::Member;
use talisman_ft::logging::{self, Incarnation, Keepers, Leader, Membership, Votes};
use talisman_ft::{NodeId, Version};
use talisman_job::Output;
use talisman_job::checkpoints::FaultTolerance;
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
    /// When all nodes are live, and so many events after that.
    AtRest(u64),
    /// When the job has lasted so long.
    Time(Duration),
}

/// Something that happens to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blow {
    /// These nodes are lost at once.
    Lose(Vec<u32>),
    /// Whoever leads is lost, and these nodes at once: another takes its place.
    LoseLeader(Vec<u32>),
    /// A cut is wanted, as somebody asks for a checkpoint of a job of processes: nobody goes back behind it once it is committed. What
    /// follows comes while it is under way.
    AskForCut,
    /// The same, and what follows comes when the first node has begun the next line, of which the others may not have heard.
    CutUntilOneBegins,
    /// The same, and what follows comes when whoever leads has heard that so many nodes hold their parts.
    CutUntilHeldBy(u32),
    /// The same, and what follows comes when all nodes have begun the next line.
    Cut,
    /// These nodes are to be released at the next cut, and what follows comes meanwhile. If fewer than two would stay, nothing happens.
    Release(Vec<u32>),
    /// Those of these nodes are to be there from the next cut on that are not, and what follows comes meanwhile.
    Add(Vec<u32>),
    /// So many times nodes have no memory for the parts of those whose keepers they are.
    RefuseRooms(u32),
    /// From now on nodes have no twins.
    WithoutTwins,
    /// All are lost at once, after a cut, and a job of so many nodes goes on from what they have on disk. What it has printed since then is
    /// printed again.
    StartAgain(u32),
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
    /// How often a node had a twin that did what it had done from one line to the next.
    pub twins: u64,
    /// How long it took after each loss until all nodes were live, in nanoseconds.
    pub recovered_ns: Vec<u64>,
}

/// A job that logs.
pub struct Logged {
    shape: logging::Shape,
    ft: FaultTolerance,
    config: Config,
    /// That of the line that the job is in: processes that start are told of it.
    membership: Membership,
    /// That of the job's beginning.
    first_membership: Membership,
    /// What the job goes on from, and how many processes it has for that.
    former: Option<(Rc<Remains>, Shape)>,
    members: Vec<Option<Member>>,
    /// The newest process of each node, started or about to be.
    newest: Vec<Incarnation>,
    leader: Leader,
    leading: Leading,
    votes: Votes,
    /// Somebody waits for a cut; the first PE is to be asked for it.
    wants_cut: bool,
    asks_for_cut: bool,
    /// So many times keepers have no memory; nodes whose first PEs are to hear that of a cut.
    rooms_refused: u32,
    without_room: BTreeMap<NodeId, (Incarnation, Version)>,
    /// Whether nodes have twins.
    has_twins: bool,
    /// What measures how long entries take, which is never the same again where nothing else says it.
    meter: Meter,
    /// By node.
    doors: Vec<LineDoor<FromNode>>,
    post: Post,
    /// Whether turns of the PEs of a node overlap, and those that do.
    draws_overlaps: bool,
    overlaps: Overlaps,
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
    /// The clock of the PE that has its turn is behind by so much, in nanoseconds: it says what a ticket does.
    behind: u64,
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
    (shape, ft): (Shape, FaultTolerance),
    config: &Config,
    job: &Arc<Job>,
    machine: Option<(&Machine, Duration)>,
    strikes: &[Strike],
    main: impl FnOnce(&Pe),
) -> (Done, WentBack) {
    let seed = config.seed;
    match machine {
        Some((machine, pause)) => {
            let logged = Setting { shape, ft, config, pause: Some(pause) };
            logged.run(job, Model::new(machine, shape), strikes, main)
        }
        None => {
            let logged = Setting { shape, ft, config, pause: None };
            logged.run(job, Chance::new(seed), strikes, main)
        }
    }
}

/// What a job is made of.
struct Setting<'a> {
    shape: Shape,
    /// How it logs.
    ft: FaultTolerance,
    config: &'a Config,
    pause: Option<Duration>,
}

impl Setting<'_> {
    fn run<R: Rules>(
        &self,
        job: &Arc<Job>,
        mut rules: R,
        strikes: &[Strike],
        main: impl FnOnce(&Pe),
    ) -> (Done, WentBack) {
        let first = self.first_message(main);
        let begins = |pe| match pe {
            0 => Beginning::Message(first.clone()),
            _ => Beginning::Nothing,
        };
        let of_node = |node| (self.shape.first_pe(node)..self.shape.first_pe(node + 1)).map(begins).collect();
        let image = |node| Image::first(node, Logged::shape_of(self.shape), 0, of_node(node));
        let start = Start { view: View::whole(self.shape), line: 0, former: None };
        let mut cluster = Cluster::logging(self, start, image);
        cluster.begin_job(job, &mut rules);
        for strike in strikes {
            cluster.go_on_until(job, &mut rules, strike.when);
            match &strike.what {
                Blow::Lose(nodes) => cluster.lose(job, nodes),
                Blow::LoseLeader(nodes) => cluster.lose_leader(job, nodes),
                Blow::AskForCut => cluster.want_cut(),
                Blow::Release(nodes) => cluster.want_release(nodes),
                Blow::Add(nodes) => cluster.want_more(nodes),
                Blow::WithoutTwins => cluster.logged_mut().has_twins = false,
                Blow::RefuseRooms(times) => cluster.logged_mut().rooms_refused = *times,
                Blow::StartAgain(nodes) => cluster = cluster.started_again(self, job, *nodes, &mut rules),
                Blow::Cut => cluster.cut_until(job, &mut rules, Cluster::is_after),
                Blow::CutUntilOneBegins => cluster.cut_until(job, &mut rules, Cluster::is_any_after),
                Blow::CutUntilHeldBy(nodes) => cluster.cut_until(job, &mut rules, |cluster, line| {
                    cluster.logged().votes.held_by() >= *nodes || cluster.is_any_after(line)
                }),
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

/// How a job begins.
struct Start {
    view: View,
    line: Version,
    /// What it goes on from, and how many processes it has for that.
    former: Option<(Rc<Remains>, Shape)>,
}

impl Logged {
    fn shape_of(shape: Shape) -> logging::Shape {
        logging::Shape { nodes: shape.nodes, pes_per_node: shape.pes_per_node }
    }

    fn new(setting: &Setting<'_>, start: Start, image: impl Fn(NodeId) -> Image) -> Self {
        let (shape, config) = (setting.shape, setting.config);
        let (of_ft, of_nodes) = (Logged::shape_of(shape), start.view.of_nodes().clone());
        let there: Vec<NodeId> = of_nodes.there().collect();
        let membership = Membership::first(of_nodes, Keepers::around(there.len() as u32));
        let images: Vec<_> = (0..shape.nodes).map(image).collect();
        let mut logged = Logged {
            shape: of_ft,
            ft: setting.ft,
            config: config.clone(),
            membership: membership.clone(),
            first_membership: membership.clone(),
            former: start.former,
            members: images.iter().map(|_| None).collect(),
            newest: vec![0; shape.nodes as usize],
            leader: Leader::new(of_ft, images.iter().map(|image| image.position.clone()).collect())
                .among(membership.clone())
                .one_at_a_time(setting.ft == FaultTolerance::LoggingTicket),
            leading: Leading::default(),
            votes: Votes::going_on(start.line),
            wants_cut: false,
            asks_for_cut: false,
            rooms_refused: 0,
            without_room: BTreeMap::new(),
            // On the model of a machine nothing is done that the model does not say.
            has_twins: setting.pause.is_none(),
            meter: setting.pause.map_or(Meter::Uneven(Rc::default()), |_| Meter::Clock),
            doors: images.iter().map(|_| LineDoor::default()).collect(),
            post: Post::new(config.seed, setting.pause),
            // On the model of a machine nothing takes a time that the model does not say.
            draws_overlaps: setting.pause.is_none(),
            overlaps: Overlaps::default(),
            shadow: Shadow::default(),
            letters: BTreeMap::new(),
            begins: Vec::new(),
            heard: BTreeMap::new(),
            flushing: BTreeMap::new(),
            ending: None,
            went_back: WentBack::default(),
            behind: 0,
            lost_at: None,
            now: 0,
        };
        for node in there {
            let kept: Vec<_> =
                membership.keepers.wards(node).map(|ward| images[ward as usize].clone()).collect();
            let first = Member::first(images[node as usize].clone(), of_ft, &kept).in_line(start.line);
            logged.members[node as usize] = Some(logged.placed(first));
            _ = logged.doors[node as usize].enter(start.line);
        }
        logged
    }

    /// With its keeper, among those that there are.
    fn placed(&self, member: Member) -> Member {
        let member = member.among(self.membership.clone()).watched();
        let member = if self.has_twins { member.with_twin() } else { member };
        let (is_strict, is_ticketed) =
            (self.ft == FaultTolerance::LoggingStrict, self.ft == FaultTolerance::LoggingTicket);
        member.strict(is_strict).ticketed(is_ticketed)
    }

    /// Who is there in the line that the job is in.
    fn view(&self) -> View {
        View::new(self.membership.view.clone(), self.shape.pes_per_node)
    }

    /// Who is there in the line that a node is in.
    fn view_of(&self, node: NodeId) -> View {
        let of_line = self.members[node as usize].as_ref().map_or(&self.membership, Member::membership);
        View::new(of_line.view.clone(), self.shape.pes_per_node)
    }

    pub(super) fn set_time(&mut self, now: u64) {
        self.now = now;
    }

    fn member(&mut self, node: NodeId) -> Option<&mut Member> {
        self.members.get_mut(node as usize)?.as_mut()
    }

    /// Whether all nodes are live.
    fn is_at_rest(&self) -> bool {
        self.leading.gathering.is_none()
            && self.leader.is_running()
            && self.members.iter().flatten().all(Member::is_live)
    }

    /// Whether all is printed that anybody has said.
    fn is_all_printed(&self) -> bool {
        !self.members.iter().flatten().any(Member::has_unprinted) && !self.is_any_at_something()
    }
}

impl Cluster {
    /// One whose nodes begin with this, and log.
    fn logging(setting: &Setting<'_>, start: Start, image: impl Fn(NodeId) -> Image) -> Self {
        let (shape, config) = (setting.shape, setting.config);
        let logged = Logged::new(setting, start, image);
        let job = || Job::new(Output::capture());
        let view = Arc::new(logged.view());
        let stores: Vec<_> = (0..shape.nodes).map(|_| (logged.fresh_store(), job())).collect();
        let mut cluster = Cluster::of_jobs(view, &stores, shape, config, 0);
        cluster.logged = Some(Box::new(logged));
        cluster
    }

    fn go_on_until(&mut self, job: &Job, rules: &mut impl Rules, when: When) {
        if matches!(when, When::AtRest(_)) {
            let most = self.trace.events + EVENTS_MAX;
            self.go_on(job, rules, |cluster| cluster.logged().is_at_rest() || cluster.trace.events >= most);
        }
        let events = self.trace.events;
        self.go_on(job, rules, |cluster| match when {
            When::Events(after) | When::AtRest(after) => cluster.trace.events >= events + after,
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
    fn begin_job(&mut self, job: &Job, rules: &mut impl Rules) {
        let now = self.clock.get();
        for node in 0..self.shape.nodes {
            let of_node = self.pes[self.shape.first_pe(node) as usize].node.job.clone();
            self.make_pes_of(node, of_node);
        }
        for pe in 0..self.shape.pes() {
            let (node, rank) = self.place(pe);
            let Some(member) = self.logged_mut().member(node) else { continue };
            let image = member.own_image().expect("a job begins with one of each").clone();
            let recorder = member.record(rank).recorder();
            self.begin_pe(job, pe, &image, recorder, rules);
            self.wake(pe, now);
        }
    }
}
