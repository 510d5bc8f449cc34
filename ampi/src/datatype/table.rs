//! The datatypes of one rank, by handle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use talisman_pup::Pup;
use thiserror::Error;

use super::{BASICS, Basic, Datatype, Envelope, NAMED, Named};
use crate::comm::Attributes;

/// They are the same for all ranks of a process.
static PREDEFINED: LazyLock<Vec<Datatype>> = LazyLock::new(|| NAMED.iter().map(Named::datatype).collect());

/// A handle of the binary interfaces has so many bits for the number.
const NUMBERS: u32 = 1 << 26;

/// Datatypes by handle. The predefined ones have the lowest, in the order of [`NAMED`]: 0 is bytes.
#[derive(Debug, PartialEq, Eq, Pup)]
pub struct Datatypes {
    made: BTreeMap<u32, Made>,
    next: u32,
    /// What the program calls predefined ones, and has attached to them.
    renamed: BTreeMap<u32, String>,
    of_predefined: BTreeMap<u32, Attributes>,
}

/// A datatype that the program has made.
#[derive(Debug, PartialEq, Eq, Pup)]
pub struct Made {
    datatype: Datatype,
    /// How it was made.
    pub envelope: Envelope,
    /// What the program has attached.
    pub attributes: Attributes,
    /// What the program calls it.
    pub name: String,
    /// How often the program has got it, and not freed it.
    holders: u32,
}

/// There is no such datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("datatype {0} is not there: it was freed, or never made")]
pub struct UnknownDatatype(pub u32);

impl Default for Datatypes {
    fn default() -> Self {
        LazyLock::force(&PREDEFINED);
        let (made, renamed, of_predefined) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Datatypes { next: NAMED.len() as u32, made, renamed, of_predefined }
    }
}

impl Made {
    /// Whether the program has it once: freeing it then ends it.
    pub fn is_held_once(&self) -> bool {
        self.holders == 1
    }
}

impl Datatypes {
    /// The handle of a predefined one.
    pub fn handle_of(basic: Basic) -> u32 {
        BASICS.iter().position(|other| *other == basic).unwrap_or_default() as u32
    }

    /// Adds one; its handle.
    pub fn insert(&mut self, datatype: Datatype) -> u32 {
        self.insert_made(datatype, Envelope::NAMED)
    }

    /// Adds one of which the program may ask how it was made; its handle.
    pub fn insert_made(&mut self, datatype: Datatype, envelope: Envelope) -> u32 {
        while self.made.contains_key(&self.next) {
            self.step();
        }
        let handle = self.next;
        self.step();
        let (attributes, name) = (Attributes::default(), String::new());
        self.made.insert(handle, Made { datatype, envelope, attributes, name, holders: 1 });
        handle
    }

    fn step(&mut self) {
        self.next = if self.next + 1 < NUMBERS { self.next + 1 } else { NAMED.len() as u32 };
    }

    /// The datatype of this handle.
    ///
    /// # Errors
    /// If there is none.
    #[inline]
    pub fn get(&self, handle: u32) -> Result<&Datatype, UnknownDatatype> {
        let predefined = PREDEFINED.get(handle as usize);
        predefined
            .or_else(|| self.made.get(&handle).map(|made| &made.datatype))
            .ok_or(UnknownDatatype(handle))
    }

    /// What the program has made, and has not freed.
    pub fn made(&self, handle: u32) -> Option<&Made> {
        self.made.get(&handle).filter(|made| made.holders > 0)
    }

    /// The same, to be changed.
    pub fn made_mut(&mut self, handle: u32) -> Option<&mut Made> {
        self.made.get_mut(&handle).filter(|made| made.holders > 0)
    }

    /// What the program has attached to one, if that is there.
    pub fn attributes_mut(&mut self, handle: u32) -> Option<&mut Attributes> {
        match PREDEFINED.get(handle as usize) {
            Some(_) => Some(self.of_predefined.entry(handle).or_default()),
            None => self.made_mut(handle).map(|made| &mut made.attributes),
        }
    }

    /// What it has attached to any of them.
    pub fn attributes(&self) -> impl Iterator<Item = &Attributes> {
        self.made.values().map(|made| &made.attributes).chain(self.of_predefined.values())
    }

    /// The handle of one that was made by such a call, if there is one.
    pub fn made_by(&self, envelope: &Envelope) -> Option<u32> {
        let is_it = |(_, made): &(&u32, &Made)| made.holders > 0 && made.envelope == *envelope;
        self.made.iter().find(is_it).map(|(handle, _)| *handle)
    }

    /// What the program calls one, or MPI.
    ///
    /// # Errors
    /// If there is none.
    pub fn name(&self, handle: u32) -> Result<&str, UnknownDatatype> {
        let own = self.renamed.get(&handle).or_else(|| self.made(handle).map(|made| &made.name));
        let named = || NAMED.get(handle as usize).map(|named| named.name);
        own.map(String::as_str).or_else(named).ok_or(UnknownDatatype(handle))
    }

    /// The program calls one so from now on.
    ///
    /// # Errors
    /// If there is none.
    pub fn rename(&mut self, handle: u32, name: String) -> Result<(), UnknownDatatype> {
        if (handle as usize) < NAMED.len() {
            self.renamed.insert(handle, name);
        } else {
            self.made_mut(handle).ok_or(UnknownDatatype(handle))?.name = name;
        }
        Ok(())
    }

    /// The program gets one once more, which others are made of (`MPI_Type_get_contents`).
    pub fn hold(&mut self, handle: u32) {
        if let Some(made) = self.made.get_mut(&handle) {
            made.holders += 1;
        }
    }

    /// Frees one. Messages on their way keep its values' places no longer: the caller waits for them.
    ///
    /// # Errors
    /// If there is none, or it is predefined.
    pub fn free(&mut self, handle: u32) -> Result<(), UnknownDatatype> {
        self.made.remove(&handle).map(|_| ()).ok_or(UnknownDatatype(handle))
    }

    /// The program has freed one (`MPI_Type_free`). It stays until [`Datatypes::sweep`]. Returns whether that was the
    /// last time that the program had it.
    ///
    /// # Errors
    /// If there is none, or it is predefined.
    pub fn release(&mut self, handle: u32) -> Result<bool, UnknownDatatype> {
        let made = self.made_mut(handle).ok_or(UnknownDatatype(handle))?;
        made.holders -= 1;
        Ok(made.holders == 0)
    }

    /// Removes what was freed and no other one is made of. To be called when no message is under way that may have it.
    pub fn sweep(&mut self) {
        let kept: BTreeSet<u32> = self.reachable();
        self.made.retain(|handle, _| kept.contains(handle));
    }

    /// Whether something is there that was freed.
    pub fn has_freed(&self) -> bool {
        self.made.values().any(|made| made.holders == 0)
    }

    fn reachable(&self) -> BTreeSet<u32> {
        let held = self.made.iter().filter(|(_, made)| made.holders > 0).map(|(handle, _)| *handle);
        let (mut open, mut found): (Vec<u32>, BTreeSet<u32>) = (held.collect(), BTreeSet::new());
        while let Some(handle) = open.pop() {
            if let (true, Some(made)) = (found.insert(handle), self.made.get(&handle)) {
                open.extend(&made.envelope.datatypes);
            }
        }
        found
    }
}
