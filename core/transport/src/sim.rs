//! Connections that are simulated: what a link has of one, and what the world that carries its bytes has.
//!
//! A [`Pipe`] is one end, used like a socket. Nothing goes anywhere by itself: the world takes what was written from the
//! [`Hand`] of the same end, and brings there what is to be read. It hears from a [`Board`] which ends want it to.

mod poller;

use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::frame::HEADER;
use super::tcp::Stop;

pub use poller::SimPoller;

/// An end of a simulated connection, as a link has it. One that is dropped has been closed.
pub struct Pipe(Arc<End>);

/// The same end, as the world has it.
#[derive(Clone)]
pub struct Hand(Arc<End>);

/// Where ends are noted that were written to or closed, until the world looks.
#[derive(Clone, Default)]
pub struct Board(Arc<Mutex<Vec<Weak<End>>>>);

struct End {
    number: u64,
    /// Bytes that may wait to be taken.
    room: usize,
    state: Mutex<State>,
    /// Whether there is something to read, which is asked for all connections of a PE at every turn.
    readable: AtomicBool,
    board: Board,
}

#[derive(Default)]
struct State {
    /// Written, and not taken by the world yet.
    outgoing: VecDeque<u8>,
    /// Arrived, and not read yet.
    incoming: VecDeque<u8>,
    /// Nothing more arrives, nor can be written.
    broken: bool,
    /// The link is done with it.
    closed: bool,
    /// It is on the board.
    noted: bool,
}

impl Pipe {
    /// A new end of this number, that the world takes care of, and which is noted on this board. So many bytes may be
    /// written before the world takes some.
    pub fn new(number: u64, room: usize, board: &Board) -> (Pipe, Hand) {
        assert!(
            room >= HEADER,
            "a new connection has room for the first header, and {room} bytes are too few"
        );
        let end = Arc::new(End {
            number,
            room,
            state: Mutex::default(),
            readable: AtomicBool::new(false),
            board: board.clone(),
        });
        (Pipe(end.clone()), Hand(end))
    }

    /// Another hand on it.
    pub fn hand(&self) -> Hand {
        Hand(self.0.clone())
    }

    /// Writes the first of these bytes; how many.
    pub(super) fn send(&self, bytes: &[u8]) -> Result<usize, Stop> {
        let mut state = self.0.lock();
        if state.is_over() {
            return Err(Stop::Broken);
        }
        let n = bytes.len().min(self.0.room - state.outgoing.len());
        if n == 0 {
            return Err(Stop::Wait);
        }
        state.outgoing.extend(&bytes[..n]);
        self.0.note(state);
        Ok(n)
    }

