//! A rank's state of the C library.

use std::ffi::{c_char, c_int, c_long};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::AtomicBool;

use super::accounts::Accounts;
use super::children::Children;
use super::cpu_time::CpuTime;
use super::exit::Exits;
use super::files::appended::Appended;
use super::files::stand_ins::StandIns;
use super::files::{Departed, Descriptors, Locks};
use super::folder::Folder;
use super::getopt::Getopt;
use super::hash_table::HashTable;
use super::keys::Keys;
use super::late::Late;
use super::list::List;
use super::mappings::Mappings;
use super::mask::Mask;
use super::number_texts::NumberTexts;
use super::own_threads::OwnThreads;
use super::process_locale::ProcessLocale;
use super::process_number::ProcessNumber;
use super::random::Random;
use super::signals::Signals;
use super::text::Texts;
use super::thread_locale::ThreadLocale;
use super::time_stamp_counter::TimeStamps;
use super::time_zone::TimeZone;
use crate::Program;

/// A rank's state of the C library: plain data, all of whose addresses are those of the rank's slot.
///
/// It belongs into the slot, must not be moved to other addresses once a program runs, and is the same after the slot
/// has moved to another process.
#[repr(C)]
pub struct State {
    /// Where the program is.
    pub(super) base: usize,
    /// The number of the rank, if it was told.
    pub(super) owner: u32,
    /// Its first thread is in a function that waits for its others.
    pub(super) waits_for_threads: AtomicBool,
    /// A thread of the process makes a call for it, and it waits for that.
    pub(super) waits_elsewhere: bool,
    /// The stack pointer of [`super::run`].
    pub(super) stack: usize,
    /// Where its stack is; empty if that is not known.
    pub(super) own_stack: Range<usize>,
    pub(super) ended: c_int,
    pub(super) status: c_int,
    pub(super) exits: Exits,
    pub(super) variables: Addresses,
    /// The array that `setenv` has made; null if the environment is the one that the program began with.
    pub(super) environment: *mut *mut c_char,
    /// Entries that it has room for.
    pub(super) environment_room: usize,
    pub(super) getopt: Getopt,
    pub(super) random: Random,
    pub(super) texts: Texts,
    pub(super) number_texts: NumberTexts,
    pub(super) time_zone: TimeZone,
    pub(super) hash_table: HashTable,
    /// How the rank ends when what it says first is said.
    pub(super) status_after_message: c_int,
    pub(super) folder: Folder,
    pub(super) keys: Keys,
    pub(super) signals: Signals,
    pub(super) departed: List<Departed>,
    /// These are files of a copy that has arrived, and that were not cut yet.
    pub(super) is_uncut: bool,
    pub(super) descriptors: Descriptors,
    pub(super) stand_ins: StandIns,
    /// Times that it was copied: what it writes over since the last one is in its undo log of that number.
    pub(super) period: u64,
    /// The process that it was copied in.
    pub(super) noted_by: u64,
    /// Files that it has appended to.
    pub(super) appended: List<Appended>,
    /// Numbers of files that it has written to.
    pub(super) written: List<u64>,
    pub(super) locks: Locks,
    pub(super) mask: Mask,
    pub(super) time_stamps: TimeStamps,
    pub(super) locale: ThreadLocale,
    pub(super) process_locale: ProcessLocale,
    pub(super) process_number: ProcessNumber,
    pub(super) accounts: Accounts,
    pub(super) cpu_time: CpuTime,
    pub(super) mappings: Mappings,
    pub(super) late: Late,
    pub(super) threads: OwnThreads,
    pub(super) children: Children,
}

