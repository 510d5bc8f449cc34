//! What load balancing has to know: how long each object ran, what else its PE was busy with, and who talks with whom.
//!
//! Nothing is measured unless the job asks for it ([`Measures`]). [`Pe::local`] ends a period and tells what was measured in it.
//!
//! An entry is timed by the processor's counter, at all calls or at some (`talisman_lb::load`). That includes what others had of the
//! core meanwhile; what share the PE had in the period is known from its thread's CPU time, and taken of the sum. Long entries
//! are timed by that CPU time itself. So an object's load is what it computes, whoever else wants the core.

mod calls;
mod given;
mod past;
#[cfg(test)]
mod tests;
mod traffic;

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use talisman_lb::background::{Core, Period};
use talisman_lb::load::Meter;
use talisman_lb::member::Local;
use talisman_lb::sampler::Sampler;
use talisman_lb::snapshot::{self, Key, Object};
use talisman_lb::strategy::Wants;

use crate::chare::Kind;
use crate::clock::Clock;
use crate::ids::ObjId;
use crate::object::{Head, flag};
use crate::pe::Pe;
use crate::pup::{Lender, Packer, Purpose};
pub(crate) use given::Given;
use past::Pasts;
use traffic::Traffic;

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
    /// Whether messages between objects are counted.
    pub(crate) edges: bool,
    sizes: bool,
    meter: Meter,
    /// Picks gaps without work that are too short to read the clock at each.
    gaps: Sampler,
    /// Ticks of these gaps.
    gap_ticks: Cell<u64>,
    traffic: Traffic,
    pasts: RefCell<Pasts>,
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
    gap_ticks: u64,
}

/// A period that ended.
struct Ended {
    period: Period,
    seconds_per_tick: f64,
    /// The part of its core that the PE had.
    share: f64,
}

impl Measuring {
    pub(crate) fn new(measures: Measures, clock: &Clock) -> Self {
        let (now_ns, ticks) = (clock.now().as_nanos() as u64, clock.ticks());
        Measuring {
            loads: measures.loads,
            edges: measures.loads && measures.edges,
            sizes: measures.loads && measures.sizes,
            meter: Meter::new(calls::limits(clock)),
            gaps: Sampler::default(),
            gap_ticks: Cell::default(),
            traffic: Traffic::new(clock),
            pasts: RefCell::default(),
            since: Cell::new(Since { now_ns, ticks, ..Since::default() }),
            core: Cell::default(),
        }
    }
}

impl Pe {
    /// The first period begins, on the thread that the PE runs on from now on.
    pub(crate) fn begin_measuring(&self) {
        if self.measuring.loads {
            self.measuring.since.set(self.counts());
        }
    }

    /// What was measured since the last call; the next period begins. Not to be called while an entry runs.
    ///
    /// Loads are smoothed over the past. Of what is measured at all, `wants` says what is to be told.
    pub(crate) fn local(&self, wants: Wants) -> Local {
        debug_assert!(self.running().is_none(), "an object that runs is borrowed");
        let mut core = self.measuring.core.get();
        let ended = self.end_period(&mut core);
        let mut moving = 0.0;
        let heads = self.slots.iter();
        let mut objects: Vec<_> = heads.filter_map(|head| self.measured(head, &ended, &mut moving)).collect();
        objects.sort_unstable_by_key(|object| object.key);
        let background = core.background(&ended.period, moving);
        self.measuring.core.set(core);
        let (edges, peers) = self.end_traffic(&objects, wants);
        let pe = snapshot::Pe { node: self.node.number, speed: 1.0, background, available: true };
        let node = snapshot::Node { host: 0, memory: None };
        Local { number: self.id, pe, node, pes: self.pes(), objects, edges, peers }
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

    fn end_period(&self, core: &mut Core) -> Ended {
        let now = self.counts();
        let since = self.measuring.since.replace(now);
        let wall = seconds(now.now_ns.saturating_sub(since.now_ns));
        let seconds_per_tick = match now.ticks.saturating_sub(since.ticks) {
            0 => 0.0,
            ticks => wall / ticks as f64,
        };
        let gaps = (now.gap_ticks - since.gap_ticks) as f64 * seconds_per_tick;
        let period = Period {
            wall,
            idle: seconds(now.idle_ns - since.idle_ns) + gaps,
            released: seconds(now.released_ns - since.released_ns),
            cpu: now
                .computed_ns
                .zip(since.computed_ns)
                .map(|(now, since)| seconds(now.saturating_sub(since))),
        };
        Ended { period, seconds_per_tick, share: core.share(&period) }
    }

    fn counts(&self) -> Since {
        Since {
            now_ns: self.clock.now().as_nanos() as u64,
            ticks: self.clock.ticks(),
            idle_ns: self.stats.idle_ns.get(),
            released_ns: self.stats.released_ns.get(),
            computed_ns: self.clock.computed().map(|computed| computed.as_nanos() as u64),
            gap_ticks: self.measuring.gap_ticks.get(),
        }
    }

    /// An object that may be balanced, as measured; its next period begins. What it computed is added to `moving`.
    fn measured(&self, head: NonNull<Head>, ended: &Ended, moving: &mut f64) -> Option<Object> {
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        let ticks = object.load.take();
        object.messages.set(0);
        let collection = object.collection();
        if collection.chare.kind != Kind::Array {
            return None;
        }
        // What is timed by CPU time is no longer than it computed.
        let share = if object.has(flag::HUGE) { 1.0 } else { ended.share };
        let computed = ticks.max(0) as f64 * ended.seconds_per_tick * share;
        *moving += computed;
        let smoothed = self.smoothed(object, computed * self.speed());
        let given = object.given().unwrap_or_default();
        Some(Object {
            key: key_of(object.id()),
            load: given.load.unwrap_or(smoothed),
            bytes: if self.measuring.sizes { self.size_of(head) } else { 0 },
            pe: self.id,
            migratable: !given.stays,
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
pub(crate) fn key_of(id: ObjId) -> Key {
    Key {
        collection: u64::from(id.collection.creator) << 32 | u64::from(id.collection.serial),
        index: id.index,
    }
}

/// The object that balancing calls so.
pub(crate) fn object_of(key: Key) -> ObjId {
    let collection =
        crate::ids::CollectionId { creator: (key.collection >> 32) as u32, serial: key.collection as u32 };
    ObjId { collection, index: key.index }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}
