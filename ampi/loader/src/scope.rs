//! Which definition a name means: the first one, in the order of objects, whose version fits (the rules of
//! `do_lookup_x` and `check_match` in the GNU C library's dynamic linker).

use std::collections::HashMap;

use crate::LoadError;
use crate::elf::{Elf, Symbol, Version};

/// Versions up to this number are the object's own and the oldest one.
const OLDEST: u16 = 2;

/// A definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The object.
    pub object: usize,
    /// Index in its table of symbols.
    pub index: usize,
    pub symbol: Symbol,
}

/// All definitions of all objects by name.
pub struct Scope<'a> {
    objects: &'a [Elf],
    names: HashMap<&'a [u8], Vec<(u32, u32)>>,
}

/// How well a definition fits.
#[derive(PartialEq, Eq)]
enum Fit {
    /// It is meant.
    Exact,
    /// It is meant if the object has no other one.
    Only,
    Not,
}

impl<'a> Scope<'a> {
    pub fn new(objects: &'a [Elf]) -> Result<Scope<'a>, LoadError> {
        Scope::of_visible(objects, |_| true)
    }

    /// Definitions of some objects only.
    pub fn of_visible(
        objects: &'a [Elf],
        is_visible: impl Fn(usize) -> bool,
    ) -> Result<Scope<'a>, LoadError> {
        let mut scope = Scope { objects, names: HashMap::new() };
        for (object, elf) in objects.iter().enumerate().filter(|(object, _)| is_visible(*object)) {
            for (index, symbol) in &elf.exports {
                let name = elf.string(symbol.name).map_err(|fault| elf.damaged(fault))?;
                scope.names.entry(name).or_default().push((object as u32, *index));
            }
        }
        Ok(scope)
    }

    /// The definition of a name, `without` an object if it is given. `is_call`: what stands in for a function
    /// ([`Symbol::is_stand_in`]) is none.
    pub fn find(
        &self,
        name: &[u8],
        version: Option<&Version>,
        without: Option<usize>,
        is_call: bool,
    ) -> Result<Option<Definition>, LoadError> {
        let Some(all) = self.names.get(name) else { return Ok(None) };
        for of_object in all.chunk_by(|a, b| a.0 == b.0) {
            if Some(of_object[0].0 as usize) == without {
                continue;
            }
            if let Some(found) = self.find_in(of_object, version, is_call)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The definition of a name in one object alone.
    pub fn find_own(
        &self,
        object: usize,
        name: &[u8],
        version: Option<&Version>,
        is_call: bool,
    ) -> Result<Option<Definition>, LoadError> {
        let all = self.names.get(name).map_or(&[][..], |all| all);
        let own = all.chunk_by(|a, b| a.0 == b.0).find(|of| of[0].0 as usize == object);
        own.map_or(Ok(None), |own| self.find_in(own, version, is_call))
    }

    fn find_in(
        &self,
        candidates: &[(u32, u32)],
        version: Option<&Version>,
        is_call: bool,
    ) -> Result<Option<Definition>, LoadError> {
        let mut only = Vec::new();
        for (object, index) in candidates {
            let (object, index) = (*object as usize, *index as usize);
            if is_call && !self.definition(object, index)?.symbol.is_defined() {
                continue;
            }
            match self.fit(object, index, version)? {
                Fit::Exact => return self.definition(object, index).map(Some),
                Fit::Only => only.push((object, index)),
                Fit::Not => {}
            }
        }
        match only[..] {
            [(object, index)] => self.definition(object, index).map(Some),
            _ => Ok(None),
        }
    }

    fn fit(&self, object: usize, index: usize, wanted: Option<&Version>) -> Result<Fit, LoadError> {
        let elf = &self.objects[object];
        let defined = elf.versions.defined(elf, index).map_err(|fault| elf.damaged(fault))?;
        let Some(defined) = defined else { return Ok(Fit::Exact) };
        Ok(match wanted {
            Some(wanted) if defined.name == Some(&wanted.name[..]) => Fit::Exact,
            // A definition without a version is good for each.
            Some(_) if defined.name.is_none() && !defined.hidden => Fit::Exact,
            Some(_) => Fit::Not,
            None if defined.number <= OLDEST => Fit::Exact,
            None if !defined.hidden => Fit::Only,
            None => Fit::Not,
        })
    }

    fn definition(&self, object: usize, index: usize) -> Result<Definition, LoadError> {
        let elf = &self.objects[object];
        let symbol = elf.symbol(index).map_err(|fault| elf.damaged(fault))?;
        Ok(Definition { object, index, symbol })
    }
}
