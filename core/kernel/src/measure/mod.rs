//! What load balancing has to know: how long each object ran, what else its PE was busy with, and who talks with whom.
//!
//! Nothing is measured for it unless the job asks for that ([`Measures`](talisman_job::Measures)). [`Pe::local`] ends a period and tells what was measured in
//! it. Else loads are estimated, by entries that are timed so seldom that it costs nothing to speak of: for the advice at the job's
//! end.
//!
//! An entry is timed by the processor's counter, at all calls or at some (`talisman_lb::load`); a long one by its thread's CPU time.
//! Where the counter says that an entry took far longer than is usual, the CPU time tells whether others had the core meanwhile,
//! and that is taken off. So an object's load is what it computes, whoever else wants the core. What share of its core the PE
//! had in a period is known from its CPU time as well; the rest is background.

mod calls;
mod given;
mod loads_at_end;
mod past;
#[cfg(test)]
mod tests;
mod traffic;

use std::cell::{Cell, RefCell};
use std::ptr::{NonNull, from_ref};

use crate::kind::Kind;
use crate::node::Config;
use crate::object::{Head, flag};
use crate::pe::Pe;
use talisman_lb::background::{Core, Period};
use talisman_lb::load::Meter;
use talisman_lb::member::Local;
use talisman_lb::sampler::Sampler;
use talisman_lb::snapshot::{self, Key, Object};
use talisman_lb::strategy::Wants;

pub use given::{Given, is_load, is_position};
use past::Pasts;
use talisman_base::clock::Clock;
use talisman_base::ids::{CollectionId, ObjId};
use talisman_pup::{Lender, Packer, Purpose};
use traffic::Traffic;

/// What a PE measures.
pub struct Measuring {
    /// Whether entries are timed.
    pub loads: bool,
    /// If not: whether some are, so few that it costs next to nothing. That is for what is said at the end of the job.
    estimates: bool,
    /// Whether messages between objects are counted.
    pub edges: bool,
    sizes: bool,
    /// Whether messages are traced.
    is_traced: bool,
    /// Whether anything is done about messages whose arguments have memory of their own.
    sees_heavy: bool,
    meter: Meter,
    /// Picks gaps without work that are too short to read the clock at each.
    gaps: Sampler,
    /// Ticks of these gaps.
    gap_ticks: Cell<u64>,
    traffic: Traffic,
    pasts: RefCell<Pasts>,
    /// When the CPU time was last looked at because of a call that took long.
    looked: Cell<Usage>,
    since: Cell<Since>,
    core: Cell<Core>,
}

/// How exactly loads are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loads {
    /// Not at all.
    Ignored,
    /// For what is said at the end of the job: so seldom that it costs next to nothing.
    Estimated,
    /// For load balancing.
    Measured,
}

/// The counts at a period's beginning.
#[derive(Clone, Copy, Default)]
struct Since {
    usage: Usage,
    ticks: u64,
    idle_ns: u64,
    gap_ticks: u64,
}

/// How a PE used its core up to a time.
#[derive(Clone, Copy, Default)]
struct Usage {
    now_ns: u64,
    released_ns: u64,
    computed_ns: Option<u64>,
}

impl Usage {
    /// What others had of the core since then, while the PE wanted it.
    fn stolen_since(&self, since: &Usage) -> u64 {
        let Some((now, before)) = self.computed_ns.zip(since.computed_ns) else { return 0 };
        let wanted = (self.now_ns - since.now_ns).saturating_sub(self.released_ns - since.released_ns);
        wanted.saturating_sub(now.saturating_sub(before))
    }
}

impl Measuring {
    pub fn new(config: &Config, clock: &Clock) -> Self {
        let (measures, is_traced) = (config.measures, config.trace.is_some());
        let loads = match (measures.loads, config.estimates_loads && clock.measures_machine()) {
            (true, _) => Loads::Measured,
            (false, true) => Loads::Estimated,
            (false, false) => Loads::Ignored,
        };
        let usage = Usage { now_ns: clock.measured().as_nanos() as u64, ..Usage::default() };
        Measuring {
            loads: measures.loads,
            estimates: loads == Loads::Estimated,
            edges: measures.loads && measures.edges,
            sizes: measures.loads && measures.sizes,
            is_traced,
            sees_heavy: is_traced || (measures.loads && measures.edges),
            meter: Meter::new(calls::limits(clock, loads)),
            gaps: Sampler::default(),
            gap_ticks: Cell::default(),
            traffic: Traffic::new(clock, is_traced),
            pasts: RefCell::default(),
            looked: Cell::new(usage),
            since: Cell::new(Since { usage, ticks: clock.ticks(), ..Since::default() }),
            core: Cell::default(),
        }
    }

    /// Whether it is told of each message whose arguments have memory of their own.
    pub(crate) fn sees_heavy(&self) -> bool {
        self.sees_heavy
    }

    /// Where it says that messages are traced.
    pub(crate) fn state_of_trace(&self) -> (*const (), usize) {
        (from_ref(&self.is_traced).cast(), size_of_val(&self.is_traced))
    }
}

impl Pe {
    /// The first period begins, on the thread that the PE runs on from now on.
    pub fn begin_measuring(&self) {
        if self.measuring.loads || self.measuring.estimates {
            self.measuring.looked.set(self.usage());
            self.measuring.since.set(self.counts());
        }
    }

