//! A connection: two ends, and a flow from each to the other.

use super::chunk::{Cargo, Chunk, chunk_len};
use super::event::{Agenda, ConnId, Happening, Side, Step};
use super::flow::Flow;
use super::frame_faults::{Fate, Harm};
use super::ways::{Way, Ways};

/// Who gets no answer to a dial gives up after so long. Real systems take longer, which would only cost simulated time.
const PATIENCE_NS: u64 = 1_000_000_000;

/// A connection, or what is left of it.
pub(super) struct Connection {
    conn: ConnId,
    /// By the side that writes.
    flows: [Flow; 2],
    stages: [Stage; 2],
    dialled_at: u64,
    gives_up: bool,
}

/// What an end knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The dialler has no answer yet.
    Calling,
    /// The acceptor has not been asked yet.
    Called,
    Open,
    /// It was closed, or has heard that it is over.
    Over,
    /// Its host has lost its memory. Whoever sends there hears so, as soon as the host is back.
    Forgotten,
}

impl Connection {
    pub(super) fn dial(conn: ConnId, way: Way, ways: &mut Ways, agenda: &mut Agenda) -> Self {
        let mut connection = Connection {
            conn,
            flows: [Flow::new(conn, Side::Dialler, way), Flow::new(conn, Side::Acceptor, way.back())],
            stages: [Stage::Calling, Stage::Called],
            dialled_at: agenda.now,
            gives_up: false,
        };
        connection.send(Side::Dialler, Cargo::Dial, ways, agenda);
        connection
    }

    pub(super) fn write(
        &mut self,
        side: Side,
        bytes: &[u8],
        socket_bytes: usize,
        ways: &mut Ways,
        agenda: &mut Agenda,
    ) -> usize {
        let connected = self.stage(side) != Stage::Calling;
        let flow = self.flow(side);
        if flow.is_closed {
            return bytes.len();
        }
        let room = if connected { flow.room(socket_bytes) } else { 0 };
        let (mut rest, refused) = bytes.split_at(room.min(bytes.len()));
        flow.wants_room |= !refused.is_empty();
        while !rest.is_empty() {
            let (chunk, later) = rest.split_at(chunk_len(rest.len(), &mut ways.ends));
            flow.push(Cargo::Bytes(chunk.to_vec()));
            rest = later;
        }
        flow.go_on(ways, agenda);
        bytes.len() - refused.len()
    }

    /// The process of an end closes it, or ends. What was written still goes its way.
    pub(super) fn close(&mut self, side: Side, ways: &mut Ways, agenda: &mut Agenda) {
        let is_known = match self.stage(side) {
            Stage::Open => true,
            Stage::Calling => self.stage(side.other()) == Stage::Open,
            // A dial that has not arrived yet will find out by itself who answers.
            Stage::Called => return,
            Stage::Over | Stage::Forgotten => return,
        };
        self.stages[side as usize] = Stage::Over;
        self.flow(side.other()).abandon();
        if is_known {
            self.send_last(side, Cargo::End, ways, agenda);
        }
    }

    /// The process of an end is no more, and left something unread: what is under way is lost, and the other end hears of it.
    pub(super) fn abort(&mut self, side: Side, ways: &mut Ways, agenda: &mut Agenda) {
        if self.stage(side) == Stage::Open {
            let hears = matches!(self.stage(side.other()), Stage::Open | Stage::Calling);
            self.stages[side as usize] = Stage::Over;
            self.flows.iter_mut().for_each(Flow::abandon);
            if hears {
                self.send(side, Cargo::Reset, ways, agenda);
            }
        }
    }

    /// The host of an end loses its memory.
    pub(super) fn forget(&mut self, side: Side, ways: &Ways, agenda: &mut Agenda) {
        if self.stage(side) != Stage::Called {
            self.stages[side as usize] = Stage::Forgotten;
            self.flow(side).abandon();
            // If it was closed before, the other end has not heard of it, and goes on writing to nobody.
            self.flow(side.other()).is_closed = false;
        }
        self.lose_patience(ways, agenda);
    }

