//! A job that logs its messages (`--ft logging`), as its launcher knows it: what the leader decides, which process each node is in, what was
//! printed, and how the job ends.

pub mod fragments;
pub mod messages;
pub mod succession;
pub mod writing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use talisman_ft::Version;
use talisman_ft::action::Action;
use talisman_ft::double::{Contents, LostPart};
use talisman_ft::event::Event;
use talisman_ft::logging::{
    Incarnation, Keepers, Leader, LogId, Loss, Membership, Missing, Order, Orphan, Position, Session, Shape,
    Votes,
};
use talisman_ft::protocol::Protocol;
use talisman_ft::view::View;
use talisman_job::{CheckpointTaken, Failure};

use crate::messages::{lost_in_words, nodes_in_words, what_is_lost};
use crate::plan::Plan;
use crate::protocol::Stop;
use fragments::Joined;
use messages::FromMember;
use succession::Gathering;
use talisman_observe::mutations::mutated;
use writing::{Writing, Written};

/// So many processes in a row may be lost before a node goes on, or by a fault of their own while the job comes no further.
const BORNE: u32 = 3;

/// What the launcher keeps of such a job. Times are from the program's beginning.
pub struct Logging {
    leader: Leader,
    /// It has taken another launcher's place, and does not know where all are.
    gathering: Option<Gathering>,
    /// By node: what has come of a word that is not whole yet.
    joined: Vec<Joined>,
    /// By node: the number of its newest process, as the leader counts them.
    newest: Vec<Incarnation>,
    /// Nodes that are to have another process, as soon as they have none.
    wanted: BTreeSet<u32>,
    /// Nodes that were told to restore what they had, and are not live.
    restoring: BTreeSet<u32>,
    /// How the program has ended, if it has.
    end: Option<Stop>,
    /// When it is not waited any longer for what was said before.
    end_by: Option<Duration>,
    /// Nodes of which all is printed, after that.
    finished: BTreeSet<u32>,
    failures: Vec<Failure>,
    /// Faults that processes had of their own since the program came further, and how far it had come.
    faults: (u32, u64),
    /// Processes of each node that were lost since it was live.
    tries: BTreeMap<u32, u32>,
    /// Of the last cut that all hold, and of the next one.
    votes: Votes,
    writing: Writing,
    /// The newest version that is whole on disks, and how much had been printed when its line began.
    on_disk: Option<(Version, u64)>,
    /// By node: what its part of the next cut has, and of which that is; and what that of the line has.
    next_contents: BTreeMap<u32, (Version, Contents)>,
    contents: BTreeMap<u32, Contents>,
    /// Cuts that were committed, the last of very many.
    taken: VecDeque<CheckpointTaken>,
    /// How much of what the program has said has been printed, by all nodes.
    said: u64,
}

/// Cuts that a report has.
const TAKEN_MAX: usize = 10_000;

/// What is to be done about a node's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It is to be started.
    Start,
    /// It is to be ended; another is started then.
    End,
    /// The one that is on its way will do.
    Stay,
}

impl Logging {
    /// Of a job that begins.
    pub fn new(plan: &Plan) -> Self {
        let shape = Shape { nodes: plan.nodes, pes_per_node: plan.pes };
        let before = plan.keeping.restart.as_ref().map_or(0, |restart| restart.version);
        Logging {
            leader: Leader::new(
                shape,
                (0..plan.nodes).map(|node| Position::at_beginning(node, shape)).collect(),
            )
            .among(first_membership(plan))
            .one_at_a_time(plan.one_at_a_time),
            gathering: None,
            joined: (0..plan.nodes).map(|_| Joined::default()).collect(),
            newest: vec![0; plan.nodes as usize],
            wanted: BTreeSet::new(),
            restoring: BTreeSet::new(),
            end: None,
            end_by: None,
            finished: BTreeSet::new(),
            failures: Vec::new(),
            faults: (0, 0),
            tries: BTreeMap::new(),
            votes: Votes::going_on(before),
            writing: Writing::default(),
            on_disk: plan.keeping.restart.as_ref().map(|restart| (restart.version, 0)),
            next_contents: BTreeMap::new(),
            contents: BTreeMap::new(),
            taken: VecDeque::new(),
            said: 0,
        }
    }

    /// The line that the job is in.
    pub fn line(&self) -> Version {
        self.votes.line()
    }

    /// Who is there in it.
    pub fn membership(&self) -> &Membership {
        self.leader.membership()
    }

    /// Who is to be there in the next one, if that was said.
    pub fn coming(&self) -> Option<&Membership> {
        self.votes.coming()
    }

    /// The next line is to be without these nodes; `host` tells where a node is. Whether enough stay.
    pub fn release(&mut self, nodes: &[u32], host: impl Fn(u32) -> u32) -> bool {
        let next = self.membership().releasing(self.next_number(), nodes, host);
        let is_to_be = next.is_some();
        next.into_iter().for_each(|next| self.votes.expect(Some(next)));
        is_to_be
    }

