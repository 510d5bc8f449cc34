//! What launcher and nodes of a job that logs say to each other beside all else.

use serde::{Deserialize, Serialize};
use talisman_ft::Version;
use talisman_ft::double::Contents;
use talisman_ft::logging::{Holdings, LogId, Membership, Order, Session, Standing};
use talisman_job::{CheckpointTaken, Results};

use crate::protocol::{Place, Stop};

/// From the launcher to a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToMember {
    /// What the leader wants of it, and which process each node is by then, where it has to know.
    Order {
        /// What.
        order: Order,
        /// Of those that are there; nothing if nobody has another process.
        places: Vec<Place>,
        /// The line that the job is in: the version of the cut that it began with, 0 at the job's beginning.
        line: Version,
    },
    /// All hold their parts of the cut of this version: the next line begins with them.
    Line {
        /// Which.
        version: Version,
        /// Who is there in it.
        membership: Membership,
    },
    /// Who is to be there in the next line: what is held for another does not count.
    Expect(Membership),
    /// What it has of this line, its own part and those that it keeps for others, is to be on its disk; the answer is [`FromMember::Written`].
    Write {
        /// Which.
        version: Version,
    },
    /// All have said how it went.
    AllWritten {
        /// Of which line.
        version: Version,
        /// All of it is on disks: what was written before is not needed any more. Else none of it is.
        is_whole: bool,
    },
    /// So much of what its program has said on one of its PEs has been printed, or on one of a node whose keeper it is.
    Printed {
        /// Said in this line.
        line: Version,
        /// On this PE.
        log: LogId,
        /// All before this number.
        before: u64,
    },
    /// The job ends so as soon as all is printed: no entry runs any more; the answer is [`FromMember::Finished`].
    Finish(Stop),
    /// Another has taken the launcher's place; the answer is [`FromMember::Standing`].
    Introduce,
}

/// From a node to the launcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromMember {
    /// The answer to [`Order::Ask`].
    Held(Session, Box<Holdings>),
    /// The answer to [`Order::Announce`].
    Announced(Session),
    /// It has sent all that anybody had taken, and its log is kept again.
    AtHorizon(Session),
    /// Its keeper keeps its image and log again.
    Covered(Session),
    /// Its program has said something on one of its PEs, which no loss can take back: the so-manieth thing there in this line.
    Said {
        /// On the PE of this rank.
        rank: u32,
        /// Counted from 0.
        number: u64,
        /// What.
        said: Said,
    },
    /// Its part of a cut is held by it and its keeper, and all that its program said before is printed.
    Holds {
        /// Which cut.
        version: Version,
        /// As of this recovery.
        session: Session,
        /// If the next line is of the membership of this number.
        membership: u32,
        /// How many objects of which collections are in it.
        contents: Contents,
    },
    /// Of the first node, in the next line: what the cut had cost.
    Took(Box<CheckpointTaken>),
    /// The answer to [`ToMember::Write`].
    Written {
        /// Which line.
        version: Version,
        /// Why it is not on disk, if it is not.
        wrong: Option<String>,
    },
    /// The answer to [`ToMember::Finish`]: all that its program has said is printed, and these are its results.
    Finished(Results),
    /// The answer to [`ToMember::Introduce`].
    Standing {
        /// Where it is.
        standing: Box<Standing>,
        /// How the job ends, if the former launcher has said that it does.
        end: Option<Stop>,
        /// Cuts of which it has said what they had cost.
        took: Vec<CheckpointTaken>,
    },
}

/// Something that a program says to the world outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// A line of its output.
    Line(String),
    /// The job ends.
    End(Stop),
}
