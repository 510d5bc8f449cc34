//! Where entries of input logs go: to the keeper in the background, and on frames until it has acknowledged them.
//!
//! A node holds its own entries and those of others that have come to it. Each frame that leaves carries what the
//! node *holds, does not know to be stable, and has not put on that lane before*: whatever the receiver comes to
//! depend on, it knows, or it is stable. This is transitive, as what has come rides on. It is counted per lane, since
//! nothing is known of the order between two lanes.
//!
//! Counts of what is stable ride as well, so that what a lane leaves out because it is stable is known to be so at
//! its other end.

use std::collections::BTreeMap;

use super::batch::{Batch, Row};
use super::cuts::{Cut, Cuts};
use super::entries::Entries;
use super::entry::Entry;
use super::ids::{Incarnation, LogId, Shape};
use super::input_log::InputLog;
use super::lengths::Lengths;
use super::ride::{BATCH_MIN, Ride, STABLE_MIN, Stable};
use super::rows::Rows;
use super::varint::{Malformed, Reader, put};
use crate::NodeId;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// What a node holds of input logs.
#[derive(Clone, Debug)]
pub struct Spread {
    node: NodeId,
    shape: Shape,
    incarnations: Vec<Incarnation>,
    cuts: Cuts,
    /// Of its own PEs, by rank, from the oldest image that is kept on.
    own: Vec<InputLog>,
    /// What may ride of others' logs, of which stable entries are gone.
    riding: BTreeMap<LogId, Rows>,
    /// What it keeps for those whose keeper it is.
    kept: BTreeMap<LogId, InputLog>,
    stable: Lengths,
    carried: BTreeMap<(NodeId, u32), Carried>,
    keeper: NodeId,
    /// Own entries that are on their way to the keeper, or there, by rank. None if it has a new process, which is to
    /// get all of them first.
    flushed: Option<Vec<u64>>,
    /// The longest that each log was told to be by its own node.
    told: Lengths,
    /// Where parts of a ride are written before it is known how many there are.
    scratch: Vec<u8>,
}

/// What was put on a lane.
#[derive(Clone, Debug, Default)]
struct Carried {
    entries: Lengths,
    stable: Lengths,
}

impl Spread {
    /// Of a node of a job that begins, and whose keeper is this one.
    #[must_use]
    pub fn new(node: NodeId, keeper: NodeId, shape: Shape) -> Self {
        let own = shape.logs_of(node).map(|_| InputLog::starting_at(0)).collect();
        Spread {
            node,
            shape,
            incarnations: vec![0; shape.nodes as usize],
            cuts: Cuts::default(),
            own,
            riding: BTreeMap::new(),
            kept: BTreeMap::new(),
            stable: Lengths::default(),
            carried: BTreeMap::new(),
            keeper,
            flushed: Some(vec![0; shape.pes_per_node as usize]),
            told: Lengths::default(),
            scratch: Vec::new(),
        }
    }

    /// Of one that is restored from an image, which was taken when its logs were so long and it had been told this of
    /// others, and is fed these entries after that.
    #[must_use]
    pub fn restored(
        (node, keeper, shape): (NodeId, NodeId, Shape),
        (incarnations, cuts): (Vec<Incarnation>, Cuts),
        (lengths, told): (&[u64], Lengths),
        fed: &[Batch],
    ) -> Self {
        let own = lengths.iter().map(|length| InputLog::starting_at(*length)).collect();
        let flushed = Some(lengths.to_vec());
        // Whoever has the image has the logs up to it.
        let stable = shape.logs_of(node).zip(lengths.iter().copied()).collect();
        let mut spread =
            Spread { incarnations, cuts, own, flushed, told, stable, ..Spread::new(node, keeper, shape) };
        for batch in fed {
            let own = &mut spread.own[batch.log.rank as usize];
            batch.entries.packed().for_each(|entry| own.append_packed(entry));
        }
        spread
    }

    /// The same with another keeper, before anything is logged.
    #[must_use]
    pub fn kept_by(self, keeper: NodeId) -> Self {
        Spread { keeper, ..self }
    }

    /// The same node in the next line: nothing was logged in that yet, and the processes are those that there are.
    #[must_use]
    pub fn in_next_line(&self) -> Self {
        if mutated("log-goes-on-in-the-next-line") {
            return self.clone();
        }
        Spread { incarnations: self.incarnations.clone(), ..Spread::new(self.node, self.keeper, self.shape) }
    }

    /// The newest incarnation of a node that was announced here.
    #[must_use]
    pub fn incarnation(&self, node: NodeId) -> Incarnation {
        self.incarnations[node as usize]
    }

