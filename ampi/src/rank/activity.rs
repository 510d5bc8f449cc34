//! What ranks of this process do, where others can read it ([`talisman_core::activity`]): for `talisman ranks`.
//!
//! It is written whenever a rank begins to run or is suspended, by the thread of the PE, into memory that is shared
//! with whoever opens it. Who reads it does not ask the PE, which may be in a rank that computes.

use std::ffi::c_void;
use std::io;
use std::os::fd::IntoRawFd;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use talisman_core::activity::{self as table, Awaited, State};

use crate::engine::{Condition, Doing, Engine, Pattern, Rank};
use crate::slot::SlotSpace;

/// Of this process; none if the system gave no memory.
static TABLE: OnceLock<Option<&'static [AtomicU64]>> = OnceLock::new();

/// A rank as it is shown. It is not any more when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Activity {
    rank: Rank,
    row: Option<&'static [AtomicU64]>,
    /// What it is shown to wait for: kind, peer, tag, others; and where the text of the call is.
    awaited: Option<(Awaited, Option<Rank>, Option<i32>, usize)>,
    /// If that is the message of a receive: which.
    receives: Option<Pattern>,
    call: (usize, usize),
    sent: u64,
}

impl Activity {
    /// From now on it is, in a process that is this node. Whether it was not before: then its state is to be told.
    pub fn begin(&mut self, rank: Rank, node: u32) -> bool {
        if self.row.is_some() {
            return false;
        }
        let Some(words) = TABLE.get_or_init(|| new_table().ok()) else { return false };
        words[table::NODE].store(node.into(), Ordering::Relaxed);
        let first = table::HEAD + rank as usize * table::ROW;
        self.row = words.get(first..first + table::ROW);
        (self.rank, self.awaited, self.receives, self.call) = (rank, None, None, (0, 0));
        self.row.is_some()
    }

    /// It runs.
    pub fn runs(&self) {
        if self.row.is_some() {
            set_running(u64::from(self.rank) + 1);
        }
    }

    /// It does not run any more, and no other one does.
    pub fn is_suspended(&self) {
        if self.row.is_some() {
            set_running(0);
        }
    }

    /// It has sent and got so many messages.
    pub fn has_moved(&mut self, sent: usize, got: usize) {
        let Some(row) = self.row else { return };
        self.sent += sent as u64;
        row[table::SENT].store(self.sent, Ordering::Relaxed);
        if got > 0 {
            add_received(row, got as u64);
        }
    }

    /// It has got a message.
    pub fn has_got(&self) {
        if let Some(row) = self.row {
            add_received(row, 1);
        }
    }

    /// It waits for nothing.
    pub fn rests(&self, state: State) {
        if let Some(row) = self.row {
            row[table::STATE].store(state as u64, Ordering::Relaxed);
        }
    }

    /// It waits in this call.
    pub fn waits(&mut self, engine: &Engine, call: &str) {
        let Some(row) = self.row else { return };
        let receives = match engine.waits_for() {
            Some(Condition::Receive(pattern, _)) => Some(pattern),
            _ => None,
        };
        // Most often by far for the same message again, in the same call.
        if let (Some(pattern), Some(before)) = (receives, &self.receives)
            && pattern == before
            && self.call == (call.as_ptr().addr(), call.len())
        {
            return row[table::STATE].store(State::Waits as u64, Ordering::Relaxed);
        }
        self.receives = receives.copied();
        let (awaited, others) = awaited(engine);
        let (kind, peer, tag) = awaited.map_or((Awaited::Nothing, None, None), |doing| words_of(&doing));
        let place = (call.as_ptr().addr(), call.len());
        // Often it waits for the same again.
        let shown = Some((kind, peer, tag, others));
        if (self.awaited, self.call) == (shown, place) {
            return row[table::STATE].store(State::Waits as u64, Ordering::Relaxed);
        }
        self.awaited = shown;
        let version = row[table::VERSION].load(Ordering::Relaxed);
        row[table::VERSION].store(version + 1, Ordering::Relaxed);
        // Readers see the odd version before anything that follows.
        fence(Ordering::Release);
        let set = |word: usize, value: u64| row[word].store(value, Ordering::Relaxed);
        set(table::STATE, State::Waits as u64);
        set(table::AWAITED, kind as u64);
        set(table::PEER, peer.map_or(0, |peer| u64::from(peer) + 1));
        set(table::TAG, table::tag_word(tag));
        set(table::OTHERS, others as u64);
        if self.call != place {
            self.call = place;
            let words = table::call_words(call);
            words.iter().enumerate().for_each(|(at, value)| set(table::CALL + at, *value));
        }
        row[table::VERSION].store(version + 2, Ordering::Release);
    }

