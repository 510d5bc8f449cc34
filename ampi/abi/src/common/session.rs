//! Sessions: MPI without `MPI_Init` (MPI-4.0, 11.3).
//!
//! A session is a number and an error handler: ranks know each other from their start. So beginning one and ending it are
//! local, and any number may be open at once, with `MPI_Init` or without it.

use std::ffi::{CStr, c_int};

use talisman_ampi::comm::{Communicator, ContextPair, Group};
use talisman_ampi::objects::{Info, Kept, Kind, Session};
use talisman_ampi::process::Process;
use talisman_ampi::raw::TracedCall;

use super::agreement::{Meeting, among, leaders};
use super::call::{
    Outcome, call_handler, code_of, done_anywhere, engine, fatal, handler, known, known_or_null, local, put,
};
use super::communicator::text_of;
use super::environment::{granted_level, wtime};
use super::errhandler::{create, hold, words};
use super::group::{group_of, make as make_group};
use super::info::{make as make_info, value_of};
use super::io;
use super::message::record;
use crate::abi::{Abi, NULL};
use crate::class::Class;
use crate::hooks::hooks;

/// Process sets that are always there.
const SETS: [&CStr; 2] = [c"mpi://WORLD", c"mpi://SELF"];

/// Names of levels of threads, as hints have them.
const LEVELS: [&str; 4] =
    ["MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"];

fn session(process: &mut Process, number: u32) -> Result<&mut Session, Class> {
    process.objects.sessions.get_mut(number).ok_or(Class::Session)
}

/// The number of a session that is open.
unsafe fn open<A: Abi>(handle: A::Handle) -> Result<u32, Class> {
    // SAFETY: the caller's promise.
    let number = unsafe { known::<A>(Kind::Session, handle) }?;
    local(|process| session(process, number).map(|_| number))
}

/// What a function returns to the program: an error is raised on a session.
///
/// # Safety
/// As for [`Abi::number`].
pub unsafe fn done<A: Abi>(name: &'static str, handle: A::Handle, outcome: Outcome) -> c_int {
    let Err(class) = outcome else { return 0 };
    // SAFETY: the caller's promise.
    let found = unsafe { open::<A>(handle) }
        .and_then(|number| Ok((number, local(|process| Ok(session(process, number)?.handler))?)));
    match found {
        Ok((number, chosen)) => raise::<A>(name, (Kind::Session, number), chosen, code_of::<A>(class)),
        Err(_) => done_anywhere::<A>(name, outcome),
    }
}

/// Calls an error handler with the handle of an object. Returns the code.
fn raise<A: Abi>(name: &str, on: (Kind, u32), chosen: u32, code: c_int) -> c_int {
    let found = local(|process| {
        let own =
            chosen.checked_sub(handler::FIRST).and_then(|own| process.objects.handlers.get(own).copied());
        Ok((own, process.engine.rank()))
    });
    match found {
        _ if chosen == handler::RETURN => {}
        Ok((Some(own), _)) => return call_handler::<A>(own, on, code),
        Ok((None, rank)) => fatal(code, &format!("rank {rank}: {name} failed: {}", words::<A>(code))),
        Err(_) => fatal(code, &format!("{name} failed: {}", words::<A>(code))),
    }
    code
}

/// The level of threads that a program asks for by a hint, one thread at a time by itself.
unsafe fn level_of<A: Abi>(hints: A::Handle) -> Result<c_int, Class> {
    let mut value = [0u8; 64];
    // SAFETY: the caller's promise.
    let found = match unsafe { known_or_null::<A>(Kind::Info, hints) }? {
        None => None,
        // SAFETY: the same.
        Some(_) => unsafe { value_of::<A>(hints, b"thread_level", &mut value) }?,
    };
    let asked = found
        .and_then(|len| value.get(..len))
        .and_then(|value| LEVELS.iter().position(|level| level.as_bytes().eq_ignore_ascii_case(value)));
    let [_, _, serialized, _] = A::THREADS;
    Ok(granted_level::<A>(asked.map_or(serialized, |level| A::THREADS[level])))
}

/// A process set, by its name.
unsafe fn set_of(name: *const u8) -> Result<usize, Class> {
    // SAFETY: the caller's promise.
    let name = unsafe { text_of(name) }?;
    SETS.iter().position(|set| set.to_bytes().eq_ignore_ascii_case(name)).ok_or(Class::Arg)
}

