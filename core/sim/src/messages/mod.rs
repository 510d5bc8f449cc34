//! A whole job in one thread, message by message: simulated clock, simulated network.
//!
//! The PEs are the real ones; only their clock and their port are not. Between nodes messages travel packed, as they
//! do on a wire. What takes how long, and who goes first, is decided by `Rules`: by a seed (`chance`), to find what goes
//! wrong in an unlikely order, or by the model of a machine (`model`), to see how a program would do on it. Either way the
//! same program gives the same events in the same order: the hash over all of them tells.

mod agenda;
pub mod back;
mod chance;
mod charge;
mod cores;
mod flights;
mod hosts;
mod jobs;
pub mod logged;
pub mod losing;
mod machine;
mod model;
mod replay;
#[cfg(test)]
mod tests;
mod trace;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use agenda::Agenda;
use chance::Chance;
use flights::{Flight, Flights, Stage};
use logged::Logged;
use model::Model;
use talisman_core::leftovers::LeftoversOnPe;
use trace::Trace;

pub use charge::charge;
pub use cores::{Core, Guest};
use jobs::run_losing;
pub use jobs::{run_going_back, run_logging, run_on, run_simulated, run_without};
pub use losing::Losses;
pub use machine::{Machine, Way};

use talisman_base::clock::{Clock, Meter, Simulated};
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_core::chare::{Args, MainChare};
use talisman_core::services::SERVICES;
use talisman_job::job::Job;
use talisman_job::{Output, Progress, RunArgs};
use talisman_kernel::node::{Config, Node};
use talisman_kernel::pe::turn::Command;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{self, Outbox, Parcel, Port, Sent};
use talisman_kernel::wire;
use talisman_kernel::witness::{self, Seen, Why};
use talisman_node::trace::write_simulated_trace;
use talisman_node::{Done, Outcome, Watch};
use talisman_store::versions::Store;

/// So often in a row nothing is planned at most.
const VAIN_MAX: u32 = 1000;

/// Runs a program on so many nodes of a machine that there is only as a model. Its clock is that machine's.
pub fn run_modelled<C: MainChare>(
    args: impl Args + Send,
    machine: &Machine,
    nodes: u32,
    pes_per_node: u32,
) -> Outcome {
    run_modelled_with::<C>(args, machine, &RunArgs { nodes, pes: Some(pes_per_node), ..RunArgs::default() })
}

/// The same with any options, of which `--seed` decides nothing but the objects' random numbers.
pub fn run_modelled_with<C: MainChare>(
    args: impl Args + Send,
    machine: &Machine,
    options: &RunArgs,
) -> Outcome {
    let options = RunArgs { simulate: true, ..options.clone() };
    run_on::<C, _>(args, &options, &Watch::new(Output::capture(), Progress::off()), Some(machine))
}

/// The same where nodes are lost: `--ft double` and `--ckpt-every` say how the job survives that.
pub fn run_modelled_losing<C: MainChare>(
    args: impl Args + Send,
    machine: &Machine,
    options: &RunArgs,
    losses: &Losses,
) -> Outcome {
    let options = RunArgs { simulate: true, ..options.clone() };
    let watch = Watch::new(Output::capture(), Progress::off());
    run_losing::<C, _>(args, &options, &watch, machine, losses)
}

/// Runs a job: on the model of a machine, or, where there is none, as its seed decides. Nodes that the view says are lost are
/// never heard of.
pub fn run(
    view: View,
    shape: Shape,
    config: Config,
    job: &Arc<Job>,
    machine: Option<&Machine>,
    main: impl FnOnce(&Pe),
) -> Done {
    let seed = config.seed;
    let cluster = Cluster::new(view, shape, &config, job, 0);
    let node = cluster.pes[0].node.clone();
    cluster.begin_with(main);
    let done = match machine {
        Some(machine) => cluster.run(job, Model::new(machine, shape)),
        None => cluster.run(job, Chance::new(seed)),
    };
    if let Err(error) = write_simulated_trace(&node, done.wall) {
        job.warn(format!("--trace: it cannot be written: {error}"));
    }
    done
}

