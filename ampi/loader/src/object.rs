//! An executable or a library of a program, at its place in the image.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::LoadError;
use crate::elf::Elf;
use crate::image::{Mapping, Part, mappings};
use crate::names::Names;

/// An executable or a library, at its offset in the image.
#[derive(Debug)]
pub struct Object {
    pub path: PathBuf,
    /// The same for C.
    path_text: CString,
    pub name: String,
    /// Which build of it the file is.
    pub build: u64,
    /// Names of the libraries that it needs.
    pub needed: Vec<String>,
    file: File,
    pub offset: usize,
    pub span: usize,
    /// Where it has to be, if it is not position-independent; else zero.
    pub start: usize,
    mappings: Vec<Mapping>,
    /// Where its program headers are, and how many.
    pub headers: Option<(usize, usize)>,
    /// Where its table for unwinding is.
    pub frames: Option<usize>,
    pub names: Names,
    /// All functions, read when somebody asks for one by its place.
    functions: OnceLock<Names>,
}

impl Object {
    pub fn new(elf: Elf, offset: usize) -> Result<Object, LoadError> {
        let needed: Result<Vec<String>, _> = elf.dynamic.needed.iter().map(|name| elf.text(*name)).collect();
        Ok(Object {
            name: elf.name(),
            build: elf.build(),
            needed: needed.map_err(|fault| elf.damaged(fault))?,
            names: Names::of(&elf).map_err(|fault| elf.damaged(fault))?,
            functions: OnceLock::new(),
            offset,
            span: elf.segments.span(),
            start: elf.segments.start,
            mappings: mappings(&elf.segments),
            headers: elf.segments.headers,
            frames: elf.segments.frames.filter(|at| elf.bytes_at(*at, 12).is_ok()),
            path_text: CString::new(elf.path.as_os_str().as_bytes()).unwrap_or_default(),
            path: elf.path,
            file: elf.file,
        })
    }

    /// How many mappings of the system a copy takes.
    pub fn mappings(&self) -> usize {
        self.mappings.iter().map(Mapping::count).sum()
    }

    /// Maps its pages, where the image is at `base`.
    ///
    /// # Safety
    /// The addresses of the image are the caller's to use, and nothing there is needed any more.
    pub unsafe fn map(&self, base: usize) -> Result<(), LoadError> {
        let refused = |error| LoadError::Map { path: self.path.clone(), error };
        for mapping in &self.mappings {
            // SAFETY: the caller's promise.
            unsafe { mapping.map(base + self.offset, &self.file) }.map_err(refused)?;
        }
        Ok(())
    }

    /// Maps its code and constants alone.
    ///
    /// # Safety
    /// As for [`Object::map`].
    pub unsafe fn map_text(&self, base: usize) -> Result<(), LoadError> {
        let refused = |error| LoadError::Map { path: self.path.clone(), error };
        for mapping in self.mappings.iter().filter(|mapping| mapping.is_text()) {
            // SAFETY: the caller's promise.
            unsafe { mapping.map(base + self.offset, &self.file) }.map_err(refused)?;
        }
        Ok(())
    }

    /// Gives its data the file's values, where zeroes are mapped.
    ///
    /// # Safety
    /// As for [`Object::map`].
    pub unsafe fn copy_data(&self, base: usize) -> Result<(), LoadError> {
        let refused = |error| LoadError::Map { path: self.path.clone(), error };
        for mapping in self.mappings.iter().filter(|mapping| !mapping.is_text()) {
            // SAFETY: the caller's promise.
            unsafe { mapping.copy(base + self.offset, &self.file) }.map_err(refused)?;
        }
        Ok(())
    }

    /// Its parts in the image.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        self.mappings.iter().map(|mapping| mapping.part(self.offset))
    }

    /// The nearest symbol before an address in the object, and the distance from it.
    pub fn name_at(&self, at: usize) -> Option<(&str, usize)> {
        let functions = self.functions.get_or_init(|| Names::of_functions(&self.file, self.start));
        functions.before(at).or_else(|| self.names.before(at))
    }

    /// Its path as text of C.
    pub fn path_text(&self) -> &CStr {
        &self.path_text
    }
}
