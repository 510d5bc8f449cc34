//! The interface for tools (MPI-4.0, chapter 15): variables of the library.
//!
//! One control variable is there, and nothing else: no performance variable, category or event. Functions of tools call no
//! error handler: they return what is wrong. They may be called before `MPI_Init` and after `MPI_Finalize`.

use std::ffi::c_int;

use talisman_ampi::datatype::Named;
use talisman_ampi::objects::{Kind, Tools};
use talisman_ampi::process::Process;
use talisman_ampi::raw::TracedCall;

use super::call::{Outcome, local, put};
use super::communicator::text_of;
use super::environment::granted_level;
use crate::abi::Abi;
use crate::class::Class;

/// A control variable: a number that no program can set.
struct Variable {
    name: &'static str,
    is: &'static str,
    value: fn(&Process) -> u64,
}

const VARIABLES: [Variable; 1] = [Variable {
    name: "talisman_eager_max",
    is: "Messages of up to so many bytes are sent at once; longer ones are announced, and wait until they are received.",
    value: |process| process.engine.eager_max(),
}];

/// Handles are no addresses of anything: these, and so much more for each.
const CVAR_HANDLES: usize = 0x10_0000;
const SESSIONS: usize = 0x20_0000;
const STEP: usize = 8;

fn handle(first: usize, number: u32) -> usize {
    first + number as usize * STEP
}

fn number(first: usize, handle: usize) -> Option<u32> {
    let offset = handle.checked_sub(first).filter(|offset| offset.is_multiple_of(STEP))?;
    u32::try_from(offset / STEP).ok()
}

/// Works on what tools have, once they have begun.
fn tools<T: Copy>(work: impl FnOnce(&mut Tools) -> Result<T, Class>) -> Result<T, Class> {
    local(|process| match process.objects.tools.begun {
        0 => Err(Class::ToolsNotInitialized),
        _ => work(&mut process.objects.tools),
    })
}

/// The control variable at a place.
fn variable(at: c_int) -> Result<&'static Variable, Class> {
    usize::try_from(at).ok().and_then(|at| VARIABLES.get(at)).ok_or(Class::ToolsInvalidIndex)
}

/// The variable that a handle is of.
fn variable_of(handle: usize) -> Result<&'static Variable, Class> {
    let number = number(CVAR_HANDLES, handle).ok_or(Class::ToolsInvalidHandle)?;
    let at = tools(|tools| tools.handles.get(number).copied().ok_or(Class::ToolsInvalidHandle))?;
    variable(at as c_int)
}

/// Whether a session of performance variables is there.
fn session(handle: usize) -> Result<u32, Class> {
    let number = number(SESSIONS, handle).ok_or(Class::ToolsInvalidSession)?;
    tools(|tools| tools.sessions.get(number).map(|_| number).ok_or(Class::ToolsInvalidSession))
}

/// A session has no handle of a performance variable, and is asked for one, or for all of them.
fn no_handle<A: Abi>(of: usize, asked: usize, may_be_all: bool) -> Outcome {
    session(of)?;
    if may_be_all && asked == (A::ALL_HANDLES)() { Ok(()) } else { Err(Class::ToolsInvalidHandle) }
}

/// A name that nothing has.
unsafe fn no_name(name: *const u8, at: *mut c_int) -> Outcome {
    if name.is_null() || at.is_null() { Err(Class::ToolsInvalid) } else { Err(Class::ToolsInvalidName) }
}

/// Writes what the program wants to know.
unsafe fn say<T>(to: *mut T, value: T) -> Outcome {
    // SAFETY: the caller's promise.
    if to.is_null() { Ok(()) } else { unsafe { put(to, value) } }
}

/// Copies a text as far as there is room, with a zero at its end, and says how long that is. The length that it needs if
/// there is no room.
unsafe fn say_text(to: *mut u8, room: *mut c_int, text: &str) -> Outcome {
    if room.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe {
        let given = usize::try_from(room.read_unaligned()).unwrap_or(0);
        if to.is_null() || given == 0 {
            return put(room, text.len() as c_int + 1);
        }
        let len = text.len().min(given - 1);
        to.copy_from_nonoverlapping(text.as_ptr(), len);
        to.add(len).write(0);
        put(room, len as c_int + 1)
    }
}

/// Where a count goes, which has to be somewhere.
unsafe fn count(to: *mut c_int, value: c_int) -> Outcome {
    // SAFETY: the caller's promise.
    if to.is_null() { Err(Class::ToolsInvalid) } else { unsafe { put(to, value) } }
}

