//! Communicators (MPI-3.1, 6.4 and 6.6).

use std::ffi::c_int;

use talisman_ampi::comm::{Choice, Communicator, Comparison, ContextPair, Group};
use talisman_ampi::engine::Token;
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;
use talisman_ampi::raw;

use super::agreement::{
    Meeting, among, from_all_here, from_all_there, from_first, leaders, new_number, number_later, others_say,
};
use super::attribute;
use super::call::{Outcome, known, known_or_null, length, local, put};
use super::group::group_of;
use super::info;
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// Adds a communicator made of another, whose error handler it gets. Gives the program its handle, or a null one.
///
/// # Safety
/// `to` is the program's.
pub unsafe fn make<A: Abi>(
    parent: u32,
    to: *mut A::Handle,
    from: impl FnOnce(&Process, &Communicator) -> Result<Option<Communicator>, Class>,
) -> Result<Option<u32>, Class> {
    let made = local(|process| {
        let made = from(process, process.comms.get(parent)?)?;
        let Some(made) = made else { return Ok(None) };
        let handle = process.comms.insert(made);
        if let Some(handler) = process.objects.handlers_of.get(&parent).copied() {
            process.objects.handlers_of.insert(handle, handler);
        }
        Ok(Some(handle))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Comm, made.unwrap_or(NULL))) }?;
    Ok(made)
}

unsafe fn duplicate<A: Abi>(name: &'static str, communicator: A::Handle, to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let number = new_number::<A>(name, parent)?;
        let made = make::<A>(parent, to, |process, parent| {
            let (attributes, _) = parent.attributes.copied(&process.comms.keyvals);
            Ok(Some(parent.duplicate(number, attributes)))
        })?;
        copy_attributes::<A>(parent, made.ok_or(Class::Intern)?, to)
    }
}

/// Attributes whose functions decide are copied. If one fails there is no duplicate.
unsafe fn copy_attributes<A: Abi>(parent: u32, made: u32, to: *mut A::Handle) -> Outcome {
    let copied = attribute::copy::<A>(parent, made);
    if copied.is_err() {
        local(|process| {
            let freed = process.comms.free(made)?;
            process.objects.retire(made, freed);
            Ok(())
        })?;
        // SAFETY: the caller's promise.
        unsafe { put(to, A::handle(Kind::Comm, NULL)) }?;
    }
    copied
}

/// The first member's number comes while the program goes on.
unsafe fn duplicate_later<A: Abi>(
    communicator: A::Handle,
    to: *mut A::Handle,
    request: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let made = make::<A>(parent, to, |process, parent| {
            let (attributes, _) = parent.attributes.copied(&process.comms.keyvals);
            Ok(Some(parent.duplicate(ContextPair::NONE.number(), attributes)))
        })?;
        let made = made.ok_or(Class::Intern)?;
        copy_attributes::<A>(parent, made, to)?;
        put(request, A::handle(Kind::Request, number_later(parent, made)?))
    }
}

unsafe fn split<A: Abi>(
    name: &'static str,
    communicator: A::Handle,
    (color, key): (c_int, c_int),
    to: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    let parent = unsafe { known::<A>(Kind::Comm, communicator) }?;
    if color < 0 && color != A::UNDEFINED {
        return Err(Class::Arg);
    }
    let number = new_number::<A>(name, parent)?;
    let mine = [i64::from(color), i64::from(key)];
    let here = from_all_here::<A, 2>(name, parent, mine)?;
    let there = match local(|process| Ok(process.comms.get(parent)?.remote_group().is_some()))? {
        true => Some(from_all_there::<A, 2>(name, parent, mine)?),
        false => None,
    };
    let choice = |[color, key]: &[i64; 2]| {
        let color = *color as c_int;
        Choice { color: (color != A::UNDEFINED).then_some(color), key: *key as c_int }
    };
    // SAFETY: the caller's promise.
    unsafe {
        make::<A>(parent, to, |_, parent| {
            let choices = |all: &[[i64; 2]]| all.iter().map(choice).collect::<Vec<_>>();
            let here = choices(&here);
            Ok(match &there {
                None => parent.split(number, &here),
                Some(there) => parent.split_between(number, &here, &choices(there)),
            })
        })?;
    }
    Ok(())
}

