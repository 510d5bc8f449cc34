//! What the driver of a node hands one of its PEs, and what that hands back. All that goes between their threads is here.
//!
//! A PE is handed one thing at a time, with its record: what it is given is written there by whoever gives it. When it is done, the driver
//! gets all of it at once: what the PE was given, has sent and has said. So what the node keeps, and tells others, is of one moment, whatever
//! its PEs are at. What a PE has come to until it is asked again is in its [`Stand`]: nobody else looks at it.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use talisman_base::ids::PeId;
use talisman_core::logging::image::Image;
use talisman_core::logging::mark::Differs;
use talisman_core::logging::member::Taken;
use talisman_core::logging::recorder::Lent;
use talisman_core::logging::replay::Again;
use talisman_core::logging::words::Said;
use talisman_ft::Version;
use talisman_ft::double::Contents;
use talisman_kernel::node::Node;
use talisman_kernel::pe::turn::Command;
use talisman_kernel::port::{Parcel, Sent};
use talisman_observe::stats::Totals;
use talisman_pup::Packed;

/// Something that a PE is to do.
pub(super) enum Task {
    /// It is made, of this node, and begins with its part of the image.
    Begin { id: PeId, node: Arc<Node>, image: Arc<Image> },
    /// A turn, in which it takes this in, and runs messages if it may, until it has sent so many bytes to other nodes. It begins `since`.
    Turn { taken: Vec<Taken>, runs: bool, bytes: u64, since: Instant },
    /// What it does next that runs again. Messages that follow for certain run as well.
    Again(Again),
    /// Somebody beside the PEs asks for something.
    Command(Command),
    /// It tells what it has counted, while its node keeps so many bytes.
    Figures { kept: u64 },
    /// Its part of a cut is asked for.
    Part(Version),
    /// What is in all parts of the node is asked for.
    Contents(Version),
    /// What a frame is that it has sent another one in place of.
    Describe(Box<Differs>),
    /// Messages between the PEs of the node that nobody takes any more.
    Discard(Vec<Parcel>),
    /// It goes, with all that is in it: the next line has begun. So many bytes of its shelf are left for that at most, if so.
    EndInLine { shelf: Option<usize> },
    /// It goes: the job is over, which took so long.
    End(Duration),
}

/// A task, with what it takes.
pub(super) struct Handed {
    /// The time of the job, which a PE's clock is not behind, in nanoseconds.
    pub(super) now: u64,
    pub(super) record: Lent,
    pub(super) task: Task,
    /// Room for what the PE sends after this.
    pub(super) room: Vec<Sent>,
}

/// What has come of a task.
#[derive(Default)]
pub(super) struct Done {
    pub(super) record: Lent,
    /// What the PE has sent and said, in order.
    pub(super) sent: Vec<Sent>,
    pub(super) said: Vec<Said>,
    /// None of a PE on the driver's thread, of which that can be [asked](super::seat::Seat::look) when what it has sent is on its way.
    pub(super) stand: Option<Stand>,
    pub(super) answer: Answer,
}

/// What a task asks for.
#[derive(Default)]
pub(super) enum Answer {
    #[default]
    Nothing,
    /// Whether anything was done in the turn.
    Did(bool),
    Part(Packed),
    Contents(Contents),
    Described(String),
    Totals(Totals),
    /// It could not be done: why.
    Failed(String),
    /// The PE's thread has panicked, with this.
    Panicked(Box<dyn Any + Send>),
}

/// How it stands with a PE between two tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Stand {
    /// Its image has come.
    pub(super) is_there: bool,
    /// What its clock says, in nanoseconds.
    pub(super) clock: u64,
    /// It has a message to run.
    pub(super) may_run: bool,
    /// Messages in its queue.
    pub(super) waiting: usize,
    pub(super) has_chores: bool,
    pub(super) is_frozen: bool,
    /// When its next timer is due; whether it waits for one that lets the program go on.
    pub(super) timer: Option<Duration>,
    pub(super) hopes: bool,
    /// It may suspect that nobody will ever have anything to do.
    pub(super) may_suspect: bool,
    /// Bytes of its shelf in which nothing lies that was sent in this line.
    pub(super) spare: u64,
    /// The version of which it has taken its part.
    pub(super) cut: Option<Version>,
    /// The last one that was given up, and whether there was no memory for its own part of that.
    pub(super) given_up: (Version, bool),
}

impl Stand {
    /// Whether a timer is due by then, in nanoseconds.
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.timer.is_some_and(|due| due.as_nanos() <= now.into())
    }
}
