//! Accesses that the target does not take part in: locks, and flushes (MPI-4.1, 12.5.3 and 12.5.4).

use std::ffi::c_int;

use talisman_ampi::engine::Rank;
use talisman_ampi::process::Process;
use talisman_ampi::raw;
use talisman_ampi::window::Access;

use super::asking::{ask_only, wait_for_answers, wait_until_done};
use super::{known_window, member, window};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::call::{Outcome, engine, local};

/// Whether a lock is for one alone.
fn is_exclusive<A: Abi>(kind: c_int) -> Result<bool, Class> {
    match A::LOCKS.iter().position(|other| *other == kind) {
        Some(at) => Ok(at == 0),
        None => Err(Class::Locktype),
    }
}

unsafe fn lock<A: Abi>(kind: c_int, target: c_int, handle: A::Handle) -> Outcome {
    let is_exclusive = is_exclusive::<A>(kind)?;
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    let target = engine(|process, out| {
        let Some(target) = member::<A>(process, number, target)? else { return Ok(None) };
        if window(process, number)?.epochs.locked.contains(&target) {
            return Err(Class::RmaSync);
        }
        ask_only(process, out, (number, target), |answer| Access::Lock { is_exclusive, answer })?;
        Ok(Some(target))
    })?;
    let Some(target) = target else { return Ok(()) };
    wait_for_answers("MPI_Win_lock", number, Some(target))?;
    local(|process| {
        let epochs = &mut window(process, number)?.epochs;
        epochs.locked.insert(target);
        epochs.is_fenced = false;
        Ok(())
    })
}

unsafe fn unlock<A: Abi>(target: c_int, handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    let target = engine(|process, out| {
        let Some(target) = member::<A>(process, number, target)? else { return Ok(None) };
        let epochs = &mut window(process, number)?.epochs;
        if epochs.all_are_locked || !epochs.locked.remove(&target) {
            return Err(Class::RmaSync);
        }
        // The answer to this comes when all before it is done.
        epochs.touched.remove(&target);
        ask_only(process, out, (number, target), |answer| Access::Unlock { answer })?;
        Ok(Some(target))
    })?;
    target.map_or(Ok(()), |target| wait_for_answers("MPI_Win_unlock", number, Some(target)))
}

/// The members of a window's group, as ranks of the world.
fn members(process: &mut Process, number: u32) -> Result<Vec<Rank>, Class> {
    let communicator = window(process, number)?.communicator;
    Ok(process.comms.get(communicator)?.group().members())
}

unsafe fn lock_all<A: Abi>(handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    engine(|process, out| {
        if !window(process, number)?.epochs.locked.is_empty() {
            return Err(Class::RmaSync);
        }
        for target in members(process, number)? {
            let lock = |answer| Access::Lock { is_exclusive: false, answer };
            ask_only(process, out, (number, target), lock)?;
        }
        Ok(())
    })?;
    wait_for_answers("MPI_Win_lock_all", number, None)?;
    local(|process| {
        let all = members(process, number)?;
        let epochs = &mut window(process, number)?.epochs;
        epochs.locked.extend(all);
        (epochs.all_are_locked, epochs.is_fenced) = (true, false);
        Ok(())
    })
}

unsafe fn unlock_all<A: Abi>(handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    engine(|process, out| {
        let epochs = &mut window(process, number)?.epochs;
        if !std::mem::take(&mut epochs.all_are_locked) {
            return Err(Class::RmaSync);
        }
        epochs.touched.clear();
        for target in std::mem::take(&mut epochs.locked) {
            ask_only(process, out, (number, target), |answer| Access::Unlock { answer })?;
        }
        Ok(())
    })?;
    wait_for_answers("MPI_Win_unlock_all", number, None)
}

/// A window that has locked somebody, and whom a flush is for: all, or one who is locked; none for no process.
unsafe fn flushed<A: Abi>(
    handle: A::Handle,
    target: Option<c_int>,
) -> Result<Option<(u32, Option<Rank>)>, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    local(|process| {
        let whom = match target {
            None => None,
            Some(target) => match member::<A>(process, number, target)? {
                None => return Ok(None),
                rank => rank,
            },
        };
        let locked = &window(process, number)?.epochs.locked;
        let is_locked = whom.map_or(!locked.is_empty(), |whom| locked.contains(&whom));
        if is_locked { Ok(Some((number, whom))) } else { Err(Class::RmaSync) }
    })
}

/// All is done at the target.
unsafe fn flush<A: Abi>(name: &'static str, handle: A::Handle, target: Option<c_int>) -> Outcome {
    // SAFETY: the caller's promise.
    let flushed = unsafe { flushed::<A>(handle, target) }?;
    flushed.map_or(Ok(()), |(number, whom)| wait_until_done(name, number, whom))
}

/// The program's memory may be used again: what is written from it was copied when that was asked for.
unsafe fn flush_local<A: Abi>(name: &'static str, handle: A::Handle, target: Option<c_int>) -> Outcome {
    // SAFETY: the caller's promise.
    let flushed = unsafe { flushed::<A>(handle, target) }?;
    flushed.map_or(Ok(()), |(number, whom)| wait_for_answers(name, number, whom))
}

/// Memory is what all see. Who looks at it again and again lets the others run, who may write to it.
unsafe fn sync<A: Abi>(handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { known_window::<A>(handle) }?;
    let _may_look_again = raw::has_looked(false);
    Ok(())
}

crate::common::calls! {
    "Win_lock" win_lock<>(kind: c_int, target: c_int, _assert: c_int, handle: A::Handle) in handle => {
        lock::<A>(kind, target, handle)
    };
    "Win_unlock" win_unlock<>(target: c_int, handle: A::Handle) in handle => unlock::<A>(target, handle);
    "Win_lock_all" win_lock_all<>(_assert: c_int, handle: A::Handle) in handle => lock_all::<A>(handle);
    "Win_unlock_all" win_unlock_all<>(handle: A::Handle) in handle => unlock_all::<A>(handle);
    "Win_flush" win_flush<>(target: c_int, handle: A::Handle) in handle => {
        flush::<A>("MPI_Win_flush", handle, Some(target))
    };
    "Win_flush_all" win_flush_all<>(handle: A::Handle) in handle => {
        flush::<A>("MPI_Win_flush_all", handle, None)
    };
    "Win_flush_local" win_flush_local<>(target: c_int, handle: A::Handle) in handle => {
        flush_local::<A>("MPI_Win_flush_local", handle, Some(target))
    };
    "Win_flush_local_all" win_flush_local_all<>(handle: A::Handle) in handle => {
        flush_local::<A>("MPI_Win_flush_local_all", handle, None)
    };
    "Win_sync" win_sync<>(handle: A::Handle) in handle => sync::<A>(handle);
}
