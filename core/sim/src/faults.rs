//! What goes wrong, and when it is over.

use std::cell::Cell;

use super::control_messages::Letter;
use super::disks::NodeDisk;
use super::fault::{Asked, Fault, What, When};
use super::process::{Death, Stage};
use super::trace::Who;
use super::world::{Event, World};
use talisman_store::disk::DiskRates;

/// Faults that strike at an event or step of a certain number, the next one last.
#[derive(Default)]
pub(super) struct Faults {
    at_events: Vec<(u64, usize)>,
    at_steps: Vec<(u64, usize)>,
    /// Those that strike so long after the program has ended.
    after_end: Vec<(u64, usize)>,
    /// Those that strike so long after another one, which is first.
    after: Vec<(usize, u64, usize)>,
}

impl Faults {
    fn take_due(&mut self, events: u64, step: u64) -> Option<usize> {
        let due = self.at_events.pop_if(|(event, _)| *event <= events);
        due.or_else(|| self.at_steps.pop_if(|(at, _)| *at <= step)).map(|(_, number)| number)
    }
}

impl World {
    pub(super) fn plan_faults(&self) {
        let (mut at_events, mut at_steps) = (Vec::new(), Vec::new());
        let (mut after_end, mut after) = (Vec::new(), Vec::new());
        for (number, Fault { when, .. }) in self.plan.faults.iter().enumerate() {
            match *when {
                When::At(at) => self.plan(at, Event::Fault(number)),
                When::Event(event) => at_events.push((event, number)),
                When::Step(step) => at_steps.push((step, number)),
                When::AfterEnd(ns) => after_end.push((ns, number)),
                When::After(other, ns) => after.push((other, ns, number)),
            }
        }
        [&mut at_events, &mut at_steps].into_iter().for_each(|list| list.sort_unstable_by(|a, b| b.cmp(a)));
        *self.faults.borrow_mut() = Faults { at_events, at_steps, after_end, after };
        if self.plan.healed_ns > 0 {
            self.plan(self.plan.healed_ns, Event::Heal);
        }
    }

    /// A node says that the program has ended: what was to strike after that is planned, if this is the first to say so.
    pub(super) fn plan_faults_after_end(&self) {
        let after_end = std::mem::take(&mut self.faults.borrow_mut().after_end);
        after_end.into_iter().for_each(|(ns, number)| self.plan(self.now() + ns, Event::Fault(number)));
    }

    /// Faults whose event, or step, is next.
    pub(super) fn strike_before(&self, step: u64) {
        let events = self.trace.borrow().events();
        loop {
            let due = self.faults.borrow_mut().take_due(events, step);
            let Some(number) = due else { return };
            self.strike(number);
        }
    }

    pub(super) fn strike(&self, number: usize) {
        for &(_, ns, next) in self.faults.borrow().after.iter().filter(|(other, ..)| *other == number) {
            self.plan(self.now() + ns, Event::Fault(next));
        }
        let what = self.plan.faults[number].what.clone();
        if self.is_healed() || self.launcher.borrow().is_over() {
            return;
        }
        *self.injected.borrow_mut().entry(what.kind()).or_default() += 1;
        if !matches!(what, What::Ask(_)) {
            self.hurt.borrow_mut().push((self.now(), what.clone()));
        }
        self.say(Who::Launcher, format_args!("fault {number}: {what:?}"));
        let lasts = self.hit(&what);
        if lasts > 0 {
            self.plan(self.now() + lasts, Event::Over(number));
        }
    }

