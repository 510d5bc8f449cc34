//! What the agent of a simulated host does when its launcher is gone, and about those that come to it.

use std::collections::BTreeSet;
use std::time::Duration;

use super::doors::{Source, Word};
use super::{Step, World, host_at};
use crate::control_messages::Letter;
use crate::process::Stage;
use crate::trace::Who;
use crate::world::TICK_NS;
use talisman_cluster::succession::door::LIMITS;
use talisman_cluster::succession::estate::Orphan;
use talisman_control::event;
use talisman_control::exit_cause::How;
use talisman_control::heartbeat::Heartbeat;
use talisman_control::protocol::ToNode;
use talisman_control::succession::discovery::{self, Answer, Discovery};
use talisman_control::succession::inquiries::Inquiries;
use talisman_control::succession::quorum::Roll;
use talisman_job::Results;
use talisman_observe::sometimes::sometimes;
use talisman_transport::admission::Admission;

/// It may take a moment until somebody listens, or is refused.
const PAUSE_NS: u64 = 20_000_000;
/// So many processes are started on a host at most, one after the other, that lead the job.
const LEADS: u32 = 32;

/// What an agent has for the case that it loses its launcher.
pub(super) struct Heir {
    /// The era of the launcher that it has.
    pub(super) follows: Option<u32>,
    heartbeat: Heartbeat,
    roll: Option<Roll>,
    /// Nodes whose program has begun.
    begun: BTreeSet<u32>,
    has_begun: bool,
    pub(super) settled: Option<Results>,
    /// Whether it lets anybody in: not while a process that it has started is to, and until it knows that this has ended.
    pub(super) listens: bool,
    /// Those that have come here.
    pub(super) callers: Inquiries<u64>,
    /// Those at the door that are being authenticated.
    pub(super) admission: Admission<Source>,
    /// Its search, if it has no launcher.
    seeks: Option<Seeks>,
    /// Nodes that have ended since it began that, of which the next launcher is to be told.
    untold: Option<Vec<u32>>,
    turn: u32,
    led: u32,
}

/// A search.
struct Seeks {
    quest: Discovery,
    orphan: Orphan,
    /// Whose door it tries, and since when.
    visit: Option<(u64, u64)>,
}

impl Heir {
    /// Of an agent that follows the first launcher.
    pub(super) fn new(silence: Duration) -> Self {
        Heir {
            follows: Some(0),
            heartbeat: Heartbeat::new(silence),
            roll: None,
            begun: BTreeSet::new(),
            has_begun: false,
            settled: None,
            listens: true,
            callers: Inquiries::default(),
            admission: Admission::new(LIMITS),
            seeks: None,
            untold: None,
            turn: 0,
            led: 0,
        }
    }

    /// It is no more.
    pub(super) fn end(&mut self) {
        (self.follows, self.seeks) = (None, None);
        self.callers.clear();
    }

    /// A node has ended; whether that is kept for the next launcher.
    pub(super) fn on_end(&mut self, node: u32) -> bool {
        let was_there = self.begun.remove(&node);
        match &mut self.untold {
            Some(untold) if was_there => untold.push(node),
            Some(_) => {}
            None => return false,
        }
        true
    }

    /// Whether it may yet say how the job has ended, when all its nodes have, and the launcher of this era is gone.
    pub(super) fn knows_the_end(&self, era: u32) -> bool {
        let looks = self.seeks.is_some() || self.follows.is_some_and(|follows| follows != era);
        self.settled.is_some() && looks
    }
}

impl World {
    fn with_heir<R>(&self, host: u32, f: impl FnOnce(&mut Heir) -> R) -> Option<R> {
        self.succession.borrow_mut().heirs.get_mut(&host).map(f)
    }

