//! What members agree on when they make a communicator: its number, and what each has said.

use std::ffi::c_int;

use talisman_ampi::collective::{self as schedules, Blocks, Call, Member, Place, Schedule, Values};
use talisman_ampi::comm::ContextPair;
use talisman_ampi::engine::{Buffer, Context, Envelope, Mode, Owner, Pattern, Rank, Tag, Token};
use talisman_ampi::objects::{Kept, Kind};
use talisman_ampi::process::Process;
use talisman_ampi::raw;

use super::call::{Outcome, engine, known, local};
use super::collective::{Memory, Side, prepare, run_now};
use super::message::{record, wait_without_status};
use crate::abi::Abi;
use crate::class::{CLASSES, Class};

/// Bytes of so many numbers.
fn bytes(numbers: usize) -> u64 {
    numbers as u64 * 8
}

/// The numbers of the first member, for all of this side.
pub fn from_first<A: Abi>(name: &'static str, communicator: u32, numbers: &mut [i64]) -> Outcome {
    let (count, receive) = (bytes(numbers.len()), numbers.as_mut_ptr() as usize);
    run_now::<A>(name, communicator, Memory { receive, ..Memory::default() }, |_, side| {
        let me = match side {
            Side::One(me) => me,
            Side::Two(sides) => sides.me,
        };
        Ok(schedules::bcast(me, 0, count, &Values::BYTES))
    })
}

/// What each member of the other side says, in their order.
pub fn from_all_there<A: Abi, const N: usize>(
    name: &'static str,
    communicator: u32,
    mine: [i64; N],
) -> Result<Vec<[i64; N]>, Class> {
    let remote =
        engine(|process, _| Ok(process.comms.get(communicator)?.remote_group().ok_or(Class::Comm)?.size()))?;
    let mut theirs = vec![[0i64; N]; remote as usize];
    let memory = Memory { send: mine.as_ptr() as usize, receive: theirs.as_mut_ptr() as usize, op: 0 };
    run_now::<A>(name, communicator, memory, |_, side| {
        let Side::Two(sides) = side else { return Err(Class::Comm) };
        let own = Values::BYTES.span(Place::Send, 0, bytes(N));
        Ok(schedules::inter_allgather(sides, own, &Blocks::even(sides.remote, bytes(N), Values::BYTES)))
    })?;
    Ok(theirs)
}

/// The number of the other side's first member, for all of this side.
fn from_other_side<A: Abi>(name: &'static str, communicator: u32, mine: i64) -> Result<i64, Class> {
    let theirs = from_all_there::<A, 1>(name, communicator, [mine])?;
    theirs.first().map(|[first]| *first).ok_or(Class::Comm)
}

/// What each member of this side says, in their order.
pub fn from_all_here<A: Abi, const N: usize>(
    name: &'static str,
    communicator: u32,
    mine: [i64; N],
) -> Result<Vec<[i64; N]>, Class> {
    gathered::<A, N>(name, communicator, mine, |side| {
        Ok(match side {
            Side::One(me) => me,
            Side::Two(sides) => sides.me,
        })
    })
}

/// What each member of this communicator says, in their order.
pub fn from_all<A: Abi, const N: usize>(
    name: &'static str,
    communicator: u32,
    mine: [i64; N],
) -> Result<Vec<[i64; N]>, Class> {
    gathered::<A, N>(name, communicator, mine, |side| side.one())
}

fn gathered<A: Abi, const N: usize>(
    name: &'static str,
    communicator: u32,
    mine: [i64; N],
    member: impl Fn(Side) -> Result<Member, Class>,
) -> Result<Vec<[i64; N]>, Class> {
    let size = engine(|process, _| Ok(process.comms.get(communicator)?.size()))?;
    let mut all = vec![[0i64; N]; size as usize];
    let memory = Memory { send: mine.as_ptr() as usize, receive: all.as_mut_ptr() as usize, op: 0 };
    run_now::<A>(name, communicator, memory, |_, side| {
        let own = Values::BYTES.span(Place::Send, 0, bytes(N));
        let me = member(side)?;
        Ok(schedules::allgather(me, Some(own), &Blocks::even(me.size, bytes(N), Values::BYTES)))
    })?;
    Ok(all)
}

