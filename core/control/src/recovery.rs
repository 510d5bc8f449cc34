//! A job that survives losses, as its launcher knows it: what the leader decides, what of the nodes' words still holds, and what is
//! reported.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use talisman_ft::double::leader::{Action, Leader};
use talisman_ft::double::{Contents, Held, Lost};
use talisman_ft::view::View;
use talisman_ft::{Epoch, Version};

use crate::crash_loop::CrashLoop;
use crate::exit_cause::KillReason;
use crate::failure_detector::FailureDetector;
use crate::follower::Followers;
use crate::messages::{lost_in_words, nodes_in_words, sum, what_is_lost};
use crate::output_dedup::Printed;
use crate::plan::Plan;
use crate::watchdog::Patience;
use talisman_job::Failure;
use talisman_observe::mutations::mutated;

/// A node that is lost so often before the job goes on is not started again: it would be lost once more.
const TRIES: u32 = 3;

/// What the launcher of such a job keeps beside what it knows of each node. Times are from the program's beginning.
pub struct Recovery {
    leader: Leader,
    /// By node: the last epoch that it has halted for.
    halted: Vec<Epoch>,
    pub suspicions: FailureDetector,
    pub printed: Printed,
    patience: Patience,
    relapses: CrashLoop,
    /// The last version that was committed, as far as nodes have said that, and what was in each of its parts.
    newest: Option<(Version, BTreeMap<u32, Contents>)>,
    /// Why the job is not to go on, though it could.
    hopeless: Option<String>,
    failures: Vec<Noticed>,
    /// When all had halted.
    halted_at: Duration,
    /// How often each node was started again since all went on.
    tries: BTreeMap<u32, u32>,
    /// Those that came back since then.
    replaced: BTreeSet<u32>,
    /// How far those that have resumed since then say that the program is.
    steps: u64,
}

/// A loss.
#[derive(Clone, Debug)]
pub struct Loss {
    pub node: u32,
    /// In words: who, and what became of it.
    pub what: String,
    /// As [`Failure::detected`].
    pub detected: &'static str,
    /// How long it took to be noticed.
    pub unnoticed: Unnoticed,
    /// Whether its process has ended by a fault of its own.
    pub is_own_fault: bool,
    /// Why it had to go, if others could not go on with it or it could not itself.
    pub complaint: Option<String>,
}

/// From when something happened to a node until it was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnoticed {
    /// Just so long.
    For(Duration),
    /// At most so long: it had said something before.
    Within(Duration),
    /// Nothing happened to it: others cannot reach it.
    Nothing,
}

/// What a node says when it has halted.
pub struct Halted {
    pub epoch: Epoch,
    pub held: Vec<Held>,
    /// Steps that the program had reported there.
    pub steps: u64,
}

struct Noticed {
    at: Duration,
    /// Steps that the program had reported by then.
    steps: u64,
    failure: Failure,
    /// Whether the job goes on without it.
    settled: bool,
}

impl Unnoticed {
    fn time(self) -> Option<Duration> {
        match self {
            Unnoticed::For(time) | Unnoticed::Within(time) => Some(time),
            Unnoticed::Nothing => None,
        }
    }
}

impl Noticed {
    /// As a former launcher has told of it, when the program has been running for so long and is so far.
    fn before(failure: Failure, now: Duration, steps: u64) -> Self {
        let at = Duration::try_from_secs_f64(failure.at_s).unwrap_or(now);
        Noticed { at, steps, settled: failure.is_settled(), failure }
    }
}

impl Recovery {
    pub fn new(plan: &Plan) -> Self {
        Recovery {
            leader: plan.leader(),
            halted: vec![0; plan.nodes as usize],
            suspicions: FailureDetector::new(plan.silence),
            printed: Printed::default(),
            patience: Patience::default(),
            relapses: CrashLoop::default(),
            newest: None,
            hopeless: None,
            failures: Vec::new(),
            halted_at: Duration::ZERO,
            steps: 0,
            tries: BTreeMap::new(),
            replaced: BTreeSet::new(),
        }
    }

