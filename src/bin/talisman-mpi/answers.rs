//! Who answers the symbols that programs want of their libraries.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use talisman_abi::{Answer, Interface, answer as answer_of_mpi};
use talisman_loader::Imports;
use talisman_loader::libc::symbol as stand_in;

use crate::control;
use crate::images::{self, ProgramImages};
use crate::streams::{ERRORS, OUTPUT};
use crate::{allocator, ends, locales};

/// This executable, the C library's stand-ins, MPI. All else is the C library's own.
#[derive(Debug, Default)]
pub struct Answers {
    /// That of the first library of MPI that was asked for.
    interface: Cell<Option<Interface>>,
}

impl Imports for Answers {
    fn answers_for(&self, soname: &str) -> bool {
        let found = talisman_abi::interface_of(soname);
        self.interface.set(self.interface.get().or(found));
        found.is_some()
    }

    /// Memory is allocated by this executable whatever a program brings along.
    fn symbol(&self, name: &str) -> Option<usize> {
        allocator::symbol(name)
    }

    fn fallback(&self, name: &str) -> Option<usize> {
        self.source(name).map(|(_, address)| address)
    }
}

/// The same for libraries that ranks load while they run.
#[derive(Clone, Copy, Debug)]
pub struct Later;

impl Imports for Later {
    fn answers_for(&self, soname: &str) -> bool {
        talisman_abi::interface_of(soname).is_some()
    }

    fn symbol(&self, name: &str) -> Option<usize> {
        allocator::symbol(name)
    }

    fn fallback(&self, name: &str) -> Option<usize> {
        answer(name)
    }
}

/// Who answers a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// This executable, with memory of the rank.
    Memory,
    /// The tables of MPI.
    Mpi,
    /// The same, by ending the job.
    MissingMpi,
    /// This executable or the loader, in place of the C library.
    OfRank,
    /// The C library.
    CLibrary,
    /// The program or a library of its own.
    Private,
}

impl Answers {
    /// Who answers a name that no private library has, and where; nobody if the C library does.
    pub fn source(&self, name: &str) -> Option<(Source, usize)> {
        if let Some(address) = own(name) {
            return Some((Source::OfRank, address));
        }
        if let Some(answer) = self.interface.get().and_then(|interface| answer_of_mpi(interface, name)) {
            let (Answer::Function(address) | Answer::Refusal(address) | Answer::Data(address, _)) = answer;
            return Some((Source::of_mpi(&answer), address));
        }
        stand_in(name).map(|address| (Source::OfRank, address))
    }
}

/// The same for names that a program asks for while it runs (`dlsym`).
pub fn answer(name: &str) -> Option<usize> {
    let interface = images::of_process().and_then(ProgramImages::interface);
    let answers = Answers { interface: Cell::new(interface) };
    answers.symbol(name).or_else(|| answers.fallback(name))
}

fn own(name: &str) -> Option<usize> {
    match name {
        "write" => Some(write as *const () as usize),
        "register_printf_specifier"
        | "register_printf_function"
        | "register_printf_modifier"
        | "register_printf_type" => Some(no_format as *const () as usize),
        _ => ends::symbol(name).or_else(|| locales::symbol(name)),
    }
}

/// Formats of one's own for `printf` would be the whole process's, by functions of one rank. Libraries that add some go on
/// without.
extern "C" fn no_format() -> c_int {
    -1
}

/// POSIX's `write`: what goes to the standard streams is the rank's, and comes out in whole lines.
///
/// # Safety
/// As in C.
unsafe extern "C" fn write(descriptor: i32, bytes: *const c_void, count: usize) -> isize {
    if !matches!(descriptor, OUTPUT | ERRORS) {
        // SAFETY: the caller's promise.
        return unsafe { libc::write(descriptor, bytes, count) };
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) };
    control::with(|control| control.streams.write(descriptor, bytes));
    count as isize
}