    /// The launcher says something to an agent.
    pub(super) fn on_letter_to_agent(&self, host: u32, letter: Letter) {
        self.with_heir(host, |heir| heir.heartbeat.heard());
        match &letter {
            Letter::ToNode(node, _) if Self::is_go(&letter) => {
                self.with_heir(host, |heir| {
                    heir.begun.insert(*node);
                    heir.has_begun = true;
                });
            }
            Letter::ToNode(_, ToNode::Settle(results)) => {
                self.with_heir(host, |heir| heir.settled = Some(results.clone()));
            }
            Letter::Roll(_, roll) => {
                let number = roll.number;
                self.with_heir(host, |heir| heir.roll = Some(roll.clone()));
                return self.post(Letter::Enrolled(host, number));
            }
            Letter::Here(_, number) => {
                let out = self.with_heir(host, |heir| heir.callers.on_here(*number)).unwrap_or_default();
                for caller in out {
                    sometimes("a host that had lost its launcher was told that the job goes on without it");
                    self.say_at_door(caller, Word::Out);
                }
                return;
            }
            Letter::Out(_) => return self.end_agent(host),
            Letter::HangUp(_) => return self.seek_from(host),
            _ => {}
        }
        self.on_letter(letter);
    }

    /// It sees that its connection with the launcher of an era has ended.
    pub(super) fn on_unheard(&self, host: u32, era: u32) {
        if self.has_agent(host) && self.follows(host) == Some(era) {
            self.seek_from(host);
        }
    }

    /// A tick of an agent: those that wait are told that it is there, and so are nodes that can do without a launcher.
    pub(crate) fn tick_of_heir(&self, host: u32) {
        let mut told = Vec::new();
        self.with_heir(host, |heir| {
            heir.callers.keep(|caller| {
                told.push(*caller);
                true
            });
        });
        let (there, gone): (Vec<u64>, Vec<u64>) = told.into_iter().partition(|visit| self.is_there(*visit));
        self.with_heir(host, |heir| heir.callers.keep(|caller| !gone.contains(caller)));
        there.into_iter().for_each(|visit| self.say_at_door(visit, Word::Wait));
        let begun = self.with_heir(host, |heir| heir.begun.clone()).unwrap_or_default();
        for node in begun {
            let process = &self.nodes[node as usize];
            if process.host == host && process.is_up() {
                let _ = process.node_session.borrow_mut().on_message(ToNode::Ping);
            }
        }
        self.send_away_the_late(host);
        if self.follows(host).is_some() {
            self.post(Letter::Alive(host));
            if self.with_heir(host, |heir| heir.heartbeat.tick()) == Some(true) {
                self.seek_from(host);
            }
        }
    }

    /// An agent has lost its launcher. One on its own host that is only silent is killed.
    pub(super) fn seek_from(&self, host: u32) {
        let Some(era) = self.follows(host) else { return };
        self.say(Who::Launcher, format_args!("host {host} has lost its launcher of era {era}"));
        if self.launcher_host(era) == host {
            match self.succession.borrow().successors.get(&host).map(|successor| successor.era) {
                _ if era == self.era.get() && !self.launcher.borrow().gone => self.launcher_is_gone(),
                _ => {}
            }
            self.end_successor(host);
            self.hang_up(era);
        } else {
            self.post(Letter::Failed(host, "its agent is gone, or the connection with it".into()));
        }
        let begun = self.with_heir(host, |heir| heir.begun.clone()).unwrap_or_default();
        let is_there = |node: &u32| {
            let process = &self.nodes[*node as usize];
            !process.is_gone() && process.host == host
        };
        let there: Vec<u32> = self.nodes_of(host).filter(is_there).collect();
        let (nodes, unbegun): (Vec<u32>, Vec<u32>) = there.into_iter().partition(|node| begun.contains(node));
        unbegun.into_iter().for_each(|node| self.kill(node));
        let began = self.with_heir(host, |heir| {
            (heir.follows, heir.listens) = (None, true);
            let roll = heir.roll.clone().filter(|_| heir.led <= LEADS)?;
            let (has_begun, settled) = (heir.has_begun, heir.settled.clone());
            let unheard = heir.heartbeat.unheard();
            let orphan = Orphan { rank: host, roll: roll.clone(), nodes, has_begun, settled, unheard };
            let quest = Discovery::new(host, roll, self.plan.silence);
            heir.seeks = Some(Seeks { quest, orphan, visit: None });
            heir.untold = Some(Vec::new());
            Some(())
        });
        match began.flatten() {
            Some(()) => self.search_again(host, 0),
            None => self.end_agent(host),
        }
    }

