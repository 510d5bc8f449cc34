//! What each function does around its body: handles are translated, the engine is called, errors are raised.

use std::ffi::c_int;

use talisman_ampi::comm::Communicators;
use talisman_ampi::engine::{Actions, Buffer, Envelope, Mode, Pattern, Status, Token};
use talisman_ampi::objects::{Handler, Kind};
use talisman_ampi::process::Process;
use talisman_ampi::rank::is_in_operation;
use talisman_ampi::raw::{self, Near};

use crate::abi::{Abi, NULL};
use crate::class::Class;
use crate::hooks::hooks;

/// What a body gives.
pub type Outcome = Result<(), Class>;

/// Error handlers that MPI brings along, by their numbers. Those of the program follow.
pub mod handler {
    /// `MPI_ERRORS_ARE_FATAL`.
    pub const FATAL: u32 = 0;
    /// `MPI_ERRORS_RETURN`.
    pub const RETURN: u32 = 1;
    /// `MPI::ERRORS_THROW_EXCEPTIONS` of MPICH's C++: the code is returned, and the library for that throws.
    pub const THROW: u32 = 2;
    /// `MPI_ERRORS_ABORT`.
    pub const ABORT: u32 = 3;
    /// The first of the program.
    pub const FIRST: u32 = 4;
}

/// Works on MPI's state of the rank that calls, where messages may go or come. Not in an operation of the program: what
/// that calls is done before it returns.
pub fn engine<T: Copy>(
    work: impl FnOnce(&mut Process, &mut Actions) -> Result<T, Class>,
) -> Result<T, Class> {
    // SAFETY: buffers are the program's own until their operations have ended: that is MPI's rule for programs
    // (MPI-3.1, 3.7). Functions of operations are the trampolines of `op`. Bodies keep nothing that they allocate
    // outside.
    unsafe { raw::call(work) }?
}

/// The same with the ranks that wait on the PE of the one that calls.
pub fn engine_near<T: Copy>(
    work: impl FnOnce(&mut Process, &mut Actions, Near<'_>) -> Result<T, Class>,
) -> Result<T, Class> {
    // SAFETY: as in `engine`.
    unsafe { raw::call_near(work) }?
}

/// Begins to send what this says, if it says anything; the request that it ends with, if it has not.
pub fn send(
    mode: Mode,
    what: impl FnOnce(&mut Process) -> Result<Option<(Envelope, Buffer)>, Class>,
) -> Result<Option<Token>, Class> {
    // SAFETY: as in `engine`.
    unsafe { raw::send(mode, what) }?
}

/// Receives what this says, if it says anything, in this call of the program. Its status is told to `tell`.
pub fn receive(
    name: &'static str,
    what: impl FnOnce(&mut Process) -> Result<Option<(Pattern, Buffer)>, Class>,
    tell: impl Fn(&Process, &Status) -> Outcome,
) -> Result<Option<()>, Class> {
    // SAFETY: as in `engine`.
    unsafe { raw::receive(name, what, tell) }?
}

/// Looks for something, which these say how to do and whether it was found. If there was nothing and the rank has let others run, it looks
/// once more: a program that seldom looks would otherwise learn the next time only what has come by this one.
pub fn looked<T>(look: impl Fn() -> Result<T, Class>, is_found: impl Fn(&T) -> bool) -> Result<T, Class> {
    let seen = look()?;
    if raw::has_looked(is_found(&seen)) { look() } else { Ok(seen) }
}

/// The same of a message, unless the program is to see first that a request of its own has ended.
pub fn probed<T>(look: impl Fn() -> Result<Option<T>, Class>) -> Result<Option<T>, Class> {
    let seen = look()?;
    if raw::has_probed(seen.is_some()) { look() } else { Ok(seen) }
}

/// As [`engine`], for calls that are local: an operation of the program may make them.
pub fn local<T: Copy>(work: impl FnOnce(&mut Process) -> Result<T, Class>) -> Result<T, Class> {
    raw::local(work)?
}

/// The number of an object that is there; a null handle names none.
///
/// # Safety
/// As for [`Abi::number`].
pub unsafe fn known<A: Abi>(kind: Kind, handle: A::Handle) -> Result<u32, Class> {
    // SAFETY: the caller's promise.
    match unsafe { A::number(kind, handle) } {
        Some(number) if number != NULL => Ok(number),
        _ => Err(class_of(kind)),
    }
}

/// The number of an object, or none for a null handle.
///
/// # Safety
/// As for [`Abi::number`].
pub unsafe fn known_or_null<A: Abi>(kind: Kind, handle: A::Handle) -> Result<Option<u32>, Class> {
    // SAFETY: the caller's promise.
    match unsafe { A::number(kind, handle) } {
        Some(NULL) => Ok(None),
        Some(number) => Ok(Some(number)),
        None => Err(class_of(kind)),
    }
}

fn class_of(kind: Kind) -> Class {
    match kind {
        Kind::Comm => Class::Comm,
        Kind::Group => Class::Group,
        Kind::Datatype => Class::Type,
        Kind::Request | Kind::Message => Class::Request,
        Kind::Op => Class::Op,
        Kind::Info => Class::Info,
        Kind::Errhandler => Class::Arg,
        Kind::Win => Class::Win,
        Kind::File => Class::File,
        Kind::Session => Class::Session,
    }
}

/// Writes a result to where the program wants it.
///
/// # Safety
/// `to` is null or the program's.
pub unsafe fn put<T>(to: *mut T, value: T) -> Outcome {
    if to.is_null() {
        return Err(Class::Arg);
    }
    // SAFETY: the caller's promise; Fortran's need not be aligned.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// A list of the program.
///
/// # Safety
/// `at` is null or a list of so many.
pub unsafe fn list<'a, T>(at: *const T, len: usize) -> Result<&'a [T], Class> {
    match (len, at.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(Class::Arg),
        // SAFETY: the caller's promise.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts(at, len) }),
    }
}

/// A length that the program gives.
pub fn length(n: c_int) -> Result<usize, Class> {
    usize::try_from(n).map_err(|_| Class::Arg)
}

/// What a function returns to the program: an error is raised on a communicator.
///
/// # Safety
/// As for [`Abi::number`].
pub unsafe fn done<A: Abi>(name: &'static str, communicator: A::Handle, outcome: Outcome) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(class) => {
            // SAFETY: the caller's promise.
            let number = unsafe { known::<A>(Kind::Comm, communicator) };
            raise::<A>(name, number.unwrap_or(0), class)
        }
    }
}

