//! Windows: memory of a rank that others read and write (MPI-4.1, chapter 12), as plain data. They move with the rank.
//!
//! A rank that accesses another's window does so itself if that one waits on its PE ([`Wanted`]). Else it sends it a frame
//! ([`Access`]); the other's process does what that says when the frame is taken in, whatever its program is at, since a rank that
//! does not run has its memory where its process finds it. Frames of one rank come in order, in the context of the window's own
//! communicator. So what is asked for is done in order, and an answer to one that asks for nothing ([`Access::Flush`]) tells that
//! all before it has been done. Whatever comes back is an ordinary message, which the rank that asked for it receives.

mod access;
mod locks;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use talisman_pup::Pup;

use crate::comm::Attributes;
use crate::engine::{Context, Payload, Rank, Tag, Token};
use crate::objects::{Info, Table};

pub use access::{Access, Deed, NeedsLock, Wanted};
pub use locks::{Granted, Lock};

/// The tag of the message by which a rank says that its window may be accessed (`MPI_Win_post`).
pub const POSTED: Tag = Tag::MAX;
/// That of the message by which one says that it has accessed it (`MPI_Win_complete`).
pub const COMPLETED: Tag = Tag::MAX - 1;
/// Answers have smaller tags.
const ANSWERS: Tag = Tag::MAX - 2;

/// How a window was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Flavor {
    /// Of memory of the program.
    Create,
    /// With memory of its own.
    Allocate,
    /// Without memory, which is attached to it later.
    Dynamic,
    /// With memory that all address.
    Shared,
}

/// Memory that all ranks of a window address, as one of them has mapped it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct SharedMemory {
    /// Its first address in this rank.
    pub start: u64,
    /// Its length in bytes.
    pub len: u64,
    /// That of each rank of the window.
    pub parts: Vec<Part>,
}

/// The part of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Part {
    /// Where it begins.
    pub offset: u64,
    /// Its length in bytes.
    pub size: u64,
    /// The unit of its displacements.
    pub unit: u64,
}

/// The memory of one rank in a window.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Region {
    /// Its address.
    pub base: u64,
    /// Its length in bytes.
    pub size: u64,
    /// Displacements are multiples of so many bytes.
    pub unit: u64,
    /// How it was made.
    pub flavor: Flavor,
    /// What is attached to a dynamic one: lengths in bytes by address.
    attached: BTreeMap<u64, u64>,
}

impl Region {
    /// Memory from this address on.
    pub fn new(flavor: Flavor, base: u64, size: u64, unit: u64) -> Region {
        Region { base, size, unit, flavor, attached: BTreeMap::new() }
    }

    /// Attaches memory to a dynamic one. Whether that could be done.
    pub fn attach(&mut self, at: u64, size: u64) -> bool {
        let Some(end) = at.checked_add(size).filter(|_| self.flavor == Flavor::Dynamic) else { return false };
        let before = self.attached.range(..end).next_back();
        let is_free = before.is_none_or(|(first, len)| first + len <= at) && !self.attached.contains_key(&at);
        if is_free {
            self.attached.insert(at, size);
        }
        is_free
    }

    /// Detaches it again. Whether it was attached.
    pub fn detach(&mut self, at: u64) -> bool {
        self.attached.remove(&at).is_some()
    }

    /// The address of this displacement, if all bytes from `low` to `high` behind that address are the window's.
    pub fn address(&self, at: i64, (low, high): (i64, i64)) -> Option<u64> {
        let start = self.base.checked_add_signed(at.checked_mul(i64::try_from(self.unit).ok()?)?)?;
        let (first, end) = (start.checked_add_signed(low)?, start.checked_add_signed(high)?);
        let holds = |from: u64, size: u64| first >= from && end <= from.saturating_add(size);
        let is_inside = match self.flavor {
            Flavor::Dynamic => self.has_attached(first, end),
            _ => holds(self.base, self.size),
        };
        (low == high || is_inside).then_some(start)
    }