    /// The next line is to have these nodes too; `host` tells where a node is.
    pub fn add(&mut self, nodes: &[u32], host: impl Fn(u32) -> u32) {
        let next = self.membership().gaining(self.next_number(), nodes, host);
        self.votes.expect(Some(next));
    }

    /// In the next line all are kept by the next ones around the ring; `host` tells where a node is. Whether that is to be said: not if it was,
    /// nor as long as somebody is lost, or others are to come or go, whose keepers are seen to later.
    pub fn spread_keepers(&mut self, host: impl Fn(u32) -> u32) -> bool {
        let expected = self.coming().unwrap_or(self.membership());
        let are_the_same = expected.view == self.membership().view && self.is_running() && !self.is_ending();
        let next = expected.by_the_ring(self.next_number(), host).filter(|_| are_the_same);
        let is_news = next.is_some();
        next.into_iter().for_each(|next| self.votes.expect(Some(next)));
        is_news
    }

    /// Whether a host has a node with its keeper, which it will not have in the next line: what it has is lost with that host.
    pub fn is_kept_beside(&self, host: impl Fn(u32) -> u32) -> bool {
        let is_beside = |of: &Membership, node| host(of.keeper(node)) == host(node);
        let now = self.membership();
        self.coming().is_some_and(|next| {
            now.view
                .there()
                .any(|node| is_beside(now, node) && next.view.is_there(node) && !is_beside(next, node))
        })
    }

    /// The next line is to have those that are there: what was said since it began is taken back.
    pub fn keep_nodes(&mut self, host: impl Fn(u32) -> u32) {
        let (now, number) = (self.membership(), self.next_number());
        let next = now.by_the_ring(number, host).unwrap_or_else(|| now.again(number));
        self.votes.expect(Some(next));
    }

    fn next_number(&self) -> u32 {
        self.coming().unwrap_or(self.membership()).number + 1
    }

    /// A node holds its part of a cut twice, as of a recovery and in a membership.
    pub fn on_holds(&mut self, node: u32, version: Version, of: (Session, u32), contents: Contents) {
        self.next_contents.insert(node, (version, contents));
        self.votes.on_holds(node, version, of, &self.leader);
    }

    /// Begins the next line if all hold their parts of one cut, and nobody is lost: its version, and what is to be done for those that come with it. A
    /// job that ends takes no more of them.
    pub fn begin_line(&mut self) -> Option<(Version, Vec<Order>)> {
        let (version, orders) =
            if self.is_ending() { None } else { self.votes.begin_line(&mut self.leader) }?;
        let parts = std::mem::take(&mut self.next_contents).into_iter();
        let of_it = parts.filter(|(_, (of, _))| *of == version);
        self.contents = of_it.map(|(node, (_, contents))| (node, contents)).collect();
        Some((version, orders))
    }

    /// The line that is written on disks.
    pub fn writing(&mut self) -> &mut Writing {
        &mut self.writing
    }

    /// The line that the job is in is to be written, by these nodes; so many wait for that. Whether it is.
    pub fn begin_writing(&mut self, nodes: impl IntoIterator<Item = u32>, asked: usize) -> bool {
        self.writing.begin((self.line(), self.said), nodes, asked)
    }

    /// A node has written what it has of a line, or why not. What came of all, when that is known.
    pub fn on_written(&mut self, node: u32, version: Version, wrong: Option<String>) -> Option<Written> {
        let written = self.writing.on_written(node, version, wrong)?;
        if written.wrong.is_none() {
            self.on_disk = Some((written.version, written.said));
        }
        Some(written)
    }

    /// The newest version on disk, if nobody has seen anything of what was done since.
    pub fn unseen_since(&self) -> Option<Version> {
        let (version, said) = self.on_disk?;
        (said == self.said || mutated("printed-is-unseen")).then_some(version)
    }

    /// What a cut had cost.
    pub fn on_took(&mut self, taken: CheckpointTaken) {
        if self.taken.len() == TAKEN_MAX {
            self.taken.pop_front();
        }
        self.taken.push_back(taken);
    }

    /// What of a node's words has come.
    pub fn joined(&mut self, node: u32) -> &mut Joined {
        &mut self.joined[node as usize]
    }

    /// Whether all nodes are live.
    pub fn is_running(&self) -> bool {
        self.gathering.is_none() && self.leader.is_running()
    }

