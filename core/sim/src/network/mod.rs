//! The network of a simulated world: what becomes of bytes between writing and reading.
//!
//! Nothing here reads a clock or plans by itself: the world says what is done when, keeps the [`Event`]s that are planned
//! for it, and gives each back when it is due; what follows from it are [`Happening`]s. Equal seeds and equal calls give
//! equal events.
//!
//! What is below a connection (loss, repetition, order) is seen above it only as delay; what is above it is a stream of
//! bytes in order, until it ends or breaks.

mod chunk;
mod connection;
mod control;
mod cuts;
mod event;
mod flow;
mod frame_faults;
mod lines;
#[cfg(test)]
mod tests;
mod ways;

use std::collections::BTreeMap;

use connection::Connection;
use control::Control;
use event::{Agenda, Step};
use ways::Ways;

pub use event::{ConnId, Event, Happening, Side};

use super::plan::Plan;
use talisman_base::rng::Rng;

/// The network between all nodes.
pub struct Network {
    ways: Ways,
    control: Control,
    /// Those of which somebody may still hear. Numbers are not used again, so that an event of one that is over finds nothing.
    connections: BTreeMap<ConnId, Connection>,
    dialled: ConnId,
    /// Whether somebody answers at a node's port.
    listening: Vec<bool>,
    socket_bytes: usize,
}

impl Network {
    /// The network of a plan, with the host of each process, without connections. No node listens.
    pub fn new(plan: &Plan, hosts: impl Iterator<Item = u32>, mut rng: Rng) -> Self {
        let control = Control::new(Rng::new(rng.next_u64()));
        let ways = Ways::new(plan, hosts.collect(), &mut rng);
        Network {
            control,
            listening: vec![false; ways.nodes()],
            ways,
            connections: BTreeMap::new(),
            dialled: 0,
            socket_bytes: plan.limits.socket_bytes,
        }
    }

    /// Whether somebody answers at a node's port from now on. A dial that finds nobody is refused.
    pub fn listening(&mut self, node: u32, listening: bool) {
        self.listening[node as usize] = listening;
    }

    /// A node is on this host from now on.
    pub fn put(&mut self, node: u32, host: u32) {
        self.ways.put(node, host);
    }

    /// A node dials another. It hears whether that is [`Happening::Connected`] or [`Happening::Refused`].
    pub fn dial(&mut self, now: u64, from: u32, to: u32, planned: &mut Vec<(u64, Event)>) -> ConnId {
        let conn = self.dialled;
        self.dialled += 1;
        let way = self.ways.way(from, to);
        let connection = Connection::dial(conn, way, &mut self.ways, &mut Agenda::new(now, planned));
        self.connections.insert(conn, connection);
        conn
    }

    /// An end writes: how many of the bytes its socket buffer has room for. If that is not all, there will be a
    /// [`Happening::Room`]. An end that is over takes everything, and nobody hears of it.
    pub fn write(
        &mut self,
        now: u64,
        conn: ConnId,
        side: Side,
        bytes: &[u8],
        planned: &mut Vec<(u64, Event)>,
    ) -> usize {
        let Some(connection) = self.connections.get_mut(&conn) else { return bytes.len() };
        connection.write(side, bytes, self.socket_bytes, &mut self.ways, &mut Agenda::new(now, planned))
    }

