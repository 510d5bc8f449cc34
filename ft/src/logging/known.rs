//! What is known of the logs of lost nodes, all survivors together: up to where, and whether that is enough.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::entry::{Entry, Input};
use super::ids::{LogId, Shape};
use super::lengths::Lengths;
use crate::NodeId;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// Entries that the lost are fed, by log: from the image that they are restored from, without a gap.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    logs: BTreeMap<LogId, (u64, Vec<Entry>)>,
}

/// Less is known of a log than somebody depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orphan {
    /// Which log.
    pub log: LogId,
    /// So many entries of it are known.
    pub known: u64,
    /// So many there were when its node told somebody who depends on it.
    pub told: u64,
}

impl Known {
    /// The union of what is held, of the logs that begin here.
    pub(super) fn of<'a>(starts: &[(LogId, u64)], held: impl Iterator<Item = &'a Batch> + Clone) -> Self {
        let mut known = Known::default();
        for (log, start) in starts {
            let mut found = BTreeMap::new();
            for batch in held.clone().filter(|batch| batch.log == *log) {
                found.extend((batch.first..).zip(batch.entries.iter()));
            }
            let row = (*start..).map_while(|number| found.remove(&number));
            known.logs.insert(*log, (*start, row.collect()));
        }
        known
    }

    /// How much of a log is known. Of logs that are not lost, all.
    pub(super) fn end(&self, log: LogId) -> u64 {
        self.logs.get(&log).map_or(u64::MAX, |(start, entries)| start + entries.len() as u64)
    }

    pub(super) fn entries(&self, log: LogId) -> &[Entry] {
        self.logs.get(&log).map_or(&[], |(_, entries)| entries)
    }

    /// Leaves out what depends on more of a lost log than is known, and all that follows it in its own log. Nobody
    /// who is there depends on that: who does had the same ride on its frames.
    pub(super) fn truncate(&mut self, shape: Shape) {
        if mutated("prefix-not-cut") {
            return;
        }
        loop {
            let ends = self.clone();
            let mut any = false;
            for (log, (_, entries)) in &mut self.logs {
                let is_known =
                    |entry: &Entry| depends_on(*log, entry, shape).all(|(on, told)| told <= ends.end(on));
                let kept = entries.iter().take_while(|entry| is_known(entry)).count();
                any |= kept < entries.len();
                entries.truncate(kept);
            }
            if !any {
                return;
            }
            sometimes("an entry was left out since it depended on one that nobody knows");
        }
    }

    /// Whether all that anybody depends on is known. Rides see to that, so it is an assertion; it turns a mistake in
    /// them into a report where else the result would be wrong.
    ///
    /// # Errors
    /// If less is known of a log than somebody was told.
    pub(super) fn check(&self, shape: Shape, told: &Lengths) -> Result<(), Orphan> {
        let mut all = told.clone();
        for (log, (_, entries)) in &self.logs {
            let depends = entries.iter().flat_map(|entry| depends_on(*log, entry, shape));
            depends.for_each(|(on, told)| all.raise(on, told));
        }
        let short = all.iter().find(|(log, told)| self.end(*log) < *told && !mutated("log-length-not-told"));
        match short {
            Some((log, told)) => Err(Orphan { log, known: self.end(log), told }),
            None => Ok(()),
        }
    }

    /// Frames that a lost PE took in of those of a node, after its image.
    pub(super) fn frames_from(&self, log: LogId, sender: NodeId) -> u64 {
        let frames = |entry: &Entry| match &entry.input {
            Input::Lane { from, frames, .. } if *from == sender => u64::from(*frames),
            _ => 0,
        };
        self.entries(log).iter().map(frames).sum()
    }

    /// Slots that it took of the ring from a PE of its node.
    pub(super) fn slots_from(&self, log: LogId, sender: u32) -> u64 {
        let slots = |entry: &Entry| match &entry.input {
            Input::Ring { rank, slots, .. } if *rank == sender => u64::from(*slots),
            _ => 0,
        };
        self.entries(log).iter().map(slots).sum()
    }
}

/// What an entry says that other logs had in them.
fn depends_on(of: LogId, entry: &Entry, shape: Shape) -> impl Iterator<Item = (LogId, u64)> {
    let on: Vec<_> = match &entry.input {
        Input::Lane { from, told, .. } => shape.logs_of(*from).zip(told.iter().copied()).collect(),
        Input::Ring { rank, told, .. } if !mutated("ring-length-not-told") => {
            vec![(LogId { rank: *rank, ..of }, *told)]
        }
        _ => Vec::new(),
    };
    on.into_iter()
}
