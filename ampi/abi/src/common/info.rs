//! Hints (MPI-3.1, chapter 9). They are kept, and change nothing.

use std::ffi::c_int;

use talisman_ampi::objects::{Info, Kind};
use talisman_ampi::process::Process;
use talisman_ampi::rank::Hint;

use super::call::{Outcome, known, local, put};
use super::communicator::text_of;
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// The longest key, and the longest value, without a zero.
const LONGEST: [usize; 2] = [255, 1024];

/// Hints of the program: number 0 is `MPI_INFO_ENV`, which has none.
fn find(process: &mut Process, number: u32) -> Result<&mut Info, Class> {
    number.checked_sub(1).and_then(|own| process.objects.infos.get_mut(own)).ok_or(Class::Info)
}

/// Gives the program hints.
///
/// # Safety
/// `to` is the program's.
pub unsafe fn make<A: Abi>(
    to: *mut A::Handle,
    from: impl FnOnce(&mut Process) -> Result<Info, Class>,
) -> Outcome {
    let number = local(|process| {
        let made = from(process)?;
        Ok(process.objects.infos.insert(made) + 1)
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Info, number)) }
}

/// Hints of the program, as they are now.
pub fn copy_of(process: &mut Process, number: u32) -> Result<Info, Class> {
    match number {
        0 => Ok(Info::default()),
        _ => Ok(find(process, number)?.clone()),
    }
}

/// Hints without a key.
///
/// # Safety
/// `to` is the program's.
pub unsafe fn empty<A: Abi>(to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { make::<A>(to, |_| Ok(Info::default())) }
}

/// Sets a key to a value, which are without zeroes at their ends.
///
/// # Safety
/// The handle is the program's.
pub unsafe fn set<A: Abi>(hints: A::Handle, key: &[u8], value: &[u8]) -> Outcome {
    if key.is_empty() || key.len() > LONGEST[0] {
        return Err(Class::InfoKey);
    }
    if value.is_empty() || value.len() > LONGEST[1] {
        return Err(Class::InfoValue);
    }
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Info, hints) }?;
    local(|process| {
        find(process, number)?.set(key, value);
        Ok(())
    })
}

/// The value of a key, copied to a place of so many bytes, and its length.
///
/// # Safety
/// The handle is the program's.
pub unsafe fn value_of<A: Abi>(hints: A::Handle, key: &[u8], to: &mut [u8]) -> Result<Option<usize>, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Info, hints) }?;
    local(|process| {
        if number == 0 {
            return Ok(None);
        }
        let value = find(process, number)?.get(key);
        Ok(value.map(|value| {
            let len = value.len().min(to.len());
            to[..len].copy_from_slice(&value[..len]);
            value.len()
        }))
    })
}

/// The key at a place, copied, and its length.
///
/// # Safety
/// The handle is the program's.
pub unsafe fn key_at<A: Abi>(hints: A::Handle, at: c_int) -> Result<([u8; 256], usize), Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Info, hints) }?;
    local(|process| {
        let at = usize::try_from(at).map_err(|_| Class::Arg)?;
        let key = find(process, number)?.key(at).ok_or(Class::Arg)?;
        let mut copy = [0u8; 256];
        copy[..key.len()].copy_from_slice(key);
        Ok((copy, key.len()))
    })
}

/// All keys and values, on the rank's heap.
///
/// # Safety
/// The handle is the program's.
pub unsafe fn all<A: Abi>(hints: A::Handle) -> Result<Vec<Hint>, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Info, hints) }?;
    let keys = local(|process| if number == 0 { Ok(0) } else { Ok(find(process, number)?.keys()) })?;
    let one = |at: usize| {
        let mut value = [0u8; LONGEST[1]];
        // SAFETY: as above.
        unsafe {
            let (key, len) = key_at::<A>(hints, at as c_int)?;
            let found = value_of::<A>(hints, &key[..len], &mut value)?.unwrap_or(0);
            Ok((key[..len].to_vec(), value[..found].to_vec()))
        }
    };
    (0..keys).map(one).collect()
}