    /// Of a job whose launcher is gone, of which these are left and those lost; what is told of that, when it was, and at which step.
    pub fn taking_over(
        plan: &Plan,
        followers: &Followers,
        lost: Vec<u32>,
        (failures, now, steps): (Vec<Failure>, Duration, u64),
    ) -> (Self, Vec<Action>) {
        let view =
            followers.view().cloned().unwrap_or_else(|| View::beginning_with(plan.begins_with, plan.nodes));
        let mut hosts = plan.host_numbers();
        hosts.resize(view.nodes() as usize, 0);
        let (epoch, next) = (followers.epoch(), followers.next_version());
        let (mut leader, actions) = Leader::taking_over(hosts, view, epoch, next, lost);
        leader.add_failures(followers.failures());
        leader.add_newcomers(followers.newcomers());
        followers.seen().for_each(|(version, ..)| leader.on_committed(version));
        followers.committed().into_iter().for_each(|version| leader.on_committed(version));
        let before = followers.losses().iter().cloned().map(|failure| Noticed::before(failure, now, steps));
        let noticed = |failure| Noticed { at: now, steps, failure, settled: false };
        let failures: Vec<Noticed> = before.chain(failures.into_iter().map(noticed)).collect();
        let unsettled = failures.iter().filter(|noticed| !noticed.settled);
        let recovery = Recovery {
            leader,
            printed: Printed::knowing(followers.seen().filter(|_| !mutated("printed-is-forgotten"))),
            // Whoever is there again had come when the former launcher was lost.
            replaced: unsettled
                .filter_map(|noticed| noticed.failure.node)
                .filter(|node| followers.has(*node))
                .collect(),
            failures,
            ..Recovery::new(plan)
        };
        (recovery, actions)
    }

    /// Of a job that only has to end: what is told of losses, and its results.
    pub fn settled(plan: &Plan, failures: Vec<Failure>, results: talisman_job::Results) -> Self {
        let noticed = |failure| Noticed { at: Duration::ZERO, steps: 0, failure, settled: true };
        let failures = failures.into_iter().map(noticed).collect();
        Recovery { failures, printed: Printed::with_results(results), ..Recovery::new(plan) }
    }

    /// So many losses are known as they will be reported.
    pub fn settled_losses(&self) -> usize {
        self.failures.iter().take_while(|noticed| noticed.settled).count()
    }

    /// All losses but the first ones.
    pub fn losses_after(&self, first: usize) -> Vec<Failure> {
        self.failures.iter().skip(first).map(|noticed| noticed.failure.clone()).collect()
    }

    /// Whether what a node says of its program was overtaken by a loss that it had not been told of when it said that.
    pub fn is_void(&self, node: u32) -> bool {
        self.halted[node as usize] != self.leader.epoch() && !mutated("words-before-halting-count")
    }

    /// Whether the last loss was told in these words: all nodes of a lost host are.
    pub fn has_told(&self, what: &str) -> bool {
        self.failures.last().is_some_and(|noticed| noticed.failure.what == what)
    }

    /// Whether all go on, or have never stopped.
    pub fn is_running(&self) -> bool {
        self.leader.is_running()
    }

    /// Time went by: a line for people if somebody is waited for who takes long.
    pub fn on_time(&mut self, now: Duration) -> Option<String> {
        self.patience.on_time(now, self.leader.epoch(), self.leader.awaited())
    }

    /// These nodes are to go; what they say of the program does not hold until they have halted.
    pub fn release(&mut self, nodes: &[u32]) -> Vec<Action> {
        let actions = self.leader.on_release(nodes);
        if !actions.is_empty() {
            self.printed.go_back();
        }
        actions
    }

