//! A connection as a stream of bytes for tasks that wait for it, encrypted or not. Links have a [`Stream`](super::Stream), which never waits.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::tls::{Broken, Session};

/// A connection on which both sides have authenticated each other, as far as encryption does that.
pub struct Talk {
    socket: TcpStream,
    session: Option<Box<Session>>,
}

impl Talk {
    pub(crate) fn new(socket: TcpStream, session: Option<Session>) -> Talk {
        Talk { socket, session: session.map(Box::new) }
    }

    /// Says something short without waiting; whether the system has taken all of it. If not, nothing more can be said.
    pub fn try_say(&mut self, bytes: &[u8]) -> bool {
        let Some(session) = &mut self.session else {
            return self.socket.try_write(bytes).is_ok_and(|count| count == bytes.len());
        };
        if session.seal(&[IoSlice::new(bytes)]).ok() != Some(bytes.len()) {
            return false;
        }
        let written = self.socket.try_write(session.leaving());
        session.left(*written.as_ref().unwrap_or(&0));
        session.leaving().is_empty()
    }
}

impl AsyncRead for Talk {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Talk { socket, session } = self.get_mut();
        let Some(session) = session else { return Pin::new(socket).poll_read(cx, into) };
        while into.remaining() > 0 {
            // SAFETY: nothing is made uninitialised there.
            let opened = session.open(unsafe { into.unfilled_mut() }).map_err(broken)?;
            if opened > 0 {
                // SAFETY: so many bytes at the beginning of it are initialised.
                unsafe { into.assume_init(opened) };
                into.advance(opened);
                break;
            }
            let mut arrived = ReadBuf::new(session.room().map_err(broken)?);
            ready!(Pin::new(&mut *socket).poll_read(cx, &mut arrived))?;
            match arrived.filled().len() {
                0 => break,
                count => session.filled(count),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Talk {
    /// What is encrypted and does not go at once goes before the next piece, or when it is flushed.
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Talk { socket, session } = self.get_mut();
        let Some(session) = session else { return Pin::new(socket).poll_write(cx, bytes) };
        ready!(send(socket, session, cx))?;
        let sealed = session.seal(&[IoSlice::new(bytes)]).map_err(broken)?;
        match send(socket, session, cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(sealed)),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Talk { socket, session } = self.get_mut();
        if let Some(session) = session {
            ready!(send(socket, session, cx))?;
        }
        Pin::new(socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(session) = &mut self.session {
            session.farewell();
        }
        ready!(self.as_mut().poll_flush(cx))?;
        Pin::new(&mut self.get_mut().socket).poll_shutdown(cx)
    }
}

fn send(socket: &mut TcpStream, session: &mut Session, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
    while !session.leaving().is_empty() {
        let count = ready!(Pin::new(&mut *socket).poll_write(cx, session.leaving()))?;
        session.left(count);
    }
    Poll::Ready(Ok(()))
}

fn broken(_: Broken) -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

#[cfg(all(test, feature = "tls"))]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, split};
    use tokio::net::TcpListener;
    use tokio::runtime;

    use super::*;
    use crate::auth::{BYTES, Secret};
    use crate::channel::Channel;
    use crate::tls::Credentials;

    /// Two ends of an encrypted connection.
    async fn ends() -> (Talk, Talk) {
        let credentials = Credentials::of(&Secret::from_bytes([3; BYTES])).expect("it is built in");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("it has one");
        let dialling = async {
            let mut channel = Channel::new(TcpStream::connect(address).await.expect("it is there"));
            channel.encrypt(&credentials).await.expect("both know the secret");
            channel.into_talk()
        };
        let accepting = async {
            let mut channel = Channel::new(listener.accept().await.expect("it comes").0);
            channel.be_encrypted(&credentials).await.expect("both know the secret");
            channel.into_talk()
        };
        tokio::join!(dialling, accepting)
    }

    fn inside<T>(work: impl Future<Output = T>) -> T {
        runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
    }

    /// More than any buffer on its way has room for, while the other one does not read.
    #[test]
    fn what_is_written_is_read_in_both_directions_at_once() {
        let text: Vec<u8> = (0..8_000_000_u32).map(|i| (i / 251) as u8).collect();
        let (heard, answered) = inside(async {
            let (one, other) = ends().await;
            let ((mut hears, mut says), (mut hears_too, mut says_too)) = (split(one), split(other));
            let saying = async {
                says.write_all(&text).await.expect("the other one reads");
                says.shutdown().await.expect("the other one is there");
            };
            let answering = async {
                let (mut heard, mut first) = (Vec::new(), [0; 7]);
                hears_too.read_exact(&mut first).await.expect("there is more");
                heard.extend(first);
                says_too.write_all(&text[..100_000]).await.expect("the other one reads");
                says_too.flush().await.expect("the other one reads");
                // An end in order is said inside of the encryption, and no more can be read.
                let _ = hears_too.read_to_end(&mut heard).await;
                heard
            };
            let mut answer = vec![0; 100_000];
            let hearing = hears.read_exact(&mut answer);
            let ((), heard, answered) = tokio::join!(saying, answering, hearing);
            answered.expect("it is all there");
            (heard, answer)
        });
        assert!(heard == text && answered == text[..100_000]);
    }

    #[test]
    fn something_short_is_said_at_once_to_one_that_is_there() {
        inside(async {
            let (mut one, mut other) = ends().await;
            assert!(one.try_say(b"hello"));
            let mut heard = [0; 5];
            other.read_exact(&mut heard).await.expect("it was said");
            assert_eq!(&heard, b"hello");
            drop(other);
            // The first one may be on its way when the system says that nobody is there any more.
            let is_there = async {
                while one.try_say(b"hello") {
                    tokio::task::yield_now().await
                }
            };
            tokio::time::timeout(std::time::Duration::from_secs(60), is_there).await.expect("it is noticed");
        });
    }
}