    /// Its next step comes after so long, and none that was to come before.
    fn search_again(&self, host: u32, after_ns: u64) {
        let turn = self.with_heir(host, |heir| {
            heir.turn += 1;
            heir.turn
        });
        let at = self.now() + after_ns;
        turn.into_iter().for_each(|turn| self.plan_step(at, Step::Search(host, turn)));
    }

    pub(super) fn search(&self, host: u32, turn: u32) {
        self.look_after_successor(host);
        let now = self.duration();
        let next = self.with_heir(host, |heir| {
            let seeks = heir.seeks.as_mut().filter(|_| heir.turn == turn)?;
            Some(seeks.quest.next(now))
        });
        match next.flatten().filter(|_| self.has_agent(host)) {
            None => {}
            Some(discovery::Step::Lead) => {
                self.with_heir(host, |heir| {
                    heir.led += 1;
                    heir.listens = false;
                });
                let roll = self.with_heir(host, |heir| heir.roll.clone()).flatten().unwrap_or_default();
                self.start_successor(host, roll);
                self.search_again(host, 0);
            }
            Some(discovery::Step::Try(door)) => {
                let visit = self.visit(host, host_at(door));
                let now = self.now();
                self.with_quest(host, |seeks| seeks.visit = Some((visit, now)));
            }
            Some(discovery::Step::GiveUp) => self.end_agent(host),
        }
    }

    /// A process that an agent has started may have ended before the agent found it: the agent listens again.
    fn look_after_successor(&self, host: u32) {
        let leads =
            self.launcher_host(self.era.get()) == host && self.era.get() > 0 && !self.launcher.borrow().gone;
        if leads || self.succession.borrow().successors.contains_key(&host) {
            return;
        }
        let has_ended = self.with_heir(host, |heir| {
            let seeks = heir.seeks.as_mut().filter(|seeks| seeks.quest.has_led())?;
            seeks.quest.on_led_ended();
            heir.listens = true;
            Some(())
        });
        if has_ended.flatten().is_some() {
            sometimes("a process that was to lead ended before its own agent had found it");
            self.say(Who::Launcher, format_args!("its process ended before host {host} had found it"));
        }
    }

    fn with_quest<R>(&self, host: u32, f: impl FnOnce(&mut Seeks) -> R) -> Option<R> {
        self.with_heir(host, |heir| heir.seeks.as_mut().map(f)).flatten()
    }

    /// Whether an agent is at a door by this visit.
    pub(super) fn is_at_door(&self, host: u32, visit: u64) -> bool {
        self.with_quest(host, |seeks| seeks.visit.is_some_and(|(at, _)| at == visit)) == Some(true)
    }

    /// Whether it is about to hear of whoever is to lead there.
    pub(super) fn waits_at(&self, host: u32, at: u32) -> bool {
        let visit = self.with_quest(host, |seeks| seeks.visit).flatten();
        visit.is_some_and(|(visit, _)| {
            self.succession.borrow().visits.get(&visit).is_some_and(|visit| visit.to == at)
        })
    }

    /// What it says of itself at a door.
    pub(super) fn orphan_of(&self, host: u32) -> Option<Orphan> {
        self.with_quest(host, |seeks| seeks.orphan.clone())
    }

    /// Nobody holds the address that it tried.
    pub(super) fn on_refused_at_door(&self, host: u32) {
        sometimes("a host that looked for a launcher found another one dead");
        self.with_quest(host, |seeks| seeks.quest.on_dead());
        self.search_again(host, 0);
    }

