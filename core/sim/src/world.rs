//! The loop of a simulated world: the next event, and who it concerns.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use super::agenda::Agenda;
use super::agents::Agent;
use super::control_messages::Letter;
use super::fault::What;
use super::faults::{Faults, stop};
use super::launcher::{Deeds, Launcher};
use super::mailer::Post;
use super::network::{self, ConnId, Happening, Network, Side};
use super::plan::Plan;
use super::process::Process;
use super::processes::Processes;
use super::seeking::Gathering;
use super::steps::STEP_WAIT_NS;
use super::succession::{self, Succession};
use super::trace::{Trace, Who};
use super::wires::End;
use talisman_base::ids::PeId;
use talisman_base::rng::Rng;
use talisman_control::heartbeat::{LOOK, TICK};
use talisman_control::protocol::Task;
use talisman_ft::Version;
use talisman_job::job::Job;
use talisman_kernel::pe::{Nobody, Pe};
use talisman_transport::sim::Board;
use talisman_transport::sim_wait::SimWaiting;

/// A tick of a heartbeat.
pub(super) const TICK_NS: u64 = TICK.as_nanos() as u64;
/// How often the launcher looks at deadlines.
const LOOK_NS: u64 = LOOK.as_nanos() as u64;
/// The same if it kills nodes at times: a program whose computing takes no time is over before the launcher had looked.
const LOOK_TO_KILL_NS: u64 = 100_000;
/// How long a process takes to start: between these.
pub(super) const START_NS: (u64, u64) = (200_000, 2_000_000);

/// Something that happens at a time. What is rare and large is in a box: events are moved about in the agenda.
pub(super) enum Event {
    /// On the network.
    Net(network::Event),
    /// The network has something for a process.
    Net2(Box<Happening>),
    /// A PE takes a turn: node and rank.
    Turn(u32, u32),
    /// A letter arrives, which was sent in this era.
    Letter(u32, Box<Letter>),
    /// Letters between these hosts are tried again.
    Retry((u32, u32)),
    /// A process begins.
    Begin(u32),
    /// A node may be linked with all that are new to it.
    PeerIncarnations(u32),
    /// A tick of a node's conversation with the launcher.
    Pulse(u32),
    /// The launcher looks at deadlines.
    Look,
    /// A tick of the launcher's conversation with a host.
    HostBeat(u32),
    /// The same at the other end.
    AgentBeat(u32),
    /// A node looks whom it has to dial.
    Dial(u32),
    /// A handshake has to be over.
    Deadline(ConnId, Side),
    /// A process that takes itself for a node starts; whether it has that one's disk.
    Return(u32, bool),
    /// A node's process exits with a status.
    Exit(u32, i32),
    /// The PEs of a node are to stop for good, or until they are made anew.
    Stopped(u32),
    /// A node's disk has done what it was at.
    Shelved(u32),
    /// A node takes away what it has on its disk, and leaves.
    Leave(u32),
    /// The system ends a process.
    Killed(u32),
    /// A node's connection with its launcher has ended.
    Orphaned(u32),
    /// A stranger comes to a node.
    Stranger(u32),
    /// The next step of a node's search for another one, by its number.
    Seek(u32, u32),
    /// A node has come to this one's door, where it is heard.
    Come(u32, u32),
    /// A node that is to lead looks after those that are left; whether it is a tick of its heartbeat.
    Gather(u32, bool),
    /// Something happens between hosts that have lost their launcher, or may.
    Hosts(Box<succession::Step>),
    /// A planned fault begins.
    Fault(usize),
    /// It is over.
    Over(usize),
    /// From now on nothing goes wrong any more.
    Heal,
}

