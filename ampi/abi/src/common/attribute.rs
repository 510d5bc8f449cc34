//! What programs attach to communicators, datatypes and windows (MPI-3.1, 6.7).

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use talisman_ampi::comm::{Asked, Attributes, Copying, Keyvals, Value};
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;
use talisman_ampi::raw;

use super::call::{Outcome, failed_with, known, local, put};
use super::window::life::Facts;
use crate::abi::{Abi, Attribute, WindowAttribute, numbers_from};
use crate::class::Class;

/// What has attributes.
#[derive(Clone, Copy)]
pub struct Bearer {
    kind: Kind,
    number: u32,
}

impl Bearer {
    /// A communicator, a datatype or a window of the program.
    ///
    /// # Safety
    /// The handle is the program's.
    pub unsafe fn of<A: Abi>(kind: Kind, handle: A::Handle) -> Result<Bearer, Class> {
        // SAFETY: the caller's promise.
        Ok(Bearer { kind, number: unsafe { known::<A>(kind, handle) }? })
    }

    fn attributes<'a>(&self, process: &'a mut Process) -> Result<(&'a mut Attributes, Keyvals), Class> {
        let keyvals = process.comms.keyvals.clone();
        let attributes = match self.kind {
            Kind::Datatype => process.datatypes.attributes_mut(self.number).ok_or(Class::Type)?,
            Kind::Win => &mut process.windows.get_mut(self.number).ok_or(Class::Win)?.attributes,
            _ => &mut process.comms.get_mut(self.number)?.attributes,
        };
        Ok((attributes, keyvals))
    }
}

/// The key of the program's number.
pub fn key_of<A: Abi>(keyval: c_int) -> Result<u32, Class> {
    keyval.checked_sub(A::FIRST_KEYVAL).and_then(|key| u32::try_from(key).ok()).ok_or(Class::Keyval)
}

/// The program's number of a key.
fn keyval_of<A: Abi>(key: u32) -> c_int {
    A::FIRST_KEYVAL + key as c_int
}

/// A new key.
pub fn create<A: Abi>(copy: u64, delete: u64, extra: u64) -> Result<c_int, Class> {
    local(|process| {
        let copying = match copy {
            0 => Copying::Never,
            // The standard's `MPI_COMM_DUP_FN`, which is no function.
            1 => Copying::Always,
            function => Copying::Asked { function },
        };
        let key = process.comms.keyvals.insert(copying, (delete != 0).then_some(delete), extra);
        if A::IS_FORTRAN {
            process.objects.fortran_keys.insert(key, true);
        }
        Ok(keyval_of::<A>(key))
    })
}

/// Frees a key.
///
/// # Safety
/// `keyval` is the program's.
pub unsafe fn free<A: Abi>(keyval: *mut c_int) -> Outcome {
    // SAFETY: the caller's promise.
    let key = key_of::<A>(unsafe { keyval.read_unaligned() })?;
    local(|process| if process.free_key(key) { Ok(()) } else { Err(Class::Keyval) })?;
    // SAFETY: the caller's promise.
    unsafe { put(keyval, A::KEYVAL_INVALID) }
}

/// Attaches a value.
///
/// # Errors
/// If there is no such key, or the function that is called for the former value fails.
pub fn set<A: Abi>(bearer: Bearer, keyval: c_int, value: Value) -> Outcome {
    let key = key_of::<A>(keyval)?;
    let asked = local(|process| {
        if !process.comms.keyvals.contains(key) {
            return Err(Class::Keyval);
        }
        let (attributes, keyvals) = bearer.attributes(process)?;
        Ok(attributes.deletion(key, &keyvals))
    })?;
    asked.map_or(Ok(()), |asked| ask_to_delete::<A>(bearer, asked))?;
    local(|process| {
        bearer.attributes(process)?.0.set(key, value);
        Ok(())
    })
}

/// The value of a key of the program.
///
/// # Errors
/// If there is no such key.
pub fn value_of<A: Abi>(bearer: Bearer, keyval: c_int) -> Result<Option<Value>, Class> {
    let key = key_of::<A>(keyval)?;
    local(|process| Ok(bearer.attributes(process)?.0.get(key)))
}

