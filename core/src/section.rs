//! Sections: parts of a collection with a multicast and reductions of their own (Charm++ manual: "array sections").
//!
//! The PE that made a section, or the PE that acts for it, is its root and keeps the list of members. A multicast goes to the root, and from
//! there in one message to each PE that has members.

pub mod message;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use easy_ext::ext;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::broadcast::BroadcastsOnPe;
use crate::broadcast::CastExtra;
use crate::reduction::Pending;
use crate::reduction::gathering::GatheringOnPe;
use crate::section::message::SectionMessage;
use talisman_base::ids::ReductionKey;
use talisman_base::ids::{CollectionId, ObjId, PeId, SectionId};
use talisman_base::limits::MULTICASTS;
use talisman_kernel::collection::Collection;
use talisman_kernel::message::control::{Cast, CastCall};
use talisman_kernel::message::service::Service;
use talisman_kernel::node::Node;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::states::ServiceState;
use talisman_kernel::witness::{self, Seen};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Packed, Pup};

/// The sections that a PE made, and their names by collection.
#[derive(Default)]
pub struct Sections(
    RefCell<HashMap<SectionId, Section, FxBuildHasher>>,
    RefCell<BTreeSet<(CollectionId, SectionId)>>,
);

/// A section at its root.
#[derive(Debug, Pup)]
pub struct SavedSection {
    pub id: SectionId,
    pub of: CollectionId,
    pub members: Vec<u128>,
    /// The next multicast.
    pub next: u32,
    /// Reductions of contributions that are complete.
    pub complete: u32,
    pub open: Vec<(ReductionKey, Packed)>,
    /// Members that are lost for good: to how many reductions each has contributed.
    pub gone: Vec<(u128, u32)>,
}

struct Section {
    of: CollectionId,
    members: Rc<[u128]>,
    /// The next multicast.
    next: Cell<u32>,
    /// Reductions to which members contribute, and that are complete: they come to be so in order.
    complete: u32,
    open: BTreeMap<ReductionKey, Pending>,
    /// Lost members of which something may still come.
    asked: BTreeSet<u128>,
    /// Lost members of which nothing will come any more: to how many reductions each has contributed.
    gone: BTreeMap<u128, u32>,
}

impl Sections {
    fn insert(&self, id: SectionId, section: Section) {
        self.1.borrow_mut().insert((section.of, id));
        self.0.borrow_mut().insert(id, section);
    }

    /// Whether there is a section of this name.
    pub fn has(&self, id: SectionId) -> bool {
        self.0.borrow().contains_key(&id)
    }

    /// A section ends: its members, if it has been contributed to, and what is given up of it, for people.
    pub fn forget(&self, id: SectionId) -> Option<(Vec<u128>, Vec<String>)> {
        let mut sections = self.0.borrow_mut();
        let section = sections.remove(&id)?;
        if sections.len() * 4 < sections.capacity() {
            let room = sections.len() * 2;
            sections.shrink_to(room);
        }
        self.1.borrow_mut().remove(&(section.of, id));
        let wanted = section.open.values().filter(|pending| pending.is_wanted());
        let given_up = wanted.map(|pending| {
            let (count, of) = (pending.contributions(), section.members.len());
            format!("a reduction over a section that was destroyed, with {count} contributions of {of}")
        });
        let was_used = section.complete > 0 || !section.open.is_empty();
        let members = if was_used { section.members.to_vec() } else { Vec::new() };
        Some((members, given_up.collect()))
    }

    /// A collection ends, and its sections with it.
    pub fn forget_all_of(&self, of: CollectionId) -> Vec<String> {
        let first = SectionId { creator: 0, serial: 0 };
        let last = SectionId { creator: PeId::MAX, serial: u32::MAX };
        let all: Vec<_> = self.1.borrow().range((of, first)..=(of, last)).map(|(_, id)| *id).collect();
        all.into_iter().filter_map(|id| self.forget(id)).flat_map(|(_, given_up)| given_up).collect()
    }

    /// Whether the member of this name has gone for good. If there is one, it was made again, and has no part in what is contributed.
    pub fn has_lost(&self, id: SectionId, index: u128) -> bool {
        self.0.borrow().get(&id).is_some_and(|section| section.gone.contains_key(&index))
    }

