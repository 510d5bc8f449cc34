//! Where the records of a process's PEs go: a bounded ring for each, and who empties them.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Tracer;
use talisman_base::ids::PeId;
use talisman_observe::trace::Record;
use talisman_sched::ring::{self, Consumer, Producer};

/// Records that a ring holds: 8 MiB in a ring's slots. Emptied a hundred times a second, that is 13 million in a second.
const CAPACITY: usize = 1 << 17;

/// The same of all rings of a simulated job, half a gigabyte.
const SIMULATED: u64 = 1 << 23;

/// What is to be traced, and where it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSettings {
    /// The trace of the job. Nodes write their parts beside it.
    pub file: PathBuf,
    /// From when to when, since the program's start; all of it if nothing is said.
    pub window: Option<(Duration, Duration)>,
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
    outputs: Mutex<Vec<Output>>,
}

/// A PE's end of its ring.
pub(super) struct Input {
    ring: Producer<Record>,
    shared: Arc<Shared>,
    dropped: Arc<AtomicU64>,
}

struct Output {
    pe: PeId,
    epoch: u32,
    ring: Consumer<Record>,
    /// Records for which there was no room.
    dropped: Arc<AtomicU64>,
}

/// What was taken from the ring of one PE.
pub struct Drained<'a> {
    pub pe: PeId,
    /// The period between two losses in which the PE lives.
    pub epoch: u32,
    pub records: &'a [Record],
    /// So many more were dropped so far, for which there was no room.
    pub dropped: u64,
}

impl fmt::Debug for TraceSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TraceSink").field(&self.0.settings).finish()
    }
}

impl Input {
    /// One more; there may be no room for it, which is counted.
    #[inline]
    pub(super) fn put(&mut self, record: Record) {
        if self.shared.is_on.load(Ordering::Relaxed) && self.ring.try_push(record).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl TraceSink {
    /// One in which nothing is kept before [`TraceSink::turn`] says so, if there is a window.
    pub fn new(settings: TraceSettings) -> TraceSink {
        let is_on = AtomicBool::new(settings.window.is_none());
        TraceSink(Arc::new(Shared { settings, is_on, outputs: Mutex::default() }))
    }

    pub fn settings(&self) -> &TraceSettings {
        &self.0.settings
    }

    /// Whether records are kept from now on.
    pub fn turn(&self, on: bool) {
        self.0.is_on.store(on, Ordering::Relaxed);
    }

    /// That of a PE, which has just been made.
    pub fn tracer(&self, pe: PeId, epoch: u32) -> Box<Tracer> {
        let share = |pes| 1 << (SIMULATED / u64::max(pes, 1)).max(2).ilog2();
        let capacity = self.0.settings.simulated_pes.map_or(CAPACITY, |pes| CAPACITY.min(share(pes)));
        let (producer, consumer) = ring::ring(capacity);
        let dropped = Arc::new(AtomicU64::new(0));
        let output = Output { pe, epoch, ring: consumer, dropped: dropped.clone() };
        self.outputs().push(output);
        Box::new(Tracer::new(Input { ring: producer, shared: self.0.clone(), dropped }))
    }

    /// Takes what is in all rings, up to a ring's content of each. Those of PEs that are gone go when they are empty.
    pub fn drain(&self, mut take: impl FnMut(Drained<'_>)) {
        let mut records = Vec::new();
        self.outputs().retain_mut(|output| {
            // Before the ring is looked at: what is written before a PE goes is in there then.
            let is_last = Arc::strong_count(&output.dropped) == 1;
            records.clear();
            let taken = output.ring.drain(CAPACITY, |record| records.push(*record));
            output.ring.publish();
            let dropped = output.dropped.load(Ordering::Relaxed);
            if taken > 0 {
                take(Drained { pe: output.pe, epoch: output.epoch, records: &records, dropped });
            }
            !is_last || taken == CAPACITY
        });
    }

    fn outputs(&self) -> std::sync::MutexGuard<'_, Vec<Output>> {
        // Nothing in a critical section panics that leaves it half done.
        self.0.outputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_observe::trace::Kind;

    fn drained(sink: &TraceSink) -> Vec<(PeId, usize, u64)> {
        let mut all = Vec::new();
        sink.drain(|of| all.push((of.pe, of.records.len(), of.dropped)));
        all
    }

    #[test]
    fn a_ring_is_bounded_and_counts_what_it_has_no_room_for() {
        let sink = TraceSink::new(TraceSettings::default());
        let tracer = sink.tracer(3, 0);
        (0..CAPACITY + 5).for_each(|n| tracer.put(Record::at(n as u64, Kind::Ends)));
        assert_eq!(drained(&sink), [(3, CAPACITY, 5)]);
        tracer.put(Record::at(0, Kind::Ends));
        drop(tracer);
        assert_eq!(drained(&sink), [(3, 1, 5)], "what a PE wrote before it went is there");
        assert!(sink.outputs().is_empty(), "and then its ring goes");
    }

    #[test]
    fn nothing_is_kept_outside_of_the_window() {
        let window = Some((Duration::from_secs(1), Duration::from_secs(2)));
        let sink = TraceSink::new(TraceSettings { window, ..TraceSettings::default() });
        let tracer = sink.tracer(0, 0);
        let put = || tracer.put(Record::at(0, Kind::Ends));
        put();
        sink.turn(true);
        put();
        sink.turn(false);
        put();
        assert_eq!(drained(&sink), [(0, 1, 0)]);
    }
}