    /// Whether what is attached has all of these bytes: parts that touch are as one.
    fn has_attached(&self, first: u64, end: u64) -> bool {
        let with_first = self.attached.range(..=first).next_back().map_or(first, |(at, _)| *at);
        let mut covered = first;
        for (at, size) in self.attached.range(with_first..) {
            if *at > covered || covered >= end {
                break;
            }
            covered = covered.max(at.saturating_add(*size));
        }
        covered >= end
    }
}

/// Something that a rank has asked for and has no answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Pending {
    /// Of whom.
    pub target: Rank,
    /// The receive that gets the answer.
    pub token: Token,
    /// The program has a request of it.
    pub is_asked_for: bool,
}

/// How far a rank is with accesses to the others' memory, and with those to its own. Ranks are those of the world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Epochs {
    /// Fences are around what it does.
    pub is_fenced: bool,
    /// Those with whom it has started to access.
    pub started: Option<Vec<Rank>>,
    /// Receives of what those say that have been allowed to, when they are done.
    pub posted: Option<Vec<Token>>,
    /// Those whose windows it has locked; whether they know, as another's lock could be in its way.
    pub locked: BTreeMap<Rank, bool>,
    /// It has locked all of them together.
    pub all_are_locked: bool,
    /// Answers that have not come.
    pub pending: Vec<Pending>,
    /// Those of whom it has asked for something that has no answer, since it last knew that all was done.
    pub touched: BTreeSet<Rank>,
}

impl Epochs {
    /// Whether it may access the memory of this rank now.
    pub fn admit(&self, target: Rank) -> bool {
        let is_started = self.started.as_ref().is_some_and(|started| started.contains(&target));
        self.is_fenced || is_started || self.locked.contains_key(&target)
    }

    /// Whether it has asked nobody for anything that may not be done yet.
    pub fn has_nothing_to_wait_for(&self) -> bool {
        self.pending.is_empty() && self.touched.is_empty()
    }

    /// Whether this rank has done all that it was asked for, as far as is known.
    pub fn has_nothing_from(&self, target: Rank) -> bool {
        !self.touched.contains(&target) && self.pending.iter().all(|pending| pending.target != target)
    }

    /// Whether it has begun nothing that is not ended.
    pub fn are_over(&self) -> bool {
        self.started.is_none() && self.posted.is_none() && self.locked.is_empty()
    }
}

/// A window, as one of its ranks sees it.
#[derive(Clone, Debug, PartialEq, Pup)]
pub struct Window {
    /// A communicator of its own, by its handle.
    pub communicator: u32,
    /// The rank's own memory in it.
    pub region: Region,
    /// Of one whose ranks address each other's.
    pub shared: Option<SharedMemory>,
    /// Who has that locked.
    pub lock: Lock,
    /// What those have asked for that wait for the lock.
    deferred: BTreeMap<Rank, VecDeque<(Access, Payload)>>,
    /// What the rank is at.
    pub epochs: Epochs,
    /// Where values of its predefined attributes are, in the program's memory.
    pub facts: u64,
    /// The number of the error handler.
    pub handler: u32,
    /// What the program has attached.
    pub attributes: Attributes,
    /// What the program has said of it.
    pub hints: Info,
    /// For people.
    pub name: String,
    next_answer: Tag,
}

impl Window {
    /// A new one.
    pub fn new(communicator: u32, region: Region, hints: Info) -> Window {
        Window {
            communicator,
            region,
            shared: None,
            lock: Lock::default(),
            deferred: BTreeMap::new(),
            epochs: Epochs::default(),
            facts: 0,
            handler: 0,
            attributes: Attributes::default(),
            hints,
            name: String::new(),
            next_answer: 0,
        }
    }

    /// What a rank asks for waits until it has the lock that it has asked for before. Whether that is so.
    pub fn defer(&mut self, by: Rank, access: &Access, payload: &Payload) -> bool {
        let waits = self.lock.is_awaited_by(by);
        if waits {
            self.deferred.entry(by).or_default().push_back((access.clone(), payload.clone()));
        }
        waits
    }

