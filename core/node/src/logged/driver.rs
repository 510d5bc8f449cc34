//! The loop of a node that logs: it hears the launcher and the other nodes, gives its PE turns or has it run again, and carries away what
//! the node has for others.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::LoggedNode;
use super::links::{Came, Links, Lost};
use crate::worker::Suspicion;
use talisman_base::clock::Clock;
use talisman_control::logging::pieces::pieces_of;
use talisman_control::logging::words::{FromMember, Said, ToMember};
use talisman_control::protocol::{PeerInLife, Place, Stop, ToLauncher};
use talisman_core::leftovers::LeftoversOnPe;
use talisman_core::logging::image::{Beginning, Image};
use talisman_core::logging::letter::Letter;
use talisman_core::logging::member::{Member, Taken};
use talisman_core::logging::replay::{Replayed, may_run, step, take_in};
use talisman_core::logging::wire;
use talisman_core::logging::words::{self, Out};
use talisman_core::services::SERVICES;
use talisman_ft::event::Event;
use talisman_ft::logging::{Order, Shape};
use talisman_job::job::End;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::input_log::{Frame, InputLog};
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Outbox, Port};
use talisman_observe::stats::{Totals, count};
use talisman_sched::idle::Idle;

/// What is on a link: a letter, or a word beside it.
const LETTER: u8 = 0;
const WORD: u8 = 1;
/// The rank of the only PE of a node.
const RANK: u32 = 0;
/// Messages run in a turn, if they are short.
const BATCH: usize = 64;
/// After so many of them it is looked at the clock.
const BETWEEN_CLOCKS: usize = 16;
/// A turn takes about so long, if its entries do not take longer.
const TURN: Duration = Duration::from_micros(100);
/// Messages in the queue of a PE from which on it takes in nothing.
const QUEUE_HIGH: usize = 1 << 16;
/// Steps of a PE that runs again before the others are heard.
const STEPS: usize = 64;
/// The keeper is sent what is new so often, and sooner if the PE has nothing to do.
const FLUSH_EVERY: Duration = Duration::from_millis(1);
const FLUSH_IDLE: Duration = Duration::from_micros(200);
/// Nobody tells that there is a connection with a new process, or room in memory: it is looked so often.
const LOOK: Duration = Duration::from_micros(500);

/// So often it is looked how much is kept; people are told of this much, and each time of twice as much.
const LOOK_AT_MEMORY: Duration = Duration::from_secs(1);
const MUCH_KEPT: usize = 1 << 30;

/// A node that logs, on the thread of its PE.
pub(super) struct Driver<'a> {
    of: &'a LoggedNode,
    program: &'a (dyn Fn(&Pe) + Sync),
    shape: Shape,
    member: Member,
    links: Links,
    /// None before its image has come.
    pe: Option<Pe>,
    /// That of the PE, in nanoseconds: it stands still in a turn.
    clock: Rc<Cell<u64>>,
    /// New processes of others that are not linked with this one yet.
    newcomers: Vec<PeerInLife>,
    came: Vec<Came>,
    flushed: Instant,
    /// When it was last looked how much is kept, and of how much people are told next.
    looked: Instant,
    tell_from: usize,
    /// Since when there has been nothing to do.
    idle_since: Option<Instant>,
    idle: Idle,
    suspicion: Suspicion,
    /// How the job ended here has been said.
    has_said_end: bool,
    /// The job ends as soon as all is printed; whether that is so here, and has been said.
    finishing: bool,
    has_finished: bool,
    /// Something was wrong, and the launcher knows.
    has_failed: bool,
}

impl<'a> Driver<'a> {
    pub(super) fn new(of: &'a LoggedNode, links: Links, program: &'a (dyn Fn(&Pe) + Sync)) -> Self {
        let (number, shape) = (of.task.number, Shape { nodes: of.task.nodes, pes_per_node: of.task.pes });
        let mut driver = Driver {
            of,
            program,
            shape,
            member: Member::blank(number, shape, 0),
            links,
            pe: None,
            clock: Rc::default(),
            newcomers: Vec::new(),
            came: Vec::new(),
            flushed: Instant::now(),
            looked: Instant::now(),
            tell_from: MUCH_KEPT,
            idle_since: None,
            idle: Idle::new(),
            suspicion: Suspicion::default(),
            has_said_end: false,
            finishing: false,
            has_finished: false,
            has_failed: false,
        };
        if of.task.life == 0 {
            driver.member = Member::first(
                first_image(number, shape),
                shape,
                &[first_image(before(number, shape), shape)],
            );
            driver.begin(&first_image(number, shape));
        }
        driver
    }

