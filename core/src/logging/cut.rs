//! How a node comes from one line to the next: the job's coordinated cuts.
//!
//! ```text
//! PEs            all have taken their parts ─┐                                       ┌─ dropped, and made anew from their parts
//! node           Next, to its keeper ─► HasNext, of it ─► Holds, to whoever leads ───┤  all logs and retained frames begin empty
//! whoever leads  has heard that of all, with nobody lost: the next line begins ──────┘
//! ```
//!
//! The one moment is when whoever leads has heard the last of them. Before it a lost node goes back to the old line, and does all again, the
//! taking of its part included; after it, to the new one, though not all may have heard of that. After a loss everybody says again that it
//! is held, as the keeper may have been lost.
//!
//! Where there is no memory for a part, or its keeper has none, a PE says so to the first one, which has all go on: what is held of that cut
//! is given up. Its node has never said that it holds it, so the next line cannot have begun.
//!
//! What was said before the cut is printed by then, so that it is in no part.
//!
//! **Others than before** may be there in the next line, as whoever leads says ([`Member::expect`]). Then parts are held as that line will have
//! them before it begins: a node that is released hands its part over to the one that will act for it, which holds both; everybody else sends
//! its own to its next keeper. So whoever goes is not needed at the one moment when the line begins. A loss before that goes back to the old
//! line, with those that were there.
//!
//! Whoever is added is not needed either: it is one that is lost when the line begins, and begins with what is made for it of the part of the
//! node that had acted for it ([`newcomer`](super::newcomer)).

use std::collections::BTreeMap;

use super::image::Image;
use super::member::{Member, Stage};
use super::twin::Fed;
use super::words::{Out, Word};
use talisman_ft::logging::{Gate, Images, Incarnation, Membership, Session};
use talisman_ft::{NodeId, Version};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// What a node would begin the next line with.
pub(super) struct Next {
    /// What its own PEs have taken.
    own: Box<Image>,
    /// That with what those have handed over that are released, once all have: it is kept twice.
    whole: Option<Box<Image>>,
    /// The receiver's process that was asked whether it has memory for it, and whether it has.
    asked: Option<Incarnation>,
    has_room: bool,
    /// One had none: the PEs are told that, so nobody else is to hold it.
    is_refused: bool,
    /// The receiver's process that was sent it, and whether that has it.
    sent: Option<Incarnation>,
    is_kept: bool,
    /// The recovery after which whoever leads was told last.
    told: Option<Session>,
}

/// The part of a node that is released, if the next line is of the membership of this number.
pub(super) struct HandedOver {
    pub(super) membership: u32,
    pub(super) image: Image,
}

impl Next {
    fn of(own: Box<Image>) -> Next {
        let (asked, sent, told) = (None, None, None);
        Next { own, whole: None, asked, has_room: false, is_refused: false, sent, is_kept: false, told }
    }

    /// Others are to have it, or it is to have something else in it.
    fn begin_again(&mut self) {
        (self.whole, self.asked, self.sent, self.told) = (None, None, None, None);
        (self.has_room, self.is_kept) = (false, false);
    }
}

impl Member {
    /// The line that it is in: the version of the cut that this began with.
    pub fn line(&self) -> Version {
        self.line
    }

    /// The version that its PEs have taken their parts of, if that is known here.
    pub fn next_version(&self) -> Option<Version> {
        self.next.as_ref().map(|next| next.own.line)
    }

    /// What its PEs have taken, if they have.
    pub(super) fn own_next(&self) -> Option<&Image> {
        self.next.as_ref().map(|next| &*next.own)
    }

    /// Its PEs have taken their parts: what it begins the next line with, if that begins.
    pub fn hold(&mut self, image: Image) {
        self.next = Some(Next::of(Box::new(image)));
        self.see_to_next();
    }

    /// Who is there in the next line, as far as is known here.
    fn next_membership(&self) -> &Membership {
        self.coming.as_ref().unwrap_or(&self.membership)
    }

    /// Whether the next line is to be another's.
    pub fn expects_others(&self) -> bool {
        self.coming.is_some()
    }