fn members(process: &Process, set: usize) -> Result<Group, Class> {
    Ok(process.comms.get(set as u32)?.group().clone())
}

/// Copies the name of a set and its length with a zero at its end; the length alone if there is no room.
unsafe fn name_of(n: c_int, room: *mut c_int, to: *mut u8) -> Outcome {
    let name = usize::try_from(n).ok().and_then(|n| SETS.get(n)).ok_or(Class::Arg)?.to_bytes_with_nul();
    // SAFETY: the caller's promise.
    unsafe {
        let copied = usize::try_from(room.read_unaligned()).map_err(|_| Class::Arg)?.min(name.len());
        if copied > 0 {
            to.copy_from_nonoverlapping(name.as_ptr(), copied - 1);
            to.add(copied - 1).write(0);
        }
        put(room, name.len() as c_int)
    }
}

/// The members of a group, on the rank's heap.
fn members_of(group: u32) -> Result<Vec<u32>, Class> {
    let mut members = vec![0u32; local(|process| Ok(group_of(process, group)?.size()))? as usize];
    local(|process| {
        members.copy_from_slice(&group_of(process, group)?.members());
        Ok(())
    })?;
    Ok(members)
}

/// A number for a communicator, which this rank gives.
fn give() -> Result<i64, Class> {
    local(|process| Ok(i64::from(process.comms.contexts.give()?)))
}

fn own_rank() -> Result<u32, Class> {
    local(|process| Ok(process.engine.rank()))
}

/// Adds a communicator with this error handler, and gives the program its handle.
unsafe fn add<A: Abi>(chosen: u32, to: *mut A::Handle, made: impl FnOnce(u32) -> Communicator) -> Outcome {
    let number = local(|process| {
        let made = made(process.engine.rank());
        let number = process.comms.insert(made);
        process.objects.handlers_of.insert(number, chosen);
        Ok(number)
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(to, A::handle(Kind::Comm, number)) }
}

/// What this is for, in the tags of groups that meet: the two steps of a communicator of two groups, and one of one.
mod step {
    pub const ONE: u32 = 0;
    pub const LEADERS: u32 = 1;
    pub const SIDE: u32 = 2;
}

/// The first of a group gives the number of a communicator.
unsafe fn from_group<A: Abi>(group: A::Handle, text: *const u8, chosen: u32, to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    let (members, text) = unsafe { (members_of(known::<A>(Kind::Group, group)?)?, text_of(text)?) };
    let Some(first) = members.first() else {
        // SAFETY: the caller's promise.
        return unsafe { put(to, A::handle(Kind::Comm, NULL)) };
    };
    let mut number = [if own_rank()? == *first { give()? } else { 0 }];
    let meeting = Meeting::named(text, step::ONE).of(&members);
    among::<A>("MPI_Comm_create_from_group", (meeting, &members, 0), &mut number)?;
    // SAFETY: the caller's promise.
    unsafe {
        add::<A>(chosen, to, |rank| {
            Communicator::new(Group::of(&members), ContextPair::of(number[0] as u32), rank)
        })
    }
}

/// The leaders of two groups tell each other who is in them, and then their groups. The lower one gives the number.
unsafe fn from_groups<A: Abi>(
    (side, leader): (A::Handle, c_int),
    (others, other_leader): (A::Handle, c_int),
    (text, chosen): (*const u8, u32),
    to: *mut A::Handle,
) -> Outcome {
    const NAME: &str = "MPI_Intercomm_create_from_groups";
    // SAFETY: the caller's promise.
    let (side, text) = unsafe { (members_of(known::<A>(Kind::Group, side)?)?, text_of(text)?) };
    let place = u32::try_from(leader).map_err(|_| Class::Rank)?;
    let (leader, rank) = (*side.get(place as usize).ok_or(Class::Rank)?, own_rank()?);
    let (mut head, mut theirs) = ([0i64; 2], Vec::new());
    if rank == leader {
        // SAFETY: the caller's promise. They say something to the leader alone.
        let others = unsafe { members_of(known::<A>(Kind::Group, others)?) }?;
        let other = usize::try_from(other_leader).ok().and_then(|at| others.get(at).copied());
        let other = other.filter(|other| !side.contains(other)).ok_or(Class::Rank)?;
        let mine: Vec<i64> = side.iter().map(|member| i64::from(*member)).collect();
        (head[0], theirs) = leaders(NAME, (Meeting::named(text, step::LEADERS), other), &mine)?;
        head[1] = theirs.len() as i64;
    }
    let meeting = Meeting::named(text, step::SIDE).of(&side);
    among::<A>(NAME, (meeting, &side, place), &mut head)?;
    theirs.resize(usize::try_from(head[1]).map_err(|_| Class::Intern)?, 0);
    among::<A>(NAME, (meeting, &side, place), &mut theirs)?;
    let theirs: Vec<u32> = theirs.iter().map(|member| *member as u32).collect();
    // SAFETY: the caller's promise.
    unsafe {
        add::<A>(chosen, to, |rank| {
            let (side, theirs) = (Group::of(&side), Group::of(&theirs));
            Communicator::between(side, theirs, ContextPair::of(head[0] as u32), rank)
        })
    }
}

/// Calls what makes a communicator without another. Errors are raised on the handler that it would have.
unsafe fn making<A: Abi>(name: &'static str, chosen: A::Handle, make: impl FnOnce(u32) -> Outcome) -> c_int {
    let _traced = TracedCall::begin(name);
    // SAFETY: the caller's promise.
    match unsafe { known::<A>(Kind::Errhandler, chosen) } {
        Err(class) => done_anywhere::<A>(name, Err(class)),
        Ok(chosen) => match make(chosen) {
            Ok(()) => 0,
            Err(class) => raise::<A>(name, (Kind::Comm, NULL), chosen, A::code(class)),
        },
    }
}

/// `MPI_Comm_create_from_group`.
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe extern "C" fn comm_create_from_group<A: Abi>(
    group: A::Handle,
    text: *const u8,
    _info: A::Handle,
    chosen: A::Handle,
    to: *mut A::Handle,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        making::<A>("MPI_Comm_create_from_group", chosen, |chosen| from_group::<A>(group, text, chosen, to))
    }
}

