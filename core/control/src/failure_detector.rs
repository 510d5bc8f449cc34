//! Nodes that complain that they cannot reach others: which of them has to go.
//!
//! Pure. A suspicion proves nothing: the other may be dead, or the connection between the two cut, or the one who complains cut off
//! from everybody. And what is not said is no proof either: a connection that is cut is not missed before something is to go
//! over it. So after the first complaint all nodes are asked to try their connections, and the verdict is over all that were
//! found to be cut. As few nodes have to go as it takes for no two of those that stay to be in dispute, and of as many those of one
//! host. Of a job that is cut in two the smaller side goes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::heartbeat::TICK;
use talisman_observe::sometimes::sometimes;

/// For so much longer than nodes try they are waited for, as what they are asked and what they answer takes its time.
const ON_THE_WAY: Duration = TICK.saturating_mul(4);

/// Of so many nodes in dispute all ways to settle that are weighed.
const WEIGHED_MOST: usize = 16;

/// Complaints that have not been decided on.
#[derive(Debug)]
pub struct FailureDetector {
    /// For how long nodes try to reach each other.
    silence: Duration,
    /// By who complains, and of whom: why.
    said: BTreeMap<(u32, u32), String>,
    /// How often all were asked.
    inquiries: u32,
    inquiry: Option<Inquiry>,
}

/// What all have been asked.
#[derive(Debug)]
struct Inquiry {
    /// Who has not answered.
    missing: BTreeSet<u32>,
    /// When that is not waited for any longer.
    until: Duration,
}

/// A node that has to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub node: u32,
    /// Who complains of it, or is complained of by it.
    pub by: u32,
    /// As it was said.
    pub why: String,
}

/// What is to be done about complaints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing, for now.
    Wait,
    /// Under this number, these are asked to try their connections.
    Ask(u32, Vec<u32>),
    /// These have to go.
    LetGo(Vec<Suspect>),
}

impl FailureDetector {
    /// Of a job whose nodes may be silent for so long.
    pub fn new(silence: Duration) -> Self {
        FailureDetector { silence, said: BTreeMap::new(), inquiries: 0, inquiry: None }
    }

    /// A node cannot reach another one.
    pub fn hear(&mut self, by: u32, of: u32, why: String) {
        self.said.entry((by, of)).or_insert(why);
    }

    /// A node has tried its connections, as it was asked under this number, and could not reach these.
    pub fn on_tried(&mut self, by: u32, inquiry: u32, missed: Vec<u32>) {
        let Some(asked) = self.inquiry.as_mut().filter(|_| inquiry == self.inquiries) else {
            return sometimes("a node had tried its connections for longer than it was waited for");
        };
        asked.missing.remove(&by);
        // Which of two tries to reach the other is settled by their numbers, and tells nothing of either.
        for pair in missed.into_iter().flat_map(|of| [(by, of), (of, by)]) {
            let why = format!("no connection for {:?}", self.silence);
            self.said.entry(pair).or_insert(why);
        }
    }

    /// A node has another process: nothing that was said of the former one, or by it, counts.
    pub fn forget(&mut self, node: u32) {
        self.said.retain(|(by, of), _| ![*by, *of].contains(&node));
        if let Some(inquiry) = &mut self.inquiry {
            inquiry.missing.remove(&node);
        }
    }

    /// What there is to do by now, if these are still there, of which some `may_be_asked`, and which are on the hosts of these numbers.
    pub fn settle(
        &mut self,
        now: Duration,
        living: &[u32],
        may_be_asked: impl Fn(u32) -> bool,
        host: impl Fn(u32) -> u32,
    ) -> Step {
        self.said.retain(|(by, of), _| by != of && living.contains(by) && living.contains(of));
        let Some(inquiry) = &mut self.inquiry else {
            let asked: Vec<u32> = living.iter().copied().filter(|node| may_be_asked(*node)).collect();
            return if self.said.is_empty() { Step::Wait } else { self.ask(now, asked) };
        };
        inquiry.missing.retain(|node| living.contains(node));
        if !inquiry.missing.is_empty() && now < inquiry.until {
            return Step::Wait;
        }
        if !inquiry.missing.is_empty() {
            sometimes("a node did not say in time whom it can reach");
        }
        self.inquiry = None;
        let disputes = std::mem::take(&mut self.said);
        let suspects = who_has_to_go(&disputes, living, host);
        Step::LetGo(suspects.into_iter().map(|node| suspect(node, &disputes)).collect())
    }