    /// Who is to have what this node would begin the next line with: its keeper then, or whoever acts for it if it is released.
    pub(super) fn receiver(&self) -> NodeId {
        let next =
            if mutated("held-by-the-former-keeper") { &self.membership } else { self.next_membership() };
        next.receiver(self.node)
    }

    /// Whoever leads says who is to be there in the next line. What was held for another one is held by nobody.
    pub fn expect(&mut self, membership: Membership) {
        if membership.number <= self.next_membership().number {
            return;
        }
        self.handed_over.retain(|_, handed| handed.membership >= membership.number);
        self.coming = Some(membership);
        self.next.iter_mut().for_each(Next::begin_again);
        self.see_to_next();
    }

    /// What this node would begin the next line with is complete, once those have handed over theirs that are released.
    fn join(&mut self) {
        let next = self.coming.as_ref().unwrap_or(&self.membership);
        let guests: Vec<_> = next.guests(self.node, &self.membership).collect();
        let number = next.number;
        let Some(next) = self.next.as_mut().filter(|next| next.whole.is_none()) else { return };
        let mut whole = next.own.clone();
        for guest in guests {
            let is_it = |handed: &&HandedOver| handed.membership == number && handed.image.line == whole.line;
            match self.handed_over.get(&guest).filter(is_it) {
                Some(_) if mutated("what-is-handed-over-not-joined") => {}
                Some(handed) => whole.take_in(handed.image.clone()),
                None if mutated("held-before-all-is-handed-over") => {}
                None => return,
            }
        }
        next.whole = Some(whole);
    }

    /// A node that is released has handed over its part.
    pub(super) fn on_hand_over(&mut self, from: NodeId, handed: HandedOver) {
        if handed.image.line <= self.given_up {
            return;
        }
        self.handed_over.insert(from, handed);
        self.next.iter_mut().for_each(Next::begin_again);
    }

    /// These are lost, and take their parts again.
    pub(super) fn forget_handed_over_by(&mut self, lost: &[NodeId]) {
        let before = self.handed_over.len();
        self.handed_over.retain(|of, _| !lost.contains(of));
        if self.handed_over.len() < before {
            sometimes("a node was lost that had handed over its part as it was to be released");
            self.next.iter_mut().for_each(Next::begin_again);
        }
    }

    /// Asks the receiver's process whether it has memory for what this node is to begin the next line with, and sends it that if so. Once the
    /// keeper has it, and all that was said here is printed, whoever leads is told. To be called as long as the node is live.
    pub fn see_to_next(&mut self) {
        self.join();
        let (receiver, next) = (self.receiver(), self.next_membership());
        let (number, stays) = (next.number, next.view.is_there(self.node));
        let incarnation = self.spread.incarnation(receiver);
        let is_up = self.up.get(&receiver).is_some_and(|(up, _)| *up == incarnation);
        let has_unprinted = self.has_unprinted();
        let Some(next) = self.next.as_mut().filter(|next| !next.is_refused) else { return };
        let Some(whole) = &next.whole else { return };
        // Nobody asks who is released again what it has said.
        if !stays && has_unprinted && !mutated("handed-over-before-all-is-printed") {
            return;
        }
        let has_unprinted = has_unprinted && !mutated("held-before-all-is-printed");
        let is_sent =
            next.sent.is_some_and(|to| to == incarnation || mutated("next-not-sent-to-a-new-keeper"));
        if is_up && next.asked != Some(incarnation) {
            (next.asked, next.has_room) = (Some(incarnation), false);
            let bytes = whole.parts().map(|part| part.size() as u64).sum();
            let version = whole.line;
            return self.tell(receiver, Word::AskRoom(version, bytes));
        }
        if is_up && !is_sent && next.has_room {
            (next.sent, next.is_kept) = (Some(incarnation), false);
            let image = whole.clone();
            let word = if stays { Word::Next(image) } else { Word::HandOver(number, image) };
            return self.tell(receiver, word);
        }
        // While the keeper is lost nobody has it, though it may have been there.
        let is_kept = stays && (next.is_kept || mutated("held-before-the-keeper-has-it"));
        let is_held = is_up && is_kept && next.sent == Some(incarnation);
        let is_told = next.told.is_some_and(|told| told == self.session || mutated("held-is-not-said-again"));
        if is_held && !has_unprinted && !is_told {
            next.told = Some(self.session);
            let version = whole.line;
            self.put(Out::Holds(version, self.session, number));
        }
    }

