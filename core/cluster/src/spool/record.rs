//! What is printed, and how far, in a file in memory: words, the last pieces, and the text.
//!
//! ```text
//! 0  state: twice how many texts are printed, and one more while one is
//! 8  where in standard output the chunk begins, or behind, if that is a file
//! 16 chunk: twice its number, and one more once it is in the pipe
//! 24 where the text is │ 32 its length │ 40 whether it is of the job's end │ 48 how long those are together
//! 64 the last pieces   │ then the texts of the job's end, and behind them the one that is printed
//! ```
//!
//! Each step is one write of the system's, which is done or not, whenever its process is killed.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, MemfdFlags, fcntl_lock, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};

use super::{Piece, chunks};

const STATE: u64 = 0;
const PLACE: u64 = 8;
const PROGRESS: u64 = 16;
const LAST_LEN: u64 = 48;
const PIECES: u64 = 64;
const TEXT: u64 = PIECES + KNOWN * PIECE_LEN;

/// More than can be printed of which nobody has heard.
const KNOWN: u64 = 1024;
const PIECE_LEN: u64 = 16;
/// What is of the job's end has no piece.
const NO_PIECE: Piece = (u64::MAX, u32::MAX, u32::MAX);
/// The memory of longer texts is given back.
const KEPT: usize = 1 << 20;
/// How often it is tried to be alone, and how long is waited in between.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(1);
/// No place.
const UNKNOWN: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Record(File);

/// A text that is being printed.
#[derive(Debug)]
pub(super) struct Begun {
    text: Vec<u8>,
    /// Where each chunk of it is.
    chunks: Vec<Range<usize>>,
    /// Where it is in the texts.
    from: u64,
    is_last: bool,
    /// How many were before it.
    count: u64,
    pub(super) chunk: usize,
    pub(super) is_in_pipe: bool,
    /// Where in standard output the chunk begins, or behind, if that is a file.
    pub(super) place: Option<u64>,
}

impl Begun {
    pub(super) fn chunk(&self, number: usize) -> Option<&[u8]> {
        Some(&self.text[self.chunks.get(number)?.clone()])
    }
}

impl Record {
    pub(super) fn new() -> io::Result<Record> {
        let file = fcntl_dupfd_cloexec(memfd_create("talisman-printed", MemfdFlags::CLOEXEC)?, 3)?;
        let record = Record(file.into());
        if record.has_room(0)? {
            record.0.set_len(TEXT)?;
        }
        Ok(record)
    }

