//! What a program wants and who defines it, without running it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::closure::{self, Closure};
use crate::elf::{Elf, Kind, Role};
use crate::place::place_objects;
use crate::resolve::{Found, Resolver};
use crate::scope::Scope;
use crate::search::Search;
use crate::variables::Cells;
use crate::{Imports, LoadError};

/// What a program and its private libraries want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The program first, then its private libraries.
    pub objects: Vec<PathBuf>,
    /// Libraries (sonames) that the process answers for.
    pub answered: Vec<String>,
    /// Object by object, each symbol once.
    pub imports: Vec<Import>,
}

/// A symbol that an object does not define, or has a copy of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Its name, with the version that is wanted: `name@VERSION`.
    pub name: String,
    /// The object: an index into [`Explanation::objects`].
    pub wanted_by: usize,
    /// Who defines it.
    pub meaning: Meaning,
}

/// Who defines a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// Nobody: the program is not run.
    Missing,
    /// The process, which does nothing but fail.
    Refused,
    /// The process: MPI, memory, what the C library hides.
    Answered,
    /// The program or a private library: an index into [`Explanation::objects`].
    Private(usize),
    /// A variable of the C library that each rank has one of.
    Variable,
    /// A library of the process, all ranks the same.
    Shared,
    /// Nobody, and it need not be there (a weak reference).
    Nothing,
}

/// Reads a program and its libraries, and says what each of their imports means.
///
/// # Errors
/// If the program or a library cannot be read, or is not there. Symbols that nobody defines are no error.
pub fn explain(path: &Path, search: &Search, imports: &dyn Imports) -> Result<Explanation, LoadError> {
    let Closure { objects, mut shared, answered, .. } =
        closure::read(path, Role::FixedProgram, search, imports)?;
    let (offsets, end) = place_objects(&objects, 0)?;
    let scope = Scope::new(&objects)?;
    let cells = Cells::new(end, &scope, &offsets)?;
    let mut resolver = Resolver::new(&objects, &offsets, &scope, &cells, imports, &mut shared);
    let mut all = Vec::new();
    for (number, elf) in objects.iter().enumerate() {
        for index in elf.imports()? {
            let found = resolver.find(number, index, true)?;
            all.push(import(elf, number, index, found, imports)?);
        }
        for index in copies(elf)? {
            let found = resolver.find_original(number, index)?;
            all.push(import(elf, number, index, found, imports)?);
        }
    }
    let objects = objects.iter().map(|elf| elf.path.clone()).collect();
    Ok(Explanation { objects, answered, imports: all })
}

/// Variables that an executable has a copy of.
fn copies(elf: &Elf) -> Result<Vec<usize>, LoadError> {
    let relocations = elf.relocations().map_err(|fault| elf.damaged(fault))?;
    Ok(relocations.into_iter().filter(|r| r.kind == Kind::Copy).map(|r| r.symbol).collect())
}

fn import(
    elf: &Elf,
    wanted_by: usize,
    index: usize,
    found: Found,
    imports: &dyn Imports,
) -> Result<Import, LoadError> {
    let damaged = |fault| elf.damaged(fault);
    let symbol = elf.symbol(index).map_err(damaged)?;
    let mut name = elf.text(symbol.name).map_err(damaged)?;
    let meaning = match found {
        Found::Answered(_) if imports.refuses(&name) => Meaning::Refused,
        Found::Answered(_) => Meaning::Answered,
        Found::Private(definition) => Meaning::Private(definition.object),
        Found::Variable(_) => Meaning::Variable,
        Found::Shared(_) => Meaning::Shared,
        Found::Nothing if symbol.is_weak() => Meaning::Nothing,
        Found::Nothing => Meaning::Missing,
    };
    if let Some(version) = elf.versions.wanted(elf, index).map_err(damaged)? {
        name = format!("{name}@{}", String::from_utf8_lossy(&version.name));
    }
    Ok(Import { name, wanted_by, meaning })
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Meaning::Missing => "missing",
            Meaning::Refused => "refused",
            Meaning::Answered => "answered",
            Meaning::Private(_) => "private",
            Meaning::Variable => "per rank",
            Meaning::Shared => "shared",
            Meaning::Nothing => "nothing",
        })
    }
}

/// A list of objects; then for each object its imports, those that are missing or refused first.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, path) in self.objects.iter().enumerate() {
            let role = if number == 0 { "program" } else { "private library" };
            writeln!(f, "{role} {}", path.display())?;
        }
        for soname in &self.answered {
            writeln!(f, "answered library {soname}")?;
        }
        for (number, path) in self.objects.iter().enumerate() {
            let mut own: Vec<&Import> =
                self.imports.iter().filter(|import| import.wanted_by == number).collect();
            own.sort_by_key(|import| (import.meaning, &import.name));
            if !own.is_empty() {
                writeln!(f, "{} imports {}:", path.display(), own.len())?;
            }
            for import in own {
                self.write(f, import)?;
            }
        }
        Ok(())
    }
}

impl Explanation {
    fn write(&self, f: &mut fmt::Formatter<'_>, import: &Import) -> fmt::Result {
        write!(f, "  {:<8}  {}", import.meaning, import.name)?;
        match import.meaning {
            Meaning::Private(object) => {
                let path = self.objects.get(object).and_then(|path| path.file_name());
                writeln!(f, "  ({})", path.unwrap_or_default().to_string_lossy())
            }
            _ => writeln!(f),
        }
    }
}