/// What takes how long, and who goes first.
trait Rules {
    /// The time of a PE's turn has come.
    fn turn(&mut self, cluster: &mut Cluster, pe: PeId, at: u64);

    /// The time has come for something on its way to get further.
    fn advance(&mut self, cluster: &mut Cluster, flight: u32, at: u64);

    /// Puts what a PE sent on its way.
    fn collect(&mut self, cluster: &mut Cluster, from: PeId);

    /// The job has ended.
    fn finish(&mut self, _: &mut Cluster) {}
}

struct Cluster {
    shape: Shape,
    /// Where the job begins.
    first: PeId,
    pes: Vec<Pe>,
    /// That of the PE that has its turn: ahead of the event's time by what it did in it.
    clock: Rc<Cell<u64>>,
    agenda: Agenda<What>,
    flights: Flights,
    states: Vec<State>,
    /// Vectors without anything in them, whose room is used again.
    spare_sent: Vec<Sent>,
    spare_arrived: Vec<Arrived>,
    /// Events planned so far.
    serial: u64,
    trace: Trace,
    /// What its nodes keep of their messages, if they do.
    logged: Option<Box<Logged>>,
}

/// What the simulator knows of a PE.
#[derive(Default)]
struct State {
    /// When it runs next, if that is planned.
    planned: Option<u64>,
    /// The latest time for which a turn has ever been planned.
    last: u64,
    /// Until when it is busy with what it ran last.
    busy_until: u64,
    /// Messages that it runs before it looks at what has arrived.
    batch_left: u32,
    /// What has arrived, or is about to: its first byte has.
    arrived: Vec<Arrived>,
}

struct Arrived {
    from: PeId,
    /// When its last byte is there.
    at: u64,
    bytes: u32,
    parcel: Parcel,
}

/// Something that happens at a time.
#[derive(Clone, Copy)]
enum What {
    /// A PE has its turn.
    Turn(PeId),
    /// Something on its way gets further.
    Flight(u32),
    /// Something arrives beside frames, of nodes that keep their messages.
    Mail(u32),
}

impl Cluster {
    fn new(view: View, shape: Shape, config: &Config, job: &Arc<Job>, now: u64) -> Self {
        let stores: Vec<_> = (0..shape.nodes).map(|_| Arc::default()).collect();
        Cluster::holding(view, &stores, shape, config, job, now)
    }

    /// One whose nodes hold what is in these stores.
    fn holding(
        view: View,
        stores: &[Arc<Store>],
        shape: Shape,
        config: &Config,
        job: &Arc<Job>,
        now: u64,
    ) -> Self {
        let stores: Vec<_> = stores.iter().map(|store| (store.clone(), job.clone())).collect();
        Cluster::of_jobs(Arc::new(view), &stores, shape, config, now)
    }

    /// One whose nodes hold what is in these stores, and say what they say to these jobs.
    fn of_jobs(
        view: Arc<View>,
        nodes: &[(Arc<Store>, Arc<Job>)],
        shape: Shape,
        config: &Config,
        now: u64,
    ) -> Self {
        let clock = Rc::new(Cell::new(now));
        let config = Config { is_simulated: true, ..config.clone() };
        let node = |(number, (store, job)): (u32, &(Arc<Store>, Arc<Job>))| {
            Node::in_view(view.clone(), store.clone(), shape, number, config.clone(), job.clone())
        };
        let nodes: Vec<_> = (0..).zip(nodes).map(node).collect();
        let pe = |id: PeId| {
            let node = nodes[shape.node_of(id) as usize].clone();
            Pe::new(
                id,
                node,
                Clock::Simulated(Simulated {
                    now: clock.clone(),
                    computed: cores::computed,
                    meter: Meter::Clock,
                }),
                Port::Simulated(Outbox::default()),
                SERVICES,
            )
        };
        Cluster {
            shape,
            first: view.first(),
            pes: (0..shape.pes()).map(pe).collect(),
            agenda: Agenda::default(),
            flights: Flights::default(),
            states: (0..shape.pes()).map(|_| State::default()).collect(),
            spare_sent: Vec::new(),
            spare_arrived: Vec::new(),
            serial: 0,
            trace: Trace::default(),
            logged: None,
            clock,
        }
    }