    /// Changes a reduction over a section, at its root, if it is not complete.
    pub fn with_open<R>(
        &self,
        id: SectionId,
        key: ReductionKey,
        f: impl FnOnce(&mut Pending) -> R,
    ) -> Option<R> {
        let mut sections = self.0.borrow_mut();
        let section = sections.get_mut(&id)?;
        if matches!(key, ReductionKey::Section(_, number) if number < section.complete) {
            return None;
        }
        Some(f(section.open.entry(key).or_default()))
    }

    /// Takes out a reduction that is open, if nobody is missing any more.
    pub fn take_complete(&self, id: SectionId, key: ReductionKey, of: &Collection) -> Option<Pending> {
        let mut sections = self.0.borrow_mut();
        let section = sections.get_mut(&id)?;
        let pending = section.open.get(&key)?;
        let wanted = match key {
            ReductionKey::Section(_, number) => section.contributors(of, number),
            _ => pending.expected(),
        };
        let is_complete =
            pending.contributions() + u64::from(mutated("section-complete-too-early")) >= wanted;
        if !is_complete {
            return None;
        }
        if let ReductionKey::Section(_, number) = key {
            section.complete = number + 1;
        }
        section.open.remove(&key)
    }

    /// After a loss: the lost members of this section whose last contribution is not known; it is asked for now.
    fn to_ask_for(&self, id: SectionId, of: &Collection) -> Vec<u128> {
        let mut sections = self.0.borrow_mut();
        let Some(section) = sections.get_mut(&id) else { return Vec::new() };
        let lost = section.members.iter().filter(|index| of.acting(**index).is_some());
        section.asked = lost.filter(|index| !section.gone.contains_key(index)).copied().collect();
        section.asked.iter().copied().collect()
    }

    /// Nothing will come of a member any more; which reductions are open.
    fn note_gone(&self, id: SectionId, index: u128, contributed: u32) -> Vec<ReductionKey> {
        let mut sections = self.0.borrow_mut();
        let Some(section) = sections.get_mut(&id) else { return Vec::new() };
        if section.asked.remove(&index) {
            section.gone.insert(index, contributed);
        }
        section.open.keys().copied().collect()
    }

    pub fn take_open(&self, id: SectionId, key: ReductionKey) -> Option<Pending> {
        self.0.borrow_mut().get_mut(&id)?.open.remove(&key)
    }

    /// Reductions over sections that wait for somebody: how many contributed, of how many members.
    pub fn waiting(&self) -> Vec<(CollectionId, u64, usize)> {
        let sections = self.0.borrow();
        let mut all: Vec<_> = sections.iter().collect();
        all.sort_by_key(|(id, _)| **id);
        let open = all.iter().flat_map(|(_, section)| {
            section.open.values().map(|open| (section.of, open.contributions(), section.members.len()))
        });
        open.collect()
    }

    /// What a checkpoint keeps of them, in the order of their names.
    pub fn saved(&self) -> Vec<SavedSection> {
        let sections = self.0.borrow();
        let mut all: Vec<_> = sections.iter().map(|(id, section)| section.saved(*id)).collect();
        all.sort_unstable_by_key(|section| section.id);
        all
    }

    /// After going back to a checkpoint: what had come of reductions that are open.
    pub fn go_on_from(&self, saved: SavedSection) -> Vec<(ReductionKey, Packed)> {
        let SavedSection { id, of, members, next, complete, open, gone } = saved;
        let gone = gone.into_iter().collect();
        let section = Section { next: Cell::new(next), complete, gone, ..Section::new(of, members.into()) };
        self.insert(id, section);
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
    fn new(of: CollectionId, members: Rc<[u128]>) -> Self {
        let (open, asked, gone) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Section { of, members, next: Cell::new(0), complete: 0, open, asked, gone }
    }

    /// How many members contribute to a reduction. Lost members of a section that was made later never do.
    fn contributors(&self, of: &Collection, number: u32) -> u64 {
        if self.gone.is_empty() && !of.has_lost_members() {
            return self.members.len() as u64;
        }
        let contributes = |index: &&u128| match self.gone.get(*index) {
            Some(contributed) => number < *contributed,
            None => self.asked.contains(*index) || of.acting(**index).is_none(),
        };
        self.members.iter().filter(contributes).count() as u64
    }

    fn saved(&self, id: SectionId) -> SavedSection {
        let open = self.open.iter().map(|(key, pending)| (*key, Packed::of(pending))).collect();
        let gone = self.gone.iter().map(|(index, contributed)| (*index, *contributed)).collect();
        let (members, next, complete) = (self.members.to_vec(), self.next.get(), self.complete);
        SavedSection { id, of: self.of, members, next, complete, open, gone }
    }
}

impl ServiceState for Sections {
    const SERVICE: Service = Service::Sections;

