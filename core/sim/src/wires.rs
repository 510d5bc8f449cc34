//! Who uses which end of a connection, and what passes between the network and the pipes of PEs.

use super::crowds::Stranger;
use super::greeting::{Greeting, Progress};
use super::members::LIFE;
use super::network::{self, ConnId, Happening, Side};
use super::process::Process;
use super::trace::Who;
use super::world::{Event, World};
use talisman_control::connecting::Dial;
use talisman_control::protocol::ToLauncher;
use talisman_node::connections::failure_of;
use talisman_transport::Peer;
use talisman_transport::connect::{DEADLINE, DialError, STRANGERS_MOST};
use talisman_transport::handshake::{Agreed, Failure, Refusal};
use talisman_transport::sim::{Hand, Pipe};
use talisman_transport::tcp::Stream;

/// The end of a connection that somebody uses.
pub(super) struct End {
    pub(super) node: u32,
    pub(super) is_used_for: Use,
}

/// What for.
pub(super) enum Use {
    /// Nobody has answered yet.
    Dialling(Dial),
    /// The two sides make sure of each other; who dialled knows why.
    Greeting(Greeting, Option<Dial>),
    /// A link of the PE of this lane.
    Link(u32, Hand),
    /// Somebody tries to pass for a node that lives.
    Impostor(Option<Greeting>),
    /// Somebody is none of the job.
    Stranger(Stranger),
}

impl World {
    /// Does something with the network, and plans what it says will come of it.
    pub(super) fn with_network<R>(
        &self,
        f: impl FnOnce(&mut network::Network, u64, &mut Vec<(u64, network::Event)>) -> R,
    ) -> R {
        let mut planned = self.scratch.take();
        let result = f(&mut self.network.borrow_mut(), self.now(), &mut planned);
        planned.drain(..).for_each(|(at, event)| self.plan(at, Event::Net(event)));
        self.scratch.set(planned);
        result
    }

    pub(super) fn on_network(&self, event: network::Event) {
        let mut happenings = Vec::new();
        self.with_network(|network, now, planned| network.happen(now, event, planned, &mut happenings));
        for happening in happenings {
            match self.stopped_by(&happening) {
                until if until > self.now() => self.plan(until, Event::Net2(Box::new(happening))),
                _ => self.on_happening(happening),
            }
        }
    }

    pub(super) fn on_happening(&self, happening: Happening) {
        match happening {
            Happening::Dialled(conn) => self.on_dialled(conn),
            Happening::Connected(conn) => self.on_connected(conn),
            Happening::Refused(conn) => self.on_refused(conn),
            Happening::Arrived { conn, side, bytes } => self.on_arrived(conn, side, &bytes),
            Happening::Room { conn, side } => self.on_room(conn, side),
            Happening::Ended { conn, side } | Happening::Reset { conn, side } => self.on_reset(conn, side),
            Happening::Note(kind) => *self.injected.borrow_mut().entry(kind).or_default() += 1,
        }
    }

    /// Until when a happening waits because it concerns a process that is stopped. What arrives for a link waits in its
    /// socket, which a stopped process has too.
    pub(super) fn stopped_by(&self, happening: &Happening) -> u64 {
        let (conn, side) = match happening {
            Happening::Dialled(conn) => (*conn, Side::Acceptor),
            Happening::Connected(conn) | Happening::Refused(conn) => (*conn, Side::Dialler),
            Happening::Arrived { conn, side, .. }
            | Happening::Ended { conn, side }
            | Happening::Reset { conn, side } => (*conn, *side),
            Happening::Room { .. } | Happening::Note(_) => return 0,
        };
        let is_link =
            matches!(self.ends.borrow().get(&(conn, side)), Some(End { is_used_for: Use::Link(..), .. }));
        let node = if is_link { None } else { self.node_at(conn, side) };
        node.map_or(0, |node| self.nodes[node as usize].stopped_until.get())
    }

    /// Whose end this is.
    pub(super) fn node_at(&self, conn: ConnId, side: Side) -> Option<u32> {
        match (self.ends.borrow().get(&(conn, side)), side) {
            (Some(end), _) => Some(end.node),
            (None, Side::Acceptor) => self.network.borrow().node_at(conn, Side::Acceptor),
            (None, Side::Dialler) => None,
        }
    }

    pub(super) fn dial(&self, number: u32, dial: Dial) {
        let to = dial.peer.node;
        let conn = self.with_network(|network, now, planned| network.dial(now, number, to, planned));
        self.say(Who::Node(number), format_args!("dials {:?} (connection {conn})", dial.peer));
        let end = End { node: number, is_used_for: Use::Dialling(dial) };
        self.ends.borrow_mut().insert((conn, Side::Dialler), end);
        self.plan(self.now() + DEADLINE.as_nanos() as u64, Event::Deadline(conn, Side::Dialler));
    }

