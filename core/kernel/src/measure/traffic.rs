//! Who talks with whom: messages between elements of arrays, picked at random, long ones all of them.
//!
//! Of a short entry that is timed, all messages are taken down, each for as many as entries were skipped. So a message costs a
//! look at a flag that hardly ever changes. Entries of objects that are long on average are all timed; of their messages some
//! are picked. And what arguments with memory of their own have of it is always looked at, if others for the same entry were long.

use std::cell::{Cell, RefCell};
use std::mem::needs_drop;
use std::ptr::from_ref;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::key_of;
use crate::entry_info::EntryInfo;
use crate::kind::Kind;
use crate::message::cell::Words;
use crate::pe::Pe;
use talisman_base::clock::Clock;
use talisman_base::ids::ObjId;
use talisman_lb::sampler::{GAP_USUAL, Sampler, gap_for};
use talisman_lb::snapshot::{Edge, Key, Object};
use talisman_lb::strategy::Wants;

/// What it costs to take down a message, in ticks of a 2 to 4 GHz counter: finding the pair in a table that is in no cache.
const COST_TICKS: u64 = 200;
/// Messages of so many bytes are all taken down: copying one costs more than that.
const LONG_BYTES: usize = 1 << 10;
/// A PE keeps no more pairs than this, which take ten megabytes.
const PAIRS_MAX: usize = 1 << 17;

/// In place of for how many entries the one that runs stands: its messages are not taken down ...
pub(super) const NOTHING: u32 = 0;
/// ... or they are traced, and no more than that ...
const TRACED: u32 = u32::MAX - 1;
/// ... or some are picked.
pub(super) const SAMPLED: u32 = u32::MAX;

/// What a PE's objects sent in a period.
pub(super) struct Traffic {
    /// For how many entries the one that runs stands.
    pub(super) stands_for: Cell<u32>,
    /// Of entries that are all timed, it picks messages.
    sampler: Sampler,
    /// A simulated clock stands still while a message is sent: each is taken down.
    takes_all: bool,
    /// When the last message was picked.
    picked: Cell<u64>,
    /// Entries that got long messages: a bit for each that has their hash.
    long: [Cell<u64>; 4],
    pub(super) pairs: RefCell<HashMap<Pair, Sum, FxBuildHasher>>,
    /// So many at most; what more pairs would send is counted here.
    pub(super) pairs_max: usize,
    pub(super) dropped: Cell<u64>,
}

/// From the object in a slot, of this generation, to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    pub(super) slot: u32,
    pub(super) generation: u32,
    pub(super) to: ObjId,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) messages: f64,
    pub(super) bytes: f64,
}

impl Traffic {
    pub(super) fn new(clock: &Clock, is_traced: bool) -> Self {
        Traffic {
            stands_for: Cell::new(if is_traced { TRACED } else { NOTHING }),
            sampler: Sampler::default(),
            takes_all: !clock.measures_machine(),
            picked: Cell::new(clock.ticks()),
            long: Default::default(),
            pairs: RefCell::default(),
            pairs_max: PAIRS_MAX,
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
        let gap = gap_for(COST_TICKS, passed / u64::from(self.sampler.since()));
        self.sampler.weight(gap.min(GAP_USUAL))
    }

    /// The bit of an entry.
    fn bit_of(&self, entry: &'static EntryInfo) -> (&Cell<u64>, u64) {
        // Rows of a table are some hundred bytes apart.
        let hash = (from_ref(entry).addr() >> 5).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> 56;
        (&self.long[hash >> 6], 1 << (hash & 63))
    }

    pub(super) fn add(&self, pair: Pair, bytes: usize, weight: u32) {
        let mut pairs = self.pairs.borrow_mut();
        if pairs.len() >= self.pairs_max && !pairs.contains_key(&pair) {
            return self.dropped.set(self.dropped.get() + u64::from(weight));
        }
        let sum = pairs.entry(pair).or_default();
        sum.messages += f64::from(weight);
        sum.bytes += bytes as f64 * f64::from(weight);
    }
}

impl Pe {
    /// For how many entries the one that begins stands, if it is timed; or it ends.
    #[inline(always)]
    pub(super) fn note_for(&self, entries: u32) {
        if self.measuring.edges {
            let entries = if entries == NOTHING && self.measuring.is_traced { TRACED } else { entries };
            self.measuring.traffic.stands_for.set(entries);
        }
    }

    /// The object that runs sends a message with arguments of type `A`.
    #[inline(always)]
    pub fn note_message<A>(&self, to: ObjId, entry: &'static EntryInfo, words: &Words) {
        self.note_message_in::<A, false>(to, entry, words);
    }

    /// The same of one that stays on this PE, with its words in its envelope.
    #[inline(always)]
    pub fn note_message_here<A>(&self, to: ObjId, entry: &'static EntryInfo, words: &Words) {
        self.note_message_in::<A, true>(to, entry, words);
    }

    #[inline(always)]
    fn note_message_in<A, const HERE: bool>(&self, to: ObjId, entry: &'static EntryInfo, words: &Words) {
        if const { needs_drop::<A>() } {
            if self.measuring.sees_heavy {
                self.note_heavy::<HERE>(to, entry, words);
            }
        } else if self.measuring.traffic.stands_for.get() != NOTHING {
            self.note_plain::<HERE>(to, words, size_of::<A>());
        }
    }

    #[inline(never)]
    fn note_plain<const HERE: bool>(&self, to: ObjId, words: &Words, bytes: usize) {
        if HERE && self.measuring.is_traced {
            self.trace_made(words);
        }
        self.note_some(to, bytes);
    }

    /// A message with memory of its own. How much is looked at if it may be picked, or if others of its entry were long.
    #[inline(never)]
    fn note_heavy<const HERE: bool>(&self, to: ObjId, entry: &'static EntryInfo, words: &Words) {
        if HERE && self.measuring.is_traced {
            self.trace_made(words);
        }
        let traffic = &self.measuring.traffic;
        let (long, bit) = traffic.bit_of(entry);
        let was_long = long.get() & bit != 0;
        if !self.measuring.edges || (!was_long && matches!(traffic.stands_for.get(), NOTHING | TRACED)) {
            return;
        }
        // SAFETY: the words hold this entry's arguments, which nobody takes meanwhile.
        let bytes = unsafe { entry.args.size_of_packed(words) };
        if was_long {
            return self.note_bytes(to, bytes);
        }
        if bytes >= LONG_BYTES {
            long.set(long.get() | bit);
        }
        self.note_some(to, bytes);
    }

    /// The object that runs sends so many bytes. Long messages are no part of what is sampled.
    pub fn note_bytes(&self, to: ObjId, bytes: usize) {
        match bytes >= LONG_BYTES {
            true => self.note_pair(to, bytes, 1),
            false => self.note_some(to, bytes),
        }
    }

    /// The object that runs sends a message that counts if it is picked.
    #[inline(never)]
    fn note_some(&self, to: ObjId, bytes: usize) {
        let traffic = &self.measuring.traffic;
        let weight = match traffic.stands_for.get() {
            NOTHING | TRACED => return,
            SAMPLED if !traffic.sampler.is_due() => return,
            SAMPLED => traffic.weight(&self.clock),
            entries => entries,
        };
        self.note_pair(to, bytes, weight);
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

    /// Messages between objects since the last time that are in no account, since there were too many pairs of them.
    pub fn take_uncounted(&self) -> u64 {
        self.measuring.traffic.dropped.take()
    }
}
