//! Ports and names (MPI-4.0, 11.9): how ranks that have no communicator together come to one.
//!
//! A port is kept by the rank that opened it, names by rank 0, which also gives numbers to ranks that begin later. Whoever
//! wants something of them *asks*: it sends a frame, and the answer is an ordinary message in a context that nothing else
//! has. So what is kept moves, is checkpointed and does again what it did with its rank's process; and as frames of windows
//! are, they are taken in wherever that rank's program is, also when it has ended.
//!
//! At a port the n-th rank that connects meets the n-th that accepts. Each is told who the other is, and a number that no
//! other two have of this port. What they agree on then is theirs.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use talisman_pup::Pup;

use crate::engine::{Rank, Tag};

/// Who keeps the names.
pub const KEEPER: Rank = 0;

/// The longest name of a port, with a zero at its end: MPICH's `MPI_MAX_PORT_NAME`, the shortest of the interfaces.
pub const NAME_MAX: usize = 256;

/// Something that is asked of a rank's ports, or of the names that it keeps. The answer has this tag.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Ask {
    /// What.
    pub wish: Wish,
    /// The tag of the answer.
    pub answer: Tag,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Wish {
    /// The next one that connects to this port.
    Accept(u32),
    /// The next one that accepts at it.
    Connect(u32),
    /// Nobody meets there any more.
    Close(u32),
    /// The name of a service is to mean this port.
    Publish(Vec<u8>, Port),
    /// Which port that is.
    LookUp(Vec<u8>),
    /// It does not mean it any more.
    Unpublish(Vec<u8>),
    /// Numbers for so many ranks that begin.
    Ranks(u32),
}

/// A port of the job, among all that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Port {
    /// The rank that opened it.
    pub owner: Rank,
    /// Its number there.
    pub number: u32,
}

/// What names of ports begin with.
const START: &str = "talisman://port/";

impl Port {
    /// As programs of the job with this mark know it.
    pub fn name(self, mark: u64) -> String {
        format!("{START}{}.{}.{mark:x}", self.owner, self.number)
    }

    /// The port that a program of the job with this mark means; none if it is the name of none, or of one of another job.
    pub fn of_name(name: &[u8], mark: u64) -> Option<Port> {
        let numbers = std::str::from_utf8(name).ok()?.strip_prefix(START)?;
        let (owner, rest) = numbers.split_once('.')?;
        let (number, _) = rest.split_once('.')?;
        let port = Port { owner: owner.parse().ok()?, number: number.parse().ok()? };
        // A number may be written in several ways.
        (port.name(mark).as_bytes() == name).then_some(port)
    }
}

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done.
    Done,
    /// This rank has come, too.
    Met {
        /// Who.
        peer: Rank,
        /// The number of this meeting at the port.
        meeting: u32,
    },
    /// The name means this port.
    Means(Port),
    /// There is no such port; or it was closed meanwhile.
    NoPort,
    /// No port has this name, or one has it already.
    NoName,
    /// The first of the numbers.
    Ranks(Rank),
    /// There are no more than so many.
    NoRanks(u32),
}

impl Answer {
    /// Bytes of an answer.
    pub const LEN: usize = 12;

    /// As the bytes of a message.
    pub fn to_bytes(self) -> [u8; Answer::LEN] {
        let words = match self {
            Answer::Done => [0, 0, 0],
            Answer::Met { peer, meeting } => [1, peer, meeting],
            Answer::Means(Port { owner, number }) => [2, owner, number],
            Answer::NoPort => [3, 0, 0],
            Answer::NoName => [4, 0, 0],
            Answer::Ranks(first) => [5, first, 0],
            Answer::NoRanks(left) => [6, left, 0],
        };
        let mut bytes = [0; Answer::LEN];
        bytes
            .chunks_exact_mut(4)
            .zip(words)
            .for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
        bytes
    }

    /// What these bytes say; none if they are no answer.
    pub fn of_bytes(bytes: &[u8; Answer::LEN]) -> Option<Answer> {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * at + byte]));
        Some(match (word(0), word(1), word(2)) {
            (0, ..) => Answer::Done,
            (1, peer, meeting) => Answer::Met { peer, meeting },
            (2, owner, number) => Answer::Means(Port { owner, number }),
            (3, ..) => Answer::NoPort,
            (4, ..) => Answer::NoName,
            (5, first, _) => Answer::Ranks(first),
            (6, left, _) => Answer::NoRanks(left),
            _ => return None,
        })
    }
}

