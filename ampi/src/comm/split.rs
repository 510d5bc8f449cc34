//! Communicators made of others.

use super::{Attributes, Communicator, ContextPair, Group};
use crate::engine::Rank;

/// What one member chooses in a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Those of one colour are together; none: in no new communicator (`MPI_UNDEFINED`).
    pub color: Option<i32>,
    /// They are ordered by this, then by their former numbers.
    pub key: i32,
}

impl Communicator {
    /// The same members under a new context (`MPI_Comm_dup`), with attributes that the caller has copied.
    #[must_use]
    pub fn duplicate(&self, number: u32, attributes: Attributes) -> Communicator {
        let (contexts, collectives) = (ContextPair::of(number), 0);
        Communicator { contexts, collectives, attributes, name: String::new(), ..self.clone() }
    }

    /// The number of a communicator that was made before its members had agreed on one (`MPI_Comm_idup`).
    pub fn renumber(&mut self, number: u32) {
        self.contexts = ContextPair::of(number);
    }

    /// This member's part of a split (`MPI_Comm_split`): `choices` are those of all members, in their order. All
    /// parts may have the same context, as nobody is in two of them.
    pub fn split(&self, number: u32, choices: &[Choice]) -> Option<Communicator> {
        let color = choices.get(self.rank()? as usize)?.color?;
        let group = chosen(&self.group, choices, color);
        Some(Communicator::new(group, ContextPair::of(number), self.world_rank))
    }

    /// The same of an intercommunicator: this side's members of a colour and the other side's of the same. None for who has no colour, or whose
    /// colour nobody of the other side has.
    pub fn split_between(&self, number: u32, here: &[Choice], there: &[Choice]) -> Option<Communicator> {
        let color = here.get(self.rank()? as usize)?.color?;
        self.between_parts(
            number,
            chosen(&self.group, here, color),
            chosen(self.remote.as_ref()?, there, color),
        )
    }

    /// Of an intercommunicator: those of a group of this side, and those of the other that have a place there, in the order of these. None
    /// for who is not in the group, or if nobody of the other side has a place.
    pub fn create_between(&self, number: u32, group: &Group, places: &[Option<u32>]) -> Option<Communicator> {
        let mut there: Vec<(u32, Rank)> = self
            .remote
            .as_ref()?
            .members()
            .into_iter()
            .zip(places)
            .filter_map(|(rank, place)| Some(((*place)?, rank)))
            .collect();
        there.sort_unstable();
        let there: Vec<Rank> = there.into_iter().map(|(_, rank)| rank).collect();
        self.between_parts(number, group.clone(), Group::of(&there))
    }

    fn between_parts(&self, number: u32, here: Group, there: Group) -> Option<Communicator> {
        here.rank_of(self.world_rank).filter(|_| there.size() > 0)?;
        Some(Communicator::between(here, there, ContextPair::of(number), self.world_rank))
    }

    /// Those of a group (`MPI_Comm_create`); none for who is not in it.
    pub fn create(&self, number: u32, group: &Group) -> Option<Communicator> {
        group.rank_of(self.world_rank)?;
        Some(Communicator::new(group.clone(), ContextPair::of(number), self.world_rank))
    }

    /// Both sides of an intercommunicator as one (`MPI_Intercomm_merge`). `high`: this side comes second, if the
    /// other does not want to as well; of two sides that want the same, that with the lower first rank comes first.
    /// `None` if it is no intercommunicator.
    pub fn merge(&self, number: u32, high: bool, remote_high: bool) -> Option<Communicator> {
        let remote = self.remote.as_ref()?;
        let order = |high, group: &Group| (high, group.member(0));
        let first = order(high, &self.group) < order(remote_high, remote);
        let group = if first { self.group.union(remote) } else { remote.union(&self.group) };
        Some(Communicator::new(group, ContextPair::of(number), self.world_rank))
    }
}

/// The members of one colour, by key and former number.
fn chosen(group: &Group, choices: &[Choice], color: i32) -> Group {
    let mut members: Vec<(i32, u32)> = (0..)
        .zip(choices)
        .filter(|(_, choice)| choice.color == Some(color))
        .map(|(number, choice)| (choice.key, number))
        .collect();
    members.sort_by_key(|(key, number)| (*key, *number));
    let ranks: Vec<Rank> = members.iter().filter_map(|(_, number)| group.member(*number)).collect();
    Group::of(&ranks)
}