    /// A process is lost; what follows. Nobody hears from it any more.
    pub fn lose(&mut self, failure: Failure, node: u32) -> Vec<Order> {
        self.failures.push(failure);
        self.joined[node as usize] = Joined::default();
        self.restoring.remove(&node);
        self.finished.remove(&node);
        self.votes.on_lost();
        self.writing.on_lost(node);
        *self.tries.entry(node).or_default() += 1;
        if self.lose_while_gathering(node) {
            return Vec::new();
        }
        self.lead(Event::Lost(vec![node]))
    }

    /// Whether a node has lost so many processes in a row that another one would be lost as well.
    pub fn is_hopeless(&self, node: u32) -> bool {
        self.tries.get(&node).is_some_and(|tries| *tries > BORNE)
    }

    /// A process has ended by a fault of its own, when the program had reported so many steps: whether it would go on so for ever. That it
    /// comes further is told by steps, and by what is printed.
    pub fn is_crash_loop(&mut self, steps: u64) -> bool {
        let (faults, before) = &mut self.faults;
        if steps + self.said > *before {
            (*faults, *before) = (0, steps + self.said);
        }
        *faults += 1;
        *faults > BORNE
    }

    /// A node is to have a process of this number; whether it has one now, and whether that was told anything.
    pub fn begin(&mut self, node: u32, incarnation: Incarnation, has_process: bool) -> Begin {
        self.newest[node as usize] = incarnation;
        match (has_process, self.restoring.remove(&node)) {
            (false, _) => Begin::Start,
            (true, false) => Begin::Stay,
            (true, true) => {
                self.wanted.insert(node);
                Begin::End
            }
        }
    }

    /// A process has ended that was to, for another: whether that is to be started now.
    pub fn take_wanted(&mut self, node: u32) -> bool {
        self.wanted.remove(&node)
    }

    /// A process has taken a node's place.
    pub fn on_arrived(&mut self, node: u32) -> Vec<Order> {
        self.lead(Event::Arrived(node, self.newest[node as usize]))
    }

    /// A node is told this.
    pub fn told(&mut self, order: &Order) {
        match order {
            Order::Restore { to, .. } => _ = self.restoring.insert(*to),
            Order::GoLive { to, .. } => {
                self.restoring.remove(to);
                self.tries.remove(to);
            }
            _ => {}
        }
    }

    /// A node says something that its leader waits for.
    pub fn on_word(&mut self, node: u32, word: FromMember) -> Vec<Order> {
        match word {
            FromMember::Held(session, holdings) => self.lead(Event::Held(node, session, holdings)),
            FromMember::Announced(session) => self.lead(Event::Announced(node, session)),
            FromMember::AtHorizon(session) => self.lead(Event::AtHorizon(node, session)),
            FromMember::Covered(session) => self.lead(Event::Covered(node, session)),
            FromMember::Said { .. }
            | FromMember::Finished(_)
            | FromMember::Holds { .. }
            | FromMember::Written { .. }
            | FromMember::Standing { .. }
            | FromMember::Took(_) => Vec::new(),
        }
    }

    /// The program says the so-manieth thing on a PE: whether that is news.
    pub fn is_news(&mut self, log: LogId, number: u64) -> bool {
        let is_news = number == self.leader.printed(log);
        if is_news {
            self.leader.on_printed(log, number + 1);
            self.said += 1;
        }
        is_news
    }

    /// So much of what the program has said on a PE is printed.
    pub fn printed(&self, log: LogId) -> u64 {
        self.leader.printed(log)
    }

    /// The program ends the job; a failure is heard over an end in order. Whether that is the first word of it.
    pub fn on_end(&mut self, stop: Stop, by: Option<Duration>) -> bool {
        let is_first = self.end.is_none();
        if self.end.as_ref().is_none_or(|known| known.status == 0 && stop.status != 0) {
            (self.end, self.end_by) = (Some(stop), by);
        }
        is_first
    }

    /// How the job ends when all is printed, if it does.
    pub fn ending(&self) -> Option<&Stop> {
        self.end.as_ref()
    }

    /// Whether the job ends when all is printed.
    pub fn is_ending(&self) -> bool {
        self.end.is_some()
    }

    /// All that a node's program has said is printed, and no more will come.
    pub fn on_finished(&mut self, node: u32) {
        self.finished.insert(node);
    }

    /// How the job ends, if nothing is waited for any more.
    pub fn take_end(&mut self, now: Duration) -> Option<Stop> {
        let is_over = self.end_by.is_some_and(|by| by <= now);
        let is_complete = self.is_running() && self.finished.len() == self.nodes() as usize;
        (is_over || is_complete).then(|| self.end.take()).flatten()
    }

    fn nodes(&self) -> u32 {
        self.leader.there().count() as u32
    }

