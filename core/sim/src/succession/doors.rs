//! How agents come in at each other's doors in a simulated world, by the real proofs and for the real places, and how strangers do not.

use super::{BYTES, END_NS, Step, World};
use crate::trace::Who;
use crate::world::TICK_NS;
use talisman_base::auth::Nonce;
use talisman_cluster::remote::message::ToAgent;
use talisman_cluster::succession::door::{LIMIT, Pass};
use talisman_observe::sometimes::sometimes;
use talisman_transport::admission::Stage;

/// So long it may take to be connected, and then to be authenticated.
const LIMIT_NS: u64 = LIMIT.as_nanos() as u64;
/// What does not pass is said again after so long, as the system does.
const AGAIN_NS: u64 = 10_000_000;
/// Of a million that come so many are not heard yet when they are let into the place before the door.
const SILENT_PPM: u32 = 500_000;
/// The sources of strangers that come from none of the job's hosts begin here.
const ELSEWHERE: u32 = 1_000;

/// Where somebody comes from: a host.
pub(super) type Source = u32;

/// Somebody at the door of a host, or on the way there.
pub(super) struct Visit {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Nobody of the job.
    is_stranger: bool,
    /// Where it comes from, as the door sees that.
    source: Source,
    /// Its number at the door, while it is authenticated.
    place: Option<u64>,
    /// The connection is closed at the door.
    is_closed: bool,
    /// Whether the door has believed its ticket.
    is_vouched_for: bool,
    /// How far it is, as it sees that itself.
    stage: Reached,
    own: Nonce,
    theirs: Nonce,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    Nobody,
    Connected,
    There,
}

/// What happens to somebody on the way in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leg {
    /// It comes to the host.
    Arrives,
    /// It is refused: nobody listens there.
    Refused,
    /// It is heard.
    Knocks,
    /// It hears the answer.
    Answered,
    /// It has proved who it is.
    Proves,
    /// It does not wait to be connected any more.
    TooLateToConnect,
    /// Nor to be authenticated.
    TooLate,
    /// The connection is closed.
    Closed,
    /// It waits for a word, and a tick went by.
    Waits,
    /// It is told something, which has to pass the network.
    Told(Word),
    /// It hears that.
    Hears(Word),
}

/// What is said to an agent that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Wait,
    Out,
    /// Whoever is to lead in this era is there.
    Leads(u32),
}

impl Word {
    pub(super) fn said(self) -> ToAgent {
        match self {
            Word::Wait => ToAgent::Wait,
            Word::Out => ToAgent::Out,
            Word::Leads(_) => ToAgent::Ping,
        }
    }

    pub(super) fn era(self) -> u32 {
        if let Word::Leads(era) = self { era } else { 0 }
    }
}

impl Visit {
    /// Whether it has come to the host.
    pub(super) fn is_accepted(&self) -> bool {
        !self.is_closed && self.stage != Reached::Nobody
    }
}

impl World {
    /// Somebody sets out from a host for the door of another.
    pub(super) fn visit(&self, from: u32, to: u32) -> u64 {
        let number = self.set_out(from, to, false);
        let at = self.way_between(from, to).filter(|at| *at < self.now() + LIMIT_NS);
        match at {
            Some(at) => self.plan_step(at, Step::Visit(number, Leg::Arrives)),
            None => self.plan_step(self.now() + LIMIT_NS, Step::Visit(number, Leg::TooLateToConnect)),
        }
        number
    }

    fn set_out(&self, from: u32, to: u32, is_stranger: bool) -> u64 {
        let own = self.random_bytes();
        let visit = Visit {
            from,
            to,
            is_stranger,
            source: from,
            place: None,
            is_closed: false,
            is_vouched_for: false,
            stage: Reached::Nobody,
            own,
            theirs: [0; 32],
        };
        let mut succession = self.succession.borrow_mut();
        succession.last_visit += 1;
        let number = succession.last_visit;
        succession.visits.insert(number, visit);
        number
    }

    pub(super) fn is_there(&self, visit: u64) -> bool {
        self.succession.borrow().visits.contains_key(&visit)
    }

