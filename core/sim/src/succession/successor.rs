//! The process that takes the launcher's place in a simulated world: it waits for the agents of all hosts that may be left, counts them, asks their
//! nodes what they are, and leads.

use std::collections::{BTreeMap, BTreeSet};

use super::{Step, World, host_at};
use crate::control_messages::Letter;
use crate::job::led;
use crate::launcher::Launcher;
use crate::process::Stage;
use crate::succession::doors::Word;
use crate::trace::Who;
use crate::world::{Event, START_NS, TICK_NS};
use talisman_cluster::succession::estate::Orphan;
use talisman_control::coordinator::Coordinator;
use talisman_control::event;
use talisman_control::kills::Kills;
use talisman_control::protocol::{ToLauncher, ToNode};
use talisman_control::succession::election::{Due, Election, Introductions};
use talisman_control::succession::quorum::{Register, Roll};
use talisman_job::Results;
use talisman_observe::sometimes::sometimes;

/// A process that is to lead, and does not yet.
pub(super) struct Successor {
    pub(super) era: u32,
    stage: At,
}

enum At {
    /// Agents come.
    Election(Election<Come>),
    /// Nodes are asked.
    Nodes(Box<Asking>),
    /// It is about to lead, or to end.
    Over,
}

/// An agent that has come, by this visit.
struct Come {
    visit: u64,
    orphan: Orphan,
}

/// Nodes that are asked.
struct Asking {
    asked: Introductions,
    register: Register,
    /// The nodes of each host that are left.
    left: BTreeMap<u32, Vec<u32>>,
    settled: Option<Results>,
    unheard: Option<std::time::Duration>,
    /// What has happened since to nodes that have answered.
    kept: Vec<Letter>,
}

impl World {
    /// The agent of a host starts a process that is to lead.
    pub(super) fn start_successor(&self, host: u32, roll: Roll) {
        self.clear_door(host);
        let era = {
            let mut succession = self.succession.borrow_mut();
            succession.last_era = succession.last_era.max(self.era.get()) + 1;
            let era = succession.last_era;
            succession.acting.insert(era, host);
            let muster = Election::new(host, roll, self.plan.silence);
            succession.successors.insert(host, Successor { era, stage: At::Election(muster) });
            era
        };
        self.say(Who::Launcher, format_args!("host {host} starts a process that leads, of era {era}"));
        self.plan_step(self.now() + self.between(START_NS), Step::Election(host, era));
    }

    /// It ends without having led: those that follow it see that.
    pub(super) fn end_successor(&self, host: u32) {
        let ended = self.succession.borrow_mut().successors.remove(&host);
        if let Some(Successor { era, .. }) = ended {
            sometimes("a process that was to lead ended before it did");
            self.say(Who::Launcher, format_args!("the process of era {era} on host {host} ends"));
            self.clear_door(host);
            self.hang_up(era);
        }
    }

    fn with_muster<R>(&self, host: u32, era: u32, f: impl FnOnce(&mut Election<Come>) -> R) -> Option<R> {
        let mut succession = self.succession.borrow_mut();
        let successor = succession.successors.get_mut(&host).filter(|successor| successor.era == era)?;
        let At::Election(muster) = &mut successor.stage else { return None };
        Some(f(muster))
    }

    fn with_asking<R>(&self, host: u32, era: u32, f: impl FnOnce(&mut Asking) -> R) -> Option<R> {
        let mut succession = self.succession.borrow_mut();
        let successor = succession.successors.get_mut(&host).filter(|successor| successor.era == era)?;
        let At::Nodes(asking) = &mut successor.stage else { return None };
        Some(f(asking))
    }

    fn era_on(&self, host: u32) -> Option<u32> {
        self.succession.borrow().successors.get(&host).map(|successor| successor.era)
    }

    /// The agent of a host has come in; if it comes too late it is lost.
    pub(super) fn on_come_to_successor(&self, from: u32, host: u32, visit: u64) {
        let Some((era, orphan)) = self.era_on(host).zip(self.orphan_of(from)) else { return };
        let is_in_time = self.with_muster(host, era, |muster| {
            muster.on_roll(&orphan.roll);
            muster.on_come(from, Come { visit, orphan });
        });
        match is_in_time {
            Some(()) => {
                self.say_at_door(visit, Word::Leads(era));
                self.conclude_if_complete(host, era);
            }
            None => self.say_at_door(visit, Word::Out),
        }
    }

