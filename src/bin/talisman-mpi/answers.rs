//! Who answers the symbols that programs want of their libraries.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use talisman_abi::{Answer, Interface, answer as answer_of_mpi};
use talisman_loader::Imports;
use talisman_loader::libc::symbol as stand_in;

use crate::control;
use crate::images::{self, ProgramImages};
use crate::streams::{ERRORS, OUTPUT};
use crate::{allocator, ends, locales, streams};

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
        self.address(name)
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

impl Answers {
    /// Where a name is that no private library has; nowhere if it is the C library's.
    fn address(&self, name: &str) -> Option<usize> {
        let of_mpi =
            || self.of_mpi(name).map(|(Answer::Function(at) | Answer::Refusal(at) | Answer::Data(at, _))| at);
        own(name).or_else(of_mpi).or_else(|| stand_in(name))
    }

    fn of_mpi(&self, name: &str) -> Option<Answer> {
        self.interface.get().and_then(|interface| answer_of_mpi(interface, name))
    }
}

/// The same for names that a program asks for while it runs (`dlsym`).
pub fn answer(name: &str) -> Option<usize> {
    let interface = images::of_process().and_then(ProgramImages::interface).or(LATER.get().copied());
    let answers = Answers { interface: Cell::new(interface) };
    answers.symbol(name).or_else(|| answers.fallback(name))
}

fn own(name: &str) -> Option<usize> {
    match name {
        "write" => Some(write as *const () as usize),
        "fileno" | "fileno_unlocked" => Some(streams::number as *const () as usize),
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
