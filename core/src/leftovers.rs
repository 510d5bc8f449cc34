//! At the end of a job that ended well: what nobody got.
//!
//! A broadcast to an array that is filled by insertion waits at the array's root until `done_inserting`, and so does the result of what its
//! elements have contributed. If that is never called, nobody gets either. Messages for elements that do not exist are kept at their homes
//! ([`undelivered`](talisman_kernel::undelivered)).

use std::collections::BTreeMap;

use easy_ext::ext;

use crate::broadcast::BroadcastsOfCollection;
use crate::reduction::ReductionsOfCollection;
use talisman_base::ids::ObjId;
use talisman_job::Undelivered;
use talisman_job::undelivered::{Caller, Kept, Leftovers, NEVER_COMPLETE};
use talisman_kernel::collection::Collection;
use talisman_kernel::message::control::{Cast, CastCall, ObjectMessage};
use talisman_kernel::message::envelope::{Body, Envelope};
use talisman_kernel::pe::Pe;
use talisman_observe::sometimes::sometimes;

/// Kinds of messages that a PE tells of.
const TOLD: usize = 64;

#[ext(LeftoversOnPe)]
pub impl Pe {
    /// The job has ended here: if it ended well, what nobody got is told.
    fn tell_of_undelivered(&self) {
        if self.node.job.how_it_ended().is_none_or(|end| end.status != 0) {
            return;
        }
        let (mut leftovers, mut kinds) = (Leftovers::default(), BTreeMap::new());
        leftovers.held = self.collections.iter().flat_map(held_of).take(TOLD).collect();
        for collection in self.collections.iter() {
            collection.each_awaiting(|index, message| {
                if let Some(entry) = entry_of(collection, message) {
                    *kinds.entry((collection.id, index, entry, message.from)).or_insert(0_u64) += 1;
                }
            });
        }
        if kinds.is_empty() && leftovers.held.is_empty() && self.callers.noted().is_empty() {
            return;
        }
        for ((collection, index, entry, pe), count) in kinds {
            let Some(collection) = self.collections.get(collection) else { continue };
            sometimes("a job ended well, and an element had not come that had messages");
            match leftovers.kept.len() < TOLD {
                true => {
                    let kept = Kept { to: collection.label(index), entry: entry.into(), pe, count };
                    leftovers.kept.push(kept);
                }
                false => leftovers.others += count,
            }
        }
        leftovers.callers = self.callers_noted();
        self.node.job.left_over(leftovers);
    }

    fn callers_noted(&self) -> Vec<Caller> {
        let noted = self.callers.noted();
        let caller = |(to, entry, who): &(ObjId, u16, ObjId)| {
            let (called, calling) =
                (self.collections.get(to.collection)?, self.collections.get(who.collection)?);
            let entry = called.chare.entries.get(*entry as usize)?.name.into();
            Some(Caller { to: called.label(to.index), entry, pe: self.id, who: calling.label(who.index) })
        };
        noted.iter().filter_map(caller).collect()
    }
}

/// At the root of an array whose first elements were never said to be all: what has waited for that. (If it was said, those that are not there
/// are on their way.)
fn held_of(collection: &Collection) -> Vec<Undelivered> {
    let Some(root) = collection.root() else { return Vec::new() };
    let root = root.borrow();
    if !collection.is_inserting() || root.census.is_open() {
        return Vec::new();
    }
    let mut counts = BTreeMap::new();
    let (_, broadcasts) = collection.casts().to_be_numbered();
    for called in broadcasts.iter().filter_map(|cast| called_of_all(collection, cast)) {
        *counts.entry(called).or_insert(0_u64) += 1;
    }
    let contributed: u64 = root.wanted().into_iter().sum();
    if contributed > 0 {
        counts.insert("(contributions to a reduction)", contributed);
    }
    let told = |(entry, count): (&str, u64)| Undelivered {
        to: (collection.chare.name)(),
        entry: String::from(entry),
        cause: NEVER_COMPLETE.into(),
        count,
        ..Undelivered::default()
    };
    counts.into_iter().map(told).collect()
}

/// What a broadcast calls, for people, if it is the program's.
fn called_of_all(collection: &Collection, cast: &Cast) -> Option<&'static str> {
    match cast.call {
        CastCall::Entry(entry) => collection.chare.entries.get(entry as usize).map(|entry| entry.name),
        CastCall::Reply(_) => Some("(an answer)"),
        CastCall::Destroy | CastCall::Forget(_) => None,
    }
}

/// The entry that a message calls, if it calls one.
fn entry_of(collection: &Collection, message: &Envelope) -> Option<&'static str> {
    match (message.body, message.object_message()) {
        (Body::Invoke(entry), _) => Some(entry.name),
        (_, Some(ObjectMessage::Invoke { entry, .. })) => {
            collection.chare.entries.get(*entry as usize).map(|entry| entry.name)
        }
        _ => None,
    }
}