impl Event {
    /// The node whose process it is about, and no later one of it.
    fn process(&self) -> Option<u32> {
        match self {
            Event::Turn(node, _)
            | Event::Begin(node)
            | Event::PeerIncarnations(node)
            | Event::Pulse(node)
            | Event::Dial(node)
            | Event::Exit(node, _)
            | Event::Stopped(node)
            | Event::Shelved(node)
            | Event::Leave(node)
            | Event::Killed(node)
            | Event::Seek(node, _)
            | Event::Come(node, _)
            | Event::Gather(node, _)
            | Event::Orphaned(node) => Some(*node),
            Event::Letter(_, letter) => letter.process(),
            _ => None,
        }
    }
}

/// An event that is to come.
struct Planned {
    event: Event,
    /// If it is one of a process: of which of those that its node has had.
    life: u32,
}

/// What the first PE does first.
pub(super) type Main = Rc<dyn Fn(&Pe)>;

/// A world. Its parts are in cells of their own, since a PE's turn may need any of them.
pub(super) struct World {
    pub(super) plan: Plan,
    now: Cell<u64>,
    agenda: RefCell<Agenda<Planned>>,
    pub(super) network: RefCell<Network>,
    /// Where the network plans: memory that is used again.
    pub(super) scratch: Cell<Vec<(u64, network::Event)>>,
    /// Pipes that PEs wrote to.
    pub(super) board: Board,
    pub(super) ends: RefCell<BTreeMap<(ConnId, Side), End>>,
    pub(super) launcher: RefCell<Launcher>,
    pub(super) post: RefCell<Post>,
    pub(super) agents: RefCell<BTreeMap<u32, Agent>>,
    pub(super) nodes: Processes,
    pub(super) trace: RefCell<Trace>,
    rng: RefCell<Rng>,
    /// What each node is told that it is.
    pub(super) tasks: Vec<Task>,
    pub(super) main: Main,
    /// What somebody outside may end.
    watched: Arc<Job>,
    pub(super) faults: RefCell<Faults>,
    /// How many there have been.
    pub(super) steps: Cell<u64>,
    pub(super) injected: RefCell<BTreeMap<&'static str, u64>>,
    pub(super) hurt: RefCell<Vec<(u64, What)>>,
    /// Nodes that faults killed before they had said all.
    pub(super) cut_short: RefCell<Vec<u32>>,
    pub(super) flaws: RefCell<Vec<String>>,
    /// It goes on for too long: whoever waits stops waiting.
    doomed: Cell<bool>,
    pub(super) launcher_stopped_until: Cell<u64>,
    /// How often a launcher was lost or found: what is said to one is not heard by the next.
    pub(super) era: Cell<u32>,
    /// The node that leads, if that is not the process that was started.
    pub(super) leader: Cell<Option<u32>>,
    /// The node that is to lead, as long as it waits for others.
    pub(super) gathering: RefCell<Option<Gathering>>,
    /// What there is in place of that if there are several hosts.
    pub(super) succession: RefCell<Succession>,
    /// The newest version that nobody may go back behind, whether anybody who is left knows that or not.
    pub(super) committed: Cell<Option<Version>>,
    /// The newest one that anybody knew to be committed.
    pub(super) known: Cell<Option<Version>>,
    /// Versions that only the dead knew to be committed when all others were told to go back behind them.
    pub(super) forgotten: RefCell<BTreeSet<Version>>,
    /// All have been told to go on after a loss, and have got over it when they know of this version, or a later one, that it is committed.
    pub(super) awaited: Cell<Option<Version>>,
    /// The step by which they had got over the last one.
    pub(super) recovered: Cell<Option<u64>>,
    /// Nodes that somebody has asked the job to go on without.
    pub(super) to_leave: RefCell<Vec<u32>>,
    /// When the launcher was gone or had nothing left to lead.
    unled_since: Cell<Option<u64>>,
}

