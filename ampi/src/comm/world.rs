//! The world of a rank, as it is when that begins.

use talisman_pup::Pup;

use super::{Communicator, ContextPair, Contexts, Group};
use crate::engine::Rank;

/// Ranks that begin together: `MPI_COMM_WORLD` of all of them.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct World {
    /// The first of them.
    pub first: Rank,
    /// How many they are.
    pub size: u32,
    /// With how many the job has begun.
    pub ranks: u32,
    /// How many may begin later, in all.
    pub more: u32,
    /// Who has started them; none if the job began with them.
    pub parent: Option<Parent>,
}

/// The ranks that have started others together, and the communicator between both (`MPI_Comm_get_parent`).
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Parent {
    /// Who.
    pub group: Group,
    /// The number of the communicator.
    pub number: u32,
}

impl World {
    /// Of a job that begins with so many ranks.
    pub fn at_start(ranks: u32) -> World {
        World { first: 0, size: ranks, ranks, more: 0, parent: None }
    }

    /// What one of them gives to communicators.
    pub(super) fn contexts(&self, rank: Rank) -> Contexts {
        match self.first < self.ranks {
            true => Contexts::new(self.ranks, rank),
            false => Contexts::of_later(self.ranks, self.more, rank),
        }
    }

    /// All of them, seen by one.
    pub(super) fn communicator(&self, rank: Rank) -> Communicator {
        let members: Vec<Rank> = (self.first..self.first.saturating_add(self.size)).collect();
        let contexts = ContextPair::of_world(&self.contexts(self.first));
        Communicator::new(Group::of(&members), contexts, rank).named("MPI_COMM_WORLD")
    }

    /// Who has started them, seen by one.
    pub(super) fn parent(&self, rank: Rank) -> Option<Communicator> {
        let Parent { group, number } = self.parent.as_ref()?;
        let own = self.communicator(rank).group().clone();
        let made = Communicator::between(own, group.clone(), ContextPair::of(*number), rank);
        Some(made.named("MPI_COMM_PARENT"))
    }
}
