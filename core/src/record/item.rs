//! What a record consists of, in the order in which it was.

use crate::logging::given::Given;
use talisman_base::ids::PeId;
use talisman_pup::{Packed, Pup, Segment};

/// Of which process a record is, and how that was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Origin {
    /// What the program is called.
    pub program: String,
    /// Tells its executable from others.
    pub build: u64,
    /// Where that was.
    pub executable: Vec<u8>,
    /// The folder that the process was in.
    pub folder: Vec<u8>,
    /// Its command line, without the program's name.
    pub words: Vec<Vec<u8>>,
    /// The variables of its environment that are options.
    pub variables: Vec<(Vec<u8>, Vec<u8>)>,
    /// Nodes of the job.
    pub nodes: u32,
    /// PEs of each.
    pub pes_per_node: u32,
    /// The PE, counted over all nodes.
    pub pe: PeId,
    /// Which of the processes it was that were started in the place of lost ones, counted from 1; 0 if it was there at
    /// the start.
    pub life: u64,
}

/// Something that the PE was given, or did.
#[derive(Clone, Debug, PartialEq, Pup)]
pub enum Item {
    /// It was made anew, and everything before is over.
    Begins {
        /// What its clock said, in nanoseconds.
        made_at: u64,
        /// The version of the checkpoint that it began with, if it was one.
        line: u64,
        /// What it began with.
        with: Begins,
    },
    /// It was given something that is no message; that its clock said another time is one of these.
    Given(Given),
    /// It took in a frame of another PE.
    Taken {
        /// Whose.
        from: PeId,
        /// As it came.
        frame: Packed,
    },
    /// A message of its queue ran.
    Ran,
    /// Timers that were due fired.
    Timers,
    /// It had nothing else to do.
    Rested,
    /// It read a value of the world, packed.
    Value(Vec<u8>),
    /// It sent a frame to another PE.
    Sent(Sent),
    /// Another PE of its node had a read-only value for it.
    Shared {
        /// Its name.
        id: u64,
        /// It.
        value: Packed,
    },
    /// The process came to its end.
    Ends,
}

impl Item {
    /// Whether it is something that the PE was given, not what came of that.
    pub fn is_input(&self) -> bool {
        !matches!(self, Item::Value(_) | Item::Sent(_) | Item::Shared { .. })
    }
}

/// What a PE begins with.
#[derive(Clone, Debug, PartialEq, Pup)]
pub enum Begins {
    /// Nothing.
    Nothing,
    /// The program's first message.
    Program,
    /// Parts of a checkpoint.
    Parts(Packed),
}

/// Bytes of a frame's head that are kept, to tell what it was.
const HEAD_KEPT: usize = 256;

/// What a frame was that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Sent {
    /// To which PE.
    pub to: PeId,
    /// Its bytes, slices beside its head included.
    pub bytes: u64,
    /// CRC-32 of all of them.
    pub sum: u32,
    /// How its head began.
    pub head: Vec<u8>,
    /// Whether all its bytes follow from what the PE was given. If not, they are not compared.
    pub is_determined: bool,
}

impl Sent {
    /// Of a frame.
    pub fn of(to: PeId, head: &[u8], segments: &[Segment]) -> Sent {
        let mut sum = crc32fast::Hasher::new();
        sum.update(head);
        let mut bytes = head.len() as u64;
        for segment in segments {
            sum.update(segment.bytes());
            bytes += segment.bytes().len() as u64;
        }
        let head = head[..head.len().min(HEAD_KEPT)].to_vec();
        Sent { to, bytes, sum: sum.finalize(), head, is_determined: true }
    }

    /// The same of a frame with bytes that nothing determines.
    pub fn undetermined(self) -> Sent {
        Sent { is_determined: false, ..self }
    }
}
