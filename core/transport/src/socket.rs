//! What making sure of each other needs of a transport's sockets.

use std::fmt::Display;
use std::io;
use std::os::fd::AsFd;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::pending::Source;
use crate::tcp::Stream;
use crate::tls::Session;

/// A connected socket that carries a stream of bytes.
pub trait Socket: AsyncRead + AsyncWrite + AsFd + Unpin + Send + Sync + 'static {
    /// Whether a job that encrypts does so on it. What no other host can see need not be.
    const IS_ENCRYPTED: bool;

    /// Waits until there is something to read, the end of the connection included.
    fn readable(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Writes as much as goes at once; how many bytes.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// For a link, which goes on with the encryption that was agreed on.
    fn into_stream(self, session: Option<Session>) -> io::Result<Stream>;
}

/// Where the sockets of those come from that dial.
pub trait Listener: Send + Sync + 'static {
    type Socket: Socket;
    /// Who has dialled, as far as the system knows: shown to people, and counted by where it comes from.
    type From: Into<Source> + Display + Clone + Send;

    /// The next one.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Socket, Self::From)>> + Send;
}
