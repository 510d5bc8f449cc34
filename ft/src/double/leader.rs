//! Decides after losses who is there, which checkpoint all go back to, and who restores what.
//!
//! ```text
//!             a loss                all have halted                 all have resumed
//!  Running ───────────► Halting ────────────────────► Resuming ─────────────────────► Running
//!                          ▲   │ nothing can be restored  │ another loss
//!                          │   └──────► GaveUp            │ (next epoch)
//!                          └──────────────────────────────┘
//! ```
//!
//! Every loss begins an epoch of its own, whatever was under way; answers for earlier ones do not count. So each epoch has one
//! set of lost nodes and at most one set of orders, and ends: either all survivors answer, or one of them is lost, which can
//! happen as often as there are nodes.
//!
//! A node whose process is replaced ([`Leader::expect`]) is waited for until it has come, or will not: then it is there again, halts
//! like all others, and restores its own part, which one of those who hold it sends.
//!
//! Nodes that are lost may also come back while nobody halts ([`Leader::on_added`]), when what is gone back to has no part of them: each begins
//! with what is made for it of the part of the one that had acted for it, which whoever holds that sends.
//!
//! A loss is what has been *proved*: a process that its host has seen end. Whoever only suspects another tells the one who can kill
//! it, which makes it proof. There is one leader; should it ever be elected by nodes that cannot ask anybody for proof, then
//! this is where a minority of the nodes that were there must not go on: in [`Leader::on_lost`], before anybody is told to halt.

use std::collections::{BTreeMap, BTreeSet};

use super::survey::{Found, Survey};
use super::{Contents, Held, Lost, LostPart, Order};
use crate::view::View;
use crate::{Epoch, NodeId, Version};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

#[cfg(test)]
mod tests;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A survivor stops and says what it holds.
    Halt {
        /// Who.
        to: NodeId,
        /// The one that begins.
        epoch: Epoch,
        /// All that are lost since the job began.
        lost: Vec<NodeId>,
    },
    /// A survivor goes on like this.
    Resume {
        /// Who.
        to: NodeId,
        /// How.
        order: Order,
    },
    /// All survivors go on.
    Recovered {
        /// The one that has begun.
        epoch: Epoch,
        /// What they have gone back to; none if the program began anew.
        version: Option<Version>,
    },
    /// These nodes have halted and are not needed any more: the others go on without them, from where they have brought it together.
    Release(Vec<NodeId>),
    /// The job cannot go on.
    GiveUp(Lost),
}

/// Whom all others wait for ([`Leader::awaited`]), in increasing order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// These have not said that they have halted.
    ToHalt(Vec<NodeId>),
    /// All have, and these have not said that they go on.
    ToResume(Vec<NodeId>),
}

/// Leads a job through its losses.
#[derive(Clone, Debug)]
pub struct Leader {
    /// The host of each node.
    hosts: Vec<u32>,
    lost: BTreeSet<NodeId>,
    /// Those of them that are about to come back.
    expected: BTreeSet<NodeId>,
    /// Those that are there and have come since the last orders, with nothing.
    came: BTreeSet<NodeId>,
    /// Nodes that are to go, once the others can do without them.
    leaving: BTreeSet<NodeId>,
    /// The view of the last orders.
    view: View,
    epoch: Epoch,
    phase: Phase,
    /// The newest version that is known to have been committed.
    committed: Option<Version>,
    /// No version from this one on has ever been begun.
    next: Version,
    /// Nodes that were lost, each as often as it was, and former leaders.
    failures: u32,
}

#[derive(Clone, Debug)]
enum Phase {
    Running,
    /// With what those have said who have halted.
    Halting(BTreeMap<NodeId, Vec<Held>>),
    /// With those who have not resumed.
    Resuming(BTreeSet<NodeId>, Option<Version>),
    GaveUp,
}

