//! What programs in C and Fortran name by handles, besides communicators, datatypes and operations.
//!
//! Programs in Rust have such things as values. The binary interfaces have handles, whose numbers are looked up here;
//! so all of it moves with the rank, and nothing of it is in the program's memory.

mod info;
mod request;
mod table;
mod words;

use std::collections::BTreeMap;

use talisman_pup::Pup;

use crate::comm::{Communicator, Group};
use crate::engine::Held;
use crate::file::File;

pub use info::Info;
pub use request::{Asks, Kept, Record};
pub use table::Table;
pub use words::{Kind, Places, Words};

/// The objects of one rank.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Objects {
    /// How far the program is.
    pub life: Life,
    /// Requests.
    pub requests: Table<Record>,
    /// Groups; 0 has no member.
    pub groups: Table<Group>,
    /// Hints.
    pub infos: Table<Info>,
    /// Error handlers of the program.
    pub handlers: Table<Handler>,
    /// Messages that matched probes have taken out, and the communicators that they came in.
    pub messages: Table<(Held, u32)>,
    /// The error handlers of communicators that have others than at first, by the communicator's handle.
    pub handlers_of: BTreeMap<u32, u32>,
    /// Communicators that were freed and have requests.
    pub retired: BTreeMap<u32, Communicator>,
    /// Keys of attributes whose functions are Fortran's.
    pub fortran_keys: BTreeMap<u32, bool>,
    /// Keys of attributes whose functions are called by others of the program: by the one that copies, by the one that deletes.
    pub key_proxies: BTreeMap<u32, (u64, u64)>,
    /// The function of the program that calls operations of C++; 0 until there is one.
    pub op_proxy: u64,
    /// The code of the program's own that a function of attributes has failed with, until it is returned.
    pub failed_with: Option<i32>,
    /// Sessions that are not finalized.
    pub sessions: Table<Session>,
    /// What tools have.
    pub tools: Tools,
    /// Where handles that are addresses point to.
    pub words: Words,
    /// Where the program has its copies of the interface's data.
    pub places: Places,
    /// Files; their handles are larger by one.
    pub files: Table<File>,
    /// Files beside them that had the pointer that all share, to be deleted at the end.
    pub spent_files: Vec<Vec<u8>>,
    /// The error handler of files that are opened from now on, if it is another one than at first.
    pub handler_of_files: Option<u32>,
    /// Error classes and codes of the program, with their classes and texts.
    pub codes: BTreeMap<i32, (i32, String)>,
    /// Memory that the program has given for buffered sends, to a communicator or to all: address and length. Messages are
    /// copied without it.
    pub buffers: BTreeMap<Option<u32>, (u64, u64)>,
}

/// How far a program is between `MPI_Init` and `MPI_Finalize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pup)]
pub struct Life {
    /// `MPI_Init` was called.
    pub has_begun: bool,
    /// When that was, in seconds of the system's clock; 0 if it was not.
    pub began: u64,
    /// `MPI_Finalize` was called.
    pub has_ended: bool,
    /// The level of threads that the program was granted.
    pub threads: i32,
    /// The number of the program among those of the job.
    pub program: u32,
    /// Another thread than the rank's first has called `MPI_Init`: it is the main one of MPI.
    #[pup(skip)]
    pub is_of_other: bool,
}

/// What tools of the program have of the library's variables (MPI-4.0, chapter 15).
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Tools {
    /// How often tools have begun and not ended.
    pub begun: u32,
    /// Handles of control variables, by these variables' places.
    pub handles: Table<u32>,
    /// Sessions of performance variables, of which there is none.
    pub sessions: Table<()>,
}

/// A session (MPI-4.0, 11.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Session {
    /// Its error handler.
    pub handler: u32,
    /// The level of threads that the program was granted in it.
    pub threads: i32,
    /// Memory that the program has given for buffered sends: address and length.
    pub buffer: Option<(u64, u64)>,
}

/// An error handler of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Handler {
    /// Its function's address.
    pub function: u64,
    /// Whether it is Fortran's.
    pub is_fortran: bool,
    /// The address of the program's function by which it is called, if it is of another language; else 0.
    pub proxy: u64,
    /// How many handles the program has of it.
    pub holders: u32,
}

impl Objects {
    /// The program has freed a communicator. Its requests still name it.
    pub fn retire(&mut self, handle: u32, communicator: Communicator) {
        self.handlers_of.remove(&handle);
        self.buffers.remove(&Some(handle));
        if self.requests.iter().any(|(_, record)| record.communicator == handle) {
            self.retired.insert(handle, communicator);
        }
    }

    /// Takes a request out.
    pub fn close(&mut self, number: u32) {
        self.requests.remove(number);
        if self.requests.is_empty() {
            self.retired.clear();
        }
    }
}