    /// A tick of it.
    pub(super) fn on_muster(&self, host: u32, era: u32) {
        if self.era_on(host) != Some(era) {
            return;
        }
        self.plan_step(self.now() + TICK_NS, Step::Election(host, era));
        if let Some(due) = self.with_asking(host, era, |asking| asking.asked.on_tick()) {
            return self.ask_on(host, era, due);
        }
        let come = self.with_muster(host, era, |muster| {
            muster.come.iter().map(|(rank, come)| (*rank, come.visit)).collect::<Vec<_>>()
        });
        for (rank, visit) in come.into_iter().flatten() {
            match self.follows(rank) == Some(era) {
                true => self.post_in(era, Letter::Ping(rank)),
                false if self.is_there(visit) => self.say_at_door(visit, Word::Leads(era)),
                false => drop(self.with_muster(host, era, |muster| muster.come.remove(&rank))),
            }
        }
        let doubtful = self.with_muster(host, era, |muster| muster.doubtful()).unwrap_or_default();
        for (rank, door) in doubtful {
            if !self.listens(host_at(door))
                && let Some(at) = self.there_and_back(host, rank)
            {
                self.plan_step(at, Step::Dead(host, era, rank));
            }
        }
        match self.with_muster(host, era, Election::on_tick) {
            Some(true) => self.conclude(host, era),
            _ => self.conclude_if_complete(host, era),
        }
    }

    /// Nobody waits for the dead.
    pub(super) fn on_proved_dead(&self, host: u32, era: u32, rank: u32) {
        self.with_muster(host, era, |muster| muster.on_dead(rank));
        self.conclude_if_complete(host, era);
    }

    fn conclude_if_complete(&self, host: u32, era: u32) {
        if self.with_muster(host, era, |muster| muster.is_complete()) == Some(true) {
            self.conclude(host, era);
        }
    }

    /// All that may be left have come, or time is up.
    fn conclude(&self, host: u32, era: u32) {
        let stage = {
            let mut succession = self.succession.borrow_mut();
            let successor = succession.successors.get_mut(&host).filter(|successor| successor.era == era);
            successor.map(|successor| std::mem::replace(&mut successor.stage, At::Over))
        };
        let Some(At::Election(muster)) = stage else { return };
        if let Err(alone) = muster.may_go_on(|come| come.orphan.has_begun) {
            self.say(Who::Launcher, format_args!("the process of era {era} does not lead: {alone}"));
            sometimes("too few hosts were left to go on without their launcher");
            for (rank, come) in &muster.come {
                match self.follows(*rank) == Some(era) {
                    true => self.post_in(era, Letter::Out(*rank)),
                    false => self.say_at_door(come.visit, Word::Out),
                }
            }
            self.succession.borrow_mut().successors.remove(&host);
            return;
        }
        self.judge_left_out(&muster.come.keys().copied().collect(), era);
        let settled = muster.come.values().find_map(|come| come.orphan.settled.clone());
        let unheard = muster.come.values().map(|come| come.orphan.unheard).min();
        let left: BTreeMap<u32, Vec<u32>> =
            muster.come.iter().map(|(rank, come)| (*rank, come.orphan.nodes.clone())).collect();
        let (register, first) = Register::going_on(host, muster.here(), muster.dead, muster.roll);
        let missing: BTreeSet<u32> = left.values().flatten().copied().collect();
        self.say(Who::Launcher, format_args!("the process of era {era} asks nodes {missing:?}"));
        let asked = Introductions::new(missing.clone(), self.plan.silence);
        let asking = Asking { asked, register, left, settled, unheard, kept: Vec::new() };
        if let Some(successor) = self.succession.borrow_mut().successors.get_mut(&host) {
            successor.stage = At::Nodes(Box::new(asking));
        }
        self.tell_roll(era, &first);
        missing.iter().for_each(|node| self.post_in(era, Letter::ToNode(*node, ToNode::Introduce)));
        self.lead_if_all_have_answered(host, era);
    }