    fn on_dialled(&self, conn: ConnId) {
        let Some(number) = self.node_at(conn, Side::Acceptor) else { return };
        let process = &self.nodes[number as usize];
        let identity = process.identity.borrow().clone();
        if process.is_gone() && process.impostor.get() {
            return self.answer_as_impostor(conn, number);
        }
        let Some(identity) = identity.filter(|_| process.is_up()) else {
            return self.close(conn, Side::Acceptor);
        };
        self.refuse_oldest_stranger(number);
        let greeting = Greeting::accepting(&identity, self.random_bytes());
        let end = End { node: number, is_used_for: Use::Greeting(greeting, None) };
        self.ends.borrow_mut().insert((conn, Side::Acceptor), end);
        self.plan(self.now() + DEADLINE.as_nanos() as u64, Event::Deadline(conn, Side::Acceptor));
    }

    /// Of more connections than a node makes sure of at once the oldest is given up.
    fn refuse_oldest_stranger(&self, number: u32) {
        let oldest = {
            let ends = self.ends.borrow();
            let is_stranger =
                |end: &End| end.node == number && matches!(end.is_used_for, Use::Greeting(_, None));
            let mut strangers = ends.iter().filter(|(_, end)| is_stranger(end)).map(|(key, _)| *key);
            let oldest = strangers.next();
            oldest.filter(|_| strangers.count() + 1 >= STRANGERS_MOST)
        };
        if let Some((conn, side)) = oldest {
            self.give_up_greeting(conn, side, Refusal::Crowd);
        }
    }

    /// A node that refuses somebody says so to the launcher, but not when its job is over: others may miss it then.
    fn note_refusal(&self, number: u32, conn: ConnId, why: &dyn std::fmt::Display) {
        let process = &self.nodes[number as usize];
        if process.running().is_none() || !process.job.is_over() {
            let note = format!("refused a connection from number {conn}: {why}");
            self.tell_launcher(number, ToLauncher::Note(note));
        }
    }

    fn on_connected(&self, conn: ConnId) {
        let key = (conn, Side::Dialler);
        let Some(end) = self.ends.borrow_mut().remove(&key) else { return };
        let number = end.node;
        let (use_, hello) = match end.is_used_for {
            Use::Dialling(dial) => {
                let Some(identity) = self.nodes[number as usize].identity.borrow().clone() else { return };
                let (greeting, hello) = Greeting::dialling(&identity, dial.peer, self.random_bytes());
                (Use::Greeting(greeting, Some(dial)), hello)
            }
            Use::Impostor(_) => {
                let (greeting, hello) = self.pretend(conn, number);
                (Use::Impostor(Some(greeting)), hello)
            }
            Use::Stranger(stranger) => {
                let end = End { node: number, is_used_for: Use::Stranger(stranger) };
                self.ends.borrow_mut().insert(key, end);
                return self.on_stranger_connected(conn, stranger);
            }
            other => (other, Vec::new()),
        };
        self.ends.borrow_mut().insert(key, End { node: number, is_used_for: use_ });
        self.write(conn, Side::Dialler, &hello);
    }

    fn on_refused(&self, conn: ConnId) {
        let Some(end) = self.ends.borrow_mut().remove(&(conn, Side::Dialler)) else { return };
        if let Use::Dialling(dial) = end.is_used_for {
            self.fail_dial(end.node, dial, std::io::ErrorKind::ConnectionRefused);
        }
    }

    fn on_arrived(&self, conn: ConnId, side: Side, bytes: &[u8]) {
        let key = (conn, side);
        let mut ends = self.ends.borrow_mut();
        let Some(end) = ends.get_mut(&key) else { return };
        let number = end.node;
        match &mut end.is_used_for {
            Use::Link(lane, hand) => {
                let lane = *lane;
                hand.bring(bytes);
                drop(ends);
                self.wake(number, lane, self.now());
            }
            Use::Greeting(greeting, dial) => {
                let (progress, dial) = (greeting.take(bytes), *dial);
                drop(ends);
                self.on_progress(conn, side, number, dial, progress);
            }
            Use::Impostor(Some(greeting)) => {
                let progress = greeting.take(bytes);
                drop(ends);
                self.on_impostors_progress(conn, side, number, progress);
            }
            Use::Stranger(stranger) => {
                let stranger = *stranger;
                drop(ends);
                self.on_stranger_answered(conn, stranger);
            }
            Use::Dialling(_) | Use::Impostor(None) => {}
        }
    }

