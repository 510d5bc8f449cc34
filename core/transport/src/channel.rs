//! A connection on which two nodes, or agents, are making sure of each other: with encryption, once that is agreed on.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::handshake::{Failure, Refusal, is_ours};
use crate::socket::Socket;
use crate::tcp::{Stream, Talk};
use crate::tls::{Credentials, HANDSHAKE, Session};

pub struct Channel<S = TcpStream> {
    socket: S,
    session: Option<Session>,
}

impl Channel {
    /// For those who wait for what is said.
    pub fn into_talk(self) -> Talk {
        Talk::new(self.socket, self.session)
    }
}

impl<S: Socket> Channel<S> {
    /// Not encrypted yet.
    pub fn new(socket: S) -> Channel<S> {
        Channel { socket, session: None }
    }

    /// Waits for the first bytes of whoever is at the other end, or its end.
    ///
    /// # Errors
    /// It is broken.
    pub async fn hears(&self) -> Result<(), Refusal> {
        self.socket.readable().await.map_err(|_| Refusal::Closed)
    }

    /// Agrees on encryption with the node that was dialled.
    ///
    /// # Errors
    /// It cannot, or will not, or is none.
    pub async fn encrypt(&mut self, credentials: &Credentials) -> Result<(), Failure> {
        // Without random numbers nobody can be authenticated.
        let mut session = Session::dialling(credentials).map_err(|_| Refusal::Closed)?;
        while !greet(&mut self.socket, &mut session).await? {
            read(&mut self.socket, &mut session).await?;
            if is_ours(session.arrived()) {
                return Err(refused(&mut self.socket, &mut session).await?);
            }
        }
        self.session = Some(session);
        Ok(())
    }

    /// The same with the node that has dialled.
    pub async fn be_encrypted(&mut self, credentials: &Credentials) -> Result<(), Refusal> {
        let mut session = Session::accepting(credentials).map_err(|_| Refusal::Closed)?;
        read(&mut self.socket, &mut session).await?;
        match session.arrived() {
            [HANDSHAKE, ..] => {}
            plain if is_ours(plain) => return Err(Refusal::Plain),
            _ => return Err(Refusal::Stranger),
        }
        while !greet(&mut self.socket, &mut session).await? {
            read(&mut self.socket, &mut session).await?;
        }
        self.session = Some(session);
        Ok(())
    }

    /// Some bytes, but not more than these.
    pub(super) async fn read(&mut self, most: usize) -> Result<Vec<u8>, Refusal> {
        let Some(session) = &mut self.session else { return read_plain(&mut self.socket, most).await };
        let mut room = vec![MaybeUninit::uninit(); most];
        loop {
            let n = session.open(&mut room).map_err(|_| Refusal::Key)?;
            if n > 0 {
                // SAFETY: so many are initialised.
                return Ok(room[..n].iter().map(|byte| unsafe { byte.assume_init() }).collect());
            }
            read(&mut self.socket, session).await?;
        }
    }

    pub(super) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(session) = &mut self.session else { return self.socket.write_all(bytes).await };
        seal(session, bytes)?;
        write(&mut self.socket, session).await
    }

    /// Writes as much as goes at once.
    pub(super) fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let bytes = match &mut self.session {
            None => bytes,
            Some(session) => {
                seal(session, bytes)?;
                session.leaving()
            }
        };
        self.socket.try_write(bytes).map(drop)
    }

    /// For a link.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn into_stream(self) -> io::Result<Stream> {
        self.socket.into_stream(self.session)
    }
}

/// Goes on with the handshake; whether it is over.
async fn greet(socket: &mut impl Socket, session: &mut Session) -> Result<bool, Refusal> {
    let over = session.greet().map_err(|_| Refusal::Key);
    // After an error as well, which this tells the other side.
    write(socket, session).await.map_err(|_| Refusal::Closed)?;
    over
}

async fn write(socket: &mut impl Socket, session: &mut Session) -> io::Result<()> {
    let leaving = session.leaving();
    socket.write_all(leaving).await?;
    let n = leaving.len();
    session.left(n);
    Ok(())
}

async fn read(socket: &mut impl Socket, session: &mut Session) -> Result<(), Refusal> {
    let room = session.room().map_err(|_| Refusal::Key)?;
    match socket.read(room).await {
        Ok(0) | Err(_) => Err(Refusal::Closed),
        Ok(n) => {
            session.filled(n);
            Ok(())
        }
    }
}

async fn read_plain(socket: &mut impl Socket, most: usize) -> Result<Vec<u8>, Refusal> {
    let mut bytes = vec![0; most];
    match socket.read(&mut bytes).await {
        Ok(0) | Err(_) => Err(Refusal::Closed),
        Ok(n) => {
            bytes.truncate(n);
            Ok(bytes)
        }
    }
}

fn seal(session: &mut Session, bytes: &[u8]) -> io::Result<()> {
    let sealed = session.seal(&[IoSlice::new(bytes)]);
    sealed.map(drop).map_err(|_| io::ErrorKind::ConnectionAborted.into())
}

/// What a node that does not encrypt has said instead: why it refuses this one.
async fn refused(socket: &mut impl Socket, session: &mut Session) -> Result<Failure, Refusal> {
    loop {
        match Refusal::decode(session.arrived())? {
            Some(refusal) => return Ok(Failure::RefusedBy(refusal)),
            None => read(socket, session).await?,
        }
    }
}
