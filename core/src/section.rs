//! Sections: parts of a collection with a multicast and reductions of their own (Charm++ manual: "array sections").
//!
//! The PE that made a section, or its seat, is its root and keeps the list of members. A multicast goes to the root, and from
//! there in one message to each PE that has members.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::checkpoint::part::SavedSection;
use crate::collection::Collection;
use crate::ids::{CollectionId, ObjId, PeId, SectionId};
use crate::message::control::{Cast, PeMessage};
use crate::mutations::mutated;
use crate::pe::Pe;
use crate::pup::Packed;
use crate::reduction::{Pending, ReductionKey};
use crate::sometimes::sometimes;
use crate::witness::{self, Seen};

/// The sections that a PE made.
#[derive(Default)]
pub(crate) struct Sections(RefCell<HashMap<SectionId, Section, FxBuildHasher>>);

struct Section {
    of: CollectionId,
    members: Rc<[u128]>,
    /// The next multicast.
    next: Cell<u32>,
    open: BTreeMap<ReductionKey, Pending>,
}

impl Sections {
    /// How many members a section has.
    pub(crate) fn size(&self, id: SectionId) -> Option<u64> {
        self.0.borrow().get(&id).map(|section| section.members.len() as u64)
    }

    /// Changes a reduction over a section, at its root.
    pub(crate) fn with_open<R>(
        &self,
        id: SectionId,
        key: ReductionKey,
        f: impl FnOnce(&mut Pending) -> R,
    ) -> R {
        let mut sections = self.0.borrow_mut();
        let section = sections.get_mut(&id).expect("`size` found it");
        f(section.open.entry(key).or_default())
    }

    pub(crate) fn take_open(&self, id: SectionId, key: ReductionKey) -> Option<Pending> {
        self.0.borrow_mut().get_mut(&id)?.open.remove(&key)
    }

    /// Reductions over sections that wait for somebody: how many contributed, of how many members.
    pub(crate) fn waiting(&self) -> Vec<(CollectionId, u64, usize)> {
        let sections = self.0.borrow();
        let mut all: Vec<_> = sections.iter().collect();
        all.sort_by_key(|(id, _)| **id);
        let open = all.iter().flat_map(|(_, section)| {
            section.open.values().map(|open| (section.of, open.contributions(), section.members.len()))
        });
        open.collect()
    }

    /// What a checkpoint keeps of them, in the order of their names.
    pub(crate) fn saved(&self) -> Vec<SavedSection> {
        let sections = self.0.borrow();
        let mut all: Vec<_> = sections.iter().map(|(id, section)| section.saved(*id)).collect();
        all.sort_unstable_by_key(|section| section.id);
        all
    }

    /// After going back to a checkpoint: what had come of reductions that are open.
    pub(crate) fn go_on_from(&self, saved: SavedSection) -> Vec<(ReductionKey, Packed)> {
        let SavedSection { id, of, members, next, open } = saved;
        let section = Section { of, members: members.into(), next: Cell::new(next), open: BTreeMap::new() };
        self.0.borrow_mut().insert(id, section);
        open
    }

    fn next_multicast(&self, id: SectionId) -> Option<(u32, Rc<[u128]>)> {
        let sections = self.0.borrow();
        let section = sections.get(&id)?;
        let number = section.next.get();
        section.next.set(number + 1);
        Some((number, section.members.clone()))
    }
}

impl Section {
    fn saved(&self, id: SectionId) -> SavedSection {
        let open = self.open.iter().map(|(key, pending)| (*key, Packed::of(pending))).collect();
        SavedSection { id, of: self.of, members: self.members.to_vec(), next: self.next.get(), open }
    }
}

impl Pe {
    /// Makes a section; members named twice count once.
    pub(crate) fn make_section(&self, of: CollectionId, mut members: Vec<u128>) -> SectionId {
        members.sort_unstable();
        if !mutated("section-members-twice") {
            members.dedup();
        }
        let serial = self.names().sections.get();
        self.names().sections.set(serial + 1);
        let id = SectionId { creator: self.id, serial };
        let section = Section { of, members: members.into(), next: Cell::new(0), open: BTreeMap::new() };
        self.sections.0.borrow_mut().insert(id, section);
        id
    }

    /// Sends a multicast on its way.
    pub(crate) fn multicast(&self, collection: CollectionId, section: SectionId, cast: Cast) {
        let root = self.view().seat(section.creator);
        self.tell(root, PeMessage::SectionRequest { collection, section, cast });
    }

    /// At the root: one message to each PE with members.
    pub(crate) fn on_section_request(&self, id: CollectionId, section: SectionId, cast: Cast) {
        let Some(collection) = self.collections.get(id) else { return };
        let Some((number, members)) = self.sections.next_multicast(section) else { return };
        witness::see(|| Seen::Multicast { section, number, members: members.len() });
        if let Some((_, to)) = &cast.collect {
            let key = ReductionKey::SectionAnswers(section, number);
            self.sections.with_open(section, key, |pending| pending.send_to(to.clone()));
        }
        if members.is_empty()
            && let Some(nothing) =
                self.sections.take_open(section, ReductionKey::SectionAnswers(section, number))
        {
            sometimes("a multicast had no receivers");
            return self.finish(collection, ReductionKey::SectionAnswers(section, number), nothing);
        }
        let mut by_pe: BTreeMap<PeId, Vec<u128>> = BTreeMap::new();
        for index in members.iter() {
            by_pe.entry(self.believed_at(collection, *index)).or_default().push(*index);
        }
        for (pe, members) in by_pe {
            if pe == self.id {
                self.on_section_cast(id, section, number, &members, &cast);
            } else {
                let cast = cast.clone();
                self.tell(pe, PeMessage::SectionCast { collection: id, section, number, members, cast });
            }
        }
    }

    pub(crate) fn on_section_cast(
        &self,
        id: CollectionId,
        section: SectionId,
        number: u32,
        members: &[u128],
        cast: &Cast,
    ) {
        let Some(collection) = self.collections.get(id) else { return };
        for index in members {
            self.cast_to_member(collection, collection.object(*index), section, number, cast);
        }
    }

    fn cast_to_member(
        &self,
        collection: &Collection,
        id: ObjId,
        section: SectionId,
        number: u32,
        cast: &Cast,
    ) {
        witness::see(|| Seen::Reached { object: id, pe: self.id, section, number });
        let extra = cast.extra(id, Some(section), number);
        match self.find_here(id) {
            Some(head) if !self.frozen.get() => self.deliver_cast(head, cast, extra),
            Some(_) => {
                sometimes("a multicast waited for the end of a checkpoint");
                self.dispatch(collection, self.cast_message(id, cast, extra));
            }
            None => {
                sometimes("a member of a section was not where its root believed");
                if !mutated("section-member-not-followed") {
                    self.dispatch(collection, self.cast_message(id, cast, extra));
                }
            }
        }
    }
}