    /// Whether so much text can be in it: files may not be as long (`ulimit -f`), and who writes more is ended by the system.
    pub(super) fn has_room(&self, text: usize) -> io::Result<bool> {
        let limit = getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX);
        let end = if limit < TEXT { TEXT } else { TEXT + self.word(LAST_LEN)? };
        Ok(end + text as u64 <= limit)
    }

    /// One that is there already.
    pub(super) fn of(file: File) -> Record {
        Record(file)
    }

    /// The same in another process.
    #[cfg(test)]
    pub(super) fn another(&self) -> Record {
        Record(self.0.try_clone().expect("there are descriptors"))
    }

    pub(super) fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Zero where nothing is.
    fn word(&self, at: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        match self.0.read_exact_at(&mut bytes, at) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read.map(|()| u64::from_le_bytes(bytes)),
        }
    }

    fn set(&self, at: u64, word: u64) -> io::Result<()> {
        self.0.write_all_at(&word.to_le_bytes(), at)
    }

    /// Does what processes do one after the other, unless that takes the others too long: one of them may have been stopped.
    pub(super) fn alone(&self, act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        for _ in 0..TRIES {
            if fcntl_lock(&self.0, FlockOperation::NonBlockingLockExclusive).is_ok() {
                let done = act();
                fcntl_lock(&self.0, FlockOperation::Unlock)?;
                return done;
            }
            sleep(PAUSE);
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// A text is to be printed.
    pub(super) fn begin(&self, piece: Option<Piece>, text: Vec<u8>) -> io::Result<Begun> {
        let (count, from) = (self.word(STATE)? / 2, self.word(LAST_LEN)?);
        let is_last = piece.is_none();
        let (version, node, number) = piece.unwrap_or(NO_PIECE);
        let named = [&version.to_le_bytes()[..], &node.to_le_bytes(), &number.to_le_bytes()].concat();
        self.0.write_all_at(&named, PIECES + count % KNOWN * PIECE_LEN)?;
        self.0.write_all_at(&text, TEXT + from)?;
        let words = [UNKNOWN, 0, from, text.len() as u64, u64::from(is_last)].map(u64::to_le_bytes);
        self.0.write_all_at(words.as_flattened(), PLACE)?;
        self.set(STATE, 2 * count + 1)?;
        let chunks = chunks(&text);
        Ok(Begun { text, chunks, from, is_last, count, chunk: 0, is_in_pipe: false, place: None })
    }

    /// A chunk is about to be put into the pipe.
    pub(super) fn fills(&self, chunk: usize) -> io::Result<()> {
        self.set(PROGRESS, 2 * chunk as u64)
    }

    /// It is there, and leaves it.
    pub(super) fn filled(&self, chunk: usize) -> io::Result<()> {
        self.set(PROGRESS, 2 * chunk as u64 + 1)
    }

    /// A chunk is about to be written to standard output, there or behind.
    pub(super) fn writes(&self, chunk: usize, place: Option<u64>) -> io::Result<()> {
        let words = [place.unwrap_or(UNKNOWN), 2 * chunk as u64].map(u64::to_le_bytes);
        self.0.write_all_at(words.as_flattened(), PLACE)
    }

    /// All of it is printed.
    pub(super) fn end(&self, begun: &Begun) -> io::Result<()> {
        if begun.is_last {
            self.set(LAST_LEN, begun.from + begun.text.len() as u64)?;
        }
        self.set(STATE, 2 * (begun.count + 1))?;
        if begun.is_last || begun.from == 0 && begun.text.len() < KEPT {
            return Ok(());
        }
        // The job has gone on since it was about to end: what was said then is being said again.
        self.set(LAST_LEN, 0)?;
        self.0.set_len(TEXT)
    }

    /// What is being printed, by nobody any more.
    pub(super) fn begun(&self) -> io::Result<Option<Begun>> {
        let state = self.word(STATE)?;
        if state.is_multiple_of(2) {
            return Ok(None);
        }
        let [progress, from, len, is_last] = [0, 8, 16, 24].map(|at| self.word(PROGRESS + at));
        let (progress, from, is_last) = (progress?, from?, is_last? == 1);
        let len = usize::try_from(len?).map_err(io::Error::other)?;
        let mut text = vec![0; len];
        self.0.read_exact_at(&mut text, TEXT + from)?;
        let place = Some(self.word(PLACE)?).filter(|place| *place != UNKNOWN);
        let (chunk, is_in_pipe) = ((progress / 2) as usize, !progress.is_multiple_of(2));
        let chunks = chunks(&text);
        Ok(Some(Begun { text, chunks, from, is_last, count: state / 2, chunk, is_in_pipe, place }))
    }

    /// The last ones that were printed, or were begun.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let count = self.word(STATE).unwrap_or(0).div_ceil(2);
        let piece = |number: u64| {
            let at = PIECES + number % KNOWN * PIECE_LEN;
            let (version, rest) = (self.word(at).ok()?, self.word(at + 8).ok()?);
            Some((version, rest as u32, (rest >> 32) as u32)).filter(|piece| *piece != NO_PIECE)
        };
        (count.saturating_sub(KNOWN)..count).filter_map(piece).collect()
    }

    /// The texts of the job's end that are printed.
    pub(super) fn last_text(&self) -> Vec<u8> {
        let mut text = vec![0; self.word(LAST_LEN).unwrap_or(0) as usize];
        let read = self.0.read_exact_at(&mut text, TEXT);
        if read.is_ok() { text } else { Vec::new() }
    }
}
