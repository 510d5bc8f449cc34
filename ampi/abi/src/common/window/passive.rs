//! Accesses that the target does not take part in: locks, and flushes (MPI-4.1, 12.5.3 and 12.5.4).

use std::ffi::c_int;

use talisman_ampi::engine::{Actions, Buffer, Rank};
use talisman_ampi::process::Process;
use talisman_ampi::raw::{self, Near};
use talisman_ampi::window::Access;

use super::asking::{ask_only, ask_whether_done, wait_for_answers, wait_until_done};
use super::{context_of, known_window, member, window};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::call::{Outcome, engine_near, local};

/// Whether a lock is for one alone.
fn is_exclusive<A: Abi>(kind: c_int) -> Result<bool, Class> {
    match A::LOCKS.iter().position(|other| *other == kind) {
        Some(at) => Ok(at == 0),
        None => Err(Class::Locktype),
    }
}

/// Whether the target has to know of a lock: not if the program says that no other is in its way, so that a program which has locked its
/// own window so waits for others that lock it (OpenCoarrays does).
fn is_told<A: Abi>(assert: c_int) -> bool {
    assert & A::NO_CHECK == 0
}

/// Takes the lock of a rank that is near, if nobody is in the way; else asks for it.
fn take_or_ask(
    process: &mut Process,
    (out, near): (&mut Actions, Near<'_>),
    (number, target): (u32, Rank),
    is_exclusive: bool,
) -> Outcome {
    let whom = (target, context_of(process, number)?);
    match near.takes_lock(process, whom, is_exclusive) {
        true => Ok(()),
        false => ask_for_lock(process, out, (number, target), is_exclusive),
    }
}

/// What is asked for next waits there until the rank has the lock. Only of its own window it is to know when that is: it may look at its
/// memory then.
fn ask_for_lock(
    process: &mut Process,
    out: &mut Actions,
    (number, target): (u32, Rank),
    is_exclusive: bool,
) -> Outcome {
    if target == process.engine.rank() {
        let lock = |answer| Access::Lock { is_exclusive, answer: Some(answer) };
        return ask_only(process, out, (number, target), lock).map(|_| ());
    }
    let context = context_of(process, number)?;
    let lock = Access::Lock { is_exclusive, answer: None };
    process.engine.access((target, context), lock, Buffer::EMPTY, out);
    Ok(())
}

/// Waits for what the rank has asked of itself.
fn wait_for_own(name: &'static str, number: u32) -> Outcome {
    let own = local(|process| Ok(process.engine.rank()))?;
    wait_for_answers(name, number, Some(own))
}

unsafe fn lock<A: Abi>(kind: c_int, target: c_int, assert: c_int, handle: A::Handle) -> Outcome {
    let (is_exclusive, is_told) = (is_exclusive::<A>(kind)?, is_told::<A>(assert));
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    let target = engine_near(|process, out, near| {
        let Some(target) = member::<A>(process, number, target)? else { return Ok(None) };
        if window(process, number)?.epochs.locked.contains_key(&target) {
            return Err(Class::RmaSync);
        }
        if is_told {
            take_or_ask(process, (out, near), (number, target), is_exclusive)?;
        }
        Ok(Some(target))
    })?;
    let Some(target) = target else { return Ok(()) };
    wait_for_own("MPI_Win_lock", number)?;
    local(|process| {
        let epochs = &mut window(process, number)?.epochs;
        epochs.locked.insert(target, is_told);
        epochs.is_fenced = false;
        Ok(())
    })
}

/// All is done at a rank that is not locked any more.
fn give_back(
    process: &mut Process,
    (out, near): (&mut Actions, Near<'_>),
    (number, target): (u32, Rank),
    is_told: bool,
) -> Outcome {
    if !is_told {
        return ask_whether_done(process, out, number, Some(target));
    }
    let whom = (target, context_of(process, number)?);
    if window(process, number)?.epochs.has_nothing_from(target) && near.puts_lock_back(process, whom) {
        return Ok(());
    }
    // The answer to this comes when all before it is done.
    window(process, number)?.epochs.touched.remove(&target);
    ask_only(process, out, (number, target), |answer| Access::Unlock { answer }).map(|_| ())
}

unsafe fn unlock<A: Abi>(target: c_int, handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    let target = engine_near(|process, out, near| {
        let Some(target) = member::<A>(process, number, target)? else { return Ok(None) };
        let epochs = &mut window(process, number)?.epochs;
        let locked = if epochs.all_are_locked { None } else { epochs.locked.remove(&target) };
        give_back(process, (out, near), (number, target), locked.ok_or(Class::RmaSync)?)?;
        Ok(Some(target))
    })?;
    lets_run_if_done(number)?;
    target.map_or(Ok(()), |target| wait_for_answers("MPI_Win_unlock", number, Some(target)))
}

/// The members of a window's group, as ranks of the world.
fn members(process: &mut Process, number: u32) -> Result<Vec<Rank>, Class> {
    let communicator = window(process, number)?.communicator;
    Ok(process.comms.get(communicator)?.group().members())
}

unsafe fn lock_all<A: Abi>(assert: c_int, handle: A::Handle) -> Outcome {
    let is_told = is_told::<A>(assert);
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    engine_near(|process, out, near| {
        if !window(process, number)?.epochs.locked.is_empty() {
            return Err(Class::RmaSync);
        }
        let asked = if is_told { members(process, number)? } else { Vec::new() };
        for target in asked {
            take_or_ask(process, (out, near), (number, target), false)?;
        }
        Ok(())
    })?;
    wait_for_own("MPI_Win_lock_all", number)?;
    local(|process| {
        let all = members(process, number)?;
        let epochs = &mut window(process, number)?.epochs;
        epochs.locked.extend(all.into_iter().map(|target| (target, is_told)));
        (epochs.all_are_locked, epochs.is_fenced) = (true, false);
        Ok(())
    })
}

unsafe fn unlock_all<A: Abi>(handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    engine_near(|process, out, near| {
        let epochs = &mut window(process, number)?.epochs;
        if !std::mem::take(&mut epochs.all_are_locked) {
            return Err(Class::RmaSync);
        }
        for (target, is_told) in std::mem::take(&mut epochs.locked) {
            give_back(process, (out, near), (number, target), is_told)?;
        }
        Ok(())
    })?;
    lets_run_if_done(number)?;
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
        let is_locked = whom.map_or(!locked.is_empty(), |whom| locked.contains_key(&whom));
        if is_locked { Ok(Some((number, whom))) } else { Err(Class::RmaSync) }
    })
}

