//! The other copy of each part: it goes in the background, between entries, to the PE of the same lane on the node's buddy, which
//! reads it where it is if it can ([`Lent`]), or is sent it in pieces.
//!
//! A piece follows when one before it has come, so that little of a part is under way at a time, whatever the link can hold:
//! the program's own messages do not wait behind all of it, and neither side keeps it twice.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};

use easy_ext::ext;

use super::Checkpoints;
use super::image_fetch::Takings;
use super::message::Checkpoint;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::durability::DurabilityOnPe;
use crate::checkpoint::image_fetch::ImageFetchOnPe;
use talisman_base::ids::PeId;
use talisman_ft::{NodeId, Version};
use talisman_kernel::pe::Pe;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Packed, Segment};
use talisman_store::cma::Lent;
use talisman_store::pieces::{Manifest, checksum, cut};

/// Pieces of a part that are under way at a time: enough for a link not to be idle while the word comes back that one is there.
const UNDER_WAY: usize = 4;

/// What a PE has to send of its part, and has to take of others'.
#[derive(Default)]
pub(super) struct Copies {
    /// To each that has not said that it has all.
    sending: RefCell<Vec<Sending>>,
    /// The last version that this PE has begun to send, and those to whom it has.
    begun: RefCell<(Version, Vec<PeId>)>,
    /// Why somebody could not keep it.
    wrong: RefCell<Option<String>>,
    /// Parts of which pieces are to come.
    coming: Cell<u32>,
    pub(super) takings: Takings,
    /// Those that may not read the memory of this process.
    refused: RefCell<BTreeSet<PeId>>,
    /// A test wants parts to be lent, whoever the buddy is.
    #[cfg(test)]
    pub(super) lends: Cell<bool>,
}

pub struct Sending {
    version: Version,
    to: PeId,
    /// Lent, if it is not sent in pieces.
    part: Packed,
    in_pieces: bool,
    next: u32,
    left: VecDeque<Vec<Segment>>,
}

#[ext(ReplicationOnPe)]
pub impl Pe {
    /// The PEs that keep copies of this one's part: that of the same lane on the node's buddy, as a rule; none if this node is alone. What goes
    /// with its node has two copies that stay.
    fn keepers(&self, checkpoints: &Checkpoints) -> Vec<PeId> {
        let (here, own) = (self.node.number, &self.node.config.neighbours);
        // Of other hosts it is not known here who is on which.
        let host = |node: NodeId| u32::from(node != here && !own.contains(&node));
        let nodes = self.view().of_nodes().keepers(here, &checkpoints.leaving.borrow(), host);
        let lanes = self.node.shape.pes_per_node;
        nodes.into_iter().map(|node| node * lanes + self.id % lanes).collect()
    }

    /// This PE has taken its part. Who can read it where it is is told at once, and does so once it thaws. Of what is to
    /// be written somewhere nothing is said before this PE thaws.
    fn lend_part(&self, checkpoints: &Checkpoints) {
        if !self.node.store.is_in_memory() {
            return;
        }
        for sending in self.parts_to_send(checkpoints) {
            self.lend(checkpoints, sending);
        }
        if checkpoints.copies.has_begun(checkpoints.version.get()) {
            self.keep_own(checkpoints, checkpoints.version.get());
        }
    }

    /// Begins to send this PE's part, or says that there is nobody to send it to.
    fn begin_copy(&self, checkpoints: &Checkpoints) {
        let (version, copies) = (checkpoints.version.get(), &checkpoints.copies);
        // Asked for first: once it is written it is not in memory any more.
        let sending = self.parts_to_send(checkpoints);
        if !copies.has_begun(version) {
            copies.wrong.take();
            self.keep_own(checkpoints, version);
            if sending.is_empty() {
                sometimes("a part of a checkpoint had nobody to keep its copy");
                return self.on_copy_kept(checkpoints, version, Ok(()));
            }
        }
        for sending in sending {
            if let Some(sending) = self.lend(checkpoints, sending) {
                self.send_in_pieces(checkpoints, sending);
            }
        }
    }

    /// To those who have not been told of it.
    fn parts_to_send(&self, checkpoints: &Checkpoints) -> Vec<Sending> {
        let version = checkpoints.version.get();
        let Some(part) = self.node.store.own(version, self.id) else { return Vec::new() };
        let missing = self.keepers(checkpoints).into_iter();
        let missing = missing.filter(|to| !checkpoints.copies.has_begun_with(version, *to));
        let sending = |to| Sending {
            version,
            to,
            part: part.clone(),
            in_pieces: false,
            next: 0,
            left: VecDeque::new(),
        };
        missing.map(sending).collect()
    }

    /// Tells a keeper where the part is, if it can read it there; else gives it back.
    fn lend(&self, checkpoints: &Checkpoints, sending: Sending) -> Option<Sending> {
        let node = self.node.shape.node_of(sending.to);
        let can_read = self.port.shares_memory_with(node) || self.node.store.lends_to(node);
        #[cfg(test)]
        let can_read = can_read || checkpoints.copies.lends.get();
        if checkpoints.copies.refused.borrow().contains(&sending.to) || !can_read {
            return Some(sending);
        }
        let (version, to, manifest) = (sending.version, sending.to, Manifest::uncut(&sending.part));
        let Some(lent) = self.node.store.lend(version, self.id, &sending.part) else { return Some(sending) };
        checkpoints.copies.begin(sending);
        self.tell(to, Checkpoint::Copy { version, manifest, lent: Some(lent) });
        None
    }

