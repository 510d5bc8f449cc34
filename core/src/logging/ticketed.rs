//! `--ft logging:ticket`: how a node sends and takes frames where receivers hand out tickets ([`talisman_ft::logging::ticket`]).
//!
//! A frame between two nodes is the paper's message, and a PE its object. A lane's frames have their number there as SN.
//!
//! ```text
//! sender     a turn is over ─► its log is stable (`Gate`) ─► AskTickets ─┐                ┌─► notes it ─► the frame, with its TN
//! receiver                                                               └─► Tickets: TN ─┘               └─► taken in the order of TNs
//! ```
//!
//! **What a PE takes in when it has nothing to run is in no log of its own**: senders know the TN, so who runs again takes the same frames in
//! the same order, each when nothing is left to run, with the time that the ticket has. Its log only counts them ([`Input::InOrder`]), in
//! front of what came from nobody else's log: timers, idle work, values of the world, what came by a ring from another PE of the node, and a
//! frame that was taken in while messages waited. All that is local, in the paper's words. It is with the keeper before a ticket is asked for
//! of anything that the node sends after it.
//!
//! A lost node's order is known to those who have sent to it: they say which tickets they have (`Noted`) as soon as they are linked with the
//! new process, which answers nobody before it has heard that of all. What nobody has is void. It takes in no more than the process before may
//! have had until it has come to its horizon: all frames for which tickets were asked for, sent again, each with its ticket. What two nodes had
//! sent each other is known to nobody else, so one may be lost at a time, and the next when that is live again ([`Leader::one_at_a_time`]).
//!
//! [`Input::InOrder`]: talisman_ft::logging::Input::InOrder
//! [`Leader::one_at_a_time`]: talisman_ft::logging::Leader::one_at_a_time

use std::collections::BTreeMap;

use super::letter::Letter;
use super::mark::Mark;
use super::member::{Came, Member, Taken};
use super::replay::{Again, Next};
use super::twin::Fed;
use super::words::{Noted, Word};
use talisman_ft::NodeId;
use talisman_ft::logging::ticket::{Delivered, ObjectId, Receiver, Sender, Ticket, Tn};
use talisman_ft::logging::{Gate, Input, Lane, Position, Shape};
use talisman_observe::mutations::mutated;

/// In front of what rides on a frame: its TN.
const TICKET: usize = 16;

/// What a node has of tickets, by the ranks of its PEs.
pub(super) struct Ticketing {
    shape: Shape,
    receivers: Vec<Receiver<Letter>>,
    /// Of each frame that was sent, which is retained elsewhere, the ticket.
    senders: Vec<Sender<()>>,
    /// What the clock says, as far as that was told.
    now: u64,
    /// What has come, for whoever watches.
    came: Vec<Came>,
    /// A node has sent what cannot be.
    wrong: Option<String>,
}

impl Ticketing {
    pub(super) fn new(shape: Shape) -> Self {
        let ranks = || 0..shape.pes_per_node;
        Ticketing {
            shape,
            receivers: ranks().map(|_| Receiver::default()).collect(),
            senders: ranks().map(|_| Sender::default()).collect(),
            now: 0,
            came: Vec::new(),
            wrong: None,
        }
    }

    /// One at the beginning of a line, of the same job.
    pub(super) fn anew(&self) -> Self {
        Ticketing { now: self.now, ..Ticketing::new(self.shape) }
    }

    /// The PE of this rank on a node.
    fn pe(&self, node: NodeId, rank: u32) -> ObjectId {
        u64::from(node) * u64::from(self.shape.pes_per_node) + u64::from(rank)
    }

    /// The node of a PE.
    fn node_of(&self, pe: ObjectId) -> NodeId {
        (pe / u64::from(self.shape.pes_per_node)) as NodeId
    }

