//! The operations of one rank, by handle.

use std::collections::BTreeMap;

use talisman_pup::Pup;
use thiserror::Error;

use super::predefined::PREDEFINED;
use super::{Location, Predefined};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Op {
    /// On single values.
    Predefined(Predefined),
    /// On pairs of a value and an index.
    Location(Location),
    /// The program's.
    User {
        /// Names it to who can call it: an address in the program, which is the same in every process.
        function: u64,
        /// What the function is given besides the operands.
        argument: u64,
        /// Whether the order of operands does not matter.
        commutative: bool,
    },
}

impl Op {
    /// Whether the order of operands does not matter. The order of combining is fixed anyhow: sums of floats depend
    /// on it.
    pub fn is_commutative(&self) -> bool {
        match self {
            Op::Predefined(op) => !matches!(op, Predefined::Replace | Predefined::NoOp),
            Op::Location(_) => true,
            Op::User { commutative, .. } => *commutative,
        }
    }
}

/// Operations by handle; the predefined ones first.
#[derive(Debug, PartialEq, Eq, Pup)]
pub struct Ops {
    all: BTreeMap<u32, Op>,
    next: u32,
}

/// There is no such operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("operation {0} is not there: it was freed, or never made")]
pub struct UnknownOp(pub u32);

impl Default for Ops {
    fn default() -> Self {
        let locations = [Op::Location(Location::Max), Op::Location(Location::Min)];
        let all: BTreeMap<_, _> =
            (0..).zip(PREDEFINED.map(Op::Predefined).into_iter().chain(locations)).collect();
        Ops { next: all.len() as u32, all }
    }
}

impl Ops {
    /// The handle of a predefined one.
    pub fn handle_of(op: Predefined) -> u32 {
        PREDEFINED.iter().position(|other| *other == op).unwrap_or_default() as u32
    }

    /// The handle of `MPI_MAXLOC` or `MPI_MINLOC`.
    pub fn location(op: Location) -> u32 {
        PREDEFINED.len() as u32 + u32::from(op == Location::Min)
    }

    /// Adds one of the program's; its handle.
    pub fn insert(&mut self, function: u64, commutative: bool) -> u32 {
        self.insert_with(function, 0, commutative)
    }

    /// Adds one whose function is given something besides the operands; its handle.
    pub fn insert_with(&mut self, function: u64, argument: u64, commutative: bool) -> u32 {
        let handle = self.next;
        self.next += 1;
        self.all.insert(handle, Op::User { function, argument, commutative });
        handle
    }

    /// The operation of this handle.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, handle: u32) -> Result<Op, UnknownOp> {
        self.all.get(&handle).copied().ok_or(UnknownOp(handle))
    }

    /// One of the program's is named to who can call it by another address from now on.
    ///
    /// # Errors
    /// If there is none, or it is predefined.
    pub fn call_by(&mut self, handle: u32, by: u64) -> Result<(), UnknownOp> {
        match self.all.get_mut(&handle) {
            Some(Op::User { function, .. }) => {
                *function = by;
                Ok(())
            }
            _ => Err(UnknownOp(handle)),
        }
    }

    /// Frees one of the program's.
    ///
    /// # Errors
    /// If there is none, or it is predefined.
    pub fn free(&mut self, handle: u32) -> Result<(), UnknownOp> {
        match self.get(handle)? {
            Op::User { .. } => self.all.remove(&handle).map(|_| ()).ok_or(UnknownOp(handle)),
            Op::Predefined(_) | Op::Location(_) => Err(UnknownOp(handle)),
        }
    }
}
