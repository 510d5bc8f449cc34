//! When a checkpoint begins, and what follows from what all have said: at the first PE.

use std::time::Duration;

use easy_ext::ext;
use tracing::{info, warn};

use super::Checkpoints;
use super::message::{Taken, Why};
use crate::balance::root::BalancingRootOnPe;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::capture::{NO_MEMORY, NO_MEMORY_FOR_COPY, NOT_WHOLE};
use crate::checkpoint::contents::ContentsOnPe;
use crate::checkpoint::drain::DrainOnPe;
use crate::checkpoint::on_demand::OnDemandOnPe;
use crate::checkpoint::replication::ReplicationOnPe;
use crate::quiescence::QuiescenceOnPe;
use talisman_ft::period::Period;
use talisman_ft::{NodeId, Version};
use talisman_job::CheckpointTaken;
use talisman_job::checkpoints::CkptEvery;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::turn::runs_again;
use talisman_kernel::route::Route;
use talisman_observe::event::Event;
use talisman_observe::sometimes::sometimes;
use talisman_observe::subjects::CHECKPOINT;
use talisman_pup::Packed;

/// What cannot be kept is tried again after so long, or after a period if that is shorter, as long as somebody waits for it, or what is held
/// but once is to be held twice.
pub(super) const TRY_AGAIN: Duration = Duration::from_secs(10);

/// What the root knows.
pub(super) struct Root {
    pub(super) period: Period,
    pub(super) running: Option<Running>,
    /// Wanted since that began.
    wanted: Vec<(Why, Option<Route>)>,
    /// Nodes that are about to go, once a checkpoint is there that was begun since that is known. Whether they have gone is known by the next life.
    pub(super) leaving: Vec<NodeId>,
    /// What a PE had given to checkpoints when the last one was committed, as far as that is measured.
    beside: Duration,
    /// The last step of the program for which there was a checkpoint.
    step: u64,
    /// Entries that had run at the last checkpoint.
    run: u64,
    /// It has been said that there was no memory, and there was none since.
    lacks: bool,
}

/// A checkpoint under way.
pub struct Running {
    version: Version,
    why: Why,
    pub(super) then: Vec<(Why, Route)>,
    /// How often somebody outside has asked for it.
    asked: u32,
    /// One of them wants it on disk, where others are not.
    on_disk: bool,
    /// Those that are to go when it is there.
    leaving: Vec<NodeId>,
    pub(super) begun: Duration,
    /// How long entries waited, and what was taken, once that is known.
    pub(super) blocked: Option<(Duration, Taken)>,
}

impl Root {
    /// At the start of a job, whose user may know the mean time between failures.
    pub(super) fn new(mtbf: Option<Duration>) -> Self {
        let period = Period::new(mtbf);
        let beside = Duration::ZERO;
        let (wanted, leaving) = (Vec::new(), Vec::new());
        Root { period, running: None, wanted, leaving, beside, step: 0, run: 0, lacks: false }
    }

    /// Whether anybody waits for a checkpoint.
    fn is_waited_for(&self) -> bool {
        let running = self.running.as_ref().is_some_and(|running| !running.then.is_empty());
        running || self.wanted.iter().any(|(_, then)| then.is_some())
    }

    /// These nodes are about to go.
    pub(super) fn on_leaving(&mut self, nodes: Vec<NodeId>) {
        self.leaving.extend(nodes);
    }

    /// A checkpoint was committed after it `took` so long, during which entries were `blocked`, and PEs have given so much to copies and files
    /// since the start. In memory, copies take most of a PE's time until they are there. A disk takes its own.
    pub(super) fn account(&mut self, took: Duration, blocked: Duration, beside: Option<Duration>) {
        let cost = match beside {
            None => took,
            Some(beside) => took.min(blocked + beside.saturating_sub(self.beside)),
        };
        self.beside = beside.unwrap_or_default();
        self.period.checkpoint(cost);
    }

    /// Who waits for a checkpoint; perhaps only those who wait for another than the one that is under way.
    pub(super) fn waiting(&self, is_running_over: bool) -> Vec<(Why, Route)> {
        let running = self.running.iter().filter(|_| !is_running_over);
        let running = running.flat_map(|running| running.then.iter().cloned());
        let wanted = self.wanted.iter().filter_map(|(why, then)| Some((*why, then.clone()?)));
        running.chain(wanted).collect()
    }

    /// It goes on from a checkpoint after this step of the program, and that cost so much if it is known.
    pub(super) fn go_on(&mut self, step: u64, cost: Option<Duration>) {
        self.step = step;
        cost.into_iter().for_each(|cost| self.period.checkpoint(cost));
    }

    /// The checkpoint under way is over.
    pub(super) fn take_running(&mut self) -> Option<Running> {
        self.running.take()
    }
}

