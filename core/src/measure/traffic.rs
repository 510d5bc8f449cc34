//! Who talks with whom: messages between elements of arrays, picked at random, long ones all of them.

use std::cell::{Cell, RefCell};
use std::mem::needs_drop;
use std::ptr::from_ref;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use talisman_lb::sampler::{Sampler, gap_for};
use talisman_lb::snapshot::{Edge, Key, Object};
use talisman_lb::strategy::Wants;

use super::key_of;
use crate::chare::Kind;
use crate::clock::Clock;
use crate::entry::EntryInfo;
use crate::ids::ObjId;
use crate::message::cell::Words;
use crate::pe::Pe;

/// What it costs to take down a message, in ticks of a 2 to 4 GHz counter: finding the pair in a table that is in no cache.
const COST_TICKS: u64 = 200;
/// Messages of so many bytes are all taken down: copying one costs more than that.
const LONG_BYTES: usize = 1 << 10;
/// A PE keeps no more pairs than this, which take ten megabytes.
const PAIRS_MAX: usize = 1 << 17;

/// What a PE's objects sent in a period.
pub(super) struct Traffic {
    sampler: Sampler,
    /// A simulated clock stands still while a message is sent: each is taken down.
    takes_all: bool,
    /// When the last message was picked.
    picked: Cell<u64>,
    /// Entries that got long messages: a bit for each that has their hash.
    long: [Cell<u64>; 4],
    pairs: RefCell<HashMap<Pair, Sum, FxBuildHasher>>,
    dropped: Cell<u64>,
}

/// From the object in a slot, of this generation, to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    slot: u32,
    generation: u32,
    to: ObjId,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    messages: f64,
    bytes: f64,
}

impl Traffic {
    pub(super) fn new(clock: &Clock) -> Self {
        Traffic {
            sampler: Sampler::default(),
            takes_all: matches!(clock, Clock::Simulated(_)),
            picked: Cell::new(clock.ticks()),
            long: Default::default(),
            pairs: RefCell::default(),
            dropped: Cell::default(),
        }
    }

    /// For how many messages the one that is due stands.
    fn weight(&self, clock: &Clock) -> u32 {
        if self.takes_all {
            return self.sampler.weight(0);
        }
        let now = clock.ticks();
        let passed = now.saturating_sub(self.picked.replace(now));
        self.sampler.weight(gap_for(COST_TICKS, passed / u64::from(self.sampler.since())))
    }

    /// The bit of an entry.
    fn bit_of(&self, entry: &'static EntryInfo) -> (&Cell<u64>, u64) {
        // Rows of a table are some hundred bytes apart.
        let hash = (from_ref(entry).addr() >> 5).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> 56;
        (&self.long[hash >> 6], 1 << (hash & 63))
    }

    fn add(&self, pair: Pair, bytes: usize, weight: u32) {
        let mut pairs = self.pairs.borrow_mut();
        if pairs.len() >= PAIRS_MAX && !pairs.contains_key(&pair) {
            return self.dropped.set(self.dropped.get() + u64::from(weight));
        }
        let sum = pairs.entry(pair).or_default();
        sum.messages += f64::from(weight);
        sum.bytes += bytes as f64 * f64::from(weight);
    }
}

impl Pe {
    /// The object that runs sends a message with arguments of type `A`.
    #[inline(always)]
    pub(crate) fn note_message<A>(&self, to: ObjId, entry: &'static EntryInfo, words: &Words) {
        if !self.measuring.edges {
            return;
        }
        if const { needs_drop::<A>() } {
            self.note_heavy(to, entry, words);
        } else if self.measuring.traffic.sampler.is_due() {
            self.note_due(to, size_of::<A>());
        }
    }

    /// A message that is due, whatever its length.
    #[inline(never)]
    fn note_due(&self, to: ObjId, bytes: usize) {
        let weight = self.measuring.traffic.weight(&self.clock);
        self.note_pair(to, bytes, weight);
    }

    /// A message with memory of its own. How much is looked at if it is due, or if others of its entry were long.
    #[inline(never)]
    fn note_heavy(&self, to: ObjId, entry: &'static EntryInfo, words: &Words) {
        let traffic = &self.measuring.traffic;
        let (long, bit) = traffic.bit_of(entry);
        // SAFETY: the words hold this entry's arguments, which nobody takes meanwhile.
        let bytes = || unsafe { (entry.args.bytes)(words) };
        if long.get() & bit != 0 {
            self.note_bytes(to, bytes());
        } else if traffic.sampler.is_due() {
            let bytes = bytes();
            if bytes >= LONG_BYTES {
                long.set(long.get() | bit);
            }
            self.note_due(to, bytes);
        }
    }

    /// The object that runs sends so many bytes. Long messages are no part of what is sampled.
    pub(crate) fn note_bytes(&self, to: ObjId, bytes: usize) {
        if bytes >= LONG_BYTES {
            self.note_pair(to, bytes, 1);
        } else if self.measuring.traffic.sampler.is_due() {
            self.note_due(to, bytes);
        }
    }

    fn note_pair(&self, to: ObjId, bytes: usize, weight: u32) {
        let is_element = self.collections.get(to.collection).is_some_and(|of| of.chare.kind == Kind::Array);
        let Some(from) = self.running().filter(|from| is_element && from.id() != to) else { return };
        let slot = from.slot.get();
        if let Some((_, generation)) = self.slots.at(slot) {
            self.measuring.traffic.add(Pair { slot, generation, to }, bytes, weight);
        }
    }

    /// What was sent since the last call, if it is wanted, and to whom. The next period begins.
    pub(super) fn end_traffic(&self, objects: &[Object], wants: Wants) -> (Vec<Edge>, Vec<Key>) {
        let pairs = self.measuring.traffic.pairs.take();
        if !wants.edges {
            return Default::default();
        }
        let mut peers: Vec<_> = pairs.keys().map(|pair| key_of(pair.to)).collect();
        peers.sort_unstable();
        peers.dedup();
        let edge = |(pair, sum): (Pair, Sum)| {
            // SAFETY: an object in a slot is live. One that left has taken its messages along: they are not told.
            let from = key_of(unsafe { self.slots.get(pair.slot, pair.generation)?.as_ref() }.id());
            let from = objects.binary_search_by_key(&from, |object| object.key).ok()? as u32;
            let to = peers.binary_search(&key_of(pair.to)).ok()? as u32;
            Some(Edge { from, to, messages: sum.messages as f32, bytes: sum.bytes as f32 })
        };
        let mut edges: Vec<_> = pairs.into_iter().filter_map(edge).collect();
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
        (edges, peers)
    }

    /// Messages between objects that are in no account, since there were too many pairs of them.
    pub(crate) fn traffic_dropped(&self) -> u64 {
        self.measuring.traffic.dropped.get()
    }
}