/// The same as C gets it: of an integer of Fortran the address. The integer stays there until the rank ends, as the
/// program may keep the address.
fn address_of<A: Abi>(bearer: Bearer, keyval: c_int) -> Result<Option<u64>, Class> {
    let Some(value) = value_of::<A>(bearer, keyval)? else { return Ok(None) };
    if !value.is_integer || value.place != 0 {
        return Ok(Some(if value.is_integer { value.place } else { value.word }));
    }
    let (key, place) = (key_of::<A>(keyval)?, place_for(value.word));
    local(|process| {
        bearer.attributes(process)?.0.set(key, Value { place, ..value });
        Ok(Some(place))
    })
}

/// An integer on the rank's heap, as the rank calls.
fn place_for(integer: u64) -> u64 {
    Box::into_raw(Box::new(integer)) as u64
}

/// Takes a value away.
///
/// # Errors
/// If there is none, or the function that is called for it fails.
pub fn delete<A: Abi>(bearer: Bearer, keyval: c_int) -> Outcome {
    let key = key_of::<A>(keyval)?;
    let asked = local(|process| {
        let (attributes, keyvals) = bearer.attributes(process)?;
        attributes.get(key).ok_or(Class::Keyval)?;
        Ok(attributes.deletion(key, &keyvals))
    })?;
    asked.map_or(Ok(()), |asked| ask_to_delete::<A>(bearer, asked))?;
    local(|process| {
        bearer.attributes(process)?.0.delete(key);
        Ok(())
    })
}

/// The communicator is about to go: what it has is deleted.
pub fn delete_all<A: Abi>(communicator: u32) -> Outcome {
    delete_all_of::<A>(Bearer { kind: Kind::Comm, number: communicator })
}

/// The same for a datatype.
pub fn delete_all_of_datatype<A: Abi>(datatype: u32) -> Outcome {
    delete_all_of::<A>(Bearer { kind: Kind::Datatype, number: datatype })
}

/// The same for a window.
pub fn delete_all_of_window<A: Abi>(window: u32) -> Outcome {
    delete_all_of::<A>(Bearer { kind: Kind::Win, number: window })
}

fn delete_all_of<A: Abi>(bearer: Bearer) -> Outcome {
    let nth = |at: usize| {
        local(|process| {
            let (attributes, keyvals) = bearer.attributes(process)?;
            Ok(attributes.deletions(&keyvals).get(at).copied())
        })
    };
    let mut at = 0;
    while let Some(asked) = nth(at)? {
        ask_to_delete::<A>(bearer, asked)?;
        at += 1;
    }
    Ok(())
}

/// Attributes of a communicator whose functions decide: they are copied to its duplicate.
pub fn copy<A: Abi>(from: u32, to: u32) -> Outcome {
    copy_to::<A>(Bearer { kind: Kind::Comm, number: from }, Bearer { kind: Kind::Comm, number: to })
}

/// The same for datatypes.
pub fn copy_of_datatype<A: Abi>(from: u32, to: u32) -> Outcome {
    copy_to::<A>(Bearer { kind: Kind::Datatype, number: from }, Bearer { kind: Kind::Datatype, number: to })
}

fn copy_to<A: Abi>(from: Bearer, to: Bearer) -> Outcome {
    let nth = |at: usize| {
        local(|process| {
            let (attributes, keyvals) = from.attributes(process)?;
            Ok(attributes.copied(&keyvals).1.get(at).copied())
        })
    };
    let mut at = 0;
    while let Some(asked) = nth(at)? {
        if let Some(value) = ask_to_copy::<A>(from, asked)? {
            local(|process| {
                to.attributes(process)?.0.set(asked.key, value);
                Ok(())
            })?;
        }
        at += 1;
    }
    Ok(())
}

fn is_fortran(key: u32) -> Result<bool, Class> {
    local(|process| Ok(process.objects.fortran_keys.contains_key(&key)))
}