    /// What was measured since the last call; the next period begins. Not to be called while an entry runs.
    ///
    /// Loads are smoothed over the past. Of what is measured at all, `wants` says what is to be told.
    pub fn local(&self, wants: Wants) -> Local {
        debug_assert!(self.running().is_none(), "an object that runs is borrowed");
        let mut core = self.measuring.core.get();
        let (period, seconds_per_tick) = self.end_period();
        core.share(&period);
        let mut moving = 0.0;
        let heads = self.slots.iter();
        let mut objects: Vec<_> =
            heads.filter_map(|head| self.measured(head, seconds_per_tick, &mut moving)).collect();
        objects.sort_unstable_by_key(|object| object.key);
        let background = core.background(&period, moving);
        self.measuring.core.set(core);
        let (edges, peers) = self.end_traffic(&objects, wants);
        let pe = snapshot::Pe { node: self.node.number, speed: 1.0, background, available: true };
        let node = snapshot::Node { host: 0, memory: None };
        Local { number: self.id, pe, node, pes: self.pes(), objects, edges, peers }
    }

    /// Seconds that the objects here that may be balanced have computed in this period so far.
    pub fn load_so_far(&self) -> f64 {
        let (_, seconds_per_tick) = self.period_so_far();
        let loads = self.slots.iter().filter_map(|head| {
            // SAFETY: an object in a slot is live.
            let object = unsafe { head.as_ref() };
            (object.collection().chare.kind == Kind::Array).then(|| object.load.get().max(0))
        });
        loads.sum::<i64>() as f64 * seconds_per_tick
    }

    /// How long this period is so far, and a tick in it, in seconds.
    fn period_so_far(&self) -> (f64, f64) {
        let since = self.measuring.since.get();
        let ticks = self.clock.ticks().saturating_sub(since.ticks);
        let wall = seconds((self.clock.measured().as_nanos() as u64).saturating_sub(since.usage.now_ns));
        (wall, if ticks == 0 { 1e-9 } else { wall / ticks as f64 })
    }

    /// The period that ends, and how long a tick was in it, in seconds.
    fn end_period(&self) -> (Period, f64) {
        let now = self.counts();
        let since = self.measuring.since.replace(now);
        let wall = seconds(now.usage.now_ns.saturating_sub(since.usage.now_ns));
        let seconds_per_tick = match now.ticks.saturating_sub(since.ticks) {
            0 => 0.0,
            ticks => wall / ticks as f64,
        };
        let gaps = (now.gap_ticks - since.gap_ticks) as f64 * seconds_per_tick;
        let computed = now.usage.computed_ns.zip(since.usage.computed_ns);
        let period = Period {
            wall,
            idle: seconds(now.idle_ns - since.idle_ns) + gaps,
            released: seconds(now.usage.released_ns - since.usage.released_ns),
            cpu: computed.map(|(now, since)| seconds(now.saturating_sub(since))),
        };
        (period, seconds_per_tick)
    }

    fn counts(&self) -> Since {
        Since {
            usage: self.usage(),
            ticks: self.clock.ticks(),
            idle_ns: self.stats.idle_ns.get(),
            gap_ticks: self.measuring.gap_ticks.get(),
        }
    }

    fn usage(&self) -> Usage {
        Usage {
            now_ns: self.clock.measured().as_nanos() as u64,
            released_ns: self.stats.released_ns.get(),
            computed_ns: self.clock.computed().map(|computed| computed.as_nanos() as u64),
        }
    }

    /// How fast this PE is said to be, where 1 is usual.
    pub fn speed(&self) -> f64 {
        self.node.config.balance.as_ref().map_or(1.0, |settings| settings.speed(self.id))
    }

    /// An object that may be balanced, as measured; its next period begins. What it computed is added to `moving`.
    fn measured(&self, head: NonNull<Head>, seconds_per_tick: f64, moving: &mut f64) -> Option<Object> {
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        self.begin_period_of(object);
        let ticks = object.load.take();
        object.messages.set(0);
        let collection = object.collection();
        if collection.chare.kind != Kind::Array {
            return None;
        }
        let computed = ticks.max(0) as f64 * seconds_per_tick;
        *moving += computed;
        let smoothed = self.smoothed(object, computed * self.speed());
        let given = object.given().unwrap_or_default();
        Some(Object {
            key: key_of(object.id()),
            load: given.load.unwrap_or(smoothed),
            bytes: if self.measuring.sizes { self.size_of(head) } else { 0 },
            pe: self.id,
            migratable: !given.stays && !object.has(flag::HELD),
            position: given.position.or_else(|| (collection.chare.position)(object.index())),
        })
    }

    /// What an object takes when packed, in bytes.
    fn size_of(&self, head: NonNull<Head>) -> u64 {
        let mut lender = Lender::new(Packer::sizer(Purpose::Migration));
        // SAFETY: the object is live and of this type, and nobody borrows it, since no entry runs; what is lent is not used.
        unsafe {
            (head.as_ref().collection().chare.lend)(head, &mut lender);
        }
        lender.size() as u64
    }
}

/// What balancing calls an object.
pub fn key_of(id: ObjId) -> Key {
    Key {
        collection: u64::from(id.collection.creator) << 32 | u64::from(id.collection.serial),
        index: id.index,
    }
}

/// The object that balancing calls so.
pub fn object_of(key: Key) -> ObjId {
    let collection = CollectionId { creator: (key.collection >> 32) as u32, serial: key.collection as u32 };
    ObjId { collection, index: key.index }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}
