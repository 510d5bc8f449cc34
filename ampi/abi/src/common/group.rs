//! Groups (MPI-3.1, 6.3).

use std::ffi::c_int;

use talisman_ampi::comm::{Group, GroupError};
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;

use super::call::{Outcome, known, length, list, local, put};
use super::communicator::{comparison, look};
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// A group by its number: 0 has no member, and those of the program follow.
pub fn group_of(process: &Process, number: u32) -> Result<Group, Class> {
    match number.checked_sub(1) {
        None => Ok(Group::of(&[])),
        Some(own) => process.objects.groups.get(own).cloned().ok_or(Class::Group),
    }
}

/// Adds a group; its number.
fn insert(process: &mut Process, group: Group) -> u32 {
    if group.size() == 0 { 0 } else { process.objects.groups.insert(group) + 1 }
}

/// Makes a group, and gives the program its handle.
///
/// # Safety
/// `to` is the program's.
pub unsafe fn make<A: Abi>(
    to: *mut A::Handle,
    from: impl FnOnce(&Process) -> Result<Group, Class>,
) -> Outcome {
    let number = local(|process| {
        let group = from(process)?;
        Ok(insert(process, group))
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Group, number)) }
}

unsafe fn of_two<A: Abi>(
    (one, other): (A::Handle, A::Handle),
    to: *mut A::Handle,
    join: impl FnOnce(&Group, &Group) -> Group,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (one, other) = (known::<A>(Kind::Group, one)?, known::<A>(Kind::Group, other)?);
        make::<A>(to, |process| Ok(join(&group_of(process, one)?, &group_of(process, other)?)))
    }
}

/// Members by their numbers.
unsafe fn of_members<A: Abi>(
    group: A::Handle,
    (count, ranks): (c_int, *const c_int),
    to: *mut A::Handle,
    choose: impl FnOnce(&Group, &[u32]) -> Result<Group, GroupError>,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (group, ranks) = (known::<A>(Kind::Group, group)?, list(ranks, length(count)?)?);
        make::<A>(to, |process| {
            let numbers: Vec<u32> = ranks.iter().map(|rank| *rank as u32).collect();
            choose(&group_of(process, group)?, &numbers).map_err(|_| Class::Rank)
        })
    }
}

/// Members by ranges of a first number, a last one and a step.
unsafe fn of_ranges<A: Abi>(
    group: A::Handle,
    (count, ranges): (c_int, *const [c_int; 3]),
    to: *mut A::Handle,
    choose: impl FnOnce(&Group, &[u32]) -> Result<Group, GroupError>,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (group, ranges) = (known::<A>(Kind::Group, group)?, list(ranges, length(count)?)?);
        make::<A>(to, |process| {
            let ranges: Vec<_> =
                ranges.iter().map(|[first, last, step]| (*first as u32, *last as u32, *step)).collect();
            let group = group_of(process, group)?;
            let numbers = group.ranges(&ranges).map_err(|_| Class::Arg)?;
            choose(&group, &numbers).map_err(|_| Class::Rank)
        })
    }
}

/// The numbers that members have in another group.
unsafe fn translate<A: Abi>(
    (one, other): (A::Handle, A::Handle),
    count: c_int,
    ranks: *const c_int,
    translated: *mut c_int,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (one, other) = (known::<A>(Kind::Group, one)?, known::<A>(Kind::Group, other)?);
        let ranks = list(ranks, length(count)?)?;
        local(|process| {
            let (one, other) = (group_of(process, one)?, group_of(process, other)?);
            for (at, rank) in ranks.iter().enumerate() {
                let number = match *rank {
                    nobody if nobody == A::PROC_NULL => A::PROC_NULL,
                    rank if rank < 0 || rank as u32 >= one.size() => return Err(Class::Rank),
                    rank => one.translate(rank as u32, &other).map_or(A::UNDEFINED, |number| number as c_int),
                };
                put(translated.add(at), number)?;
            }
            Ok(())
        })
    }
}

