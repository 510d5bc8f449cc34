//! The communicators of one rank, by handle.

use std::collections::BTreeMap;

use talisman_pup::Pup;
use thiserror::Error;

use super::{Communicator, ContextPair, Contexts, Keyvals};
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

    /// The world and the rank alone.
    pub fn new(ranks: u32, rank: Rank) -> Communicators {
        let world = Communicator::world(ranks, rank);
        let others = BTreeMap::from([(Communicators::ALONE, Communicator::alone(ranks, rank))]);
        let (contexts, keyvals) = (Contexts::new(ranks, rank), Keyvals::default());
        Communicators { next: Communicators::ALONE + 1, world, others, contexts, keyvals }
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
