//! Error handlers, error codes and their texts (MPI-3.1, 8.3 to 8.5).

use std::ffi::c_int;

use talisman_ampi::objects::{Handler, Kind};
use talisman_ampi::process::Process;

use super::call::{Outcome, call_handler, failed_with, fatal, handler, known, local, put};
use super::communicator::{name_from, put_text, text_of};
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// An error handler of the program.
///
/// # Safety
/// `to` is the program's.
pub unsafe fn create<A: Abi>(function: u64, to: *mut A::Handle) -> Outcome {
    if function == 0 {
        return Err(Class::Arg);
    }
    let made = Handler { function, is_fortran: A::IS_FORTRAN, proxy: 0, holders: 1 };
    let number = local(|process| Ok(process.objects.handlers.insert(made) + handler::FIRST))?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Errhandler, number)) }
}

unsafe fn set<A: Abi>(communicator: A::Handle, to: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let (communicator, number) =
        unsafe { (known::<A>(Kind::Comm, communicator)?, known::<A>(Kind::Errhandler, to)?) };
    local(|process| {
        process.comms.get(communicator)?;
        process.objects.handlers_of.insert(communicator, number);
        Ok(())
    })
}

/// The program gets the handler of a communicator, and frees it.
unsafe fn get<A: Abi>(communicator: A::Handle, to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let communicator = unsafe { known::<A>(Kind::Comm, communicator) }?;
    let number = local(|process| {
        process.comms.get(communicator)?;
        let number = process.objects.handlers_of.get(&communicator).copied().unwrap_or(handler::FATAL);
        hold(process, number);
        Ok(number)
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Errhandler, number)) }
}

/// The program has one handle more of a handler, if it is its own.
pub fn hold(process: &mut Process, number: u32) {
    let own = number.checked_sub(handler::FIRST).and_then(|own| process.objects.handlers.get_mut(own));
    if let Some(own) = own {
        own.holders += 1;
    }
}

/// The program has one handle less. The handler stays for the communicators that have it.
unsafe fn free<A: Abi>(handle: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let number = known::<A>(Kind::Errhandler, handle.read_unaligned())?;
        local(|process| {
            let own =
                number.checked_sub(handler::FIRST).and_then(|own| process.objects.handlers.get_mut(own));
            if let Some(own) = own {
                own.holders = own.holders.saturating_sub(1);
            }
            Ok(())
        })?;
        put(handle, A::handle(Kind::Errhandler, NULL))
    }
}

/// Calls the handler of a communicator, as an error would.
unsafe fn call<A: Abi>(communicator: A::Handle, code: c_int) -> Outcome {
    // SAFETY: the caller's promise.
    let communicator = unsafe { known::<A>(Kind::Comm, communicator) }?;
    let (number, own, rank) = local(|process| {
        let number = process.objects.handlers_of.get(&communicator).copied().unwrap_or(handler::FATAL);
        let own =
            number.checked_sub(handler::FIRST).and_then(|own| process.objects.handlers.get(own).copied());
        Ok((number, own, process.engine.rank()))
    })?;
    match (number, own) {
        (handler::RETURN, _) => Ok(()),
        (handler::THROW, _) => Err(failed_with(code)),
        (_, Some(own)) => {
            let _changed = call_handler::<A>(own, (Kind::Comm, communicator), code);
            Ok(())
        }
        _ => fatal(
            code,
            &format!("rank {rank}: MPI_Comm_call_errhandler was called with {}", words::<A>(code)),
        ),
    }
}

/// A new error code of the program. One without a class is a class itself.
fn add_code<A: Abi>(class: Option<c_int>) -> Result<c_int, Class> {
    local(|process| {
        let code = process.objects.codes.last_key_value().map_or(A::LAST_CODE + 1, |(last, _)| last + 1);
        process.objects.codes.insert(code, (class.unwrap_or(code), String::new()));
        Ok(code)
    })
}