/// Lists of each member, one after the other.
pub fn lists_of_all<A: Abi>(name: &'static str, communicator: u32, mine: &[i64]) -> Result<Vec<i64>, Class> {
    let lengths = from_all::<A, 1>(name, communicator, [mine.len() as i64])?;
    let mut all = vec![0i64; lengths.iter().map(|[length]| *length as usize).sum()];
    let memory = Memory { send: mine.as_ptr() as usize, receive: all.as_mut_ptr() as usize, op: 0 };
    run_now::<A>(name, communicator, memory, |_, side| {
        let counts: Vec<u64> = lengths.iter().map(|[length]| bytes(*length as usize)).collect();
        let own = Values::BYTES.span(Place::Send, 0, bytes(mine.len()));
        Ok(schedules::allgatherv(side.one()?, Some(own), &Blocks::following(&counts, Values::BYTES)))
    })?;
    Ok(all)
}

/// A number that no other communicator has: all members call this. Between two groups that with the lower first rank
/// gives it.
pub fn new_number<A: Abi>(name: &'static str, communicator: u32) -> Result<u32, Class> {
    let (number, is_ours, has_other_side) = engine(|process, _| {
        let found = process.comms.get(communicator)?;
        let is_first = found.rank() == Some(0);
        let remote_first = found.remote_group().map(|remote| remote.member(0));
        let is_ours = remote_first.is_none_or(|remote| found.group().member(0) < remote);
        let number = if is_first { i64::from(process.comms.contexts.give()?) } else { 0 };
        Ok((number, is_ours, remote_first.is_some()))
    })?;
    let mut numbers = [number];
    from_first::<A>(name, communicator, &mut numbers)?;
    if has_other_side {
        let theirs = from_other_side::<A>(name, communicator, numbers[0])?;
        numbers[0] = if is_ours { numbers[0] } else { theirs };
    }
    Ok(numbers[0] as u32)
}

/// Begins to agree on the number of a communicator that is made of another, as [`new_number`] does. Gives the program's request, which ends
/// when it is known; then [`number_has_come`] is to be called.
pub fn number_later(parent: u32, made: u32) -> Result<u32, Class> {
    // On the rank's heap, until the number has come.
    let number_at = Box::into_raw(Box::new(0i64)) as u64;
    engine(|process, out| {
        let found = process.comms.get(parent)?;
        let is_first = found.rank() == Some(0);
        let is_ours = found.remote_group().is_none_or(|remote| found.group().member(0) < remote.member(0));
        if is_first && is_ours {
            let number = i64::from(process.comms.contexts.give()?);
            // SAFETY: made above, and known to nobody else.
            unsafe { (number_at as *mut i64).write(number) };
        }
        let memory = Memory { receive: number_at as usize, ..Memory::default() };
        let (schedule, call, members) = prepare(process, parent, memory, |_, side| {
            Ok(match side {
                Side::One(me) => schedules::bcast(me, 0, 8, &Values::BYTES),
                Side::Two(sides) => schedules::inter_from_first(sides, is_ours, 8, &Values::BYTES),
            })
        })?;
        let token = process.begin(schedule, call, &members, out);
        let record = record(token, parent, Kept::Duplicate { made, number_at });
        Ok(process.objects.requests.insert(record))
    })
}

/// The number of a communicator is there.
pub fn number_has_come(made: u32, number_at: u64) -> Outcome {
    // SAFETY: made by `number_later`, whose request has ended, and given to nobody else.
    let number = *unsafe { Box::from_raw(number_at as *mut i64) };
    engine(|process, _| {
        process.comms.get_mut(made)?.renumber(number as u32);
        Ok(())
    })
}

/// Whether the other side of an intercommunicator has said yes.
pub fn others_say<A: Abi>(name: &'static str, communicator: u32, yes: bool) -> Result<bool, Class> {
    let mut mine = [i64::from(yes)];
    from_first::<A>(name, communicator, &mut mine)?;
    Ok(from_other_side::<A>(name, communicator, mine[0])? != 0)
}

/// An error as a number that can be sent: 0 is none.
pub fn to_number(outcome: Outcome) -> i64 {
    outcome.err().map_or(0, |class| class as i64 + 1)
}

/// The error of a number.
///
/// # Errors
/// It.
pub fn from_number(number: i64) -> Outcome {
    match usize::try_from(number - 1) {
        Err(_) => Ok(()),
        Ok(at) => Err(CLASSES.get(at).map_or(Class::Intern, |row| row.0)),
    }
}

/// The communicator of one group whose root does something for all, that root, and whether this rank is it.
///
/// # Errors
/// There is no such root, or the communicator is between two groups.
///
/// # Safety
/// The handle is the program's.
pub unsafe fn rooted<A: Abi>(communicator: A::Handle, root: c_int) -> Result<(u32, u32, bool), Class> {
    // SAFETY: the caller's promise.
    let side = unsafe { known::<A>(Kind::Comm, communicator) }?;
    let (rank, size) = engine(|process, _| {
        let found = process.comms.get(side)?;
        let is_of_one = found.remote_group().is_none();
        Ok((found.rank().filter(|_| is_of_one).ok_or(Class::Comm)?, found.size()))
    })?;
    let root = u32::try_from(root).ok().filter(|root| *root < size).ok_or(Class::Root)?;
    Ok((side, root, rank == root))
}

