//! What a node does about a loss: what others and the leader say to it.

use super::cut::HandedOver;
use super::image::Image;
use super::mark::Mark;
use super::member::{Member, Stage};
use super::recorder::Record;
use super::words::{Out, Word};
use talisman_ft::NodeId;
use talisman_ft::event::Event;
use talisman_ft::logging::{
    Batch, Cut, Guide, Holdings, ImageId, Images, Incarnation, Lane, Order, Output, Position, Reach, Session,
    Spread, Step,
};

impl Member {
    /// Another node has said something, as a process of one incarnation to that of another. What is not from, or for, the process
    /// that is meant is dropped.
    pub fn hear(&mut self, from: NodeId, between: (Incarnation, Incarnation), word: Word) {
        let knows_nobody = self.knows_nobody();
        let is_stale = !knows_nobody && between.0 != self.spread.incarnation(from);
        let is_stale = is_stale || self.closed.contains(&from);
        if between.1 != self.incarnation || is_stale {
            return;
        }
        match word {
            Word::Image(image) => self.restore(*image),
            _ if knows_nobody => {}
            Word::Flush(batches) => {
                let stable = self.spread.keep(batches);
                self.tell(from, Word::Stable(stable));
            }
            Word::Stable(all) => all.into_iter().for_each(|stable| self.spread.on_stable(stable)),
            Word::AskStable => {
                let stable = self.spread.own_stable();
                self.tell(from, Word::Stable(stable));
            }
            Word::Copy(image, others) => {
                others.into_iter().for_each(|batch| self.spread.learn(batch));
                let position = image.position.clone();
                self.images.keep(from, position.clone(), *image);
                self.tell(from, Word::Stored(position));
            }
            Word::Stored(position) => self.on_stored(&position),
            Word::From { taken, marks, answer } => self.on_from(from, between.0, (taken, marks), answer),
            Word::Next(image) => self.on_next(from, image),
            Word::AskTickets(asked) => self.on_ask_tickets(from, asked),
            Word::Tickets(tickets) => self.on_tickets(from, tickets),
            Word::Noted(noted) => self.on_noted(from, noted),
            Word::HasNext(version) => self.on_has_next(version),
            Word::HandOver(membership, image) => {
                self.on_hand_over(from, HandedOver { membership, image: *image })
            }
            Word::AskRoom(version, bytes) => self.put(Out::AskRoom(from, version, bytes)),
            Word::Room(version, has_room) if from == self.receiver() => self.on_room(version, has_room),
            Word::Room(..) => {}
            Word::Fetch(number) => self.on_fetch(from, number),
        }
    }

    /// A node wants what it begins with, which is kept here, or made if it was not there before the line.
    fn on_fetch(&mut self, from: NodeId, number: ImageId) {
        let image = self.images.find(from, number).cloned().map(Ok);
        match image.or_else(|| self.make_image_of(from)) {
            Some(Ok(image)) => self.tell(from, Word::Image(Box::new(image))),
            Some(Err(why)) => self.put(Out::Unreadable(why)),
            None => {}
        }
    }

    fn on_from(
        &mut self,
        from: NodeId,
        incarnation: Incarnation,
        (taken, marks): (Vec<u64>, Vec<Vec<Mark>>),
        answer: bool,
    ) {
        self.compare(from, marks);
        self.begin_link(from, incarnation, taken);
        if answer {
            let (taken, marks) = (self.taken_from(from), self.marks_of(from));
            self.tell(from, Word::From { taken, marks, answer: false });
        }
        if from == self.keeper() && self.covered_by != incarnation {
            self.covered_by = incarnation;
            self.cover_again();
        }
    }

    /// A node has taken frames of these marks. Those that have been made again are looked at now, the others as they are made.
    fn compare(&mut self, to: NodeId, marks: Vec<Vec<Mark>>) {
        for (rank, marks) in (0..).zip(marks) {
            self.to_make_again.insert((to, rank), marks);
            let made: Vec<_> =
                self.retained.get(&(to, rank)).into_iter().flat_map(|made| made.from(0)).collect();
            let made: Vec<_> = made.into_iter().map(|(number, sent)| (number, sent.clone())).collect();
            made.iter().for_each(|(number, sent)| self.make_again(to, rank, *number, sent));
        }
    }