#[ext(CheckpointRootOnPe)]
pub impl Pe {
    /// The first period begins.
    fn begin_checkpoints(&self) {
        if let Some(checkpoints) = self.checkpoints().filter(|_| self.is_first()) {
            self.set_checkpoint_timer(checkpoints);
        }
    }

    fn set_checkpoint_timer(&self, checkpoints: &Checkpoints) {
        let period = match checkpoints.settings.every {
            CkptEvery::Time(period) if checkpoints.settings.renews => {
                Some(checkpoints.root.borrow().period.apart(period))
            }
            CkptEvery::Time(period) => Some(period),
            CkptEvery::Auto => Some(checkpoints.root.borrow().period.next(self.clock.now())),
            CkptEvery::Steps(_) => None,
        };
        self.timers.checkpoint.set(period.map(|period| self.clock.now() + period));
    }

    /// A period is over.
    fn on_checkpoint_timer(&self) {
        if let Some(checkpoints) = self.checkpoints() {
            self.on_checkpoint_request(checkpoints, Why::Period, None);
        }
    }

    /// Whether somebody waits here for a checkpoint: the job is not quiet then.
    fn is_checkpoint_waited_for(&self) -> bool {
        self.checkpoints().is_some_and(|checkpoints| checkpoints.root.borrow().is_waited_for())
    }

    /// A checkpoint is wanted: it begins, or waits for the end of the one under way.
    fn on_checkpoint_request(&self, checkpoints: &Checkpoints, why: Why, then: Option<Route>) {
        {
            let mut root = checkpoints.root.borrow_mut();
            match why {
                Why::Step(step) if step <= root.step => return,
                Why::Step(step) => root.step = step,
                Why::Period | Why::Request | Why::Asked { .. } | Why::Failure => {}
            }
            root.wanted.push((why, then));
        }
        self.checkpoint_if_wanted();
    }

    /// Begins a checkpoint that is wanted, unless one is under way, or a balancing step.
    fn checkpoint_if_wanted(&self) {
        let Some(checkpoints) = self.checkpoints() else { return };
        let (words, leaving) = {
            let mut root = checkpoints.root.borrow_mut();
            let Some(why) = root.wanted.iter().map(|(why, _)| *why).max() else { return };
            if root.running.is_some() || checkpoints.writing.is_waited_for() {
                return sometimes("a checkpoint was wanted while one was under way");
            }
            if self.is_balancing() {
                return sometimes("a checkpoint waited for the end of a balancing step");
            }
            let wanted = std::mem::take(&mut root.wanted);
            let asked = wanted.iter().filter(|(why, _)| matches!(why, Why::Asked { .. })).count() as u32;
            let on_disk = wanted.iter().any(|(why, _)| *why == Why::Asked { on_disk: true });
            let on_disk = on_disk && self.node.store.writes_what_is_asked_for();
            let then = wanted.into_iter().filter_map(|(why, then)| Some((why, then?))).collect();
            let (version, begun) = (checkpoints.version.get() + 1, self.clock.now());
            let words = self.words_of_copies(&root.leaving);
            let trigger = why.name(&checkpoints.settings);
            self.observe(|| Event::CheckpointBegins { version, trigger, on_disk, leaving: &root.leaving });
            root.running = Some(Running {
                version,
                why,
                then,
                asked,
                on_disk,
                leaving: root.leaving.clone(),
                begun,
                blocked: None,
            });
            (words, root.leaving.clone())
        };
        self.timers.checkpoint.set(None);
        self.begin_checkpoint(checkpoints, words, leaving);
    }

    /// How many words are to be heard before all parts are safe: in memory, whoever has a copy says so. Where PEs are made anew of their
    /// parts, only who has none says anything.
    fn words_of_copies(&self, leaving: &[NodeId]) -> u32 {
        let view = self.view();
        if self.checkpoints().is_some_and(|checkpoints| checkpoints.settings.renews) {
            return 1;
        }
        if leaving.is_empty() || !self.node.store.is_in_memory() {
            return view.pes();
        }
        // How many keepers a node has does not depend on hosts; one that is alone speaks for itself.
        let of_one = |node| view.of_nodes().keepers(node, leaving, |one| one).len().max(1) as u32;
        view.of_nodes().there().map(of_one).sum::<u32>() * self.node.shape.pes_per_node
    }

    /// How many of them are of the part of this PE.
    fn words_of_own_copies(&self, checkpoints: &Checkpoints) -> u32 {
        let is_said_once = checkpoints.settings.renews || !self.node.store.is_in_memory();
        if is_said_once || checkpoints.leaving.borrow().is_empty() {
            return 1;
        }
        self.keepers(checkpoints).len().max(1) as u32
    }

    /// All have taken their parts: the program goes on.
    fn note_blocked(&self, checkpoints: &Checkpoints, taken: Taken) {
        if let Some(running) = checkpoints.root.borrow_mut().running.as_mut().filter(|_| self.is_first()) {
            let (version, objects, bytes) = (running.version, taken.objects, taken.bytes);
            self.observe(|| Event::CheckpointTaken { version, objects, bytes });
            running.blocked = Some((self.clock.now().saturating_sub(running.begun), taken));
        }
    }

