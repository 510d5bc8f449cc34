//! Messages between objects of one PE: they run when the keeper knows their order.

use std::collections::VecDeque;

use super::{ObjectId, Tn};
use talisman_observe::mutations::mutated;

/// What the keeper logs of one, beside the receiver: it comes again when its sender runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Who sent it.
    pub sender: ObjectId,
    /// Its number among those to this receiver.
    pub sn: u64,
    /// Its place among all that the receiver runs.
    pub tn: Tn,
}

/// Local messages whose records are on their way to the keeper. Part of an image.
#[derive(Clone, Debug)]
pub struct Local<M>(VecDeque<(Record, M)>);

impl<M> Default for Local<M> {
    fn default() -> Self {
        Local(VecDeque::new())
    }
}

impl<M> Local<M> {
    /// One is sent. What may be delivered at once: nothing.
    pub fn send(&mut self, record: Record, message: M) -> Option<(Record, M)> {
        if mutated("local-before-logged") {
            return Some((record, message));
        }
        self.0.push_back((record, message));
        None
    }

    /// The keeper has a record: those up to it may be delivered.
    pub fn on_logged(&mut self, record: Record) -> Vec<(Record, M)> {
        let known = self.0.iter().position(|(one, _)| *one == record).map_or(0, |place| place + 1);
        self.0.drain(..known).collect()
    }

    /// Records that a new keeper is to be sent, or that a restored node sends again.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.0.iter().map(|(record, _)| *record)
    }
}