    fn new(_: &Node) -> Self {
        Sections::default()
    }
}

#[ext(SectionsOnPe)]
pub impl Pe {
    /// Asks for the end of a section.
    fn destroy_section(&self, collection: CollectionId, section: SectionId) {
        self.tell(self.view().acting_for(section.creator), SectionMessage::Drop { collection, section });
    }

    /// The sections that it made.
    fn sections(&self) -> &Sections {
        self.state()
    }

    /// Makes a section; members named twice count once.
    fn make_section(&self, of: CollectionId, mut members: Vec<u128>) -> SectionId {
        members.sort_unstable();
        if !mutated("section-members-twice") {
            members.dedup();
        }
        let serial = self.names().sections.get();
        self.names().sections.set(serial + 1);
        let id = SectionId { creator: self.id, serial };
        witness::see(|| Seen::Sectioned { section: id });
        if !self.collections.is_gone(of) {
            self.sections().insert(id, Section::new(of, members.into()));
        }
        id
    }

    /// Sends a multicast on its way.
    fn multicast(&self, collection: CollectionId, section: SectionId, cast: Cast) {
        let root = self.view().acting_for(section.creator);
        self.tell(root, SectionMessage::Request { collection, section, cast });
    }

    /// At the root: one message to each PE with members.
    fn on_section_request(&self, id: CollectionId, section: SectionId, cast: Cast) {
        let Some(collection) = self.collections.get(id) else { return };
        let Some((number, all)) = self.sections().next_multicast(section) else {
            return self.note_too_late("a multicast to a section that was destroyed".into());
        };
        self.one_more(MULTICASTS, number, collection, None);
        let members: Vec<u128> =
            all.iter().copied().filter(|index| collection.acting(*index).is_none()).collect();
        witness::see(|| Seen::Multicast { section, number, members: members.len() });
        if let Some((_, to)) = &cast.collect {
            let key = ReductionKey::SectionAnswers(section, number);
            let receivers = members.len() as u64;
            self.sections().with_open(section, key, |pending| pending.expect_answers(receivers, to.clone()));
        }
        if members.is_empty()
            && let Some(nothing) =
                self.sections().take_open(section, ReductionKey::SectionAnswers(section, number))
        {
            sometimes("a multicast had no receivers");
            return self.finish(collection, ReductionKey::SectionAnswers(section, number), nothing);
        }
        self.cast_to_members(collection, section, number, members, &cast);
    }

    /// One message to each PE with members.
    fn cast_to_members(
        &self,
        collection: &Collection,
        section: SectionId,
        number: u32,
        members: Vec<u128>,
        cast: &Cast,
    ) {
        let id = collection.id;
        let mut by_pe: BTreeMap<PeId, Vec<u128>> = BTreeMap::new();
        for index in members {
            by_pe.entry(self.believed_at(collection, index)).or_default().push(index);
        }
        for (pe, members) in by_pe {
            if pe == self.id {
                self.on_section_cast(id, section, number, &members, cast);
            } else {
                let cast = cast.clone();
                self.tell(pe, SectionMessage::Cast { collection: id, section, number, members, cast });
            }
        }
    }

    /// After a loss, at the root: who can say what became of lost members is asked.
    fn ask_for_lost_members(&self, of: CollectionId, section: SectionId) {
        let Some(collection) = self.collections.get(of).filter(|collection| collection.has_lost_members())
        else {
            return;
        };
        for index in self.sections().to_ask_for(section, collection) {
            sometimes("a section has lost a member of its group");
            let member = collection.object(index);
            self.tell(collection.home(index), SectionMessage::WasContributing { member, section });
        }
    }

    /// At the root: a lost member has contributed to so many reductions, and will not to any other.
    fn on_has_contributed(&self, member: ObjId, section: SectionId, reductions: u32) {
        let Some(collection) = self.collections.get(member.collection) else { return };
        for key in self.sections().note_gone(section, member.index, reductions) {
            self.complete_over_section(collection, section, key);
        }
    }

    fn complete_over_section(&self, collection: &Collection, section: SectionId, key: ReductionKey) {
        if let Some(pending) = self.sections().take_complete(section, key, collection) {
            self.finish(collection, key, pending);
        }
    }

    fn on_section_cast(
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
        if !matches!(cast.call, CastCall::Forget(_)) {
            witness::see(|| Seen::Reached { object: id, pe: self.id, section, number });
        }
        let extra = cast.extra(self, id, Some(section), number);
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
