//! How a node is reached by those that look for a new launcher.
//!
//! Each node listens at an abstract Unix address, named after job and node, from before the program begins. The system takes such an
//! address away with the last descriptor of it, so with the process: whoever is refused there knows that it is dead. And it tells
//! either side who the other is.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::process::{PidfdFlags, geteuid, pidfd_open};

/// Where other nodes of this host reach this one.
///
/// # Errors
/// The system gives no descriptor.
pub(crate) fn listen(job: u64, node: u32) -> io::Result<UnixListener> {
    UnixListener::bind_addr(&address(job, node)?)
}

/// A process that has been reached.
pub(crate) struct Reached {
    pub(crate) stream: UnixStream,
    /// Names this process and no other.
    pub(crate) process: OwnedFd,
}

/// Connects with a node of this host; none if it is refused, so that the node's process is dead.
///
/// # Errors
/// The system gives no descriptor, so that nothing is known.
pub(crate) fn reach(job: u64, node: u32) -> io::Result<Option<Reached>> {
    let stream = match UnixStream::connect_addr(&address(job, node)?) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(None),
        connected => connected?,
    };
    Ok(process_of(&stream)?.map(|process| Reached { stream, process }))
}

/// The process at the other end, if it lives. One of another user is none of ours: it has taken the address of a dead one.
///
/// # Errors
/// The system gives no descriptor.
pub(crate) fn process_of(stream: &impl AsFd) -> io::Result<Option<OwnedFd>> {
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

fn address(job: u64, node: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("talisman-{job:016x}-{node}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_listen_any_more_is_dead() {
        let job = u64::from(std::process::id()) << 32;
        let listener = listen(job, 3).unwrap();
        let reached = reach(job, 3).unwrap().expect("it listens");
        let this = rustix::process::getpid();
        assert_eq!(socket_peercred(&reached.stream).unwrap().pid, this);
        assert!(!has_hung_up(&reached.stream).unwrap());
        drop(listener);
        assert!(has_hung_up(&reached.stream).unwrap(), "whoever waits there is told");
        assert!(reach(job, 3).unwrap().is_none());
    }
}