/// All ranks count as on one host: they can be on any, and move.
unsafe fn split_type<A: Abi>(
    communicator: A::Handle,
    (kind, key): (c_int, c_int),
    to: *mut A::Handle,
) -> Outcome {
    let color = match kind {
        kind if kind == A::UNDEFINED => A::UNDEFINED,
        kind if kind == A::TYPE_SHARED => 0,
        // Other kinds are parts of a host, of which nothing is known.
        _ => A::UNDEFINED,
    };
    // SAFETY: the caller's promise.
    unsafe { split::<A>("MPI_Comm_split_type", communicator, (color, key), to) }
}

/// One communicator for a group of another's members; or, of an intercommunicator, one between a group of each side's.
unsafe fn create<A: Abi>(communicator: A::Handle, group: A::Handle, to: *mut A::Handle) -> Outcome {
    const NAME: &str = "MPI_Comm_create";
    // SAFETY: the caller's promise.
    unsafe {
        let (parent, group) = (known::<A>(Kind::Comm, communicator)?, known::<A>(Kind::Group, group)?);
        let (place, has_other_side) = local(|process| {
            let place = group_of(process, group)?.rank_of(process.engine.rank());
            Ok((place, process.comms.get(parent)?.remote_group().is_some()))
        })?;
        let number = new_number::<A>(NAME, parent)?;
        let there = match has_other_side {
            true => Some(from_all_there::<A, 1>(NAME, parent, [place.map_or(-1, i64::from)])?),
            false => None,
        };
        make::<A>(parent, to, |process, parent| {
            let group = group_of(process, group)?;
            let places = |there: &[[i64; 1]]| {
                there.iter().map(|[place]| u32::try_from(*place).ok()).collect::<Vec<_>>()
            };
            Ok(match &there {
                None => parent.create(number, &group),
                Some(there) => parent.create_between(number, &group, &places(there)),
            })
        })?;
    }
    Ok(())
}

/// The same, called by the members of the group only.
unsafe fn create_group<A: Abi>(
    communicator: A::Handle,
    group: A::Handle,
    tag: c_int,
    to: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (parent, group) = unsafe { (known::<A>(Kind::Comm, communicator)?, known::<A>(Kind::Group, group)?) };
    let size = local(|process| Ok(group_of(process, group)?.size()))?;
    let mut members = vec![0u32; size as usize];
    let (mut numbers, is_member, meeting) = local(|process| {
        let (group, rank) = (group_of(process, group)?, process.engine.rank());
        members.copy_from_slice(&group.members());
        let number = match group.member(0) == Some(rank) {
            true => i64::from(process.comms.contexts.give()?),
            false => 0,
        };
        Ok(([number], group.rank_of(rank).is_some(), Meeting::within(process, parent, tag)?))
    })?;
    if is_member {
        among::<A>("MPI_Comm_create_group", (meeting, &members, 0), &mut numbers)?;
    }
    // SAFETY: the caller's promise.
    unsafe {
        make::<A>(parent, to, |_, parent| Ok(parent.create(numbers[0] as u32, &Group::of(&members))))?;
    }
    Ok(())
}