/// `MPI_T_init_thread`: as often as it is called, `MPI_T_finalize` has to be.
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe extern "C" fn init_thread<A: Abi>(wanted: c_int, granted: *mut c_int) -> c_int {
    let begun = local(|process| {
        process.objects.tools.begun += 1;
        Ok(())
    });
    // SAFETY: the caller's promise.
    let outcome = begun.and_then(|()| unsafe { say(granted, granted_level::<A>(wanted)) });
    outcome.map_or_else(A::code, |()| 0)
}

/// Functions that work once tools have begun: name, function, arguments, and a body that gives an [`Outcome`].
macro_rules! tools {
    ($($name:literal $function:ident($($argument:ident: $type:ty),* $(,)?) => $body:expr;)*) => {
        $(
            #[doc = concat!("`MPI_T_", $name, "`.")]
            ///
            /// # Safety
            /// Arguments are as MPI says.
            pub unsafe extern "C" fn $function<A: Abi>($($argument: $type),*) -> c_int {
                #[allow(unused_unsafe, reason = "some bodies need nothing of what is unsafe")]
                let body = || -> Outcome {
                    tools(|_| Ok(()))?;
                    // SAFETY: places for results and texts are the program's, by its promise.
                    unsafe { $body }
                };
                let _traced = TracedCall::begin(concat!("MPI_T_", $name));
                body().map_or_else(A::code, |()| 0)
            }
        )*

        /// Names and addresses.
        pub fn functions<A: Abi>() -> Vec<(&'static str, usize)> {
            vec![
                ("MPI_T_init_thread", init_thread::<A> as *const () as usize),
                $((concat!("MPI_T_", $name), $function::<A> as *const () as usize)),*
            ]
        }
    };
}

