//! What references mean: looked up once per process.

use std::collections::HashMap;

use crate::elf::{Elf, Symbol, Version};
use crate::scope::{Definition, Scope};
use crate::shared::Shared;
use crate::variables::Cells;
use crate::{Imports, LoadError, MissingSymbol, linker};

/// What a reference means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An offset in the image.
    Image(usize),
    /// What the function at this offset in the image returns.
    Indirect(usize),
    /// The same address in every rank.
    Fixed(usize),
    /// In an object's block of thread-locals.
    ThreadLocal { object: usize, value: usize },
    /// Nothing: a weak reference without a definition, or one that is missing.
    Nothing,
}

/// Who defines what somebody refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The process, at this address.
    Answered(usize),
    /// The program or a private library.
    Private(Definition),
    /// A variable of the C library that each rank has one of, at this offset in the image.
    Variable(usize),
    /// A library of the process, at this address.
    Shared(usize),
    Nothing,
}

/// All that references can mean.
pub struct Resolver<'a> {
    pub objects: &'a [Elf],
    /// Where in the image each object is.
    pub offsets: &'a [usize],
    pub scope: &'a Scope<'a>,
    pub cells: &'a Cells,
    pub imports: &'a dyn Imports,
    pub shared: &'a mut Shared,
    known: HashMap<(usize, usize, bool), Target>,
    missing: Vec<MissingSymbol>,
    /// Whether one of the objects loads libraries later.
    pub opens_libraries: bool,
}

/// What a COPY relocation copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original {
    /// At this offset in the image, so many bytes.
    Image(usize, usize),
    /// At this address of the process.
    Process(usize),
    Nothing,
}

