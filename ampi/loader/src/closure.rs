//! A program with all libraries that it needs: breadth first, as the dynamic linker looks symbols up.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::elf::{Elf, Role};
use crate::search::{Finder, OwnPaths, Search, expand};
use crate::shared::{Shared, is_shared};
use crate::{Imports, LoadError};

/// The program and its private libraries.
pub struct Closure {
    /// The program first.
    pub objects: Vec<Elf>,
    /// For each object, those that it needs.
    pub needs: Vec<Vec<usize>>,
    /// Libraries of the process.
    pub shared: Shared,
    /// Sonames that are answered for, in the order in which they were met.
    pub answered: Vec<String>,
    /// Why libraries that should come first do not.
    pub passed_over: Vec<LoadError>,
}

/// Reads a program and all that it needs.
pub fn read(path: &Path, role: Role, search: &Search, imports: &dyn Imports) -> Result<Closure, LoadError> {
    let program = Elf::open(path, role)?;
    let mut reader = Reader {
        finder: Finder::new(search),
        imports,
        by_name: HashMap::new(),
        by_file: HashMap::from([(program.identity, 0)]),
        paths: vec![own_paths(&program)?],
        asked_by: vec![None],
        closure: Closure {
            objects: vec![program],
            needs: Vec::new(),
            shared: Shared::default(),
            answered: Vec::new(),
            passed_over: Vec::new(),
        },
    };
    // Behind the program, before all that it needs itself.
    for name in &search.preload {
        reader.preload(name)?;
    }
    let mut next = 0;
    while next < reader.closure.objects.len() {
        let needs = reader.read_needs(next)?;
        reader.closure.needs.push(needs);
        next += 1;
    }
    // Each program needs it, whether it says so or not.
    reader.closure.shared.open("libc.so.6", path)?;
    Ok(reader.closure)
}

/// Adds a library that is loaded later, and what it needs besides. `asking`: the object that wants it. The index of the
/// library, which may be known already.
pub fn read_later(
    objects: Vec<Elf>,
    name: &str,
    asking: usize,
    search: &Search,
    imports: &dyn Imports,
) -> Result<(Closure, usize), LoadError> {
    let first = objects.len();
    let paths: Result<Vec<OwnPaths>, LoadError> = objects.iter().map(own_paths).collect();
    let mut shared = Shared::default();
    shared.open("libc.so.6", &objects[0].path)?;
    let mut reader = Reader {
        finder: Finder::new(search),
        imports,
        by_name: objects.iter().enumerate().map(|(i, elf)| (elf.name(), i)).collect(),
        by_file: objects.iter().enumerate().map(|(i, elf)| (elf.identity, i)).collect(),
        paths: paths?,
        // Who wanted the others is not known any more: the program, in the end.
        asked_by: (0..first).map(|object| (object > 0).then_some(0)).collect(),
        closure: Closure {
            objects,
            needs: Vec::new(),
            shared,
            answered: Vec::new(),
            passed_over: Vec::new(),
        },
    };
    let library = reader.library(name, asking)?;
    let mut next = 0;
    while next < reader.closure.objects.len() {
        let needs = reader.read_needs(next)?;
        reader.closure.needs.push(needs);
        next += 1;
    }
    Ok((reader.closure, library))
}

struct Reader<'a> {
    finder: Finder<'a>,
    imports: &'a dyn Imports,
    by_name: HashMap<String, usize>,
    by_file: HashMap<(u64, u64), usize>,
    paths: Vec<OwnPaths>,
    asked_by: Vec<Option<usize>>,
    closure: Closure,
}

impl Reader<'_> {
    /// The private libraries that an object needs.
    fn read_needs(&mut self, object: usize) -> Result<Vec<usize>, LoadError> {
        let elf = &self.closure.objects[object];
        let names: Result<Vec<String>, _> = elf.dynamic.needed.iter().map(|name| elf.text(*name)).collect();
        let names = names.map_err(|fault| elf.damaged(fault))?;
        let path = elf.path.clone();
        let mut needs = Vec::new();
        for name in names {
            if !self.is_of_process(&name, &path)? {
                needs.push(self.library(&name, object)?);
            }
        }
        Ok(needs)
    }

    /// Whether the process answers for a library or has it itself: notes that it is used then.
    fn is_of_process(&mut self, name: &str, wanted_by: &Path) -> Result<bool, LoadError> {
        if self.imports.answers_for(name) {
            if !self.closure.answered.iter().any(|answered| answered == name) {
                self.closure.answered.push(name.to_owned());
            }
            return Ok(true);
        }
        if is_shared(name) {
            self.closure.shared.open(name, wanted_by)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Adds a library that the program does not ask for. One that is not there is passed over, as the dynamic linker does.
    fn preload(&mut self, name: &str) -> Result<(), LoadError> {
        let program = self.closure.objects[0].path.clone();
        if self.is_of_process(name, &program)? {
            return Ok(());
        }
        match self.find(name, 0) {
            Err(reason) => self.closure.passed_over.push(reason),
            // MPI's own library, by its path: the process answers for it all the same.
            Ok(elf) if self.is_of_process(&elf.name(), &program)? => {}
            Ok(elf) => _ = self.add(name, 0, elf)?,
        }
        Ok(())
    }

    fn library(&mut self, name: &str, asking: usize) -> Result<usize, LoadError> {
        if let Some(known) = self.by_name.get(name) {
            return Ok(*known);
        }
        let elf = self.find(name, asking)?;
        self.add(name, asking, elf)
    }

    /// Adds a library that was found, unless it is there by another name. Its index.
    fn add(&mut self, name: &str, asking: usize, elf: Elf) -> Result<usize, LoadError> {
        let next = self.closure.objects.len();
        let index = *self.by_file.entry(elf.identity).or_insert(next);
        self.by_name.insert(name.to_owned(), index);
        if index == next {
            self.by_name.entry(elf.name()).or_insert(index);
            self.paths.push(own_paths(&elf)?);
            self.asked_by.push(Some(asking));
            self.closure.objects.push(elf);
        }
        Ok(index)
    }

    fn find(&self, name: &str, asking: usize) -> Result<Elf, LoadError> {
        let wanted_by = &self.closure.objects[asking].path;
        if name.contains('/') {
            return Elf::open(&expand(Path::new(name), wanted_by), Role::Library);
        }
        let candidates = self.finder.candidates(name, &self.chain(asking));
        for path in candidates.paths.iter().filter(|path| path.exists()) {
            match Elf::open(path, Role::Library) {
                // Another machine's library of the same name is passed over.
                Err(LoadError::Foreign { .. }) => {}
                other => return other,
            }
        }
        Err(LoadError::MissingLibrary {
            name: name.to_owned(),
            wanted_by: wanted_by.clone(),
            searched: candidates.folders,
        })
    }

    /// Who asks, and who has asked for that, up to the program.
    fn chain(&self, asking: usize) -> Vec<&OwnPaths> {
        let mut chain = Vec::new();
        let mut at = Some(asking);
        while let Some(object) = at {
            chain.push(&self.paths[object]);
            at = self.asked_by[object];
        }
        chain
    }
}

fn own_paths(elf: &Elf) -> Result<OwnPaths, LoadError> {
    let text = |offset: Option<usize>| offset.map(|offset| elf.text(offset)).transpose();
    let rpath = text(elf.dynamic.rpath).map_err(|fault| elf.damaged(fault))?;
    let runpath = text(elf.dynamic.runpath).map_err(|fault| elf.damaged(fault))?;
    let path: PathBuf = elf.path.clone();
    Ok(OwnPaths::new(&path, rpath.as_deref(), runpath.as_deref()))
}
