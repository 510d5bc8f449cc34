//! The pointer that all who have opened a file share (MPI-3.1, 13.4.4).
//!
//! It is in a file beside it, since any rank may use it while the others do something else. Whoever first uses it makes
//! that file, which has a record for each time that the pointer was moved: the last one is where it is. So it is longer
//! each time, and one that is cut back to a checkpoint has the pointer of then. It stays until the program ends: who goes
//! back to a checkpoint may have it open. Where all ranks go back to checkpoints, the first one has it open from the start: one
//! that was made later would not be cut, and have records of what is done again.

use std::ffi::{CStr, CString};

use talisman_ampi::raw;

use super::descriptor::{length_now, read_at, try_lock, unlock, write_at};
use super::file;
use super::open::{PATH, deleted, opened, path_in};
use super::replayed;
use crate::class::Class;
use crate::common::call::{Outcome, local};
use crate::hooks::hooks;

/// Bytes of a record.
const RECORD: u64 = 8;

/// How often it is tried to lock the file before that is an error: the others have it for a few calls of the system.
const TRIES: u32 = 1_000_000;

/// `folder/.name.shared-NUMBER`: each opening of a file has another number.
fn path_beside(path: &[u8], opening: u32) -> Result<CString, Class> {
    let name = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let (folder, name) = path.split_at(name);
    let ending = format!(".shared-{opening}");
    CString::new([folder, b".", name, ending.as_bytes()].concat()).map_err(|_| Class::BadFile)
}

/// The number of an opening: that of the file's communicator, which its ranks have alike.
fn opening(communicator: u32) -> Result<u32, Class> {
    local(|process| Ok(process.comms.get(communicator)?.contexts().number()))
}

/// Deletes the file of the pointer, if there is one of a job before.
pub fn forget_former(communicator: u32, path: &CStr) {
    let beside = opening(communicator).and_then(|opening| path_beside(path.to_bytes(), opening));
    // Mostly there is none.
    let _gone = beside.and_then(|beside| deleted(&beside));
}

/// The file of the pointer is not used any more, and is deleted when the program ends; now if it has no record, as who goes back to a
/// checkpoint makes it again then. `open` is its descriptor.
///
/// # Errors
/// If there is no such file.
pub fn spend(number: u32, open: Option<i32>) -> Outcome {
    let communicator = local(|process| Ok(file(process, number)?.communicator))?;
    let beside = path_beside(path_in(number)?.to_bytes(), opening(communicator)?)?;
    if hooks().goes_back && open.is_some_and(|open| length_now(open) == Ok(0)) {
        return deleted(&beside);
    }
    local(|process| {
        process.objects.spent_files.push(beside.to_bytes().to_vec());
        Ok(())
    })
}

/// Deletes those that are not used any more.
pub fn delete_spent() {
    let next = || {
        local(|process| {
            let Some(path) = process.objects.spent_files.pop() else { return Ok(None) };
            let mut copy = [0u8; PATH];
            copy.get_mut(..path.len()).ok_or(Class::BadFile)?.copy_from_slice(&path);
            Ok(Some((copy, path.len())))
        })
    };
    while let Ok(Some((path, len))) = next() {
        // One that is gone is what is wanted.
        let _gone = CString::new(&path[..len]).map_err(|_| Class::BadFile).and_then(|path| deleted(&path));
    }
}

/// The descriptor of the pointer's file, which is made if it is not there.
fn descriptor(number: u32, makes: bool) -> Result<Option<i32>, Class> {
    use rustix::fs::OFlags;
    let (known, communicator) = local(|process| {
        let file = file(process, number)?;
        Ok((file.shared, file.communicator))
    })?;
    if known.is_some() {
        return Ok(known);
    }
    let beside = path_beside(path_in(number)?.to_bytes(), opening(communicator)?)?;
    let made = if makes { OFlags::CREATE } else { OFlags::empty() };
    let new = match opened(&beside, (OFlags::RDWR | OFlags::CLOEXEC | made).bits() as i32) {
        Err(Class::NoSuchFile) if !makes => return Ok(None),
        other => other?,
    };
    local(|process| {
        file(process, number)?.shared = Some(new);
        Ok(Some(new))
    })
}

/// Makes the pointer's file before anybody uses it. Where it cannot be made, who uses the pointer is told.
pub fn prepare(number: u32) {
    let _made = descriptor(number, true);
}

/// Works on the pointer while nobody else does: from where it is, and a place for its records, to where it is then. Who does again what
/// it did finds it where it was then, after as many attempts, and does not move it again.
fn locked<T: Copy>(
    number: u32,
    descriptor: i32,
    work: impl Fn(u64) -> Result<(u64, T), Class>,
) -> Result<T, Class> {
    /// No position.
    const BUSY: u64 = u64::MAX;
    let attempt = || {
        if !try_lock(descriptor)? {
            return Ok(BUSY);
        }
        let before = moved(number, descriptor, |before| Ok(work(before)?.0));
        unlock(descriptor);
        before
    };
    for _ in 0..TRIES {
        match replayed::then(attempt)? {
            BUSY => raw::yield_now(),
            before => return Ok(work(before)?.1),
        }
    }
    Err(Class::FileInUse)
}

/// Where it was.
fn moved(number: u32, descriptor: i32, to: impl Fn(u64) -> Result<u64, Class>) -> Result<u64, Class> {
    let records = length_now(descriptor)? / RECORD;
    let mut last = [0; RECORD as usize];
    let before = match records.checked_sub(1) {
        Some(at) => {
            read_at(descriptor, &mut last, at * RECORD)?;
            u64::from_le_bytes(last)
        }
        None => first(number)?,
    };
    let after = to(before)?;
    if after != before || records == 0 {
        write_at(descriptor, &after.to_le_bytes(), records * RECORD)?;
    }
    Ok(before)
}

/// Where it is at first.
fn first(number: u32) -> Result<u64, Class> {
    local(|process| Ok(file(process, number)?.begin))
}

/// Moves it. Gives what `to` makes of where it was: where it is then, and a result.
///
/// # Errors
/// What the system says, or `to`.
pub fn update<T: Copy>(number: u32, to: impl Fn(u64) -> Result<(u64, T), Class>) -> Result<T, Class> {
    let descriptor = descriptor(number, true)?.ok_or(Class::Intern)?;
    locked(number, descriptor, to)
}

/// Where it is.
///
/// # Errors
/// What the system says.
pub fn now(number: u32) -> Result<u64, Class> {
    match descriptor(number, false)? {
        Some(descriptor) => locked(number, descriptor, |before| Ok((before, before))),
        None => first(number),
    }
}

/// It begins anew, with a new view: one rank does this while the others wait.
///
/// # Errors
/// What the system says.
pub fn reset(number: u32) -> Outcome {
    let appends = local(|process| Ok(file(process, number)?.access.appends))?;
    match descriptor(number, appends)? {
        Some(descriptor) => locked(number, descriptor, |_| Ok((0, ()))),
        None => Ok(()),
    }
}
