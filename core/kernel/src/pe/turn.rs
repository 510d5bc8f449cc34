//! The door of a PE: all that its state does not determine comes in here.
//!
//! Whoever drives a PE, a thread or a simulator, decides when it has a turn, what is taken from which source, and how many messages run:
//! it is a [`Feed`]. Beside turns there are commands from outside ([`Pe::command`]), and values of the world ([`Pe::was_idle`], [`world`]).
//! Everything else a PE does follows from these and from what it has been, so a fresh PE that is given the same does the same. An
//! [`InputLog`] keeps what was given.

use super::input_log::InputLog;
use super::{Pe, try_current};
use crate::net::Net;
use crate::port::Port;
use talisman_job::job::Asked;
use talisman_observe::stats::count;
use talisman_pup::{Pup, from_bytes, to_bytes};

/// Some 4 µs: several times what a turn costs.
const TICKS_BETWEEN_LOOKS: u64 = 12_000;
/// Some 20 µs: what looking at sockets costs is little beside.
const TICKS_BETWEEN_SOCKETS: u64 = 60_000;

/// What the world decides about a turn. A kind of input that a feed says nothing about does not come.
pub trait Feed {
    /// Hands over what has come from the sources; whether that was anything.
    fn take_in(&mut self, _: &Pe) -> bool {
        false
    }

    /// Messages that run at most.
    fn most(&self) -> usize {
        0
    }

    /// So many messages have run: whether these are enough for this turn.
    fn is_enough(&mut self, _: &Pe, _ran: usize) -> bool {
        false
    }

    /// Whether it is looked at which timers are due.
    fn looks_at_timers(&self) -> bool {
        false
    }

    /// Nothing was done: whether it is time for what is done then.
    fn may_rest(&self, _: &Pe) -> bool {
        false
    }
}

/// What somebody beside the PEs asks of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// It has had nothing to do for too long: it is to find out whether anybody ever will.
    Suspect,
    /// A checkpoint, before these nodes go; if somebody outside the job asked: whether it is to be on disk.
    Checkpoint { asked: Option<bool>, leaving: Vec<u32> },
    /// A step of load balancing; somebody outside the job asked for it.
    Balance,
    /// Whoever was to have a copy of the node's parts of the checkpoint of this version has no memory for it.
    CannotKeep(u64),
}

impl From<Asked> for Command {
    fn from(asked: Asked) -> Command {
        match asked {
            Asked::Checkpoint { on_disk, leaving } => Command::Checkpoint { asked: Some(on_disk), leaving },
            Asked::Balance => Command::Balance,
        }
    }
}

impl Pe {
    /// A turn: takes in what has come, runs messages, fires timers, and if there was nothing of all that does idle work; whether anything
    /// was done, or had come. User code runs in here.
    ///
    /// The feed is given away, so that the loop has it in registers: nobody else has its address.
    #[inline]
    pub fn turn(&self, mut feed: impl Feed) -> bool {
        match self.input_log.is_off() {
            true => self.take_turn::<false>(&mut feed),
            false => self.take_turn_watched(feed),
        }
    }

    #[cold]
    #[inline(never)]
    fn take_turn_watched(&self, mut feed: impl Feed) -> bool {
        self.trace_pause();
        self.input_log.note_time(self);
        let any = match self.input_log {
            InputLog::Traced => self.take_turn::<false>(&mut feed),
            _ => self.take_turn::<true>(&mut feed),
        };
        self.input_log.note_end_of_turn();
        self.trace_pause();
        any
    }

    #[inline(always)]
    fn take_turn<const LOGGED: bool>(&self, feed: &mut impl Feed) -> bool {
        let came = feed.take_in(self);
        let ran = self.run_some::<LOGGED>(feed);
        let mut any = came | (ran > 0);
        if feed.looks_at_timers() {
            any |= if LOGGED { self.fire_timers() } else { self.run_timers() };
        }
        if !any && feed.may_rest(self) {
            any = if LOGGED { self.rest() } else { self.do_chores() };
        }
        any
    }

    /// Whether others may have something to do here, or something may have come for this PE, while a long entry looks for it again and
    /// again. That entry is to end then, so it is told no more often than every few microseconds: one that has something to do between
    /// two looks would do little else. What sockets may have brought is not seen in memory, and thought so less often. Never where it is
    /// not a thread that decides what comes when.
    pub fn may_have_come(&self) -> bool {
        let Port::Threads(port) = &self.port else { return false };
        let now = self.clock.ticks();
        let since = now.wrapping_sub(self.looked.get());
        if since < TICKS_BETWEEN_LOOKS {
            return false;
        }
        let may_be_in_sockets =
            || since > TICKS_BETWEEN_SOCKETS && port.net.as_ref().is_some_and(Net::has_sockets);
        let may_come = || !self.is_queue_empty() || port.has_work() || may_be_in_sockets();
        let may_have_come = !self.input_log.is_told() && may_come();
        if may_have_come {
            self.looked.set(now);
        }
        may_have_come
    }

