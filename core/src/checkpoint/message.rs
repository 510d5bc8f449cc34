//! What PEs say to each other about checkpoints.

use crate::checkpoint::CheckpointsOnPe;
use talisman_base::ids::PeId;
use talisman_ft::{NodeId, Version};
use talisman_job::checkpoints::{CkptEvery, CkptSettings};
use talisman_kernel::message::service::{Queueing, Service, ServiceMessage, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::route::Route;
use talisman_kernel::wire::check::{Checked, require};
use talisman_pup::{Packed, Pup};
use talisman_store::cma::Lent;
use talisman_store::contents::Counts;
use talisman_store::pieces::Manifest;

/// A message about a checkpoint. None waits in a queue, behind entries.
#[derive(Debug, Pup)]
pub enum Checkpoint {
    /// To the root: a checkpoint is wanted; this receiver is told once it is committed.
    Request { why: Why, then: Option<Route> },
    /// Down: no entry runs any more, and everything else is to come to its end. Of what these nodes have, others are to have two copies.
    Freeze { version: Version, leaving: Vec<NodeId> },
    /// Down: count.
    Ask { wave: u32 },
    /// Up: messages that a whole branch has sent and received, in this wave.
    Count { wave: u32, sent: u64, received: u64 },
    /// Down: nothing is on its way; each takes its part.
    Take,
    /// Up: a whole branch has.
    Taken(Taken, Counts),
    /// Down: all have, and these are the objects in their parts; the program goes on.
    Thaw(Counts),
    /// To the PE of the buddy that is in the same lane: the sender's part comes, in pieces, or is to be read where it is.
    Copy { version: Version, manifest: Manifest, lent: Option<Lent> },
    /// One of them, with its checksum: slices of the part.
    Piece { version: Version, piece: u32, sum: u32, slices: Packed },
    /// Back: it has come.
    Got { version: Version },
    /// Back: so has the last one, and all of it is held there.
    Stored { version: Version },
    /// To the root: this PE's part is held twice, or as often as can be.
    Safe { version: Version },
    /// Down: so is everybody's. Older versions are not needed any more.
    Commit { version: Version },
    /// Back: all of it has come, and cannot be kept there.
    NotStored { version: Version, why: String },
    /// To the root: this PE's part cannot be kept twice.
    NotSafe { version: Version, why: String },
    /// Down: this version will never be complete; the one before it stays.
    GiveUp { version: Version },
    /// Back: it cannot be read where it is; it is to come in pieces.
    Bring { version: Version },
    /// Down: this version, which is committed, is to be on disk as well.
    Write { version: Version },
    /// To the root: the parts of this PE are, its own and those that it has copies of.
    Written { version: Version },
    /// To the root: some of them cannot be.
    NotWritten { version: Version, why: String },
    /// Down: everybody's are, so that what was written before is not needed any more; or never will be, and are not needed themselves.
    AllWritten { version: Version, is_whole: bool },
    /// To the root: these nodes are about to go, once the checkpoint is there that is asked for next.
    Leaving { nodes: Vec<NodeId> },
}

/// What a branch took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pup)]
pub struct Taken {
    /// Bytes of all parts.
    pub bytes: u64,
    /// Objects in them.
    pub objects: u64,
    /// Entries that have run so far.
    pub run: u64,
}

impl Taken {
    /// With that of others.
    pub fn add(&mut self, other: Taken) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.objects = self.objects.saturating_add(other.objects);
        self.run = self.run.saturating_add(other.run);
    }
}

/// Why a checkpoint is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pup)]
pub enum Why {
    /// A period is over.
    Period,
    /// The program has done this step.
    Step(u64),
    /// The program asked for it.
    Request,
    /// Somebody outside asked for it: to be kept on disk as well (`talisman checkpoint`), or to go on from at once with other nodes.
    Asked { on_disk: bool },
    /// Nodes were lost, and their parts are held but once.
    Failure,
}

impl Why {
    /// What it is called in the log and the report.
    pub fn name(self, settings: &CkptSettings) -> &'static str {
        match self {
            Why::Period if settings.every == CkptEvery::Auto => "auto",
            Why::Period => "period",
            Why::Step(_) => "steps",
            Why::Request => "request",
            Why::Asked { .. } => "asked",
            Why::Failure => "failure",
        }
    }
}

service!(Checkpoint);

impl ServiceMessage for Checkpoint {
    const SERVICE: Service = Service::Checkpoints;

    fn run(self, pe: &Pe, from: PeId) {
        pe.on_checkpoint(from, self);
    }

    fn check(&self, pe: &Pe) -> Checked {
        require(pe.checkpoints().is_some(), "a message about a checkpoint, of which there are none")?;
        match self {
            Checkpoint::Request { .. }
            | Checkpoint::Safe { .. }
            | Checkpoint::NotSafe { .. }
            | Checkpoint::Leaving { .. } => {
                require(pe.is_first(), "a checkpoint is asked for where it does not begin")
            }
            _ => Ok(()),
        }
    }

    /// Whether quiescence, and a checkpoint itself, waits for it: if the program waits for what comes of it. Others than the program
    /// may ask for a checkpoint while one is taken.
    fn is_counted(&self) -> bool {
        matches!(self, Checkpoint::Request { then: Some(_), .. })
    }

    /// It says things about the queue, and so does not wait in it.
    fn queueing(&self) -> Queueing {
        Queueing::AtOnce
    }

    fn request_again(self, pe: &Pe) {
        match self {
            Checkpoint::Request { why, then } => pe.want_checkpoint(why, then),
            other => pe.tell(pe.id, other),
        }
    }
}
