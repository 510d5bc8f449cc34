//! Which connections with other nodes this one lacks, and what it does about each.
//!
//! Pure: what happened and the time go in, actions come out. `connections` carries them out in a real job, the simulated
//! world in a simulated one. Time is counted from any moment, the same one for all calls.
//!
//! ```text
//! at the start:  the node with the higher number dials; until all connections are there, or the start takes too long
//! one breaks:    who dialled it dials again at once; the other one waits for its turn, and dials then
//! a dial fails:  it is repeated after a pause, unless that is hopeless, or patience is at its end: then the job ends
//! ```

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use crate::protocol::Task;
use talisman_base::limits::DIAL_DEADLINE;
use talisman_base::topology::Peer;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// All nodes of a job are linked within this time, or it does not begin.
const START: Duration = Duration::from_secs(30);
/// A connection that broke is there again within this time, or the job ends.
const PATIENCE: Duration = Duration::from_secs(10);
/// Refusals by one node, or of it: what harms connections may harm a greeting, too, and the next one.
const REFUSALS_MOST: u32 = 8;
/// Who was dialled before waits so long, then dials too: the other one may be in a long entry, in which it does not see
/// that the connection broke.
const TURN: Duration = Duration::from_secs(1);
/// Between two attempts to reach a node.
const PAUSE: Duration = Duration::from_millis(20);
/// What is late by more than this was not waited for: this node was stopped, and cannot blame another for that time.
const LATE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Dial, and say what came of it: [`Connecting::on_established`] or [`Connecting::on_failed`].
    Dial(Dial),
    /// A node cannot be reached any more: end the job with this message.
    Lose(Peer, String),
    /// All first connections are there.
    AllThere,
    /// Some first connections have not come: this node cannot begin, for this reason.
    GiveUp(String),
    /// All connections were tried, as asked under this number: with these nodes there is none.
    Tried { inquiry: u32, missed: Vec<u32> },
}

/// Why an attempt came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialFailure {
    /// For people.
    pub why: String,
    /// It may go better after a while: the other node may be about to listen, or the network to come back.
    pub is_passing: bool,
    /// There is no network at all, which at the start of a job is no passing trouble.
    pub is_no_network: bool,
}

impl fmt::Display for DialFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// An attempt to reach a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// Which one; it is on the lane of the PE that is to have the connection.
    pub peer: Peer,
    /// Tells attempts from each other.
    number: u32,
}

/// The connections that a node has, as far as it has to do anything about them.
#[derive(Debug)]
pub struct Connecting {
    node: u32,
    /// The PEs that are not connected.
    missing: BTreeMap<Peer, Missing>,
    /// Who is gone for good, by node.
    gone: Vec<bool>,
    /// The nodes with which there are to be connections, or were.
    linked: BTreeSet<u32>,
    stage: Stage,
    /// How often somebody was dialled.
    dials: u32,
    /// The number under which all connections are tried, and until when.
    trial: Option<(u32, Duration)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nobody knows yet where the others are.
    Alone,
    /// First connections are made, since then.
    Starting(Duration),
    /// The first connections are there, or never will be.
    Started,
}

/// A connection that is to be made.
#[derive(Debug)]
struct Missing {
    /// The moment of the first dial.
    since: Duration,
    /// Whether it is the first connection with this PE.
    is_first: bool,
    refused: u32,
    next: Next,
    /// What was said when it was given up.
    lost: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The other one dials, or the job is over.
    Nothing,
    /// It is dialled then.
    Dial(Duration),
    /// The dial of this number is under way, since then.
    Answer(u32, Duration),
}

impl Connecting {
    /// Of a node that knows what it is, and not yet where the others are.
    pub fn new(task: &Task) -> Self {
        // Who replaces another is told later whom it is linked with.
        let is_other =
            |node: &u32| task.life == 0 && *node != task.number && task.via[*node as usize].is_dialled();
        let lanes = |node| (0..task.pes).map(move |lane| Peer { node, lane });
        let linked: BTreeSet<u32> = (0..task.begins_with).filter(is_other).collect();
        let peers = linked.iter().copied().flat_map(lanes);
        let missing = |peer| (peer, Missing::first(Duration::ZERO, Next::Nothing));
        Connecting {
            node: task.number,
            missing: peers.map(missing).collect(),
            linked,
            gone: vec![false; task.nodes as usize],
            stage: Stage::Alone,
            dials: 0,
            trial: None,
        }
    }

    /// Whether any connection is missing: at first, whether this node needs a port.
    pub fn lacks_any(&self) -> bool {
        !self.missing.is_empty()
    }

