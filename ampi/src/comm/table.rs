//! The communicators of one rank, by handle.

use std::collections::BTreeMap;

use talisman_pup::Pup;
use thiserror::Error;

use super::{Communicator, ContextPair, Contexts, Keyvals, World};
use crate::engine::{Context, Rank};

/// Communicators by handle, and what new ones are made of.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Communicators {
    /// Apart, as most calls are about it.
    world: Communicator,
    others: BTreeMap<u32, Communicator>,
    next: u32,
    /// Gives contexts to those of which this rank is the parent's first.
    pub contexts: Contexts,
    /// Keys of attributes.
    pub keyvals: Keyvals,
    ranks: u32,
    more: u32,
}

/// There is no such communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("communicator {0} is not there: it was freed, or never made")]
pub struct UnknownCommunicator(pub u32);

impl Communicators {
    /// The handle of the world.
    pub const WORLD: u32 = 0;
    /// The handle of the rank alone.
    pub const ALONE: u32 = 1;

    /// The handle of the communicator with those who have started the rank's world, if somebody has.
    pub const PARENT: u32 = 2;

    /// The world, the rank alone, and the communicator with who has started them.
    pub fn new(world: &World, rank: Rank) -> Communicators {
        let contexts = world.contexts(rank);
        let mut others = BTreeMap::from([(Communicators::ALONE, Communicator::alone(&contexts, rank))]);
        others.extend(world.parent(rank).map(|parent| (Communicators::PARENT, parent)));
        let (ranks, more, keyvals) = (world.ranks, world.more, Keyvals::default());
        let world = world.communicator(rank);
        Communicators { next: Communicators::PARENT + 1, world, others, contexts, keyvals, ranks, more }
    }

    /// With how many ranks the job has begun.
    pub fn ranks_at_start(&self) -> u32 {
        self.ranks
    }

    /// The handle of the communicator with those who have started the rank's world, if somebody has and it was not freed.
    pub fn parent(&self) -> Option<u32> {
        self.others.contains_key(&Communicators::PARENT).then_some(Communicators::PARENT)
    }

    /// How many may begin later, in all.
    pub fn more(&self) -> u32 {
        self.more
    }

    /// Adds one; its handle.
    pub fn insert(&mut self, communicator: Communicator) -> u32 {
        let handle = self.next;
        self.next += 1;
        self.others.insert(handle, communicator);
        handle
    }

    /// The communicator of this handle.
    ///
    /// # Errors
    /// If there is none.
    #[inline]
    pub fn get(&self, handle: u32) -> Result<&Communicator, UnknownCommunicator> {
        match handle {
            Communicators::WORLD => Ok(&self.world),
            _ => self.others.get(&handle).ok_or(UnknownCommunicator(handle)),
        }
    }

    /// The communicator of this handle, to be changed.
    ///
    /// # Errors
    /// If there is none.
    pub fn get_mut(&mut self, handle: u32) -> Result<&mut Communicator, UnknownCommunicator> {
        match handle {
            Communicators::WORLD => Ok(&mut self.world),
            _ => self.others.get_mut(&handle).ok_or(UnknownCommunicator(handle)),
        }
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Communicator> {
        std::iter::once(&self.world).chain(self.others.values())
    }

    /// For people: the communicator of one of its contexts.
    pub fn name_of(&self, context: Context) -> String {
        let pair = ContextPair::around(context);
        let has_context = |communicator: &&Communicator| communicator.contexts() == pair;
        match self.all().find(has_context) {
            _ if pair == ContextPair::GROUPS => "a group that makes a communicator".to_owned(),
            _ if pair == ContextPair::PORTS => "ports".to_owned(),
            Some(found) if !found.name.is_empty() => found.name.clone(),
            _ => format!("communicator {}", pair.number()),
        }
    }

    /// Takes one out. What is under way in it goes on.
    ///
    /// # Errors
    /// If there is none, or it is the world or the rank alone.
    pub fn free(&mut self, handle: u32) -> Result<Communicator, UnknownCommunicator> {
        let is_first = handle <= Communicators::ALONE;
        let freed = if is_first { None } else { self.others.remove(&handle) };
        freed.ok_or(UnknownCommunicator(handle))
    }
}