/// Where variables of the C library are in this rank.
#[repr(C)]
pub(super) struct Addresses {
    pub environ: *mut *mut *mut c_char,
    pub optarg: *mut *mut c_char,
    pub optind: *mut c_int,
    pub opterr: *mut c_int,
    pub optopt: *mut c_int,
    pub program_name: *mut *mut c_char,
    pub program_short_name: *mut *mut c_char,
    pub stack_end: *mut usize,
    pub zone_names: *mut [*const c_char; 2],
    pub zone_seconds: *mut c_long,
    pub has_summer_time: *mut c_int,
    pub sign_of_gamma: *mut c_int,
}

/// How a program has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// `exit`, `_exit`, or back from `main`: the status, of which the shell sees the lowest byte.
    Exited(i32),
    /// `abort`.
    Aborted,
}

/// `ended`: while it runs.
pub(super) const RUNNING: c_int = 0;
pub(super) const EXITED: c_int = 1;
pub(super) const ABORTED: c_int = 2;

impl State {
    /// For the copy of a program that is loaded at `base`.
    pub fn new(program: &Program, base: usize) -> State {
        let at = program.variables();
        State {
            base,
            owner: u32::MAX,
            waits_for_threads: AtomicBool::new(false),
            waits_elsewhere: false,
            stack: 0,
            own_stack: 0..0,
            ended: RUNNING,
            status: 0,
            exits: Exits::new(),
            variables: Addresses {
                environ: (base + at.environ) as *mut _,
                optarg: (base + at.optarg) as *mut _,
                optind: (base + at.optind) as *mut _,
                opterr: (base + at.opterr) as *mut _,
                optopt: (base + at.optopt) as *mut _,
                program_name: (base + at.program_name) as *mut _,
                program_short_name: (base + at.program_short_name) as *mut _,
                stack_end: (base + at.stack_end) as *mut _,
                zone_names: (base + at.zone_names) as *mut _,
                zone_seconds: (base + at.zone_seconds) as *mut _,
                has_summer_time: (base + at.has_summer_time) as *mut _,
                sign_of_gamma: (base + at.sign_of_gamma) as *mut _,
            },
            environment: null_mut(),
            environment_room: 0,
            getopt: Getopt::new(),
            random: Random::new(),
            texts: Texts::new(),
            number_texts: NumberTexts::new(),
            time_zone: TimeZone::new(),
            hash_table: HashTable::new(),
            status_after_message: 0,
            folder: Folder::new(),
            keys: Keys::new(),
            signals: Signals::new(),
            departed: List::new(),
            is_uncut: false,
            descriptors: Descriptors::new(),
            stand_ins: StandIns::new(),
            period: 0,
            noted_by: 0,
            appended: List::new(),
            written: List::new(),
            locks: Locks::new(),
            mask: Mask::new(),
            time_stamps: TimeStamps::new(),
            locale: ThreadLocale::new(),
            process_locale: ProcessLocale::new(),
            process_number: ProcessNumber::new(),
            accounts: Accounts::new(),
            cpu_time: CpuTime::new(),
            mappings: Mappings::new(),
            late: Late::new(),
            threads: OwnThreads::new(),
            children: Children::new(),
        }
    }

    /// Whether threads run that the rank has started: its memory has to stay.
    pub fn has_live_threads(&self) -> bool {
        self.threads.are_live()
    }

    /// Says which rank it is of: threads that this starts are [of that](super::owner_of_thread).
    pub fn set_owner(&mut self, rank: u32) {
        self.owner = rank;
    }

    /// Says where the rank's stack is, for programs that ask. Without that they are told where the thread's is.
    pub fn set_stack(&mut self, stack: Range<usize>) {
        self.own_stack = stack;
    }

    /// The standard stream of the process of which this is another descriptor.
    pub fn standard_of(&self, descriptor: c_int) -> Option<c_int> {
        self.descriptors.standard(descriptor)
    }

    /// Gives the rank's descriptors numbers of their own ([`super::Numbers::of_rank`]), before its program runs.
    /// Without that descriptors do not move with the rank, only streams of stdio.
    pub fn number_descriptors(&mut self, numbers: Range<i32>) {
        self.descriptors.set_range(numbers);
    }
}