    /// It does not know whether anybody does.
    pub(super) fn on_nobody(&self, host: u32) {
        let now = self.now();
        let tried = self.with_quest(host, |seeks| seeks.visit.take().map_or(0, |(_, since)| now - since));
        let tried = tried.unwrap_or_default();
        let waits = TICK_NS.saturating_sub(tried);
        self.with_quest(host, |seeks| seeks.quest.on_nobody(Duration::from_nanos(tried + waits)));
        self.search_again(host, waits);
    }

    /// The connection at whose other end it waited has ended.
    pub(super) fn on_sent_away(&self, host: u32) {
        self.with_quest(host, |seeks| seeks.visit = None);
        self.search_again(host, PAUSE_NS);
    }

    /// It waits at a door, and a tick went by; whether it does so no longer.
    pub(super) fn on_wait(&self, host: u32) -> bool {
        let is_late = self.with_quest(host, |seeks| seeks.quest.on_tick()) == Some(true);
        if is_late {
            sometimes("a host that said nothing was passed over by one that looked for a launcher");
            self.on_sent_away(host);
        }
        is_late
    }

    /// Somebody at whose door it waits says this.
    pub(super) fn on_word(&self, host: u32, visit: u64, word: &Word) {
        match self.with_quest(host, |seeks| seeks.quest.on_word((&word.said()).into())) {
            None | Some(Answer::Waits) => {}
            Some(Answer::Out) => self.end_agent(host),
            Some(Answer::Leads) => self.attach(host, visit, word.era()),
        }
    }

    /// It has found whoever leads, or is about to.
    fn attach(&self, host: u32, visit: u64, era: u32) {
        self.say(Who::Launcher, format_args!("host {host} follows the one of era {era}"));
        let silence = self.plan.silence;
        let told = self.with_heir(host, |heir| {
            (heir.follows, heir.seeks, heir.heartbeat) = (Some(era), None, Heartbeat::new(silence));
            (heir.untold.take().unwrap_or_default(), heir.callers.questions().collect::<Vec<_>>())
        });
        self.succession.borrow_mut().visits.remove(&visit);
        let Some((ended, questions)) = told else { return };
        for node in ended {
            self.post(Letter::Happened(host, node, event::Event::Ended(How::Vanished)));
        }
        questions.into_iter().for_each(|question| self.post(Letter::AreYouThere(host, question)));
        if !self.has_process_of(era) {
            sometimes("a process that was to lead ended before its word had come");
            self.hang_up_on(host, era);
        }
    }

    /// Another agent has come in at the door of one, which asks its own launcher.
    pub(super) fn call(&self, host: u32, visit: u64) {
        let question = self.with_heir(host, |heir| (heir.callers.on_come(visit), heir.seeks.is_none()));
        if let Some((question, true)) = question {
            self.post(Letter::AreYouThere(host, question));
        }
    }

    /// A process listens at the door of a host instead of its agent, or the other way round: whoever is there has to come again.
    pub(super) fn clear_door(&self, host: u32) {
        self.with_heir(host, |heir| {
            heir.callers.clear();
            heir.admission = Admission::new(LIMITS);
        });
        let at: Vec<u64> = {
            let succession = self.succession.borrow();
            let at = succession.visits.iter().filter(|(_, visit)| visit.to == host && visit.is_accepted());
            at.map(|(number, _)| *number).collect()
        };
        at.into_iter().for_each(|visit| self.close_visit(visit));
    }

    /// An agent is no more, nor is anything on its host but what leads there.
    pub(crate) fn end_heir(&self, host: u32) {
        self.with_heir(host, Heir::end);
        self.clear_door(host);
        self.end_successor(host);
        self.succession.borrow_mut().visits.retain(|_, visit| visit.from != host);
        self.nodes.iter().filter(|process| process.host == host).for_each(|process| {
            if process.stage.get() == Stage::Planned {
                self.kill(process.number);
            }
        });
    }
}