impl World {
    pub(super) fn new(
        plan: &Plan,
        launcher: Launcher,
        nodes: Vec<Process>,
        tasks: Vec<Task>,
        main: Main,
        watched: Arc<Job>,
        logging: bool,
    ) -> Rc<World> {
        // A generator for each part, so that what one draws changes nothing elsewhere.
        let mut seeds = Rng::new(plan.seed);
        let (network, own) = (Rng::new(seeds.next_u64()), Rng::new(seeds.next_u64()));
        Rc::new(World {
            network: RefCell::new(Network::new(plan, nodes.iter().map(|process| process.host), network)),
            scratch: Cell::default(),
            plan: plan.clone(),
            now: Cell::new(0),
            agenda: RefCell::new(Agenda::new()),
            board: Board::default(),
            ends: RefCell::default(),
            launcher: RefCell::new(launcher),
            post: RefCell::default(),
            agents: RefCell::default(),
            trace: RefCell::new(Trace::new(nodes.len() as u32, logging)),
            nodes: Processes::new(nodes),
            tasks,
            rng: RefCell::new(own),
            main,
            watched,
            faults: RefCell::default(),
            steps: Cell::new(0),
            injected: RefCell::default(),
            hurt: RefCell::default(),
            cut_short: RefCell::default(),
            flaws: RefCell::default(),
            doomed: Cell::new(false),
            launcher_stopped_until: Cell::new(0),
            era: Cell::new(0),
            leader: Cell::new(None),
            gathering: RefCell::default(),
            succession: RefCell::default(),
            committed: Cell::new(None),
            known: Cell::new(None),
            forgotten: RefCell::default(),
            awaited: Cell::new(None),
            recovered: Cell::new(None),
            to_leave: RefCell::default(),
            unled_since: Cell::new(None),
        })
    }

    /// From the launcher's start until nothing is left.
    pub(super) fn run(self: &Rc<Self>) {
        let world: Weak<World> = Rc::downgrade(self);
        let wait = move |pe| {
            let _nobody = Nobody::enter();
            world.upgrade().is_some_and(|world| world.sim_wait(pe))
        };
        let _waiting = SimWaiting::by(Rc::new(wait));
        self.begin();
        while !self.is_over() && self.step() {}
    }

    fn begin(&self) {
        for process in self.nodes.iter().filter(|process| !process.is_gone()) {
            self.plan(self.between(START_NS), Event::Begin(process.number));
        }
        self.plan(self.look_ns(), Event::Look);
        self.start_agents();
        self.plan_faults();
    }

    fn is_over(&self) -> bool {
        let led = !(self.launcher.borrow().is_over() || self.launcher.borrow().gone);
        !led && self.nodes.iter().all(Process::is_gone) && !self.may_hear_the_end()
    }

    /// The next event; whether there was one, and there may be more.
    pub(super) fn step(&self) -> bool {
        let next = self.agenda.borrow_mut().next();
        let Some(due) = next else {
            self.give_up("nothing is left to happen, and the job is not over");
            return false;
        };
        self.now.set(due.at.max(self.now()));
        if self.lasts_too_long() {
            return false;
        }
        self.strike_before(self.steps.replace(self.steps.get() + 1));
        match self.suspended_until(&due.event.event) {
            _ if self.is_outdated(&due.event) => {}
            Some(until) => self.agenda.borrow_mut().put_off(until, due),
            None => self.dispatch(due.event.event),
        }
        self.end_if_forsaken();
        true
    }