    /// Memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let given: usize = self.receivers.iter().map(Receiver::bytes).sum();
        given + self.senders.iter().map(Sender::bytes).sum::<usize>()
    }

    /// A frame is retained: no ticket of it is known.
    pub(super) fn log(&mut self, to: NodeId, rank: u32, number: u64) {
        let to = self.pe(to, rank);
        self.senders[rank as usize].log(to, number, ());
    }

    /// What goes in front of what rides on a frame. It has its ticket.
    pub(super) fn write(&self, bytes: &mut Vec<u8>, to: NodeId, rank: u32, number: u64) {
        let ticket = self.senders[rank as usize].ticket_of(self.pe(to, rank), number);
        let Tn { number, time } = ticket.unwrap_or(Tn { number: 0, time: 0 });
        bytes.extend(number.to_le_bytes());
        bytes.extend(time.to_le_bytes());
    }

    /// Whether all that was sent has its ticket.
    pub(super) fn has_all(&self) -> bool {
        self.senders.iter().all(Sender::has_all_tickets)
    }

    /// Whether the next frame in the order of tickets is there.
    pub(super) fn has_next(&self, rank: u32) -> bool {
        self.receivers[rank as usize].next_sender().is_some()
    }

    /// A process that has come in a lost one's place: all others say what tickets they have.
    pub(super) fn recover(&mut self, others: &[NodeId]) {
        self.receivers.iter_mut().for_each(|receiver| receiver.recover(others.iter().copied(), &[]));
    }

    /// The tickets that frames of other nodes were given are as good as taken: who has asked for one will send it.
    pub(super) fn given(&self, of: NodeId, present: &mut Position) {
        if mutated("asked-for-is-not-sent-again") {
            return;
        }
        for from in self.shape.others(of) {
            for (rank, receiver) in (0..).zip(&self.receivers) {
                let given = receiver.given_to(self.pe(from, rank));
                present.taken.insert(Lane { from, to: of, rank }, given);
            }
        }
    }
}

/// A frame's TN, and what rides on it.
fn ticket_of(ride: &[u8]) -> Option<(Tn, &[u8])> {
    let (ticket, ride) = ride.split_first_chunk::<TICKET>()?;
    let [number, time] = [0, 8].map(|at| ticket[at..at + 8].try_into().map(u64::from_le_bytes));
    Some((Tn { number: number.ok()?, time: time.ok()? }, ride))
}

impl Member {
    /// The same, whose frames go with tickets of their receivers, if so. To be told before anything is sent.
    pub fn ticketed(self, is_ticketed: bool) -> Member {
        match is_ticketed {
            true => Member {
                gate: Some(Gate::default()),
                ticketing: Some(Box::new(Ticketing::new(self.shape))),
                ..self
            },
            false => self,
        }
    }

    /// Whether frames go with tickets.
    pub fn is_ticketed(&self) -> bool {
        self.ticketing.is_some()
    }

    /// The clock says this, in nanoseconds: it is the time of tickets that are handed out now.
    pub fn set_now(&mut self, now: u64) {
        self.ticketing.iter_mut().for_each(|ticketing| ticketing.now = now);
    }

    /// Frames with tickets that have come since this was last asked, if somebody watches.
    pub fn take_came(&mut self) -> Vec<Came> {
        self.ticketing.as_mut().map(|ticketing| std::mem::take(&mut ticketing.came)).unwrap_or_default()
    }

    // Sending.

    /// Tickets are asked for of these frames, by receiver, rank and number: all that the node was given before is stable.
    pub(super) fn ask_for_tickets(&mut self, frames: Vec<(NodeId, u32, u64)>) {
        let mut asked: BTreeMap<NodeId, Vec<(u32, u64)>> = BTreeMap::new();
        for (to, rank, number) in frames {
            asked.entry(to).or_default().push((rank, number));
        }
        for (to, frames) in asked {
            if self.up.contains_key(&to) {
                self.tell(to, Word::AskTickets(frames));
            }
        }
    }

    /// A node asks for tickets of its frames.
    pub(super) fn on_ask_tickets(&mut self, from: NodeId, asked: Vec<(u32, u64)>) {
        let Some(ticketing) = &mut self.ticketing else { return };
        let mut given = Vec::new();
        for (rank, number) in asked {
            let sender = ticketing.pe(from, rank);
            if let Some(ticket) = ticketing.receivers[rank as usize].request(sender, number, ticketing.now) {
                given.push((rank, number, ticket));
            }
        }
        if !given.is_empty() {
            self.tell(from, Word::Tickets(given));
        }
    }

    /// They come: frames that are not there yet are sent.
    pub(super) fn on_tickets(&mut self, from: NodeId, tickets: Vec<(u32, u64, Ticket)>) {
        for (rank, number, ticket) in tickets {
            let Some(ticketing) = &mut self.ticketing else { return };
            let to = ticketing.pe(from, rank);
            if ticketing.senders[rank as usize].on_ticket(to, number, ticket).is_some() {
                self.emit(from, rank, number);
            }
        }
    }