/// Where some ranks agree on something, in a context that others use too.
#[derive(Clone, Copy)]
pub struct Meeting {
    context: Context,
    tag: Tag,
}

impl Meeting {
    /// In a communicator, by a tag of the program: one in the context of its collectives, of which none has it.
    pub fn within(process: &Process, communicator: u32, tag: i32) -> Result<Meeting, Class> {
        let context = process.comms.get(communicator)?.contexts().collective;
        Ok(Meeting { context, tag: -1 - tag.max(0) })
    }

    /// Where there is no communicator, by a text of the program.
    pub fn named(text: &[u8], what: u32) -> Meeting {
        let (context, mut tag) = (ContextPair::GROUPS.collective, 0x811c_9dc5_u32 ^ what);
        for byte in text {
            tag = (tag ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
        Meeting { context, tag: tag as Tag }
    }

    /// The same for these ranks alone: others may have the same text.
    pub fn of(self, ranks: &[Rank]) -> Meeting {
        let bytes: Vec<u8> = ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect();
        Meeting::named(&bytes, self.tag as u32)
    }
}

/// The numbers of one of some ranks, by its place among them, for all of these.
pub fn among<A: Abi>(
    name: &'static str,
    (meeting, members, first): (Meeting, &[Rank], u32),
    numbers: &mut [i64],
) -> Outcome {
    let receive = numbers.as_mut_ptr() as u64;
    let token = engine(|process, out| {
        let rank = process.engine.rank();
        let me = members.iter().position(|member| *member == rank).ok_or(Class::Group)?;
        let me = Member { rank: me as u32, size: members.len() as u32 };
        let schedule: Schedule = schedules::bcast(me, first, bytes(numbers.len()), &Values::BYTES);
        let request = Token { index: 0, generation: 0 };
        let Meeting { context, tag } = meeting;
        let call = Call { context, tag, send: 0, receive, op: 0, request };
        Ok(process.begin(schedule, call, members, out))
    })?;
    wait_without_status::<A>(name, token)
}

/// The members of a communicator, on the rank's heap.
pub fn members_of_comm(communicator: u32) -> Result<Vec<Rank>, Class> {
    let size = local(|process| Ok(process.comms.get(communicator)?.size()))?;
    let mut members = vec![0; size as usize];
    local(|process| {
        members.copy_from_slice(&process.comms.get(communicator)?.group().members());
        Ok(())
    })?;
    Ok(members)
}

/// What the leader of a side and that of another one tell each other: a number for a communicator of both, which the lower
/// one gives, and who is on their sides. Returns the number, and those on the other side.
pub fn leaders(
    name: &'static str,
    (meeting, other): (Meeting, Rank),
    mine: &[i64],
) -> Result<(i64, Vec<i64>), Class> {
    let (rank, number) =
        engine(|process, _| Ok((process.engine.rank(), i64::from(process.comms.contexts.give()?))))?;
    let mut head = [0i64; 2];
    exchange(name, (meeting, other), &[number, mine.len() as i64], &mut head)?;
    let mut theirs = vec![0i64; usize::try_from(head[1]).map_err(|_| Class::Intern)?];
    exchange(name, (meeting, other), mine, &mut theirs)?;
    Ok((if rank < other { number } else { head[0] }, theirs))
}

/// Sends numbers to another rank and receives others from it.
pub fn exchange(
    name: &'static str,
    (Meeting { context, tag }, peer): (Meeting, Rank),
    mine: &[i64],
    theirs: &mut [i64],
) -> Outcome {
    let (from, into) = (mine.as_ptr() as u64, theirs.as_mut_ptr() as u64);
    let (sent, received) = (bytes(mine.len()), bytes(theirs.len()));
    let both = engine(|process: &mut Process, out| {
        let pattern = Pattern { context, source: Some(peer), tag: Some(tag) };
        let receive = process.engine.receive(pattern, Buffer::of_bytes(into, received), Owner::User, out);
        let envelope = Envelope { context, to: peer, tag };
        let buffer = Buffer::of_bytes(from, sent);
        Ok([receive, process.engine.send(Mode::Standard, envelope, buffer, Owner::User, out)])
    })?;
    raw::wait_all(name, &both)?;
    engine(|process, _| {
        for token in both {
            process.engine.test(token)?;
        }
        Ok(())
    })
}
