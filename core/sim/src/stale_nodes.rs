//! Processes that take themselves for a node in a life that is over.
//!
//! They dial the others, and once the node is gone others that miss it may dial them: nobody may be connected with one.

use std::sync::Arc;

use super::disk_log::Found;
use super::greeting::{Greeting, Progress};
use super::members::{LIFE, identity};
use super::network::{ConnId, Side};
use super::trace::Who;
use super::wires::{End, Use};
use super::world::World;
use talisman_transport::Peer;
use talisman_transport::handshake::Identity;

impl World {
    /// One starts: it reads what is on the node's disk, or finds an empty one, and dials all others.
    pub(super) fn send_impostor(&self, number: u32, with_disk: bool) {
        let process = &self.nodes[number as usize];
        // The disk is the process's as long as that lives.
        if process.is_gone() {
            self.switch_on(process.host);
            if !with_disk {
                process.diary.borrow_mut().is_replaced();
            }
            self.read_diary(number);
        }
        process.impostor.set(true);
        self.listen_as_impostor(number);
        for to in (0..self.plan.nodes()).filter(|to| *to != number) {
            let conn = self.with_network(|network, now, planned| network.dial(now, number, to, planned));
            let end = End { node: number, is_used_for: Use::Impostor(None) };
            self.ends.borrow_mut().insert((conn, Side::Dialler), end);
        }
    }

    /// A host that lost its power has it again.
    fn switch_on(&self, host: u32) {
        if self.network.borrow().is_silent(host) {
            self.with_network(|network, now, planned| network.restore_host(now, host, planned));
        }
    }

    /// The port of a node that is gone is free for who takes itself for it.
    pub(super) fn listen_as_impostor(&self, number: u32) {
        let process = &self.nodes[number as usize];
        if process.is_gone() && process.impostor.get() {
            self.network.borrow_mut().listening(number, true);
        }
    }

    /// Somebody reads a node's diary.
    fn read_diary(&self, number: u32) {
        let found = self.nodes[number as usize].diary.borrow_mut().read();
        self.say(Who::Node(number), format_args!("its diary: {found:?}"));
        match found {
            Found::Fault(kind) => self.count(kind),
            Found::Flaw(flaw) => self.flaw(flaw),
            Found::Entry(_) | Found::Nothing => {}
        }
    }

    /// Everything is over: what is left on the disks is looked at.
    pub(super) fn read_diaries(&self) {
        (0..self.plan.nodes()).for_each(|number| self.read_diary(number));
    }

    pub(super) fn count(&self, kind: &'static str) {
        *self.injected.borrow_mut().entry(kind).or_default() += 1;
    }

    pub(super) fn pretend(&self, conn: ConnId, number: u32) -> (Greeting, Vec<u8>) {
        let to = self.network.borrow().node_at(conn, Side::Acceptor).unwrap_or(0);
        Greeting::dialling(&self.former(number), Peer { node: to, lane: 0 }, self.random_bytes())
    }

    pub(super) fn answer_as_impostor(&self, conn: ConnId, number: u32) {
        let greeting = Greeting::accepting(&self.former(number), self.random_bytes());
        let end = End { node: number, is_used_for: Use::Impostor(Some(greeting)) };
        self.ends.borrow_mut().insert((conn, Side::Acceptor), end);
    }

    fn former(&self, number: u32) -> Arc<Identity> {
        Arc::new(identity(&self.tasks[number as usize], LIFE - 1))
    }

    pub(super) fn on_impostors_progress(&self, conn: ConnId, side: Side, number: u32, progress: Progress) {
        match progress {
            Progress::Say(bytes) => self.write(conn, side, &bytes),
            // Who answers is convinced first; whether who dialled is, shows at that end.
            Progress::Done(bytes, ..) if side == Side::Acceptor => self.write(conn, side, &bytes),
            Progress::Done(..) => {
                self.flaw(format!("a former life of node {number} was let in"));
                self.close(conn, side);
            }
            Progress::Refused(_, failure) => {
                self.say(Who::Node(number), format_args!("a former life of it is refused: {failure}"));
                self.ends.borrow_mut().remove(&(conn, side));
                self.close(conn, side);
            }
        }
    }
}