    /// A link begins anew, to a process that has taken so many frames.
    fn begin_link(&mut self, to: NodeId, incarnation: Incarnation, taken: Vec<u64>) {
        if self.up.get(&to).is_some_and(|(up, _)| *up == incarnation) {
            return;
        }
        self.up.insert(to, (incarnation, taken.clone()));
        // All that it has not taken goes to it, in order.
        self.gate.iter_mut().for_each(|gate| gate.retain(|(waits, ..)| *waits != to));
        if self.is_ticketed() {
            return self.begin_ticketed_link(to);
        }
        for (rank, taken) in (0..self.shape.pes_per_node).zip(taken) {
            let retained = &self.retained[&(to, rank)];
            let (first, end) = (retained.first(), retained.end());
            (taken.max(first)..end).for_each(|number| self.let_go(to, rank, number));
        }
    }

    /// The keeper has a new process: it is sent everything again.
    fn cover_again(&mut self) {
        self.spread.flush_again();
        self.flush();
        let all: Vec<_> = self.images.to_send().map(|(_, image)| image.clone()).collect();
        for image in all {
            let others = self.spread.others();
            self.tell(self.keeper(), Word::Copy(Box::new(image), others));
        }
    }

    fn on_stored(&mut self, position: &Position) {
        if self.images.is_newest(position.image) {
            self.report(Event::Covered(self.node, self.session));
        }
    }

    /// The leader wants something. Before it is asked what it holds, what has come from the lost has been taken in.
    pub fn obey(&mut self, order: Order) {
        match order {
            Order::Ask { session, lost, .. } => self.answer(session, &lost),
            Order::Announce { session, restarted, .. } => self.on_announce(session, &restarted),
            Order::Restore { session, incarnations, cuts, restore, .. } => {
                self.session = session;
                let between = (self.incarnation, incarnations[restore.keeper as usize]);
                self.put(Out::Word(restore.keeper, between, Word::Fetch(restore.image)));
                self.stage = Stage::Fetching { incarnations, cuts, restore: Box::new(restore) };
            }
            Order::GoLive { session, .. } if session == self.session => {
                self.absorb();
                self.records.iter().for_each(Record::go_live);
                self.stage = Stage::Live;
            }
            Order::GoLive { .. }
            | Order::Start { .. }
            | Order::Forget { .. }
            | Order::Degraded(_)
            | Order::GiveUp(_) => {}
        }
    }

    fn answer(&mut self, session: Session, lost: &[NodeId]) {
        self.session = session;
        self.closed = lost.iter().copied().collect();
        for from in lost {
            self.up.remove(from);
            self.waiting.retain(|(sender, _), _| sender != from);
        }
        self.forget_handed_over_by(lost);
        let mut present = self.position(self.images.next());
        self.ticketing.iter().for_each(|ticketing| ticketing.given(self.node, &mut present));
        let holdings = Holdings {
            kept: self.images.kept().map(|(of, position)| (of, position.clone())).collect(),
            makes: lost.iter().copied().filter(|node| self.can_make_image_of(*node)).collect(),
            images: self.images.positions().cloned().collect(),
            present,
            of_lost: self.spread.held_of(|node| lost.contains(&node)),
            unstable: self.spread.riding(),
            told: self.spread.told().clone(),
        };
        self.report(Event::Held(self.node, session, Box::new(holdings)));
        self.say_again_if_due();
    }

    fn on_announce(&mut self, session: Session, restarted: &[(Cut, Incarnation)]) {
        self.session = session;
        for (cut, incarnation) in restarted {
            self.spread.on_restart(cut, *incarnation);
        }
        self.closed.clear();
        self.report(Event::Announced(self.node, session));
    }

