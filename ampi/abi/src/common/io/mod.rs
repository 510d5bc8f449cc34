//! Files (MPI-3.1, chapter 13).
//!
//! | module | is |
//! |---|---|
//! | [`open`] | opening, closing and deleting together |
//! | [`file_system_prefix`] | the kind of file system before a name |
//! | [`state`] | sizes, modes, hints, what a program asks of a file |
//! | [`view`] | what a rank sees of it |
//! | [`mod@pointer`] | the rank's own pointer |
//! | [`transfer`] | values between memory and file: what all functions that read and write are made of |
//! | [`blocking`], [`later`], [`split`] | these functions: at once, with a request, in two parts |
//! | [`shared`], [`shared_pointer`] | those with the pointer of all; that pointer |
//! | [`errors`] | error handlers of files, and what the system's errors are for MPI |
//! | [`descriptor`] | what is asked of the system |
//! | `replayed` | what a rank gets that does again what it did |
//!
//! Each rank has a descriptor of its own, which the embedder gives it ([`Hooks`](crate::Hooks)): so a file moves with its
//! rank, and is cut back to a checkpoint, as all that a program opens. Nothing is kept in memory: what is written is
//! seen by who reads next. A collective is what each rank does by itself; they wait for each other when all have done
//! it.

pub mod blocking;
pub mod descriptor;
pub mod errors;
pub mod file_system_prefix;
pub mod later;
pub mod open;
pub mod pointer;
mod replayed;
pub mod shared;
pub mod shared_pointer;
pub mod split;
pub mod state;
pub mod transfer;
pub mod view;

use talisman_ampi::file::File;
use talisman_ampi::process::Process;

use super::agreement::from_all;
use super::call::{Outcome, local};
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// The number of a file that is open.
///
/// # Safety
/// The handle is the program's.
pub unsafe fn known_file<A: Abi>(handle: A::File) -> Result<u32, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { A::file_number(handle) }.filter(|number| *number != NULL).ok_or(Class::File)?;
    local(|process| file(process, number).map(|_| number))
}

/// A file by its number.
pub fn file(process: &mut Process, number: u32) -> Result<&mut File, Class> {
    process.objects.files.get_mut(number).ok_or(Class::File)
}

/// All who have the file open have come so far.
fn together<A: Abi>(name: &'static str, number: u32) -> Outcome {
    let communicator = local(|process| Ok(file(process, number)?.communicator))?;
    from_all::<A, 1>(name, communicator, [0]).map(|_| ())
}

/// Whether a rank is the first of those who have the file open.
fn is_first(number: u32) -> Result<bool, Class> {
    local(|process| {
        let communicator = file(process, number)?.communicator;
        Ok(process.comms.get(communicator)?.rank() == Some(0))
    })
}

/// Names and addresses.
pub fn functions<A: Abi>() -> Vec<(&'static str, usize)> {
    [
        blocking::functions::<A>(),
        errors::functions::<A>(),
        later::functions::<A>(),
        open::functions::<A>(),
        pointer::functions::<A>(),
        shared::functions::<A>(),
        split::functions::<A>(),
        state::functions::<A>(),
        view::functions::<A>(),
    ]
    .concat()
}

/// The handle of a file in C and in Fortran.
///
/// # Safety
/// The handle is the program's.
pub unsafe extern "C" fn to_fortran<A: Abi>(handle: A::File) -> std::ffi::c_int
where
    A::Fortran: Abi<File = std::ffi::c_int>,
{
    // SAFETY: the caller's promise.
    A::Fortran::file(unsafe { A::file_number(handle) }.unwrap_or(NULL))
}

/// The same, back.
///
/// # Safety
/// Any number may be given.
pub unsafe extern "C" fn to_c<A: Abi>(handle: std::ffi::c_int) -> A::File
where
    A::Fortran: Abi<File = std::ffi::c_int>,
{
    // SAFETY: the handle is looked up.
    A::file(unsafe { A::Fortran::file_number(handle) }.unwrap_or(NULL))
}