    fn on_progress(&self, conn: ConnId, side: Side, number: u32, dial: Option<Dial>, progress: Progress) {
        match progress {
            Progress::Say(bytes) => self.write(conn, side, &bytes),
            Progress::Done(bytes, agreed, rest) => {
                self.write(conn, side, &bytes);
                self.establish(conn, side, number, agreed, &rest);
            }
            Progress::Refused(bytes, failure) => {
                self.say(Who::Node(number), format_args!("refuses connection {conn}: {failure}"));
                self.write(conn, side, &bytes);
                self.ends.borrow_mut().remove(&(conn, side));
                self.close(conn, side);
                if dial.is_none() {
                    self.note_refusal(number, conn, &failure);
                }
                dial.into_iter().for_each(|dial| self.fail_handshake(number, dial, failure));
            }
        }
    }

    /// The other side has proved itself: the connection is its PE's from now on.
    fn establish(&self, conn: ConnId, side: Side, number: u32, agreed: Agreed, rest: &[u8]) {
        let process = &self.nodes[number as usize];
        let Agreed { peer, incarnation } = agreed;
        if incarnation < LIFE {
            self.flaw(format!("node {number} admits life {incarnation} of node {}", peer.node));
        }
        self.judge_guest(number, conn, side);
        self.say(Who::Node(number), format_args!("is connected with {peer:?} (connection {conn})"));
        let (own, hand) = Pipe::new(number_of(conn, side), self.plan.limits.socket_bytes, &self.board);
        hand.bring(rest);
        let end = End { node: number, is_used_for: Use::Link(peer.lane, hand) };
        self.ends.borrow_mut().insert((conn, side), end);
        self.place(process, peer, incarnation.saturating_sub(LIFE), Stream::Simulated(own));
        self.with_connecting(number, |connecting| connecting.on_established(peer));
    }

    /// A connection is for the PE of its lane, or, with a process that this one is not linked with yet, for its next life.
    fn place(&self, process: &Process, peer: Peer, life: u64, stream: Stream) {
        if !process.met.borrow().is(peer.node, life) {
            process.met.borrow_mut().keep(peer, life, stream);
            return self.plan(self.now(), Event::PeerIncarnations(process.number));
        }
        match process.lives.inboxes.borrow().get(peer.lane as usize) {
            None => drop(process.streams.borrow_mut().insert(peer, stream)),
            Some(inbox) => {
                inbox.put(peer.node, stream);
                self.wake(process.number, peer.lane, self.now());
            }
        }
    }

    pub(super) fn on_deadline(&self, conn: ConnId, side: Side) {
        let key = (conn, side);
        let is_link =
            matches!(self.ends.borrow().get(&key), None | Some(End { is_used_for: Use::Link(..), .. }));
        if is_link {
            return;
        }
        self.give_up_greeting(conn, side, Refusal::Silent);
    }

    /// A greeting ends without a connection, at this end.
    fn give_up_greeting(&self, conn: ConnId, side: Side, why: Refusal) {
        let Some(end) = self.ends.borrow_mut().remove(&(conn, side)) else { return };
        if side == Side::Acceptor {
            // One that the system aborts for want of room gets no answer.
            if why == Refusal::Silent {
                self.write(conn, side, &why.encode());
            }
            self.note_refusal(end.node, conn, &why);
        }
        self.close(conn, side);
        let silent = Failure::Refused(Refusal::Silent);
        match end.is_used_for {
            Use::Dialling(dial) | Use::Greeting(_, Some(dial)) => self.fail_handshake(end.node, dial, silent),
            _ => {}
        }
    }

    fn on_room(&self, conn: ConnId, side: Side) {
        self.carry(conn, side);
        if let Some(End { node, is_used_for: Use::Link(lane, _) }) = self.ends.borrow().get(&(conn, side)) {
            self.wake(*node, *lane, self.now());
        }
    }

    fn on_reset(&self, conn: ConnId, side: Side) {
        let mut ends = self.ends.borrow_mut();
        let Some(end) = ends.remove(&(conn, side)) else { return };
        drop(ends);
        match end.is_used_for {
            Use::Link(lane, hand) => {
                hand.set_broken();
                self.wake(end.node, lane, self.now());
            }
            Use::Dialling(dial) => self.fail_dial(end.node, dial, std::io::ErrorKind::ConnectionReset),
            Use::Greeting(_, Some(dial)) => {
                self.fail_handshake(end.node, dial, Failure::Refused(Refusal::Closed));
            }
            Use::Greeting(_, None) => self.note_refusal(end.node, conn, &Refusal::Closed),
            Use::Impostor(_) | Use::Stranger(_) => {}
        }
    }