    /// The system of an end sends what a process that is no more has written, whether there is room or not.
    pub fn write_last(
        &mut self,
        now: u64,
        conn: ConnId,
        side: Side,
        bytes: &[u8],
        planned: &mut Vec<(u64, Event)>,
    ) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        connection.write(side, bytes, usize::MAX, &mut self.ways, &mut Agenda::new(now, planned));
    }

    /// The system of an end knows nothing of the connection any more, and tells the other end so. What is under way is lost.
    pub fn break_off(&mut self, now: u64, conn: ConnId, side: Side, planned: &mut Vec<(u64, Event)>) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        connection.abort(side, &mut self.ways, &mut Agenda::new(now, planned));
        if connection.is_over() {
            self.connections.remove(&conn);
        }
    }

    /// An end is closed by its process. It hears nothing more; the other one hears of it behind what was written before.
    pub fn shut(&mut self, now: u64, conn: ConnId, side: Side, planned: &mut Vec<(u64, Event)>) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        connection.close(side, &mut self.ways, &mut Agenda::new(now, planned));
        if connection.is_over() {
            self.connections.remove(&conn);
        }
    }

    /// What was planned for now happens.
    pub fn happen(
        &mut self,
        now: u64,
        event: Event,
        planned: &mut Vec<(u64, Event)>,
        happenings: &mut Vec<Happening>,
    ) {
        let Some(connection) = self.connections.get_mut(&event.conn) else { return };
        let (ways, agenda) = (&mut self.ways, &mut Agenda::new(now, planned));
        match event.step {
            Step::Left => connection.send_next(event.side, ways, agenda),
            Step::Due => connection.arrive(event.side, &self.listening, ways, agenda, happenings),
            Step::Acknowledged => connection.acknowledge(event.side, happenings),
            Step::GiveUp => connection.give_up(ways, agenda, happenings),
        }
        if connection.is_over() {
            self.connections.remove(&event.conn);
        }
    }

    /// A node's process ends: the system closes its connections, behind what was written, and refuses new ones.
    pub fn crash(&mut self, now: u64, node: u32, planned: &mut Vec<(u64, Event)>) {
        self.listening[node as usize] = false;
        self.visit(now, planned, |connection, ways, agenda| {
            for side in connection.sides_at(|way| way.from == node) {
                connection.close(side, ways, agenda);
            }
        });
    }

    /// A host falls silent: nothing arrives from it any more, not even what is under way, and nobody is told.
    pub fn lose_host(&mut self, now: u64, host: u32, planned: &mut Vec<(u64, Event)>) {
        self.ways.cuts.lose(host);
        for (node, listening) in self.listening.iter_mut().enumerate() {
            *listening &= self.ways.host_of(node as u32) != host;
        }
        self.visit(now, planned, |connection, ways, agenda| {
            for side in connection.sides_at(|way| way.from_host == host) {
                connection.forget(side, ways, agenda);
            }
        });
    }

    /// A host that fell silent is there again. It knows nothing of its connections, and resets each from which it hears.
    pub fn restore_host(&mut self, now: u64, host: u32, planned: &mut Vec<(u64, Event)>) {
        self.ways.cuts.restore(host);
        self.go_on(now, planned);
    }

    /// Whether a host fell silent, and is not there again.
    pub fn is_silent(&self, host: u32) -> bool {
        self.ways.cuts.is_lost(host)
    }

    /// Breaks all connections between two nodes. What is under way is lost.
    pub fn reset(&mut self, now: u64, one: u32, other: u32, planned: &mut Vec<(u64, Event)>) {
        self.visit(now, planned, |connection, ways, agenda| {
            if connection.is_between(one, other) {
                connection.reset(ways, agenda);
            }
        });
    }

    /// Nothing passes any more from some hosts to some others. Each cut needs a mend of its own.
    pub fn cut(&mut self, from_hosts: &[u32], to_hosts: &[u32]) {
        self.ways.cuts.cut(from_hosts, to_hosts);
    }

    /// Takes one cut back. Where no other one is left, what was held goes on.
    pub fn mend(&mut self, now: u64, from_hosts: &[u32], to_hosts: &[u32], planned: &mut Vec<(u64, Event)>) {
        self.ways.cuts.mend(from_hosts, to_hosts);
        self.go_on(now, planned);
    }

    /// A bit of what is next sent from one node to another will be altered.
    pub fn alter_next(&mut self, from: u32, to: u32) {
        self.ways.harms.alter_next(from, to);
    }

    /// What is next sent from one node to another will arrive only in part, before a reset.
    pub fn truncate_next(&mut self, from: u32, to: u32) {
        self.ways.harms.truncate_next(from, to);
    }

    /// From now on nothing goes wrong by itself, and nothing is cut. What broke stays broken, and who fell silent is.
    pub fn heal(&mut self, now: u64, planned: &mut Vec<(u64, Event)>) {
        self.ways.harms.heal();
        self.ways.cuts.heal();
        self.connections.values_mut().for_each(Connection::heal);
        self.go_on(now, planned);
    }

    /// When a message between the control connections of two hosts arrives: behind those before it. `None` while nothing
    /// passes; the world keeps it then, and what comes after it, and asks again. A host that the plan does not know, as
    /// that of a launcher of its own may be, is far from all others.
    pub fn host_control(&mut self, now: u64, from: u32, to: u32, bytes: usize) -> Option<u64> {
        self.control.arrival(now, from, to, bytes, &mut self.ways)
    }

    /// Whether anything passes from a host to another.
    #[cfg(test)]
    pub fn passes(&self, from_host: u32, to_host: u32) -> bool {
        !self.ways.cuts.holds(from_host, to_host)
    }

    /// The node at an end of a connection, unless that is over.
    pub fn node_at(&self, conn: ConnId, side: Side) -> Option<u32> {
        self.connections.get(&conn).map(|connection| connection.way_from(side).from)
    }

    /// How many connections there are of which somebody may still hear.
    #[cfg(test)]
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    fn go_on(&mut self, now: u64, planned: &mut Vec<(u64, Event)>) {
        self.visit(now, planned, |connection, ways, agenda| connection.go_on(ways, agenda));
    }

    /// Does something with each connection. Those that are over then are gone.
    fn visit(
        &mut self,
        now: u64,
        planned: &mut Vec<(u64, Event)>,
        mut visitor: impl FnMut(&mut Connection, &mut Ways, &mut Agenda),
    ) {
        let (ways, agenda) = (&mut self.ways, &mut Agenda::new(now, planned));
        self.connections.retain(|_, connection| {
            visitor(connection, ways, agenda);
            !connection.is_over()
        });
    }
}
