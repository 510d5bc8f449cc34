//! Ports, and names of services (MPI-4.0, 11.9): ranks without a communicator together come to one of two groups.
//!
//! The roots meet at a port, which the rank keeps that has opened it (`talisman_ampi::ports`). Then they tell each other who
//! is on their sides, as leaders of an `MPI_Intercomm_create` do.

use std::ffi::c_int;

use talisman_ampi::comm::{Communicators, ContextPair};
use talisman_ampi::engine::{Buffer, Owner, Pattern, Rank};
use talisman_ampi::objects::Kind;
use talisman_ampi::ports::{Answer, Ask, KEEPER, NAME_MAX, Port, Wish};
use talisman_ampi::raw;

use super::agreement::{Meeting, from_number, leaders, members_of_comm, rooted, to_number};
use super::call::{Outcome, engine, known_or_null, local, put};
use super::communicator::{between, text_of, told_by_leader};
use super::message::wait_without_status;
use crate::abi::Abi;
use crate::class::Class;

/// Asks a rank for something of its ports, or of the names that it keeps.
pub fn ask<A: Abi>(name: &'static str, of: Rank, wish: impl FnOnce() -> Wish) -> Result<Answer, Class> {
    let mut bytes = [0u8; Answer::LEN];
    let into = Buffer::of_bytes(bytes.as_mut_ptr() as u64, Answer::LEN as u64);
    let token = engine(|process, out| {
        let ContextPair { user, collective } = ContextPair::PORTS;
        let answer = process.ports.next_tag();
        let pattern = Pattern { context: collective, source: Some(of), tag: Some(answer) };
        let receive = process.engine.receive(pattern, into, Owner::User, out);
        process.engine.ask((of, user), Ask { wish: wish(), answer }, out);
        Ok(receive)
    })?;
    wait_without_status::<A>(name, token)?;
    Answer::of_bytes(&bytes).ok_or(Class::Intern)
}

/// A port that a rank of this job has opened at some time.
unsafe fn port_of(name: *const u8) -> Result<Port, Class> {
    // SAFETY: the caller's promise.
    let name = unsafe { text_of(name) }?;
    local(|process| Port::of_name(name, process.ports.mark()).ok_or(Class::Port))
}

/// Writes the name of a port.
unsafe fn put_port(port: Port, to: *mut u8) -> Outcome {
    let name = local(|process| {
        let (mut room, text) = ([0u8; NAME_MAX], port.name(process.ports.mark()));
        room.iter_mut().zip(text.bytes()).for_each(|(place, byte)| *place = byte);
        Ok(room)
    })?;
    if to.is_null() {
        return Err(Class::Arg);
    }
    let len = name.iter().position(|byte| *byte == 0).unwrap_or(NAME_MAX - 1);
    // SAFETY: the caller's promise: programs have at least so much room.
    unsafe { to.copy_from_nonoverlapping(name.as_ptr(), len + 1) };
    Ok(())
}

/// What the root of a side does: it waits at the port for another one. Gives a number for their communicator, and who is on
/// the other side.
unsafe fn at_port<A: Abi>(
    name: &'static str,
    side: u32,
    (port, hints, accepts): (*const u8, A::Handle, bool),
) -> Result<(i64, Vec<i64>), Class> {
    // SAFETY: the caller's promise.
    let port = unsafe {
        known_or_null::<A>(Kind::Info, hints)?;
        port_of(port)?
    };
    let wish = || if accepts { Wish::Accept(port.number) } else { Wish::Connect(port.number) };
    let Answer::Met { peer, meeting } = ask::<A>(name, port.owner, wish)? else { return Err(Class::Port) };
    let mine: Vec<i64> = members_of_comm(side)?.into_iter().map(i64::from).collect();
    let numbers = [port.owner, port.number, meeting].map(u32::to_le_bytes);
    leaders(name, (Meeting::named(numbers.as_flattened(), 0), peer), &mine)
}

