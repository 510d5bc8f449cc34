//! A PE in a simulated world: as on a thread of its own, but somebody else says when it has a turn.
//!
//! Its rings, links and queues are the real ones. Nothing here waits, with one exception that a thread has as well: in a
//! turn, a sender that is far ahead of a link waits for room. Then the world is called
//! (`talisman_transport::sim_wait::SimWait`), on the stack of that turn. It gives others their turns; to PEs that
//! are waiting ([`Turns::is_waiting`]) it gives rounds of waiting instead ([`Turns::wait_round`]), since no message may
//! run on them. It returns when there is room ([`Turns::is_wait_over`]), or whenever it likes: the PE does a round of
//! waiting itself, and calls again.
//! A PE that waits within such a call has to go on before those below it on the stack can.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::in_turn::in_turn;
use talisman_ft::double::Order;

pub use super::linking::Streams;
use super::worker::{Pace, Suspicion, end, turn};
use talisman_base::clock::Clock;
use talisman_base::topology::Shape;
use talisman_core::checkpoint::image_transfer::hand_out;
use talisman_core::services::SERVICES;
use talisman_kernel::net::Net;
use talisman_kernel::node::Node;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Port, Threads};
use talisman_pup::PutOff;
use talisman_transport::Peer;
use talisman_transport::link::Link;
use talisman_transport::poller::Poller;
use talisman_transport::reconnect::Reconnect;

/// A PE whose turns a simulated world decides. All times are on the clock that it was given.
pub struct Turns {
    pub pe: Pe,
    put_off: PutOff,
    suspicion: Cell<Suspicion>,
    /// It has what it begins with. Before, it has no turn: what came to it then would be ahead of that.
    begun: Cell<bool>,
    /// Its last turn did something, so that the next one may.
    worked: Cell<bool>,
    /// Since when it has had nothing to do.
    idle_since: Cell<Option<Duration>>,
}

/// When a PE is to have its next turn, unless something is brought to it earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// As soon as may be.
    Now,
    /// At this time on its clock.
    At(Duration),
    /// When something is brought to it.
    Never,
}

/// The PEs of a node, on simulated connections with the PEs of their lane at all other nodes. `reconnect` is asked for
/// each lane's; more than `unsent_max` bytes that wait for a link make their sender wait.
///
/// The node's parkers are never parked in: [`Node::new`] is what makes one.
///
/// # Errors
/// None that the simulation could have.
pub fn pes(
    node: &Arc<Node>,
    clock: &Clock,
    streams: Streams,
    reconnect: impl Fn(u32) -> Reconnect,
    unsent_max: usize,
) -> io::Result<Vec<Turns>> {
    let nets = nets(node.shape, streams, reconnect, unsent_max)?;
    let ids = node.shape.first_pe(node.number)..;
    let ports = Threads::connect(node, nets);
    Ok(ids.zip(ports).map(|(id, port)| Turns::new(id, node.clone(), clock.clone(), port)).collect())
}

/// The links of a node, by lane; of one that comes later there are none yet. See [`pes`].
///
/// # Errors
/// None that the simulation could have.
pub fn nets(
    shape: Shape,
    mut streams: Streams,
    reconnect: impl Fn(u32) -> Reconnect,
    unsent_max: usize,
) -> io::Result<Vec<Option<Net>>> {
    let mut net = |lane| {
        let link = |number| link(number, lane, &mut streams);
        let links = (0..shape.nodes).map(link).collect();
        Net::new(links, Poller::simulated(), reconnect(lane), unsent_max).map(Some)
    };
    (0..shape.pes_per_node).map(&mut net).collect()
}

/// The PEs of a node that begins an epoch as ordered, on the links that it has: whoever is to have a part from it is sent that first.
pub fn pes_again(node: &Arc<Node>, clock: &Clock, mut nets: Vec<Option<Net>>, order: &Order) -> Vec<Turns> {
    let lanes = node.shape.pes_per_node;
    for (lane, net) in (0..).zip(nets.iter_mut().map(Option::as_mut)) {
        net.into_iter().for_each(|net| {
            net.next_epoch(&order.view);
            hand_out(&node.store, order, lane, lanes, net);
        });
    }
    let ports = Threads::connect(node, nets);
    let ids = node.shape.first_pe(node.number)..;
    ids.zip(ports).map(|(id, port)| Turns::new(id, node.clone(), clock.clone(), port)).collect()
}

fn link(node: u32, lane: u32, streams: &mut Streams) -> Option<Link> {
    let peer = Peer { node, lane };
    streams.remove(&peer).map(|stream| Link::over(stream, peer))
}

impl Turns {
    fn new(id: u32, node: Arc<Node>, clock: Clock, port: Threads) -> Self {
        Turns {
            pe: Pe::new(id, node, clock, Port::Threads(port), SERVICES),
            put_off: PutOff::new(),
            suspicion: Cell::default(),
            begun: Cell::new(false),
            worked: Cell::new(true),
            idle_since: Cell::new(None),
        }
    }

    /// Before its first turn: runs `main`, which makes the job's first message. If it says that this PE cannot begin, there is no turn.
    pub fn begin(&self, main: impl FnOnce(&Pe) -> bool) {
        let mut has_begun = false;
        self.within(|_| has_begun = main(&self.pe));
        self.begun.set(has_begun);
    }