unsafe fn of<A: Abi, T: Copy>(group: A::Handle, at: impl FnOnce(&Process, &Group) -> T) -> Result<T, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Group, group) }?;
    local(|process| Ok(at(process, &group_of(process, number)?)))
}

super::calls! {
    "Comm_group" comm_group<>(communicator: A::Handle, group: *mut A::Handle) on communicator => {
        let number = known::<A>(Kind::Comm, communicator)?;
        make::<A>(group, |process| Ok(process.comms.get(number)?.group().clone()))
    };
    "Comm_remote_group" comm_remote_group<>(communicator: A::Handle, group: *mut A::Handle) on communicator => {
        look::<A, _>(communicator, |found| found.remote_group().map(|_| ()).ok_or(Class::Comm))?;
        let number = known::<A>(Kind::Comm, communicator)?;
        make::<A>(group, |process| process.comms.get(number)?.remote_group().cloned().ok_or(Class::Comm))
    };
    "Group_size" group_size<>(group: A::Handle, size: *mut c_int) => {
        put(size, of::<A, _>(group, |_, group| group.size())? as c_int)
    };
    "Group_rank" group_rank<>(group: A::Handle, rank: *mut c_int) => {
        let number = of::<A, _>(group, |process, group| group.rank_of(process.engine.rank()))?;
        put(rank, number.map_or(A::UNDEFINED, |number| number as c_int))
    };
    "Group_compare" group_compare<>(one: A::Handle, other: A::Handle, result: *mut c_int) => {
        let (one, other) = (known::<A>(Kind::Group, one)?, known::<A>(Kind::Group, other)?);
        let found = local(|process| Ok(group_of(process, one)?.compare(&group_of(process, other)?)))?;
        put(result, comparison::<A>(found))
    };
    "Group_translate_ranks" group_translate_ranks<>(
        one: A::Handle, count: c_int, ranks: *const c_int, other: A::Handle, translated: *mut c_int,
    ) => translate::<A>((one, other), count, ranks, translated);
    "Group_union" group_union<>(one: A::Handle, other: A::Handle, to: *mut A::Handle) => {
        of_two::<A>((one, other), to, Group::union)
    };
    "Group_intersection" group_intersection<>(one: A::Handle, other: A::Handle, to: *mut A::Handle) => {
        of_two::<A>((one, other), to, Group::intersection)
    };
    "Group_difference" group_difference<>(one: A::Handle, other: A::Handle, to: *mut A::Handle) => {
        of_two::<A>((one, other), to, Group::difference)
    };
    "Group_incl" group_incl<>(group: A::Handle, count: c_int, ranks: *const c_int, to: *mut A::Handle) => {
        of_members::<A>(group, (count, ranks), to, Group::include)
    };
    "Group_excl" group_excl<>(group: A::Handle, count: c_int, ranks: *const c_int, to: *mut A::Handle) => {
        of_members::<A>(group, (count, ranks), to, Group::exclude)
    };
    "Group_range_incl" group_range_incl<>(
        group: A::Handle, count: c_int, ranges: *const [c_int; 3], to: *mut A::Handle,
    ) => of_ranges::<A>(group, (count, ranges), to, Group::include);
    "Group_range_excl" group_range_excl<>(
        group: A::Handle, count: c_int, ranges: *const [c_int; 3], to: *mut A::Handle,
    ) => of_ranges::<A>(group, (count, ranges), to, Group::exclude);
    "Group_free" group_free<>(group: *mut A::Handle) => {
        let handle = group.read_unaligned();
        let number = known::<A>(Kind::Group, handle)?;
        local(|process| match number.checked_sub(1) {
            // Programs free the empty one as any other.
            None => Ok(()),
            Some(own) => process.objects.groups.remove(own).map(drop).ok_or(Class::Group),
        })?;
        A::forget(Kind::Group, number, handle);
        put(group, A::handle(Kind::Group, NULL))
    };
}