type CopyInC<A> = unsafe extern "C" fn(<A as Abi>::Handle, c_int, u64, u64, *mut u64, *mut c_int) -> c_int;
type CopyInFortran<A> = unsafe extern "C" fn(
    *mut <A as Abi>::Handle,
    *mut c_int,
    *mut u64,
    *mut u64,
    *mut u64,
    *mut c_int,
    *mut c_int,
);
type DeleteInC<A> = unsafe extern "C" fn(<A as Abi>::Handle, c_int, u64, u64) -> c_int;
type DeleteInFortran<A> =
    unsafe extern "C" fn(*mut <A as Abi>::Handle, *mut c_int, *mut u64, *mut u64, *mut c_int);

/// How a value was given, as MPICH tells proxies: as an address.
const AS_ADDRESS: c_int = 0;

/// As an integer of the length of an address.
pub const AS_INTEGER: c_int = 1;

fn given(value: Value) -> c_int {
    if value.is_integer { AS_INTEGER } else { AS_ADDRESS }
}

/// Calls the program's function, which is its first argument.
type CopyByProxy<A> =
    unsafe extern "C" fn(u64, <A as Abi>::Handle, c_int, u64, c_int, u64, *mut u64, *mut c_int) -> c_int;
type DeleteByProxy<A> = unsafe extern "C" fn(u64, <A as Abi>::Handle, c_int, c_int, u64, u64) -> c_int;

/// The functions by which those of a key are called, if others than MPI's own do that.
fn proxies(key: u32) -> Result<Option<(u64, u64)>, Class> {
    local(|process| Ok(process.objects.key_proxies.get(&key).copied()))
}

/// Asks the program whether and how a value is copied, in the language that the key was made in.
fn ask_to_copy<A: Abi>(bearer: Bearer, asked: Asked) -> Result<Option<Value>, Class> {
    let mut keyval = keyval_of::<A>(asked.key);
    let Asked { value, mut extra, .. } = asked;
    let (mut word, mut copied, mut flag, mut code) = (value.word, value.word, 0, 0);
    let made;
    // SAFETY: the program has given it as such a function.
    unsafe {
        if is_fortran(asked.key)? {
            let mut handle = <A::Fortran>::handle(bearer.kind, bearer.number);
            let ask = std::mem::transmute::<usize, CopyInFortran<A::Fortran>>(asked.function as usize);
            ask(&mut handle, &mut keyval, &mut extra, &mut word, &mut copied, &mut flag, &mut code);
            made = Value::integer(copied);
        } else if let Some((proxy, _)) = proxies(asked.key)? {
            let handle = <A::C>::handle(bearer.kind, bearer.number);
            let ask = std::mem::transmute::<usize, CopyByProxy<A::C>>(proxy as usize);
            code = ask(asked.function, handle, keyval, extra, given(value), word, &mut copied, &mut flag);
            made = Value { word: copied, place: 0, ..value };
        } else {
            let handle = <A::C>::handle(bearer.kind, bearer.number);
            let ask = std::mem::transmute::<usize, CopyInC<A::C>>(asked.function as usize);
            let mut own = value.word;
            let place = if value.is_integer { &raw mut own as u64 } else { value.word };
            code = ask(handle, keyval, extra, place, &mut copied, &mut flag);
            // Functions that only copy give the address that they were given.
            let is_same = value.is_integer && copied == place;
            made = if is_same { Value::integer(own) } else { Value::address(copied) };
        }
    }
    if code == 0 { Ok((flag != 0).then_some(made)) } else { Err(failed::<A>(code)) }
}

/// Tells the program that a value is deleted, in the language that the key was made in.
fn ask_to_delete<A: Abi>(bearer: Bearer, asked: Asked) -> Outcome {
    let mut keyval = keyval_of::<A>(asked.key);
    let Asked { value, mut extra, .. } = asked;
    let (mut word, mut code) = (value.word, 0);
    // SAFETY: the program has given it as such a function.
    unsafe {
        if is_fortran(asked.key)? {
            let mut handle = <A::Fortran>::handle(bearer.kind, bearer.number);
            let ask = std::mem::transmute::<usize, DeleteInFortran<A::Fortran>>(asked.function as usize);
            ask(&mut handle, &mut keyval, &mut word, &mut extra, &mut code);
        } else if let Some((_, proxy)) = proxies(asked.key)? {
            let handle = <A::C>::handle(bearer.kind, bearer.number);
            let ask = std::mem::transmute::<usize, DeleteByProxy<A::C>>(proxy as usize);
            code = ask(asked.function, handle, keyval, given(value), word, extra);
        } else {
            let handle = <A::C>::handle(bearer.kind, bearer.number);
            let ask = std::mem::transmute::<usize, DeleteInC<A::C>>(asked.function as usize);
            let place = if value.is_integer { &raw mut word as u64 } else { word };
            code = ask(handle, keyval, place, extra);
        }
    }
    if code == 0 { Ok(()) } else { Err(failed::<A>(code)) }
}

