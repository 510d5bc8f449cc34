//! A socket on which everything is encrypted.

use std::fmt;
use std::io::IoSlice;
use std::mem::{MaybeUninit, take};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::stream::{Stop, receive, send, shut};
use crate::tls::{Broken, Session};

/// The socket and the state of its encryption. Both halves of a link use it, on the same thread: the lock is there for
/// the state to be shared at all, and never waited for.
pub struct Encrypted {
    socket: OwnedFd,
    state: Mutex<State>,
}

struct State {
    session: Session,
    /// Bytes of the sender that are encrypted and not all written. They are told as written when they are, and the
    /// sender, which does not know, offers them again until then.
    taken: usize,
}

impl From<Broken> for Stop {
    fn from(_: Broken) -> Stop {
        Stop::Broken
    }
}

impl Encrypted {
    pub(super) fn new(socket: OwnedFd, session: Session) -> Encrypted {
        Encrypted { socket, state: Mutex::new(State { session, taken: 0 }) }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Writes the first of these bytes; how many. After [`Stop::Wait`] the next call must begin with the same ones.
    pub(super) fn send(&self, slices: &[IoSlice<'_>]) -> Result<usize, Stop> {
        let state = &mut *self.lock();
        if state.taken == 0 {
            state.taken = state.session.seal(slices)?;
        }
        write(&self.socket, &mut state.session)?;
        Ok(take(&mut state.taken))
    }

    /// Reads up to as many bytes as there is room for; how many. If they are fewer, nothing is left that could be read
    /// without the socket having more.
    pub(super) fn receive(&self, room: &mut [u8]) -> Result<usize, Stop> {
        // SAFETY: the same memory, to which only initialised bytes are written.
        self.receive_straight(unsafe { &mut *(std::ptr::from_mut(room) as *mut [MaybeUninit<u8>]) })
    }

    /// The same into memory that is not initialised: so many of its first bytes are afterwards.
    pub(super) fn receive_straight(&self, room: &mut [MaybeUninit<u8>]) -> Result<usize, Stop> {
        let session = &mut self.lock().session;
        let mut filled = session.open(room)?;
        let mut more = true;
        while more && filled < room.len() {
            more = match read(&self.socket, session) {
                Ok(more) => more,
                Err(stop) if filled == 0 => return Err(stop),
                Err(_) => break,
            };
            match session.open(&mut room[filled..]) {
                Ok(n) => filled += n,
                Err(Broken) if filled == 0 => return Err(Stop::Broken),
                Err(Broken) => break,
            }
        }
        if filled == 0 { Err(Stop::Wait) } else { Ok(filled) }
    }

    /// Ends both directions, so that the peer and the other half of the link notice.
    pub(super) fn cut(&self) {
        let session = &mut self.lock().session;
        session.farewell();
        // As far as the socket takes it: the peer notices anyway.
        let _ = write(&self.socket, session);
        shut(&self.socket);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted").field("socket", &self.socket).finish_non_exhaustive()
    }
}

/// Writes all that is leaving, or says why not.
fn write(socket: &OwnedFd, session: &mut Session) -> Result<(), Stop> {
    while !session.leaving().is_empty() {
        let n = send(socket, session.leaving())?;
        session.left(n);
    }
    Ok(())
}

/// Reads once; whether there may be more.
fn read(socket: &OwnedFd, session: &mut Session) -> Result<bool, Stop> {
    let room = session.room()?;
    let size = room.len();
    let n = receive(socket, room)?;
    session.filled(n);
    Ok(n == size)
}
