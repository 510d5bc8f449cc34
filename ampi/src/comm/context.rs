//! Contexts of new communicators.
//!
//! Two communicators with a common member must not have the same context, also if they are made at the same time by
//! different members in different orders (`MPI_Comm_idup`). So one member of each new communicator's parent, its
//! first, gives it a number that no other rank gives, and tells the others: the n-th number of rank r is 2 (n * ranks +
//! r). Ranks that begin later share the odd numbers, as many of them as there may be.

use talisman_pup::Pup;
use thiserror::Error;

use crate::engine::{Context, Rank};

/// The two contexts of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct ContextPair {
    /// Of messages of the program.
    pub user: Context,
    /// Of collectives.
    pub collective: Context,
}

impl ContextPair {
    /// Of the world: the first number of rank 0.
    pub const WORLD: ContextPair = ContextPair::of(0);

    /// Of the ranks of a world, by what its first one gives: its first number.
    pub fn of_world(first: &Contexts) -> ContextPair {
        ContextPair::of(first.first)
    }

    /// Of a rank alone: its second number.
    pub fn alone(own: &Contexts) -> ContextPair {
        ContextPair::of(own.first.saturating_add(own.step))
    }

    /// Of a communicator that has no number yet: nobody may use it.
    pub const NONE: ContextPair = ContextPair::of(NUMBERS);

    /// Of groups whose members make a communicator without having another.
    pub const GROUPS: ContextPair = ContextPair::of(NUMBERS - 1);

    /// Of what is asked of ports, and of answers.
    pub const PORTS: ContextPair = ContextPair::of(NUMBERS - 2);

    /// By its number, as it is told to others.
    pub const fn of(number: u32) -> ContextPair {
        ContextPair { user: 2 * number, collective: 2 * number + 1 }
    }

    /// Its number.
    pub const fn number(&self) -> u32 {
        self.user / 2
    }

    /// A third one: of operations in parts, which match nothing else (MPI-4.0, 4.1).
    pub const fn of_parts(&self) -> Context {
        self.collective | OF_PARTS
    }

    /// The pair that this is one of, or the third beside it.
    pub fn around(context: Context) -> ContextPair {
        ContextPair::of((context & !OF_PARTS) / 2)
    }
}

/// What the contexts of operations in parts have, and no others.
const OF_PARTS: Context = 1 << 31;

/// Numbers are below it, so that their contexts are below that bit.
const NUMBERS: u32 = Context::MAX / 4;

/// Whether it is one of operations in parts.
pub fn is_of_parts(context: Context) -> bool {
    context & OF_PARTS != 0
}

/// The numbers that one rank gives.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Contexts {
    rank: Rank,
    /// Its first one, and how much the next is more.
    first: u32,
    step: u32,
    /// How many it has given.
    given: u32,
}

/// All numbers of a rank are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("rank {rank} has made {made} communicators, as many as it can among {ranks} ranks")]
pub struct TooMany {
    /// The rank that gives the numbers: the first of the parent.
    pub rank: Rank,
    /// How many.
    pub made: u32,
    /// Ranks that give numbers of this kind.
    pub ranks: u32,
}

impl Contexts {
    /// Of a rank that has made no communicator, of a job that has begun with so many ranks.
    pub fn new(ranks: u32, rank: Rank) -> Contexts {
        Contexts { rank, first: rank.saturating_mul(2), step: ranks.saturating_mul(2), given: 2 }
    }

    /// Of one that begins later, of `more` that may do so.
    pub fn of_later(ranks: u32, more: u32, rank: Rank) -> Contexts {
        let number = rank.saturating_sub(ranks);
        Contexts { rank, first: number.saturating_mul(2) + 1, step: more.saturating_mul(2), given: 2 }
    }

    /// A new number.
    ///
    /// # Errors
    /// If all are given: a world of 4,096 ranks has 130,000 for each.
    pub fn give(&mut self) -> Result<u32, TooMany> {
        let Contexts { rank, first, step, given } = *self;
        let number = given.checked_mul(step).and_then(|before| before.checked_add(first));
        let number = number.filter(|number| *number < ContextPair::PORTS.number());
        self.given += u32::from(number.is_some());
        number.ok_or(TooMany { rank, made: given, ranks: step / 2 })
    }
}