    fn run(mut self, job: &Job, mut rules: impl Rules) -> Done {
        self.begin(&mut rules);
        self.go_on(job, &mut rules, |_| false);
        rules.finish(&mut self);
        let records = self.records();
        let done = self.done();
        replay::verify(records, job);
        done
    }

    /// The first PE is given the job's first message.
    fn begin_with(&self, main: impl FnOnce(&Pe)) {
        let pe = &self.pes[self.first as usize];
        main(pe);
        let _here = Here::enter(pe);
        pe.note_beginning();
    }

    /// The first PE has its first message.
    fn begin(&mut self, rules: &mut impl Rules) {
        let first = self.first;
        rules.collect(self, first);
        self.wake(first, 0);
    }

    /// Until the job is over, or this is so.
    fn go_on(&mut self, job: &Job, rules: &mut impl Rules, until: impl Fn(&Cluster) -> bool) {
        let (first, mut vain) = (self.first, 0);
        while !job.is_over() && !until(self) {
            let Some((at, what)) = self.agenda.pop() else {
                // Nothing will happen any more, unless the first PE finds out why; it takes a few turns without any event.
                vain += 1;
                if vain > VAIN_MAX {
                    let why = "the simulation makes no progress; this is a mistake of the runtime";
                    job.end(1, Some(why.into()));
                }
                self.command(first, Command::Suspect);

                self.wake(first, self.clock.get());
                continue;
            };
            self.clock.set(at);
            self.logged.iter_mut().for_each(|logged| logged.set_time(at));
            match what {
                What::Turn(pe) if self.logged.is_some() => self.turn_of_logged(job, pe, at, rules),
                What::Turn(pe) => rules.turn(self, pe, at),
                What::Flight(flight) => rules.advance(self, flight, at),
                What::Mail(mail) => self.on_mail(job, mail, rules),
            }
        }
    }

    /// Asks something of a PE.
    fn command(&self, pe: PeId, command: Command) {
        let pe = &self.pes[pe as usize];
        let _here = Here::enter(pe);
        pe.command(command);
    }

    /// Whether a PE is to have its turn now; from here on none is planned.
    fn takes_turn(&mut self, id: PeId, at: u64) -> bool {
        let state = &mut self.states[id as usize];
        let is_planned = state.planned == Some(at);
        if is_planned {
            state.planned = None;
            witness::see(|| Seen::Turn { pe: id });
        }
        is_planned
    }

    /// A PE has had nothing to do since it was busy last: for how long.
    fn note_idle(&self, id: PeId, at: u64) -> u64 {
        let idle = at.saturating_sub(self.states[id as usize].busy_until);
        if self.tells_idleness() {
            self.pes[id as usize].was_idle(idle, 0);
        }
        idle
    }

    /// What a PE takes in now: what has arrived, if it is time to look.
    fn look(&mut self, id: PeId, batch: u32, at: u64) -> Vec<Arrived> {
        let (pe, state) = (&self.pes[id as usize], &mut self.states[id as usize]);
        if state.batch_left > 0 && !pe.is_queue_empty() {
            return Vec::new();
        }
        state.batch_left = batch;
        if self.logged.is_some() {
            return self.look_logged(id, at);
        }
        if state.arrived.is_empty() {
            return Vec::new();
        }
        let mut there = std::mem::replace(&mut state.arrived, std::mem::take(&mut self.spare_arrived));
        if there.iter().any(|arrived| arrived.at > at) {
            state.arrived.extend(there.extract_if(.., |arrived| arrived.at > at));
        }
        there
    }

    /// Plans a turn of a PE, unless an earlier one is planned.
    fn wake(&mut self, id: PeId, at: u64) {
        let state = &mut self.states[id as usize];
        let at = at.max(state.busy_until);
        if state.planned.is_none_or(|planned| planned > at) {
            state.planned = Some(at);
            // A timer's turn is wanted anew after each that comes before it, which may be millions: it is there already.
            let is_there = at == state.last && at > self.clock.get();
            state.last = state.last.max(at);
            match is_there {
                true => self.serial += 1,
                false => self.plan(at, What::Turn(id)),
            }
        }
    }

