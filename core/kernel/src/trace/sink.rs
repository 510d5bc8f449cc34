//! Where the records of a process's PEs go: a bounded ring for each, and who empties them.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Tracer;
use talisman_base::ids::PeId;
use talisman_job::options::Traced;

use super::ring::{self, Input, Output as Ring};

/// Words that a ring holds: 4 MiB. Emptied a hundred times a second, that is eight million messages in a second.
const CAPACITY: usize = 1 << 19;

/// The same of all rings of a simulated job, half a gigabyte.
const SIMULATED: u64 = 1 << 26;

/// What is to be traced, and where it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSettings {
    /// The trace of the job. Nodes write their parts beside it.
    pub file: PathBuf,
    /// Which parts of the job are.
    pub parts: Traced,
    /// Bytes that the parts of a node may have.
    pub bytes_max: u64,
    /// Whether all PEs of the job are in this process, of so many, and none of their rings is emptied before its end.
    pub simulated_pes: Option<u64>,
}

/// Where the PEs of a process write. Clones are the same.
#[derive(Clone)]
pub struct TraceSink(Arc<Shared>);

struct Shared {
    settings: TraceSettings,
    /// Whether records are kept now.
    is_on: AtomicBool,
    /// The line that PEs begin from, of a job that logs: its epochs. None is 0, as in a job that does not.
    line: AtomicU32,
    outputs: Mutex<Vec<Output>>,
}

/// A PE's end of its ring.
pub(super) struct Desk {
    pub(super) ring: Input,
    shared: Arc<Shared>,
    dropped: Arc<AtomicU64>,
}

struct Output {
    pe: PeId,
    epoch: u32,
    ring: Ring,
    /// Items for which there was no room.
    dropped: Arc<AtomicU64>,
}

/// What there is of one PE.
pub struct Drained<'a> {
    pub pe: PeId,
    /// The period between two losses in which the PE lives.
    pub epoch: u32,
    /// So many items were dropped so far, for which there was no room.
    pub dropped: u64,
    ring: &'a mut Ring,
}

impl Drained<'_> {
    /// Appends what the PE has written, in bytes; whether that was anything.
    pub fn take(&mut self, bytes: &mut Vec<u8>) -> bool {
        self.ring.take(bytes)
    }
}

impl fmt::Debug for TraceSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TraceSink").field(&self.0.settings).finish()
    }
}