    /// Something comes to it from hosts.
    pub(super) fn on_letter_to_successor(&self, era: u32, letter: Letter) {
        let host = self.launcher_host(era);
        if self.era_on(host) != Some(era) {
            return;
        }
        match letter {
            Letter::Enrolled(rank, number) => {
                self.with_asking(host, era, |asking| asking.register.on_enrolled(rank, number));
            }
            Letter::AreYouThere(rank, number) => self.post_in(era, Letter::Here(rank, number)),
            Letter::Happened(_, node, ref event) => {
                self.with_asking(host, era, |asking| match event {
                    event::Event::Said(ToLauncher::Follow(follower))
                        if asking.asked.missing().contains(&node) =>
                    {
                        asking.asked.on_follow(node, (**follower).clone());
                    }
                    _ if asking.asked.followers.has(node) => asking.kept.push(letter.clone()),
                    event::Event::Ended(_) | event::Event::Lost(_) | event::Event::NotStarted(_) => {
                        asking.asked.on_end(node);
                    }
                    _ => {}
                });
                self.lead_if_all_have_answered(host, era);
            }
            _ => {}
        }
    }

    fn ask_on(&self, host: u32, era: u32, due: Due) {
        let asked = self.with_asking(host, era, |asking| {
            (asking.asked.missing().clone(), asking.left.keys().copied().collect::<Vec<_>>())
        });
        let Some((missing, hosts)) = asked else { return };
        hosts.into_iter().for_each(|rank| self.post_in(era, Letter::Ping(rank)));
        match due {
            Due::Nothing => {}
            Due::Kill => missing.into_iter().for_each(|node| {
                sometimes("a node that did not introduce itself to the next launcher was killed");
                self.post_in(era, Letter::Kill(node));
            }),
            Due::Leave => self.lead_over_hosts(host, era),
        }
    }

    fn lead_if_all_have_answered(&self, host: u32, era: u32) {
        if self.with_asking(host, era, |asking| asking.asked.missing().is_empty()) == Some(true) {
            self.lead_over_hosts(host, era);
        }
    }

    /// It leads.
    fn lead_over_hosts(&self, host: u32, era: u32) {
        let successor = self.succession.borrow_mut().successors.remove(&host);
        let Some(Successor { stage: At::Nodes(asking), .. }) = successor else { return };
        let Asking { asked, register, left, settled, unheard, kept } = *asking;
        let mut followers = asked.followers;
        settled.into_iter().for_each(|results| followers.settle(results));
        unheard.into_iter().for_each(|unheard| followers.missed_by_hosts(unheard));
        if followers.is_empty() && followers.settled().is_none() {
            self.say(Who::Launcher, format_args!("the process of era {era} does not lead: no node is left"));
            return self.hang_up(era);
        }
        self.judge_second_leader(host);
        sometimes("a simulated job of several hosts went on without its launcher");
        self.commit(followers.committed());
        let is_unled =
            |node: u32| left.values().flatten().any(|other| *other == node) && !followers.has(node);
        let kills = Kills::new(&self.plan.kills, self.plan.chaos);
        let kills = kills.after(followers.running(), followers.steps().done);
        let plan = led(&self.plan, self.tasks[0].restart.clone(), kills.watched());
        let plan = talisman_control::plan::Plan { spares: 0, spare_hosts: Vec::new(), ..plan };
        let leader = format!("process {era} on the host host{host}");
        let coordinator = Coordinator::taking_over(plan.clone(), kills, &leader, &followers);
        *self.launcher.borrow_mut() = Launcher::attached(&plan, &self.plan.slots, coordinator, &left);
        self.era.set(era);
        self.launcher_stopped_until.set(0);
        self.succession.borrow_mut().register = Some(register);
        self.is_led_again();
        self.say(Who::Launcher, format_args!("leads from host {host} in era {era}"));
        for process in self.nodes.iter().filter(|process| !process.is_gone()) {
            if is_unled(process.number) || process.stage.get() == Stage::Planned {
                self.kill(process.number);
            }
        }
        self.lead(|launcher, now, deeds| launcher.on_time(now, None, deeds));
        self.plan(self.now(), Event::Look);
        left.keys()
            .for_each(|rank| self.plan_step(self.now() + self.between((1, TICK_NS)), Step::Beat(era, *rank)));
        kept.into_iter().for_each(|letter| self.on_letter_between_hosts(era, letter));
    }
}