    /// Whether a PE has anything to do that is known now.
    fn has_work(&self, id: PeId) -> bool {
        let pe = &self.pes[id as usize];
        !pe.is_queue_empty() || pe.chores.get()
    }

    /// Plans a turn for when the next timer of a PE is due, or something is there, if any is.
    fn wake_later(&mut self, id: PeId, at: u64) {
        if let Some(next) = self.states[id as usize].arrived.iter().map(|arrived| arrived.at).min() {
            self.wake(id, next);
        }
        if self.logged.is_some() && self.has_any_logged(id) {
            self.wake(id, at + 1);
        }
        if let Some(due) = self.pes[id as usize].timers.next() {
            self.wake(id, (due.as_nanos() as u64).max(at + 1));
        }
    }

    /// What a PE sent since the last call.
    fn take_sent(&mut self, from: PeId) -> Vec<Sent> {
        let mut sent = std::mem::take(&mut self.spare_sent);
        if let Port::Simulated(outbox) = &self.pes[from as usize].port {
            outbox.swap(&mut sent);
        }
        self.pes[from as usize].note_sent(&sent);
        match self.logged.is_some() {
            true => self.sent_logged(from, sent),
            false => sent,
        }
    }

    /// Sends something on its way.
    fn depart(&mut self, from: PeId, sent: Sent, stage: Stage, at: u64) {
        let Sent { to, parcel, bytes, .. } = sent;
        let serial = self.serial + 1;
        let flight = self.flights.put(Flight { from, to, serial, bytes, stage, parcel });
        self.plan(at, What::Flight(flight));
    }

    /// Something arrives.
    fn arrive(&mut self, flight: Flight, at: u64) {
        self.trace.note(at, 1, flight.to, flight.serial);
        if self.logged.is_some() {
            return self.arrive_logged(flight);
        }
        let Flight { from, to, bytes, parcel, .. } = flight;
        self.states[to as usize].arrived.push(Arrived { from, at, bytes, parcel });
    }

    fn plan(&mut self, at: u64, what: What) {
        self.serial += 1;
        self.agenda.plan(at, what);
    }

    /// Ends every PE, with what is on its way to it.
    fn done(mut self) -> Done {
        let wall = Duration::from_nanos(self.clock.get());
        let arrived = self.states.iter_mut().flat_map(|state| std::mem::take(&mut state.arrived));
        let arrived = arrived.map(|arrived| arrived.parcel);
        for parcel in self.flights.drain().chain(arrived) {
            if let Parcel::Message(envelope) = parcel {
                let _here = Here::enter(&self.pes[0]);
                self.pes[0].discard(envelope, Why::Over);
            }
        }
        self.pes.iter().for_each(Pe::tell_of_undelivered);
        let totals = self.pes.iter().map(|pe| pe.stats.totals()).collect();
        Done { wall, totals, trace: Some(self.trace.hash), events: self.trace.events }
    }
}

fn accept(pe: &Pe, from: PeId, parcel: Parcel) {
    pe.note_taken(from, &parcel);
    let origin = pe.trace_comes(from);
    let is_near = pe.node.shape.node_of(from) == pe.node.number;
    let read = match parcel {
        Parcel::Message(envelope) => Ok(envelope),
        // Packed for the log alone.
        Parcel::Frame { head, segments } if is_near => wire::read_within_node(pe, &head, segments),
        Parcel::Frame { head, segments } => wire::receive(pe, &head, segments),
    };
    match read {
        // Nothing runs as it is taken in where that is logged.
        Ok(envelope) if is_near && !pe.input_log.is_told() => port::take_in_message(pe, envelope, origin),
        Ok(envelope) => {
            pe.trace_keep(envelope, origin);
            pe.accept(envelope);
        }
        Err(error) => pe.node.job.end(1, Some(error.to_string())),
    }
}