    fn ask(&mut self, now: Duration, asked: Vec<u32>) -> Step {
        self.inquiries = self.inquiries.wrapping_add(1);
        let until = now + self.silence + ON_THE_WAY;
        self.inquiry = Some(Inquiry { missing: asked.iter().copied().collect(), until });
        Step::Ask(self.inquiries, asked)
    }
}

/// By the first that complains of it, or is complained of by it.
fn suspect(node: u32, disputes: &Disputes) -> Suspect {
    let with_it = |((by, of), _): &(&(u32, u32), &String)| [*by, *of].contains(&node);
    let ((by, of), why) = disputes.iter().find(with_it).expect("it is in one");
    Suspect { node, by: by + of - node, why: why.clone() }
}

type Disputes = BTreeMap<(u32, u32), String>;

/// Those without whom no two are in dispute: one by one, or all of a host if they are not more.
fn who_has_to_go(disputes: &Disputes, living: &[u32], host: impl Fn(u32) -> u32) -> Vec<u32> {
    let pairs: Vec<(u32, u32)> = disputes.keys().copied().collect();
    let one_by_one = fewest(&pairs);
    let hosts: BTreeSet<u32> = living.iter().map(|node| host(*node)).collect();
    let nodes_of =
        |of: &u32| -> Vec<u32> { living.iter().copied().filter(|node| host(*node) == *of).collect() };
    let explains = |nodes: &Vec<u32>| {
        let is_across = |(by, of): &(u32, u32)| nodes.contains(by) != nodes.contains(of);
        let is_in_one = |node: &u32| pairs.iter().any(|(by, of)| [*by, *of].contains(node));
        nodes.len() > 1 && pairs.iter().all(is_across) && nodes.iter().all(is_in_one)
    };
    let whole = hosts.iter().rev().map(nodes_of).filter(explains).min_by_key(Vec::len);
    match whole.filter(|nodes| nodes.len() <= one_by_one.len()) {
        Some(nodes) => nodes,
        None => one_by_one,
    }
}

/// Without whoever is in dispute with most others, and those without whom the rest is settled; or without all these others. (Of very many
/// disputes, the first way is good enough: the time for both doubles with every few nodes.)
fn fewest(pairs: &[(u32, u32)]) -> Vec<u32> {
    let Some(node) = most_disputed(pairs) else { return Vec::new() };
    let without = |mut gone: Vec<u32>| {
        let is_left = |(by, of): &(u32, u32)| !gone.contains(by) && !gone.contains(of);
        let left: Vec<(u32, u32)> = pairs.iter().copied().filter(is_left).collect();
        gone.extend(fewest(&left));
        gone
    };
    let (others, without_it) = (others(pairs, node), without(vec![node]));
    if others.len() >= without_it.len() || others.len() == 1 || in_dispute(pairs).len() > WEIGHED_MOST {
        return without_it;
    }
    let without_others = without(others.into_iter().collect());
    if without_others.len() < without_it.len() { without_others } else { without_it }
}

fn in_dispute(pairs: &[(u32, u32)]) -> BTreeSet<u32> {
    pairs.iter().flat_map(|(by, of)| [*by, *of]).collect()
}

/// Those with whom a node is in dispute.
fn others(pairs: &[(u32, u32)], node: u32) -> BTreeSet<u32> {
    let with = |(by, of): &(u32, u32)| [*by, *of].contains(&node).then(|| by + of - node);
    pairs.iter().filter_map(with).collect()
}

/// Whoever is in dispute with most others; of several the one of whom more complain, then the last.
fn most_disputed(pairs: &[(u32, u32)]) -> Option<u32> {
    let complaints = |node: u32| pairs.iter().filter(|(_, of)| *of == node).count();
    let nodes = in_dispute(pairs).into_iter();
    nodes.max_by_key(|node| (others(pairs, *node).len(), complaints(*node), *node))
}

#[cfg(test)]
mod tests;