/// The same for functions without a communicator: errors are raised on that of all ranks.
pub fn done_anywhere<A: Abi>(name: &'static str, outcome: Outcome) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(class) => raise::<A>(name, 0, class),
    }
}

/// Calls the error handler of a communicator. Returns what the function returns.
pub fn raise<A: Abi>(name: &'static str, communicator: u32, class: Class) -> c_int {
    let found = local(|process| {
        // One that is not there has no handler: that of all ranks is called.
        let communicator = process.comms.get(communicator).map_or(Communicators::WORLD, |_| communicator);
        let handler = process.objects.handlers_of.get(&communicator).copied().unwrap_or(handler::FATAL);
        let own =
            handler.checked_sub(handler::FIRST).and_then(|own| process.objects.handlers.get(own).copied());
        Ok((handler, own, process.engine.rank()))
    });
    let code = code_of::<A>(class);
    if class == Class::Other && is_in_operation() {
        let rank = found.map_or(0, |(.., rank)| rank);
        fatal(
            code,
            &format!("rank {rank}: {name} was called by an operation of MPI_Op_create, which {ALLOWED}"),
        );
    }
    match found {
        Ok((handler::RETURN | handler::THROW, ..)) => code,
        Ok((_, Some(own), _)) => call_handler::<A>(own, (Kind::Comm, communicator), code),
        Ok((.., rank)) => fatal(code, &format!("rank {rank}: {}", words(name, class))),
        Err(_) => fatal(code, &words(name, class)),
    }
}

/// The program has a code of its own for what went wrong: that is returned.
pub fn failed_with(code: c_int) -> Class {
    let kept = local(|process| {
        process.objects.failed_with = Some(code);
        Ok(())
    });
    debug_assert!(kept.is_ok(), "nothing in there fails");
    Class::Other
}

/// The code of a class, or that which the program has for it.
pub fn code_of<A: Abi>(class: Class) -> c_int {
    let own = local(|process| Ok(process.objects.failed_with.take()));
    own.ok().flatten().filter(|_| class == Class::Other).unwrap_or_else(|| A::code(class))
}

/// What operations may do (MPI-3.1, 5.9.5: no function that communicates).
const ALLOWED: &str = "may ask for ranks, sizes and types, but not communicate";

fn words(name: &str, class: Class) -> String {
    let (class, text) = class.text();
    format!("{name} failed: {text} ({class})")
}

/// Ends the job.
pub fn fatal(code: c_int, message: &str) -> ! {
    (hooks().abort)(code, message)
}

/// Calls an error handler of the program on a communicator or a window, in the language that it was made in. Gives the
/// code that is returned then.
pub fn call_handler<A: Abi>(own: Handler, (kind, number): (Kind, u32), code: c_int) -> c_int {
    match own.is_fortran {
        true => call_with::<A, _>(own, (kind, <A::Fortran>::handle(kind, number)), code),
        false => call_with::<A, _>(own, (kind, <A::C>::handle(kind, number)), code),
    }
}

/// Calls it on what this is the handle of. One of C++ may throw.
pub fn call_with<A: Abi, H>(own: Handler, (kind, mut handle): (Kind, H), code: c_int) -> c_int {
    type Function<H> = unsafe extern "C-unwind" fn(*mut H, *mut c_int, ...);
    type Proxy<H> = unsafe extern "C-unwind" fn(c_int, *mut H, *mut c_int, u64);
    let mut changed = code;
    // SAFETY: the program has given it as such a function.
    unsafe {
        if own.proxy == 0 {
            let function = std::mem::transmute::<usize, Function<H>>(own.function as usize);
            function(&raw mut handle, &raw mut changed);
        } else {
            let proxy = std::mem::transmute::<usize, Proxy<H>>(own.proxy as usize);
            proxy(number_for_proxy(kind), &raw mut handle, &raw mut changed, own.function);
            // Its library for C++ takes a code for an error that nobody has handled.
            return 0;
        }
    }
    if A::HANDLERS_CHANGE_CODES { changed } else { code }
}

/// How MPICH tells its library for C++ what a handle is of.
fn number_for_proxy(kind: Kind) -> c_int {
    match kind {
        Kind::File => 1,
        Kind::Win => 2,
        _ => 0,
    }
}