    fn with_visit<R>(&self, visit: u64, f: impl FnOnce(&mut Visit) -> R) -> Option<R> {
        self.succession.borrow_mut().visits.get_mut(&visit).map(f)
    }

    pub(super) fn on_visit(&self, number: u64, leg: Leg) {
        let Some((from, to)) = self.with_visit(number, |visit| (visit.from, visit.to)) else { return };
        let is_closed = self.with_visit(number, |visit| visit.is_closed) == Some(true);
        match leg {
            Leg::Knocks | Leg::Answered | Leg::Proves if is_closed => {}
            Leg::Arrives => self.arrive(number, from, to),
            Leg::Knocks => self.knock(number),
            Leg::Answered => self.on_answered(number),
            Leg::Proves => self.prove(number),
            Leg::Refused => {
                self.forget_visit(number);
                self.on_refused_at_door(from);
            }
            Leg::TooLateToConnect => {
                self.forget_visit(number);
                self.on_nobody(from);
            }
            Leg::TooLate if self.with_visit(number, |visit| visit.stage) == Some(Reached::There) => {}
            Leg::TooLate => {
                self.forget_visit(number);
                self.on_nobody(from);
            }
            Leg::Closed => {
                let was_there = self.with_visit(number, |visit| visit.stage) == Some(Reached::There);
                self.forget_visit(number);
                match was_there {
                    true => self.on_sent_away(from),
                    false => self.on_nobody(from),
                }
            }
            Leg::Waits => {
                if self.on_wait(from) {
                    self.forget_visit(number);
                } else {
                    self.plan_step(self.now() + TICK_NS, Step::Visit(number, Leg::Waits));
                }
            }
            Leg::Told(word) => self.say_at_door(number, word),
            Leg::Hears(word) if self.is_at_door(from, number) => self.on_word(from, number, &word),
            Leg::Hears(_) => {}
        }
    }

    /// It goes, or is gone.
    fn forget_visit(&self, number: u64) {
        let mut succession = self.succession.borrow_mut();
        let Some(visit) = succession.visits.remove(&number) else { return };
        if let (Some(place), Some(heir)) = (visit.place, succession.heirs.get_mut(&visit.to)) {
            heir.admission.leave(place);
        }
    }

    /// Whether anybody there lets others in: an agent does not until it knows that the process that it has started has ended.
    fn lets_in(&self, host: u32) -> bool {
        let leads =
            self.launcher_host(self.era.get()) == host && !self.launcher.borrow().gone && self.era.get() > 0;
        let succession = self.succession.borrow();
        let listens = succession.heirs.get(&host).is_some_and(|heir| heir.listens);
        leads || succession.successors.contains_key(&host) || self.has_agent(host) && listens
    }

    /// Whether anybody holds the door of a host.
    pub(super) fn listens(&self, host: u32) -> bool {
        let leads = self.launcher_host(self.era.get()) == host && !self.launcher.borrow().gone;
        leads || self.has_agent(host) || self.succession.borrow().successors.contains_key(&host)
    }

    /// It has come to the host, where it gets a place, or is refused.
    fn arrive(&self, number: u64, from: u32, to: u32) {
        if !self.listens(to) {
            let back = self.way_between(to, from).map(|at| (at, Leg::Refused));
            let (at, leg) = back.unwrap_or((self.now() + LIMIT_NS, Leg::TooLateToConnect));
            return self.plan_step(at, Step::Visit(number, leg));
        }
        self.with_visit(number, |visit| visit.stage = Reached::Connected);
        self.plan_step(self.now() + LIMIT_NS, Step::Visit(number, Leg::TooLate));
        if !self.lets_in(to) {
            sometimes("a host was tried at which nobody let anybody in");
            return;
        }
        let is_heard = !self.happens(SILENT_PPM);
        self.take_place(number, from, to, if is_heard { Stage::Speaks } else { Stage::Silent });
        match is_heard {
            true => self.knock(number),
            false => self.go_on(number, (from, to), Leg::Knocks),
        }
    }