    /// The next thing that a rank had asked for while it waited for the lock, if it does not wait any more.
    pub fn next_deferred(&mut self, of: Rank) -> Option<(Access, Payload)> {
        let next = if self.lock.is_awaited_by(of) { None } else { self.deferred.get_mut(&of)?.pop_front() };
        if self.deferred.get(&of).is_some_and(VecDeque::is_empty) {
            self.deferred.remove(&of);
        }
        next
    }

    /// A tag for an answer, which no other that is under way has.
    pub fn next_answer(&mut self) -> Tag {
        self.next_answer = (self.next_answer + 1) % ANSWERS;
        self.next_answer
    }
}

/// The windows of one rank.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Windows {
    all: Table<Window>,
    by_context: BTreeMap<Context, u32>,
}

impl Windows {
    /// Adds one that is accessed in this context; its number.
    pub fn insert(&mut self, context: Context, window: Window) -> u32 {
        let number = self.all.insert(window);
        self.by_context.insert(context, number);
        number
    }

    /// The one of this number.
    pub fn get(&self, number: u32) -> Option<&Window> {
        self.all.get(number)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Window> {
        self.all.get_mut(number)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Window> {
        self.by_context.values().filter_map(|number| self.get(*number))
    }

    /// The one that is accessed in this context.
    pub fn of_context(&mut self, context: Context) -> Option<&mut Window> {
        self.all.get_mut(*self.by_context.get(&context)?)
    }

    /// Takes one out.
    pub fn remove(&mut self, number: u32) -> Option<Window> {
        self.by_context.retain(|_, other| *other != number);
        self.all.remove(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_all_in_the_window_has_no_address() {
        let region = Region::new(Flavor::Create, 1000, 80, 8);
        assert_eq!(region.address(0, (0, 80)), Some(1000));
        assert_eq!(region.address(9, (0, 8)), Some(1072));
        assert_eq!(region.address(2, (-16, 8)), Some(1016));
        for (at, span) in
            [(0, (0, 81)), (9, (0, 9)), (-1, (0, 8)), (1, (-9, 0)), (i64::MAX, (0, 1)), (i64::MIN, (0, 1))]
        {
            assert_eq!(region.address(at, span), None, "{at}, {span:?}");
        }
        assert_eq!(region.address(10, (0, 0)), Some(1080), "nothing needs no room");
    }

    #[test]
    fn memory_is_attached_once_and_parts_that_touch_are_accessed_as_one() {
        let mut region = Region::new(Flavor::Dynamic, 0, 0, 1);
        assert!(region.attach(1000, 100) && region.attach(1100, 50) && region.attach(1160, 40));
        for (at, size) in [(1000, 1), (1099, 1), (950, 51), (900, 500), (1149, 10), (u64::MAX, 2)] {
            assert!(!region.attach(at, size), "{at}, {size}");
        }
        assert_eq!(region.address(1020, (0, 80)), Some(1020));
        assert_eq!(region.address(1140, (0, 10)), Some(1140));
        assert_eq!(region.address(1020, (0, 130)), Some(1020));
        for (at, end) in [(1020, 131), (1140, 11), (1140, 30), (1155, 2), (999, 2), (2000, 1)] {
            assert_eq!(region.address(at, (0, end)), None, "{at}");
        }
        assert!(region.detach(1000) && !region.detach(1000));
        assert_eq!(region.address(1020, (0, 8)), None);
        assert!(!Region::new(Flavor::Create, 0, 10, 1).attach(100, 1));
    }

    #[test]
    fn what_is_asked_for_is_not_overtaken() {
        let token = Token { index: 0, generation: 0 };
        let mut epochs = Epochs::default();
        assert!(epochs.has_nothing_from(1));
        epochs.touched.insert(1);
        assert!(!epochs.has_nothing_from(1) && epochs.has_nothing_from(2));
        epochs.touched.clear();
        epochs.pending.push(Pending { target: 1, token, is_asked_for: false });
        assert!(!epochs.has_nothing_from(1) && epochs.has_nothing_from(2));
    }
}
