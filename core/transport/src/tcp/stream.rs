//! The connection under a link.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use super::encrypted::Encrypted;
use crate::sim::Pipe;
use crate::tls::Session;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, sockopt};

/// A connection whose peer has proved who it is. All its operations return at once.
#[derive(Debug)]
pub enum Stream {
    /// A TCP socket.
    Plain(OwnedFd),
    /// One on which everything is encrypted.
    Tls(Box<Encrypted>),
    /// None at all: a simulated world carries its bytes.
    Simulated(Pipe),
}

/// Why nothing was written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Not now.
    Wait,
    /// Never again: it was closed, or reset.
    Broken,
}

impl From<Errno> for Stop {
    fn from(error: Errno) -> Stop {
        match error {
            Errno::AGAIN | Errno::INTR | Errno::NOBUFS => Stop::Wait,
            _ => Stop::Broken,
        }
    }
}

impl Stream {
    /// Over a connected TCP socket.
    ///
    /// # Errors
    /// Those of the system, if `socket` is none.
    pub fn plain(socket: OwnedFd) -> std::io::Result<Stream> {
        prepare(&socket)?;
        Ok(Stream::Plain(socket))
    }

    /// The same, encrypted: the handshake is over.
    ///
    /// # Errors
    /// Those of the system, if `socket` is none.
    pub fn encrypted(socket: OwnedFd, session: Session) -> std::io::Result<Stream> {
        prepare(&socket)?;
        Ok(Stream::Tls(Box::new(Encrypted::new(socket, session))))
    }

    /// What to watch for readiness, if the system can.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Stream::Plain(socket) => Some(socket.as_fd()),
            Stream::Tls(encrypted) => Some(encrypted.fd()),
            Stream::Simulated(_) => None,
        }
    }

    /// What the system watches.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.fd().expect("the system watches its own connections")
    }

    /// What a simulated world carries.
    pub(crate) fn simulated(&self) -> &Pipe {
        let Stream::Simulated(pipe) = self else { unreachable!("a simulated PE has simulated connections") };
        pipe
    }

    /// From now on it counts as broken when the peer's system has acknowledged nothing for so long of what it was sent, or has had no
    /// room for more, or has not answered when it was asked. It is asked whenever nothing has come for a quarter of that, in whole
    /// seconds: so a network that is cut is noticed where nothing goes, too. The system's own patience is a quarter of an hour, and it asks nobody.
    pub fn break_after(&self, silence: Duration) {
        let millis = u32::try_from(silence.as_millis()).unwrap_or(u32::MAX);
        let often = silence / 4;
        // Wishes: without them, nobody notices for longer that a network was cut between two nodes.
        if let Some(socket) = self.fd() {
            let _ = sockopt::set_tcp_user_timeout(socket, millis);
            let _ = sockopt::set_tcp_keepidle(socket, often);
            let _ = sockopt::set_tcp_keepintvl(socket, often);
            let _ = sockopt::set_socket_keepalive(socket, true);
        }
    }

    /// Writes the first of these bytes; how many.
    #[inline]
    pub(super) fn send(&self, bytes: &[u8]) -> Result<usize, Stop> {
        match self {
            Stream::Plain(socket) => Ok(send(socket, bytes)?),
            Stream::Tls(encrypted) => encrypted.send(&[IoSlice::new(bytes)]),
            Stream::Simulated(pipe) => pipe.send(bytes),
        }
    }

    /// The same with bytes in several places.
    pub(super) fn send_slices(&self, slices: &[IoSlice<'_>]) -> Result<usize, Stop> {
        match self {
            Stream::Plain(socket) => {
                let mut nothing = SendAncillaryBuffer::default();
                Ok(rustix::net::sendmsg(socket, slices, &mut nothing, FLAGS)?)
            }
            Stream::Tls(encrypted) => encrypted.send(slices),
            Stream::Simulated(pipe) => pipe.send_slices(slices),
        }
    }

    /// Reads up to as many bytes as there is room for; how many.
    #[inline]
    pub(super) fn receive(&self, room: &mut [u8]) -> Result<usize, Stop> {
        match self {
            Stream::Plain(socket) => receive(socket, room),
            Stream::Tls(encrypted) => encrypted.receive(room),
            Stream::Simulated(pipe) => pipe.receive(room),
        }
    }

    /// The same into memory that is not initialised: so many of its first bytes are afterwards.
    pub(super) fn receive_straight(&self, room: &mut [MaybeUninit<u8>]) -> Result<usize, Stop> {
        match self {
            Stream::Plain(socket) => some(rustix::net::recv(socket, room, RecvFlags::DONTWAIT)?.0.0.len()),
            Stream::Tls(encrypted) => encrypted.receive_straight(room),
            Stream::Simulated(pipe) => pipe.receive_straight(room),
        }
    }

    /// Ends both directions, so that the peer and the other half of the link notice.
    pub(super) fn cut(&self) {
        match self {
            Stream::Plain(socket) => shut(socket),
            Stream::Tls(encrypted) => encrypted.cut(),
            Stream::Simulated(pipe) => pipe.cut(),
        }
    }
}

/// Sets what a link wants of its socket.
fn prepare(socket: &OwnedFd) -> std::io::Result<()> {
    rustix::io::ioctl_fionbio(socket, true)?;
    sockopt::set_tcp_nodelay(socket, true)?;
    if is_local(socket) {
        // BBR, where it is the default, paces loopback down to half of what it carries. A wish, not a need.
        let _ = sockopt::set_tcp_congestion(socket, "cubic")
            .or_else(|_| sockopt::set_tcp_congestion(socket, "reno"));
    }
    Ok(())
}

#[inline]
pub(super) fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Stop> {
    Ok(rustix::net::send(socket, bytes, FLAGS)?)
}

#[inline]
pub(super) fn receive(socket: &OwnedFd, room: &mut [u8]) -> Result<usize, Stop> {
    some(rustix::net::recv(socket, room, RecvFlags::DONTWAIT)?.0)
}

pub(super) fn shut(socket: &OwnedFd) {
    // It may have ended already.
    let _ = rustix::net::shutdown(socket, Shutdown::Both);
}

/// Nothing is what the end of a connection reads as.
fn some(read: usize) -> Result<usize, Stop> {
    if read == 0 { Err(Stop::Broken) } else { Ok(read) }
}

/// No waiting, and an error rather than a signal if the peer is gone.
const FLAGS: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

/// Whether both ends are on this host.
fn is_local(socket: &OwnedFd) -> bool {
    let address = |any: rustix::net::SocketAddrAny| std::net::SocketAddr::try_from(any).ok();
    let ours = rustix::net::getsockname(socket).ok().and_then(address);
    let theirs = rustix::net::getpeername(socket).ok().flatten().and_then(address);
    matches!((ours, theirs), (Some(ours), Some(theirs)) if ours.ip() == theirs.ip() || theirs.ip().is_loopback())
}