/// What a function of the program has failed with: a code of its own is returned as it is.
fn failed<A: Abi>(code: c_int) -> Class {
    A::class(code).unwrap_or_else(|| failed_with(code))
}

/// Numbers of programs: a program gets the address of its own.
static NUMBERS: [c_int; 256] = numbers_from(0);

/// As many ranks as the job has begun with, or as there are nodes to compute: programs get its address.
static UNIVERSE: AtomicI32 = AtomicI32::new(0);

/// The place of a predefined attribute's value: the same in every process of a job.
pub fn predefined<A: Abi>(attribute: Attribute) -> Result<*const c_int, Class> {
    Ok(match attribute {
        Attribute::TagUb => &c_int::MAX,
        Attribute::Host => const { &A::PROC_NULL },
        Attribute::Io => const { &A::ANY_SOURCE },
        Attribute::WtimeIsGlobal => &1,
        Attribute::AppNum => {
            let number = local(|process| Ok(process.objects.life.program))?;
            &NUMBERS[number as usize % NUMBERS.len()]
        }
        Attribute::LastUsedCode => {
            let last = local(|process| Ok(process.objects.codes.last_key_value().map(|(last, _)| *last)))?;
            &A::CODES[last.map_or(0, |last| (last - A::LAST_CODE) as usize).min(A::CODES.len() - 1)]
        }
        Attribute::UniverseSize => {
            let (_, pes) = raw::pe()?;
            let ranks = local(|process| Ok(process.comms.ranks_at_start()))?;
            UNIVERSE.store(ranks.max(pes) as c_int, Ordering::Relaxed);
            UNIVERSE.as_ptr()
        }
    })
}

/// The value of a predefined attribute of a window: the address of its memory, or where a number is.
pub fn of_window(bearer: Bearer, attribute: WindowAttribute) -> Result<u64, Class> {
    let (base, facts) = local(|process| {
        let window = process.windows.get(bearer.number).ok_or(Class::Win)?;
        Ok((window.region.base, window.facts))
    })?;
    let place = |offset: usize| facts + offset as u64;
    Ok(match attribute {
        WindowAttribute::Base => base,
        WindowAttribute::Size => place(std::mem::offset_of!(Facts, size)),
        WindowAttribute::Unit => place(std::mem::offset_of!(Facts, unit)),
        WindowAttribute::Flavor => place(std::mem::offset_of!(Facts, flavor)),
        WindowAttribute::Model => place(std::mem::offset_of!(Facts, model)),
    })
}

/// The same as the number itself, as Fortran gets it.
pub fn number_of_window(bearer: Bearer, attribute: WindowAttribute) -> Result<i64, Class> {
    let at = of_window(bearer, attribute)?;
    // SAFETY: a field of the window's facts, in the rank's memory.
    Ok(unsafe {
        match attribute {
            WindowAttribute::Base => at as i64,
            WindowAttribute::Size => (at as *const i64).read(),
            _ => i64::from((at as *const c_int).read()),
        }
    })
}

/// Writes the value of a key, if it has one, and whether it has: of a predefined one, its place.
///
/// # Safety
/// Places for results are as MPI says.
pub unsafe fn get<A: Abi>(bearer: Bearer, keyval: c_int, value: *mut u64, flag: *mut c_int) -> Outcome {
    let found = match A::attribute(keyval) {
        Some(attribute) if bearer.kind == Kind::Comm => Some(predefined::<A>(attribute)? as u64),
        _ => match A::window_attribute(keyval) {
            Some(attribute) if bearer.kind == Kind::Win => Some(of_window(bearer, attribute)?),
            _ => address_of::<A>(bearer, keyval)?,
        },
    };
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(found.is_some()))?;
        found.map_or(Ok(()), |found| put(value, found))
    }
}