    /// How long it lasts, if it does not last for ever.
    fn hit(&self, what: &What) -> u64 {
        let now = self.now();
        match *what {
            What::Crash { node } => {
                self.cut_short(node);
                self.kill(node);
            }
            What::CrashAmid { node, kept_ppm } => self.nodes[node as usize].dies_amid.set(Some(kept_ppm)),
            What::CrashReset { node } => {
                self.cut_short(node);
                self.break_down(node);
            }
            What::Terminate { node } => self.terminate(node),
            What::HostLoss { host } => self.lose_host(host),
            What::Impostor { node, with_disk } => self.send_impostor(node, with_disk),
            What::Restart { node, after_ns, with_disk } => {
                self.cut_short(node);
                self.kill(node);
                self.plan(now + after_ns, Event::Return(node, with_disk));
            }
            What::Stop { node, for_ns } => stop(&self.nodes[node as usize].stopped_until, now + for_ns),
            What::Slow { node, times, for_ns } => self.nodes[node as usize].slow.set((times, now + for_ns)),
            What::Reset { one, other } => {
                self.with_network(|network, now, planned| network.reset(now, one, other, planned));
            }
            What::Cut { ref from, ref to, for_ns } => {
                self.network.borrow_mut().cut(from, to);
                return for_ns;
            }
            What::Alter { from, to } => self.network.borrow_mut().alter_next(from, to),
            What::Truncate { from, to } => self.network.borrow_mut().truncate_next(from, to),
            What::LauncherLoss if self.plan.has_heirs() => self.fence_launcher(),
            What::LauncherLoss if self.plan.passes_on() => self.kill_launcher(),
            What::LauncherLoss => self.lose_launcher(),
            What::LauncherStop { for_ns } => self.stop_launcher(now + for_ns),
            What::ClockJump { node, by_ns } => self.nodes[node as usize].clock.jump(now, by_ns),
            What::Crowd { node, strangers, for_ns } => {
                self.send_crowd(node, strangers, for_ns);
                if self.plan.passes_on() {
                    self.send_crowd_to_door(self.nodes[node as usize].host, strangers, for_ns);
                }
            }
            What::DiskHang { node, for_ns } => {
                self.nodes[node as usize]
                    .lives
                    .node_disk
                    .iter()
                    .for_each(|node_disk| node_disk.hang(now + for_ns));
            }
            What::Ask(asked) => {
                if let Asked::Shrink(node) = asked {
                    self.to_leave.borrow_mut().push(node);
                }
                self.post(Letter::Asked(asked));
            }
            What::ClockDrift { node, ppm } => self.nodes[node as usize].clock.drift(now, ppm),
        }
        0
    }

    pub(super) fn relent(&self, number: usize) {
        if let What::Cut { from, to, .. } = &self.plan.faults[number].what
            && !self.is_healed()
        {
            self.say(Who::Launcher, format_args!("fault {number} is over"));
            self.with_network(|network, now, planned| network.mend(now, from, to, planned));
        }
    }

    /// Nothing goes wrong from now on.
    pub(super) fn heal(&self) {
        self.say(Who::Launcher, "nothing goes wrong from now on");
        self.with_network(|network, now, planned| network.heal(now, planned));
        for node in self.nodes.iter() {
            node.slow.set((1, 0));
            node.diary.borrow_mut().heal();
            node.lives.node_disk.iter().for_each(NodeDisk::heal);
        }
    }

    /// What goes wrong on disks by now.
    pub(super) fn disk_rates(&self) -> DiskRates {
        if self.is_healed() { DiskRates::default() } else { self.plan.disk }
    }

    fn is_healed(&self) -> bool {
        self.plan.healed_ns > 0 && self.now() >= self.plan.healed_ns
    }

    /// A node is about to die: a job whose program has ended is none that ended well, unless it has said all.
    pub(super) fn cut_short(&self, node: u32) {
        if self.nodes[node as usize].stage.get() == Stage::Up {
            self.cut_short.borrow_mut().push(node);
        }
    }

    fn lose_host(&self, host: u32) {
        self.with_network(|network, now, planned| network.lose_host(now, host, planned));
        self.silence_agent(host);
        for node in self.nodes_of(host).collect::<Vec<_>>() {
            self.cut_short(node);
            self.vanish(node, Death::Killed);
            self.nodes[node as usize].impostor.set(false);
            self.nodes[node as usize].diary.borrow_mut().lose_power();
            self.nodes[node as usize].lives.node_disk.iter().for_each(NodeDisk::lose_power);
        }
        if self.plan.passes_on() {
            self.lose_host_of_succession(host);
        } else if host == 0 {
            self.launcher.borrow_mut().gone = true;
            self.unlead();
        }
    }

    /// The launcher is killed: the system ends the nodes of its host, and its connections with agents.
    fn lose_launcher(&self) {
        self.launcher.borrow_mut().gone = true;
        for node in self.nodes_of(0) {
            self.plan(self.now() + self.between((10_000, 200_000)), Event::Killed(node));
        }
        self.unlead();
    }
}

/// Stops until then whoever may be stopped for longer already: what it was sent meanwhile waits for the later time, and
/// nothing that comes after may be taken in before.
pub(super) fn stop(stopped_until: &Cell<u64>, until: u64) {
    stopped_until.set(stopped_until.get().max(until));
}