    /// A link begins anew: what has its ticket is sent again to who has another process, and for all else one is asked for.
    pub(super) fn begin_ticketed_link(&mut self, to: NodeId) {
        let Some(ticketing) = &self.ticketing else { return };
        let pe = |rank| ticketing.pe(to, rank);
        let all: Vec<_> =
            (0..).zip(&ticketing.senders).map(|(rank, sender)| (rank, sender.on_restart(pe(rank)))).collect();
        let noted = all.iter().map(|(_, resend)| Noted {
            tickets: resend.ticketed.iter().map(|(sn, tn, ())| (*sn, *tn)).collect(),
            highest: resend.highest,
        });
        self.tell(to, Word::Noted(noted.collect()));
        for (rank, resend) in all {
            resend.ticketed.iter().for_each(|(number, ..)| self.emit(to, rank, *number));
            resend.requests.iter().for_each(|number| self.let_go(to, rank, *number));
        }
    }

    /// A node says which tickets it has of this one's. When all have, those that nobody has are void, and who has asked is answered.
    pub(super) fn on_noted(&mut self, from: NodeId, noted: Vec<Noted>) {
        let Some(ticketing) = &mut self.ticketing else { return };
        let mut answers: BTreeMap<NodeId, Vec<(u32, u64, Ticket)>> = BTreeMap::new();
        for (rank, Noted { tickets, highest }) in (0..).zip(noted) {
            let (sender, now) = (ticketing.pe(from, rank), ticketing.now);
            let Some(receiver) = ticketing.receivers.get_mut(rank as usize) else { return };
            tickets.iter().for_each(|(sn, tn)| receiver.know(sender, *sn, *tn));
            for (sender, sn, ticket) in receiver.on_highest(from, highest, now) {
                answers.entry(ticketing.node_of(sender)).or_default().push((rank, sn, ticket));
            }
        }
        answers.into_iter().for_each(|(to, tickets)| self.tell(to, Word::Tickets(tickets)));
    }

    // Taking.

    /// A frame has come with its ticket, and waits for its turn.
    pub(super) fn receive_ticketed(&mut self, from: NodeId, rank: u32, letter: Letter) {
        let Some(ticketing) = &mut self.ticketing else { return };
        let Some(receiver) = ticketing.receivers.get_mut(rank as usize) else { return };
        let sender = u64::from(from) * u64::from(self.shape.pes_per_node) + u64::from(rank);
        let taken = self.taken.entry((from, rank)).or_default();
        let number = letter.number;
        if number < *taken {
            // It is here already.
            return;
        }
        let (frame, is_determined) = (letter.frame.clone(), letter.is_determined);
        let mark = Mark::of(&frame, is_determined);
        let kept = self.fed.is_some().then(|| letter.clone());
        let delivered = match ticket_of(&letter.ride) {
            Some((tn, _)) if number == *taken => receiver.deliver(sender, number, tn, letter),
            Some(_) => {
                let why = format!("node {from} sends frame {number} where {taken} is to come");
                return ticketing.wrong = Some(why);
            }
            None => Delivered::Refused,
        };
        if delivered != Delivered::Taken {
            return ticketing.wrong =
                Some(format!("node {from} sends frame {number} with a ticket that it does not have"));
        }
        *taken += 1;
        self.marks.entry((from, rank)).or_default().push(mark);
        if let (Some(fed), Some(kept)) = (&mut self.fed, kept) {
            fed.entry((from, rank)).or_default().push(kept);
        }
        if self.is_watched {
            let lane = Lane { from, to: self.node, rank };
            ticketing.came.push(Came { lane, number, frame, is_determined });
        }
    }