    /// Whether it has begun. One that waits for room in the midst of that has not.
    pub fn has_begun(&self) -> bool {
        self.begun.get()
    }

    /// Takes in what has come, runs up to `batch` messages, and does what else is to be done; whether that was anything.
    ///
    /// Code of the program runs in here, and the world may be called. Not to be called while it waits, nor when its job is
    /// over: then it ends.
    pub fn turn(&self, batch: usize) -> bool {
        debug_assert!(!self.is_waiting(), "PE {} waits for room", self.pe.id);
        let mut any = false;
        self.suspect();
        self.count_idleness();
        self.within(|port| {
            if !self.pe.frozen.get() {
                self.put_off.drop_all();
            }
            let received = self.pe.port.receive(&self.pe);
            // The world says how many; no time passes on its clock meanwhile.
            any = turn(&self.pe, port, batch, &mut Pace::default(), received);
        });
        self.worked.set(any);
        self.note_idleness(!any);
        any
    }

    /// PE 0 that has had nothing to do for too long begins a wave.
    fn suspect(&self) {
        let (Some(since), false) = (self.idle_since.get(), self.has_work()) else { return };
        let mut suspicion = self.suspicion.get();
        let patience = suspicion.patience(&self.pe).filter(|_| self.pe.timers.is_empty());
        if patience.is_some_and(|patience| self.pe.clock.now() >= since + patience) {
            self.within(|_| suspicion.rise(&self.pe));
            self.suspicion.set(suspicion);
            self.note_idleness(false);
        }
    }

    /// It has nothing to do from now on, or had something.
    fn note_idleness(&self, idle: bool) {
        self.count_idleness();
        if idle {
            self.rest();
            self.idle_since.set(Some(self.pe.clock.now()));
        }
    }

    /// Its turn has come: what it does in it may ask how long it was idle.
    fn count_idleness(&self) {
        if let Some(since) = self.idle_since.take() {
            let idle = self.pe.clock.now().saturating_sub(since);
            self.pe.was_idle(idle.as_nanos() as u64, 0);
        }
    }

    /// What a thread does before it sleeps.
    fn rest(&self) {
        self.port().publish();
        if !self.has_work() {
            self.port().net.iter().for_each(Net::look_at_all);
        }
    }

    /// When the next turn is due, or, while it waits, round of waiting. To be asked after each, and after something was
    /// brought.
    pub fn next(&self) -> Next {
        if self.has_work() {
            return Next::Now;
        }
        if self.is_waiting() {
            return Next::Never;
        }
        let suspects = || Some(self.idle_since.get()? + self.suspicion.get().patience(&self.pe)?);
        let due = self.pe.timers.next_for_progress().or_else(suspects);
        let timers = &self.pe.timers;
        let due = [due, timers.checkpoint.get(), timers.disk.get()].into_iter().flatten().min();
        due.map_or(Next::Never, Next::At)
    }

    /// Whether a turn may find something to do: messages that wait or have come, a connection that has something to read or
    /// has room for what waits. Of a PE that waits: whether a round of waiting may.
    ///
    /// Another PE of the node may have brought it something in its own turn, without a word to the world.
    pub fn has_work(&self) -> bool {
        match self.is_waiting() {
            true => self.port().may_wait_on(),
            false => self.worked.get() || !self.pe.is_queue_empty() || self.port().may_go_on(),
        }
    }

    /// Whether it is in the midst of a turn in which a sender waits for room.
    pub fn is_waiting(&self) -> bool {
        self.port().net.as_ref().is_some_and(Net::is_waiting)
    }

    /// Whether a PE that waits need not any longer: the next time that its call of the world returns, its turn goes on.
    pub fn is_wait_over(&self) -> bool {
        self.port().net.as_ref().is_none_or(|net| net.is_wait_over(&self.pe))
    }

    /// In place of a turn while it waits: writes what goes and puts aside what has come; whether that was anything.
    pub fn wait_round(&self) -> bool {
        let mut any = false;
        self.within(|port| any = port.net.as_ref().is_some_and(|net| net.wait_round(&self.pe)));
        any
    }

    /// The job is over: says so to the other nodes, lest they miss this one. To be dropped when all PEs of its node have
    /// ended.
    pub fn end(&self) {
        self.within(|port| end(&self.pe, port));
    }

    /// Its links, for the next life of its node. What it still says is dropped.
    pub fn take_net(&mut self) -> Option<Net> {
        self.within(|_| self.put_off.drop_all());
        self.pe.port.take_net()
    }

    fn within(&self, f: impl FnOnce(&Threads)) {
        let _here = Here::enter(&self.pe);
        let _putting_off = self.put_off.begin();
        in_turn(&self.pe, || caught(&self.pe, || f(self.port())));
    }

    fn port(&self) -> &Threads {
        let Port::Threads(port) = &self.pe.port else { unreachable!("made with rings") };
        port
    }
}

impl Drop for Turns {
    /// What was put off may still want to send something.
    fn drop(&mut self) {
        self.within(|_| self.put_off.drop_all());
    }
}

#[cfg(test)]
mod tests;
