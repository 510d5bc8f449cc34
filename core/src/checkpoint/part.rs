//! What is kept of one PE: everything that it, or whoever takes its place, needs to go on.

use std::time::Duration;

use crate::checkpoint::waiting::Messages;
use crate::reduction::Begin;
use crate::section::SavedSection;
use talisman_base::birth::BirthId;
use talisman_base::ids::ReductionKey;
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_job::output_commit::SavedPeriod;
use talisman_kernel::collection::description::Description;
use talisman_kernel::collection::gone::Gone;
use talisman_kernel::message::control::Cast;
use talisman_kernel::object::ObjectHeader;
use talisman_kernel::order::Order;
use talisman_kernel::pe::names::SavedNames;
use talisman_kernel::route::Route;
use talisman_pup::{Packed, Pup};

/// One PE's part of a version. Of names and places nothing depends on how many PEs there will be.
#[derive(Debug, Default, Pup)]
pub struct Part {
    pub pe: PeId,
    /// Steps that the program had reported on its node.
    pub steps: u64,
    /// Read-only values that it made.
    pub shared: Vec<(u64, Packed)>,
    pub collections: Vec<SavedCollection>,
    /// Names of collections that were destroyed, by creator.
    pub gone: Vec<(PeId, Gone)>,
    /// Those of read-only values.
    pub gone_shared: Vec<(PeId, Gone)>,
    /// Read-only values that were destroyed, and are there for others that refer to them.
    pub doomed: Vec<u64>,
    /// How many messages came for what was destroyed, and the last of them, if any did.
    pub too_late: Option<(u64, String)>,
    pub roots: Vec<SavedRoot>,
    pub sections: Vec<SavedSection>,
    pub objects: Vec<SavedObject>,
    /// At the home: those of its objects that are on other PEs, or are being made there.
    pub away: Vec<ObjId>,
    /// Broadcasts that objects of this part have been given and have not run: each once.
    pub casts: Vec<(CollectionId, u32, Cast)>,
    /// Objects to be made here, as their homes have decided, in the form of messages that goes between nodes.
    pub births: Vec<Packed>,
    /// Messages for objects, in the same form.
    pub messages: Messages,
    /// Messages for PEs that the program has to do with, in the same form: broadcasts without a number yet, insertions, functions.
    pub requests: Vec<Packed>,
    /// Timers, by how long they have to run.
    pub timers: Vec<(Duration, Route)>,
    pub when_idle: Vec<Route>,
    /// Who waits for quiescence.
    pub when_quiet: Vec<Route>,
    /// How many names it has given out, and those for whom it acts.
    pub names: Vec<(PeId, SavedNames)>,
    /// Of the first PE of a node: what was said there, and those have not heard who are to.
    pub said: Vec<SavedPeriod>,
    /// Of a PE that there was not: members of groups to be made.
    pub newborn: Vec<Newborn>,
}

/// A member of a group on a PE that there was not.
#[derive(Debug, Pup)]
pub struct Newborn {
    pub id: ObjId,
    /// The `#[init]` that makes it, with its packed arguments.
    pub init: u16,
    pub args: Packed,
}

/// A chare.
#[derive(Debug, Pup)]
pub struct SavedObject {
    pub id: ObjId,
    pub header: ObjectHeader,
    /// Broadcasts that it has been given and has not run: from its own count up to this number.
    pub given: u32,
    /// Where it is to move once it has run those.
    pub destination: Option<PeId>,
    /// State and flows, packed as for a migration.
    pub state: Packed,
}

/// A collection as one PE sees it.
#[derive(Debug, Pup)]
pub struct SavedCollection {
    pub of: Description,
    /// Broadcasts that have passed, the same number on every PE.
    pub passed: u32,
    pub closed: bool,
    pub sent: u64,
    pub made: u64,
    /// At the home: what elements that were removed left to the next of their names.
    pub orders: Vec<(u128, Order)>,
    /// Elements that are still to be made, on this PE or by it, and the first broadcast that each is to receive of those that have passed.
    pub unborn: Vec<(BirthId, u32)>,
}

/// What the trees of a collection end in.
#[derive(Debug, Pup)]
pub struct SavedRoot {
    pub id: CollectionId,
    pub alive: Option<u64>,
    /// The next reduction to complete.
    pub next: u32,
    /// What has come of those that are open: each a packed `Pending`, with values of the program in it.
    pub open: Vec<(ReductionKey, Packed)>,
    /// The next broadcast.
    pub numbered: u32,
    /// Broadcasts that wait for `done_inserting`.
    pub held: Vec<Cast>,
    /// `done_inserting` was said, and the first elements are not counted yet.
    pub counts: bool,
    /// How many broadcasts anybody had received who contributed to reductions that are complete.
    pub heard: u32,
    /// Members that were made late, or are to be, and with which reduction they begin.
    pub late: Vec<(u32, Begin)>,
}
