//! What nodes say to each other beside frames, and to their leader.

use serde::{Deserialize, Serialize};

use super::image::Image;
use super::letter::Letter;
use super::mark::{Differs, Mark};
use talisman_ft::event::Event;
use talisman_ft::logging::ticket::{Ticket, Tn};
use talisman_ft::logging::{Batch, ImageId, Incarnation, Position, Session, Stable};
use talisman_ft::{NodeId, Version};
use talisman_job::job::End;

/// From one node to another. Between each two it is first in, first out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Word {
    /// To the keeper: these entries are to be kept.
    Flush(Vec<Batch>),
    /// So much is.
    Stable(Vec<Stable>),
    /// How much of the receiver's log is stable?
    AskStable,
    /// To the keeper: an image, and entries of others' logs that it depends on.
    Copy(Box<Image>, Vec<Batch>),
    /// It is here, whole.
    Stored(Position),
    /// A link begins: so many frames were taken from the receiver, by rank, and what these were. Whether the same is to be said in return.
    From { taken: Vec<u64>, marks: Vec<Vec<Mark>>, answer: bool },
    /// A restarted node wants its image.
    Fetch(ImageId),
    /// Here it is.
    Image(Box<Image>),
    /// To the keeper: whether there is memory for so many bytes, which the sender is to begin the line of this version with.
    AskRoom(Version, u64),
    /// There is, or there is none.
    Room(Version, bool),
    /// To the keeper: what the sender is to begin the next line with.
    Next(Box<Image>),
    /// That of this version is here, whole.
    HasNext(Version),
    /// To whoever acts for the sender, which is released, in the next line if that is of the membership of this number: its part.
    HandOver(u32, Box<Image>),
    /// With `logging:ticket`: tickets are wanted for these frames, by rank and number.
    AskTickets(Vec<(u32, u64)>),
    /// Here they are.
    Tickets(Vec<(u32, u64, Ticket)>),
    /// A link begins: these tickets of the receiver's are known here, by rank.
    Noted(Vec<Noted>),
}

/// What a node knows of the tickets of a PE on another, of the rank of its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Noted {
    /// Those of its frames, by their numbers.
    pub tickets: Vec<(u64, Tn)>,
    /// The highest that it has seen.
    pub highest: u64,
}

/// Something that a program says to the world outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Text of its output.
    Line(String),
    /// The job ends.
    End(End),
}

/// What a node has for somebody else.
#[derive(Clone, Debug)]
pub enum Out {
    /// From the PE of this rank to another node, on the lane.
    Letter(u32, NodeId, Letter),
    /// To another node, beside it: from the process of one incarnation to that of another.
    Word(NodeId, (Incarnation, Incarnation), Word),
    /// To the leader.
    Report(Event),
    /// To whoever prints: the so-manieth thing that its program says on the PE of this rank.
    Say(u32, u64, Said),
    /// To whoever drives it: there is something for the PE of this rank to take in.
    Wake(u32),
    /// To whoever drives it: its PEs are to be made from this image, and to run again.
    Begin(Box<Image>),
    /// To whoever leads: its part of the cut of this version is held twice, as of this recovery, in the membership of this number.
    Holds(Version, Session, u32),
    /// To whoever drives it: whether there is memory for so many bytes, which this node may be sent as its part of the cut of this version. The
    /// answer is [`Member::has_room`](super::member::Member::has_room).
    AskRoom(NodeId, Version, u64),
    /// To whoever drives it: its keeper has no memory for its part of this cut.
    CannotKeep(Version),
    /// To whoever drives it: what it has for another node cannot be read, for this reason.
    Unreadable(String),
    /// To whoever drives it: a PE that runs again has sent another frame than before.
    Differs(Box<Differs>),
}