    /// Its image has come: a PE is to be made from it, which runs again.
    fn restore(&mut self, image: Image) {
        let Stage::Fetching { incarnations, cuts, restore } = self.stage.clone() else { return };
        let position = &image.position;
        self.spread = Spread::restored(
            (self.node, self.keeper(), self.shape),
            (incarnations, cuts),
            (&position.logs, position.told.clone()),
            &restore.fed,
        );
        restore.unstable.into_iter().for_each(|batch| self.spread.learn(batch));
        // What was made for this node its keeper has not got: it is sent to it when the link begins.
        self.covered_by =
            if restore.is_new { Incarnation::MAX } else { self.spread.incarnation(self.keeper()) };
        self.output = self.shape.logs_of(self.node).map(|_| Output::default()).collect();
        self.images = Images::starting_with(position.clone(), image.clone());
        let guided = restore.fed.into_iter().zip(restore.horizons);
        let guide =
            |batch: Batch, horizon| Guide::new(batch.entries.iter(), horizon).ticketed(self.is_ticketed());
        let guided = guided.map(|(batch, horizon)| Record::guided(guide(batch, horizon)));
        self.records = guided.collect();
        self.stage = Stage::Beginning;
        self.has_new = true;
        self.put(Out::Begin(Box::new(image)));
        let others: Vec<_> =
            self.shape.others(self.node).filter(|to| self.membership.view.is_there(*to)).collect();
        self.ticketing.iter_mut().for_each(|ticketing| ticketing.recover(&others));
        for to in others {
            let (taken, marks) = (self.taken_from(to), self.marks_of(to));
            self.tell(to, Word::From { taken, marks, answer: true });
        }
    }

    /// What the PE of this rank does next, which runs again.
    ///
    /// # Errors
    /// It did not do what it had done before.
    pub(super) fn next_step(&self, rank: u32, has_messages: bool) -> Result<Option<Step>, String> {
        let diverged = |why| format!("node {} does not do again what it did: {why}", self.node);
        self.record(rank).next(&self.reach(rank), has_messages).map_err(diverged)
    }

    /// Says, once, that all is sent again that was taken, and that the keeper has the log again.
    /// `has_messages`: whether the PE of a rank has any to run.
    ///
    /// # Errors
    /// One of them did not do what it had done before.
    pub fn tell_if_at_horizon(&mut self, has_messages: impl Fn(u32) -> bool) -> Result<(), String> {
        if !matches!(self.stage, Stage::Guided { has_told: false }) {
            return Ok(());
        }
        let own = self.shape.logs_of(self.node).zip(self.spread.lengths()).collect();
        let has_tickets = self.ticketing.as_ref().is_none_or(|ticketing| ticketing.has_all());
        if !self.spread.stable().covers(&own) || !has_tickets {
            return Ok(());
        }
        for rank in 0..self.shape.pes_per_node {
            if self.next_step(rank, has_messages(rank))? != Some(Step::AtHorizon) {
                return Ok(());
            }
        }
        self.stage = Stage::Guided { has_told: true };
        self.report(Event::AtHorizon(self.node, self.session));
        Ok(())
    }

    // Where it is.

    fn position(&self, image: ImageId) -> Position {
        let to = |(node, rank): (NodeId, u32)| Lane { from: self.node, to: node, rank };
        let from = |(node, rank): (NodeId, u32)| Lane { from: node, to: self.node, rank };
        Position {
            image,
            taken: self.taken.iter().map(|(lane, taken)| (from(*lane), *taken)).collect(),
            sent: self.retained.iter().map(|(lane, retained)| (to(*lane), retained.end())).collect(),
            retained: self.retained.iter().map(|(lane, kept)| (to(*lane), vec![kept.range()])).collect(),
            rings: self.rings.taken(),
            logs: self.spread.lengths(),
            told: self.spread.told().clone(),
        }
    }

    /// How far the PE of this rank has come.
    pub(super) fn reach(&self, rank: u32) -> Reach {
        let of_rank = self.retained.iter().filter(|((_, lane), _)| *lane == rank);
        Reach {
            frames: of_rank.map(|((to, _), retained)| (*to, retained.end())).collect(),
            slots: self.rings.sent_by(rank),
            lines: self.output[rank as usize].said(),
        }
    }
}
