//! Crowds of strangers at a node's doors: whoever can reach them, and is none of the job.
//!
//! They come by the network to where the node listens for others, where the real machines of the handshake make sure of them, and of no more
//! at once than they do. And they fill the place before the door at which nodes look for each other when their launcher is lost
//! ([`super::seeking`]): whoever wants to go there waits until they have gone.

use std::sync::Arc;

use super::greeting::Greeting;
use super::members::{LIFE, identity};
use super::network::{ConnId, Side};
use super::wires::{End, Use};
use super::world::{Event, World};
use talisman_base::auth::Secret;
use talisman_control::protocol::Task;
use talisman_transport::Peer;
use talisman_transport::handshake::guessed_proof;

/// Kinds of strangers, each as likely as any other.
const KINDS: u64 = 5;

/// What a stranger does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stranger {
    /// It says nothing, and stays.
    Silent,
    /// It says what nobody of the job would.
    Babbles,
    /// It begins a greeting, and does not end it.
    Begins,
    /// It greets like a node, without the job's secret.
    Guesses,
    /// It goes as soon as it has come.
    Goes,
}

impl World {
    /// So many come to a node within this time, one after the other.
    pub(super) fn send_crowd(&self, node: u32, strangers: u32, within_ns: u64) {
        let crowded_until = &self.nodes[node as usize].crowded_until;
        crowded_until.set(crowded_until.get().max(self.now() + within_ns));
        for stranger in 0..u64::from(strangers) {
            let after = within_ns * stranger / u64::from(strangers);
            self.plan(self.now() + after, Event::Stranger(node));
        }
    }

    /// One dials, from where another node is if there is any.
    pub(super) fn on_stranger(&self, node: u32) {
        let from = (node + 1) % self.plan.nodes();
        let stranger = match self.between((0, KINDS)) {
            0 => Stranger::Silent,
            1 => Stranger::Babbles,
            2 => Stranger::Begins,
            3 => Stranger::Guesses,
            _ => Stranger::Goes,
        };
        let conn = self.with_network(|network, now, planned| network.dial(now, from, node, planned));
        let end = End { node: from, is_used_for: Use::Stranger(stranger) };
        self.ends.borrow_mut().insert((conn, Side::Dialler), end);
    }

    /// A stranger's connection is there: what it says first.
    pub(super) fn on_stranger_connected(&self, conn: ConnId, stranger: Stranger) {
        match stranger {
            Stranger::Silent => {}
            Stranger::Babbles => self.write(conn, Side::Dialler, &self.random_bytes()),
            Stranger::Begins | Stranger::Guesses => {
                let hello = self.hello_of_stranger(conn);
                let said = if stranger == Stranger::Begins { hello.len() / 2 } else { hello.len() };
                self.write(conn, Side::Dialler, &hello[..said]);
            }
            Stranger::Goes => {
                self.ends.borrow_mut().remove(&(conn, Side::Dialler));
                self.close(conn, Side::Dialler);
            }
        }
    }

    /// It was answered.
    pub(super) fn on_stranger_answered(&self, conn: ConnId, stranger: Stranger) {
        if stranger == Stranger::Guesses {
            self.write(conn, Side::Dialler, &guessed_proof(self.random_bytes()));
        }
    }

    /// A node has been convinced by who is at the other end.
    pub(super) fn judge_guest(&self, number: u32, conn: ConnId, side: Side) {
        let ends = self.ends.borrow();
        if side == Side::Acceptor
            && let Some(End { is_used_for: Use::Stranger(_), .. }) = ends.get(&(conn, Side::Dialler))
        {
            drop(ends);
            self.flaw(format!("node {number} let a stranger in"));
        }
    }

    fn hello_of_stranger(&self, conn: ConnId) -> Vec<u8> {
        let to = self.network.borrow().node_at(conn, Side::Acceptor).unwrap_or(0);
        let number = (to + 1) % self.plan.nodes();
        let task =
            Task { secret: Secret::from_bytes(self.random_bytes()), ..self.tasks[number as usize].clone() };
        let identity = Arc::new(identity(&task, LIFE));
        Greeting::dialling(&identity, Peer { node: to, lane: 0 }, self.random_bytes()).1
    }
}