/// Two groups that know each other by their leaders, which are members of `peer`.
unsafe fn intercommunicator<A: Abi>(
    (side, leader): (A::Handle, c_int),
    (peer, remote_leader): (A::Handle, c_int),
    tag: c_int,
    to: *mut A::Handle,
) -> Outcome {
    const NAME: &str = "MPI_Intercomm_create";
    // SAFETY: the caller's promise.
    let side = unsafe { known::<A>(Kind::Comm, side) }?;
    let (rank, size) = local(|process| {
        let found = process.comms.get(side)?;
        Ok((found.rank().ok_or(Class::Comm)?, found.size()))
    })?;
    let leader = u32::try_from(leader).ok().filter(|leader| *leader < size).ok_or(Class::Rank)?;
    let (mut theirs, mut head) = (Vec::new(), [0i64; 2]);
    if rank == leader {
        // SAFETY: the caller's promise.
        let peer = unsafe { known::<A>(Kind::Comm, peer) }?;
        let remote = u32::try_from(remote_leader).map_err(|_| Class::Rank)?;
        let mut mine = vec![0i64; size as usize];
        let meeting = local(|process| {
            let members = process.comms.get(side)?.group().members();
            mine.iter_mut().zip(members).for_each(|(place, member)| *place = i64::from(member));
            let other = process.comms.get(peer)?.world_rank(remote).ok_or(Class::Rank)?;
            Ok((Meeting::within(process, peer, tag)?, other))
        })?;
        (head[0], theirs) = leaders(NAME, meeting, &mine)?;
        head[1] = theirs.len() as i64;
    }
    told_by_leader::<A>(NAME, side, leader, &mut head)?;
    theirs.resize(usize::try_from(head[1]).map_err(|_| Class::Intern)?, 0);
    told_by_leader::<A>(NAME, side, leader, &mut theirs)?;
    // SAFETY: the caller's promise.
    unsafe { between::<A>(side, (head[0], &theirs), to) }
}

/// Gives the program a communicator, of this number, between a side and others of the world.
///
/// # Errors
/// If the side is not there.
///
/// # Safety
/// `to` is the program's.
pub unsafe fn between<A: Abi>(side: u32, (number, theirs): (i64, &[i64]), to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        make::<A>(side, to, |process, found| {
            let remote: Vec<u32> = theirs.iter().map(|member| *member as u32).collect();
            let (contexts, rank) = (ContextPair::of(number as u32), process.engine.rank());
            Ok(Some(Communicator::between(found.group().clone(), Group::of(&remote), contexts, rank)))
        })?;
    }
    Ok(())
}

/// The leader's numbers, for all of a communicator.
pub fn told_by_leader<A: Abi>(
    name: &'static str,
    communicator: u32,
    leader: u32,
    numbers: &mut [i64],
) -> Outcome {
    if leader == 0 {
        return from_first::<A>(name, communicator, numbers);
    }
    use super::collective::{Memory, run_now};
    use talisman_ampi::collective::{Values, bcast};
    let (count, receive) = (numbers.len() as u64 * 8, numbers.as_mut_ptr() as usize);
    run_now::<A>(name, communicator, Memory { receive, ..Memory::default() }, |_, side| {
        Ok(bcast(side.one()?, leader, count, &Values::BYTES))
    })
}

unsafe fn merge<A: Abi>(communicator: A::Handle, high: c_int, to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let number = new_number::<A>("MPI_Intercomm_merge", parent)?;
        let theirs = others_say::<A>("MPI_Intercomm_merge", parent, high != 0)?;
        make::<A>(parent, to, |_, parent| Ok(parent.merge(number, high != 0, theirs)))?;
    }
    Ok(())
}

/// Waits for all that is under way in a communicator, what the program has freed meanwhile as well.
fn wait_for_pending(communicator: u32) -> Outcome {
    let pending = |process: &Process| -> Result<Vec<Token>, Class> {
        let contexts = process.comms.get(communicator)?.contexts();
        let messages = process.engine.under_way_in(|context| ContextPair::around(context) == contexts);
        let records = process.objects.requests.iter().map(|(_, record)| record);
        let others = records.filter(|record| record.communicator == communicator).map(|record| record.token);
        Ok(messages.chain(others).collect())
    };
    // They are on the process's heap: the rank copies them.
    let mut all = vec![Token { index: 0, generation: 0 }; local(|process| Ok(pending(process)?.len()))?];
    local(|process| {
        all.iter_mut().zip(pending(process)?).for_each(|(place, token)| *place = token);
        Ok(())
    })?;
    if !all.is_empty() {
        raw::wait_all("MPI_Comm_disconnect", &all)?;
    }
    Ok(())
}