    fn fail_dial(&self, number: u32, dial: Dial, kind: std::io::ErrorKind) {
        let address = format!("127.0.0.1:{}", dial.peer.node as u16 + 1);
        let error = DialError::Network { node: dial.peer.node, address, error: kind.into() };
        self.on_failed(number, dial, &error);
    }

    fn fail_handshake(&self, number: u32, dial: Dial, why: Failure) {
        let address = format!("127.0.0.1:{}", dial.peer.node as u16 + 1);
        let error = DialError::Handshake { node: dial.peer.node, address, why };
        self.on_failed(number, dial, &error);
    }

    fn on_failed(&self, number: u32, dial: Dial, error: &DialError) {
        self.say(Who::Node(number), error);
        let now = self.duration();
        self.with_connecting(number, |connecting| connecting.on_failed(now, dial, &failure_of(error)));
    }

    /// What PEs wrote goes on the network, and connections that they closed end.
    pub(super) fn collect(&self) {
        for number in self.board.take() {
            let (conn, side) = end_of(number);
            self.carry(conn, side);
        }
    }

    /// The network takes what it has room for of what waits in a pipe.
    fn carry(&self, conn: ConnId, side: Side) {
        let mut ends = self.ends.borrow_mut();
        let Some(End { is_used_for: Use::Link(_, hand), .. }) = ends.get(&(conn, side)) else { return };
        if hand.untaken() > 0 {
            hand.take(|bytes| {
                self.with_network(|network, now, planned| network.write(now, conn, side, bytes, planned))
            });
        }
        if hand.is_closed() {
            ends.remove(&(conn, side));
            drop(ends);
            self.close(conn, side);
        }
    }

    pub(super) fn write(&self, conn: ConnId, side: Side, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.with_network(|network, now, planned| network.write(now, conn, side, bytes, planned));
        }
    }

    pub(super) fn close(&self, conn: ConnId, side: Side) {
        self.with_network(|network, now, planned| network.shut(now, conn, side, planned));
    }

    /// A process has died in the midst of a turn: of what it wrote in that, in the order of its connections, the rest stays.
    pub(super) fn write_first_part(&self, number: u32, kept_ppm: u32) {
        let ends = self.ends.borrow();
        let written: Vec<&Hand> = self
            .board
            .take()
            .into_iter()
            .filter_map(|noted| {
                let End { node, is_used_for: Use::Link(_, hand) } = ends.get(&end_of(noted))? else {
                    return None;
                };
                (*node == number).then_some(hand)
            })
            .collect();
        let bytes: usize = written.iter().map(|hand| hand.untaken()).sum();
        let mut left = (bytes as u128 * u128::from(kept_ppm) / 1_000_000) as usize;
        for hand in written {
            let kept = hand.untaken().min(left);
            hand.keep(kept);
            left -= kept;
        }
    }

    /// The system closes the links of a process that ends: what was written is sent, whether there was room or not, since the
    /// system has it already. Where something has come that was never read, it breaks the connection instead.
    pub(super) fn close_ends_of(&self, number: u32) {
        for ((conn, side), hand) in self.links_of(number) {
            if hand.unread() > 0 {
                self.with_network(|network, now, planned| network.break_off(now, conn, side, planned));
            } else {
                hand.take(|bytes| {
                    self.with_network(|network, now, planned| {
                        network.write_last(now, conn, side, bytes, planned)
                    });
                    bytes.len()
                });
            }
        }
    }

    /// All links of a process break.
    pub(super) fn break_ends_of(&self, number: u32) {
        for ((conn, side), _) in self.links_of(number) {
            self.with_network(|network, now, planned| network.break_off(now, conn, side, planned));
        }
    }

    fn links_of(&self, number: u32) -> Vec<((ConnId, Side), Hand)> {
        let ends = self.ends.borrow();
        let links = ends.iter().filter(|(_, end)| end.node == number).filter_map(|(key, end)| {
            match &end.is_used_for {
                Use::Link(_, hand) => Some((*key, hand.clone())),
                _ => None,
            }
        });
        links.collect()
    }

    /// A process is gone: nobody uses its ends any more.
    pub(super) fn forget_ends_of(&self, number: u32) {
        self.ends.borrow_mut().retain(|_, end| end.node != number);
    }
}

/// The number of an end's pipe.
fn number_of(conn: ConnId, side: Side) -> u64 {
    u64::from(conn) << 1 | u64::from(side == Side::Acceptor)
}

/// The end of a pipe's number.
fn end_of(number: u64) -> (ConnId, Side) {
    ((number >> 1) as ConnId, if number & 1 == 1 { Side::Acceptor } else { Side::Dialler })
}