impl Leader {
    /// Of a job on these hosts, by node, all of which are there.
    #[must_use]
    pub fn new(hosts: Vec<u32>) -> Self {
        Leader {
            view: View::whole(hosts.len() as u32),
            hosts,
            lost: BTreeSet::new(),
            expected: BTreeSet::new(),
            came: BTreeSet::new(),
            leaving: BTreeSet::new(),
            epoch: 0,
            phase: Phase::Running,
            committed: None,
            next: FIRST_VERSION,
            failures: 0,
        }
    }

    /// The same of which only so many are there at first, those with the lowest numbers. The others may be added.
    #[must_use]
    pub fn beginning_with(hosts: Vec<u32>, there: u32) -> Self {
        let nodes = hosts.len() as u32;
        let (view, lost) = (View::beginning_with(there, nodes), (there..nodes).collect());
        Leader { view, lost, ..Leader::new(hosts) }
    }

    /// Of a job that goes on from a version of a former one, in this view, on these hosts by node. Whoever is not there has
    /// a number from before. `next` is the version of the next checkpoint.
    #[must_use]
    pub fn going_on(hosts: Vec<u32>, view: View, version: Version, next: Version) -> Self {
        let lost = (0..view.nodes()).filter(|node| !view.is_there(*node)).collect();
        Leader { lost, epoch: view.epoch, view, committed: Some(version), next, ..Leader::new(hosts) }
    }

    /// Of a job whose former leader is gone, by what those say who are left: no epoch after this one has begun, and no version from
    /// `next` on that anybody of them was told of. The view is that of the last orders that came to any of them. It begins the next
    /// epoch without those that are lost: nobody knows what the former leader had told whom.
    #[must_use]
    pub fn taking_over(
        hosts: Vec<u32>,
        view: View,
        epoch: Epoch,
        next: Version,
        lost: impl IntoIterator<Item = NodeId>,
    ) -> (Self, Vec<Action>) {
        let before: BTreeSet<_> = (0..view.nodes()).filter(|node| !view.is_there(*node)).collect();
        let lost: BTreeSet<_> = before.iter().copied().chain(lost).collect();
        let failures = 1 + (lost.len() - before.len()) as u32;
        let mut leader = Leader { lost, view, epoch, next, failures, ..Leader::new(hosts) };
        let actions = leader.begin();
        (leader, actions)
    }

    /// These have come before it led, and have had no orders.
    pub fn add_newcomers(&mut self, nodes: impl IntoIterator<Item = NodeId>) {
        self.came.extend(nodes);
    }

    /// So often something was lost before it led.
    pub fn add_failures(&mut self, before: u32) {
        self.failures += before;
    }

    /// The epoch that has begun last.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Whether all that are there go on, or have never stopped.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    /// Who is waited for, if anybody: nobody goes on before they do.
    #[must_use]
    pub fn awaited(&self) -> Option<Awaited> {
        match &self.phase {
            Phase::Running | Phase::GaveUp => None,
            Phase::Halting(answers) => {
                Some(Awaited::ToHalt(self.there().filter(|node| !answers.contains_key(node)).collect()))
            }
            Phase::Resuming(missing, _) => Some(Awaited::ToResume(missing.iter().copied().collect())),
        }
    }

    /// A node is on this host from now on, as another process.
    pub fn put(&mut self, node: NodeId, host: u32) {
        self.hosts[node as usize] = host;
    }