impl Desk {
    /// Whether records are kept now.
    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        self.shared.is_on.load(Ordering::Relaxed)
    }

    /// There was no room for an item.
    pub(super) fn drop_one(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl TraceSink {
    /// One in which nothing is kept before [`TraceSink::turn`] says so, if only parts of the job are traced.
    pub fn new(settings: TraceSettings) -> TraceSink {
        let is_on = AtomicBool::new(settings.parts.is_all());
        TraceSink(Arc::new(Shared { settings, is_on, line: AtomicU32::default(), outputs: Mutex::default() }))
    }

    pub fn settings(&self) -> &TraceSettings {
        &self.0.settings
    }

    /// Whether records are kept from now on.
    pub fn turn(&self, on: bool) {
        self.0.is_on.store(on, Ordering::Relaxed);
    }

    /// In a job that logs, PEs that are made begin from this line. Messages are counted from there, also by a PE that is lost and does
    /// all again: a loss begins no epoch.
    pub fn begin_line(&self, line: u64) {
        self.0.line.store(line as u32, Ordering::Relaxed);
    }

    /// That of a PE, which has just been made.
    pub fn tracer(&self, pe: PeId, epoch: u32) -> Box<Tracer> {
        let epoch = epoch.max(self.0.line.load(Ordering::Relaxed));
        let share = |pes| 1 << (SIMULATED / u64::max(pes, 1)).max(2).ilog2();
        let capacity = self.0.settings.simulated_pes.map_or(CAPACITY, |pes| CAPACITY.min(share(pes)));
        let (input, output) = ring::ring(capacity);
        let dropped = Arc::new(AtomicU64::new(0));
        self.outputs().push(Output { pe, epoch, ring: output, dropped: dropped.clone() });
        Box::new(Tracer::new(Desk { ring: input, shared: self.0.clone(), dropped }, pe))
    }

    /// Shows all rings, for what is in them to be taken. Those of PEs that are gone go.
    pub fn drain(&self, mut take: impl FnMut(Drained<'_>)) {
        self.outputs().retain_mut(|Output { pe, epoch, ring, dropped }| {
            // Before the ring is looked at: what is written before a PE goes is in there then.
            let is_last = Arc::strong_count(dropped) == 1;
            take(Drained { pe: *pe, epoch: *epoch, dropped: dropped.load(Ordering::Relaxed), ring });
            !is_last
        });
    }

    fn outputs(&self) -> std::sync::MutexGuard<'_, Vec<Output>> {
        // Nothing in a critical section panics that leaves it half done.
        self.0.outputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use talisman_job::options::TraceWindow;
    use talisman_observe::trace::Kind;
    use talisman_observe::trace::words::{Item, moment};

    /// Of each PE: words that were taken, and how many items were dropped.
    fn drained(sink: &TraceSink) -> Vec<(PeId, Vec<u64>, u64)> {
        let mut all = Vec::new();
        sink.drain(|mut of| {
            let mut bytes = Vec::new();
            of.take(&mut bytes);
            let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
            all.push((of.pe, words, of.dropped));
        });
        all
    }

    fn put(tracer: &Tracer, ticks: u64) {
        tracer.put(Item::Ends, ticks, 0, []);
    }

    #[test]
    fn a_ring_is_bounded_and_says_where_it_had_no_room() {
        let sink = TraceSink::new(TraceSettings::default());
        let tracer = sink.tracer(3, 0);
        // A moment, and then one each.
        (0..CAPACITY + 4).for_each(|n| put(&tracer, n as u64));
        let [(3, words, 5)] = &drained(&sink)[..] else { panic!("it has lost 5") };
        assert_eq!((words.len(), words[0]), (CAPACITY, moment(0)));
        put(&tracer, 9);
        drop(tracer);
        let [(3, words, 5)] = &drained(&sink)[..] else { panic!("and no more") };
        let items = words.iter().map(|word| Item::of(*word)).collect::<Vec<_>>();
        assert_eq!(items, [Some(Item::Gap), Some(Item::Moment), Some(Item::Ends)]);
        assert!(sink.outputs().is_empty(), "what a PE wrote before it went is there, and then its ring goes");
    }

    #[test]
    fn nothing_is_kept_outside_of_the_window() {
        let window = TraceWindow { from: Duration::from_secs(1), until: Duration::from_secs(2) };
        let parts = Traced { window: Some(window), every: None };
        let sink = TraceSink::new(TraceSettings { parts, ..TraceSettings::default() });
        let tracer = sink.tracer(0, 0);
        put(&tracer, 1);
        sink.turn(true);
        put(&tracer, 2);
        sink.turn(false);
        put(&tracer, 3);
        let [(0, words, 0)] = &drained(&sink)[..] else { panic!("nothing is dropped") };
        let items = words.iter().map(|word| Item::of(*word)).collect::<Vec<_>>();
        assert_eq!(items, [Some(Item::Gap), Some(Item::Moment), Some(Item::Ends)]);
        assert_eq!(words[1], moment(2));
    }

    #[test]
    fn a_whole_record_has_its_own_time() {
        let sink = TraceSink::new(TraceSettings::default());
        let tracer = sink.tracer(0, 0);
        let record = talisman_observe::trace::Record::at(1 << 40, Kind::Moves);
        tracer.whole(record);
        let [(0, words, 0)] = &drained(&sink)[..] else { panic!("nothing is dropped") };
        assert_eq!(words[1..], record.to_words());
    }
}