    /// The same with bytes in several places.
    pub(super) fn send_slices(&self, slices: &[IoSlice<'_>]) -> Result<usize, Stop> {
        let mut sent = 0;
        for slice in slices.iter().filter(|slice| !slice.is_empty()) {
            match self.send(slice) {
                Ok(n) if n == slice.len() => sent += n,
                Ok(n) => return Ok(sent + n),
                Err(stop) => return if sent > 0 { Ok(sent) } else { Err(stop) },
            }
        }
        Ok(sent)
    }

    /// Reads up to as many bytes as there is room for; how many.
    pub(super) fn receive(&self, room: &mut [u8]) -> Result<usize, Stop> {
        // SAFETY: the same memory, to which only initialised bytes are written.
        self.receive_straight(unsafe { &mut *(std::ptr::from_mut(room) as *mut [MaybeUninit<u8>]) })
    }

    /// The same into memory that is not initialised: so many of its first bytes are afterwards.
    pub(super) fn receive_straight(&self, room: &mut [MaybeUninit<u8>]) -> Result<usize, Stop> {
        let mut state = self.0.lock();
        let n = state.incoming.len().min(room.len());
        match n {
            0 if state.is_over() => return Err(Stop::Broken),
            0 => return Err(Stop::Wait),
            _ => {}
        }
        let (first, second) = state.incoming.as_slices();
        let (first, second) = (&first[..n.min(first.len())], &second[..n.saturating_sub(first.len())]);
        let (front, back) = room[..n].split_at_mut(first.len());
        fill(front, first);
        fill(back, second);
        state.incoming.drain(..n);
        self.0.show(&state);
        Ok(n)
    }

    /// Ends both directions. What was written is still there for the world.
    pub(super) fn cut(&self) {
        let mut state = self.0.lock();
        if !state.closed {
            state.closed = true;
            self.0.show(&state);
            self.0.note(state);
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.cut();
    }
}

impl Hand {
    /// Shows what was written, oldest first, and takes as many bytes of it as `f` says. What is left may be shown again
    /// at any time; the link has room for what was taken.
    pub fn take(&self, f: impl FnOnce(&[u8]) -> usize) -> usize {
        let mut state = self.0.lock();
        let n = f(state.outgoing.make_contiguous());
        state.outgoing.drain(..n);
        n
    }

    /// Keeps the first of what was written and not taken: the rest never was.
    pub fn keep(&self, bytes: usize) {
        self.0.lock().outgoing.truncate(bytes);
    }

    /// Bytes that were written and not taken.
    pub fn untaken(&self) -> usize {
        self.0.lock().outgoing.len()
    }

    /// Brings bytes. Whoever reads them is to have a turn then.
    pub fn bring(&self, bytes: &[u8]) {
        let mut state = self.0.lock();
        if !state.is_over() {
            state.incoming.extend(bytes);
            self.0.show(&state);
        }
    }

    /// Bytes that were brought and not read.
    pub fn unread(&self) -> usize {
        self.0.lock().incoming.len()
    }

    /// From now on nothing arrives, nor can be written. What has arrived can still be read. Whoever reads is to have a turn
    /// then.
    pub fn set_broken(&self) {
        let mut state = self.0.lock();
        state.broken = true;
        self.0.show(&state);
    }

    /// Whether the link has closed it, or is gone.
    pub fn is_closed(&self) -> bool {
        self.0.lock().closed
    }

    /// Whether there is something to read, the end of the connection included.
    pub fn is_readable(&self) -> bool {
        self.0.readable.load(Ordering::Relaxed)
    }

    /// Whether something would be written now, or found out to be in vain.
    pub fn is_writable(&self) -> bool {
        let state = self.0.lock();
        state.outgoing.len() < self.0.room || state.is_over()
    }
}

impl Board {
    /// The numbers of the ends that were written to or closed since this was last asked, in the order in which they first
    /// were.
    pub fn take(&self) -> Vec<u64> {
        let noted = std::mem::take(&mut *self.lock());
        let number = |end: Arc<End>| {
            end.lock().noted = false;
            end.number
        };
        noted.iter().filter_map(Weak::upgrade).map(number).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<End>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl End {
    /// All is one thread's, so this never waits: an end is in a mutex because links may be in other threads' hands.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is something to read may have changed.
    fn show(&self, state: &State) {
        self.readable.store(!state.incoming.is_empty() || state.is_over(), Ordering::Relaxed);
    }

    /// The world is to look at it.
    fn note(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if !std::mem::replace(&mut state.noted, true) {
            drop(state);
            self.board.lock().push(Arc::downgrade(self));
        }
    }
}

/// Both are of one length.
fn fill(room: &mut [MaybeUninit<u8>], bytes: &[u8]) {
    assert_eq!(room.len(), bytes.len());
    // SAFETY: as many bytes are read and written as there are, and what is borrowed for writing overlaps with nothing.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), room.as_mut_ptr().cast(), bytes.len()) };
}

impl State {
    fn is_over(&self) -> bool {
        self.broken || self.closed
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hand().fmt(f)
    }
}

impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let State { outgoing, incoming, broken, closed, .. } = &*self.0.lock();
        f.debug_struct("Pipe")
            .field("number", &self.0.number)
            .field("outgoing", &outgoing.len())
            .field("incoming", &incoming.len())
            .field("broken", broken)
            .field("closed", closed)
            .finish()
    }
}