/// A copy function that copies (`MPI_COMM_DUP_FN` and its kin).
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe extern "C" fn copy_always<A: Abi>(
    _: A::Handle,
    _: c_int,
    _: u64,
    value: u64,
    copied: *mut u64,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let written = unsafe { put(copied, value).and_then(|()| put(flag, 1)) };
    written.map_or_else(A::code, |()| 0)
}

/// One that does not (`MPI_COMM_NULL_COPY_FN` and its kin).
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe extern "C" fn copy_never<A: Abi>(
    _: A::Handle,
    _: c_int,
    _: u64,
    _: u64,
    _: *mut u64,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { put(flag, 0) }.map_or_else(A::code, |()| 0)
}

/// A delete function that does nothing (`MPI_COMM_NULL_DELETE_FN` and its kin).
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe extern "C" fn delete_nothing<A: Abi>(_: A::Handle, _: c_int, _: u64, _: u64) -> c_int {
    0
}

super::calls! {
    "Comm_create_keyval" comm_create_keyval<>(copy: u64, delete: u64, keyval: *mut c_int, extra: u64) => {
        put(keyval, create::<A>(copy, delete, extra)?)
    };
    "Comm_free_keyval" comm_free_keyval<>(keyval: *mut c_int) => free::<A>(keyval);
    "Comm_set_attr" comm_set_attr<>(communicator: A::Handle, keyval: c_int, value: u64) on communicator => {
        set::<A>(Bearer::of::<A>(Kind::Comm, communicator)?, keyval, Value::address(value))
    };
    "Comm_get_attr" comm_get_attr<>(
        communicator: A::Handle, keyval: c_int, value: *mut u64, flag: *mut c_int,
    ) on communicator => get::<A>(Bearer::of::<A>(Kind::Comm, communicator)?, keyval, value, flag);
    "Comm_delete_attr" comm_delete_attr<>(communicator: A::Handle, keyval: c_int) on communicator => {
        delete::<A>(Bearer::of::<A>(Kind::Comm, communicator)?, keyval)
    };
    "Keyval_create" keyval_create<>(copy: u64, delete: u64, keyval: *mut c_int, extra: u64) => {
        put(keyval, create::<A>(copy, delete, extra)?)
    };
    "Keyval_free" keyval_free<>(keyval: *mut c_int) => free::<A>(keyval);
    "Attr_put" attr_put<>(communicator: A::Handle, keyval: c_int, value: u64) on communicator => {
        set::<A>(Bearer::of::<A>(Kind::Comm, communicator)?, keyval, Value::address(value))
    };
    "Attr_get" attr_get<>(
        communicator: A::Handle, keyval: c_int, value: *mut u64, flag: *mut c_int,
    ) on communicator => get::<A>(Bearer::of::<A>(Kind::Comm, communicator)?, keyval, value, flag);
    "Attr_delete" attr_delete<>(communicator: A::Handle, keyval: c_int) on communicator => {
        delete::<A>(Bearer::of::<A>(Kind::Comm, communicator)?, keyval)
    };
    "Type_create_keyval" type_create_keyval<>(copy: u64, delete: u64, keyval: *mut c_int, extra: u64) => {
        put(keyval, create::<A>(copy, delete, extra)?)
    };
    "Type_free_keyval" type_free_keyval<>(keyval: *mut c_int) => free::<A>(keyval);
    "Type_set_attr" type_set_attr<>(datatype: A::Handle, keyval: c_int, value: u64) => {
        set::<A>(Bearer::of::<A>(Kind::Datatype, datatype)?, keyval, Value::address(value))
    };
    "Type_get_attr" type_get_attr<>(datatype: A::Handle, keyval: c_int, value: *mut u64, flag: *mut c_int) => {
        get::<A>(Bearer::of::<A>(Kind::Datatype, datatype)?, keyval, value, flag)
    };
    "Type_delete_attr" type_delete_attr<>(datatype: A::Handle, keyval: c_int) => {
        delete::<A>(Bearer::of::<A>(Kind::Datatype, datatype)?, keyval)
    };
}