    /// The checkpoint under way is committed, or given up.
    fn end_checkpoint(&self, checkpoints: &Checkpoints, end: Result<Version, String>) {
        let done = checkpoints.root.borrow_mut().running.take();
        match (done, end) {
            (Some(done), Ok(_)) => self.account_for_commit(checkpoints, done),
            (Some(done), Err(wrong)) => self.account_for_failure(checkpoints, done, &wrong),
            (None, _) => {}
        }
    }

    /// The job goes on, and what it would go back to is the version before. Who waits for a checkpoint goes on waiting.
    fn account_for_failure(&self, checkpoints: &Checkpoints, done: Running, wrong: &str) {
        let version = done.version;
        // Who is to be released without it stays. Others may have been named since, for the next one.
        checkpoints.root.borrow_mut().leaving.retain(|node| !done.leaving.contains(node));
        self.node.job.answer(done.asked, Err(wrong.into()), None);
        let lacks = [NO_MEMORY, NO_MEMORY_FOR_COPY, NOT_WHOLE].iter().any(|why| wrong.ends_with(why));
        let goes_on = match lacks {
            true => {
                "The job goes on, degraded: the checkpoint before it stays, the next one is tried when it is due, and this is not \
                 said again until there is one"
            }
            false => {
                "The job goes on, and the checkpoint before it stays; the next one is tried when it is due"
            }
        };
        let is_known = lacks && std::mem::replace(&mut checkpoints.root.borrow_mut().lacks, true);
        if !is_known && !runs_again() {
            self.node
                .job
                .say(|| warn!(target: CHECKPOINT, "checkpoint {version} is given up: {wrong}. {goes_on}"));
        }
        let waiting = done.then.into_iter().map(|(why, then)| (why, Some(then)));
        checkpoints.root.borrow_mut().wanted.extend(waiting);
        if done.why == Why::Failure {
            // What is held but once is to be held twice, whoever else wants that.
            checkpoints.root.borrow_mut().wanted.push((Why::Failure, None));
        }
        self.set_checkpoint_timer(checkpoints);
        if !checkpoints.root.borrow().wanted.is_empty() {
            let (period, again) = (self.timers.checkpoint.get(), self.clock.now() + TRY_AGAIN);
            self.timers.checkpoint.set(Some(period.map_or(again, |period| period.min(again))));
        }
    }

    /// What the job goes back to is this version from now on.
    fn account_for_commit(&self, checkpoints: &Checkpoints, done: Running) {
        self.node.job.committed(done.version, self.all_contents(done.version));
        checkpoints.root.borrow_mut().lacks = false;
        let (blocked, taken) = done.blocked.unwrap_or_default();
        let took = self.clock.now().saturating_sub(done.begun);
        checkpoints.root.borrow_mut().account(took, blocked, self.time_beside(checkpoints));
        let idle = taken.run == std::mem::replace(&mut checkpoints.root.borrow_mut().run, taken.run);
        self.account_for_checkpoint(checkpoints, &done, blocked, taken);
        match done.on_disk {
            true => self.write(checkpoints, done.version, done.asked),
            false => self.node.job.answer(done.asked, Ok(done.version), None),
        }
        for (_, then) in done.then {
            self.route(&then, Packed::default());
        }
        self.set_checkpoint_timer(checkpoints);
        if idle && done.why == Why::Period {
            // Nobody has done anything for a whole period.
            self.suspect_stuck();
        }
        self.checkpoint_if_wanted();
    }

    /// What this PE has given so far, beside the time that it was blocked, to parts that are on disk, with its share of what the thread has
    /// that writes them; none in memory.
    fn time_beside(&self, checkpoints: &Checkpoints) -> Option<Duration> {
        let writing = self.node.store.time_to_write()?;
        Some(checkpoints.copies.takings.spent() + writing / self.node.shape.pes_per_node)
    }

    /// Tells the user of a checkpoint.
    fn account_for_checkpoint(
        &self,
        checkpoints: &Checkpoints,
        done: &Running,
        blocked: Duration,
        taken: Taken,
    ) {
        let took = self.clock.now().saturating_sub(done.begun);
        let checkpoint = CheckpointTaken {
            version: done.version,
            at_s: done.begun.as_secs_f64(),
            trigger: done.why.name(&checkpoints.settings).into(),
            objects: taken.objects,
            bytes: taken.bytes,
            blocked_s: blocked.as_secs_f64(),
            commit_s: took.as_secs_f64(),
        };
        if checkpoints.settings.logs {
            self.node.job.say(|| info!(target: CHECKPOINT, "{checkpoint}"));
        }
        self.node.job.took_checkpoint(checkpoint);
    }
}
