//! Error handlers, error codes and their texts (MPI-3.1, 8.3 to 8.5).

use std::ffi::c_int;

use talisman_ampi::objects::{Handler, Kind};

use super::call::{Outcome, call_handler, engine, fatal, handler, known, put};
use super::communicator::put_text;
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// An error handler of the program.
unsafe fn create<A: Abi>(function: u64, to: *mut A::Handle) -> Outcome {
    if function == 0 {
        return Err(Class::Arg);
    }
    let made = Handler { function, is_fortran: A::IS_FORTRAN, holders: 1 };
    let number = engine(|process, _| Ok(process.objects.handlers.insert(made) + handler::FIRST))?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Errhandler, number)) }
}

unsafe fn set<A: Abi>(communicator: A::Handle, to: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let (communicator, number) =
        unsafe { (known::<A>(Kind::Comm, communicator)?, known::<A>(Kind::Errhandler, to)?) };
    engine(|process, _| {
        process.comms.get(communicator)?;
        process.objects.handlers_of.insert(communicator, number);
        Ok(())
    })
}

/// The program gets the handler of a communicator, and frees it.
unsafe fn get<A: Abi>(communicator: A::Handle, to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let communicator = unsafe { known::<A>(Kind::Comm, communicator) }?;
    let number = engine(|process, _| {
        process.comms.get(communicator)?;
        let number = process.objects.handlers_of.get(&communicator).copied().unwrap_or(handler::FATAL);
        let own = number.checked_sub(handler::FIRST).and_then(|own| process.objects.handlers.get_mut(own));
        if let Some(own) = own {
            own.holders += 1;
        }
        Ok(number)
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Errhandler, number)) }
}

/// The program has one handle less. The handler stays for the communicators that have it.
unsafe fn free<A: Abi>(handle: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let number = known::<A>(Kind::Errhandler, handle.read_unaligned())?;
        engine(|process, _| {
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
    let (number, own, rank) = engine(|process, _| {
        let number = process.objects.handlers_of.get(&communicator).copied().unwrap_or(handler::FATAL);
        let own =
            number.checked_sub(handler::FIRST).and_then(|own| process.objects.handlers.get(own).copied());
        Ok((number, own, process.engine.rank()))
    })?;
    match (number, own) {
        (handler::RETURN, _) => Ok(()),
        (_, Some(own)) => {
            call_handler::<A>(own.function, communicator, code);
            Ok(())
        }
        _ => fatal(
            code,
            &format!("rank {rank}: MPI_Comm_call_errhandler was called with {}", words::<A>(code)),
        ),
    }
}

/// The text of an error code.
pub fn words<A: Abi>(code: c_int) -> String {
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
    "Error_class" error_class<>(code: c_int, class: *mut c_int) => put(class, code);
    "Error_string" error_string<>(code: c_int, text: *mut u8, len: *mut c_int) => {
        put_text(text, A::NAME_ROOM[2], len, words::<A>(code).as_bytes())
    };
}
