//! Errors of windows, and their handlers (MPI-4.1, 9.3.2).

use std::ffi::c_int;

use talisman_ampi::objects::Kind;

use super::{known_window, window};
use crate::abi::Abi;
use crate::common::call::{
    Outcome, call_handler, code_of, done_anywhere, failed_with, fatal, handler, known, local, put,
};
use crate::common::errhandler::{create, hold, words};

/// What a function returns to the program: an error is raised on a window.
///
/// # Safety
/// As for [`Abi::number`].
pub unsafe fn done<A: Abi>(name: &'static str, handle: A::Handle, outcome: Outcome) -> c_int {
    let Err(class) = outcome else { return 0 };
    // SAFETY: the caller's promise.
    match unsafe { known_window::<A>(handle) } {
        Ok(number) => raise::<A>(name, number, code_of::<A>(class)),
        Err(_) => done_anywhere::<A>(name, outcome),
    }
}

/// Calls the error handler of a window. Returns the code.
fn raise<A: Abi>(name: &str, number: u32, code: c_int) -> c_int {
    let found = local(|process| {
        let chosen = window(process, number)?.handler;
        let own =
            chosen.checked_sub(handler::FIRST).and_then(|own| process.objects.handlers.get(own).copied());
        Ok((chosen, own, process.engine.rank()))
    });
    match found {
        Ok((handler::RETURN | handler::THROW, ..)) => {}
        Ok((_, Some(own), _)) => return call_handler::<A>(own, (Kind::Win, number), code),
        Ok((.., rank)) => fatal(code, &format!("rank {rank}: {name} failed: {}", words::<A>(code))),
        Err(_) => fatal(code, &format!("{name} failed: {}", words::<A>(code))),
    }
    code
}

crate::common::calls! {
    "Win_create_errhandler" win_create_errhandler<>(function: u64, to: *mut A::Handle) => {
        create::<A>(function, to)
    };
    "Win_set_errhandler" win_set_errhandler<>(handle: A::Handle, to: A::Handle) in handle => {
        let (number, chosen) = (known_window::<A>(handle)?, known::<A>(Kind::Errhandler, to)?);
        local(|process| {
            window(process, number)?.handler = chosen;
            Ok(())
        })
    };
    "Win_get_errhandler" win_get_errhandler<>(handle: A::Handle, to: *mut A::Handle) in handle => {
        let number = known_window::<A>(handle)?;
        let chosen = local(|process| {
            let chosen = window(process, number)?.handler;
            hold(process, chosen);
            Ok(chosen)
        })?;
        put(to, A::handle(Kind::Errhandler, chosen))
    };
    "Win_call_errhandler" win_call_errhandler<>(handle: A::Handle, code: c_int) in handle => {
        let number = known_window::<A>(handle)?;
        if local(|process| Ok(window(process, number)?.handler))? == handler::THROW {
            return Err(failed_with(code));
        }
        raise::<A>("MPI_Win_call_errhandler", number, code);
        Ok(())
    };
}