    /// What was sent leaves now, not at the end of the turn: for a long entry. Not where it is kept, since it waits for that then.
    pub fn flush(&self) {
        let leaves_now = matches!(self.input_log, InputLog::Off | InputLog::Traced);
        if let Port::Threads(port) = &self.port
            && leaves_now
        {
            port.flush();
            port.net.iter().for_each(|net| _ = net.flush(self));
        }
    }

    /// Timers that are due fire, which is told; whether any did.
    pub fn fire_timers(&self) -> bool {
        self.input_log.note_timers(self);
        self.run_timers()
    }

    /// It does what is done when nothing else is to do, which is told; whether that was anything.
    pub fn rest(&self) -> bool {
        self.input_log.note_rest(self);
        self.do_chores()
    }

    /// Runs messages; how many.
    #[inline(always)]
    fn run_some<const LOGGED: bool>(&self, feed: &mut impl Feed) -> usize {
        let (mut ran, most) = (0, feed.most());
        while ran < most && !self.stopped.get() {
            // Before it runs: it may not come to its end.
            if LOGGED && !self.is_queue_empty() {
                self.input_log.note_run(self);
            }
            if !self.run_one() {
                break;
            }
            ran += 1;
            if feed.is_enough(self, ran) || self.ends_turn.take() {
                break;
            }
        }
        ran
    }

    /// Somebody beside the PEs asks for something.
    pub fn command(&self, command: Command) {
        self.input_log.note_command(self, &command);
        self.services.on_command(self, command);
    }

    /// It had nothing to do for so long, and its core was given to others, or slept, for a part of that.
    pub fn was_idle(&self, idle_ns: u64, released_ns: u64) {
        self.input_log.note_idle(self, idle_ns, released_ns);
        self.trace_idle(idle_ns, released_ns);
        count(&self.stats.idle_ns, idle_ns);
        count(&self.stats.released_ns, released_ns);
    }
}

/// A value that a program has from elsewhere than its state and its messages: from a file, say, or from what all PEs of a test share. Where a
/// PE is run again from what it was given, it gets this value again, and `read` is not called.
#[doc(hidden)]
pub fn world<T: Pup>(read: impl FnOnce() -> T) -> T {
    let again = try_current(|pe| pe.input_log.next_value()).flatten();
    if let Some(bytes) = again {
        // What is read here was written below, in this process.
        return from_bytes(&bytes)
            .unwrap_or_else(|error| panic!("{}", another_value::<T>(&error.to_string())));
    }
    let value = read();
    try_current(|pe| pe.input_log.note_value(|| to_bytes(&value)));
    value
}

/// The same of bytes that `read` puts into the place, and how many it says they are: a negative number if there are none.
#[doc(hidden)]
pub fn world_bytes(place: &mut [u8], read: impl FnOnce(&mut [u8]) -> i64) -> i64 {
    let known = |count: i64, most: usize| usize::try_from(count).unwrap_or(0).min(most);
    let again = try_current(|pe| pe.input_log.next_value()).flatten();
    if let Some(bytes) = again {
        let (count, bytes): (i64, Vec<u8>) = from_bytes(&bytes)
            .unwrap_or_else(|error| panic!("{}", another_value::<Vec<u8>>(&error.to_string())));
        // The place is where it was, unless the program does not do what it did: then it may be shorter.
        let len = bytes.len().min(place.len());
        place[..len].copy_from_slice(&bytes[..len]);
        return count;
    }
    let count = read(place);
    let read = &place[..known(count, place.len())];
    try_current(|pe| pe.input_log.note_value(|| to_bytes(&(count, read.to_vec()))));
    count
}

fn another_value<T>(error: &str) -> String {
    format!(
        "a PE that runs again asks the world for a `{}`, where it asked for something else before ({error})",
        std::any::type_name::<T>()
    )
}

/// Whether the PE of this thread is one that runs again from what another was given: what it does beside sending is done already.
#[doc(hidden)]
pub fn runs_again() -> bool {
    try_current(|pe| pe.input_log.runs_again()).unwrap_or(false)
}

/// Whether the PE of this thread runs again alone (`talisman replay`): nobody gets what it sends, and what its objects say is shown where
/// they say it.
#[doc(hidden)]
pub fn runs_alone() -> bool {
    try_current(|pe| pe.input_log.runs_alone()).unwrap_or(false)
}

/// A number that changes whenever a checkpoint is committed, as far as the node of this thread's PE knows.
#[doc(hidden)]
pub fn committed() -> u64 {
    try_current(|pe| pe.node.store.committed()).flatten().map_or(0, |version| version + 1)
}

/// Says whether the job of this thread's PE has ended, also when there is no PE any more. None if there is none now.
#[doc(hidden)]
pub fn end_of_job() -> Option<impl Fn() -> bool + Send + Sync + 'static> {
    let job = try_current(|pe| pe.node.job.clone())?;
    Some(move || job.how_it_ended().is_some())
}

/// What is packed now, to be sent next, has bytes that do not follow from what the PE of this thread was given, as the stack of a virtual
/// rank has. Where the PE runs again they may be others.
#[doc(hidden)]
pub fn packs_undetermined() {
    try_current(|pe| {
        pe.input_log.note_undetermined();
        pe.port.note_undetermined();
    });
}