    /// The connection breaks, for both ends.
    pub(super) fn reset(&mut self, ways: &mut Ways, agenda: &mut Agenda) {
        self.flows.iter_mut().for_each(Flow::abandon);
        if self.stage(Side::Acceptor) == Stage::Called {
            self.stages[Side::Acceptor as usize] = Stage::Over;
        }
        for side in Side::BOTH {
            if matches!(self.stage(side.other()), Stage::Open | Stage::Calling) {
                self.send(side, Cargo::Reset, ways, agenda);
            }
        }
    }

    /// A side's line is free for its next chunk.
    pub(super) fn send_next(&mut self, side: Side, ways: &mut Ways, agenda: &mut Agenda) {
        self.flow(side).left(ways, agenda);
    }

    /// What a side has sent may have arrived.
    pub(super) fn arrive(
        &mut self,
        from: Side,
        listening: &[bool],
        ways: &mut Ways,
        agenda: &mut Agenda,
        happenings: &mut Vec<Happening>,
    ) {
        match self.flow(from).arrived(ways, agenda) {
            Some(chunk) => self.deliver(from, chunk, listening, ways, agenda, happenings),
            None => self.lose_patience(ways, agenda),
        }
    }

    /// A side hears of what was delivered while nothing passed back.
    pub(super) fn acknowledge(&mut self, side: Side, happenings: &mut Vec<Happening>) {
        if self.flow(side).acknowledged() {
            happenings.push(Happening::Room { conn: self.conn, side });
        }
    }

    /// The dialler waits no longer.
    pub(super) fn give_up(&mut self, ways: &mut Ways, agenda: &mut Agenda, happenings: &mut Vec<Happening>) {
        if self.stage(Side::Dialler) == Stage::Calling {
            happenings.push(Happening::Refused(self.conn));
            self.close(Side::Dialler, ways, agenda);
        }
    }

    /// Something passes again, perhaps.
    pub(super) fn go_on(&mut self, ways: &mut Ways, agenda: &mut Agenda) {
        for flow in &mut self.flows {
            flow.go_on(ways, agenda);
            flow.acknowledge(ways, agenda);
        }
    }

    pub(super) fn heal(&mut self) {
        self.flows.iter_mut().for_each(Flow::heal);
    }

    /// Whether nobody will hear of it any more.
    pub(super) fn is_over(&self) -> bool {
        self.stages.iter().all(|stage| matches!(stage, Stage::Called | Stage::Over | Stage::Forgotten))
    }

    pub(super) fn is_between(&self, one: u32, other: u32) -> bool {
        let way = self.flows[0].way;
        (way.from, way.to) == (one, other) || (way.from, way.to) == (other, one)
    }

    /// The sides whose way to the other is such.
    pub(super) fn sides_at(&self, such: impl Fn(Way) -> bool) -> Vec<Side> {
        Side::BOTH.into_iter().filter(|&side| such(self.way_from(side))).collect()
    }

    pub(super) fn way_from(&self, side: Side) -> Way {
        self.flows[side as usize].way
    }

    fn deliver(
        &mut self,
        from: Side,
        chunk: Chunk,
        listening: &[bool],
        ways: &mut Ways,
        agenda: &mut Agenda,
        happenings: &mut Vec<Happening>,
    ) {
        let (conn, to) = (self.conn, from.other());
        let fate = chunk.fate.unwrap_or_default();
        happenings.extend(fate.notes().map(Happening::Note));
        match (self.stage(to), chunk.cargo) {
            (Stage::Open, Cargo::Bytes(bytes)) => self.take_in(to, bytes, fate, ways, agenda, happenings),
            (Stage::Open, Cargo::End) => {
                self.stages[to as usize] = Stage::Over;
                happenings.push(Happening::Ended { conn, side: to });
            }
            (Stage::Open, Cargo::Reset) => {
                self.stages[to as usize] = Stage::Over;
                happenings.push(Happening::Reset { conn, side: to });
            }
            (Stage::Calling, Cargo::Refuse | Cargo::Reset) => {
                self.stages[to as usize] = Stage::Over;
                happenings.push(Happening::Refused(conn));
            }
            (Stage::Calling, Cargo::Accept) => self.connect(happenings),
            (Stage::Called, Cargo::Dial) => {
                let way = self.way_from(to);
                // An address is on the host on which it was when it was dialled; whoever is that node by now may be on another one.
                let listening = listening[way.from as usize] && ways.host_of(way.from) == way.from_host;
                self.answer(listening, ways, agenda, happenings);
            }
            (Stage::Forgotten, _) => self.break_off(to, ways, agenda),
            // What is under way to an end that is over was dropped with it.
            (stage, cargo) => unreachable!("{cargo:?} came to an end that is {stage:?}"),
        }
    }