    /// These nodes have processes again and are to be there; what the others say of the program does not hold until they have halted.
    pub fn add(&mut self, nodes: &[u32]) -> Vec<Action> {
        nodes.iter().for_each(|node| self.suspicions.forget(*node));
        let actions = self.leader.on_added(nodes);
        if !actions.is_empty() {
            self.printed.go_back();
        }
        actions
    }

    /// A node that is lost gets another process; whether that is waited for.
    pub fn expect(&mut self, node: u32) -> bool {
        let tries = self.tries.entry(node).or_default();
        *tries += 1;
        let is_expected = *tries <= TRIES && self.leader.expect(node);
        if is_expected {
            // What others may have said of the former process.
            self.suspicions.forget(node);
        }
        is_expected
    }

    /// It is there.
    pub fn on_come(&mut self, node: u32) -> Vec<Action> {
        self.replaced.insert(node);
        self.suspicions.forget(node);
        self.leader.on_come(node)
    }

    /// A node has its process on this host from now on.
    pub fn put(&mut self, node: u32, host: u32) {
        self.leader.put(node, host);
    }

    /// It will not be.
    pub fn on_not_coming(&mut self, node: u32) -> Vec<Action> {
        self.leader.on_not_coming(node)
    }

    /// A node is lost, and with it all that are gone, after the program has reported so many steps.
    pub fn lose(&mut self, now: Duration, loss: Loss, steps: u64, gone: Vec<u32>) -> Vec<Action> {
        if loss.is_own_fault {
            self.relapses.on_fault(&loss.what);
        }
        loss.complaint.iter().for_each(|why| self.relapses.on_complaint(why, &loss.what));
        let failure = Failure {
            node: Some(loss.node),
            what: loss.what,
            detected: loss.detected.into(),
            at_s: now.as_secs_f64(),
            detect_s: loss.unnoticed.time().map(|time| time.as_secs_f64()),
            detect_exact: matches!(loss.unnoticed, Unnoticed::For(_)),
            ..Failure::default()
        };
        self.replaced.remove(&loss.node);
        self.failures.push(Noticed { at: now, steps, failure, settled: false });
        self.printed.go_back();
        self.leader.on_lost(gone)
    }

    pub fn on_halted(&mut self, now: Duration, node: u32, halted: Halted) -> Vec<Action> {
        let Halted { epoch, held, steps } = halted;
        self.halted[node as usize] = self.halted[node as usize].max(epoch);
        (self.halted_at, self.steps) = (now, 0);
        self.unsettled().for_each(|noticed| noticed.steps = noticed.steps.max(steps));
        let actions = self.leader.on_halted(node, epoch, held);
        self.hopeless = self.is_relapse(&actions);
        if self.hopeless.is_some() { Vec::new() } else { actions }
    }

    /// Why what is to be gone back to would only be lost again, if it would.
    fn is_relapse(&mut self, actions: &[Action]) -> Option<String> {
        let order = actions.iter().find_map(|action| match action {
            Action::Resume { order, .. } => Some(order),
            _ => None,
        })?;
        let steps = self.unsettled().map(|noticed| noticed.steps).max().unwrap_or_default();
        self.relapses.on_going_back(steps, order.version, order.next_version)
    }

    /// Why the job is not to go on, though it could.
    pub fn take_hopeless(&mut self) -> Option<String> {
        self.hopeless.take()
    }

    pub fn on_resumed(&mut self, node: u32, epoch: Epoch, steps: u64) -> Vec<Action> {
        if epoch == self.leader.epoch() {
            self.steps = self.steps.max(steps);
        }
        self.leader.on_resumed(node, epoch)
    }

    /// How far the program is where all have gone back to.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// A version is committed, with so much in the part of each node.
    pub fn on_committed(&mut self, version: Version, contents: Vec<(u32, Contents)>) {
        self.newest = Some((version, contents.into_iter().collect()));
    }