/// Takes back a class, or a code of a class. A class that has codes stays.
fn remove_code(code: c_int, is_class: bool) -> Outcome {
    local(|process| {
        let codes = &mut process.objects.codes;
        let (class, _) = codes.get(&code).ok_or(Class::Arg)?;
        let has_codes = codes.iter().any(|(other, (class, _))| *class == code && *other != code);
        if is_class != (*class == code) || is_class && has_codes {
            return Err(Class::Arg);
        }
        codes.remove(&code);
        Ok(())
    })
}

/// Gives a code of the program a text, which may be none.
fn set_words(code: c_int, text: &[u8]) -> Outcome {
    local(|process| {
        let found = process.objects.codes.get_mut(&code).ok_or(Class::Arg)?;
        found.1 = String::from_utf8_lossy(text).into_owned();
        Ok(())
    })
}

/// The class of a code: those of MPI are their own.
fn class_of(code: c_int) -> Result<c_int, Class> {
    local(|process| Ok(process.objects.codes.get(&code).map_or(code, |(class, _)| *class)))
}

/// The text of an error code.
pub fn words<A: Abi>(code: c_int) -> String {
    if code > A::LAST_CODE {
        let own = name_from::<256>(|process| {
            Ok(process.objects.codes.get(&code).map_or("", |(_, text)| text.as_str()))
        });
        return own.map(|(text, n)| String::from_utf8_lossy(&text[..n]).into_owned()).unwrap_or_default();
    }
    match A::class(code) {
        None if code == 0 => "MPI_SUCCESS: no error".to_owned(),
        None => format!("error code {code}"),
        Some(class) => {
            let (name, text) = class.text();
            format!("{name}: {text}")
        }
    }
}

super::calls! {
    "Comm_create_errhandler" comm_create_errhandler<>(function: u64, to: *mut A::Handle) => {
        create::<A>(function, to)
    };
    "Errhandler_create" errhandler_create<>(function: u64, to: *mut A::Handle) => create::<A>(function, to);
    "Comm_set_errhandler" comm_set_errhandler<>(communicator: A::Handle, to: A::Handle) on communicator => {
        set::<A>(communicator, to)
    };
    "Errhandler_set" errhandler_set<>(communicator: A::Handle, to: A::Handle) on communicator => {
        set::<A>(communicator, to)
    };
    "Comm_get_errhandler" comm_get_errhandler<>(communicator: A::Handle, to: *mut A::Handle) on communicator => {
        get::<A>(communicator, to)
    };
    "Errhandler_get" errhandler_get<>(communicator: A::Handle, to: *mut A::Handle) on communicator => {
        get::<A>(communicator, to)
    };
    "Errhandler_free" errhandler_free<>(handle: *mut A::Handle) => free::<A>(handle);
    "Comm_call_errhandler" comm_call_errhandler<>(communicator: A::Handle, code: c_int) on communicator => {
        call::<A>(communicator, code)
    };
    "Error_class" error_class<>(code: c_int, class: *mut c_int) => put(class, class_of(code)?);
    "Add_error_class" add_error_class<>(class: *mut c_int) => put(class, add_code::<A>(None)?);
    "Add_error_code" add_error_code<>(class: c_int, code: *mut c_int) => put(code, add_code::<A>(Some(class))?);
    "Add_error_string" add_error_string<>(code: c_int, text: *const u8) => {
        set_words(code, text_of(text)?)
    };
    "Remove_error_class" remove_error_class<>(class: c_int) => remove_code(class, true);
    "Remove_error_code" remove_error_code<>(code: c_int) => remove_code(code, false);
    "Remove_error_string" remove_error_string<>(code: c_int) => set_words(code, b"");
    "Error_string" error_string<>(code: c_int, text: *mut u8, len: *mut c_int) => {
        put_text(text, A::NAME_ROOM[2], len, words::<A>(code).as_bytes())
    };
}