    fn dispatch(&self, event: Event) {
        match event {
            Event::Net(event) => self.on_network(event),
            Event::Net2(happening) => self.on_happening(*happening),
            Event::Turn(node, rank) => self.turn(node, rank),
            Event::Letter(era, letter) if self.plan.passes_on() => self.on_letter_between_hosts(era, *letter),
            Event::Hosts(step) => self.on_step(*step),
            Event::Letter(era, letter) if letter.is_of_launcher() && era != self.era.get() => drop(letter),
            Event::Letter(_, letter) => self.on_letter(*letter),
            Event::Retry(way) => self.post_between(way),
            Event::Begin(node) => self.begin_process(node),
            Event::PeerIncarnations(node) => self.begin_if_met(node),
            Event::Pulse(node) => self.on_pulse(node),
            Event::Look => self.on_look(),
            Event::HostBeat(host) => self.on_host_beat(host),
            Event::AgentBeat(host) => self.on_agent_beat(host),
            Event::Dial(node) => self.on_dial(node),
            Event::Deadline(conn, side) => self.on_deadline(conn, side),
            Event::Return(node, with_disk) => self.send_impostor(node, with_disk),
            Event::Exit(node, status) => self.exit(node, status),
            Event::Stopped(node) => self.stopped(node),
            Event::Shelved(node) => self.on_shelved(node),
            Event::Leave(node) => self.leave(node),
            Event::Killed(node) => self.kill(node),
            Event::Orphaned(node) => self.on_orphaned(node),
            Event::Stranger(node) => self.on_stranger(node),
            Event::Seek(node, turn) => self.seek(node, turn),
            Event::Come(node, at) => self.on_come(node, at),
            Event::Gather(node, is_tick) => self.on_gather(node, is_tick),
            Event::Fault(number) => self.strike(number),
            Event::Over(number) => self.relent(number),
            Event::Heal => self.heal(),
        }
    }

    /// Until when an event has to wait because the process that it concerns is stopped.
    fn suspended_until(&self, event: &Event) -> Option<u64> {
        let until = match event {
            Event::Look | Event::HostBeat(_) => self.launcher_stopped_until(),
            Event::Hosts(step) if step.is_of_launcher() => self.launcher_stopped_until(),
            // Whoever is to take the launcher's place is not stopped with it.
            Event::Letter(era, _) if self.plan.passes_on() && *era != self.era.get() => 0,
            Event::Letter(_, letter) => self.reader_stopped_until(letter),
            Event::Turn(node, _)
            | Event::Orphaned(node)
            | Event::Pulse(node)
            | Event::Dial(node)
            | Event::Seek(node, _)
            | Event::Come(_, node)
            | Event::Gather(node, _)
            | Event::Exit(node, _) => self.nodes[*node as usize].stopped_until.get(),
            // Of these a disk has a part, though not always.
            Event::PeerIncarnations(node)
            | Event::Stopped(node)
            | Event::Shelved(node)
            | Event::Leave(node) => {
                let stopped_until = self.nodes[*node as usize].stopped_until.get();
                stopped_until.max(self.disk_hangs_until(*node))
            }
            Event::Net2(happening) => self.stopped_by(happening),
            Event::Deadline(conn, side) => {
                self.node_at(*conn, *side).map_or(0, |node| self.nodes[node as usize].stopped_until.get())
            }
            _ => 0,
        };
        (until > self.now()).then_some(until)
    }

    /// Until when whoever reads a letter is stopped.
    fn reader_stopped_until(&self, letter: &Letter) -> u64 {
        match letter {
            Letter::ToNode(node, _) => self.nodes[*node as usize].stopped_until.get(),
            letter if letter.is_for_launcher() => self.launcher_stopped_until(),
            _ => 0,
        }
    }

    /// The same of the launcher.
    pub(super) fn launcher_stopped_until(&self) -> u64 {
        match self.leader.get() {
            None => self.launcher_stopped_until.get(),
            Some(leader) => self.nodes[leader as usize].stopped_until.get(),
        }
    }

    /// A sender waits for room on a link, or somebody for what is to happen at a step, in the turn of its PE: something else
    /// happens meanwhile. Whether its process still lives.
    fn sim_wait(&self, pe: PeId) -> bool {
        let (node, since) = (pe / self.plan.pes_per_node, self.now());
        self.after_turn(node);
        let process = &self.nodes[node as usize];
        while self.step() && !self.doomed.get() && !process.is_gone() {
            let Some(running) = process.running() else { return false };
            let waits = match process.steps.of(pe) {
                Some((_, is_seen)) => !is_seen && self.now() < since + STEP_WAIT_NS,
                None => !running.pes[(pe - node * self.plan.pes_per_node) as usize].is_wait_over(),
            };
            if !waits && process.stopped_until.get() <= self.now() {
                return true;
            }
        }
        false
    }