/// Copies a value of at most `len` bytes with a zero behind it.
unsafe fn get<A: Abi>(
    hints: A::Handle,
    key: *const u8,
    len: usize,
    to: *mut u8,
) -> Result<Option<usize>, Class> {
    let mut value = [0u8; LONGEST[1]];
    // SAFETY: the caller's promise.
    unsafe {
        let found = value_of::<A>(hints, text_of(key)?, &mut value)?;
        if let Some(whole) = found.filter(|_| !to.is_null()) {
            let len = whole.min(len);
            std::ptr::copy_nonoverlapping(value.as_ptr(), to, len);
            put(to.add(len), 0)?;
        }
        Ok(found)
    }
}

super::calls! {
    // A rank goes where there is room: no resource of the machine is its own.
    "Get_hw_resource_info" get_hw_resource_info<>(to: *mut A::Handle) => empty::<A>(to);
    "Info_create" info_create<>(hints: *mut A::Handle) => empty::<A>(hints);
    "Info_create_env" info_create_env<>(_argc: c_int, _argv: usize, hints: *mut A::Handle) => empty::<A>(hints);
    "Info_dup" info_dup<>(hints: A::Handle, to: *mut A::Handle) => {
        let number = known::<A>(Kind::Info, hints)?;
        make::<A>(to, |process| copy_of(process, number))
    };
    "Info_free" info_free<>(hints: *mut A::Handle) => {
        let handle = hints.read_unaligned();
        let number = known::<A>(Kind::Info, handle)?;
        let own = number.checked_sub(1).ok_or(Class::Info)?;
        local(|process| process.objects.infos.remove(own).map(drop).ok_or(Class::Info))?;
        A::forget(Kind::Info, number, handle);
        put(hints, A::handle(Kind::Info, NULL))
    };
    "Info_set" info_set<>(hints: A::Handle, key: *const u8, value: *const u8) => {
        set::<A>(hints, text_of(key)?, text_of(value)?)
    };
    "Info_get" info_get<>(hints: A::Handle, key: *const u8, len: c_int, value: *mut u8, flag: *mut c_int) => {
        let len = usize::try_from(len).map_err(|_| Class::Arg)?;
        put(flag, c_int::from(get::<A>(hints, key, len, value)?.is_some()))
    };
    "Info_get_string" info_get_string<>(
        hints: A::Handle, key: *const u8, room: *mut c_int, value: *mut u8, flag: *mut c_int,
    ) => {
        let given = usize::try_from(room.read_unaligned()).map_err(|_| Class::Arg)?;
        let to = if given == 0 { std::ptr::null_mut() } else { value };
        let found = get::<A>(hints, key, given.saturating_sub(1), to)?;
        if let Some(len) = found {
            put(room, len as c_int + 1)?;
        }
        put(flag, c_int::from(found.is_some()))
    };
    "Info_get_valuelen" info_get_valuelen<>(
        hints: A::Handle, key: *const u8, len: *mut c_int, flag: *mut c_int,
    ) => {
        let found = get::<A>(hints, key, 0, std::ptr::null_mut())?;
        if let Some(found) = found {
            put(len, found as c_int)?;
        }
        put(flag, c_int::from(found.is_some()))
    };
    "Info_delete" info_delete<>(hints: A::Handle, key: *const u8) => {
        let (number, key) = (known::<A>(Kind::Info, hints)?, text_of(key)?);
        local(|process| if find(process, number)?.delete(key) { Ok(()) } else { Err(Class::InfoNokey) })
    };
    "Info_get_nkeys" info_get_nkeys<>(hints: A::Handle, keys: *mut c_int) => {
        let number = known::<A>(Kind::Info, hints)?;
        let found = local(|process| if number == 0 { Ok(0) } else { Ok(find(process, number)?.keys()) })?;
        put(keys, found as c_int)
    };
    "Info_get_nthkey" info_get_nthkey<>(hints: A::Handle, at: c_int, key: *mut u8) => {
        let (found, len) = key_at::<A>(hints, at)?;
        std::ptr::copy_nonoverlapping(found.as_ptr(), key, len);
        put(key.add(len), 0)
    };
}