/// The communicator is gone; requests of it go on.
///
/// # Safety
/// `handle` is the program's.
pub unsafe fn free<A: Abi>(handle: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let number = known::<A>(Kind::Comm, handle.read_unaligned())?;
        if number <= talisman_ampi::comm::Communicators::ALONE {
            return Err(Class::Comm);
        }
        attribute::delete_all::<A>(number)?;
        local(|process| {
            let freed = process.comms.free(number)?;
            process.objects.retire(number, freed);
            Ok(())
        })?;
        A::forget(Kind::Comm, number, handle.read_unaligned());
        put(handle, A::handle(Kind::Comm, NULL))
    }
}

/// How two are alike, as a number of the interfaces.
pub fn comparison<A: Abi>(found: Comparison) -> c_int {
    let more = match found {
        Comparison::Identical => 0,
        Comparison::Congruent => 1,
        Comparison::Similar => 2,
        Comparison::Unequal => 3,
    };
    A::IDENT + more
}

/// Something of a communicator.
///
/// # Safety
/// The handle is the program's.
pub unsafe fn look<A: Abi, T: Copy>(
    communicator: A::Handle,
    at: impl FnOnce(&Communicator) -> Result<T, Class>,
) -> Result<T, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Comm, communicator) }?;
    local(|process| at(process.comms.get(number)?))
}

/// A text of the program, without the zero at its end.
///
/// # Safety
/// `text` ends with a zero.
pub unsafe fn text_of<'a>(text: *const u8) -> Result<&'a [u8], Class> {
    if text.is_null() {
        return Err(Class::Arg);
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::ffi::CStr::from_ptr(text.cast()) }.to_bytes())
}

/// Writes a text with a zero at its end, cut to the room that there is, and its length.
///
/// # Safety
/// There is so much room.
pub unsafe fn put_text(to: *mut u8, room: usize, len: *mut c_int, text: &[u8]) -> Outcome {
    let text = &text[..text.len().min(room.saturating_sub(1))];
    // SAFETY: the caller's promise.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to, text.len());
        put(to.add(text.len()), 0)?;
        put(len, text.len() as c_int)
    }
}

/// A name that the state has, brought out of it: the room is the interface's.
pub fn name_from<const ROOM: usize>(
    find: impl FnOnce(&mut Process) -> Result<&str, Class>,
) -> Result<([u8; ROOM], usize), Class> {
    local(|process| {
        let name = find(process)?.as_bytes();
        let mut copy = [0u8; ROOM];
        let len = name.len().min(ROOM);
        copy[..len].copy_from_slice(&name[..len]);
        Ok((copy, len))
    })
}