    /// Nodes that are not lost, in increasing order.
    pub fn there(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes()).filter(|node| !self.lost.contains(node))
    }

    /// These nodes are lost for good; those that were already are passed over.
    #[must_use]
    pub fn on_lost(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> Vec<Action> {
        let before = self.lost.len();
        let all = self.nodes();
        self.lost.extend(nodes.into_iter().filter(|node| *node < all));
        self.leaving.retain(|node| !self.lost.contains(node));
        self.came.retain(|node| !self.lost.contains(node));
        if self.lost.len() == before {
            return Vec::new();
        }
        self.failures += (self.lost.len() - before) as u32;
        self.begin()
    }

    /// These nodes are to go though nothing is wrong with them: all halt, and the others go on from the newest checkpoint without them, if
    /// they can ([`Action::Release`]). A job that is not running, or would have nobody left, stays as it is.
    #[must_use]
    pub fn on_release(&mut self, nodes: &[NodeId]) -> Vec<Action> {
        let leaving: BTreeSet<_> = self.there().filter(|node| nodes.contains(node)).collect();
        if !self.is_running() || leaving.is_empty() || leaving.len() == self.there().count() {
            return Vec::new();
        }
        self.leaving = leaving;
        self.begin()
    }

    /// These nodes are lost and have processes again, which are to be nodes like any other: all halt, and go on from the newest checkpoint with
    /// them. A job that is not running stays as it is.
    #[must_use]
    pub fn on_added(&mut self, nodes: &[NodeId]) -> Vec<Action> {
        let added: Vec<_> = nodes.iter().copied().filter(|node| self.lost.contains(node)).collect();
        if !self.is_running() || added.is_empty() {
            return Vec::new();
        }
        sometimes("a node was added while the job ran");
        self.lost.retain(|node| !added.contains(node));
        self.came.extend(added);
        self.begin()
    }

    /// A node that is lost is about to have a process again: nobody goes on before it has come ([`Leader::on_come`]), or will not
    /// ([`Leader::on_not_coming`]). Whether that is waited for: only while those that are left halt, and if it was there until then, so
    /// that whatever is gone back to has a part of it.
    pub fn expect(&mut self, node: NodeId) -> bool {
        let has_part = self.view.is_there(node) && self.lost.contains(&node);
        let is_possible = has_part && matches!(self.phase, Phase::Halting(_));
        if is_possible {
            self.expected.insert(node);
        }
        is_possible
    }

    /// A node that was expected is there again, with nothing of what it had: it halts as well. It may be lost again.
    #[must_use]
    pub fn on_come(&mut self, node: NodeId) -> Vec<Action> {
        if !self.expected.remove(&node) || !matches!(self.phase, Phase::Halting(_)) {
            return Vec::new();
        }
        sometimes("a lost node was replaced");
        self.lost.remove(&node);
        self.came.insert(node);
        let lost = self.lost.iter().copied().collect();
        vec![Action::Halt { to: node, epoch: self.epoch, lost }]
    }

    /// A node that was expected will not come: the others go on without it.
    #[must_use]
    pub fn on_not_coming(&mut self, node: NodeId) -> Vec<Action> {
        if !self.expected.remove(&node) {
            return Vec::new();
        }
        sometimes("a lost node could not be replaced");
        self.decide_if_all_have_halted()
    }

    /// A version is known to have been committed, since something was made of that which cannot be taken back.
    pub fn on_committed(&mut self, version: Version) {
        self.committed = self.committed.max(Some(version));
    }

    /// A node has stopped for this epoch, and holds this.
    #[must_use]
    pub fn on_halted(&mut self, node: NodeId, epoch: Epoch, held: Vec<Held>) -> Vec<Action> {
        if !self.counts(node, epoch) {
            return Vec::new();
        }
        let Phase::Halting(answers) = &mut self.phase else { return Vec::new() };
        answers.insert(node, held);
        self.decide_if_all_have_halted()
    }

    /// A node goes on as it was told in this epoch.
    #[must_use]
    pub fn on_resumed(&mut self, node: NodeId, epoch: Epoch) -> Vec<Action> {
        if !self.counts(node, epoch) {
            return Vec::new();
        }
        let Phase::Resuming(missing, version) = &mut self.phase else { return Vec::new() };
        missing.remove(&node);
        if !missing.is_empty() {
            return Vec::new();
        }
        let version = *version;
        self.phase = Phase::Running;
        vec![Action::Recovered { epoch, version }]
    }

    fn nodes(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Whether a node's answer is one to what was asked last.
    fn counts(&self, node: NodeId, epoch: Epoch) -> bool {
        let is_late = epoch != self.epoch;
        if is_late {
            sometimes("an answer was for an epoch that was over");
        }
        node < self.nodes() && !self.lost.contains(&node) && (!is_late || mutated("older-epoch-believed"))
    }

    /// Everybody who is left stops, whatever they are at.
    fn begin(&mut self) -> Vec<Action> {
        match &self.phase {
            Phase::GaveUp => return Vec::new(),
            Phase::Running => {}
            Phase::Halting(_) => sometimes("a node was lost while the others halted"),
            Phase::Resuming(..) => sometimes("a node was lost while the others resumed"),
        }
        if !mutated("epoch-not-raised") || self.epoch == 0 {
            self.epoch += 1;
        }
        self.phase = Phase::Halting(BTreeMap::new());
        if self.has_nobody_left() {
            return self.give_up(Vec::new());
        }
        let lost: Vec<_> = self.lost.iter().copied().collect();
        self.there().map(|to| Action::Halt { to, epoch: self.epoch, lost: lost.clone() }).collect()
    }

    fn decide_if_all_have_halted(&mut self) -> Vec<Action> {
        let Phase::Halting(answers) = &self.phase else { return Vec::new() };
        let is_missing = |node| !answers.contains_key(&node);
        let are_missing = self.there().any(is_missing) || !self.expected.is_empty();
        if are_missing && !mutated("one-has-halted-is-enough") {
            return Vec::new();
        }
        let of = |counts: &dyn Fn(NodeId) -> bool| {
            let answers = answers.iter().filter(|(node, _)| counts(**node));
            Survey::of(answers.map(|(node, held)| (*node, &held[..])))
        };
        let (all, of_rest) = (of(&|_| true), of(&|node| !self.leaving.contains(&node)));
        let leaving = std::mem::take(&mut self.leaving);
        if leaving.is_empty() || !self.can_do_with(&of_rest, &all) {
            return self.decide(&all);
        }
        sometimes("a node was let go while the job ran");
        self.lost.extend(&leaving);
        let mut actions = self.decide(&of_rest);
        actions.push(Action::Release(leaving.into_iter().collect()));
        actions
    }

    /// Whether those who stay hold what all would go back to.
    fn can_do_with(&self, of_rest: &Survey, all: &Survey) -> bool {
        let least = self.committed.max(all.committed);
        let newest = |survey: &Survey| survey.newest_whole(least).map(|(version, _)| version);
        newest(of_rest).is_some() && newest(of_rest) == newest(all)
    }

    /// Whether all are lost that had anything, or knew what had been committed: those that have come since then know nothing, least of all
    /// that there was nothing.
    fn has_nobody_left(&self) -> bool {
        self.there().all(|node| self.came.contains(&node) && !mutated("newcomers-begin-anew"))
    }

    /// Never goes back behind what was committed: what was printed until then has been seen.
    fn decide(&mut self, survey: &Survey) -> Vec<Action> {
        if self.has_nobody_left() {
            return self.give_up(Vec::new());
        }
        self.committed = self.committed.max(survey.committed);
        let seen = survey.newest().max(self.committed);
        self.next = (self.next + 1).max(seen.map_or(0, |version| version + 1));
        let least = self.committed.filter(|_| !mutated("back-behind-what-was-committed"));
        match (survey.newest_whole(least), self.committed) {
            (Some((version, found)), _) => {
                if survey.newest() > Some(version) {
                    sometimes("a newer version than the one gone back to was incomplete");
                }
                if self.committed < Some(version) {
                    sometimes("a version was gone back to that nobody knew to be committed");
                }
                self.resume(Some(version), found.view.clone(), &found.heirs())
            }
            (None, None) => {
                sometimes("the program began anew after a loss");
                self.resume(None, View::whole(self.nodes()), &BTreeMap::new())
            }
            (None, Some(version)) => {
                sometimes("nothing could be restored");
                self.give_up(self.lost_of(version, survey.of_version(version)))
            }
        }
    }

    /// All go on from this version, which was taken in that view, and restore the parts that they are heirs of.
    fn resume(
        &mut self,
        version: Option<Version>,
        taken_in: View,
        heirs: &BTreeMap<NodeId, NodeId>,
    ) -> Vec<Action> {
        let there: Vec<_> = self.there().collect();
        let of_rest = |node: NodeId| there[node as usize % there.len()];
        let heir = |node: NodeId| match heirs.get(&node) {
            Some(heir) if !mutated("heir-without-a-copy") => *heir,
            _ => of_rest(node),
        };
        self.view = taken_in.after(self.epoch, self.nodes(), |node| there.contains(&node), heir);
        self.phase = Phase::Resuming(there.iter().copied().collect(), version);
        self.came.clear();
        // Whoever is there has its own part, even if it is new and somebody else holds that.
        let restorer = |part: NodeId| if there.contains(&part) { part } else { heir(part) };
        // Whoever was not there has its part made of that of its acting node, which was.
        let made = |node: NodeId| !heirs.is_empty() && !taken_in.is_there(node);
        let restored_by = |node: NodeId| {
            let mut parts: Vec<_> = heirs.keys().copied().filter(|part| restorer(*part) == node).collect();
            parts.extend(made(node).then_some(node));
            parts.sort_by_key(|part| *part != node);
            parts
        };
        let mut sent: Vec<_> = heirs.keys().map(|part| (*part, heir(*part), restorer(*part))).collect();
        let new = there.iter().filter(|node| made(**node));
        sent.extend(new.map(|node| (*node, heir(taken_in.acting_for(*node)), *node)));
        let sent = || sent.iter().copied().filter(|(_, from, to)| from != to);
        let order = |node| Order {
            view: self.view.clone(),
            version,
            restore: restored_by(node),
            fetch: sent().filter(|(_, _, to)| *to == node).map(|(part, from, _)| (part, from)).collect(),
            send: sent().filter(|(_, from, _)| *from == node).map(|(part, _, to)| (part, to)).collect(),
            next_version: self.next,
            committed: self.committed,
            failures: self.failures,
        };
        there.iter().map(|to| Action::Resume { to: *to, order: order(*to) }).collect()
    }

    fn give_up(&mut self, parts: Vec<LostPart>) -> Vec<Action> {
        let parts = if parts.is_empty() { self.lost_of_view(&self.view, |_| true, |_| None) } else { parts };
        self.phase = Phase::GaveUp;
        vec![Action::GiveUp(Lost { version: self.committed, parts })]
    }

    /// The parts of a version that nobody holds, as far as it is known what it consisted of.
    fn lost_of(&self, version: Version, found: Option<&Found>) -> Vec<LostPart> {
        debug_assert!(self.committed >= Some(version));
        match found {
            Some(found) => {
                let missing = found.missing();
                let contents = |part| found.contents(part).cloned();
                self.lost_of_view(&found.view, |part| missing.contains(&part), contents)
            }
            None => Vec::new(),
        }
    }

    fn lost_of_view(
        &self,
        view: &View,
        is_lost: impl Fn(NodeId) -> bool,
        contents: impl Fn(NodeId) -> Option<Contents>,
    ) -> Vec<LostPart> {
        let host = |node: NodeId| self.hosts.get(node as usize).copied().unwrap_or_default();
        let held_by = |part| [Some(part), view.buddy(part, host)].into_iter().flatten().collect();
        let lost = |of| LostPart { of, held_by: held_by(of), contents: contents(of) };
        view.there().filter(|part| is_lost(*part)).map(lost).collect()
    }
}

/// The version of the first checkpoint of a job.
const FIRST_VERSION: Version = 1;
