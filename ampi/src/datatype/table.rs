//! The datatypes of one rank, by handle.

use std::collections::BTreeMap;

use talisman_pup::Pup;
use thiserror::Error;

use super::{BASICS, Basic, Datatype};

/// Datatypes by handle. The predefined ones have the lowest, in the order of [`BASICS`]: 0 is bytes.
#[derive(Debug, PartialEq, Eq, Pup)]
pub struct Datatypes {
    predefined: Vec<Datatype>,
    made: BTreeMap<u32, Datatype>,
    next: u32,
}

/// There is no such datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("datatype {0} is not there: it was freed, or never made")]
pub struct UnknownDatatype(pub u32);

impl Default for Datatypes {
    fn default() -> Self {
        let predefined: Vec<_> = BASICS.map(Datatype::of).into();
        Datatypes { next: predefined.len() as u32, predefined, made: BTreeMap::new() }
    }
}

impl Datatypes {
    /// The handle of a predefined one.
    pub fn handle_of(basic: Basic) -> u32 {
        BASICS.iter().position(|other| *other == basic).unwrap_or_default() as u32
    }

    /// Adds one; its handle.
    pub fn insert(&mut self, datatype: Datatype) -> u32 {
        let handle = self.next;
        self.next += 1;
        self.made.insert(handle, datatype);
        handle
    }

    /// The datatype of this handle.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, handle: u32) -> Result<&Datatype, UnknownDatatype> {
        let predefined = self.predefined.get(handle as usize);
        predefined.or_else(|| self.made.get(&handle)).ok_or(UnknownDatatype(handle))
    }

    /// Frees one. Messages on their way keep its values' places no longer: the caller waits for them.
    ///
    /// # Errors
    /// If there is none, or it is predefined.
    pub fn free(&mut self, handle: u32) -> Result<(), UnknownDatatype> {
        self.made.remove(&handle).map(|_| ()).ok_or(UnknownDatatype(handle))
    }
}