super::calls! {
    "Comm_rank" comm_rank<>(communicator: A::Handle, rank: *mut c_int) on communicator => {
        let number = look::<A, _>(communicator, |found| found.rank().ok_or(Class::Comm))?;
        put(rank, number as c_int)
    };
    "Comm_size" comm_size<>(communicator: A::Handle, size: *mut c_int) on communicator => {
        put(size, look::<A, _>(communicator, |found| Ok(found.size()))? as c_int)
    };
    "Comm_remote_size" comm_remote_size<>(communicator: A::Handle, size: *mut c_int) on communicator => {
        let remote = |found: &Communicator| Ok(found.remote_group().ok_or(Class::Comm)?.size());
        put(size, look::<A, _>(communicator, remote)? as c_int)
    };
    "Comm_test_inter" comm_test_inter<>(communicator: A::Handle, flag: *mut c_int) on communicator => {
        put(flag, c_int::from(look::<A, _>(communicator, |found| Ok(found.remote_group().is_some()))?))
    };
    "Comm_compare" comm_compare<>(one: A::Handle, other: A::Handle, result: *mut c_int) on one => {
        let (one, other) = (known::<A>(Kind::Comm, one)?, known::<A>(Kind::Comm, other)?);
        let found = local(|process| Ok(process.comms.get(one)?.compare(process.comms.get(other)?)))?;
        put(result, comparison::<A>(found))
    };
    "Comm_dup" comm_dup<>(communicator: A::Handle, to: *mut A::Handle) on communicator => {
        duplicate::<A>("MPI_Comm_dup", communicator, to)
    };
    "Comm_dup_with_info" comm_dup_with_info<>(
        communicator: A::Handle, _info: A::Handle, to: *mut A::Handle,
    ) on communicator => duplicate::<A>("MPI_Comm_dup_with_info", communicator, to);
    "Comm_idup" comm_idup<>(
        communicator: A::Handle, to: *mut A::Handle, request: *mut A::Handle,
    ) on communicator => duplicate_later::<A>(communicator, to, request);
    "Comm_idup_with_info" comm_idup_with_info<>(
        communicator: A::Handle, _info: A::Handle, to: *mut A::Handle, request: *mut A::Handle,
    ) on communicator => duplicate_later::<A>(communicator, to, request);
    "Comm_split" comm_split<>(
        communicator: A::Handle, color: c_int, key: c_int, to: *mut A::Handle,
    ) on communicator => split::<A>("MPI_Comm_split", communicator, (color, key), to);
    "Comm_split_type" comm_split_type<>(
        communicator: A::Handle, kind: c_int, key: c_int, _info: A::Handle, to: *mut A::Handle,
    ) on communicator => split_type::<A>(communicator, (kind, key), to);
    "Comm_create" comm_create<>(
        communicator: A::Handle, group: A::Handle, to: *mut A::Handle,
    ) on communicator => create::<A>(communicator, group, to);
    "Comm_create_group" comm_create_group<>(
        communicator: A::Handle, group: A::Handle, tag: c_int, to: *mut A::Handle,
    ) on communicator => create_group::<A>(communicator, group, tag, to);
    "Comm_free" comm_free<>(communicator: *mut A::Handle) => free::<A>(communicator);
    "Comm_disconnect" comm_disconnect<>(communicator: *mut A::Handle) => {
        wait_for_pending(known::<A>(Kind::Comm, communicator.read_unaligned())?)?;
        free::<A>(communicator)
    };
    "Intercomm_create" intercomm_create<>(
        local: A::Handle, leader: c_int, peer: A::Handle, remote_leader: c_int, tag: c_int, to: *mut A::Handle,
    ) on local => intercommunicator::<A>((local, leader), (peer, remote_leader), tag, to);
    "Intercomm_merge" intercomm_merge<>(
        communicator: A::Handle, high: c_int, to: *mut A::Handle,
    ) on communicator => merge::<A>(communicator, high, to);
    "Comm_set_name" comm_set_name<>(communicator: A::Handle, name: *const u8) on communicator => {
        let (number, name) = (known::<A>(Kind::Comm, communicator)?, text_of(name)?);
        local(|process| {
            process.comms.get_mut(number)?.name = String::from_utf8_lossy(name).into_owned();
            Ok(())
        })
    };
    "Comm_get_name" comm_get_name<>(communicator: A::Handle, name: *mut u8, len: *mut c_int) on communicator => {
        let number = known::<A>(Kind::Comm, communicator)?;
        let (text, n) = name_from::<128>(|process| Ok(process.comms.get(number)?.name.as_str()))?;
        put_text(name, A::NAME_ROOM[0], len, &text[..n])
    };
    "Comm_set_info" comm_set_info<>(communicator: A::Handle, hints: A::Handle) on communicator => {
        known::<A>(Kind::Comm, communicator)?;
        known_or_null::<A>(Kind::Info, hints).map(|_| ())
    };
    "Comm_get_info" comm_get_info<>(communicator: A::Handle, hints: *mut A::Handle) on communicator => {
        known::<A>(Kind::Comm, communicator)?;
        info::empty::<A>(hints)
    };
}

/// A list of numbers of the program.
///
/// # Safety
/// The list has so many.
pub unsafe fn ints(at: *const c_int, n: c_int) -> Result<Vec<c_int>, Class> {
    // SAFETY: the caller's promise.
    Ok(unsafe { super::call::list(at, length(n)?) }?.to_vec())
}
