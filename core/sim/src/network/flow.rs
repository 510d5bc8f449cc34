//! One direction of a connection: chunks in order, some of them under way.

use std::collections::VecDeque;

use super::chunk::{Cargo, Chunk};
use super::event::{Agenda, ConnId, Side, Step};
use super::frame_faults::Fate;
use super::ways::{Way, Ways};

/// So many bytes of a connection may wait in the line out of its host before others get their turn. Linux lets about
/// as many into the queue of a card.
const TURN_BYTES: usize = 64 << 10;

/// What one end writes to the other.
pub(super) struct Flow {
    conn: ConnId,
    /// The end that writes.
    side: Side,
    pub(super) way: Way,
    /// First those under way, then those that wait for the line.
    chunks: VecDeque<Chunk>,
    under_way: usize,
    /// When the last chunk that set off has left its host.
    left_at: u64,
    /// Bytes that were given to the line, and have not all left.
    turn_bytes: usize,
    /// When the last chunk that set off arrives: none overtakes another.
    arrives_at: u64,
    /// Whether `Left` is planned.
    waits: bool,
    /// Whether `Due` is planned: always when chunks are under way.
    due: bool,
    /// Bytes in the writer's socket buffer.
    buffered: usize,
    /// Those of them that are delivered, which the writer has not heard of.
    unacknowledged: usize,
    /// Whether the writer could not write all it had.
    pub(super) wants_room: bool,
    /// Nobody will read anything more than what is in there.
    pub(super) is_closed: bool,
}

impl Flow {
    pub(super) fn new(conn: ConnId, side: Side, way: Way) -> Self {
        Flow {
            conn,
            side,
            way,
            chunks: VecDeque::new(),
            under_way: 0,
            left_at: 0,
            turn_bytes: 0,
            arrives_at: 0,
            waits: false,
            due: false,
            buffered: 0,
            unacknowledged: 0,
            wants_room: false,
            is_closed: false,
        }
    }

    /// How many more bytes the socket buffer takes.
    pub(super) fn room(&self, socket_bytes: usize) -> usize {
        socket_bytes.saturating_sub(self.buffered)
    }

    /// Puts something behind what is there. It sets off at [`Self::go_on`].
    pub(super) fn push(&mut self, cargo: Cargo) {
        let chunk = Chunk::new(cargo);
        self.buffered += chunk.len();
        self.chunks.push_back(chunk);
    }

    /// Gives the line what it is this connection's turn for, unless nothing passes.
    pub(super) fn go_on(&mut self, ways: &mut Ways, agenda: &mut Agenda) {
        while self.under_way < self.chunks.len() && !ways.holds(self.way) {
            if self.left_at <= agenda.now {
                self.turn_bytes = 0;
            }
            if self.turn_bytes >= TURN_BYTES {
                self.wait_for_line(agenda);
                return;
            }
            self.set_off(ways, agenda);
        }
    }

    /// The line is free for this connection again.
    pub(super) fn left(&mut self, ways: &mut Ways, agenda: &mut Agenda) {
        self.waits = false;
        self.go_on(ways, agenda);
    }

    /// The first chunk under way, if it has arrived. If nothing passes any more, all that was under way will have to set
    /// off again.
    pub(super) fn arrived(&mut self, ways: &mut Ways, agenda: &mut Agenda) -> Option<Chunk> {
        self.due = false;
        if ways.holds(self.way) {
            self.under_way = 0;
        }
        if self.under_way == 0 {
            return None;
        }
        let first = &mut self.chunks[0];
        if first.at <= agenda.now && !first.admitted {
            first.admitted = true;
            first.at = ways.lines.enter(agenda.now, self.way, first.len());
            self.arrives_at = self.arrives_at.max(first.at);
        }
        let there = first.at <= agenda.now;
        let chunk = if there { self.chunks.pop_front() } else { None };
        self.under_way -= there as usize;
        self.plan_due(agenda);
        chunk
    }

    /// Bytes were delivered. Whether the writer has waited for that and hears of it.
    pub(super) fn delivered(&mut self, bytes: usize, ways: &Ways) -> bool {
        self.unacknowledged += bytes;
        !ways.holds(self.way.back()) && self.acknowledged()
    }

    /// The writer hears of all that was delivered. Whether it has waited for that.
    pub(super) fn acknowledged(&mut self) -> bool {
        let bytes = std::mem::take(&mut self.unacknowledged);
        self.buffered -= bytes;
        bytes > 0 && std::mem::take(&mut self.wants_room)
    }

    /// Has what was delivered acknowledged, now that something passes back again.
    pub(super) fn acknowledge(&self, ways: &mut Ways, agenda: &mut Agenda) {
        if self.unacknowledged > 0 && !ways.holds(self.way.back()) {
            let at = agenda.now + ways.lines.latency_ns(self.way.back());
            agenda.plan(at, self.conn, self.side, Step::Acknowledged);
        }
    }

    /// The writer has closed: it asks for nothing more, but what is in there goes its way.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.wants_room = false;
    }

    /// All that is in there is lost, and nobody reads what is written from now on.
    pub(super) fn abandon(&mut self) {
        self.chunks = VecDeque::new();
        self.under_way = 0;
        self.buffered = 0;
        self.unacknowledged = 0;
        self.wants_room = false;
        self.is_closed = true;
    }

    /// Nothing more happens to what is there.
    pub(super) fn heal(&mut self) {
        for chunk in &mut self.chunks {
            chunk.fate = Some(Fate::default());
        }
    }

    fn wait_for_line(&mut self, agenda: &mut Agenda) {
        if !self.waits {
            self.waits = true;
            agenda.plan(self.left_at, self.conn, self.side, Step::Left);
        }
    }

    fn set_off(&mut self, ways: &mut Ways, agenda: &mut Agenda) {
        let chunk = &mut self.chunks[self.under_way];
        let fate = *chunk.fate.get_or_insert_with(|| ways.harms.fate(self.way, &chunk.cargo));
        let bytes = chunk.len() * if fate.doubled { 2 } else { 1 };
        self.turn_bytes += bytes;
        self.left_at = ways.lines.leave(agenda.now, self.way, bytes);
        let at = self.left_at + ways.lines.latency_ns(self.way) + fate.delay_ns();
        self.arrives_at = self.arrives_at.max(at);
        chunk.at = self.arrives_at;
        chunk.admitted = false;
        self.under_way += 1;
        self.plan_due(agenda);
    }

    /// One event per direction is enough, that of its first chunk. After [`Self::abandon`] it may be one of a chunk that is
    /// no more; it comes no later than the new first one, unless the line into the host was busy.
    fn plan_due(&mut self, agenda: &mut Agenda) {
        if self.under_way > 0 && !self.due {
            self.due = true;
            agenda.plan(self.chunks[0].at.max(agenda.now), self.conn, self.side, Step::Due);
        }
    }
}