/// `MPI_Intercomm_create_from_groups`.
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe extern "C" fn intercomm_create_from_groups<A: Abi>(
    group: A::Handle,
    leader: c_int,
    others: A::Handle,
    other_leader: c_int,
    text: *const u8,
    _info: A::Handle,
    chosen: A::Handle,
    to: *mut A::Handle,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        making::<A>("MPI_Intercomm_create_from_groups", chosen, |chosen| {
            from_groups::<A>((group, leader), (others, other_leader), (text, chosen), to)
        })
    }
}

/// Functions of this chapter that are not as the others: names and addresses.
pub fn others<A: Abi>() -> Vec<(&'static str, usize)> {
    vec![
        ("MPI_Comm_create_from_group", comm_create_from_group::<A> as *const () as usize),
        ("MPI_Intercomm_create_from_groups", intercomm_create_from_groups::<A> as *const () as usize),
    ]
}

/// Whether a program has a session open, told to who embeds this.
fn tell() -> Outcome {
    let is_open = local(|process| Ok(!process.objects.sessions.is_empty()))?;
    (hooks().session)(is_open);
    Ok(())
}

/// Files that nobody uses any more are deleted when all of MPI has ended.
fn delete_spent() -> Outcome {
    let is_last = local(|process| {
        let life = process.objects.life;
        Ok(process.objects.sessions.is_empty() && (!life.has_begun || life.has_ended))
    })?;
    if is_last {
        io::shared_pointer::delete_spent();
    }
    Ok(())
}

