//! Each PE of a job that is over runs again, alone, from what it was given (`pe/input_log.rs`): a fresh one has to send the same bytes.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use super::{Cluster, accept, cores};
use talisman_base::clock::{Clock, Meter, Simulated};
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_core::checkpoint::restore::RestoreOnPe;
use talisman_core::services::SERVICES;
use talisman_job::Output;
use talisman_job::job::Job;
use talisman_kernel::node::{Config, Node};
use talisman_kernel::panics::caught;
use talisman_kernel::pe::input_log::{Frame, InputLog, Logged};
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Outbox, Port};
use talisman_pup::Packed;

/// What one PE was given and sent, and where it was.
pub(super) struct Record {
    id: PeId,
    view: Arc<View>,
    shape: Shape,
    config: Config,
    made_at: u64,
    log: Vec<Logged>,
    values: VecDeque<Vec<u8>>,
    /// Read-only values that came to its node: their contents are no input, but that it heard of them.
    shared: BTreeMap<u64, Packed>,
}

impl Cluster {
    /// What its PEs kept of what they were given, if they did.
    pub(super) fn records(&mut self) -> Vec<Record> {
        self.pes.iter_mut().filter_map(record).collect()
    }
}

fn record(pe: &mut Pe) -> Option<Record> {
    let (made_at, log, values) = pe.input_log.take()?;
    let node = &pe.node;
    let (view, shape, config) = (node.view.clone(), node.shape, node.config.clone());
    let shared = node.shared.all();
    Some(Record { id: pe.id, view, shape, config, made_at, log, values, shared })
}

/// Runs each again. The job fails if one does not send what it sent.
pub(super) fn verify(records: Vec<Record>, job: &Job) {
    for record in records {
        if let Err(difference) = Replay::of(&record).run(record.log) {
            return job.end(1, Some(difference));
        }
    }
}

/// A fresh PE, and how far it has come.
struct Replay {
    pe: Pe,
    clock: Rc<Cell<u64>>,
    job: Arc<Job>,
    /// Inputs so far.
    inputs: u64,
    /// The last of them, for people.
    last: String,
}

impl Replay {
    fn of(record: &Record) -> Self {
        let (job, clock) = (Job::new(Output::capture()), Rc::new(Cell::new(record.made_at)));
        let number = record.shape.node_of(record.id);
        let (view, config) = (record.view.clone(), record.config.clone());
        let config = Config { is_simulated: true, ..config };
        let node = Node::in_view(view, Arc::default(), record.shape, number, config, job.clone());
        node.shared.lend_library(record.shared.clone());
        let time = Clock::Simulated(Simulated {
            now: clock.clone(),
            computed: cores::computed,
            meter: Meter::Clock,
        });
        let mut pe = Pe::new(record.id, node, time, Port::Simulated(Outbox::default()), SERVICES);
        pe.input_log = InputLog::again(record.values.clone());
        Replay { pe, clock, job, inputs: 0, last: String::new() }
    }

    fn run(mut self, log: Vec<Logged>) -> Result<(), String> {
        for logged in log {
            self.take(logged).map_err(|what| self.differs(&what))?;
        }
        Ok(())
    }

    fn differs(&self, what: &str) -> String {
        let Replay { pe, clock, inputs, last, .. } = self;
        let at = clock.get();
        let ended = self.job.how_it_ended().and_then(|end| end.message);
        let ended = ended.map_or_else(String::new, |why| format!("; when it ran again it said: {why}"));
        format!(
            "PE {} does not do the same when it is given the same: {what}. That is after input {inputs}, {last}, at {at} ns{ended}",
            pe.id
        )
    }

    /// The next of its inputs, or what it is to have sent by now.
    fn take(&mut self, logged: Logged) -> Result<(), String> {
        if let Logged::Sent { frames, run } = logged {
            return self.compare(&frames, run);
        }
        if let Logged::Time(now) = logged {
            self.clock.set(now);
            return Ok(());
        }
        self.inputs += 1;
        self.last = logged.describe(&self.pe);
        let pe = &self.pe;
        let _here = Here::enter(pe);
        let mut taken = Ok(());
        caught(pe, || taken = give(pe, logged));
        taken
    }

    fn compare(&self, expected: &[(PeId, Frame)], run: u64) -> Result<(), String> {
        let pe = &self.pe;
        let _here = Here::enter(pe);
        let Port::Simulated(outbox) = &pe.port else { unreachable!("made above") };
        let sent = outbox.take();
        let sent: Vec<_> = sent.iter().filter_map(|sent| Some((sent.to, Frame::of(&sent.parcel)?))).collect();
        let show = |frame: Option<&(PeId, Frame)>| match frame {
            Some((to, frame)) => format!("to PE {to}, {}", frame.describe(pe)),
            None => "nothing".into(),
        };
        for nth in 0..sent.len().max(expected.len()) {
            let (was, is) = (expected.get(nth), sent.get(nth));
            if was != is {
                let nth = nth + 1;
                return Err(format!("message {nth} was {}, and is now {}", show(was), show(is)));
            }
        }
        if pe.input_log.is_short() {
            return Err("the program asks for more values of the world than it did".into());
        }
        match pe.stats.run.get() {
            is if is == run => Ok(()),
            is => Err(format!("{run} entries had run, and now {is} have")),
        }
    }
}

/// Gives a PE what another was given.
fn give(pe: &Pe, logged: Logged) -> Result<(), String> {
    match logged {
        Logged::Begins(message) => pe.begin_again(message)?,
        Logged::Restored(parts) => {
            let parts = parts.into_value().map_err(|error| format!("a part cannot be read: {error}"))?;
            if !pe.restore(parts) {
                return Err("it could not begin with its parts".into());
            }
        }
        Logged::Taken { from, frame } => accept(pe, from, frame.into_parcel()),
        Logged::Ran => {
            if !pe.turn(Once) {
                return Err("a message ran here, and none waits now".into());
            }
        }
        Logged::Timers => _ = pe.run_timers(),
        Logged::Rested => _ = pe.do_chores(),
        Logged::Idle(idle_ns, released_ns) => pe.was_idle(idle_ns, released_ns),
        Logged::Asked(command) => pe.command(command),
        Logged::Time(_) | Logged::Sent { .. } => {}
    }
    Ok(())
}

/// One message runs.
struct Once;

impl Feed for Once {
    fn most(&self) -> usize {
        1
    }
}
