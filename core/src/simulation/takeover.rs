//! A simulated job goes on without its launcher: the lowest node that is left leads it, with the real conductor, made of what
//! the real attendances of all nodes say.
//!
//! What is otherwise than in real processes: nodes do not connect with each other to find out who lives, as the world knows. One that
//! leads is stopped with its launcher, and dies with it; the launcher goes on when that node has left.

use std::time::Duration;

use super::job::led;
use super::launcher::Launcher;
use super::process::{Process, Stage};
use super::trace::Who;
use super::world::{Event, World};
use crate::cluster;
use crate::cluster::attendance::Action;
use crate::cluster::conductor::Conductor;
use crate::cluster::control::{Stop, Task, ToLauncher};
use crate::cluster::fate::named;
use crate::cluster::kills::Kills;
use crate::cluster::takeover::follower::{Follower, Followers};
use crate::cluster::takeover::streams::Heritage;
use crate::run::connecting::Connecting;
use crate::sometimes::sometimes;

/// A node sees that its connection has ended: after between so many nanoseconds.
const END_NS: (u64, u64) = (10_000, 200_000);
/// Until all that are left have found whom to follow: between these.
const SEARCH_NS: (u64, u64) = (50_000, 1_000_000);
/// As long as somebody is missing it is looked again after so long.
const AGAIN_NS: u64 = 10_000_000;

impl World {
    /// What a node is told, with what it needs to do without the launcher.
    pub(super) fn with_heritage(&self, task: Box<Task>) -> Box<Task> {
        let heritage =
            Heritage { streams: [0; 2], spool: None, doors: 0, pipes: [0; 2], launcher: 0, pledge: None };
        let heritage = self.plan.has_heirs().then_some(heritage);
        Box::new(Task { heritage, ..*task })
    }

    /// The launcher is killed. What it has said still comes, and nobody hears what it is told.
    pub(super) fn orphan(&self) {
        self.launcher.borrow_mut().gone = true;
        self.leader.set(None);
        self.orphaned_at.set(self.now());
        self.era.set(self.era.get() + 1);
        for process in self.nodes.iter().filter(|process| !process.is_gone()) {
            process.seeks.set(false);
            let all_heard = self.post.borrow().last_to(process.number);
            let at = all_heard.max(self.now() + self.between(END_NS)) + 1;
            self.plan(at, Event::Orphaned(process.number));
        }
    }

    /// A node's connection with its launcher has ended.
    pub(super) fn on_orphaned(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if matches!(process.stage.get(), Stage::Leaving | Stage::Gone) || !self.launcher.borrow().gone {
            return;
        }
        let action = process.attendance.borrow().on_end();
        if action != Action::Seek {
            if process.went.get() {
                self.flaw(format!("node {number}, whose program runs, looks for no other launcher"));
            }
            return self.kill(number);
        }
        process.seeks.set(true);
        self.say(Who::Node(number), "looks for another launcher");
        self.plan(self.now() + self.between(SEARCH_NS), Event::Succeed);
    }

    /// A node has heard nothing of its launcher for too long: that one is made to be gone.
    pub(super) fn fence_launcher(&self) {
        match self.leader.get() {
            _ if self.launcher.borrow().gone => {}
            Some(leader) => self.kill(leader),
            None => self.orphan(),
        }
    }

    /// Whoever leads dies: so does the launcher.
    pub(super) fn lose_leader(&self, number: u32) {
        if self.leader.get() == Some(number) && !self.launcher.borrow().is_over() {
            self.orphan();
        }
    }

    /// Whoever leads has left, or was let go: its process still leads, and is no node any more.
    pub(super) fn lead_without(&self, number: u32) {
        if self.leader.get() == Some(number) {
            self.leader.set(None);
            self.launcher_stopped_until.set(0);
        }
    }

    /// All that are left look for a launcher: the lowest of them leads. Who does not come in time is killed.
    pub(super) fn succeed(&self) {
        if !self.launcher.borrow().gone {
            return;
        }
        let is_missing = |process: &&Process| !process.is_gone() && !process.seeks.get();
        let missing: Vec<u32> = self.nodes.iter().filter(is_missing).map(|process| process.number).collect();
        if missing.is_empty() {
            return self.lead_on();
        }
        if self.now() > self.orphaned_at.get() + self.plan.silence.as_nanos() as u64 {
            missing.into_iter().for_each(|number| self.kill(number));
        }
        self.plan(self.now() + AGAIN_NS, Event::Succeed);
    }

