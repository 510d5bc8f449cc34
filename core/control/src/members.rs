//! What the launcher knows of each node.

use std::net::SocketAddr;
use std::ops::{Index, IndexMut};
use std::time::Duration;

use crate::exit_cause::{KillReason, named};
use crate::heartbeat::{Heartbeat, TICK};
use crate::plan::Plan;
use crate::protocol::{NodeReport, Place};
use talisman_observe::mutations::mutated;

/// All nodes of a job, by their numbers.
pub struct Roster(Vec<Member>);

/// What is known of a node.
pub struct Member {
    pub stage: Stage,
    /// Unknown before its process has started.
    pub pid: Option<u32>,
    /// Where it is, if not on the launcher's host.
    pub host: Option<String>,
    pub heartbeat: Heartbeat,
    /// When it said something last.
    pub heard_at: Duration,
    /// Where it listens.
    pub address: Option<SocketAddr>,
    pub report: Option<NodeReport>,
    /// Why it was killed, if the launcher did it.
    pub doom: Option<KillReason>,
    /// When that was.
    pub doomed_at: Duration,
    /// When people are told next that it has not ended.
    pub remind_at: Duration,
    /// When it is killed unless it has gone by then; never, if it need not have.
    pub leave_by: Duration,
    /// As [`crate::protocol::Task::life`].
    pub life: u64,
    /// The others go on without it, and it leaves.
    pub released: bool,
    /// So many losses it knows as they will be reported.
    pub losses_told: usize,
}

/// How far a node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Starting,
    Joined,
    Ready,
    Linked,
    Running,
    /// It has said what it leaves behind.
    Done,
    /// It has no process.
    Gone,
}

impl Roster {
    /// The nodes of a job, each of which counts as lost after so long without a word.
    pub fn new(plan: &Plan) -> Self {
        let member = |node| Member {
            stage: if node < plan.begins_with { Stage::Starting } else { Stage::Gone },
            host: plan.host_of(node).map(str::to_owned),
            ..Member::of_life(0, silence(plan, node))
        };
        Roster((0..plan.nodes).map(member).collect())
    }

    pub fn has(&self, node: u32) -> bool {
        (node as usize) < self.0.len()
    }

    pub fn living(&self) -> Vec<u32> {
        self.those(|member| member.stage < Stage::Gone)
    }

    pub fn gone(&self) -> Vec<u32> {
        self.those(|member| member.stage == Stage::Gone)
    }

    /// Nodes that have said what they leave behind, and have not been told to leave.
    pub fn stopped(&self) -> Vec<u32> {
        self.those(|member| member.stage == Stage::Done && member.leave_by == Duration::MAX)
    }

    /// Whoever had stopped runs again: what it left behind does not hold any more.
    pub fn run_again(&mut self) {
        for member in &mut self.0 {
            if member.released {
                continue;
            }
            member.report = None;
            if member.stage == Stage::Done {
                member.stage = Stage::Running;
            }
        }
    }

    /// Nodes that an option has killed, and that are not gone yet.
    pub fn injured(&self) -> Vec<u32> {
        self.those(|member| {
            member.stage < Stage::Gone && matches!(member.doom, Some(KillReason::Injected(_)))
        })
    }

    /// A node has come so far; whether that makes it all of them.
    #[must_use]
    pub fn reach(&mut self, node: u32, stage: Stage) -> bool {
        let member = &mut self[node];
        if member.stage >= stage {
            return false;
        }
        member.stage = stage;
        let too_early = stage == Stage::Linked && mutated("go-before-all-are-linked");
        too_early || self.0.iter().all(|member| [stage, Stage::Gone].contains(&member.stage))
    }

    /// The program begins on all of them.
    pub fn go(&mut self) {
        let there = self.0.iter_mut().filter(|member| member.stage < Stage::Gone);
        there.for_each(|member| member.stage = Stage::Running);
    }

    /// A node has another process, of this life, that is about to start.
    pub fn start_again(&mut self, node: u32, life: u64, silence: Duration) {
        let host = self[node].host.take();
        self[node] = Member { host, ..Member::of_life(life, silence) };
    }

    /// Which process each node is now, of those that have one, and on which host; nothing as long as all are the first ones.
    pub fn places(&self, host: impl Fn(u32) -> u32) -> Vec<Place> {
        let place = |node: u32| {
            let Member { life, address, .. } = self[node];
            Place { node, life, address, host: host(node) }
        };
        let places: Vec<_> =
            self.those(|member| member.stage >= Stage::Running && member.stage < Stage::Gone);
        let places: Vec<_> = places.into_iter().map(place).collect();
        if places.iter().all(|place| place.life == 0) { Vec::new() } else { places }
    }

    /// The launcher looks; who has been silent for too long. Logging in on another host takes as long as it takes: a node
    /// without a process is not silent.
    pub fn look(&mut self) -> Vec<u32> {
        let mut silent = self.living();
        silent.retain(|node| self[*node].pid.is_some() && self[*node].heartbeat.tick());
        silent
    }

    pub fn addresses(&self) -> Vec<Option<SocketAddr>> {
        self.0.iter().map(|member| member.address).collect()
    }

    /// What those left behind that have said it, by their numbers.
    pub fn reports(&self) -> impl Iterator<Item = &NodeReport> {
        self.0.iter().filter_map(|member| member.report.as_ref())
    }

    /// What they left behind; nothing of those that were lost.
    pub fn into_reports(self) -> Vec<NodeReport> {
        self.0.into_iter().map(|member| member.report.unwrap_or_default()).collect()
    }

    /// `node 2 (pid 4711)`, and where that is.
    pub fn name(&self, node: u32) -> String {
        named(node, self[node].pid, self[node].host.as_deref())
    }

    fn those(&self, are: impl Fn(&Member) -> bool) -> Vec<u32> {
        (0..).zip(&self.0).filter(|(_, member)| are(member)).map(|(node, _)| node).collect()
    }
}

/// A host that is silent is to be noticed before its nodes: each of them is silent too, and if it computed, has been for longer.
fn silence(plan: &Plan, node: u32) -> Duration {
    if plan.host_of(node).is_some() { plan.silence + 4 * TICK } else { plan.silence }
}

impl Member {
    /// Whose process is about to start.
    fn of_life(life: u64, silence: Duration) -> Member {
        Member {
            stage: Stage::Starting,
            pid: None,
            host: None,
            heartbeat: Heartbeat::in_looks(silence),
            heard_at: Duration::ZERO,
            address: None,
            report: None,
            doom: None,
            doomed_at: Duration::ZERO,
            remind_at: Duration::MAX,
            leave_by: Duration::MAX,
            life,
            released: false,
            losses_told: 0,
        }
    }

    /// It said something.
    pub fn heard(&mut self, now: Duration) {
        self.heartbeat.heard();
        self.heard_at = now;
    }
}

impl Index<u32> for Roster {
    type Output = Member;

    fn index(&self, node: u32) -> &Member {
        &self.0[node as usize]
    }
}

impl IndexMut<u32> for Roster {
    fn index_mut(&mut self, node: u32) -> &mut Member {
        &mut self.0[node as usize]
    }
}
