//! Names of an object's symbols, which stay known when its file was read: for `dlsym`, and to say where somebody is.

use std::ffi::CStr;
use std::fs::File;

use crate::Malformed;
use crate::elf::{Elf, FullTable, Symbol};

/// What an object defines for others.
#[derive(Debug, Default)]
pub struct Names {
    /// All names, one after the other, each with a zero after it.
    text: Vec<u8>,
    /// In the order of addresses.
    places: Vec<Place>,
    /// Indices into `places`, in the order of names.
    by_name: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    value: u32,
    name: u32,
    len: u32,
}

impl Names {
    /// Places of an object: exported functions and variables, relative to the object.
    pub fn of(elf: &Elf) -> Result<Names, Malformed> {
        let mut names = Names::default();
        for (_, symbol) in elf.exports.iter().filter(|(_, s)| s.is_place() && !s.is_absolute()) {
            names.add(symbol, elf.string(symbol.name)?);
        }
        names.sort();
        Ok(names)
    }

    /// All functions of a file, those that only itself knows, too: none if it was stripped, or is not as it should be.
    /// `start`: where the executable has to be, else zero.
    pub fn of_functions(file: &File, start: usize) -> Names {
        let mut names = Names::default();
        let Ok(Some(table)) = FullTable::read(file) else { return names };
        // Names may share their ends, but that many do not.
        let room = table.names_len().saturating_mul(8);
        for (symbol, name) in table.functions() {
            names.add(&symbol.begin_at(start), name);
            if names.text.len() > room {
                break;
            }
        }
        names.sort();
        names
    }

    fn sort(&mut self) {
        self.places.sort_by_key(|place| place.value);
        let mut by_name: Vec<u32> = (0..self.places.len() as u32).collect();
        by_name.sort_by_key(|index| self.name(&self.places[*index as usize]));
        self.by_name = by_name;
    }

    fn add(&mut self, symbol: &Symbol, name: &[u8]) {
        let Ok(value) = u32::try_from(symbol.value) else { return };
        self.places.push(Place { value, name: self.text.len() as u32, len: name.len() as u32 });
        self.text.extend_from_slice(name);
        self.text.push(0);
    }

    /// The address of a name in the object.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        let place = |index: &u32| &self.places[*index as usize];
        let at = self.by_name.binary_search_by_key(&name, |index| self.name(place(index))).ok()?;
        Some(place(&self.by_name[at]).value as usize)
    }

    /// The last name at or before an address, and how far before.
    pub fn before(&self, at: usize) -> Option<(&str, usize)> {
        let (name, value) = self.text_before(at)?;
        Some((name.to_str().ok()?, at - value))
    }

    /// The same as text of C, and its address in the object.
    pub fn text_before(&self, at: usize) -> Option<(&CStr, usize)> {
        let after = self.places.partition_point(|place| place.value as usize <= at);
        let place = self.places.get(after.checked_sub(1)?)?;
        let text = self.text.get(place.name as usize..)?;
        Some((CStr::from_bytes_until_nul(text).ok()?, place.value as usize))
    }

    fn name(&self, place: &Place) -> &[u8] {
        &self.text[place.name as usize..][..place.len as usize]
    }
}