    /// A node whose keeper this is was to know whether there is memory for its part of this cut.
    pub fn has_room(&mut self, to: NodeId, version: Version, has_room: bool) {
        self.tell(to, Word::Room(version, has_room));
    }

    /// The keeper has memory, or none: then the cut does not take place, once the PEs know that.
    pub(super) fn on_room(&mut self, version: Version, has_room: bool) {
        let Some(next) = self.next.as_mut().filter(|next| next.own.line == version) else { return };
        next.has_room |= has_room;
        next.is_refused |= !has_room;
        match has_room {
            true => self.see_to_next(),
            false => self.put(Out::CannotKeep(version)),
        }
    }

    /// A keeper could not read where they are the parts that it was told of: they are sent again.
    pub fn send_next_again(&mut self) {
        self.next.iter_mut().for_each(|next| (next.sent, next.asked) = (None, None));
        self.see_to_next();
    }

    /// The last version that will never be a line, as is known here.
    pub fn given_up(&self) -> Version {
        self.given_up
    }

    /// A cut of which there was no memory for a part: all go on without it, and nobody needs what is held of it.
    pub fn give_up(&mut self, version: Version) {
        self.given_up = self.given_up.max(version);
        self.next.take_if(|next| next.own.line <= version);
        self.handed_over.retain(|_, handed| handed.image.line > version);
        self.next_kept.retain(|_, image| image.line > version);
    }

    /// A node is to begin the next line with this, if it comes to that.
    pub(super) fn on_next(&mut self, from: NodeId, image: Box<Image>) {
        let version = image.line;
        if version > self.given_up {
            self.next_kept.insert(from, image);
        }
        self.tell(from, Word::HasNext(version));
    }

    /// The keeper has it.
    pub(super) fn on_has_next(&mut self, version: Version) {
        let next = self.next.iter_mut().filter(|next| next.own.line == version);
        next.for_each(|next| next.is_kept = true);
    }

    /// The next line has begun, in which these are there: this node in it, with all logs empty and nothing sent, and what its PEs begin with.
    ///
    /// # Errors
    /// It has not said that it holds its part of that cut, or has lost what it was to keep.
    pub fn begin_line(self, version: Version, membership: Membership) -> Result<(Member, Image), String> {
        let is_it = |image: &Image| image.line == version;
        let own = self.next.and_then(|next| next.whole).map(|whole| *whole).filter(|image| is_it(image));
        let image = own.ok_or_else(|| format!("there is no part of checkpoint {version} here"))?;
        let none = vec![0; self.shape.pes_per_node as usize];
        let keeper = membership.keeper(self.node);
        let comes = |to: &NodeId| membership.view.is_there(*to) && !self.membership.view.is_there(*to);
        let up = |to| (to, (self.spread.incarnation(to), none.clone()));
        let mut next = Member {
            line: version,
            coming: self.coming.filter(|coming| coming.number > membership.number),
            stage: Stage::Live,
            session: self.session,
            spread: self.spread.in_next_line().kept_by(keeper),
            images: Images::starting_with(image.position.clone(), image.clone()),
            up: self.shape.others(self.node).filter(|to| !comes(to)).map(up).collect(),
            covered_by: self.spread.incarnation(keeper),
            membership,
            gate: self.gate.map(|_| Gate::default()),
            ticketing: self.ticketing.map(|ticketing| Box::new(ticketing.anew())),
            is_watched: self.is_watched,
            fed: self.fed.map(|_| Fed::default()),
            ..Member::blank(self.node, self.shape, self.incarnation)
        };
        let kept: BTreeMap<_, _> = self.next_kept.into_iter().filter(|(_, image)| is_it(image)).collect();
        for (of, image) in kept.into_iter().filter(|_| !mutated("next-not-kept")) {
            next.images.keep(of, image.position.clone(), *image);
        }
        Ok((next, image))
    }
}
