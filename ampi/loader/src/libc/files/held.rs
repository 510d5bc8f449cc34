//! Why a rank has to stay where it is.

use std::ffi::{CStr, c_int};
use std::fmt;
use std::ops::Range;

use super::departed::{self, Departed, PATH};
use super::stream;
use crate::libc::State;

/// Why a rank cannot move now, nor be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It has something open that cannot be opened again.
    Open {
        /// Its descriptor.
        descriptor: i32,
        /// The system's name for it: `pipe:[41]`, `socket:[42]`, `/tmp/file (deleted)`.
        name: String,
    },
    /// It has a stream that is no file's (`fmemopen`, `open_memstream`, `fopencookie`).
    Stream,
    /// It has mapped memory itself (`mmap`), which is not in its slot.
    Mapped {
        /// How much.
        bytes: usize,
    },
    /// It waits in a function of the system for what somebody else does.
    Waits,
    /// It has locked a part of a file, for others of this system.
    Locked,
    /// It has started threads, whose stacks and memory are not in its slot.
    Threads,
    /// It has started a program that runs, and may wait for it.
    Child {
        /// Its process.
        process: i32,
    },
}

impl State {
    /// Whether anything has happened, since this was asked last, that may hold the rank or let it go again. A file
    /// that somebody else has deleted is not noticed.
    pub fn take_change(&mut self) -> bool {
        // All are asked: each forgets what it has said.
        let own = self.descriptors.take_change() | self.mappings.take_change() | self.threads.take_change();
        own | self.locks.take_change() || self.children.may_run()
    }

    /// Whether that would be said now.
    pub fn has_change(&self) -> bool {
        let own = self.descriptors.has_change() || self.mappings.has_change() || self.threads.has_change();
        own || self.locks.has_change() || self.children.may_run()
    }

    /// Why the rank has to stay where it is; none if it may move. Its streams lie in `slot`. It does not run.
    pub fn held(&self, slot: Range<usize>) -> Option<Reason> {
        if self.threads.have_begun() {
            return Some(Reason::Threads);
        }
        if self.waits_elsewhere {
            return Some(Reason::Waits);
        }
        let bytes = self.mappings.outside();
        let mapped = || (bytes > 0).then_some(Reason::Mapped { bytes });
        let child = || self.children.running().map(|process| Reason::Child { process });
        let locked = || self.locks.are_there().then_some(Reason::Locked);
        self.open_for_good()
            .or_else(|| self.stream_for_good(&slot))
            .or_else(mapped)
            .or_else(child)
            .or_else(locked)
    }

    /// Whether it has a file open that it can write to, or has had one since its copies were last cut ([`super::files_restored`]).
    pub fn writes(&self) -> bool {
        self.descriptors.have_written()
    }

    /// Whether it has locked files that it has open (`flock`): others would have them as soon as it leaves. A copy locks them again.
    pub fn locks(&self) -> bool {
        self.descriptors.have_locks()
    }

    fn open_for_good(&self) -> Option<Reason> {
        let movable = |descriptor: c_int| {
            let is_own = self.descriptors.is_own(descriptor);
            self.descriptors.standard(descriptor).is_some() || Departed::of_file(descriptor, is_own).is_ok()
        };
        self.descriptors.open().find(|descriptor| !movable(*descriptor)).map(Reason::open)
    }

    fn stream_for_good(&self, slot: &Range<usize>) -> Option<Reason> {
        let streams = stream::streams_in(slot).into_iter();
        let unknown = |file: &usize| self.descriptors.number(stream::descriptor(*file)).is_none();
        streams.filter(unknown).find_map(|file| match stream::is_of_file(file) {
            false => Some(Reason::Stream),
            true => {
                let descriptor = stream::descriptor(file);
                Departed::of_file(descriptor, false).is_err().then(|| Reason::open(descriptor))
            }
        })
    }
}

impl Reason {
    fn open(descriptor: c_int) -> Reason {
        let mut name = [0; PATH];
        departed::read_link(descriptor, &mut name);
        // SAFETY: it ends with a zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        Reason::Open { descriptor, name }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Open { descriptor, name } => {
                write!(
                    f,
                    "it has {name} open (descriptor {descriptor}), which cannot be opened again elsewhere"
                )
            }
            Reason::Stream => {
                f.write_str("it has a stream open that is no file's, which cannot be opened again elsewhere")
            }
            Reason::Waits => f.write_str("it waits in a function of the system, which is not in its slot"),
            Reason::Locked => f.write_str("it has locked a file, or a part of one"),
            Reason::Threads => f.write_str("it has started threads of its own, which are not in its slot"),
            Reason::Child { process } => {
                write!(f, "it has started a program (process {process}) that has not ended")
            }
            Reason::Mapped { bytes } => {
                write!(f, "it has mapped {bytes} bytes of memory outside of its slot")
            }
        }
    }
}