tools! {
    "finalize" finalize() => tools(|tools| {
        tools.begun -= 1;
        if tools.begun == 0 {
            *tools = Tools::default();
        }
        Ok(())
    });
    "enum_get_info" enum_get_info(_of: usize, _n: *mut c_int, _name: *mut u8, _room: *mut c_int) => {
        Err(Class::ToolsInvalidHandle)
    };
    "enum_get_item" enum_get_item(_of: usize, _at: c_int, _value: *mut c_int, _name: *mut u8, _room: *mut c_int) => {
        Err(Class::ToolsInvalidHandle)
    };
    "cvar_get_num" cvar_get_num(n: *mut c_int) => count(n, VARIABLES.len() as c_int);
    "cvar_get_info" cvar_get_info(
        at: c_int, name: *mut u8, name_room: *mut c_int, verbosity: *mut c_int, datatype: *mut A::Handle,
        values: *mut usize, is: *mut u8, is_room: *mut c_int, bound: *mut c_int, scope: *mut c_int,
    ) => {
        let (variable, [basic, unbound, constant]) = (variable(at)?, A::TOOLS);
        let number = Named::handle("MPI_UNSIGNED_LONG").ok_or(Class::Intern)?;
        say_text(name, name_room, variable.name)?;
        say_text(is, is_room, variable.is)?;
        say(verbosity, basic)?;
        say(datatype, A::handle(Kind::Datatype, number))?;
        say(values, 0)?;
        say(bound, unbound)?;
        say(scope, constant)
    };
    "cvar_get_index" cvar_get_index(name: *const u8, at: *mut c_int) => {
        if name.is_null() {
            return Err(Class::ToolsInvalid);
        }
        let name = text_of(name)?;
        let found = VARIABLES.iter().position(|variable| variable.name.as_bytes() == name);
        count(at, found.ok_or(Class::ToolsInvalidName)? as c_int)
    };
    "cvar_handle_alloc" cvar_handle_alloc(at: c_int, _object: usize, to: *mut usize, n: *mut c_int) => {
        variable(at)?;
        let number = tools(|tools| Ok(tools.handles.insert(at as u32)))?;
        say(n, 1)?;
        say(to, handle(CVAR_HANDLES, number))
    };
    "cvar_handle_free" cvar_handle_free(at: *mut usize) => {
        if at.is_null() {
            return Err(Class::ToolsInvalid);
        }
        let handle = at.read_unaligned();
        variable_of(handle)?;
        let number = number(CVAR_HANDLES, handle).ok_or(Class::ToolsInvalidHandle)?;
        tools(|tools| tools.handles.remove(number).map(drop).ok_or(Class::ToolsInvalidHandle))?;
        put(at, 0)
    };
    "cvar_read" cvar_read(of: usize, to: *mut u64) => {
        let variable = variable_of(of)?;
        if to.is_null() {
            return Err(Class::ToolsInvalid);
        }
        put(to, local(|process| Ok((variable.value)(process)))?)
    };
    "cvar_write" cvar_write(of: usize, _from: usize) => {
        variable_of(of)?;
        Err(Class::ToolsCvarSetNever)
    };
    "pvar_get_num" pvar_get_num(n: *mut c_int) => count(n, 0);
    "pvar_get_info" pvar_get_info(_at: c_int) => Err(Class::ToolsInvalidIndex);
    "pvar_get_index" pvar_get_index(name: *const u8, _class: c_int, at: *mut c_int) => no_name(name, at);
    "pvar_session_create" pvar_session_create(to: *mut usize) => {
        if to.is_null() {
            return Err(Class::ToolsInvalid);
        }
        let number = tools(|tools| Ok(tools.sessions.insert(())))?;
        put(to, handle(SESSIONS, number))
    };
    "pvar_session_free" pvar_session_free(at: *mut usize) => {
        if at.is_null() {
            return Err(Class::ToolsInvalid);
        }
        let number = session(at.read_unaligned())?;
        tools(|tools| tools.sessions.remove(number).ok_or(Class::ToolsInvalidSession))?;
        put(at, 0)
    };
    "pvar_handle_alloc" pvar_handle_alloc(of: usize, _at: c_int) => {
        session(of)?;
        Err(Class::ToolsInvalidIndex)
    };
    "pvar_handle_free" pvar_handle_free(of: usize, _at: *mut usize) => no_handle::<A>(of, 0, false);
    "pvar_start" pvar_start(of: usize, asked: usize) => no_handle::<A>(of, asked, true);
    "pvar_stop" pvar_stop(of: usize, asked: usize) => no_handle::<A>(of, asked, true);
    "pvar_reset" pvar_reset(of: usize, asked: usize) => no_handle::<A>(of, asked, true);
    "pvar_read" pvar_read(of: usize, asked: usize) => no_handle::<A>(of, asked, false);
    "pvar_readreset" pvar_readreset(of: usize, asked: usize) => no_handle::<A>(of, asked, false);
    "pvar_write" pvar_write(of: usize, asked: usize) => no_handle::<A>(of, asked, false);
    "category_get_num" category_get_num(n: *mut c_int) => count(n, 0);
    "category_get_info" category_get_info(_at: c_int) => Err(Class::ToolsInvalidIndex);
    "category_get_index" category_get_index(name: *const u8, at: *mut c_int) => no_name(name, at);
    "category_get_cvars" category_get_cvars(_at: c_int) => Err(Class::ToolsInvalidIndex);
    "category_get_pvars" category_get_pvars(_at: c_int) => Err(Class::ToolsInvalidIndex);
    "category_get_events" category_get_events(_at: c_int) => Err(Class::ToolsInvalidIndex);
    "category_get_num_events" category_get_num_events(_at: c_int) => Err(Class::ToolsInvalidIndex);
    "category_get_categories" category_get_categories(_at: c_int) => Err(Class::ToolsInvalidIndex);
    // None is ever added.
    "category_changed" category_changed(stamp: *mut c_int) => count(stamp, 0);
    "event_get_num" event_get_num(n: *mut c_int) => count(n, 0);
    "event_get_info" event_get_info(_at: c_int) => Err(Class::ToolsInvalidIndex);
    "event_get_index" event_get_index(name: *const u8, at: *mut c_int) => no_name(name, at);
    "event_handle_alloc" event_handle_alloc(_at: c_int) => Err(Class::ToolsInvalidIndex);
    "event_handle_free" event_handle_free(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_handle_get_info" event_handle_get_info(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_handle_set_info" event_handle_set_info(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_register_callback" event_register_callback(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_callback_get_info" event_callback_get_info(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_callback_set_info" event_callback_set_info(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_set_dropped_handler" event_set_dropped_handler(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_read" event_read(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_copy" event_copy(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_get_source" event_get_source(_of: usize) => Err(Class::ToolsInvalidHandle);
    "event_get_timestamp" event_get_timestamp(_of: usize) => Err(Class::ToolsInvalidHandle);
    "source_get_num" source_get_num(n: *mut c_int) => count(n, 0);
    "source_get_info" source_get_info(_at: c_int) => Err(Class::ToolsInvalidIndex);
    "source_get_timestamp" source_get_timestamp(_at: c_int) => Err(Class::ToolsInvalidIndex);
}