    /// It gets a place, and somebody else may lose one.
    fn take_place(&self, number: u64, source: Source, to: u32, stage: Stage) {
        self.send_away_the_late(to);
        let now = self.duration();
        let placed = {
            let mut succession = self.succession.borrow_mut();
            succession.heirs.get_mut(&to).map(|heir| heir.admission.arrive(now, source, stage))
        };
        let Some((place, lost)) = placed else { return };
        self.with_visit(number, |visit| (visit.place, visit.source) = (Some(place), source));
        lost.into_iter().for_each(|lost| self.crowd_out(to, lost));
    }

    /// Its place was given to another. A stranger's host is one of the job, perhaps: then a crowd may outnumber who is there before it speaks.
    fn crowd_out(&self, to: u32, place: u64) {
        let Some(number) = self.visit_at(to, place) else { return };
        let found = self.with_visit(number, |visit| (visit.is_stranger, visit.is_vouched_for, visit.from));
        let Some((is_stranger, is_vouched_for, from)) = found else { return };
        if !is_stranger {
            sometimes("an agent that looked for a launcher lost its place at a door to strangers");
            if is_vouched_for || !self.has_strangers_from(from, to) {
                self.flaw(format!(
                    "the agent of host {from} lost its place at the door of host {to} to a crowd from elsewhere"
                ));
            }
        }
        self.close_visit(number);
    }

    fn has_strangers_from(&self, source: Source, to: u32) -> bool {
        let succession = self.succession.borrow();
        let mut at = succession.visits.values().filter(|visit| visit.to == to && visit.place.is_some());
        at.any(|visit| visit.is_stranger && visit.source == source)
    }

    fn visit_at(&self, to: u32, place: u64) -> Option<u64> {
        let succession = self.succession.borrow();
        let mut all = succession.visits.iter();
        all.find(|(_, visit)| visit.to == to && visit.place == Some(place)).map(|(number, _)| *number)
    }

    /// Those that have been before a door for too long are sent away.
    pub(super) fn send_away_the_late(&self, host: u32) {
        let now = self.duration();
        let late = {
            let mut succession = self.succession.borrow_mut();
            succession.heirs.get_mut(&host).map(|heir| heir.admission.expired(now)).unwrap_or_default()
        };
        let late: Vec<u64> = late.into_iter().filter_map(|place| self.visit_at(host, place)).collect();
        late.into_iter().for_each(|visit| self.close_visit(visit));
    }

    /// Whoever is at a door closes the connection.
    pub(super) fn close_visit(&self, number: u64) {
        let Some((from, to)) = self.with_visit(number, |visit| (visit.from, visit.to)) else { return };
        if from >= ELSEWHERE {
            return self.forget_visit(number);
        }
        self.with_visit(number, |visit| (visit.is_closed, visit.place) = (true, None));
        self.go_on(number, (to, from), Leg::Closed);
    }

    /// What it says, or hears, arrives, unless something is cut: then it does not in time.
    fn go_on(&self, number: u64, (from, to): (u32, u32), leg: Leg) {
        let at = match from == to {
            true => Some(self.now() + self.between(END_NS)),
            false => self.network.borrow_mut().host_control(self.now(), from, to, BYTES),
        };
        if let Some(at) = at {
            self.plan_step(at, Step::Visit(number, leg));
        }
    }

    fn pass(&self) -> Pass {
        Pass::plain(self.tasks[0].job, self.tasks[0].secret.clone())
    }

    /// It says that it is of the job, which its ticket shows, or does not.
    fn knock(&self, number: u64) {
        let pass = self.pass();
        let found = self.with_visit(number, |visit| (visit.from, visit.to, visit.own, visit.is_stranger));
        let Some((from, to, own, is_stranger)) = found else { return };
        let ticket = if is_stranger { self.random_bytes() } else { pass.knock(&own) };
        if !pass.is_ticket(&own, &ticket) {
            return self.close_visit(number);
        }
        let place = self.with_visit(number, |visit| {
            visit.is_vouched_for = true;
            visit.place
        });
        let lost = place.flatten().and_then(|place| {
            let mut succession = self.succession.borrow_mut();
            succession.heirs.get_mut(&to).and_then(|heir| heir.admission.reach(place, Stage::VouchedFor))
        });
        lost.into_iter().for_each(|lost| self.crowd_out(to, lost));
        let theirs = self.random_bytes();
        self.with_visit(number, |visit| visit.theirs = theirs);
        self.go_on(number, (to, from), Leg::Answered);
    }

