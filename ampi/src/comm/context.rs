//! Contexts of new communicators.
//!
//! Two communicators with a common member must not have the same context, also if they are made at the same time by
//! different members in different orders (`MPI_Comm_idup`). So one member of each new communicator's parent, its
//! first, gives it a number that no other rank gives, and tells the others: the n-th number of rank r is n * ranks +
//! r.

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

    /// Of a rank alone: its second number.
    pub fn alone(ranks: u32, rank: Rank) -> ContextPair {
        ContextPair::of(ranks + rank)
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
    ranks: u32,
    rank: Rank,
    /// How many it has given.
    given: u32,
}

/// All numbers of a rank are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("rank {rank} has made {made} communicators, as many as it can in a world of {ranks} ranks")]
pub struct TooMany {
    /// The rank that gives the numbers: the first of the parent.
    pub rank: Rank,
    /// How many.
    pub made: u32,
    /// Ranks of the world.
    pub ranks: u32,
}

impl Contexts {
    /// Of a rank that has made no communicator.
    pub fn new(ranks: u32, rank: Rank) -> Contexts {
        Contexts { ranks, rank, given: 2 }
    }

    /// A new number.
    ///
    /// # Errors
    /// If all are given: a world of 4,096 ranks has a quarter of a million for each.
    pub fn give(&mut self) -> Result<u32, TooMany> {
        let Contexts { ranks, rank, given } = *self;
        let number = given.checked_mul(ranks).and_then(|first| first.checked_add(rank));
        let number = number.filter(|number| *number < ContextPair::PORTS.number());
        self.given += u32::from(number.is_some());
        number.ok_or(TooMany { rank, made: given, ranks })
    }
}
