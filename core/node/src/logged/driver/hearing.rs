//! What a node hears: of the launcher, and of other nodes.

use std::sync::atomic;

use super::{Driver, FIRST};
use crate::logged::links::{Came, Lost, What};
use crate::logged::part_lending::{Lending, NotFound};
use crate::logged::task::Task;
use talisman_control::logging::messages::{FromMember, ToMember};
use talisman_control::protocol::{Place, ToLauncher};
use talisman_core::logging::member::Member;
use talisman_core::logging::wire;
use talisman_core::logging::words::Word;
use talisman_ft::logging::Order;
use talisman_ft::{NodeId, Version};
use talisman_kernel::pe::turn::Command;
use talisman_observe::subjects::CHECKPOINT;
use talisman_store::lent_slices::Found;
use tracing::debug;

impl Driver<'_> {
    pub(super) fn hear_launcher(&mut self) -> bool {
        if !self.of.commands.has_any() {
            return false;
        }
        match self.of.commands.take() {
            Ok(words) => words.into_iter().for_each(|word| self.hear(word)),
            Err(why) => self.fail(why),
        }
        if self.of.commands.take_wish() && self.runs() {
            // In a recovery the launcher asks again.
            self.ask_for_cut(true);
        }
        for _ in 0..self.of.commands.take_wanted_steps() {
            if self.runs() {
                self.command(Command::Balance);
            }
        }
        if let Some((version, wrong)) = self.of.commands.take_written() {
            self.say(&FromMember::Written { version, wrong });
        }
        true
    }

    pub(super) fn hear(&mut self, word: ToMember) {
        match word {
            ToMember::Printed { line, log, before } if self.shape.has(log) => {
                self.member.on_printed(line, log, before);
            }
            ToMember::Printed { log, .. } => self.fail(format!("the launcher speaks of {log:?}")),
            ToMember::Finish(stop) => (self.finishing, self.has_finished) = (Some(stop), false),
            ToMember::Introduce => self.introduce(),
            ToMember::Line { membership, .. } | ToMember::Expect(membership)
                if !membership.is_of(self.shape) =>
            {
                self.fail(format!("the launcher speaks of {membership:?}"));
            }
            ToMember::Line { version, membership } if self.member.is_blank() => {
                self.come_with_line(version, membership);
            }
            ToMember::Line { version, membership } => self.begin_line(version, membership),
            ToMember::Expect(membership) => {
                self.member.expect(membership);
                self.carry();
            }
            ToMember::Write { version } => self.write_line(version),
            ToMember::AllWritten { version, is_whole } => self.end_writing(version, is_whole),
            ToMember::Order { order, places, line } => self.obey(order, &places, line),
        }
    }

    /// All PEs are at nothing then: whoever leads asks how far the node has come.
    pub(super) fn obey(&mut self, order: Order, places: &[Place], line: Version) {
        self.gather();
        match &order {
            Order::Ask { lost, .. } => {
                self.read_out(lost);
                // Their new processes have other memory.
                self.of.store.forget_windows();
            }
            Order::Announce { .. } => self.expect(places),
            Order::Restore { to, incarnations, .. } => {
                let incarnation = incarnations.get(*to as usize).copied().unwrap_or_default();
                let membership = self.member.membership().clone();
                let blank = Member::blank(*to, self.shape, incarnation).in_line(line);
                self.member = self.placed(blank, membership);
                self.expect(places);
                self.enter(line);
            }
            Order::GoLive { .. } => self.of.runs_again.store(false, atomic::Ordering::Relaxed),
            _ => {}
        }
        self.member.absorb();
        self.member.obey(order);
        self.settle();
    }

    /// What has come from nodes that are lost is taken in, and nothing more will.
    pub(super) fn read_out(&mut self, lost: &[u32]) {
        self.of.connections.keep_to(|node| !lost.contains(&node));
        self.newcomers.retain(|(peer, _)| !lost.contains(&peer.node));
        for node in lost {
            self.links.read_out(*node).into_iter().for_each(|came| self.take(came));
        }
        for rank in self.ranks() {
            while self.member.has_mail(rank, |from| lost.contains(&from)) && !self.has_failed {
                let now = self.seat(rank).stand.clock;
                let taken = self.take_mail(rank, now, |from| lost.contains(&from), false);
                self.hand(rank, 0, Task::Turn { taken, runs: false, bytes: u64::MAX, since: self.at });
                self.gather();
            }
        }
    }

    /// Others have new processes, which this one is to be linked with.
    pub(super) fn expect(&mut self, places: &[Place]) {
        let peers = self.of.connections.expect_new_ones(places, |_| true);
        // There is one for each PE; all go by the first.
        for peer in peers.into_iter().filter(|(peer, _)| peer.lane == FIRST) {
            self.newcomers.retain(|(known, _)| *known != peer.0);
            self.newcomers.push(peer);
        }
    }

    pub(super) fn meet_newcomers(&mut self) -> bool {
        let mut met = false;
        for peer in std::mem::take(&mut self.newcomers) {
            match self.of.connections.met(peer) {
                None => self.newcomers.push(peer),
                Some(stream) => {
                    met = true;
                    if let Err(error) = self.links.join(peer.0.node, stream) {
                        self.fail(format!("the system watches no further connection: {error}"));
                    }
                }
            }
        }
        met
    }

    pub(super) fn hear_others(&mut self) -> bool {
        let mut came = std::mem::take(&mut self.came);
        // What came while it rested is all that there was.
        let lost = if came.is_empty() { self.links.receive(&mut came) } else { None };
        let any = !came.is_empty();
        let any_words = came.iter().any(|came| !matches!(came.what, What::Letter(..)));
        came.drain(..).for_each(|came| self.take(came));
        self.came = came;
        if any_words {
            // Others' logs may have become stable. What rides on letters is heard when these are taken in.
            self.member.release();
        }
        self.carry();
        self.give_up(lost);
        any
    }

    /// What is of a line that has not begun here waits for that; what is of a former one has no meaning any more.
    fn take(&mut self, came: Came) {
        let admitted = self.door.admit(came.line, came);
        admitted.into_iter().for_each(|came| self.take_in(came));
    }

    pub(super) fn take_in(&mut self, Came { from, what, .. }: Came) {
        match what {
            What::Letter(rank, _) if rank >= self.shape.pes_per_node => {
                self.fail(format!("node {from} sends for PE {rank} of it"));
            }
            What::Letter(rank, Some(letter)) => return self.member.receive(from, rank, letter),
            What::Letter(_, None) => {
                self.fail(format!("a message from node {from} is shorter than it says"));
            }
            What::Word(bytes, beside) => {
                self.hear_word(from, bytes.bytes(), Found { slices: beside, mapped: Vec::new() });
            }
            What::Lent(bytes, beside) => match Lending::find(&self.of.store, bytes.bytes(), beside) {
                Ok((word, found)) => self.hear_word(from, &word, found),
                Err(NotFound::Unreadable(why)) => {
                    debug!(target: CHECKPOINT, node = from, %why, "parts are to be sent, as they cannot be mapped");
                    self.lending.note_unreadable(from);
                    self.links.send_unread(from);
                }
                Err(NotFound::Unknown(why)) => {
                    self.fail(format!("what node {from} lends cannot be read: {why}"));
                }
            },
            What::Unread => {
                self.lending.refuse(from);
                self.member.send_next_again();
            }
            What::Unknown => self.fail(format!("node {from} sends what a job that logs does not know")),
        }
        self.carry();
    }

    fn hear_word(&mut self, from: NodeId, bytes: &[u8], Found { slices, mapped }: Found) {
        let (between, word) = match wire::read(bytes, slices, self.shape) {
            Ok(read) => read,
            Err(why) => return self.fail(format!("what node {from} says cannot be read: {why}")),
        };
        if let Word::Next(image) = &word {
            let slabs = mapped.len();
            debug!(target: CHECKPOINT, node = from, line = image.line, slabs, "parts are here, mapped or sent");
            self.lending.keep(image, mapped);
        }
        self.member.set_now(self.now());
        self.member.hear(from, between, word);
    }

    /// Nothing can be said any more over a link. Whoever is lost is known to the launcher.
    pub(super) fn give_up(&mut self, lost: Option<Lost>) {
        let Some(Lost { node, error }) = lost else { return };
        self.links.read_out(node);
        match error.is_well_formed() {
            true => self.fail(error.to_string()),
            false => self.of.control.send(ToLauncher::Suspect { node, why: error.to_string() }),
        }
    }
}
