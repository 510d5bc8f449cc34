//! How a node is reached by those that look for a new launcher.
//!
//! Each node listens at a socket in the job's own folder ([`folder`](super::folder)), named after its number, from before the program begins.
//! The system refuses whoever comes there once the process is gone: so it is known who is dead. And it tells either side who the other is.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::{PidfdFlags, geteuid, pidfd_open};

use super::folder::Doors;

/// Where other nodes of this host reach this one. A former process of this number is dead.
///
/// # Errors
/// The system gives no descriptor.
pub fn listen(doors: &Doors, node: u32) -> io::Result<UnixListener> {
    let door = doors.door(node);
    match std::fs::remove_file(&door) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    UnixListener::bind(door)
}

/// What has come of an attempt.
pub enum Knock {
    /// Nobody is there: its process is dead.
    Dead,
    /// Somebody is there, but so many wait there already that there is no room.
    Busy,
    /// It is there.
    There(Reached),
}

/// A process that has been reached.
pub struct Reached {
    pub stream: UnixStream,
    /// Names this process and no other.
    pub process: OwnedFd,
}

/// Connects with a node of this host, without waiting.
///
/// # Errors
/// Nothing is known: the system gives no descriptor, or the folder was removed by somebody.
pub fn reach(doors: &Doors, node: u32) -> io::Result<Knock> {
    let stream = match connected(&doors.door(node)) {
        Err(Errno::CONNREFUSED) => return Ok(Knock::Dead),
        Err(Errno::NOENT) if doors.is_there()? => return Ok(Knock::Dead),
        Err(Errno::AGAIN) => return Ok(Knock::Busy),
        connected => UnixStream::from(connected?),
    };
    let process = process_of(&stream)?;
    Ok(process.map_or(Knock::Dead, |process| Knock::There(Reached { stream, process })))
}

/// A connection that waits for nothing: not even for room where it leads.
fn connected(door: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(door)?)?;
    Ok(socket)
}

/// The process at the other end, if it lives. One of another user is none of ours: it has taken the address of a dead one.
///
/// # Errors
/// The system gives no descriptor.
pub fn process_of(stream: &impl AsFd) -> io::Result<Option<OwnedFd>> {
    let peer = socket_peercred(stream)?;
    if peer.uid != geteuid() {
        return Ok(None);
    }
    let process = match pidfd_open(peer.pid, PidfdFlags::NONBLOCK) {
        Ok(process) => process,
        Err(rustix::io::Errno::SRCH) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // As long as nobody has hung up, the process has not ended, and nobody else can have its number.
    Ok((!has_hung_up(stream)?).then_some(process))
}

fn has_hung_up(stream: &impl AsFd) -> io::Result<bool> {
    let mut looked = [PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::empty())];
    poll(&mut looked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    Ok(looked[0].revents().intersects(PollFlags::HUP | PollFlags::ERR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_listen_any_more_is_dead() {
        let doors = Doors::make().unwrap();
        let listener = listen(&doors, 3).unwrap();
        let Knock::There(reached) = reach(&doors, 3).unwrap() else { panic!("it listens") };
        let this = rustix::process::getpid();
        assert_eq!(socket_peercred(&reached.stream).unwrap().pid, this);
        assert!(!has_hung_up(&reached.stream).unwrap());
        drop(listener);
        assert!(has_hung_up(&reached.stream).unwrap(), "whoever waits there is told");
        assert!(matches!(reach(&doors, 3).unwrap(), Knock::Dead));
        assert!(matches!(reach(&doors, 4).unwrap(), Knock::Dead), "it was never there");
        drop(listen(&doors, 3).expect("another process may have its number"));
        doors.remove();
        assert!(reach(&doors, 3).is_err(), "nobody can say who is dead");
    }

    #[test]
    fn nobody_waits_where_there_is_no_room() {
        let doors = Doors::make().unwrap();
        let listener = listen(&doors, 0).unwrap();
        // As short a queue as there is.
        rustix::net::listen(&listener, 0).unwrap();
        let mut kept = Vec::new();
        let last = loop {
            match reach(&doors, 0).unwrap() {
                Knock::There(reached) if kept.len() < 16 => kept.push(reached),
                other => break other,
            }
        };
        assert!(matches!(last, Knock::Busy), "after {}", kept.len());
        doors.remove();
    }
}