    /// All nodes are live again: a line for people, if anything was lost.
    pub fn settle(&mut self, now: Duration) -> Option<String> {
        let nodes = self.nodes();
        let (mut lost, mut longest) = (Vec::new(), Duration::ZERO);
        let version = Some(self.line()).filter(|line| *line > 0);
        for failure in self.failures.iter_mut().filter(|failure| failure.recover_s.is_none()) {
            lost.push(failure.node);
            let took = now.saturating_sub(Duration::try_from_secs_f64(failure.at_s).unwrap_or(now));
            longest = longest.max(took);
            failure.recover_s = Some(took.as_secs_f64());
            failure.nodes_left = Some(nodes);
            failure.version = version;
            failure.replaced = failure.node.is_some();
        }
        if lost.is_empty() {
            return None;
        }
        lost.sort_unstable();
        lost.dedup();
        let took = longest.as_micros().div_ceil(1000);
        let (again, else_) = match lost.iter().flatten().count() {
            0 => ("the job goes on", ""),
            1 => ("it goes on in a new process", " else"),
            _ => ("they go on in a new process", " else"),
        };
        let whom = lost_in_words(&lost);
        Some(format!("{again} {took} ms after the loss of {whom}; nobody{else_} went back"))
    }

    /// So many losses are known as they will be reported.
    pub fn settled_losses(&self) -> usize {
        self.failures.iter().take_while(|failure| failure.is_settled()).count()
    }

    /// All losses but the first ones.
    pub fn losses_after(&self, first: usize) -> Vec<Failure> {
        self.failures.iter().skip(first).cloned().collect()
    }

    /// What became of the node that was lost last.
    pub fn last_loss(&self) -> Option<String> {
        self.failures.last().map(|failure| failure.what.clone())
    }

    /// All losses.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// How many cuts were committed, of very many, and the last.
    pub fn taken(&self) -> (usize, Option<&CheckpointTaken>) {
        (self.taken.len(), self.taken.back())
    }

    /// Why the job cannot go on, for people: what is lost, and who had held it. The last loss was `what`.
    pub fn given_up(&self, what: &str, loss: &Loss) -> String {
        let keepers = self.membership().keepers.names();
        let why = given_up(what, loss, keepers);
        let Loss::Missing(Missing { node, needed_by: None }) = loss else { return why };
        let keeper = keepers.get(*node as usize).copied().unwrap_or(*node);
        let contents = self.contents.get(node).cloned();
        match self.line() {
            0 => format!(
                "{why}; no checkpoint was taken, so all objects of node {node} are lost (held by {})",
                nodes_in_words(&[*node, keeper])
            ),
            line => {
                let part = LostPart { of: *node, held_by: vec![*node, keeper], contents };
                format!("{why}; {}", what_is_lost(line, &[part]))
            }
        }
    }

    /// All losses, and cuts that were committed.
    pub fn into_report(self) -> (Vec<Failure>, Vec<CheckpointTaken>) {
        (self.failures, self.taken.into())
    }

    fn lead(&mut self, event: Event) -> Vec<Order> {
        let orders = self.leader.on_event(event).into_iter();
        orders
            .filter_map(|action| if let Action::Order(order) = action { Some(order) } else { None })
            .collect()
    }
}

/// Who is there at a job's beginning, and who keeps what.
fn first_membership(plan: &Plan) -> Membership {
    let former = plan.keeping.restart.as_ref().map(|restart| restart.view.clone());
    let former = former.filter(|view| view.nodes() == plan.nodes);
    let view = former.unwrap_or_else(|| View::beginning_with(plan.begins_with, plan.nodes));
    Membership::first(view, Keepers::named(plan.keepers.clone()))
}

/// Why a job cannot go on, for people. The last loss was this.
fn given_up(what: &str, loss: &Loss, keepers: &[u32]) -> String {
    let keeper = |node: u32| keepers.get(node as usize).copied().unwrap_or(node);
    let why = match loss {
        Loss::Everybody => "no node is left that has anything of the others".to_owned(),
        Loss::Missing(Missing { node, needed_by: None }) => format!(
            "node {node} is lost with node {}, which had kept what node {node} was given since the last checkpoint, or since \
             the job began",
            keeper(*node)
        ),
        Loss::Missing(Missing { node, needed_by: Some(other) }) => {
            format!("node {node} has not kept all messages that node {other} needs to go on")
        }
        Loss::Survivor(node) => format!("{} would have to go back as well", nodes_in_words(&[*node])),
        Loss::AtOnce(nodes) => format!(
            "{} were away at once, and with --ft logging:ticket the order of what they had sent each other is gone with them: one \
             may be lost at a time, the next when that one is back",
            nodes_in_words(nodes)
        ),
        Loss::Orphan(Orphan { log, known, told }) => format!(
            "others depend on {told} entries of the log of node {}, of which {known} are left (was it lost with node {}, \
             its keeper?)",
            log.node,
            keeper(log.node)
        ),
    };
    format!("{what}; the job cannot go on: {why}")
}

#[cfg(test)]
mod tests;