    /// Until the job is over; what its PE has counted.
    pub(super) fn run(mut self) -> Totals {
        while !self.of.commands.is_stopped() {
            let heard = self.hear_launcher() | self.hear_others() | self.meet_newcomers();
            let worked = self.work();
            self.flush_log(FLUSH_EVERY);
            self.tell_of_memory();
            self.finish();
            self.flush_links();
            match heard | worked {
                true => self.end_idleness(),
                false => self.rest(),
            }
        }
        self.end()
    }

    fn fail(&mut self, why: String) {
        if !std::mem::replace(&mut self.has_failed, true) {
            let node = self.of.task.number;
            self.of.control.ended(1, Some(format!("node {node}: {why}")));
        }
    }

    // What is heard.

    fn hear_launcher(&mut self) -> bool {
        if !self.of.commands.has_any() {
            return false;
        }
        match self.of.commands.take() {
            Ok(words) => words.into_iter().for_each(|word| self.hear(word)),
            Err(why) => self.fail(why),
        }
        true
    }

    fn hear(&mut self, word: ToMember) {
        match word {
            ToMember::Printed { before } => self.member.on_printed(RANK, before),
            ToMember::Finish => self.finishing = true,
            ToMember::Order { order, places } => self.obey(order, &places),
        }
    }

    fn obey(&mut self, order: Order, places: &[Place]) {
        match &order {
            Order::Ask { lost, .. } => self.read_out(lost),
            Order::Announce { .. } => self.expect(places),
            Order::Restore { to, incarnations, .. } => {
                self.member = Member::blank(*to, self.shape, incarnations[*to as usize]);
                self.expect(places);
            }
            Order::GoLive { .. } => self.of.runs_again.store(false, Ordering::Relaxed),
            _ => {}
        }
        self.member.absorb();
        self.member.obey(order);
        self.collect();
    }

    /// What has come from nodes that are lost is taken in, and nothing more will.
    fn read_out(&mut self, lost: &[u32]) {
        self.of.connections.keep_to(|node| !lost.contains(&node));
        self.newcomers.retain(|(peer, _)| !lost.contains(&peer.node));
        for node in lost {
            self.links.read_out(*node).into_iter().for_each(|came| self.take(came));
        }
        while self.member.has_mail(RANK, |from| lost.contains(&from)) && !self.has_failed {
            let taken = self.take_mail(|from| lost.contains(&from));
            self.turn_with(Round::of(taken, 0));
        }
    }

    /// Others have new processes, which this one is to be linked with.
    fn expect(&mut self, places: &[Place]) {
        for peer in self.of.connections.expect_new_ones(places, |_| true) {
            self.newcomers.retain(|(known, _)| *known != peer.0);
            self.newcomers.push(peer);
        }
    }

    fn meet_newcomers(&mut self) -> bool {
        let mut met = false;
        for peer in std::mem::take(&mut self.newcomers) {
            match self.of.connections.met(peer) {
                None => self.newcomers.push(peer),
                Some(stream) => {
                    met = true;
                    if let Err(error) = self.links.join(peer.0.node, stream) {
                        self.fail(format!("the system watches no further connection: {error}"));
                    }
                }
            }
        }
        met
    }

    fn hear_others(&mut self) -> bool {
        let mut came = std::mem::take(&mut self.came);
        let lost = self.links.receive(&mut came);
        let any = !came.is_empty();
        came.drain(..).for_each(|came| self.take(came));
        self.came = came;
        if any {
            // Others' logs may have become stable.
            self.member.release();
            self.carry();
        }
        self.give_up(lost);
        any
    }

