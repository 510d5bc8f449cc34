//! Ranks that are started while the job runs (MPI-4.0, 11.8).
//!
//! The root has numbers for them given by the rank that keeps names (`talisman_ampi::ports`), so no two have the same. They
//! are made with a world of their own and with the communicator to those who have started them, and begin when all can.

use std::ffi::{c_char, c_int};

use talisman_ampi::api::Universe;
use talisman_ampi::comm::{Group, Parent, World};
use talisman_ampi::engine::Rank;
use talisman_ampi::objects::Kind;
use talisman_ampi::ports::{Answer, KEEPER, Wish};
use talisman_ampi::rank::Command;
use talisman_ampi::raw;

use super::agreement::{from_number, members_of_comm, rooted, to_number};
use super::call::{Outcome, done, known_or_null, list, local};
use super::communicator::{between, text_of, told_by_leader};
use super::info;
use super::ports::ask;
use crate::abi::{Abi, NULL};
use crate::class::Class;

/// A list of texts of the program, whose end is a null one.
unsafe fn texts(mut at: *const *const c_char) -> Result<Vec<Vec<u8>>, Class> {
    let mut all = Vec::new();
    // SAFETY: the caller's promise.
    unsafe {
        while !at.is_null() && !at.read_unaligned().is_null() {
            all.push(text_of(at.read_unaligned().cast())?.to_vec());
            at = at.add(1);
        }
    }
    Ok(all)
}

/// One of the commands of a program: name, arguments, how many ranks, hints.
unsafe fn command_of<A: Abi>(
    name: *const c_char,
    arguments: *const *const c_char,
    (ranks, hints): (c_int, A::Handle),
) -> Result<Command, Class> {
    // SAFETY: the caller's promise.
    unsafe {
        let mut words = vec![text_of(name.cast())?.to_vec()];
        words.append(&mut texts(arguments)?);
        let hints = match known_or_null::<A>(Kind::Info, hints)? {
            None => Vec::new(),
            Some(_) => info::all::<A>(hints)?,
        };
        Ok(Command { words, hints, ranks: u32::try_from(ranks).map_err(|_| Class::Arg)? })
    }
}

/// What a rank reads that cannot start others.
fn complain(name: &str, why: &str) {
    if let Some(universe) = Universe::of_caller() {
        writeln!(universe.errors(), "{name}: {why}");
    }
}

/// What the root does: the ranks are made, and begin. The first of them, and the number of the communicator with them.
fn start<A: Abi>(name: &'static str, side: u32, commands: &[Command]) -> Result<(Rank, u32), Class> {
    let size = commands.iter().try_fold(0u32, |sum, command| sum.checked_add(command.ranks));
    let size = size.filter(|size| *size <= c_int::MAX as u32).ok_or(Class::Arg)?;
    let first = match ask::<A>(name, KEEPER, || Wish::Ranks(size))? {
        Answer::Ranks(first) => first,
        Answer::NoRanks(left) => {
            complain(name, &format!("{size} ranks are to be started, and {left} more can be in this job"));
            return Err(Class::Spawn);
        }
        _ => return Err(Class::Intern),
    };
    let members = members_of_comm(side)?;
    let (number, ranks, more) = local(|process| {
        Ok((process.comms.contexts.give()?, process.comms.ranks_at_start(), process.comms.more()))
    })?;
    let parent = Some(Parent { group: Group::of(&members), number });
    let world = World { first, size, ranks, more, parent };
    match raw::start(name, &world, commands)? {
        Ok(()) => Ok((first, number)),
        Err(why) => {
            complain(name, &why);
            Err(Class::Spawn)
        }
    }
}