/// All is done at the target. Who asks for that again and again looks at its own memory meanwhile, and lets others run, who may write to it.
unsafe fn flush<A: Abi>(name: &'static str, handle: A::Handle, target: Option<c_int>) -> Outcome {
    // SAFETY: the caller's promise.
    let Some((number, whom)) = unsafe { flushed::<A>(handle, target) }? else { return Ok(()) };
    lets_run_if_done(number)?;
    wait_until_done(name, number, whom)
}

/// Who has all that it has asked for lets others run now and then: it may look at a window until one of them has written there.
fn lets_run_if_done(number: u32) -> Outcome {
    if local(|process| Ok(window(process, number)?.epochs.has_nothing_to_wait_for()))? {
        let _may_look_again = raw::has_looked(false);
    }
    Ok(())
}

/// The program's memory may be used again: what is written from it was copied when that was asked for.
unsafe fn flush_local<A: Abi>(name: &'static str, handle: A::Handle, target: Option<c_int>) -> Outcome {
    // SAFETY: the caller's promise.
    let flushed = unsafe { flushed::<A>(handle, target) }?;
    let Some((number, whom)) = flushed else { return Ok(()) };
    lets_run_if_done(number)?;
    wait_for_answers(name, number, whom)
}

/// Memory is what all see. Who looks at it again and again lets the others run, who may write to it.
unsafe fn sync<A: Abi>(handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { known_window::<A>(handle) }?;
    let _may_look_again = raw::has_looked(false);
    Ok(())
}

crate::common::calls! {
    "Win_lock" win_lock<>(kind: c_int, target: c_int, assert: c_int, handle: A::Handle) in handle => {
        lock::<A>(kind, target, assert, handle)
    };
    "Win_unlock" win_unlock<>(target: c_int, handle: A::Handle) in handle => unlock::<A>(target, handle);
    "Win_lock_all" win_lock_all<>(assert: c_int, handle: A::Handle) in handle => lock_all::<A>(assert, handle);
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