    fn take(&mut self, Came { from, kind, frame }: Came) {
        match kind {
            LETTER => match Letter::open(frame) {
                Some(letter) => self.member.receive(from, RANK, letter),
                None => self.fail(format!("a message from node {from} is shorter than it says")),
            },
            WORD => match wire::read(&frame.head, self.shape) {
                Ok((between, word)) => self.member.hear(from, between, word),
                Err(why) => self.fail(format!("what node {from} says cannot be read: {why}")),
            },
            _ => self.fail(format!("node {from} sends what a job that logs does not know")),
        }
        self.carry();
    }

    /// Nothing can be said any more over a link. Whoever is lost is known to the launcher.
    fn give_up(&mut self, lost: Option<Lost>) {
        let Some(Lost { node, error }) = lost else { return };
        self.links.read_out(node);
        match error.is_well_formed() {
            true => self.fail(error.to_string()),
            false => self.of.control.send(ToLauncher::Suspect { node, why: error.to_string() }),
        }
    }

    // What the PE does.

    fn work(&mut self) -> bool {
        match () {
            () if self.has_failed => false,
            () if self.member.is_guided() => self.replay(),
            () if self.member.is_live() && !self.finishing && !self.of.job.is_over() => self.turn(),
            () => false,
        }
    }

    /// The time of the job, which does not go back.
    fn set_clock(&mut self) {
        let now = self.of.start.elapsed().as_nanos() as u64;
        self.clock.set(now.max(self.clock.get()));
    }

    fn turn(&mut self) -> bool {
        self.set_clock();
        let Some(pe) = &self.pe else { return false };
        let has_work = self.member.has_any_for(RANK) || may_run(pe) || pe.chores.get() || is_due(pe);
        if !has_work || self.links.is_behind() {
            return false;
        }
        let taken = match pe.waiting_messages() > QUEUE_HIGH {
            true => Vec::new(),
            false => self.take_mail(|_| true),
        };
        self.turn_with(Round::of(taken, BATCH));
        true
    }

    fn take_mail(&mut self, is_asked_for: impl Fn(u32) -> bool) -> Vec<Taken> {
        match self.member.take(RANK, self.clock.get(), is_asked_for, false) {
            Ok((taken, _)) => taken,
            Err(why) => {
                self.fail(why);
                Vec::new()
            }
        }
    }

    fn turn_with(&mut self, round: Round) {
        let Some(pe) = &self.pe else { return };
        {
            let _here = Here::enter(pe);
            let _seen = self.of.node.windows[RANK as usize].open(pe);
            caught(pe, || _ = pe.turn(round));
        }
        self.collect();
    }

    /// Some of what the PE before this one did.
    fn replay(&mut self) -> bool {
        let mut any = false;
        for _ in 0..STEPS {
            let Some(pe) = &self.pe else { break };
            let clock = &self.clock;
            let seen = self.of.node.windows[RANK as usize].open(pe);
            let did = step(&mut self.member, RANK, pe, |time| clock.set(time));
            drop(seen);
            match did {
                Ok(Replayed::Did) => any = true,
                Ok(Replayed::Waits | Replayed::AtHorizon) => break,
                Err(why) => {
                    self.fail(why);
                    return true;
                }
            }
            self.collect();
        }
        self.collect();
        any
    }

    // What leaves.

    /// What the PE has done is logged, and leaves as far as it may.
    fn collect(&mut self) {
        self.member.absorb();
        for line in self.of.said.take() {
            self.member.say(RANK, words::Said::Line(line));
        }
        if let Some(end) =
            self.of.job.how_it_ended().filter(|_| !self.has_said_end && !self.of.commands.is_stopped())
        {
            self.has_said_end = true;
            self.member.say(RANK, words::Said::End(end));
        }
        if let Some(Pe { port: Port::Simulated(outbox), .. }) = &self.pe {
            for sent in outbox.take() {
                self.member.send(RANK, sent.to, sent.parcel);
            }
        }
        self.member.release();
        if let Some(pe) = self.pe.as_ref().filter(|_| self.member.is_guided())
            && let Err(why) = self.member.tell_if_at_horizon(|_| may_run(pe))
        {
            self.fail(why);
        }
        self.carry();
    }