    /// Something was printed that this version ended.
    pub fn on_printed(&mut self, version: Version) {
        self.leader.on_committed(version);
    }

    /// All go on: a line for people.
    pub fn settle(&mut self, now: Duration, version: Option<Version>) -> String {
        let (mut lost, mut first) = (Vec::new(), now);
        let (halted_at, steps) = (self.halted_at, self.steps);
        let left = self.leader.there().count();
        let replaced = std::mem::take(&mut self.replaced);
        self.tries.clear();
        for noticed in self.unsettled() {
            lost.push(noticed.failure.node);
            first = first.min(noticed.at);
            noticed.settled = true;
            noticed.failure.halt_s = Some(halted_at.saturating_sub(noticed.at).as_secs_f64());
            noticed.failure.recover_s = Some(now.saturating_sub(noticed.at).as_secs_f64());
            noticed.failure.version = version;
            noticed.failure.nodes_left = Some(left as u32);
            noticed.failure.replaced = noticed.failure.node.is_some_and(|node| replaced.contains(&node));
            noticed.failure.steps_redone = noticed.steps.checked_sub(steps);
        }
        let nodes = if left == 1 { "1 node".to_owned() } else { format!("{left} nodes") };
        let what = match version {
            Some(version) => format!("went back to checkpoint {version}"),
            None => "began the program anew, as there was no checkpoint yet,".to_owned(),
        };
        if lost.is_empty() {
            return format!("{nodes} {what}; degraded until the next checkpoint");
        }
        let took = now.saturating_sub(first).as_micros().div_ceil(1000);
        let rest =
            if left == 1 { "nothing is held twice any more" } else { "degraded until the next checkpoint" };
        let whom = lost_in_words(&lost);
        let again = match replaced.len() {
            0 => String::new(),
            _ => format!(", with {} in a new process", nodes_in_words(&Vec::from_iter(replaced))),
        };
        format!("{nodes} {what} in {took} ms after the loss of {whom}{again}; {rest}")
    }

    /// The job cannot go on: why.
    pub fn give_up(&self, lost: &Lost) -> String {
        let last = self.failures.last().map_or("", |noticed| &noticed.failure.what);
        let Some(version) = lost.version.filter(|_| self.leader.there().next().is_some()) else {
            let known = self.newest.as_ref().filter(|(_, parts)| !parts.is_empty());
            let all =
                known.map(|(version, parts)| format!("; checkpoint {version} had {}", sum(parts.values())));
            let all = all.unwrap_or_default();
            return format!(
                "{last}; it was the last node that was left, and all objects of the job are lost{all}"
            );
        };
        let mut parts = lost.parts.clone();
        if let Some((_, known)) = self.newest.as_ref().filter(|(newest, _)| *newest == version) {
            // Whoever is left may not have been asked about those that others have replaced since.
            for part in &mut parts {
                part.contents = part.contents.take().or_else(|| known.get(&part.of).cloned());
            }
        }
        format!("{last}; the job cannot go on: {}", what_is_lost(version, &parts))
    }

    fn unsettled(&mut self) -> impl Iterator<Item = &mut Noticed> {
        self.failures.iter_mut().filter(|noticed| !noticed.settled)
    }

    /// All losses, and the results that came with lines.
    pub fn into_report(self) -> (Vec<Failure>, talisman_job::Results) {
        let results = self.printed.results();
        let failures = self.failures.into_iter().map(|noticed| noticed.failure).collect();
        (failures, results)
    }
}

/// How the launcher knows of a loss, by why it killed the node, if it did.
pub fn detected_by(doom: Option<&KillReason>) -> &'static str {
    match doom {
        Some(KillReason::Silent(_)) => "silence",
        Some(KillReason::Suspected { .. }) => "suspicion",
        Some(KillReason::Failed(_)) => "itself",
        Some(KillReason::Injected(_) | KillReason::Straggler) | None => "exit",
    }
}