/// All of a communicator come to be one side of another; or each hears what went wrong at the root.
unsafe fn meet<A: Abi>(
    name: &'static str,
    (port, hints, accepts): (*const u8, A::Handle, bool),
    (root, communicator): (c_int, A::Handle),
    to: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (side, root, is_root) = unsafe { rooted::<A>(communicator, root) }?;
    let (mut head, mut theirs) = ([0i64; 3], Vec::new());
    if is_root {
        // SAFETY: the caller's promise. They say something to the root alone.
        match unsafe { at_port::<A>(name, side, (port, hints, accepts)) } {
            Ok((number, others)) => (head, theirs) = ([0, number, others.len() as i64], others),
            Err(class) => head[0] = to_number(Err(class)),
        }
    }
    told_by_leader::<A>(name, side, root, &mut head)?;
    let [failure, number, others] = head;
    from_number(failure)?;
    theirs.resize(usize::try_from(others).map_err(|_| Class::Intern)?, 0);
    told_by_leader::<A>(name, side, root, &mut theirs)?;
    // SAFETY: the caller's promise.
    unsafe { between::<A>(side, (number, &theirs), to) }
}

/// What each side of a socket says to the other (`MPI_Comm_join`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Greeting {
    /// That of the job.
    mark: u64,
    rank: Rank,
    /// How often this rank has greeted somebody.
    number: u32,
}

impl Greeting {
    /// What it begins with, so that something else is noticed.
    const START: [u8; 8] = *b"talisman";
    const LEN: usize = 24;

    fn to_bytes(self) -> [u8; Greeting::LEN] {
        let mut bytes = [0; Greeting::LEN];
        bytes[..8].copy_from_slice(&Greeting::START);
        bytes[8..16].copy_from_slice(&self.mark.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.rank.to_le_bytes());
        bytes[20..].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }

    fn of_bytes(bytes: &[u8; Greeting::LEN]) -> Option<Greeting> {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let mark = u64::from(word(8)) | u64::from(word(12)) << 32;
        bytes.starts_with(&Greeting::START).then(|| Greeting { mark, rank: word(16), number: word(20) })
    }
}

/// Repeats what is done with a socket until it is done with all bytes. While that waits, others have their turns: the other
/// side may be one of them.
fn with_all(len: usize, mut step: impl FnMut(usize) -> isize) -> Outcome {
    let mut done = 0;
    while done < len {
        match step(done) {
            0 => return Err(Class::Arg),
            more if more > 0 => done += more as usize,
            _ => match std::io::Error::last_os_error().kind() {
                std::io::ErrorKind::Interrupted => {}
                std::io::ErrorKind::WouldBlock => raw::yield_now(),
                _ => return Err(Class::Arg),
            },
        }
    }
    Ok(())
}