    fn carry(&mut self) {
        for out in self.member.take_out() {
            match out {
                Out::Letter(_, to, letter) => self.links.send(to, LETTER, letter.seal()),
                Out::Word(to, between, word) => match wire::write(between, &word) {
                    Ok(bytes) => {
                        self.links.send(to, WORD, Frame { head: bytes.into(), segments: Vec::new() })
                    }
                    Err(why) => self.fail(why),
                },
                Out::Report(event) => report_of(event).into_iter().for_each(|word| self.say(&word)),
                Out::Say(_, number, said) => self.say(&FromMember::Said { number, said: said_as(said) }),
                // The loop looks.
                Out::Wake(_) => {}
                Out::Begin(image) => self.begin_again(&image),
            }
        }
    }

    fn say(&mut self, word: &FromMember) {
        match pieces_of(word) {
            Ok(pieces) => {
                pieces.into_iter().for_each(|piece| self.of.control.send(ToLauncher::Logging(piece)));
            }
            Err(error) => self.fail(format!("the launcher cannot be told: {error}")),
        }
    }

    /// The keeper is sent what is new, if it has not been for so long.
    fn flush_log(&mut self, every: Duration) {
        if self.flushed.elapsed() >= every && self.member.wants_flush() {
            self.flushed = Instant::now();
            self.member.flush();
            self.member.release();
            self.carry();
        }
    }

    fn tell_of_memory(&mut self) {
        if self.looked.elapsed() < LOOK_AT_MEMORY {
            return;
        }
        self.looked = Instant::now();
        let kept = self.member.kept_bytes();
        if kept >= self.tell_from {
            self.tell_from = 2 * kept;
            let line =
                "MiB of messages and logs are kept here for lost nodes, and more as long as the job runs";
            self.of.job.warn(format!("{} {line} (--ft logging)", kept >> 20));
        }
    }

    fn flush_links(&mut self) {
        let lost = self.links.flush();
        self.give_up(lost);
    }

    /// The job ends, and all that the program has said here is printed.
    fn finish(&mut self) {
        let is_finished = self.finishing && self.member.is_live() && !self.member.has_unprinted();
        if is_finished && !std::mem::replace(&mut self.has_finished, true) {
            self.say(&FromMember::Finished);
        }
    }

    // How a PE begins.

    fn begin(&mut self, image: &Image) {
        self.clock.set(image.made_at);
        let (of, clock) = (self.of, Clock::simulated(self.clock.clone()));
        let mut pe =
            Pe::new(of.task.number, of.node.clone(), clock, Port::Simulated(Outbox::default()), SERVICES);
        pe.input_log = InputLog::Told(self.member.record(RANK).recorder());
        let mut begun = Ok(());
        caught(&pe, || begun = image.begin(&pe, RANK, self.program));
        self.pe = Some(pe);
        match begun {
            Ok(()) => self.collect(),
            Err(why) => self.fail(why),
        }
    }

    fn begin_again(&mut self, image: &Image) {
        self.of.runs_again.store(true, Ordering::Relaxed);
        self.member.record(RANK).was_at(image.made_at);
        self.begin(image);
        self.member.has_begun();
    }

    // Nothing to do.

    fn end_idleness(&mut self) {
        if let (Some(since), Some(pe)) = (self.idle_since.take(), &self.pe) {
            count(&pe.stats.idle_ns, since.elapsed().as_nanos() as u64);
        }
    }

    /// Waits until there may be something to do.
    fn rest(&mut self) {
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        self.flush_log(FLUSH_IDLE);
        self.flush_links();
        if self.suspects(since) {
            return;
        }
        let timeout = self.longest_sleep(since);
        let (links, commands) = (&mut self.links, &self.of.commands);
        let came = &mut self.came;
        let mut lost = None;
        let links = std::cell::RefCell::new(links);
        let has_work = || {
            let mut links = links.borrow_mut();
            lost = lost.take().or(links.receive(came));
            lost.is_some() || !came.is_empty() || commands.has_any()
        };
        let parker = &self.of.node.parkers[RANK as usize];
        let park = || {
            let links = links.borrow();
            links.publish();
            let has_work = || links.has_work() || commands.has_any();
            _ = parker.park_in(has_work, || links.sleep(timeout));
        };
        match timeout {
            Some(timeout) if timeout.is_zero() => {}
            _ => self.idle.idle(has_work, park),
        }
        self.give_up(lost);
    }