    fn lasts_too_long(&self) -> bool {
        let (now, events) = (self.now(), self.trace.borrow().events());
        if now > self.plan.patience_ns {
            self.give_up("the job hangs: it takes longer than the plan's patience");
        } else if events > self.plan.events_max {
            self.give_up("the job does not end: there are more events than the plan allows");
        } else if self.unled_since.get().is_some_and(|since| now > since + self.last_chance_ns()) {
            self.give_up("a process outlives its launcher");
        }
        self.doomed.get()
    }

    /// So long after the launcher's end all processes have to be gone: silence is noticed by then, with a tick or two more.
    fn last_chance_ns(&self) -> u64 {
        let stopped = self.nodes.iter().map(|node| node.stopped_until.get()).max().unwrap_or(0);
        let silences = if self.plan.passes_on() { 8 + 3 * self.plan.hosts.len() as u64 } else { 2 };
        silences * self.plan.silence.as_nanos() as u64 + 20 * TICK_NS + stopped.saturating_sub(self.now())
    }

    fn give_up(&self, why: &str) {
        if !self.doomed.replace(true) {
            let at = Duration::from_nanos(self.now());
            self.flaw(format!("{why}; {at:?} after the start"));
            self.say(Who::Launcher, format_args!("given up: {why}"));
        }
    }

    fn on_look(&self) {
        if self.launcher.borrow().gone || self.launcher.borrow().is_over() {
            return;
        }
        let interrupted = self.watched.how_it_ended().map(|end| end.status);
        self.lead(|launcher, now, deeds| launcher.on_time(now, interrupted, deeds));
        self.plan(self.now() + self.look_ns(), Event::Look);
    }

    fn look_ns(&self) -> u64 {
        let kills = !self.plan.kills.is_empty() || self.plan.chaos.is_some();
        if kills { LOOK_TO_KILL_NS } else { LOOK_NS }
    }

    fn on_host_beat(&self, host: u32) {
        if self.launcher.borrow().gone || self.launcher.borrow().is_over() {
            return;
        }
        self.lead(|launcher, now, deeds| launcher.on_beat(now, host, deeds));
        self.plan(self.now() + TICK_NS, Event::HostBeat(host));
    }

    pub(super) fn on_letter(&self, letter: Letter) {
        match letter {
            Letter::ToNode(node, message) => {
                let host = self.nodes[node as usize].host;
                self.agent_hears(host);
                if self.has_agent(host) {
                    self.on_message(node, message);
                }
            }
            Letter::Kill(node) => {
                let host = self.nodes[node as usize].host;
                self.agent_hears(host);
                if self.has_agent(host) {
                    self.kill(node);
                }
            }
            Letter::Start(node, host) => {
                self.agent_hears(host);
                self.start_again(node, self.has_agent(host) && !self.launcher.borrow().gone);
            }
            Letter::Ping(host) | Letter::Roll(host, _) | Letter::Out(host) | Letter::Here(host, _) => {
                self.agent_hears(host);
            }
            Letter::HangUp(host) => self.end_agent(host),
            letter if self.launcher.borrow().gone => drop(letter),
            letter => {
                if !letter.is_sign_of_life() {
                    self.say(Who::Launcher, format_args!("hears {}", letter.words()));
                }
                self.commit_printed(&letter);
                self.lead(|launcher, now, deeds| launcher.on_letter(now, letter, deeds));
            }
        }
    }

