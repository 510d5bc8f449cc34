//! `talisman mpirun --explain PROGRAM`: what a program needs, and from whom it gets that. Nothing of it runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use talisman_abi::Answer;
use talisman_loader::{Imports, Program, Search};

use crate::answers::{Answers, Source};

/// Notes who answers what while a program is read.
#[derive(Debug, Default)]
struct Noted {
    answers: Answers,
    /// Names that the program or its libraries want, by who has them; nobody yet if one of these does.
    names: RefCell<BTreeMap<String, Option<Source>>>,
}

impl Imports for Noted {
    fn answers_for(&self, soname: &str) -> bool {
        self.answers.answers_for(soname)
    }

    fn symbol(&self, name: &str) -> Option<usize> {
        let answer = self.answers.symbol(name);
        self.names.borrow_mut().entry(name.into()).or_insert(answer.map(|_| Source::Memory));
        answer
    }

    fn fallback(&self, name: &str) -> Option<usize> {
        let answer = self.answers.source(name);
        let source = answer.map_or(Source::CLibrary, |(source, _)| source);
        self.names.borrow_mut().insert(name.into(), Some(source));
        answer.map(|(_, address)| address)
    }
}

/// What there is to say, in lines.
///
/// # Errors
/// If the program cannot be run.
pub fn explain(file: &Path) -> Result<String, String> {
    let noted = Noted::default();
    let program =
        Program::prepare(file, &Search::from_environment(), &noted).map_err(|error| error.to_string())?;
    let mut text = format!("{}: {} bytes of addresses for each rank\n", file.display(), program.span());
    let objects: Vec<String> =
        program.objects().skip(1).map(|(_, path)| path.display().to_string()).collect();
    list(&mut text, "libraries that each rank has for itself", &objects);
    list(&mut text, "libraries of MPI that are answered for", program.sonames_answered());
    let mut by_source: BTreeMap<Source, BTreeSet<String>> = BTreeMap::new();
    for (name, source) in noted.names.into_inner() {
        by_source.entry(source.unwrap_or(Source::Private)).or_default().insert(name);
    }
    for (source, names) in by_source {
        let names: Vec<String> = names.into_iter().collect();
        match source {
            // Mostly of libraries among themselves.
            Source::Private => drop(writeln!(text, "{} {}", names.len(), source.title())),
            _ => list(&mut text, source.title(), &names),
        }
    }
    Ok(text)
}

fn list(text: &mut String, title: &str, names: &[String]) {
    if !names.is_empty() {
        // A string takes all that is written to it.
        let _ = writeln!(text, "{} {title}:\n  {}", names.len(), names.join(" "));
    }
}

impl Source {
    /// The source of an answer of MPI's.
    pub fn of_mpi(answer: &Answer) -> Source {
        if matches!(answer, Answer::Refusal(_)) { Source::MissingMpi } else { Source::Mpi }
    }

    fn title(self) -> &'static str {
        match self {
            Source::Memory => "for memory, which each rank has for itself",
            Source::Mpi => "of MPI",
            Source::MissingMpi => "of MPI that are not there: a call ends the job with its name",
            Source::OfRank => "of the C library, as each rank has them for itself",
            Source::CLibrary => "of the C library, as it is: what they keep is the process's",
            Source::Private => "of the program and its own libraries",
        }
    }
}
