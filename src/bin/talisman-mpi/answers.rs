//! Who answers the symbols that programs want of their libraries.

use std::cell::{Cell, OnceCell};
use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use talisman_abi::{Answer, Interface, answer as answer_of_mpi};
use talisman_loader::Imports;
use talisman_loader::libc::symbol as stand_in;
use talisman_loader::stack_scrubbing::{Frames, scrubbing};

use crate::images::{self, ProgramImages};
use crate::{allocator, ends, locales, redirect, streams, writes};

/// This executable, the C library's stand-ins, MPI. All else is the C library's own.
#[derive(Debug, Default)]
pub struct Answers {
    /// That of the first library of MPI that was asked for.
    interface: Cell<Option<Interface>>,
    file: PathBuf,
    /// Whether the program is in Fortran 2008 (`use mpi_f08`): what MPICH has for that is loaded as it is. Looked for
    /// when that library is asked for.
    is_of_2008: OnceCell<bool>,
}

/// MPICH's libraries for Fortran, as it and as Debian calls them.
const FORTRAN_OF_MPICH: [&str; 2] = ["libmpifort.so.12", "libmpichfort.so.12"];

/// In the names of functions that MPICH has for Fortran 2008, and nobody else: `mpi_send_f08ts_`.
const OF_2008: [&[u8]; 2] = [b"_f08_\0", b"_f08ts_\0"];

/// Whether the file of a program has such names. One that cannot be read is refused elsewhere.
fn is_of_2008(file: &Path) -> bool {
    let bytes = std::fs::read(file).unwrap_or_default();
    OF_2008.iter().any(|name| bytes.windows(name.len()).any(|found| found == *name))
}

impl Imports for Answers {
    fn answers_for(&self, soname: &str) -> bool {
        let found = talisman_abi::interface_of(soname);
        self.interface.set(self.interface.get().or(found));
        let is_own =
            FORTRAN_OF_MPICH.contains(&soname) && *self.is_of_2008.get_or_init(|| is_of_2008(&self.file));
        found.is_some() && !is_own
    }

    /// Memory is allocated by this executable whatever a program brings along; and of MPICH's library for Fortran only
    /// what is of Fortran 2008 is called.
    fn symbol(&self, name: &str) -> Option<usize> {
        let is_of_2008 = self.is_of_2008.get() == Some(&true);
        let of_fortran = || match is_of_2008 && name.starts_with("mpi_") && !name.contains("_f08") {
            true => self.of_mpi(name).map(address_of),
            false => None,
        };
        allocator::symbol(name).or_else(|| of_fortran().map(|function| called(name, function)))
    }

    fn fallback(&self, name: &str) -> Option<usize> {
        self.address(name).map(|function| called(name, function))
    }

    fn refuses(&self, name: &str) -> bool {
        matches!(self.of_mpi(name), Some(Answer::Refusal(_))) || talisman_loader::libc::refuses(name)
    }
}

/// Which MPI the first library wanted that a rank has loaded while it ran: an interpreter wants none itself.
static LATER: OnceLock<Interface> = OnceLock::new();

/// The same for libraries that ranks load while they run.
#[derive(Clone, Copy, Debug)]
pub struct Later;

impl Imports for Later {
    fn answers_for(&self, soname: &str) -> bool {
        let found = talisman_abi::interface_of(soname);
        found.map(|interface| LATER.get_or_init(|| interface)).is_some()
    }

    fn symbol(&self, name: &str) -> Option<usize> {
        allocator::symbol(name)
    }

    fn fallback(&self, name: &str) -> Option<usize> {
        answer(name)
    }
}

/// What a program calls for a function of this name.
fn called(name: &str, function: usize) -> usize {
    if leaves_frames(name) { function } else { scrubbing(function, frames_of(name)) }
}

/// Those of messages and clocks are called most.
fn frames_of(name: &str) -> Frames {
    let of_mpi =
        name.trim_start_matches('P').get(..4).is_some_and(|start| start.eq_ignore_ascii_case("mpi_"));
    let has_paths =
        ["file", "spawn", "port", "name"].iter().any(|word| name.to_ascii_lowercase().contains(word));
    let is_small = of_mpi && !has_paths || name.contains("time") || name.starts_with("pthread_");
    if is_small { Frames::Small } else { Frames::Large }
}

/// Functions that look at their caller's frame or return twice, that take any number of arguments (`execl`), and some that are called very
/// often and do the same each time.
fn leaves_frames(name: &str) -> bool {
    const OTHERS: [&str; 8] = [
        "fork",
        "vfork",
        "backtrace",
        "mcount",
        "_mcount",
        "__fentry__",
        "__tls_get_addr",
        "dl_iterate_phdr",
    ];
    let has_list = name.starts_with("exec");
    has_list
        || name.contains("setjmp")
        || name.contains("longjmp")
        || name.starts_with("_dl_")
        || OTHERS.contains(&name)
}

fn address_of(answer: Answer) -> usize {
    let (Answer::Function(at) | Answer::Refusal(at) | Answer::Data(at, _)) = answer;
    at
}

impl Answers {
    /// For the program of this file.
    pub fn of(file: &Path) -> Answers {
        Answers { file: file.to_owned(), ..Answers::default() }
    }

    /// Where a name is that no private library has; nowhere if it is the C library's.
    fn address(&self, name: &str) -> Option<usize> {
        let of_mpi = || self.of_mpi(name).map(address_of);
        own(name).or_else(of_mpi).or_else(|| stand_in(name))
    }

    fn of_mpi(&self, name: &str) -> Option<Answer> {
        self.interface.get().and_then(|interface| answer_of_mpi(interface, name))
    }
}

/// The same for names that a program asks for while it runs (`dlsym`).
pub fn answer(name: &str) -> Option<usize> {
    let interface = images::of_process().and_then(ProgramImages::interface).or(LATER.get().copied());
    let answers = Answers { interface: Cell::new(interface), ..Answers::default() };
    answers.symbol(name).or_else(|| answers.fallback(name))
}

fn own(name: &str) -> Option<usize> {
    match name {
        "fileno" | "fileno_unlocked" => Some(streams::number as *const () as usize),
        "register_printf_specifier"
        | "register_printf_function"
        | "register_printf_modifier"
        | "register_printf_type" => Some(no_format as *const () as usize),
        _ => ends::symbol(name)
            .or_else(|| locales::symbol(name))
            .or_else(|| redirect::symbol(name))
            .or_else(|| writes::symbol(name)),
    }
}

/// Formats of one's own for `printf` would be the whole process's, by functions of one rank. Libraries that add some go
/// on without.
extern "C" fn no_format() -> c_int {
    -1
}
