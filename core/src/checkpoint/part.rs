//! What is kept of one PE: everything that it, or whoever takes its place, needs to go on.

use std::time::Duration;

use crate::checkpoint::waiting::Messages;
use crate::collection::description::Description;
use crate::collection::gone::Gone;
use crate::message::control::Cast;
use crate::object::Travel;
use crate::order::Order;
use crate::reduction::{Begin, BirthId, ReductionKey};
use crate::route::Route;
use talisman_base::ids::{CollectionId, ObjId, PeId, SectionId};
use talisman_job::output_commit::SavedPeriod;
use talisman_pup::{Packed, Pup};

/// One PE's part of a version. Of names and places nothing depends on how many PEs there will be.
#[derive(Debug, Default, Pup)]
pub(crate) struct Part {
    pub(crate) pe: PeId,
    /// Steps that the program had reported on its node.
    pub(crate) steps: u64,
    /// Read-only values that it made.
    pub(crate) shared: Vec<(u64, Packed)>,
    pub(crate) collections: Vec<SavedCollection>,
    /// Names of collections that were destroyed, by creator.
    pub(crate) gone: Vec<(PeId, Gone)>,
    /// Those of read-only values.
    pub(crate) gone_shared: Vec<(PeId, Gone)>,
    /// Read-only values that were destroyed, and are there for others that refer to them.
    pub(crate) doomed: Vec<u64>,
    /// How many messages came for what was destroyed, and the last of them, if any did.
    pub(crate) too_late: Option<(u64, String)>,
    pub(crate) roots: Vec<SavedRoot>,
    pub(crate) sections: Vec<SavedSection>,
    pub(crate) objects: Vec<SavedObject>,
    /// At the home: those of its objects that are on other PEs, or are being made there.
    pub(crate) away: Vec<ObjId>,
    /// Broadcasts that objects of this part have been given and have not run: each once.
    pub(crate) casts: Vec<(CollectionId, u32, Cast)>,
    /// Objects to be made here, as their homes have decided, in the form of messages that goes between nodes.
    pub(crate) births: Vec<Packed>,
    /// Messages for objects, in the same form.
    pub(crate) messages: Messages,
    /// Messages for PEs that the program has to do with, in the same form: broadcasts without a number yet, insertions, functions.
    pub(crate) requests: Vec<Packed>,
    /// Timers, by how long they have to run.
    pub(crate) timers: Vec<(Duration, Route)>,
    pub(crate) when_idle: Vec<Route>,
    /// Who waits for quiescence.
    pub(crate) when_quiet: Vec<Route>,
    /// How many names it has given out, and those for whom it stands in.
    pub(crate) names: Vec<(PeId, SavedNames)>,
    /// Of the first PE of a node: what was said there, and those have not heard who are to.
    pub(crate) said: Vec<SavedPeriod>,
    /// Of a PE that there was not: members of groups to be made.
    pub(crate) newborn: Vec<Newborn>,
}

/// A member of a group on a PE that there was not.
#[derive(Debug, Pup)]
pub(crate) struct Newborn {
    pub(crate) id: ObjId,
    /// The `#[init]` that makes it, with its packed arguments.
    pub(crate) init: u16,
    pub(crate) args: Packed,
}

/// A chare.
#[derive(Debug, Pup)]
pub(crate) struct SavedObject {
    pub(crate) id: ObjId,
    pub(crate) travel: Travel,
    /// Broadcasts that it has been given and has not run: from its own count up to this number.
    pub(crate) given: u32,
    /// Where it is to move once it has run those.
    pub(crate) destination: Option<PeId>,
    /// State and flows, packed as for a migration.
    pub(crate) state: Packed,
}

/// A collection as one PE sees it.
#[derive(Debug, Pup)]
pub(crate) struct SavedCollection {
    pub(crate) of: Description,
    /// Broadcasts that have passed, the same number on every PE.
    pub(crate) passed: u32,
    pub(crate) closed: bool,
    pub(crate) sent: u64,
    pub(crate) made: u64,
    /// At the home: what elements that were removed left to the next of their names.
    pub(crate) orders: Vec<(u128, Order)>,
    /// Elements that are still to be made, on this PE or by it, and the first broadcast that each is to receive of those that have passed.
    pub(crate) unborn: Vec<(BirthId, u32)>,
}

/// What the trees of a collection end in.
#[derive(Debug, Pup)]
pub(crate) struct SavedRoot {
    pub(crate) id: CollectionId,
    pub(crate) alive: Option<u64>,
    /// The next reduction to complete.
    pub(crate) next: u32,
    /// What has come of those that are open: each a packed `Pending`, with values of the program in it.
    pub(crate) open: Vec<(ReductionKey, Packed)>,
    /// The next broadcast.
    pub(crate) numbered: u32,
    /// Broadcasts that wait for `done_inserting`.
    pub(crate) held: Vec<Cast>,
    /// `done_inserting` was said, and the first elements are not counted yet.
    pub(crate) counts: bool,
    /// How many broadcasts anybody had received who contributed to reductions that are complete.
    pub(crate) heard: u32,
    /// Members that were made late, or are to be, and with which reduction they begin.
    pub(crate) late: Vec<(u32, Begin)>,
}

/// A section at its root.
#[derive(Debug, Pup)]
pub(crate) struct SavedSection {
    pub(crate) id: SectionId,
    pub(crate) of: CollectionId,
    pub(crate) members: Vec<u128>,
    /// The next multicast.
    pub(crate) next: u32,
    /// Reductions of contributions that are complete.
    pub(crate) complete: u32,
    pub(crate) open: Vec<(ReductionKey, Packed)>,
    /// Members that are lost for good: to how many reductions each has contributed.
    pub(crate) gone: Vec<(u128, u32)>,
}

/// Counts for names that a PE gives out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pup)]
pub(crate) struct SavedNames {
    pub(crate) collections: u32,
    pub(crate) sections: u32,
    pub(crate) singles: u64,
    pub(crate) shared: u32,
    pub(crate) placed: u32,
    pub(crate) births: u64,
    /// The highest generation of its slots so far: singletons are named after slots.
    pub(crate) generation: u32,
}
