//! Accesses that the target takes part in: fences; starting and posting (MPI-4.1, 12.5.1 and 12.5.2).
//!
//! Assertions say what need not be done; but for the one that no access follows a fence, all is done anyhow.

use std::ffi::c_int;

use talisman_ampi::engine::{Rank, Token};
use talisman_ampi::objects::Kind;
use talisman_ampi::raw;
use talisman_ampi::window::{COMPLETED, POSTED};

use super::asking::{hear, tell, wait_for_answers, wait_until_done};
use super::{known_window, window};
use crate::abi::Abi;
use crate::class::Class;
use crate::common::agreement::from_all;
use crate::common::call::{Outcome, engine, known, local, looked, put};
use crate::common::group::group_of;

/// What each has asked for is done when it comes to the barrier, so all is when all have.
unsafe fn fence<A: Abi>(assert: c_int, handle: A::Handle) -> Outcome {
    const NAME: &str = "MPI_Win_fence";
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    let communicator = local(|process| {
        let window = window(process, number)?;
        if window.epochs.are_over() { Ok(window.communicator) } else { Err(Class::RmaSync) }
    })?;
    wait_until_done(NAME, number, None)?;
    from_all::<A, 1>(NAME, communicator, [0])?;
    local(|process| {
        window(process, number)?.epochs.is_fenced = assert & A::NO_SUCCEED == 0;
        Ok(())
    })
}

/// The members of a group of the program, as ranks of the world, in the rank's memory.
fn members_of(group: u32) -> Result<Vec<Rank>, Class> {
    let size = local(|process| Ok(group_of(process, group)?.size()))?;
    let mut members = vec![0u32; size as usize];
    local(|process| {
        members.copy_from_slice(&group_of(process, group)?.members());
        Ok(())
    })?;
    Ok(members)
}

/// Waits until all of them have posted their windows.
unsafe fn start<A: Abi>(group: A::Handle, handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let (number, group) = unsafe { (known_window::<A>(handle)?, known::<A>(Kind::Group, group)?) };
    let members = members_of(group)?;
    let mut tokens = vec![Token { index: 0, generation: 0 }; members.len()];
    engine(|process, out| {
        if window(process, number)?.epochs.started.is_some() {
            return Err(Class::RmaSync);
        }
        for (place, member) in tokens.iter_mut().zip(&members) {
            *place = hear(process, out, (number, *member), POSTED)?;
        }
        Ok(())
    })?;
    if !tokens.is_empty() {
        raw::wait_all("MPI_Win_start", &tokens)?;
    }
    engine(|process, _| {
        for token in &tokens {
            process.engine.test(*token)?;
        }
        let epochs = &mut window(process, number)?.epochs;
        (epochs.started, epochs.is_fenced) = (Some(members.to_vec()), false);
        Ok(())
    })
}

/// What was asked for comes before the message that says so.
unsafe fn complete<A: Abi>(handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    local(|process| window(process, number)?.epochs.started.as_ref().map(|_| ()).ok_or(Class::RmaSync))?;
    wait_for_answers("MPI_Win_complete", number, None)?;
    engine(|process, out| {
        let epochs = &mut window(process, number)?.epochs;
        let started = epochs.started.take().unwrap_or_default();
        epochs.touched.retain(|rank| !started.contains(rank));
        for member in started {
            tell(process, out, (number, member), COMPLETED)?;
        }
        Ok(())
    })
}

/// Those of a group may access the rank's memory.
unsafe fn post<A: Abi>(group: A::Handle, handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let (number, group) = unsafe { (known_window::<A>(handle)?, known::<A>(Kind::Group, group)?) };
    engine(|process, out| {
        if window(process, number)?.epochs.posted.is_some() {
            return Err(Class::RmaSync);
        }
        let members = group_of(process, group)?.members();
        let mut tokens = Vec::with_capacity(members.len());
        for member in members {
            tell(process, out, (number, member), POSTED)?;
            tokens.push(hear(process, out, (number, member), COMPLETED)?);
        }
        let epochs = &mut window(process, number)?.epochs;
        (epochs.posted, epochs.is_fenced) = (Some(tokens), false);
        Ok(())
    })
}

/// All of them have completed: that is over.
fn end_posted(number: u32) -> Outcome {
    engine(|process, _| {
        let tokens = window(process, number)?.epochs.posted.take().unwrap_or_default();
        for token in tokens {
            process.engine.test(token)?;
        }
        Ok(())
    })
}

unsafe fn wait<A: Abi>(handle: A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    let count =
        local(|process| window(process, number)?.epochs.posted.as_ref().map(Vec::len).ok_or(Class::RmaSync))?;
    let mut tokens = vec![Token { index: 0, generation: 0 }; count];
    local(|process| {
        let posted = window(process, number)?.epochs.posted.iter().flatten();
        tokens.iter_mut().zip(posted).for_each(|(place, token)| *place = *token);
        Ok(())
    })?;
    if !tokens.is_empty() {
        raw::wait_all("MPI_Win_wait", &tokens)?;
    }
    end_posted(number)
}

unsafe fn test<A: Abi>(handle: A::Handle, flag: *mut c_int) -> Outcome {
    // SAFETY: the caller's promise.
    let number = unsafe { known_window::<A>(handle) }?;
    let look = || {
        engine(|process, _| {
            let tokens = window(process, number)?.epochs.posted.clone().ok_or(Class::RmaSync)?;
            Ok(tokens.iter().all(|token| !matches!(process.engine.status(*token), Ok(None))))
        })
    };
    let has_ended = looked(look, |has_ended| *has_ended)?;
    if has_ended {
        end_posted(number)?;
    }
    // SAFETY: the caller's promise.
    unsafe { put(flag, c_int::from(has_ended)) }
}

crate::common::calls! {
    "Win_fence" win_fence<>(assert: c_int, handle: A::Handle) in handle => fence::<A>(assert, handle);
    "Win_start" win_start<>(group: A::Handle, _assert: c_int, handle: A::Handle) in handle => {
        start::<A>(group, handle)
    };
    "Win_complete" win_complete<>(handle: A::Handle) in handle => complete::<A>(handle);
    "Win_post" win_post<>(group: A::Handle, _assert: c_int, handle: A::Handle) in handle => {
        post::<A>(group, handle)
    };
    "Win_wait" win_wait<>(handle: A::Handle) in handle => wait::<A>(handle);
    "Win_test" win_test<>(handle: A::Handle, flag: *mut c_int) in handle => test::<A>(handle, flag);
}
