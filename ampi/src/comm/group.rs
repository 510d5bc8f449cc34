//! Groups: ordered sets of ranks (MPI-3.1, 6.3).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use talisman_pup::{Packer, Pup, PupError, Unpacker};
use thiserror::Error;

use crate::engine::Rank;

/// Ranks of the world, in the order of their numbers in the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group(Members);

/// Most groups are regular; a list for each of thousands of ranks would be most of their memory.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
enum Members {
    /// `count` of them from `first` on, each `step` more.
    Strided { first: Rank, step: u32, count: u32 },
    /// Others.
    Listed(Vec<Rank>),
}

/// How two groups or communicators are alike, the most alike first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// The same.
    Identical,
    /// Communicators of the same members in the same order.
    Congruent,
    /// Of the same members in another order.
    Similar,
    /// Of different members.
    Unequal,
}

/// Why there is no such group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GroupError {
    /// A number that no member has.
    #[error("{number} of a group of {size}")]
    NoMember {
        /// The number.
        number: u32,
        /// Members of the group.
        size: u32,
    },
    /// A member would be there twice.
    #[error("{number} is named twice")]
    Twice {
        /// Its number.
        number: u32,
    },
    /// A range that does not go from its first to its last.
    #[error("a range with step 0")]
    Step,
}

impl Group {
    /// All ranks of a world.
    pub fn all(ranks: u32) -> Group {
        Group(Members::Strided { first: 0, step: 1, count: ranks })
    }

    /// These, which are different.
    pub fn of(members: &[Rank]) -> Group {
        let first = members.first().copied().unwrap_or(0);
        let step = members.get(1).map_or(1, |second| second.wrapping_sub(first));
        let count = members.len() as u32;
        let strided = Members::Strided { first, step, count };
        let is_strided = (0..count).zip(members).all(|(at, member)| strided.get(at) == *member);
        Group(if is_strided && step < 1 << 31 { strided } else { Members::Listed(members.to_vec()) })
    }

    /// How many there are.
    pub fn size(&self) -> u32 {
        match &self.0 {
            Members::Strided { count, .. } => *count,
            Members::Listed(all) => all.len() as u32,
        }
    }

    /// The member of this number.
    #[inline]
    pub fn member(&self, number: u32) -> Option<Rank> {
        (number < self.size()).then(|| self.0.get(number))
    }

    /// The number of a rank of the world.
    #[inline]
    pub fn rank_of(&self, rank: Rank) -> Option<u32> {
        match &self.0 {
            Members::Strided { first, step, count } => {
                let by = rank.checked_sub(*first)?;
                let number = match *step {
                    0 => 0,
                    // Mostly, and without a division.
                    1 => by,
                    step => by / step,
                };
                (number < *count && number * step == by).then_some(number)
            }
            Members::Listed(all) => all.iter().position(|member| *member == rank).map(|at| at as u32),
        }
    }

    /// All, in order.
    pub fn members(&self) -> Vec<Rank> {
        (0..self.size()).map(|number| self.0.get(number)).collect()
    }

    /// The number that a member has in another group (`MPI_Group_translate_ranks`).
    pub fn translate(&self, number: u32, other: &Group) -> Option<u32> {
        other.rank_of(self.member(number)?)
    }

    /// How two are alike.
    pub fn compare(&self, other: &Group) -> Comparison {
        if self.members() == other.members() {
            return Comparison::Identical;
        }
        let set = |group: &Group| group.members().into_iter().collect::<BTreeSet<_>>();
        if set(self) == set(other) { Comparison::Similar } else { Comparison::Unequal }
    }

    /// Those of the first, then those of the second that are not in it.
    #[must_use]
    pub fn union(&self, other: &Group) -> Group {
        Group::of(&[self.members(), other.difference(self).members()].concat())
    }

    /// Those of the first that are in the second.
    #[must_use]
    pub fn intersection(&self, other: &Group) -> Group {
        self.filtered(|rank| other.rank_of(rank).is_some())
    }

    /// Those of the first that are not in the second.
    #[must_use]
    pub fn difference(&self, other: &Group) -> Group {
        self.filtered(|rank| other.rank_of(rank).is_none())
    }

    /// The members of these numbers, in this order (`MPI_Group_incl`).
    ///
    /// # Errors
    /// If there is no such member, or one is named twice.
    pub fn include(&self, numbers: &[u32]) -> Result<Group, GroupError> {
        self.check(numbers)?;
        Ok(Group::of(&numbers.iter().map(|number| self.0.get(*number)).collect::<Vec<_>>()))
    }

    /// The members but those of these numbers (`MPI_Group_excl`).
    ///
    /// # Errors
    /// If there is no such member, or one is named twice.
    pub fn exclude(&self, numbers: &[u32]) -> Result<Group, GroupError> {
        self.check(numbers)?;
        let out: BTreeSet<u32> = numbers.iter().copied().collect();
        let kept = (0..self.size()).filter(|number| !out.contains(number));
        Ok(Group::of(&kept.map(|number| self.0.get(number)).collect::<Vec<_>>()))
    }

    /// The numbers that ranges of first, last and step mean (`MPI_Group_range_incl`).
    ///
    /// # Errors
    /// If a step is 0, or a number is none of this group's.
    pub fn ranges(&self, ranges: &[(u32, u32, i32)]) -> Result<Vec<u32>, GroupError> {
        let mut numbers = Vec::new();
        for (first, last, step) in ranges {
            let size = self.size();
            for number in [*first, *last] {
                self.member(number).ok_or(GroupError::NoMember { number, size })?;
            }
            let upward = |range: RangeInclusive<u32>, by: u32| range.step_by(by as usize);
            match step {
                0 => return Err(GroupError::Step),
                1.. => numbers.extend(upward(*first..=*last, step.unsigned_abs())),
                _ => numbers.extend(
                    upward(0..=first.saturating_sub(*last), step.unsigned_abs())
                        .map(|by| first - by)
                        .filter(|_| first >= last),
                ),
            }
        }
        Ok(numbers)
    }

    fn check(&self, numbers: &[u32]) -> Result<(), GroupError> {
        let (mut seen, size) = (BTreeSet::new(), self.size());
        for number in numbers.iter().copied() {
            if number >= size {
                return Err(GroupError::NoMember { number, size });
            }
            if !seen.insert(number) {
                return Err(GroupError::Twice { number });
            }
        }
        Ok(())
    }

    fn filtered(&self, keep: impl Fn(Rank) -> bool) -> Group {
        Group::of(&self.members().into_iter().filter(|rank| keep(*rank)).collect::<Vec<_>>())
    }
}

impl Members {
    fn get(&self, number: u32) -> Rank {
        match self {
            Members::Strided { first, step, .. } => first.wrapping_add(number.wrapping_mul(*step)),
            Members::Listed(all) => all[number as usize],
        }
    }
}

/// By hand: a stride from outside must stay within the ranks that there can be.
impl Pup for Group {
    fn pack(&self, p: &mut Packer) {
        self.0.pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let members = Members::unpack(u)?;
        if let Members::Strided { first, step, count } = &members {
            let last = u64::from(*first) + u64::from(*step) * u64::from(count.saturating_sub(1));
            if last > u64::from(Rank::MAX) {
                return Err(u.invalid(format!("a group of {count} from {first} on by {step}")));
            }
        }
        Ok(Group(members))
    }
}