/// Says this over a socket, and hears the same from the other side.
fn greet(socket: c_int, mine: Greeting) -> Result<Option<Greeting>, Class> {
    let (mine, mut theirs) = (mine.to_bytes(), [0u8; Greeting::LEN]);
    with_all(Greeting::LEN, |done| {
        let rest = &mine[done..];
        // SAFETY: as many bytes as there are.
        unsafe {
            libc::send(socket, rest.as_ptr().cast(), rest.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
        }
    })?;
    with_all(Greeting::LEN, |done| {
        let rest = &mut theirs[done..];
        // SAFETY: room for as many bytes.
        unsafe { libc::recv(socket, rest.as_mut_ptr().cast(), rest.len(), libc::MSG_DONTWAIT) }
    })?;
    Ok(Greeting::of_bytes(&theirs))
}

/// Two ranks that have a socket between them come to have a communicator; none if the other is of another job.
unsafe fn join<A: Abi>(socket: c_int, to: *mut A::Handle) -> Outcome {
    const NAME: &str = "MPI_Comm_join";
    let mine = local(|process| {
        let (mark, number) = (process.ports.mark(), process.ports.next_tag() as u32);
        Ok(Greeting { mark, rank: process.engine.rank(), number })
    })?;
    let theirs = greet(socket, mine)?.filter(|theirs| theirs.mark == mine.mark && theirs.rank != mine.rank);
    let Some(theirs) = theirs else {
        // SAFETY: the caller's promise.
        return unsafe { put(to, A::handle(Kind::Comm, crate::abi::NULL)) };
    };
    let (low, high) = if mine.rank < theirs.rank { (mine, theirs) } else { (theirs, mine) };
    let numbers = [low.rank, low.number, high.rank, high.number].map(u32::to_le_bytes);
    let meeting = Meeting::named(numbers.as_flattened(), 0);
    let (number, others) = leaders(NAME, (meeting, theirs.rank), &[i64::from(mine.rank)])?;
    // SAFETY: the caller's promise.
    unsafe { between::<A>(Communicators::ALONE, (number, &others), to) }
}

super::calls! {
    "Open_port" open_port<>(hints: A::Handle, name: *mut u8) => {
        known_or_null::<A>(Kind::Info, hints)?;
        let port = local(|process| Ok(process.ports.open(process.engine.rank())))?;
        put_port(port, name)
    };
    "Close_port" close_port<>(name: *const u8) => {
        let port = port_of(name)?;
        match ask::<A>("MPI_Close_port", port.owner, || Wish::Close(port.number))? {
            Answer::Done => Ok(()),
            _ => Err(Class::Port),
        }
    };
    "Comm_accept" comm_accept<>(
        port: *const u8, hints: A::Handle, root: c_int, communicator: A::Handle, to: *mut A::Handle,
    ) on communicator => meet::<A>("MPI_Comm_accept", (port, hints, true), (root, communicator), to);
    "Comm_connect" comm_connect<>(
        port: *const u8, hints: A::Handle, root: c_int, communicator: A::Handle, to: *mut A::Handle,
    ) on communicator => meet::<A>("MPI_Comm_connect", (port, hints, false), (root, communicator), to);
    "Comm_join" comm_join<>(socket: c_int, to: *mut A::Handle) => join::<A>(socket, to);
    "Publish_name" publish_name<>(service: *const u8, hints: A::Handle, port: *const u8) => {
        known_or_null::<A>(Kind::Info, hints)?;
        let (service, port) = (text_of(service)?, port_of(port)?);
        match ask::<A>("MPI_Publish_name", KEEPER, || Wish::Publish(service.to_vec(), port))? {
            Answer::Done => Ok(()),
            _ => Err(Class::Service),
        }
    };
    "Lookup_name" lookup_name<>(service: *const u8, hints: A::Handle, port: *mut u8) => {
        known_or_null::<A>(Kind::Info, hints)?;
        let service = text_of(service)?;
        match ask::<A>("MPI_Lookup_name", KEEPER, || Wish::LookUp(service.to_vec()))? {
            Answer::Means(found) => put_port(found, port),
            _ => Err(Class::Name),
        }
    };
    "Unpublish_name" unpublish_name<>(service: *const u8, hints: A::Handle, _port: *const u8) => {
        known_or_null::<A>(Kind::Info, hints)?;
        let service = text_of(service)?;
        match ask::<A>("MPI_Unpublish_name", KEEPER, || Wish::Unpublish(service.to_vec()))? {
            Answer::Done => Ok(()),
            _ => Err(Class::Service),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Greeting;

    #[test]
    fn greetings_are_read_as_they_are_written() {
        let greeting = Greeting { mark: 0x0123_4567_89ab_cdef, rank: 7, number: u32::MAX };
        assert_eq!(Greeting::of_bytes(&greeting.to_bytes()), Some(greeting));
        assert_eq!(Greeting::of_bytes(&[7; Greeting::LEN]), None);
    }
}
