//! The other copy of each part: it goes in the background, between entries, to the PE of the same lane on the node's buddy, which
//! reads it where it is if it can ([`Lent`]), or is sent it in pieces.
//!
//! A piece follows when one before it has come, so that little of a part is under way at a time, whatever the link can hold:
//! the program's own messages do not wait behind all of it, and neither side keeps it twice.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use talisman_ft::Version;

use super::Checkpoints;
use super::lent::Lent;
use super::message::Checkpoint;
use super::pieces::{Manifest, checksum, cut};
use super::taking::Takings;
use crate::ids::PeId;
use crate::message::control::PeMessage;
use crate::pe::Pe;
use crate::pup::{Packed, Segment};
use crate::sometimes::sometimes;

/// Pieces of a part that are under way at a time: enough for a link not to be idle while the word comes back that one is there.
const UNDER_WAY: usize = 4;

/// What a PE has to send of its part, and has to take of others'.
#[derive(Default)]
pub(super) struct Copies {
    sending: RefCell<Option<Sending>>,
    /// The last version of which the buddy knows where this PE's part is.
    lent: Cell<Version>,
    /// Parts of which pieces are to come.
    coming: Cell<u32>,
    pub(super) takings: Takings,
    /// The buddy may not read the memory of this process.
    is_refused: Cell<bool>,
    /// A test wants parts to be lent, whoever the buddy is.
    #[cfg(test)]
    pub(super) lends: Cell<bool>,
}

struct Sending {
    version: Version,
    to: PeId,
    /// Lent, if no piece has been sent.
    part: Packed,
    next: u32,
    left: VecDeque<Vec<Segment>>,
}

impl Pe {
    /// The PE that keeps the other copy of this one's part; none if this node is alone.
    fn buddy(&self) -> Option<PeId> {
        let (here, own) = (self.node.number, &self.node.config.neighbours);
        let buddy =
            self.view().of_nodes().buddy(here, |node| u32::from(node != here && !own.contains(&node)));
        buddy.map(|node| node * self.node.shape.pes_per_node + self.id % self.node.shape.pes_per_node)
    }

    /// This PE has taken its part. A buddy that can read it where it is is told at once, and does so once it thaws. Of what is to
    /// be written somewhere nothing is said before this PE thaws.
    pub(super) fn lend_part(&self, checkpoints: &Checkpoints) {
        let sending = self.part_to_send(checkpoints).filter(|_| self.node.store.is_in_memory());
        if sending.is_some_and(|sending| self.lend(checkpoints, sending).is_none()) {
            self.keep_own(checkpoints, checkpoints.version.get());
        }
    }

    /// Begins to send this PE's part, or says that there is nobody to send it to.
    pub(super) fn begin_copy(&self, checkpoints: &Checkpoints) {
        let version = checkpoints.version.get();
        if checkpoints.copies.lent.get() == version {
            return;
        }
        // Asked for first: once it is written it is not in memory any more.
        let sending = self.part_to_send(checkpoints);
        self.keep_own(checkpoints, version);
        let Some(sending) = sending else {
            sometimes("a part of a checkpoint had nobody to keep its copy");
            return self.on_copy_kept(checkpoints, version, Ok(()));
        };
        if let Some(sending) = self.lend(checkpoints, sending) {
            self.send_in_pieces(checkpoints, sending);
        }
    }

    fn part_to_send(&self, checkpoints: &Checkpoints) -> Option<Sending> {
        let version = checkpoints.version.get();
        let (to, part) = (self.buddy()?, self.node.store.own(version, self.id)?);
        Some(Sending { version, to, part, next: 0, left: VecDeque::new() })
    }

    /// Tells the buddy where the part is, if it can read it there; else gives it back.
    fn lend(&self, checkpoints: &Checkpoints, sending: Sending) -> Option<Sending> {
        let node = self.node.shape.node_of(sending.to);
        let can_read = self.port.shares_memory_with(node) || self.node.store.lends_to(node);
        #[cfg(test)]
        let can_read = can_read || checkpoints.copies.lends.get();
        if checkpoints.copies.is_refused.get() || !can_read {
            return Some(sending);
        }
        let (version, to, manifest) = (sending.version, sending.to, Manifest::uncut(&sending.part));
        let Some(lent) = self.node.store.lend(version, self.id, &sending.part) else { return Some(sending) };
        checkpoints.copies.lent.set(version);
        *checkpoints.copies.sending.borrow_mut() = Some(sending);
        self.tell(to, PeMessage::Checkpoint(Checkpoint::Copy { version, manifest, lent: Some(lent) }));
        None
    }

