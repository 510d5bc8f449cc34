//! What the network wants to be told again later, and what it tells the world.

/// A connection. Numbers are given in the order of dials, and none is used twice.
pub type ConnId = u32;

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Of the node that dialled.
    Dialler,
    /// Of the node that was dialled.
    Acceptor,
}

impl Side {
    /// Both ends.
    pub const BOTH: [Side; 2] = [Side::Dialler, Side::Acceptor];

    /// The other end.
    pub fn other(self) -> Side {
        match self {
            Side::Dialler => Side::Acceptor,
            Side::Acceptor => Side::Dialler,
        }
    }
}

/// Something that the network does at a time. The world keeps it until then, and those of one time in the order in which
/// they were planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    pub(super) conn: ConnId,
    /// The end that wrote, or dialled.
    pub(super) side: Side,
    pub(super) step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Step {
    /// The last chunk that was given to the line has left, and the next one may.
    Left,
    /// The first chunk under way is there.
    Due,
    /// What was delivered while nothing passed back is acknowledged.
    Acknowledged,
    /// Who dialled waits no longer.
    GiveUp,
}

/// What the world is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The node at the acceptor's end has a new connection.
    Dialled(ConnId),
    /// The dialler's end is connected.
    Connected(ConnId),
    /// The dialler's end never will be.
    Refused(ConnId),
    /// Bytes have come to an end.
    Arrived {
        /// The connection.
        conn: ConnId,
        /// The end that reads them.
        side: Side,
        /// Never none.
        bytes: Vec<u8>,
    },
    /// An end that could not write all of something may go on.
    Room {
        /// The connection.
        conn: ConnId,
        /// The end that may write.
        side: Side,
    },
    /// The other side has closed the connection, and all that it wrote has come. This end is over.
    Ended {
        /// The connection.
        conn: ConnId,
        /// The end that hears of it.
        side: Side,
    },
    /// The connection is broken, and what was under way is lost. This end is over.
    Reset {
        /// The connection.
        conn: ConnId,
        /// The end that hears of it.
        side: Side,
    },
    /// A fault that came by rates has had its effect: `lost`, `doubled`, `altered`, `truncated` or `reset`.
    Note(&'static str),
}

/// The present, and what is planned in it.
pub(super) struct Agenda<'a> {
    pub(super) now: u64,
    planned: &'a mut Vec<(u64, Event)>,
}

impl<'a> Agenda<'a> {
    pub(super) fn new(now: u64, planned: &'a mut Vec<(u64, Event)>) -> Self {
        Agenda { now, planned }
    }

    pub(super) fn plan(&mut self, at: u64, conn: ConnId, side: Side, step: Step) {
        debug_assert!(at >= self.now, "{step:?} of connection {conn} planned for the past");
        self.planned.push((at, Event { conn, side, step }));
    }
}
