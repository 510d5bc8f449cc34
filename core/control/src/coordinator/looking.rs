//! How the job stands, for whoever looks at it: nodes are asked for their figures, and a snapshot is made of what is known.

use std::time::Duration;

use super::{Action, Coordinator};
use crate::members::Stage;
use crate::plan::Shows;
use crate::protocol::ToNode;
use talisman_job::Failure;
use talisman_job::checkpoints::CkptEvery;
use talisman_job::snapshot::{Checkpoints, LOSSES_MOST, Node, Snapshot, State};

impl Coordinator {
    /// Somebody looks: all nodes that run are asked. Not more often than once a second or so.
    pub fn on_look(&mut self, now: Duration) {
        let running = |node: &u32| self.roster[*node].stage == Stage::Running;
        let there: Vec<u32> = self.roster.living().into_iter().filter(running).collect();
        self.seen.look(now, self.plan.nodes, &there, self.steps.done);
        self.actions.extend(there.into_iter().map(|node| Action::Send(node, ToNode::Look)));
    }

    /// What is shown, and where.
    pub fn shows(&self) -> &Shows {
        &self.plan.shows
    }

    /// What lets people see the job's page: whoever leads the job next makes the same of its secret, which cannot be found out by it.
    pub fn token_of_page(&self) -> [u8; 16] {
        let proof = self.plan.secret.prove("dashboard", b"page");
        std::array::from_fn(|at| proof[at])
    }

    /// Whether all have answered who were asked.
    pub fn has_been_answered(&self) -> bool {
        self.seen.is_complete()
    }

    /// How the job of this program stands, which is called by this process id.
    pub fn snapshot(&mut self, now: Duration, program: &str, job: u32) -> Snapshot {
        let at_s = self.running_for(now).as_secs_f64();
        let nodes = self.nodes_shown();
        let (losses, lost) = self.losses_shown();
        let (balancing, balanced) = self.seen.balanced();
        let steps_per_s = self.seen.steps_per_s().filter(|rate| *rate > 0.0);
        let left = self.steps.total.map(|total| total.saturating_sub(self.steps.done));
        let mut snapshot = Snapshot {
            program: program.into(),
            job,
            at_s,
            state: self.state_shown(),
            ft: self.plan.shows.ft.clone(),
            balancer: self.plan.shows.balancer.clone(),
            steps: self.steps,
            steps_per_s,
            left_s: left.zip(steps_per_s).map(|(left, rate)| left as f64 / rate),
            degraded: None,
            memory: nodes.iter().fold(0, |sum: u64, node| sum.saturating_add(node.memory)),
            nodes,
            objects: self.seen.objects(),
            rates: self.seen.rates(),
            messages: self.seen.messages(),
            kept: self.seen.kept(),
            checkpoints: self.checkpoints_shown(now),
            balancing,
            balanced,
            lost,
            losses,
            takes: self.requests_taken().into_iter().map(str::to_owned).collect(),
            past: Vec::new(),
        };
        snapshot.degraded = self.degraded(now, &snapshot);
        snapshot.past = self.seen.remember(&snapshot);
        snapshot
    }

    fn state_shown(&self) -> State {
        match () {
            () if self.verdict.is_over() => State::Ending,
            () if self.went.is_none() => State::Starting,
            () if self.goes_on() => State::Running,
            () => State::Recovering,
        }
    }

    fn nodes_shown(&self) -> Vec<Node> {
        let pes = self.plan.pes;
        let is_running = self.state_shown() == State::Running;
        let all = (0..self.plan.nodes).map(|number| {
            let member = &self.roster[number];
            let (memory, pes) = self.seen.pes_of(number, pes, is_running);
            let (pid, host, life) = (member.pid, member.host.clone(), member.life);
            Node { node: number, host, pid, stage: stage(member.stage).into(), life, memory, pes }
        });
        all.collect()
    }

    /// The last ones, and how many there were.
    fn losses_shown(&self) -> (Vec<Failure>, u64) {
        let mut all = match (&self.recovery, &self.logging) {
            (Some(recovery), _) => recovery.losses_after(0),
            (None, Some(logging)) => logging.failures().to_vec(),
            (None, None) => Vec::new(),
        };
        let count = all.len();
        (all.split_off(count.saturating_sub(LOSSES_MOST)), count as u64)
    }

    fn checkpoints_shown(&self, now: Duration) -> Checkpoints {
        let (known, mut last) = self.seen.checkpoint();
        let mut count = known.max(self.seen.committed().map_or(0, |(count, _)| count));
        if let Some((taken, newest)) = self.logging.as_ref().map(|logging| logging.taken()) {
            (count, last) = (taken as u64, newest.cloned());
        }
        let running_s = self.running_for(now).as_secs_f64();
        let told = last.as_ref().map(|taken| running_s - taken.at_s - taken.commit_s);
        let committed = self.seen.committed().map(|(_, at)| now.saturating_sub(at).as_secs_f64());
        let age_s = committed.or(told).map(|age| age.max(0.0));
        let next_s = match self.plan.shows.ckpt_every {
            Some(CkptEvery::Time(period)) if self.survives() => {
                Some((period.as_secs_f64() - age_s.unwrap_or(running_s)).max(0.0))
            }
            _ => None,
        };
        Checkpoints { count, last, age_s, next_s }
    }

    fn degraded(&self, now: Duration, snapshot: &Snapshot) -> Option<String> {
        let there = self.roster.living().len();
        let missing = (self.plan.begins_with as usize).saturating_sub(there);
        let is_running = snapshot.state == State::Running;
        let last = snapshot.losses.last().filter(|loss| loss.is_settled() && is_running);
        let is_held_once = last.filter(|_| self.recovery.is_some() && there > 1).is_some_and(|loss| {
            let resumed_s = loss.at_s + loss.halt_s.unwrap_or(0.0) + loss.recover_s.unwrap_or(0.0);
            let since = self.seen.committed().map(|(_, at)| self.running_for(at).as_secs_f64());
            since.is_none_or(|at_s| at_s < resumed_s) && self.running_for(now).as_secs_f64() >= resumed_s
        });
        match (is_held_once, missing, is_running) {
            (true, ..) => Some("until the next checkpoint another loss may be one too many".into()),
            (_, 1.., true) if self.plan.begins_with > 1 => {
                Some(format!("{there} of {} nodes are there", self.plan.begins_with))
            }
            _ => None,
        }
    }
}

fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Starting | Stage::Joined | Stage::Ready | Stage::Linked => "starting",
        Stage::Running => "running",
        Stage::Done => "done",
        Stage::Gone => "gone",
    }
}