    fn longest_sleep(&self, since: Instant) -> Option<Duration> {
        let flush = self.member.wants_flush().then_some(FLUSH_IDLE);
        let look = (!self.newcomers.is_empty() || self.links.is_behind_in_memory()).then_some(LOOK);
        let pe = self.pe.as_ref().filter(|_| self.runs());
        let timer = pe.and_then(|pe| Some(pe.timers.next()?.saturating_sub(self.of.start.elapsed())));
        let patience = pe.and_then(|pe| Some(self.suspicion.patience(pe)?.saturating_sub(since.elapsed())));
        [flush, look, timer, patience].into_iter().flatten().min()
    }

    fn runs(&self) -> bool {
        self.member.is_live() && !self.finishing && !self.of.job.is_over()
    }

    /// PE 0 that has had nothing to do for too long finds out whether anybody ever will.
    fn suspects(&mut self, since: Instant) -> bool {
        let Some(pe) = self.pe.as_ref().filter(|_| self.runs()) else { return false };
        let hopes = pe.timers.next_for_progress().is_some();
        let patience = self.suspicion.patience(pe).filter(|_| !hopes);
        if patience.is_none_or(|patience| since.elapsed() < patience) {
            return false;
        }
        self.idle_since = None;
        self.set_clock();
        if let Some(pe) = &self.pe {
            let _here = Here::enter(pe);
            caught(pe, || self.suspicion.rise(pe));
        }
        self.collect();
        true
    }

    // The end.

    fn end(mut self) -> Totals {
        self.links.goodbye();
        _ = self.links.flush();
        let Some(pe) = self.pe.take() else { return Totals::default() };
        pe.stats.wall_ns.set(self.of.start.elapsed().as_nanos() as u64);
        let here = Here::enter(&pe);
        pe.tell_of_undelivered();
        drop(here);
        pe.stats.totals()
    }
}

fn is_due(pe: &Pe) -> bool {
    pe.timers.next().is_some_and(|due| due <= pe.clock.now())
}

/// The node whose images and logs this one keeps.
fn before(node: u32, shape: Shape) -> u32 {
    (node + shape.nodes - 1) % shape.nodes
}

/// What a node of a job begins with.
fn first_image(node: u32, shape: Shape) -> Image {
    let state = |rank| if node == 0 && rank == 0 { Beginning::Program } else { Beginning::Nothing };
    Image::first(node, shape, 0, (0..shape.pes_per_node).map(state).collect())
}

fn said_as(said: words::Said) -> Said {
    match said {
        words::Said::Line(line) => Said::Line(line),
        words::Said::End(End { status, message }) => Said::End(Stop { status, message }),
    }
}

/// What a node reports, as it goes to the launcher.
fn report_of(event: Event) -> Option<FromMember> {
    match event {
        Event::Held(_, session, holdings) => Some(FromMember::Held(session, holdings)),
        Event::Announced(_, session) => Some(FromMember::Announced(session)),
        Event::AtHorizon(_, session) => Some(FromMember::AtHorizon(session)),
        Event::Covered(keeper, session) => Some(FromMember::Covered(keeper, session)),
        _ => None,
    }
}

/// A turn.
struct Round {
    taken: Vec<Taken>,
    most: usize,
    since: Instant,
}

impl Round {
    fn of(taken: Vec<Taken>, most: usize) -> Self {
        Round { taken, most, since: Instant::now() }
    }
}

impl Feed for Round {
    fn take_in(&mut self, pe: &Pe) -> bool {
        let any = !self.taken.is_empty();
        for taken in self.taken.drain(..) {
            if let Err(why) = take_in(pe, taken) {
                pe.node.job.end(1, Some(why));
            }
        }
        any
    }

    fn most(&self) -> usize {
        self.most
    }

    fn is_enough(&mut self, _: &Pe, ran: usize) -> bool {
        ran.is_multiple_of(BETWEEN_CLOCKS) && self.since.elapsed() > TURN
    }

    fn looks_at_timers(&self) -> bool {
        self.most > 0
    }

    fn may_rest(&self, pe: &Pe) -> bool {
        self.most > 0 && pe.chores.get()
    }
}
