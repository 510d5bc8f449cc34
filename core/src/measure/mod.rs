//! What load balancing has to know: how long each object ran, what else its PE was busy with, and who talks with whom.
//!
//! Nothing is measured unless the job asks for it ([`Measures`]). [`Pe::local`] ends a period and tells what was measured in it.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use talisman_lb::background::{Core, Period};
use talisman_lb::load::Meter;
use talisman_lb::member::Local;
use talisman_lb::snapshot::{self, Key, Object};
use talisman_lb::strategy::Wants;

use crate::chare::Kind;
use crate::clock::Clock;
use crate::ids::ObjId;
use crate::object::Head;
use crate::pe::Pe;

/// Objects whose entries take longer than about a microsecond, in ticks of a 2 to 4 GHz counter, have every call timed.
const LONG_TICKS: u64 = 2_500;

/// What is measured for load balancing in a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measures {
    /// How long each object runs.
    pub(crate) loads: bool,
    /// Messages between objects, for strategies that want them.
    pub(crate) edges: bool,
    /// What an object takes when packed, which takes going through each at the end of every period.
    pub(crate) sizes: bool,
}

/// What a PE measures.
pub(crate) struct Measuring {
    /// Whether entries are timed.
    pub(crate) loads: bool,
    pub(crate) meter: RefCell<Meter>,
    since: Cell<Since>,
    core: Cell<Core>,
}

/// The counts at a period's beginning.
#[derive(Clone, Copy, Default)]
struct Since {
    now_ns: u64,
    ticks: u64,
    idle_ns: u64,
    released_ns: u64,
    computed_ns: Option<u64>,
}

impl Measuring {
    pub(crate) fn new(measures: Measures, clock: &Clock) -> Self {
        let ticks = clock.ticks();
        let now_ns = clock.now().as_nanos() as u64;
        Measuring {
            loads: measures.loads,
            meter: RefCell::new(Meter::new(LONG_TICKS)),
            since: Cell::new(Since { now_ns, ticks, ..Since::default() }),
            core: Cell::default(),
        }
    }
}

impl Pe {
    /// The first period begins, on the thread that the PE runs on from now on.
    pub(crate) fn begin_measuring(&self) {
        if self.measuring.loads {
            self.end_period();
        }
    }

    /// What was measured since the last call; the next period begins.
    pub(crate) fn local(&self, _: Wants) -> Local {
        let (period, seconds_per_tick) = self.end_period();
        let mut core = self.measuring.core.get();
        let share = core.share(&period);
        let mut objects: Vec<_> =
            self.slots.iter().filter_map(|head| self.measured(head, share * seconds_per_tick)).collect();
        objects.sort_unstable_by_key(|object| object.key);
        let moving = objects.iter().map(|object| object.load).sum();
        let background = core.background(&period, moving);
        self.measuring.core.set(core);
        let pe = snapshot::Pe { node: self.node.number, speed: 1.0, background, available: true };
        let node = snapshot::Node { host: 0, memory: None };
        Local { number: self.id, pe, node, pes: self.pes(), objects, edges: Vec::new(), peers: Vec::new() }
    }

    /// Seconds that the objects here that may be balanced have computed in this period so far.
    pub(crate) fn load_so_far(&self) -> f64 {
        let since = self.measuring.since.get();
        let ticks = self.clock.ticks().saturating_sub(since.ticks);
        let wall = seconds((self.clock.now().as_nanos() as u64).saturating_sub(since.now_ns));
        let seconds_per_tick = if ticks == 0 { 1e-9 } else { wall / ticks as f64 };
        let loads = self.slots.iter().filter_map(|head| {
            // SAFETY: an object in a slot is live.
            let object = unsafe { head.as_ref() };
            (object.collection().chare.kind == Kind::Array).then(|| object.load.get().max(0))
        });
        loads.sum::<i64>() as f64 * seconds_per_tick
    }

    /// The period that ends, and how long a tick was in it, in seconds.
    fn end_period(&self) -> (Period, f64) {
        let now = Since {
            now_ns: self.clock.now().as_nanos() as u64,
            ticks: self.clock.ticks(),
            idle_ns: self.stats.idle_ns.get(),
            released_ns: self.stats.released_ns.get(),
            computed_ns: self.clock.computed().map(|computed| computed.as_nanos() as u64),
        };
        let since = self.measuring.since.replace(now);
        let wall = seconds(now.now_ns - since.now_ns);
        let period = Period {
            wall,
            idle: seconds(now.idle_ns - since.idle_ns),
            released: seconds(now.released_ns - since.released_ns),
            cpu: now
                .computed_ns
                .map(|computed| seconds(computed.saturating_sub(since.computed_ns.unwrap_or(0)))),
        };
        let ticks = now.ticks.saturating_sub(since.ticks);
        (period, if ticks == 0 { 1e-9 } else { wall / ticks as f64 })
    }

    /// An object that may be balanced, as measured; its next period begins.
    fn measured(&self, head: NonNull<Head>, seconds_per_tick: f64) -> Option<Object> {
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        let ticks = object.load.take();
        object.messages.set(0);
        (object.collection().chare.kind == Kind::Array).then(|| Object {
            key: key_of(object.id()),
            load: ticks.max(0) as f64 * seconds_per_tick,
            bytes: 0,
            pe: self.id,
            migratable: true,
            position: None,
        })
    }
}

/// What balancing calls an object.
pub(crate) fn key_of(id: ObjId) -> Key {
    Key {
        collection: u64::from(id.collection.creator) << 32 | u64::from(id.collection.serial),
        index: id.index,
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}