    /// What the PE of this rank takes in now, and what its clock is to say: the next frame in the order of tickets, if no message waits there,
    /// at the time that its ticket has. While messages wait, the PE's own log says what it took in, and when; as it does of what came by rings.
    ///
    /// # Errors
    /// A node has sent what cannot be.
    pub fn take_in_order(
        &mut self,
        rank: u32,
        now: u64,
        has_messages: bool,
    ) -> Result<(Vec<Taken>, u64), String> {
        self.absorb();
        self.looks = self.looks.wrapping_add(1);
        let mut all = Vec::new();
        let ring_comes_first = self.looks.is_multiple_of(2) && self.rings.has_any_for(rank);
        // One at a time: what the PE sends when it takes in a frame leaves before what the next one leads to, as when it runs again.
        let next = if ring_comes_first { None } else { self.next_in_order(rank, &mut all)? };
        match next {
            Some((_, _, time)) if !has_messages => {
                return Ok((all, self.record(rank).takes_in_order(time)));
            }
            Some((from, told, _)) => {
                if !mutated("ticketed-while-messages-wait-not-logged") {
                    self.record(rank).takes(now, Input::Lane { from, frames: 1, told });
                }
                return Ok((all, now));
            }
            None => {}
        }
        Ok((self.take_ring(rank, now), now))
    }

    /// The next frame in the order of tickets, if it is there: it is among all that the PE is given, or goes on by a ring. Who has sent it, how
    /// long the logs there were, and the time of its ticket.
    fn next_in_order(
        &mut self,
        rank: u32,
        all: &mut Vec<Taken>,
    ) -> Result<Option<(NodeId, Vec<u64>, u64)>, String> {
        let Some(ticketing) = &mut self.ticketing else { return Ok(None) };
        if let Some(wrong) = ticketing.wrong.take() {
            return Err(wrong);
        }
        let Some((sender, _, letter)) = ticketing.receivers[rank as usize].take_next() else {
            return Ok(None);
        };
        let from = ticketing.node_of(sender);
        let Letter { to, ride, frame, .. } = letter;
        let malformed = || format!("what rides on a frame of node {from} is malformed");
        let (tn, ride) = ticket_of(&ride).ok_or_else(malformed)?;
        let mut told = Vec::new();
        let heard = self.spread.hear_written(from, ride, &mut told);
        heard.map_err(|error| format!("{}: {error:?}", malformed()))?;
        let taken = Taken { from: sender as u32, parcel: frame.into_parcel() };
        match to == rank {
            true => all.push(taken),
            false => self.pass((rank, to), taken),
        }
        Ok(Some((from, told, tn.time)))
    }

    // Taking again.

    /// All frames that a node has taken in a line come at once, for its twin. What nobody has a ticket for was not taken.
    pub(super) fn feed_in_order(&mut self, fed: &Fed) {
        let others: Vec<_> = self.shape.others(self.node).collect();
        self.ticketing.iter_mut().for_each(|ticketing| ticketing.recover(&others));
        for ((from, rank), letters) in fed {
            letters.iter().for_each(|letter| self.receive_ticketed(*from, *rank, letter.clone()));
        }
        let receivers = self.ticketing.iter_mut().flat_map(|ticketing| &mut ticketing.receivers);
        for receiver in receivers {
            others.iter().for_each(|from| _ = receiver.on_highest(*from, 0, 0));
        }
    }

    /// The next frame in the order of tickets, for a PE that runs again and has nothing to run.
    pub(super) fn take_next_again(&mut self, rank: u32) -> Result<Next, String> {
        let Some(ticketing) = &self.ticketing else { return Ok(Next::Wait) };
        if ticketing.receivers[rank as usize].has_more_of_former() == Some(false) {
            return Err(format!(
                "node {} does not do again what it did: its PE {rank} has taken in all that others have a ticket for, and not sent all \
                 that was taken of it",
                self.node
            ));
        }
        let mut taken = Vec::new();
        let Some((from, told, time)) = self.next_in_order(rank, &mut taken)? else { return Ok(Next::Wait) };
        let time = self.record(rank).takes_in_order(time);
        Ok(Next::Do(Again::at(time, Input::Lane { from, frames: 1, told }, taken)))
    }

    /// The next frame in the order of tickets, where the PE's log says that it took one of this node.
    pub(super) fn take_early_again(&mut self, rank: u32, from: NodeId) -> Result<Option<Vec<Taken>>, String> {
        let Some(ticketing) = &self.ticketing else { return Ok(None) };
        let next = ticketing.receivers[rank as usize].next_sender().map(|sender| ticketing.node_of(sender));
        match next {
            None => Ok(None),
            Some(next) if next != from => Err(format!(
                "node {} took a frame of node {from} where one of node {next} is next",
                self.node
            )),
            Some(_) => {
                let mut taken = Vec::new();
                self.next_in_order(rank, &mut taken)?;
                Ok(Some(taken))
            }
        }
    }
}