/// A rank that is to be answered, and the tag of that.
pub type Asker = (Rank, Tag);

/// The ports of one rank, and what it keeps for others.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Ports {
    open: BTreeMap<u32, Queues>,
    opened: u32,
    names: BTreeMap<Vec<u8>, Port>,
    /// How often this rank has asked somebody.
    asked: u32,
    /// What tells ranks of this job from those of others.
    mark: u64,
    /// The number of the rank that begins next, and how many there are from there on.
    next_rank: Rank,
    ranks_left: u32,
}

/// Who waits at a port: all of them connect, or all accept.
#[derive(Debug, Default, PartialEq, Pup)]
struct Queues {
    connect: VecDeque<Asker>,
    accept: VecDeque<Asker>,
    meetings: u32,
}

impl Ports {
    /// Of a job that has begun with so many ranks; so many more may begin.
    pub fn new(ranks: u32, more: u32) -> Ports {
        Ports { next_rank: ranks, ranks_left: more, ..Ports::default() }
    }

    /// A new port of this rank (`MPI_Open_port`).
    pub fn open(&mut self, owner: Rank) -> Port {
        let number = self.opened;
        self.opened += 1;
        self.open.insert(number, Queues::default());
        Port { owner, number }
    }

    /// What tells ranks of this job from those of others: the same in all of them.
    pub fn mark(&self) -> u64 {
        self.mark
    }

    /// It is this.
    pub(crate) fn set_mark(&mut self, mark: u64) {
        self.mark = mark;
    }

    /// The tag of an answer: no other one that this rank waits for has it.
    pub fn next_tag(&mut self) -> Tag {
        let tag = self.asked & Tag::MAX as u32;
        self.asked = self.asked.wrapping_add(1);
        tag as Tag
    }

    /// A rank asks for something. Who is to be answered, and what: maybe nobody yet.
    pub fn on_ask(&mut self, by: Rank, ask: &Ask) -> Vec<(Asker, Answer)> {
        let asker = (by, ask.answer);
        match &ask.wish {
            Wish::Accept(port) => self.come(*port, asker, true),
            Wish::Connect(port) => self.come(*port, asker, false),
            Wish::Close(port) => self.close(*port, asker),
            Wish::Publish(name, port) => {
                let is_new = !self.names.contains_key(name);
                if is_new {
                    self.names.insert(name.clone(), *port);
                }
                vec![(asker, if is_new { Answer::Done } else { Answer::NoName })]
            }
            Wish::LookUp(name) => {
                vec![(asker, self.names.get(name).map_or(Answer::NoName, |port| Answer::Means(*port)))]
            }
            Wish::Ranks(count) => vec![(asker, self.give_ranks(*count))],
            Wish::Unpublish(name) => {
                vec![(asker, self.names.remove(name).map_or(Answer::NoName, |_| Answer::Done))]
            }
        }
    }

    /// Numbers for so many ranks that begin together: none is given twice.
    fn give_ranks(&mut self, count: u32) -> Answer {
        let Some(left) = self.ranks_left.checked_sub(count) else { return Answer::NoRanks(self.ranks_left) };
        let first = self.next_rank;
        (self.next_rank, self.ranks_left) = (first + count, left);
        Answer::Ranks(first)
    }

    /// Who comes to a port meets the first that waits on the other side, or waits.
    fn come(&mut self, port: u32, asker: Asker, accepts: bool) -> Vec<(Asker, Answer)> {
        let Some(queues) = self.open.get_mut(&port) else { return vec![(asker, Answer::NoPort)] };
        let (own, others) = match accepts {
            true => (&mut queues.accept, &mut queues.connect),
            false => (&mut queues.connect, &mut queues.accept),
        };
        let Some(other) = others.pop_front() else {
            own.push_back(asker);
            return Vec::new();
        };
        let meeting = queues.meetings;
        queues.meetings = queues.meetings.wrapping_add(1);
        let met = |peer: Asker| Answer::Met { peer: peer.0, meeting };
        vec![(asker, met(other)), (other, met(asker))]
    }

    /// Who waits there has come in vain.
    fn close(&mut self, port: u32, asker: Asker) -> Vec<(Asker, Answer)> {
        let Some(Queues { connect, accept, .. }) = self.open.remove(&port) else {
            return vec![(asker, Answer::NoPort)];
        };
        let in_vain = connect.into_iter().chain(accept).map(|waits| (waits, Answer::NoPort));
        in_vain.chain([(asker, Answer::Done)]).collect()
    }
}