    fn send_in_pieces(&self, checkpoints: &Checkpoints, sending: Sending) {
        let (version, to) = (sending.version, sending.to);
        let (manifest, pieces) = cut(&sending.part);
        self.tell(to, PeMessage::Checkpoint(Checkpoint::Copy { version, manifest, lent: None }));
        *checkpoints.copies.sending.borrow_mut() = Some(Sending { left: pieces.into(), ..sending });
        (0..UNDER_WAY).for_each(|_| self.send_piece(checkpoints));
    }

    /// The buddy cannot read the part where it is: it comes in pieces, and so do those to come.
    pub(super) fn on_bring(&self, checkpoints: &Checkpoints, version: Version) {
        if checkpoints.copies.is_sending(version) && !checkpoints.copies.is_refused.replace(true) {
            let sending = checkpoints.copies.sending.take();
            sending.into_iter().for_each(|sending| self.send_in_pieces(checkpoints, sending));
        }
    }

    fn send_piece(&self, checkpoints: &Checkpoints) {
        let (to, version, piece, slices) = {
            let mut sending = checkpoints.copies.sending.borrow_mut();
            let Some(sending) = sending.as_mut() else { return };
            let Some(slices) = sending.left.pop_front() else { return };
            sending.next += 1;
            (sending.to, sending.version, sending.next - 1, slices)
        };
        let sum = checksum(&slices);
        let slices = Packed::new(Default::default(), slices, Vec::new());
        self.tell(to, PeMessage::Checkpoint(Checkpoint::Piece { version, piece, sum, slices }));
    }

    /// Whether parts are on their way, from here or to here or anywhere: links have much to carry, and are to be served often.
    pub(crate) fn is_copying(&self) -> bool {
        let copies =
            |checkpoints: &Checkpoints| checkpoints.is_open.get() || checkpoints.copies.are_under_way();
        self.checkpoints.as_deref().is_some_and(copies)
    }

    /// A part of another PE begins to come.
    pub(super) fn on_copy(
        &self,
        checkpoints: &Checkpoints,
        (version, from): (Version, PeId),
        manifest: Manifest,
        lent: Option<Lent>,
    ) {
        if let Some(lent) = lent {
            return self.begin_taking(checkpoints, (version, from), manifest, lent);
        }
        let is_whole = self.node.store.expect(version, self.view(), from, manifest);
        if is_whole {
            self.keep_for_good(checkpoints, version, from);
        } else {
            checkpoints.copies.coming.update(|coming| coming + 1);
        }
    }

    /// A piece of it has come.
    pub(super) fn on_piece(
        &self,
        checkpoints: &Checkpoints,
        from: PeId,
        (version, piece, sum): (Version, u32, u32),
        slices: Packed,
    ) {
        let (_, slices) = slices.into_parts();
        match self.node.store.add(version, from, piece, sum, slices) {
            Ok(true) => {
                checkpoints.copies.coming.update(|coming| coming.saturating_sub(1));
                self.keep_for_good(checkpoints, version, from);
            }
            Ok(false) => self.tell(from, PeMessage::Checkpoint(Checkpoint::Got { version })),
            Err(wrong) => {
                let message = format!("the copy of the checkpoint of PE {from} is not what it was: {wrong}");
                self.node.job.end(1, Some(message));
            }
        }
    }

    /// One of this PE's pieces has come: another may follow.
    pub(super) fn on_got(&self, checkpoints: &Checkpoints, version: Version) {
        if checkpoints.copies.is_sending(version) {
            self.send_piece(checkpoints);
        }
    }

    /// This PE's part is held by its buddy, or cannot be.
    pub(super) fn on_stored(&self, checkpoints: &Checkpoints, version: Version, stored: Result<(), String>) {
        if checkpoints.copies.is_sending(version) {
            checkpoints.copies.sending.take();
            if stored.is_err() || !self.node.store.is_in_memory() {
                self.on_copy_kept(checkpoints, version, stored);
            }
        }
    }
}

impl Copies {
    fn are_under_way(&self) -> bool {
        self.coming.get() > 0 || self.sending.borrow().is_some() || !self.takings.is_empty()
    }

    fn is_sending(&self, version: Version) -> bool {
        self.sending.borrow().as_ref().is_some_and(|sending| sending.version == version)
    }
}