    /// It is not here any more.
    pub fn end(&mut self) {
        if let Some(row) = self.row.take() {
            row.iter().for_each(|word| word.store(0, Ordering::Relaxed));
            self.sent = 0;
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        self.end();
    }
}

fn add_received(row: &[AtomicU64], messages: u64) {
    let received = row[table::RECEIVED].load(Ordering::Relaxed);
    row[table::RECEIVED].store(received + messages, Ordering::Relaxed);
}

fn set_running(word: u64) {
    if let Some(Some(words)) = TABLE.get() {
        words[table::RUNNING].store(word, Ordering::Relaxed);
    }
}

/// The first of what a rank waits for, and how many else there are.
fn awaited(engine: &Engine) -> (Option<Doing>, usize) {
    match engine.waits_for() {
        None => (None, 0),
        Some(Condition::Message(pattern)) => (Some(Doing::Probe(*pattern)), 0),
        Some(Condition::Receive(pattern, _)) => (Some(Doing::Receive(*pattern)), 0),
        Some(Condition::One(request)) => (engine.doing(*request), 0),
        Some(Condition::All(requests) | Condition::Any(requests)) => {
            let first = requests.iter().find_map(|request| engine.doing(*request));
            (first, requests.len().saturating_sub(1))
        }
    }
}

fn words_of(doing: &Doing) -> (Awaited, Option<Rank>, Option<i32>) {
    /// A communicator has two contexts, the second of which is that of its collectives.
    const OF_COLLECTIVE: u32 = 1;
    match doing {
        Doing::Opened(_) => (Awaited::Members, None, None),
        Doing::Pull { from, .. } => (Awaited::Bytes, Some(*from), None),
        Doing::Receive(Pattern { context, source, .. }) if context % 2 == OF_COLLECTIVE => {
            (Awaited::Members, *source, None)
        }
        Doing::Receive(Pattern { source, tag, .. }) | Doing::Probe(Pattern { source, tag, .. }) => {
            (Awaited::Message, *source, *tag)
        }
        Doing::Send { to, context, .. } if context % 2 == OF_COLLECTIVE => {
            (Awaited::Members, Some(*to), None)
        }
        Doing::Send { to, tag, .. } => (Awaited::Receiver, Some(*to), Some(*tag)),
    }
}

/// Room for all ranks that slots may be of: what is not written takes addresses only.
fn new_table() -> io::Result<&'static [AtomicU64]> {
    let space = SlotSpace::get().map_err(io::Error::other)?;
    let words = table::HEAD + space.slots() as usize * table::ROW;
    let len = words * size_of::<u64>();
    let file = memfd_create(table::NAME, MemfdFlags::CLOEXEC)?;
    ftruncate(&file, len as u64)?;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: new memory, of so many bytes, which stays for good.
    let memory: *mut c_void = unsafe { mmap(null_mut(), len, access, MapFlags::SHARED, &file, 0) }?;
    // SAFETY: pages of zeroes, aligned as pages are, which are never unmapped; all use of them is atomic.
    let table = unsafe { std::slice::from_raw_parts(memory.cast::<AtomicU64>(), words) };
    // Others find it by its descriptor.
    let _stays_open = file.into_raw_fd();
    let first = space.address(0).map_err(io::Error::other)?;
    table[table::MEMORY].store(first as u64, Ordering::Relaxed);
    table[table::MEMORY_EACH].store(space.layout().slot() as u64, Ordering::Relaxed);
    table[0].store(table::MAGIC, Ordering::Release);
    Ok(table)
}