    /// The launcher does something; what comes of it.
    pub(super) fn lead(&self, f: impl FnOnce(&mut Launcher, Duration, &mut Deeds)) {
        let mut deeds = Deeds::default();
        let now = Duration::from_nanos(self.now());
        let before = self.launcher.borrow().status();
        f(&mut self.launcher.borrow_mut(), now, &mut deeds);
        self.judge_end(before);
        for line in &deeds.said {
            self.say(Who::Launcher, line);
        }
        for line in &deeds.printed {
            self.say(Who::Launcher, format_args!("prints {line}"));
            self.watched.output.print(line);
        }
        for letter in &deeds.letters {
            self.judge_order(letter);
            self.note_let_go(letter);
            self.note_going_back(letter);
        }
        let era = self.era.get();
        deeds.letters.into_iter().for_each(|letter| self.post_in(era, letter));
        if self.plan.passes_on() {
            deeds.lost.into_iter().for_each(|host| self.on_host_lost(host));
        }
        if self.launcher.borrow().is_over() {
            self.unlead();
        }
    }

    /// The launcher is gone, or has nothing left to lead: its connections with agents end.
    pub(super) fn unlead(&self) {
        if self.unled_since.get().is_none() {
            self.unled_since.set(Some(self.now()));
            let (hosts, era) = (1..self.plan.hosts.len() as u32, self.era.get());
            match self.plan.passes_on() {
                true => (0..hosts.end).for_each(|host| self.post_in(era, Letter::Out(host))),
                false => hosts.for_each(|host| self.post(Letter::HangUp(host))),
            }
            // Nobody needs those who wait any more.
            let waiting = self.launcher.borrow().waiting();
            waiting.into_iter().for_each(|spare| self.post(Letter::Kill(spare)));
        }
    }

    /// The launcher is gone, and another one may take its place.
    pub(super) fn is_unled(&self) {
        self.unled_since.set(self.unled_since.get().or(Some(self.now())));
    }

    /// One has.
    pub(super) fn is_led_again(&self) {
        self.unled_since.set(None);
    }

    pub(super) fn stop_launcher(&self, until: u64) {
        stop(&self.launcher_stopped_until, until);
    }

    pub(super) fn now(&self) -> u64 {
        self.now.get()
    }

    pub(super) fn plan(&self, at: u64, event: Event) {
        let life = self.life_of(&event);
        self.plan_for(at, event, life);
    }

    /// The same, of this process of its node.
    pub(super) fn plan_for(&self, at: u64, event: Event, life: u32) {
        self.agenda.borrow_mut().plan(at.max(self.now()), Planned { event, life });
    }

    /// Which of its node's processes this is about, if it is about one.
    fn life_of(&self, event: &Event) -> u32 {
        event.process().map_or(0, |node| self.nodes.life(node))
    }

    /// Another process is in the place of the one that this is about.
    fn is_outdated(&self, Planned { event, life }: &Planned) -> bool {
        *life != self.life_of(event)
    }

    pub(super) fn between(&self, (low, high): (u64, u64)) -> u64 {
        low + self.rng.borrow_mut().below(high.saturating_sub(low))
    }

    /// Whether something comes to pass that does so often of a million times.
    pub(super) fn happens(&self, ppm: u32) -> bool {
        ppm > 0 && self.rng.borrow_mut().below(1_000_000) < u64::from(ppm)
    }

    pub(super) fn random_bytes(&self) -> [u8; 32] {
        let mut rng = self.rng.borrow_mut();
        std::array::from_fn(|_| rng.next_u64() as u8)
    }

    pub(super) fn nodes_of(&self, host: u32) -> impl Iterator<Item = u32> + '_ {
        self.nodes.iter().filter(move |node| node.host == host).map(|node| node.number)
    }

    /// Something hung, or was left over, or happened that only a world can see to be wrong.
    pub(super) fn flaw(&self, what: String) {
        self.flaws.borrow_mut().push(what);
    }

    pub(super) fn say(&self, who: Who, what: impl std::fmt::Display) {
        self.trace.borrow_mut().say(self.now(), who, what);
    }
}
