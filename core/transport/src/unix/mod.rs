//! Links over Unix-domain sockets, between nodes of one host.
//!
//! They carry the frames of TCP links (`docs/src/reference/wire.md`), after the same handshake; what differs is here. A node listens
//! at an abstract address, which is no file and is gone with its process. Nobody has to be told of it: whoever knows
//! the job's secret knows the address, and others cannot take it before. Nothing is encrypted, as nothing leaves the
//! host.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::net::{UnixListener, UnixStream};

use crate::connect::{self, DialError, Established};
use crate::connector::{Connector, Target};
use crate::handshake::Identity;
use crate::pending::Source;
use crate::socket::{Listener, Socket};
use crate::tcp::Stream;
use crate::tls::Session;

#[cfg(test)]
mod tests;

/// Bytes of an address that nobody can guess.
const UNGUESSABLE: usize = 16;

/// Unix-domain sockets connect nodes.
pub struct Unix;

impl Connector for Unix {
    type Listener = UnixListener;

    fn listen(identity: &Identity, _: IpAddr) -> Result<(UnixListener, Option<SocketAddr>), String> {
        let address = Address::of(identity, identity.node);
        let listener = UnixListener::bind(address.path());
        let listener = listener.map_err(|error| format!("cannot listen at the socket {address}: {error}"))?;
        Ok((listener, None))
    }

    async fn dial(to: Target, identity: Arc<Identity>) -> Result<Established, DialError> {
        let address = Address::of(&identity, to.peer.node);
        let path = address.path();
        connect::dial(UnixStream::connect(path), address, identity, to.peer).await
    }

    fn pair() -> io::Result<[Stream; 2]> {
        let (a, b) = std::os::unix::net::UnixStream::pair()?;
        a.set_nonblocking(true)?;
        b.set_nonblocking(true)?;
        Ok([a, b].map(|socket| Stream::Plain(socket.into())))
    }
}

/// Where the first process of a node listens. Those that come in place of a lost one may be on other hosts.
struct Address(String);

impl Address {
    fn of(identity: &Identity, node: u32) -> Address {
        let secret = identity.secret.prove("listens at a Unix-domain socket", &node.to_le_bytes());
        let digits: String = secret[..UNGUESSABLE].iter().map(|byte| format!("{byte:02x}")).collect();
        Address(format!("talisman-{node}-{digits}"))
    }

    /// It begins with a zero byte, which makes it no file.
    fn path(&self) -> String {
        format!("\0{}", self.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// Whose process has dialled, by the user's number.
#[derive(Clone, Copy)]
pub struct User(u32);

impl From<User> for Source {
    fn from(User(number): User) -> Source {
        Source::User(number)
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {}", self.0)
    }
}

impl Listener for UnixListener {
    type Socket = UnixStream;
    type From = User;

    async fn accept(&self) -> io::Result<(UnixStream, User)> {
        let (socket, _) = UnixListener::accept(self).await?;
        let user = User(socket.peer_cred()?.uid());
        Ok((socket, user))
    }
}

impl Socket for UnixStream {
    const IS_ENCRYPTED: bool = false;

    async fn readable(&self) -> io::Result<()> {
        UnixStream::readable(self).await
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        UnixStream::try_write(self, bytes)
    }

    fn into_stream(self, session: Option<Session>) -> io::Result<Stream> {
        match session {
            None => Ok(Stream::Plain(self.into_std()?.into())),
            Some(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