/// All of a communicator come to have one with the ranks that its root starts; or each hears what went wrong there.
unsafe fn spawn<A: Abi>(
    name: &'static str,
    (root, communicator): (c_int, A::Handle),
    commands: impl FnOnce() -> Result<Vec<Command>, Class>,
    (to, codes): (*mut A::Handle, *mut c_int),
) -> Outcome {
    // SAFETY: the caller's promise.
    let (side, root, is_root) = unsafe { rooted::<A>(communicator, root) }?;
    let mut head = [0i64; 4];
    if is_root {
        let commands = commands();
        let ranks = commands.iter().flatten().map(|command| i64::from(command.ranks)).sum();
        let started = commands.and_then(|commands| start::<A>(name, side, &commands));
        head = match started {
            Ok((first, number)) => [0, ranks, i64::from(first), i64::from(number)],
            Err(class) => [to_number(Err(class)), ranks, 0, 0],
        };
    }
    told_by_leader::<A>(name, side, root, &mut head)?;
    let [failure, ranks, first, number] = head;
    let outcome = from_number(failure);
    let code = outcome.err().map_or(0, A::code);
    if !codes.is_null() {
        // SAFETY: the caller's promise.
        (0..ranks).for_each(|at| unsafe { codes.offset(at as isize).write_unaligned(code) });
    }
    outcome?;
    let born: Vec<i64> = (first..first + ranks).collect();
    // SAFETY: the caller's promise.
    unsafe { between::<A>(side, (number, &born), to) }
}

/// `MPI_Comm_spawn`.
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe extern "C" fn comm_spawn<A: Abi>(
    command: *const c_char,
    arguments: *const *const c_char,
    ranks: c_int,
    hints: A::Handle,
    root: c_int,
    communicator: A::Handle,
    to: *mut A::Handle,
    codes: *mut c_int,
) -> c_int {
    const NAME: &str = "MPI_Comm_spawn";
    let _traced = raw::TracedCall::begin(NAME);
    // SAFETY: the caller's promise.
    unsafe {
        let commands = || Ok(vec![command_of::<A>(command, arguments, (ranks, hints))?]);
        let outcome = spawn::<A>(NAME, (root, communicator), commands, (to, codes));
        done::<A>(NAME, communicator, outcome)
    }
}

/// `MPI_Comm_spawn_multiple`.
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe extern "C" fn comm_spawn_multiple<A: Abi>(
    count: c_int,
    names: *const *const c_char,
    arguments: *const *const *const c_char,
    ranks: *const c_int,
    hints: *const A::Handle,
    root: c_int,
    communicator: A::Handle,
    to: *mut A::Handle,
    codes: *mut c_int,
) -> c_int {
    const NAME: &str = "MPI_Comm_spawn_multiple";
    let _traced = raw::TracedCall::begin(NAME);
    // SAFETY: the caller's promise.
    unsafe {
        let commands = || {
            let count = usize::try_from(count).ok().filter(|count| *count > 0).ok_or(Class::Arg)?;
            let (names, ranks, hints) = (list(names, count)?, list(ranks, count)?, list(hints, count)?);
            let arguments_of = |at: usize| match arguments.is_null() {
                true => std::ptr::null(),
                false => arguments.add(at).read_unaligned(),
            };
            let command = |at: usize| command_of::<A>(names[at], arguments_of(at), (ranks[at], hints[at]));
            (0..count).map(command).collect()
        };
        let outcome = spawn::<A>(NAME, (root, communicator), commands, (to, codes));
        done::<A>(NAME, communicator, outcome)
    }
}

/// Functions of this chapter that are not as the others: names and addresses.
pub fn others<A: Abi>() -> Vec<(&'static str, usize)> {
    vec![
        ("MPI_Comm_spawn", comm_spawn::<A> as *const () as usize),
        ("MPI_Comm_spawn_multiple", comm_spawn_multiple::<A> as *const () as usize),
    ]
}

super::calls! {
    "Comm_get_parent" comm_get_parent<>(parent: *mut A::Handle) => {
        let number = local(|process| Ok(process.comms.parent()))?;
        super::call::put(parent, A::handle(Kind::Comm, number.unwrap_or(NULL)))
    };
}