    /// The nodes with which there are to be connections, or were.
    pub fn linked(&self) -> impl Iterator<Item = u32> {
        self.linked.iter().copied()
    }

    /// It is known where the others are: this node dials those with lower numbers.
    pub fn on_book(&mut self, now: Duration) -> Vec<Action> {
        self.stage = Stage::Starting(now);
        let lower = self.missing.iter_mut().filter(|(peer, _)| peer.node < self.node);
        lower.for_each(|(_, missing)| *missing = Missing::first(now, Next::Dial(now)));
        let mut actions = self.dials_due(now);
        actions.extend(self.is_complete());
        actions
    }

    /// A connection broke.
    pub fn on_broken(&mut self, now: Duration, peer: Peer) -> Vec<Action> {
        if self.gone.get(peer.node as usize) == Some(&true) {
            return Vec::new();
        }
        let Entry::Vacant(entry) = self.missing.entry(peer) else {
            sometimes("a connection broke that was missing already");
            return Vec::new();
        };
        let since = if peer.node < self.node { now } else { now + TURN };
        entry.insert(Missing { is_first: false, ..Missing::first(since, Next::Dial(since)) });
        self.dials_due(now)
    }

    /// There is a new connection with this PE, whoever dialled; who uses it has it already.
    pub fn on_established(&mut self, peer: Peer) -> Vec<Action> {
        if self.missing.remove(&peer).is_none() {
            sometimes("a connection came that was not missing");
        }
        self.is_complete().into_iter().chain(self.has_tried(false)).collect()
    }

    /// Somebody wants to know with which nodes there are connections; over some, nothing may have gone for long. So each pair makes a new
    /// one, as at the start, which takes the former one's place; that is tried for so long at most.
    pub fn on_trial(&mut self, now: Duration, inquiry: u32, limit: Duration) -> Vec<Action> {
        self.trial = Some((inquiry, now + limit));
        for node in self.linked.iter().copied().filter(|node| *node < self.node) {
            let is_gone = self.gone.get(node as usize) == Some(&true);
            let is_missing = self.missing.keys().any(|peer| peer.node == node);
            if !is_gone && !is_missing {
                let missing = Missing { is_first: false, ..Missing::first(now, Next::Dial(now)) };
                self.missing.insert(Peer { node, lane: 0 }, missing);
            }
        }
        let mut actions = self.dials_due(now);
        actions.extend(self.has_tried(false));
        actions
    }

    /// Another process is a node now, or this one is new to it: there is to be a first connection with each of its lanes, but for those
    /// that `are_there` already.
    pub fn on_new(
        &mut self,
        now: Duration,
        peers: impl IntoIterator<Item = Peer>,
        dials: bool,
        are_there: impl Fn(Peer) -> bool,
    ) -> Vec<Action> {
        let next = if dials { Next::Dial(now) } else { Next::Nothing };
        for peer in peers {
            self.missing.remove(&peer);
            self.linked.insert(peer.node);
            if let Some(gone) = self.gone.get_mut(peer.node as usize) {
                *gone = false;
            }
            if !are_there(peer) {
                self.missing.insert(peer, Missing::first(now, next));
            }
        }
        self.dials_due(now)
    }

    /// These nodes are gone, for good unless they are replaced: they are not dialled any more, and what their connections do means nothing.
    pub fn on_gone(&mut self, is_gone: impl Fn(u32) -> bool) -> Vec<Action> {
        self.missing.retain(|peer, _| !is_gone(peer.node));
        for (_, gone) in (0..).zip(&mut self.gone).filter(|(node, _)| is_gone(*node)) {
            *gone = true;
        }
        self.has_tried(false).into_iter().collect()
    }

    /// The nodes with which there is still no connection after it was given up, and what was said of each then.
    pub fn complaints(&self) -> Vec<(u32, String)> {
        let lost = |(peer, missing): (&Peer, &Missing)| Some((peer.node, missing.lost.clone()?));
        let mut complaints: Vec<(u32, String)> = self.missing.iter().filter_map(lost).collect();
        complaints.dedup_by_key(|(node, _)| *node);
        if !complaints.is_empty() {
            sometimes("a node complained of another to the next launcher, too");
        }
        complaints
    }

