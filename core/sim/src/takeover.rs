//! A simulated job goes on without its launcher: the lowest node that is left leads it, with the real coordinator, made of what
//! the real node sessions of all nodes say. How they find it: [`super::seeking`].
//!
//! What is otherwise than in real processes: one that leads is stopped with its launcher, and dies with it; the launcher goes on when that
//! node has left.

use std::time::Duration;

use super::job::led;
use super::launcher::Launcher;
use super::process::{Process, Stage};
use super::trace::Who;
use super::world::{Event, World};
use talisman_control::connecting::Connecting;
use talisman_control::coordinator::Coordinator;
use talisman_control::event;
use talisman_control::exit_cause::{How, named};
use talisman_control::follower::{Follower, Followers};
use talisman_control::heritage::Heritage;
use talisman_control::kills::Kills;
use talisman_control::node_session::Action;
use talisman_control::protocol::{Stop, Task, ToLauncher};
use talisman_observe::sometimes::sometimes;

/// A node sees that its connection has ended: after between so many nanoseconds.
const END_NS: (u64, u64) = (10_000, 200_000);

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
        let action = process.node_session.borrow().on_end();
        if action != Action::Seek {
            if process.went.get() {
                self.flaw(format!("node {number}, whose program runs, looks for no other launcher"));
            }
            return self.kill(number);
        }
        process.seeks.set(true);
        self.say(Who::Node(number), "looks for another launcher");
        self.begin_search(process);
    }

    /// A node has heard nothing of its launcher for too long: that one is made to be gone.
    pub(super) fn fence_launcher(&self) {
        match self.leader.get() {
            // Who was to lead says nothing to one that it has let in, or is lost as well.
            _ if self.launcher.borrow().gone => self.heir().into_iter().for_each(|heir| self.kill(heir)),
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

    /// A node leads, and these follow.
    pub(super) fn lead_on(&self, own: u32, followers: &Followers) {
        sometimes("a simulated job went on without its launcher");
        self.end_those_that_do_not_follow(followers);
        // What was said until then may have been printed, by a launcher that nobody can ask any more.
        self.commit(followers.committed());
        let kills = Kills::new(&self.plan.kills, self.plan.chaos);
        let kills = kills.after(followers.running(), followers.steps().done);
        let plan = led(&self.plan, self.tasks[0].restart.clone(), kills.watched());
        let plan = self.with_spares_left(plan, followers.lives());
        let leader = named(own, followers.get(own).map(|follower| follower.pid), None);
        let coordinator = Coordinator::taking_over(plan.clone(), kills, &leader, followers);
        *self.launcher.borrow_mut() = Launcher::new(&plan, &self.plan.slots, coordinator);
        self.leader.set(Some(own));
        self.era.set(self.era.get() + 1);
        self.say(Who::Node(own), "leads");
        (plan.nodes..plan.nodes + plan.spares).for_each(|spare| self.wait_again(spare));
        for process in self.nodes.iter().filter(|process| followers.has(process.number)) {
            match process.is_gone() {
                false => self.follow(process),
                // It was let in, and has ended since.
                true => self.tell(process.number, event::Event::Ended(How::Vanished)),
            }
        }
        self.lead(|launcher, now, deeds| launcher.on_time(now, None, deeds));
        self.plan(self.now(), Event::Look);
    }

    /// Whoever knows nothing ends with the launcher that has started it. All others were waited for.
    fn end_those_that_do_not_follow(&self, followers: &Followers) {
        let is_left = |process: &&Process| !process.is_gone() && !followers.has(process.number);
        for process in self.nodes.iter().filter(is_left) {
            if process.went.get() {
                self.flaw(format!("node {}, whose program runs, was not waited for", process.number));
            }
            self.kill(process.number);
        }
    }

    /// Processes that waited have ended with their launcher: as many will, but for those that may have become nodes.
    fn with_spares_left(
        &self,
        plan: talisman_control::plan::Plan,
        lives: u64,
    ) -> talisman_control::plan::Plan {
        let spares = plan.spares.saturating_sub(u32::try_from(lives).unwrap_or(u32::MAX));
        talisman_control::plan::Plan { spares, spare_hosts: vec![0; spares as usize], ..plan }
    }

    /// What is not said by the node session.
    pub(super) fn follower(&self, process: &Process) -> Follower {
        let follower = process.node_session.borrow().follower(process.pid()).expect("who looks has joined");
        let (steps, seen) = (process.job.progress(), process.job.seen());
        Follower { steps, seen, running: Duration::from_nanos(self.now()), ..follower }
    }

    /// It has found its launcher, and says once more what the former one may not have passed on.
    pub(super) fn follow(&self, process: &Process) {
        process.seeks.set(false);
        process.node_session.borrow_mut().on_successor();
        let failed = process.job.how_it_ended().filter(|end| end.status != 0);
        let ended = failed.map(|end| ToLauncher::Ended(Stop { status: end.status, message: end.message }));
        let complaints = process.connecting.borrow().as_ref().map(Connecting::complaints).unwrap_or_default();
        let complaints = complaints.into_iter().map(|(node, why)| ToLauncher::Suspect { node, why });
        let done = process.lives.report().map(|report| ToLauncher::Done(report.into()));
        ended
            .into_iter()
            .chain(complaints)
            .chain(done)
            .for_each(|message| self.tell_launcher(process.number, message));
    }
}