    /// The newest of all nodes, and where the logs of former ones end: as far as that was announced here.
    #[must_use]
    pub fn heard_of(&self) -> (&[Incarnation], &Cuts) {
        (&self.incarnations, &self.cuts)
    }

    /// An input came to one of the node's PEs. Returns its number.
    pub fn append(&mut self, rank: u32, entry: &Entry) -> u64 {
        self.own[rank as usize].append(entry)
    }

    /// The lengths of the node's own logs, by rank.
    #[must_use]
    pub fn lengths(&self) -> Vec<u64> {
        self.own.iter().map(InputLog::end).collect()
    }

    /// The node's own logs take so many bytes, and those that it keeps for others.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.own.iter().chain(self.kept.values()).map(InputLog::bytes).sum()
    }

    /// What goes in front of the next frame to the PE of this rank on another node.
    pub fn ride(&mut self, to: NodeId, rank: u32) -> Ride {
        let mut bytes = Vec::new();
        self.write_ride(to, rank, &mut bytes);
        Ride::read(&bytes, self.shape).expect("it was written just now")
    }

    /// The same, appended to bytes as [`Ride::write`] would do it: nothing is made of it in between, since it is written for each frame.
    pub fn write_ride(&mut self, to: NodeId, rank: u32, bytes: &mut Vec<u8>) {
        let lane = if mutated("carried-per-node") { 0 } else { rank };
        self.own.iter().for_each(|log| put(bytes, log.end()));
        let Spread { node, incarnations, own, riding, stable, carried, scratch, .. } = self;
        let carried = carried.entry((to, lane)).or_default();
        scratch.clear();
        let mut batches = 0;
        for (rank, entries) in (0..).zip(&*own).filter(|_| *node != to && !mutated("log-not-riding")) {
            let (log, end) = (LogId { node: *node, rank }, entries.end());
            let from = carried.entries.get(log);
            if from < end {
                let from = from.max(stable.get(log));
                batches += u64::from(entries.write_batch(log, incarnations[*node as usize], from, scratch));
                carried.entries.raise(log, end);
            }
        }
        for (log, rows) in riding.iter().filter(|(log, _)| log.node != to) {
            let (from, end) = (carried.entries.get(*log), rows.end().unwrap_or(0));
            if from < end && !mutated("others-log-not-riding") {
                let incarnation = incarnations[log.node as usize];
                for (first, entries) in rows.from(from) {
                    Batch { log: *log, incarnation, first, entries }.write(scratch);
                    batches += 1;
                }
                carried.entries.raise(*log, end);
            }
        }
        put(bytes, batches);
        bytes.extend_from_slice(scratch);
        scratch.clear();
        let mut told = 0;
        for (log, length) in stable.iter() {
            if log.node != to && carried.stable.get(log) < length {
                carried.stable.raise(log, length);
                Stable { log, incarnation: incarnations[log.node as usize], length }.write(scratch);
                told += 1;
            }
        }
        put(bytes, told);
        bytes.extend_from_slice(scratch);
    }

    /// The logs of which it holds anything that may ride.
    fn held(&self) -> impl Iterator<Item = LogId> + '_ {
        let own = self.shape.logs_of(self.node);
        own.chain(self.riding.keys().copied())
    }

    /// What it holds of a log from this number on that is not known to be stable.
    fn unstable_of(&self, log: LogId, from: u64) -> Vec<Batch> {
        let rows = match log.node == self.node {
            true => vec![self.own[log.rank as usize].from(from.max(self.stable.get(log)))],
            false => self.riding.get(&log).map(|rows| rows.from(from)).unwrap_or_default(),
        };
        let incarnation = self.incarnation(log.node);
        let rows = rows.into_iter().filter(|(_, entries)| !entries.is_empty());
        rows.map(|(first, entries)| Batch { log, incarnation, first, entries }).collect()
    }

    /// What goes in front of a frame that was held back until all that it depends on was stable: nothing, but how
    /// much that is.
    #[must_use]
    pub fn strict_ride(&self) -> Ride {
        Ride { lengths: self.stable_lengths(), ..Ride::default() }
    }

    /// How much of the node's own logs is stable, by rank.
    #[must_use]
    pub fn stable_lengths(&self) -> Vec<u64> {
        self.shape.logs_of(self.node).map(|log| self.stable.get(log)).collect()
    }

    /// A frame came from a node, with this in front of it.
    pub fn hear(&mut self, from: NodeId, ride: Ride) {
        let logs = self.shape.logs_of(from).zip(&ride.lengths);
        logs.for_each(|(log, length)| self.told.raise(log, *length));
        ride.batches.into_iter().for_each(|batch| self.learn(batch));
        ride.stable.into_iter().for_each(|stable| self.on_stable(stable));
    }

    /// The same of what [`Ride::write`] has written: `lengths` comes to be how long the logs of the sender's PEs were.
    ///
    /// # Errors
    /// The bytes are anything else, or name a log that there is not. What stands before that has been heard.
    pub fn hear_written(
        &mut self,
        from: NodeId,
        ride: &[u8],
        lengths: &mut Vec<u64>,
    ) -> Result<(), Malformed> {
        let (mut reader, pes) = (Reader::new(ride), self.shape.pes_per_node);
        lengths.clear();
        for log in self.shape.logs_of(from) {
            let length = reader.number()?;
            self.told.raise(log, length);
            lengths.push(length);
        }
        for _ in 0..reader.count(BATCH_MIN)? {
            let row = Row::read(&mut reader, pes)?;
            if !self.shape.has(row.log) {
                return Err(Malformed::TooLarge);
            }
            self.learn_row(&row);
        }
        for _ in 0..reader.count(STABLE_MIN)? {
            let stable = Stable::read(&mut reader)?;
            if !self.shape.has(stable.log) {
                return Err(Malformed::TooLarge);
            }
            self.on_stable(stable);
        }
        reader.end()
    }

    /// Mostly they follow what is known of that log, and are all new.
    fn learn_row(&mut self, row: &Row<'_>) {
        let Row { log, first, count, bytes, .. } = *row;
        if log.node == self.node {
            return;
        }
        let is_new = first >= self.stable.get(log)
            && first + count as u64 <= self.cuts.end_of(log, row.incarnation)
            && self.riding.get_mut(&log).is_some_and(|rows| rows.append(first, count, bytes));
        if !is_new {
            self.learn(row.batch());
        }
    }

    /// Entries of another node's log, which may be stale.
    pub fn learn(&mut self, batch: Batch) {
        if batch.log.node == self.node || !self.shape.has(batch.log) {
            return;
        }
        let end = self.cuts.end_of(batch.log, batch.incarnation);
        let stable = self.stable.get(batch.log);
        if batch.end() > end {
            sometimes("entries of a log rode that its node had never been fed");
        }
        let Batch { log, first, entries, .. } = batch;
        let fed = entries_before(entries, first, end);
        let skipped = stable.saturating_sub(first).min(fed.len() as u64);
        let unstable = if skipped == 0 { fed } else { fed.after(skipped as usize) };
        self.riding.entry(log).or_default().insert(first + skipped, unstable);
    }

    /// So much of a log is stable, as somebody says.
    pub fn on_stable(&mut self, said: Stable) {
        let length = said.length.min(self.cuts.end_of(said.log, said.incarnation));
        if !self.shape.has(said.log) || length <= self.stable.get(said.log) {
            return;
        }
        self.stable.raise(said.log, length);
        if let Some(rows) = self.riding.get_mut(&said.log) {
            rows.forget(length);
        }
    }

    /// Own entries that the keeper has not been sent yet, of all PEs at once, so that it knows what each depends on.
    pub fn flush(&mut self) -> Vec<Batch> {
        let (node, incarnation) = (self.node, self.incarnation(self.node));
        let mut batches = Vec::new();
        let flushed = self.flushed.iter_mut().flatten();
        for ((rank, log), flushed) in (0..).zip(&self.own).zip(flushed) {
            let first = std::mem::replace(flushed, log.end());
            let (first, entries) = log.from(first);
            if !entries.is_empty() {
                batches.push(Batch { log: LogId { node, rank }, incarnation, first, entries });
            }
        }
        if mutated("written-counts-as-stable") {
            let sent =
                batches.iter().map(|batch| Stable { log: batch.log, incarnation, length: batch.end() });
            sent.collect::<Vec<_>>().into_iter().for_each(|stable| self.on_stable(stable));
        }
        batches
    }

    /// The keeper has a new process, which is there: it is sent everything again.
    pub fn flush_again(&mut self) {
        self.flushed = Some(self.own.iter().map(InputLog::first).collect());
    }

    /// Here is what somebody wants to be kept. Returns how much of it is, as is to be acknowledged.
    pub fn keep(&mut self, batches: Vec<Batch>) -> Vec<Stable> {
        batches.into_iter().filter_map(|batch| self.keep_one(batch)).collect()
    }

    fn keep_one(&mut self, batch: Batch) -> Option<Stable> {
        let Batch { log, incarnation, first, .. } = batch;
        let kept = self.kept.entry(log).or_insert_with(|| InputLog::starting_at(first));
        if first > kept.end() {
            // Only a peer that makes things up leaves any out.
            return None;
        }
        let (end, new) = (self.cuts.end_of(log, incarnation), kept.end());
        let numbered = (first..end).zip(batch.entries.packed()).skip_while(|(number, _)| *number < new);
        numbered.for_each(|(_, entry)| kept.append_packed(entry));
        let stable = Stable { log, incarnation, length: kept.end() };
        self.on_stable(stable);
        Some(stable)
    }

    /// What the node depends on that may still be lost: its own logs, and what it holds of others' that is not stable.
    #[must_use]
    pub fn unstable(&self) -> Lengths {
        let own = self.shape.logs_of(self.node).zip(self.lengths());
        let ends = |(log, rows): (&LogId, &Rows)| Some((*log, rows.end()?));
        let others = self.riding.iter().filter_map(ends).filter(|_| !mutated("line-waits-for-own-only"));
        own.chain(others).filter(|(log, length)| self.stable.get(*log) < *length).collect()
    }

    /// What is stable, as far as is known here.
    #[must_use]
    pub fn stable(&self) -> &Lengths {
        &self.stable
    }

    /// How much of the node's own logs is stable, for who asks.
    #[must_use]
    pub fn own_stable(&self) -> Vec<Stable> {
        let incarnation = self.incarnation(self.node);
        let stable = |log| Stable { log, incarnation, length: self.stable.get(log) };
        self.shape.logs_of(self.node).map(stable).collect()
    }

    /// How long logs were when their nodes told, directly.
    #[must_use]
    pub fn told(&self) -> &Lengths {
        &self.told
    }

    /// Entries of others' logs that may be known here only, for an image, or for whoever was lost and depended on them.
    #[must_use]
    pub fn others(&self) -> Vec<Batch> {
        self.riding_of(|node| node != self.node)
    }

    /// What the node holds of the logs of these nodes, its own among them.
    #[must_use]
    pub fn held_of(&self, is_asked_for: impl Fn(NodeId) -> bool) -> Vec<Batch> {
        let kept = self.kept.iter().map(|(log, kept)| (*log, kept));
        let own = self.shape.logs_of(self.node).zip(&self.own);
        let packed = kept
            .chain(own)
            .filter(|(log, entries)| is_asked_for(log.node) && entries.end() > entries.first());
        let whole = packed.map(|(log, entries)| Batch {
            log,
            incarnation: self.incarnations[log.node as usize],
            first: entries.first(),
            entries: entries.from(entries.first()).1,
        });
        let mut all: Vec<_> = whole.collect();
        all.extend(self.riding_of(|node| node != self.node && is_asked_for(node)));
        all
    }

    /// All entries that may ride.
    #[must_use]
    pub fn riding(&self) -> Vec<Batch> {
        self.riding_of(|_| true)
    }

    fn riding_of(&self, is_asked_for: impl Fn(NodeId) -> bool) -> Vec<Batch> {
        self.held().filter(|log| is_asked_for(log.node)).flat_map(|log| self.unstable_of(log, 0)).collect()
    }

    /// A node has another process from now on, the one of this incarnation. All lanes to it begin anew.
    pub fn on_restart(&mut self, cut: &Cut, incarnation: Incarnation) {
        let node = cut.node;
        self.incarnations[node as usize] = incarnation;
        self.carried.retain(|(to, _), _| *to != node);
        if node == self.keeper && !mutated("new-keeper-gets-the-rest-only") {
            self.flushed = None;
        }
        self.cuts.add(cut.clone());
        for (log, end) in self.shape.logs_of(node).zip(&cut.ends) {
            if mutated("stale-log-believed") {
                continue;
            }
            self.stable.lower(log, *end);
            self.told.lower(log, *end);
            if let Some(rows) = self.riding.get_mut(&log) {
                rows.truncate(*end);
            }
            if let Some(kept) = self.kept.get_mut(&log) {
                kept.truncate(*end);
            }
            if !mutated("told-not-cut") {
                self.carried.values_mut().for_each(|carried| carried.lower(log, *end));
            }
        }
    }

    /// Nobody is ever fed entries of this log before this one again.
    pub fn forget(&mut self, log: LogId, before: u64) {
        if log.node == self.node {
            self.own[log.rank as usize].forget(before);
        }
        if let Some(kept) = self.kept.get_mut(&log) {
            kept.forget(before);
        }
        if let Some(rows) = self.riding.get_mut(&log) {
            rows.forget(before);
        }
    }
}

impl Carried {
    fn lower(&mut self, log: LogId, end: u64) {
        self.entries.lower(log, end);
        self.stable.lower(log, end);
    }
}

/// Those of a row, which begins with this number, that are before another.
fn entries_before(entries: Entries, first: u64, end: u64) -> Entries {
    match end.saturating_sub(first) {
        all if all >= entries.len() as u64 => entries,
        some => entries.first(some as usize),
    }
}
