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

use super::batch::Batch;
use super::cuts::{Cut, Cuts};
use super::entry::Entry;
use super::ids::{Incarnation, LogId, Shape};
use super::input_log::InputLog;
use super::lengths::Lengths;
use super::ride::{Ride, Stable};
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
    /// What may ride: by log, by number. Of stable entries there are none.
    riding: BTreeMap<LogId, BTreeMap<u64, Entry>>,
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
        let own = shape.logs_of(node).map(|_| InputLog::starting_at(0, shape.pes_per_node)).collect();
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
        let own = lengths.iter().map(|length| InputLog::starting_at(*length, shape.pes_per_node)).collect();
        let flushed = Some(lengths.to_vec());
        // Whoever has the image has the logs up to it.
        let stable = shape.logs_of(node).zip(lengths.iter().copied()).collect();
        let mut spread =
            Spread { incarnations, cuts, own, flushed, told, stable, ..Spread::new(node, keeper, shape) };
        for batch in fed {
            batch.entries.iter().for_each(|entry| {
                spread.append(batch.log.rank, entry);
            });
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

    /// An input came to one of the node's PEs. Returns its number.
    pub fn append(&mut self, rank: u32, entry: &Entry) -> u64 {
        let log = LogId { node: self.node, rank };
        let number = self.own[rank as usize].append(entry);
        self.riding.entry(log).or_default().insert(number, entry.clone());
        number
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
        let lane = if mutated("carried-per-node") { 0 } else { rank };
        let carried = self.carried.entry((to, lane)).or_default();
        let mut batches = Vec::new();
        for (log, entries) in &self.riding {
            let is_own = log.node == self.node;
            let is_left_out =
                is_own && mutated("log-not-riding") || !is_own && mutated("others-log-not-riding");
            if log.node == to || is_left_out {
                continue;
            }
            let from = carried.entries.get(*log);
            batches.extend(in_rows(*log, self.incarnations[log.node as usize], entries.range(from..)));
            if let Some((last, _)) = entries.last_key_value() {
                carried.entries.raise(*log, last + 1);
            }
        }
        let mut stable = Vec::new();
        for (log, length) in self.stable.iter() {
            if log.node != to && carried.stable.get(log) < length {
                carried.stable.raise(log, length);
                stable.push(Stable { log, incarnation: self.incarnations[log.node as usize], length });
            }
        }
        Ride { lengths: self.lengths(), batches, stable }
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
        let numbered = (batch.first..end).zip(batch.entries);
        let entries = self.riding.entry(batch.log).or_default();
        entries.extend(numbered.skip_while(|(number, _)| *number < stable));
    }

    /// So much of a log is stable, as somebody says.
    pub fn on_stable(&mut self, said: Stable) {
        let length = said.length.min(self.cuts.end_of(said.log, said.incarnation));
        if !self.shape.has(said.log) || length <= self.stable.get(said.log) {
            return;
        }
        self.stable.raise(said.log, length);
        if let Some(entries) = self.riding.get_mut(&said.log) {
            *entries = entries.split_off(&length);
        }
    }

    /// Own entries that the keeper has not been sent yet, of all PEs at once, so that it knows what each depends on.
    pub fn flush(&mut self) -> Vec<Batch> {
        let (node, incarnation) = (self.node, self.incarnation(self.node));
        let mut batches = Vec::new();
        let flushed = self.flushed.iter_mut().flatten();
        for ((rank, log), flushed) in (0..).zip(&self.own).zip(flushed) {
            let first = std::mem::replace(flushed, log.end());
            let entries: Vec<_> = log.entries(first).map(|(_, entry)| entry).collect();
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
        let pes = self.shape.pes_per_node;
        let kept = self.kept.entry(log).or_insert_with(|| InputLog::starting_at(first, pes));
        if first > kept.end() {
            // Only a peer that makes things up leaves any out.
            return None;
        }
        let (end, new) = (self.cuts.end_of(log, incarnation), kept.end());
        let numbered = (first..end).zip(&batch.entries).skip_while(|(number, _)| *number < new);
        numbered.for_each(|(_, entry)| {
            kept.append(entry);
        });
        let stable = Stable { log, incarnation, length: kept.end() };
        self.on_stable(stable);
        Some(stable)
    }

    /// What the node depends on that may still be lost: its own logs, and what it holds of others' that is not stable.
    #[must_use]
    pub fn unstable(&self) -> Lengths {
        let own = self.shape.logs_of(self.node).zip(self.lengths());
        let ends =
            |(log, entries): (&LogId, &BTreeMap<u64, Entry>)| Some((*log, entries.last_key_value()?.0 + 1));
        let others = self.riding.iter().filter(|(log, _)| log.node != self.node);
        let others = others.filter_map(ends).filter(|_| !mutated("line-waits-for-own-only"));
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
            entries: entries.entries(entries.first()).map(|(_, entry)| entry).collect(),
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
        let logs = self.riding.iter().filter(|(log, _)| is_asked_for(log.node));
        logs.flat_map(|(log, entries)| in_rows(*log, self.incarnations[log.node as usize], entries.range(..)))
            .collect()
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
            if let Some(entries) = self.riding.get_mut(&log) {
                entries.split_off(end);
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
        if let Some(entries) = self.riding.get_mut(&log) {
            *entries = entries.split_off(&before);
        }
    }
}

impl Carried {
    fn lower(&mut self, log: LogId, end: u64) {
        self.entries.lower(log, end);
        self.stable.lower(log, end);
    }
}

/// Entries as batches, one for each row of consecutive ones.
fn in_rows<'a>(
    log: LogId,
    incarnation: Incarnation,
    entries: impl Iterator<Item = (&'a u64, &'a Entry)>,
) -> Vec<Batch> {
    let mut rows: Vec<Batch> = Vec::new();
    for (number, entry) in entries {
        match rows.last_mut() {
            Some(row) if row.end() == *number => row.entries.push(entry.clone()),
            _ => rows.push(Batch { log, incarnation, first: *number, entries: vec![entry.clone()] }),
        }
    }
    rows
}