    fn take_in(
        &mut self,
        to: Side,
        mut bytes: Vec<u8>,
        fate: Fate,
        ways: &mut Ways,
        agenda: &mut Agenda,
        happenings: &mut Vec<Happening>,
    ) {
        let (conn, from, len) = (self.conn, to.other(), bytes.len());
        match fate.harm {
            Some(Harm::Altered) => alter(&mut bytes, fate.spot),
            Some(Harm::Truncated) => bytes.truncate((fate.spot % len as u64) as usize),
            Some(Harm::Reset) | None => {}
        }
        if !bytes.is_empty() {
            happenings.push(Happening::Arrived { conn, side: to, bytes });
        }
        if self.flow(from).delivered(len, ways) {
            happenings.push(Happening::Room { conn, side: from });
        }
        if matches!(fate.harm, Some(Harm::Truncated | Harm::Reset)) {
            happenings.push(Happening::Reset { conn, side: to });
            self.break_off(to, ways, agenda);
        }
    }

    /// The dial has arrived. The system answers, whatever the process is doing.
    fn answer(
        &mut self,
        listening: bool,
        ways: &mut Ways,
        agenda: &mut Agenda,
        happenings: &mut Vec<Happening>,
    ) {
        let side = Side::Acceptor;
        if listening {
            self.stages[side as usize] = Stage::Open;
            happenings.push(Happening::Dialled(self.conn));
            self.send(side, Cargo::Accept, ways, agenda);
        } else {
            self.stages[side as usize] = Stage::Over;
            self.send_last(side, Cargo::Refuse, ways, agenda);
        }
        self.lose_patience(ways, agenda);
    }

    fn connect(&mut self, happenings: &mut Vec<Happening>) {
        let (conn, side) = (self.conn, Side::Dialler);
        self.stages[side as usize] = Stage::Open;
        happenings.push(Happening::Connected(conn));
        if std::mem::take(&mut self.flow(side).wants_room) {
            happenings.push(Happening::Room { conn, side });
        }
    }

    /// An end is over, and tells the other one so at once: what is under way is lost.
    fn break_off(&mut self, side: Side, ways: &mut Ways, agenda: &mut Agenda) {
        self.stages[side as usize] = Stage::Over;
        self.flows.iter_mut().for_each(Flow::abandon);
        self.send(side, Cargo::Reset, ways, agenda);
    }

    fn send_last(&mut self, side: Side, cargo: Cargo, ways: &mut Ways, agenda: &mut Agenda) {
        self.flow(side).close();
        self.send(side, cargo, ways, agenda);
    }

    fn send(&mut self, side: Side, cargo: Cargo, ways: &mut Ways, agenda: &mut Agenda) {
        self.flow(side).push(cargo);
        self.flow(side).go_on(ways, agenda);
        self.lose_patience(ways, agenda);
    }

    /// A dial whose question or answer is held up has a time when it is given up.
    fn lose_patience(&mut self, ways: &Ways, agenda: &mut Agenda) {
        let is_held = self.flows.iter().any(|flow| ways.holds(flow.way));
        if is_held && !self.gives_up && self.stage(Side::Dialler) == Stage::Calling {
            self.gives_up = true;
            let at = (self.dialled_at + PATIENCE_NS).max(agenda.now);
            agenda.plan(at, self.conn, Side::Dialler, Step::GiveUp);
        }
    }

    fn stage(&self, side: Side) -> Stage {
        self.stages[side as usize]
    }

    fn flow(&mut self, side: Side) -> &mut Flow {
        &mut self.flows[side as usize]
    }
}

/// Changes a bit.
fn alter(bytes: &mut [u8], spot: u64) {
    let bit = spot % (bytes.len() as u64 * 8);
    bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
}
