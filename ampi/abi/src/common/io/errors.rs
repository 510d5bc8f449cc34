//! Errors of files: their handlers (MPI-3.1, 8.3.3 and 13.7), and the classes of what the system says.

use std::ffi::c_int;
use std::io;

use rustix::io::Errno;
use talisman_ampi::objects::{Handler, Kind};

use super::file;
use crate::abi::{Abi, NULL};
use crate::class::Class;
use crate::common::call::{Outcome, call_with, code_of, failed_with, fatal, handler, known, local, put};
use crate::common::errhandler::{create, hold, words};

/// What an error of the system is for MPI.
pub fn class_of(error: &io::Error) -> Class {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => Class::NoSuchFile,
        Some(Errno::ACCESS | Errno::PERM) => Class::Access,
        Some(Errno::ROFS) => Class::ReadOnly,
        Some(Errno::EXIST) => Class::FileExists,
        Some(Errno::NAMETOOLONG | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP) => Class::BadFile,
        Some(Errno::NOSPC) => Class::NoSpace,
        Some(Errno::DQUOT) => Class::Quota,
        Some(Errno::TXTBSY) => Class::FileInUse,
        Some(Errno::NOMEM) => Class::NoMem,
        _ => Class::Io,
    }
}

/// What a function returns to the program: an error is raised on a file, or on none.
///
/// # Safety
/// As for [`Abi::file_number`].
pub unsafe fn done<A: Abi>(name: &'static str, handle: Option<A::File>, outcome: Outcome) -> c_int {
    let Err(class) = outcome else { return 0 };
    // SAFETY: the caller's promise.
    let number = handle.and_then(|handle| unsafe { A::file_number(handle) });
    raise::<A>(name, number.unwrap_or(NULL), code_of::<A>(class))
}

/// Calls the error handler of a file, or that of files that are not open. Returns the code.
fn raise<A: Abi>(name: &str, number: u32, code: c_int) -> c_int {
    let found = local(|process| {
        let of_others = process.objects.handler_of_files.unwrap_or(handler::RETURN);
        let chosen = process.objects.files.get(number).map_or(of_others, |file| file.handler);
        let own =
            chosen.checked_sub(handler::FIRST).and_then(|own| process.objects.handlers.get(own).copied());
        Ok((chosen, own, process.engine.rank()))
    });
    match found {
        Ok((_, Some(own), _)) => return call_handler::<A>(own, number, code),
        Ok((handler::FATAL | handler::ABORT, _, rank)) => {
            fatal(code, &format!("rank {rank}: {name} failed: {}", words::<A>(code)))
        }
        Ok(_) => {}
        Err(_) => fatal(code, &format!("{name} failed: {}", words::<A>(code))),
    }
    code
}

/// In the language that it was made in.
fn call_handler<A: Abi>(own: Handler, number: u32, code: c_int) -> c_int {
    match own.is_fortran {
        true => call_with::<A, _>(own, (Kind::File, <A::Fortran>::file(number)), code),
        false => call_with::<A, _>(own, (Kind::File, <A::C>::file(number)), code),
    }
}

/// Sets that of a file, or, of no file, that of those that are opened from now on.
unsafe fn set<A: Abi>(handle: A::File, to: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let (number, chosen) =
        unsafe { (A::file_number(handle).ok_or(Class::File)?, known::<A>(Kind::Errhandler, to)?) };
    local(|process| {
        match number {
            NULL => process.objects.handler_of_files = Some(chosen),
            number => file(process, number)?.handler = chosen,
        }
        Ok(())
    })
}

unsafe fn get<A: Abi>(handle: A::File, to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { A::file_number(handle) }.ok_or(Class::File)?;
    let chosen = local(|process| {
        let chosen = match number {
            NULL => process.objects.handler_of_files.unwrap_or(handler::RETURN),
            number => file(process, number)?.handler,
        };
        hold(process, chosen);
        Ok(chosen)
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Errhandler, chosen)) }
}

crate::common::calls! {
    "File_create_errhandler" file_create_errhandler<>(function: u64, to: *mut A::Handle) => {
        create::<A>(function, to)
    };
    "File_set_errhandler" file_set_errhandler<>(handle: A::File, to: A::Handle) of handle => {
        set::<A>(handle, to)
    };
    "File_get_errhandler" file_get_errhandler<>(handle: A::File, to: *mut A::Handle) of handle => {
        get::<A>(handle, to)
    };
    "File_call_errhandler" file_call_errhandler<>(handle: A::File, code: c_int) of handle => {
        let number = A::file_number(handle).ok_or(Class::File)?;
        let chosen = local(|process| Ok(process.objects.files.get(number).map(|file| file.handler)))?;
        if chosen == Some(handler::THROW) {
            return Err(failed_with(code));
        }
        raise::<A>("MPI_File_call_errhandler", number, code);
        Ok(())
    };
}