    /// An attempt came to nothing.
    pub fn on_failed(&mut self, now: Duration, dial: Dial, error: &DialFailure) -> Vec<Action> {
        let Dial { peer, number } = dial;
        // The other one was faster otherwise, and this attempt does not count any more.
        let waits = |missing: &&mut Missing| matches!(missing.next, Next::Answer(of, _) if of == number);
        let Some(missing) = self.missing.get_mut(&peer).filter(waits) else {
            sometimes("a dial failed when the other node had been faster");
            return Vec::new();
        };
        missing.refused += u32::from(!error.is_passing);
        if let Next::Answer(_, begun) = missing.next {
            missing.forgive(begun + DIAL_DEADLINE, now);
        }
        if missing.is_hopeless(error) || now.saturating_sub(missing.since) > missing.patience() {
            sometimes("a connection was given up");
            missing.next = Next::Nothing;
            let message = format!("the connection with node {} is lost: {error}", peer.node);
            missing.lost = Some(message.clone());
            return [Action::Lose(peer, message)].into_iter().chain(self.has_tried(false)).collect();
        }
        if !error.is_passing {
            sometimes("a node was dialled again that had refused");
        }
        missing.next = if mutated("dial-not-repeated") { Next::Nothing } else { Next::Dial(now + PAUSE) };
        Vec::new()
    }

    /// Time went by: at the latest at [`Connecting::next_time`].
    pub fn on_time(&mut self, now: Duration) -> Vec<Action> {
        let mut actions = self.dials_due(now);
        if self.trial.is_some_and(|(_, until)| now >= until) {
            actions.extend(self.has_tried(true));
        }
        if self.gives_up_at().is_some_and(|at| now >= at) {
            sometimes("a node had not connected in time");
            self.stage = Stage::Started;
            let missing = self.missing.keys().next().map_or(self.node, |peer| peer.node);
            actions.push(Action::GiveUp(format!("node {missing} has not connected within {START:?}")));
        }
        actions
    }

    /// When there is something to do next, if nothing happens before.
    pub fn next_time(&self) -> Option<Duration> {
        let dial_at = |missing: &Missing| match missing.next {
            Next::Dial(at) => Some(at),
            Next::Nothing | Next::Answer(..) => None,
        };
        let trial = self.trial.map(|(_, until)| until);
        self.missing.values().filter_map(dial_at).chain(self.gives_up_at()).chain(trial).min()
    }

    fn dials_due(&mut self, now: Duration) -> Vec<Action> {
        let due = |missing: &Missing| matches!(missing.next, Next::Dial(at) if at <= now);
        let mut actions = Vec::new();
        for (peer, missing) in self.missing.iter_mut().filter(|(_, missing)| due(missing)) {
            self.dials = self.dials.wrapping_add(1);
            if let Next::Dial(at) = missing.next {
                missing.forgive(at, now);
            }
            missing.next = Next::Answer(self.dials, now);
            if peer.node > self.node {
                sometimes("a node dialled that had been dialled before");
            }
            actions.push(Action::Dial(Dial { peer: *peer, number: self.dials }));
        }
        actions
    }

    fn is_complete(&mut self) -> Option<Action> {
        let is_complete = matches!(self.stage, Stage::Starting(_)) && self.missing.is_empty();
        is_complete.then(|| {
            self.stage = Stage::Started;
            Action::AllThere
        })
    }

    /// What came of a trial, once no connection is missing that may still come, or time is up. First ones are waited for by others.
    fn has_tried(&mut self, is_late: bool) -> Option<Action> {
        let (inquiry, _) = self.trial?;
        let missing = || self.missing.iter().filter(|(_, missing)| !missing.is_first);
        if !is_late && missing().any(|(_, missing)| missing.next != Next::Nothing) {
            return None;
        }
        let mut missed: Vec<u32> = missing().map(|(peer, _)| peer.node).collect();
        missed.dedup();
        self.trial = None;
        Some(Action::Tried { inquiry, missed })
    }

    /// Those who dial give up before, and say why.
    fn gives_up_at(&self) -> Option<Duration> {
        match self.stage {
            Stage::Starting(since) => Some(since + START + PAUSE),
            Stage::Alone | Stage::Started => None,
        }
    }
}

impl Missing {
    fn first(since: Duration, next: Next) -> Self {
        Missing { since, is_first: true, refused: 0, next, lost: None }
    }

    /// What was due is done only now: if that is late, patience is as long as if it had been in time.
    fn forgive(&mut self, due: Duration, now: Duration) {
        let late = now.saturating_sub(due);
        if late > LATE {
            sometimes("a node that had been away did not count that time against another");
            self.since += late;
        }
    }

    fn patience(&self) -> Duration {
        if self.is_first { START } else { PATIENCE }
    }

    /// Whether it is no use to dial again after this error.
    fn is_hopeless(&self, error: &DialFailure) -> bool {
        self.refused > REFUSALS_MOST || (self.is_first && error.is_no_network)
    }
}
