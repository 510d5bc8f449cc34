//! Communicators: which ranks talk with each other, and under which context (MPI-3.1, chapters 6 and 7).
//!
//! All of it is data and functions of one rank: what several ranks have to agree on (a new context, colours of a
//! split) is gathered by the caller with collectives of the parent, and given to all alike.
//!
//! ```
//! use talisman_ampi::comm::Communicator;
//! let world = Communicator::world(6, 4);
//! assert_eq!((world.size(), world.rank(), world.world_rank(5)), (6, Some(4), Some(5)));
//! ```

mod attribute;
mod context;
mod group;
mod split;
mod table;
#[cfg(test)]
mod tests;
pub mod topology;
mod world;

use talisman_pup::Pup;

use crate::collective::Member;
use crate::engine::{Pattern, Rank, Tag};
use topology::Topology;

pub use attribute::{Asked, Attributes, Copying, Keyvals, Value};
pub use context::{ContextPair, Contexts, TooMany, is_of_parts};
pub use group::{Comparison, Group, GroupError};
pub use split::Choice;
pub use table::{Communicators, UnknownCommunicator};
pub use world::{Parent, World};

/// A communicator, as one of its members sees it.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Communicator {
    /// Its members; of an intercommunicator those of the local group.
    group: Group,
    /// The other side of an intercommunicator.
    remote: Option<Group>,
    contexts: ContextPair,
    /// This rank in the world.
    world_rank: Rank,
    /// Counts collectives, so that those under way at once are kept apart.
    collectives: u32,
    /// A virtual topology, if it has one.
    pub topology: Option<Topology>,
    /// What the program has attached.
    pub attributes: Attributes,
    /// For people: reports of a job that is stuck name it.
    pub name: String,
}

impl Communicator {
    /// All ranks, seen by this one (`MPI_COMM_WORLD`).
    pub fn world(ranks: u32, rank: Rank) -> Communicator {
        Communicator::new(Group::all(ranks), ContextPair::WORLD, rank).named("MPI_COMM_WORLD")
    }

    /// This rank alone (`MPI_COMM_SELF`).
    pub fn alone(own: &Contexts, rank: Rank) -> Communicator {
        Communicator::new(Group::of(&[rank]), ContextPair::alone(own), rank).named("MPI_COMM_SELF")
    }

    /// Of these members.
    pub fn new(group: Group, contexts: ContextPair, world_rank: Rank) -> Communicator {
        Communicator {
            group,
            remote: None,
            contexts,
            world_rank,
            collectives: 0,
            topology: None,
            attributes: Attributes::default(),
            name: String::new(),
        }
    }

    /// Between two groups without a common member: messages go to the other one (`MPI_Intercomm_create`).
    pub fn between(local: Group, remote: Group, contexts: ContextPair, world_rank: Rank) -> Communicator {
        Communicator { remote: Some(remote), ..Communicator::new(local, contexts, world_rank) }
    }

    /// The members; of an intercommunicator those of the local group.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The other side of an intercommunicator.
    pub fn remote_group(&self) -> Option<&Group> {
        self.remote.as_ref()
    }

    /// How many members it has; of an intercommunicator the local group.
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// The number of this rank in it.
    pub fn rank(&self) -> Option<u32> {
        self.group.rank_of(self.world_rank)
    }

    /// This rank in it, for collectives.
    pub fn member(&self) -> Option<Member> {
        self.rank().map(|rank| Member { rank, size: self.size() })
    }

    /// Its contexts.
    #[inline]
    pub fn contexts(&self) -> ContextPair {
        self.contexts
    }

    /// The rank of the world that messages to this number go to.
    #[inline]
    pub fn world_rank(&self, number: u32) -> Option<Rank> {
        self.peers().member(number)
    }

    /// The number that a peer has: the source in a status.
    #[inline]
    pub fn number_of(&self, world_rank: Rank) -> Option<u32> {
        self.peers().rank_of(world_rank)
    }

    /// What a receive from this number accepts; `None` if there is no such peer.
    #[inline]
    pub fn pattern(&self, source: Option<u32>, tag: Option<Tag>) -> Option<Pattern> {
        let source = match source {
            None => None,
            Some(number) => Some(self.world_rank(number)?),
        };
        Some(Pattern { context: self.contexts.user, source, tag })
    }

    /// The tag of the next collective: all members call collectives in the same order.
    pub fn next_collective(&mut self) -> Tag {
        let tag = self.collectives & Tag::MAX as u32;
        self.collectives = self.collectives.wrapping_add(1);
        tag as Tag
    }

    /// Whether two are the same, or of the same members (`MPI_Comm_compare`).
    pub fn compare(&self, other: &Communicator) -> Comparison {
        if self.contexts == other.contexts {
            return Comparison::Identical;
        }
        let remote = match (&self.remote, &other.remote) {
            (None, None) => Comparison::Identical,
            (Some(one), Some(other)) => one.compare(other),
            _ => Comparison::Unequal,
        };
        match self.group.compare(&other.group).max(remote) {
            Comparison::Identical => Comparison::Congruent,
            worse => worse,
        }
    }

    fn named(self, name: &str) -> Communicator {
        Communicator { name: name.to_owned(), ..self }
    }

    /// Those whom messages go to.
    #[inline]
    fn peers(&self) -> &Group {
        self.remote.as_ref().unwrap_or(&self.group)
    }
}
