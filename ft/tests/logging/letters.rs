//! What a node does about what others and the leader say to it.

use talisman_ft::NodeId;
use talisman_ft::logging::{Cut, Holdings, Incarnation, Lane, Position, Session};

use crate::mail::{Command, Mail, Report, Word};
use crate::process::{Process, Stage, World};
use talisman_observe::mutations::mutated;

impl Process {
    /// Something came from another node. What is not from, or for, the process that is meant is dropped.
    pub fn read(&mut self, world: &mut World<'_>, from: NodeId, mail: Mail) {
        let is_for_this = mail.between.1 == self.incarnation;
        let is_known = matches!(self.stage, Stage::Blank | Stage::Fetching { .. });
        if !is_for_this || (!is_known && mail.between.0 != self.spread.incarnation(from)) {
            return;
        }
        match mail.word {
            Word::Image(image) => self.restore(world, *image),
            _ if !self.has_state() => {}
            Word::Flush(batches) => {
                let stable = self.spread.keep(batches);
                self.mail(world, from, Word::Stable(stable));
            }
            Word::Stable(all) => all.into_iter().for_each(|stable| self.spread.on_stable(stable)),
            Word::AskStable => self.mail(world, from, Word::Stable(self.spread.own_stable())),
            Word::Copy(image, others) => {
                others.into_iter().for_each(|batch| self.spread.learn(batch));
                let position = image.position.clone();
                self.images.keep(from, position.clone(), *image);
                self.mail(world, from, Word::Stored(position));
            }
            Word::Stored(position) => self.on_stored(world, position),
            Word::From { taken, answer } => self.on_from(world, from, mail.between.0, taken, answer),
            Word::Fetch(number) => {
                let image = self.images.find(from, number).cloned();
                if let Some(image) = image {
                    self.mail(world, from, Word::Image(Box::new(image)));
                }
            }
        }
    }

    fn on_from(
        &mut self,
        world: &mut World<'_>,
        from: NodeId,
        incarnation: Incarnation,
        taken: Vec<u64>,
        answer: bool,
    ) {
        self.begin_link(world, from, incarnation, taken);
        if answer {
            let taken = self.taken_from(from);
            self.mail(world, from, Word::From { taken, answer: false });
        }
        if from == self.keeper() && self.covered_by != incarnation {
            self.covered_by = incarnation;
            self.cover_again(world);
        }
    }

    fn on_stored(&mut self, world: &mut World<'_>, position: Position) {
        let number = position.image;
        if self.images.on_stored(number).is_some() {
            self.report(world, Report::Imaged(position));
        }
        if self.images.is_newest(number) {
            self.report(world, Report::Covered(self.node, self.session));
        }
    }

    /// The leader wants something.
    pub fn obey(&mut self, world: &mut World<'_>, command: Command) {
        match command {
            Command::Ask(session, lost) => self.answer(world, session, &lost),
            Command::Announce(session, restarted) => self.on_announce(world, session, &restarted),
            Command::Restore(session, incarnations, cuts, restore) => {
                self.session = session;
                let between = (self.incarnation, incarnations[restore.keeper as usize]);
                let fetch = Mail { between, word: Word::Fetch(restore.image) };
                world.net.mail.entry((self.node, restore.keeper)).or_default().push_back(fetch);
                self.stage = Stage::Fetching { incarnations, cuts, restore };
            }
            Command::GoLive(session) if session == self.session => self.stage = Stage::Live,
            Command::GoLive(_) => {}
            Command::Printed(rank, lines) => self.output[rank as usize].on_printed(lines),
            Command::Forget(kept) => self.forget(&kept),
        }
    }

    /// Reads what has come from the lost, to the end, and says what it holds.
    fn answer(&mut self, world: &mut World<'_>, session: Session, lost: &[NodeId]) {
        self.session = session;
        for from in lost {
            self.read_to_the_end(world, *from);
            self.up.remove(from);
        }
        let is_lost = |node: NodeId| lost.contains(&node);
        let holdings = Holdings {
            kept: self.images.kept().map(|(of, position)| (of, position.clone())).collect(),
            makes: Vec::new(),
            images: self.images.positions().cloned().collect(),
            present: self.position(self.images.next()),
            of_lost: self.spread.held_of(is_lost),
            unstable: self.spread.riding(),
            told: self.spread.told().clone(),
        };
        self.report(world, Report::Held(session, Box::new(holdings)));
    }

    fn read_to_the_end(&mut self, world: &mut World<'_>, from: NodeId) {
        while let Some(mail) =
            world.net.mail.get_mut(&(from, self.node)).and_then(|waiting| waiting.pop_front())
        {
            self.read(world, from, mail);
        }
        if mutated("old-link-not-read-out") {
            return;
        }
        for rank in 0..self.shape.pes_per_node {
            let lane = Lane { from, to: self.node, rank };
            while self.take_frames(world, lane, 1, true) {}
        }
    }

    fn on_announce(&mut self, world: &mut World<'_>, session: Session, restarted: &[(Cut, Incarnation)]) {
        self.session = session;
        for (cut, incarnation) in restarted {
            self.spread.on_restart(cut, *incarnation);
        }
        self.report(world, Report::Announced(session));
    }

    /// Nobody is ever asked for what is before these images.
    fn forget(&mut self, kept: &[Position]) {
        self.images.forget(self.node, kept);
        for (node, position) in (0..).zip(kept) {
            position.lengths(node, self.shape).for_each(|(log, length)| self.spread.forget(log, length));
            for rank in 0..self.shape.pes_per_node {
                let lane = Lane { from: self.node, to: node, rank };
                let taken = position.taken(lane);
                if let Some(retained) = self.retained.get_mut(&lane) {
                    retained.forget(taken);
                }
            }
        }
    }
}