super::calls! {
    "Session_init" session_init<>(hints: A::Handle, chosen: A::Handle, to: *mut A::Handle) => {
        let (threads, chosen) = (level_of::<A>(hints)?, known::<A>(Kind::Errhandler, chosen)?);
        let made = Session { handler: chosen, threads, buffer: None };
        let number = local(|process| Ok(process.objects.sessions.insert(made)))?;
        wtime();
        tell()?;
        put(to, A::handle(Kind::Session, number))
    };
    "Session_finalize" session_finalize<>(handle: *mut A::Handle) => {
        let former = handle.read_unaligned();
        let number = open::<A>(former)?;
        local(|process| process.objects.sessions.remove(number).map(drop).ok_or(Class::Session))?;
        tell()?;
        delete_spent()?;
        A::forget(Kind::Session, number, former);
        put(handle, A::handle(Kind::Session, NULL))
    };
    "Session_get_info" session_get_info<>(handle: A::Handle, to: *mut A::Handle) by handle => {
        let number = open::<A>(handle)?;
        make_info::<A>(to, |process| {
            let level = session(process, number)?.threads;
            let level = A::THREADS.iter().position(|one| *one == level).map_or("", |at| LEVELS[at]);
            let mut info = Info::default();
            info.set(b"thread_level", level.as_bytes());
            Ok(info)
        })
    };
    "Session_get_num_psets" session_get_num_psets<>(
        handle: A::Handle, _info: A::Handle, n: *mut c_int,
    ) by handle => {
        open::<A>(handle)?;
        put(n, SETS.len() as c_int)
    };
    "Session_get_nth_pset" session_get_nth_pset<>(
        handle: A::Handle, _info: A::Handle, n: c_int, room: *mut c_int, name: *mut u8,
    ) by handle => {
        open::<A>(handle)?;
        name_of(n, room, name)
    };
    "Session_get_pset_info" session_get_pset_info<>(
        handle: A::Handle, name: *const u8, to: *mut A::Handle,
    ) by handle => {
        open::<A>(handle)?;
        let set = set_of(name)?;
        make_info::<A>(to, |process| {
            let mut info = Info::default();
            info.set(b"mpi_size", members(process, set)?.size().to_string().as_bytes());
            Ok(info)
        })
    };
    "Group_from_session_pset" group_from_session_pset<>(
        handle: A::Handle, name: *const u8, to: *mut A::Handle,
    ) by handle => {
        open::<A>(handle)?;
        let set = set_of(name)?;
        make_group::<A>(to, |process| members(process, set))
    };
    "Session_create_errhandler" session_create_errhandler<>(function: u64, to: *mut A::Handle) => {
        create::<A>(function, to)
    };
    "Session_set_errhandler" session_set_errhandler<>(handle: A::Handle, to: A::Handle) by handle => {
        let (number, chosen) = (open::<A>(handle)?, known::<A>(Kind::Errhandler, to)?);
        local(|process| {
            session(process, number)?.handler = chosen;
            Ok(())
        })
    };
    "Session_get_errhandler" session_get_errhandler<>(handle: A::Handle, to: *mut A::Handle) by handle => {
        let number = open::<A>(handle)?;
        let chosen = local(|process| {
            let chosen = session(process, number)?.handler;
            hold(process, chosen);
            Ok(chosen)
        })?;
        put(to, A::handle(Kind::Errhandler, chosen))
    };
    "Session_call_errhandler" session_call_errhandler<>(handle: A::Handle, code: c_int) by handle => {
        let number = open::<A>(handle)?;
        let chosen = local(|process| Ok(session(process, number)?.handler))?;
        raise::<A>("MPI_Session_call_errhandler", (Kind::Session, number), chosen, code);
        Ok(())
    };
    // Messages are copied when they are sent: none is in the buffer.
    "Session_attach_buffer" session_attach_buffer<N>(handle: A::Handle, at: usize, bytes: N) by handle => {
        let number = open::<A>(handle)?;
        let bytes = u64::try_from(bytes.get()).map_err(|_| Class::Arg)?;
        local(|process| {
            let buffer = &mut session(process, number)?.buffer;
            if buffer.is_some() {
                return Err(Class::Buffer);
            }
            *buffer = Some((at as u64, bytes));
            Ok(())
        })
    };
    "Session_detach_buffer" session_detach_buffer<N>(
        handle: A::Handle, at: *mut usize, bytes: *mut N,
    ) by handle => {
        let number = open::<A>(handle)?;
        let (address, len) = local(|process| session(process, number)?.buffer.take().ok_or(Class::Buffer))?;
        put(at, address as usize)?;
        put(bytes, N::of(len as i64).ok_or(Class::Count)?)
    };
    "Session_flush_buffer" session_flush_buffer<>(handle: A::Handle) by handle => {
        open::<A>(handle).map(|_| ())
    };
    "Session_iflush_buffer" session_iflush_buffer<>(handle: A::Handle, request: *mut A::Handle) by handle => {
        open::<A>(handle)?;
        let number = engine(|process, _| {
            let nothing = process.engine.null();
            Ok(process.objects.requests.insert(record(nothing, 0, Kept::Send)))
        })?;
        put(request, A::handle(Kind::Request, number))
    };
}