    /// It knows that somebody of the job is there, and proves that it is too.
    fn on_answered(&self, number: u64) {
        let pass = self.pass();
        let found = self.with_visit(number, |visit| (visit.from, visit.to, visit.own, visit.theirs));
        let Some((from, to, own, theirs)) = found else { return };
        if !self.is_at_door(from, number) || !pass.is_answer(&own, &theirs, &pass.answer(&own, &theirs)) {
            return;
        }
        self.with_visit(number, |visit| visit.stage = Reached::There);
        self.go_on(number, (from, to), Leg::Proves);
        self.plan_step(self.now() + TICK_NS, Step::Visit(number, Leg::Waits));
    }

    /// It is let in, and says what it knows.
    fn prove(&self, number: u64) {
        let pass = self.pass();
        let found = self.with_visit(number, |visit| {
            (visit.from, visit.to, visit.own, visit.theirs, visit.place.take(), visit.is_stranger)
        });
        let Some((from, to, own, theirs, Some(place), is_stranger)) = found else { return };
        let was_there = {
            let mut succession = self.succession.borrow_mut();
            succession.heirs.get_mut(&to).is_some_and(|heir| heir.admission.leave(place))
        };
        if !was_there || !pass.is_proof(&own, &theirs, &pass.proof(&own, &theirs)) {
            return self.close_visit(number);
        }
        if is_stranger {
            return self.flaw(format!("a stranger was let in at the door of host {to}"));
        }
        self.say(Who::Launcher, format_args!("host {from} has come to host {to}"));
        let leads = self.succession.borrow().successors.contains_key(&to);
        let is_led =
            self.launcher_host(self.era.get()) == to && !self.launcher.borrow().gone && self.era.get() > 0;
        match () {
            () if leads => self.on_come_to_successor(from, to, number),
            () if is_led => self.say_at_door(number, Word::Out),
            () => self.call(to, number),
        }
    }

    /// Somebody that was let in is told something.
    pub(super) fn say_at_door(&self, number: u64, word: Word) {
        let Some((from, to)) = self.with_visit(number, |visit| (visit.from, visit.to)) else { return };
        let at = match from == to {
            true => Some(self.now() + self.between(END_NS)),
            false => self.way_between(to, from),
        };
        let (at, leg) = match at {
            Some(at) => (at, Leg::Hears(word)),
            None => (self.now() + AGAIN_NS, Leg::Told(word)),
        };
        self.plan_step(at, Step::Visit(number, leg));
    }

    /// So many strangers come to the door of a host within this time, all from a machine of their own or from one of the job.
    pub(crate) fn send_crowd_to_door(&self, host: u32, strangers: u32, within_ns: u64) {
        for stranger in 0..u64::from(strangers) {
            let after = within_ns * stranger / u64::from(strangers.max(1));
            self.plan_step(self.now() + after, Step::Stranger(host));
        }
    }

    /// One comes, says nothing, or what it guesses.
    pub(super) fn on_door_stranger(&self, host: u32) {
        if !self.lets_in(host) || self.network.borrow().is_silent(host) {
            return;
        }
        let hosts = self.plan.hosts.len() as u32;
        let source = match self.happens(500_000) {
            true => ELSEWHERE,
            false => self.between((0, u64::from(hosts))) as u32,
        };
        let stage = if self.happens(SILENT_PPM) { Stage::Silent } else { Stage::Speaks };
        let number = self.set_out(ELSEWHERE, host, true);
        self.take_place(number, source, host, stage);
        if stage == Stage::Speaks && self.happens(SILENT_PPM) {
            self.knock(number);
        }
    }
}