    /// Whether nobody will ever do anything again: whoever is left and knows anything is stopped for good, and so is whoever leads, unless nobody does. Those who
    /// survive a launcher are killed by whoever takes its place, and by nobody else, so in reality their processes stay, stopped, until somebody
    /// kills them who is not of the job. Here that comes to pass at once: there is nothing that the job might do, or fail to do.
    pub(super) fn end_if_forsaken(&self) {
        let is_for_good = |until: u64| until > self.plan.patience_ns;
        let is_led = !self.launcher.borrow().gone && !is_for_good(self.launcher_stopped_until());
        if is_led || !self.plan.has_heirs() {
            return;
        }
        let left = || self.nodes.iter().filter(|process| !process.is_gone());
        let is_stopped = |process: &Process| is_for_good(process.stopped_until.get());
        // One that was to come in a lost node's place, and has not been told by whoever leads what it is to do.
        let knows_nothing = |process: &Process| process.identity.borrow().is_none();
        if left().any(is_stopped) && left().all(|process| is_stopped(process) || knows_nothing(process)) {
            self.launcher.borrow_mut().gone = true;
            left().for_each(|process| self.kill(process.number));
        }
    }

    /// The job is over. If it has no launcher, nobody is left who looked for one, unless by what happened to whoever did.
    pub(super) fn judge_orphans(&self) {
        let hurt = self.hurt.borrow();
        // The second time it was a node that led.
        let led = hurt.iter().filter(|(_, what)| what.is_of_launcher()).count() > 1;
        let was_hit = |process: &Process| led || hurt.iter().any(|(_, what)| what.may_end(process.number));
        let in_vain = |process: &&Process| process.seeks.get() && !was_hit(process);
        for process in self.nodes.iter().filter(|_| self.launcher.borrow().gone).filter(in_vain) {
            self.flaw(format!("node {} looked for another launcher, and nobody led", process.number));
        }
    }

    fn lead_on(&self) {
        let left = || self.nodes.iter().filter(|process| !process.is_gone());
        let Some(own) = left().map(|process| process.number).next() else { return };
        sometimes("a simulated job went on without its launcher");
        let mut followers = Followers::default();
        left().for_each(|process| followers.add(self.follower(process)));
        // What they went back to may have been printed from, by a launcher that nobody can ask any more.
        self.commit(followers.gone_back_to());
        let kills = Kills::new(&self.plan.kills, self.plan.chaos);
        let kills = kills.after(followers.running(), followers.steps().done);
        let plan = led(&self.plan, self.tasks[0].restart.clone(), kills.watched());
        let plan = self.with_spares_left(plan, followers.lives());
        let leader = named(own, followers.get(own).map(|follower| follower.pid), None);
        let conductor = Conductor::taking_over(plan.clone(), kills, &leader, &followers);
        *self.launcher.borrow_mut() = Launcher::new(&plan, &self.plan.slots, conductor);
        self.leader.set(Some(own));
        self.era.set(self.era.get() + 1);
        self.say(Who::Node(own), "leads");
        (plan.nodes..plan.nodes + plan.spares).for_each(|spare| self.wait_again(spare));
        left().for_each(|process| self.follow(process));
        self.lead(|launcher, now, deeds| launcher.on_time(now, None, deeds));
        self.plan(self.now(), Event::Look);
    }

    /// Processes that waited have ended with their launcher: as many will, but for those that may have become nodes.
    fn with_spares_left(&self, plan: cluster::plan::Plan, lives: u64) -> cluster::plan::Plan {
        let spares = plan.spares.saturating_sub(u32::try_from(lives).unwrap_or(u32::MAX));
        cluster::plan::Plan { spares, spare_hosts: vec![0; spares as usize], ..plan }
    }

    /// What is not said by attendance.
    fn follower(&self, process: &Process) -> Follower {
        let follower = process.attendance.borrow().follower(process.pid()).expect("who looks has joined");
        let (steps, seen) = (process.job.progress(), process.job.seen());
        Follower { steps, seen, running: Duration::from_nanos(self.now()), ..follower }
    }

    /// It has found its launcher, and says once more what the former one may not have passed on.
    fn follow(&self, process: &Process) {
        process.seeks.set(false);
        process.attendance.borrow_mut().on_successor();
        let failed = process.job.how_it_ended().filter(|end| end.status != 0);
        let ended = failed.map(|end| ToLauncher::Ended(Stop { status: end.status, message: end.message }));
        let complaints = process.connecting.borrow().as_ref().map(Connecting::complaints).unwrap_or_default();
        let complaints = complaints.into_iter().map(|(node, why)| ToLauncher::Suspect { node, why });
        let done = process.lives.report().map(ToLauncher::Done);
        ended
            .into_iter()
            .chain(complaints)
            .chain(done)
            .for_each(|message| self.tell_launcher(process.number, message));
    }
}