impl<'a> Resolver<'a> {
    pub fn new(
        objects: &'a [Elf],
        offsets: &'a [usize],
        scope: &'a Scope<'a>,
        cells: &'a Cells,
        imports: &'a dyn Imports,
        shared: &'a mut Shared,
    ) -> Resolver<'a> {
        let (known, missing) = (HashMap::new(), Vec::new());
        let opens_libraries = false;
        Resolver { objects, offsets, scope, cells, imports, shared, known, missing, opens_libraries }
    }

    /// What a symbol of an object's table means there.
    pub fn target(&mut self, object: usize, index: usize) -> Result<Target, LoadError> {
        self.meant(object, index, false)
    }

    /// The same for a function that is only called there.
    pub fn called(&mut self, object: usize, index: usize) -> Result<Target, LoadError> {
        self.meant(object, index, true)
    }

    fn meant(&mut self, object: usize, index: usize, is_call: bool) -> Result<Target, LoadError> {
        if let Some(known) = self.known.get(&(object, index, is_call)) {
            return Ok(*known);
        }
        let elf = &self.objects[object];
        let symbol = elf.symbol(index).map_err(|fault| elf.damaged(fault))?;
        let target = if symbol.is_bound_here() {
            self.place(Definition { object, index, symbol })?
        } else {
            self.look_up(object, index, &symbol, is_call)?
        };
        self.known.insert((object, index, is_call), target);
        Ok(target)
    }

    /// References without a definition; to be looked at when all were resolved.
    pub fn check_missing(self) -> Result<(), LoadError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        Err(LoadError::MissingSymbols { symbols: self.missing })
    }

    fn look_up(
        &mut self,
        object: usize,
        index: usize,
        symbol: &Symbol,
        is_call: bool,
    ) -> Result<Target, LoadError> {
        match self.find(object, index, is_call)? {
            Found::Answered(address) | Found::Shared(address) => Ok(Target::Fixed(address)),
            Found::Private(definition) => self.place(definition),
            Found::Variable(place) => Ok(Target::Image(place)),
            Found::Nothing => {
                if !symbol.is_weak() {
                    self.note_missing(object, index)?;
                }
                Ok(Target::Nothing)
            }
        }
    }

    /// Who defines what an object refers to. `is_call`: what stands in for a function is not meant.
    pub fn find(&mut self, object: usize, index: usize, is_call: bool) -> Result<Found, LoadError> {
        let (name, version) = self.wanted(object, index)?;
        if let Some(address) = self.answered(name) {
            self.opens_libraries |= name == b"dlopen";
            return Ok(Found::Answered(address));
        }
        if self.objects[object].dynamic.symbolic
            && let Some(own) = self.scope.find_own(object, name, version, is_call)?
        {
            return Ok(Found::Private(own));
        }
        if let Some(found) = self.scope.find(name, version, None, is_call)? {
            return Ok(Found::Private(found));
        }
        Ok(match self.cells.place(name) {
            Some(place) => Found::Variable(place),
            None => self.of_process(name, version),
        })
    }

    /// Who defines what an object has a copy of.
    pub fn find_original(&mut self, object: usize, index: usize) -> Result<Found, LoadError> {
        let (name, version) = self.wanted(object, index)?;
        if let Some(address) = self.answered(name) {
            return Ok(Found::Answered(address));
        }
        if let Some(found) = self.scope.find(name, version, Some(object), true)? {
            return Ok(Found::Private(found));
        }
        Ok(match self.cells.source(name) {
            Some(cell) => Found::Variable(cell),
            None => self.of_process(name, version),
        })
    }

    fn wanted(&self, object: usize, index: usize) -> Result<(&'a [u8], Option<&'a Version>), LoadError> {
        let elf = &self.objects[object];
        let damaged = |fault| elf.damaged(fault);
        let symbol = elf.symbol(index).map_err(damaged)?;
        let name = elf.string(symbol.name).map_err(damaged)?;
        Ok((name, elf.versions.wanted(elf, index).map_err(damaged)?))
    }

    fn answered(&self, name: &[u8]) -> Option<usize> {
        let name = std::str::from_utf8(name).ok()?;
        self.imports.symbol(name).or_else(|| linker::symbol(name))
    }

    fn of_process(&mut self, name: &[u8], version: Option<&Version>) -> Found {
        let fallback = std::str::from_utf8(name).ok().and_then(|name| self.imports.fallback(name));
        let shared = || self.shared.find(name, version).map(Found::Shared);
        fallback.map(Found::Answered).or_else(shared).unwrap_or(Found::Nothing)
    }

    fn place(&self, found: Definition) -> Result<Target, LoadError> {
        let Definition { object, symbol, .. } = found;
        if symbol.is_thread_local() {
            return Ok(Target::ThreadLocal { object, value: symbol.value });
        }
        if symbol.is_absolute() {
            return Ok(Target::Fixed(symbol.value));
        }
        let at = self.offsets[object].wrapping_add(symbol.value);
        if symbol.is_indirect() {
            return self.indirect(object, symbol.value).map(Target::Indirect);
        }
        Ok(Target::Image(at))
    }

    /// The offset in the image of a function that is called when the program is loaded: it has to be in the code.
    pub fn indirect(&self, object: usize, value: usize) -> Result<usize, LoadError> {
        let elf = &self.objects[object];
        let code = elf.segments.holding(value, 1).is_some_and(|segment| segment.executable);
        if !code {
            let fault = crate::Malformed { what: "an indirect function lies outside of the code", at: value };
            return Err(elf.damaged(fault));
        }
        Ok(self.offsets[object] + value)
    }

    /// What a COPY relocation of this symbol copies.
    pub fn original(&mut self, object: usize, index: usize) -> Result<Original, LoadError> {
        match self.find_original(object, index)? {
            Found::Answered(address) | Found::Shared(address) => Ok(Original::Process(address)),
            Found::Private(Definition { object, symbol, .. }) => {
                let (elf, at) = (&self.objects[object], symbol.value);
                let outside = crate::Malformed { what: "a variable lies outside of the data", at };
                elf.segments.holding(at, symbol.size).ok_or_else(|| elf.damaged(outside))?;
                Ok(Original::Image(self.offsets[object].wrapping_add(at), symbol.size))
            }
            Found::Variable(cell) => Ok(Original::Image(cell, 8)),
            Found::Nothing => {
                self.note_missing(object, index)?;
                Ok(Original::Nothing)
            }
        }
    }

    fn note_missing(&mut self, object: usize, index: usize) -> Result<(), LoadError> {
        let (name, version) = self.wanted(object, index)?;
        let mut name = String::from_utf8_lossy(name).into_owned();
        if let Some(version) = version {
            name = format!("{name}@{}", String::from_utf8_lossy(&version.name));
        }
        let missing = MissingSymbol { name, wanted_by: self.objects[object].path.clone() };
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
        Ok(())
    }
}