    fn send_in_pieces(&self, checkpoints: &Checkpoints, sending: Sending) {
        let (version, to) = (sending.version, sending.to);
        let (manifest, pieces) = cut(&sending.part);
        self.tell(to, Checkpoint::Copy { version, manifest, lent: None });
        checkpoints.copies.begin(Sending { in_pieces: true, left: pieces.into(), ..sending });
        (0..UNDER_WAY).for_each(|_| self.send_piece(checkpoints, to));
    }

    /// A keeper cannot read the part where it is: it comes in pieces, and so do those to come.
    fn on_bring(&self, checkpoints: &Checkpoints, version: Version, to: PeId) {
        let lent = checkpoints.copies.take(version, to, |sending| !sending.in_pieces);
        if let Some(sending) = lent {
            checkpoints.copies.refused.borrow_mut().insert(to);
            self.send_in_pieces(checkpoints, sending);
        }
    }

    fn send_piece(&self, checkpoints: &Checkpoints, to: PeId) {
        let (version, piece, slices) = {
            let mut all = checkpoints.copies.sending.borrow_mut();
            let Some(sending) = all.iter_mut().find(|sending| sending.to == to) else { return };
            let Some(slices) = sending.left.pop_front() else { return };
            sending.next += 1;
            (sending.version, sending.next - 1, slices)
        };
        let sum = checksum(&slices);
        let slices = Packed::new(Default::default(), slices, Vec::new());
        self.tell(to, Checkpoint::Piece { version, piece, sum, slices });
    }

    /// Whether parts are on their way, from here or to here or anywhere: links have much to carry, and are to be served often.
    fn is_copying(&self) -> bool {
        let copies =
            |checkpoints: &Checkpoints| checkpoints.is_open.get() || checkpoints.copies.are_under_way();
        self.checkpoints().is_some_and(copies)
    }

    /// A part of another PE begins to come.
    fn on_copy(
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
    fn on_piece(
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
            Ok(false) => self.tell(from, Checkpoint::Got { version }),
            // Links find what networks do to bytes: this is memory, here or there. The version before this one stays. What else of this one
            // is under way is of no use.
            Err(wrong) if self.node.store.refuse(version, from) => {
                sometimes("a piece of a copy was not what it was");
                checkpoints.copies.coming.update(|coming| coming.saturating_sub(1));
                let why = format!("node {}: {wrong}", self.node.number);
                self.tell(from, Checkpoint::NotStored { version, why });
            }
            Err(_) => {}
        }
    }

    /// One of this PE's pieces has come: another may follow.
    fn on_got(&self, checkpoints: &Checkpoints, version: Version, by: PeId) {
        if checkpoints.copies.is_sending(version, by) {
            self.send_piece(checkpoints, by);
        }
    }

    /// This PE's part is held by a keeper, or cannot be. In memory each that holds it has said so where the checkpoint is led; else that is said once, of all.
    fn on_stored(&self, checkpoints: &Checkpoints, version: Version, by: PeId, stored: Result<(), String>) {
        let copies = &checkpoints.copies;
        if copies.take(version, by, |_| true).is_none() {
            return;
        }
        if self.node.store.is_in_memory() {
            return if stored.is_err() {
                self.on_copy_kept(checkpoints, version, stored)
            };
        }
        if let Err(why) = stored {
            copies.wrong.borrow_mut().get_or_insert(why);
        }
        if copies.sending.borrow().is_empty() {
            let kept = copies.wrong.take().map_or(Ok(()), Err);
            self.on_copy_kept(checkpoints, version, kept);
        }
    }
}

impl Copies {
    fn are_under_way(&self) -> bool {
        self.coming.get() > 0 || !self.sending.borrow().is_empty() || !self.takings.is_empty()
    }

    /// How many parts have begun to come, and are not there.
    #[cfg(test)]
    pub(super) fn coming(&self) -> u32 {
        self.coming.get()
    }

    /// Whether anybody knows of this PE's part of a version.
    fn has_begun(&self, version: Version) -> bool {
        self.begun.borrow().0 == version
    }

    fn has_begun_with(&self, version: Version, to: PeId) -> bool {
        let begun = self.begun.borrow();
        begun.0 == version && begun.1.contains(&to)
    }

    fn begin(&self, sending: Sending) {
        let mut begun = self.begun.borrow_mut();
        if begun.0 != sending.version {
            *begun = (sending.version, Vec::new());
            // Of a version that was given up, nobody says anything any more.
            self.sending.borrow_mut().clear();
        }
        begun.1.push(sending.to);
        self.sending.borrow_mut().push(sending);
    }

    fn is_sending(&self, version: Version, to: PeId) -> bool {
        self.sending.borrow().iter().any(|sending| sending.version == version && sending.to == to)
    }

    fn take(&self, version: Version, to: PeId, is_it: impl Fn(&Sending) -> bool) -> Option<Sending> {
        let mut all = self.sending.borrow_mut();
        let is_meant = |sending: &Sending| sending.version == version && sending.to == to && is_it(sending);
        let place = all.iter().position(is_meant)?;
        Some(all.remove(place))
    }
}
