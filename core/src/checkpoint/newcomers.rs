//! PEs that begin without a part: a job that is started again has more of them than before, or has again what had been lost; or nodes
//! are added while it runs.
//!
//! A newcomer learns the collections from the part of another PE, the *pattern*. Members of groups are made on it by their `#[init]`, and
//! are from then on where the pattern's members are: they take part in the same reduction next, and run the same broadcasts.
//! Whatever the seat of a PE had kept for it, it has itself again.
//!
//! The root of a group does not know where that is. So it counts each new member for the next reduction that is to complete, which cannot do
//! so without it, until its PE has said from which one on it takes part ([`PeMessage::Joins`]).
//!
//! In a section that was made before it, a newcomer has no part in what members contribute: it counts from the beginning there, and the
//! root could take its values for others'. So they go up by themselves, with its name ([`Contribution::made_again`]).
//!
//! [`Contribution::made_again`]: crate::reduction::Contribution::made_again

use super::part::{Newborn, Part, SavedCollection};
use crate::chare::Kind;
use crate::collection::home_of;
use crate::ids::{CollectionId, ObjId, PeId, single_home};
use crate::message::control::{Cast, CastCall, PeMessage};
use crate::message::envelope::Birth;
use crate::node::Shape;
use crate::object::flag;
use crate::pe::Pe;
use crate::registry::{ChareType, Registry};
use crate::view::View;

/// Who is there, of which numbers.
pub(crate) struct Seats<'a> {
    view: &'a View,
    shape: Shape,
}

impl<'a> Seats<'a> {
    pub(crate) fn of(view: &'a View) -> Self {
        Seats { view, shape: view.shape() }
    }

    /// The parts that a PE restores are left what is theirs: others may have come since they were taken in this view.
    pub(crate) fn make_room(&self, taken_in: &View, pe: PeId, parts: &mut [Part]) {
        let newcomers: Vec<PeId> = self.view.there().filter(|pe| !taken_in.is_there(*pe)).collect();
        if newcomers.is_empty() {
            return;
        }
        for part in parts {
            self.keep(part, pe);
            self.announce(part, &newcomers);
        }
    }

    /// Leaves to a part what concerns a PE, and those for whom it stands in: others may have come back.
    pub(super) fn keep(&self, part: &mut Part, pe: PeId) {
        let is_own = |of: PeId| self.view.seat(of) == pe;
        part.shared.retain(|(id, _)| is_own((id >> 32) as PeId));
        part.roots.retain(|root| is_own(root.id.creator));
        part.sections.retain(|section| is_own(section.id.creator));
        part.names.retain(|(of, _)| is_own(*of));
        let (collections, away) = (&part.collections, &mut part.away);
        away.retain(|id| self.home(collections, id.collection, id.index) == Some(pe));
        for collection in &mut part.collections {
            let Some(chare) = type_of(collection) else { continue };
            let of = &collection.of;
            collection.orders.retain(|(index, _)| is_own(home_of(of, chare, self.shape, *index)));
        }
    }

    fn home(&self, collections: &[SavedCollection], id: CollectionId, index: u128) -> Option<PeId> {
        if id.is_singles() {
            return Some(self.view.seat(single_home(index) % self.shape.pes()));
        }
        let collection = collections.iter().find(|collection| collection.of.id == id)?;
        Some(self.view.seat(home_of(&collection.of, type_of(collection)?, self.shape, index)))
    }

    /// What a newcomer begins with.
    pub(super) fn part_of_newcomer(&self, pe: PeId, pattern: Part) -> Part {
        let newborn = self.members_of_newcomer(pe, &pattern);
        Part { newborn, ..Part::without_objects(pe, pattern.collections) }
    }

    /// The same of one that somebody had stood in for, whose part this is: that is its pattern, and had kept what was its own.
    pub(crate) fn part_instead_of(&self, pe: PeId, kept: Part) -> Part {
        let newborn = self.members_of_newcomer(pe, &kept);
        Part { pe, newborn, ..self.taken_over(pe, kept) }
    }

    fn members_of_newcomer(&self, pe: PeId, pattern: &Part) -> Vec<(CollectionId, Option<Newborn>)> {
        let groups = pattern.collections.iter().filter(|saved| self.member(saved, pe).is_some());
        groups.map(|saved| (saved.of.id, self.newborn(saved, pattern, pe))).collect()
    }

    /// What a PE takes over from the part of another, which had kept it for one whose seat this one is now.
    pub(super) fn taken_over(&self, pe: PeId, mut kept: Part) -> Part {
        let at_home = kept.objects.iter().map(|object| object.id);
        let is_here = |id: &ObjId| self.home(&kept.collections, id.collection, id.index) == Some(pe);
        let at_home: Vec<_> = at_home.filter(is_here).collect();
        self.keep(&mut kept, pe);
        kept.away.extend(at_home);
        let Part { shared, roots, sections, names, away, .. } = kept;
        let counted = |saved| SavedCollection { sent: 0, made: 0, ..saved };
        let collections = kept.collections.into_iter().map(counted).collect();
        Part { pe: kept.pe, collections, shared, roots, sections, names, away, ..Part::default() }
    }

    fn newborn(&self, saved: &SavedCollection, pattern: &Part, pe: PeId) -> Option<Newborn> {
        let fill = saved.of.fill.as_ref()?;
        let index = self.member(saved, pe)?;
        let like = self.member(saved, pattern.pe)?;
        let like = pattern
            .objects
            .iter()
            .find(|object| (object.id.collection, object.id.index) == (saved.of.id, like))?;
        let mut given: Vec<_> = (like.travel.broadcasts..like.given)
            .filter_map(|number| {
                pattern.casts.iter().find(|(id, cast, _)| (*id, *cast) == (saved.of.id, number))
            })
            .map(|(_, number, cast)| (*number, cast.clone()))
            .collect();
        // Who answers a broadcast was counted when it passed.
        let is_for_all = |cast: &Cast| cast.collect.is_none() && matches!(cast.call, CastCall::Entry(_));
        let after = given.iter().rposition(|(_, cast)| !is_for_all(cast)).map_or(0, |last| last + 1);
        given.drain(..after);
        let id = ObjId { collection: saved.of.id, index };
        let (init, args, reduction) = (fill.init, fill.args.clone(), like.travel.reduction);
        Some(Newborn { id, init, args, reduction, given })
    }

    /// The member of a group that a PE has.
    fn member(&self, saved: &SavedCollection, pe: PeId) -> Option<u128> {
        match type_of(saved)?.kind {
            Kind::Group => Some(pe.into()),
            Kind::NodeGroup if pe.is_multiple_of(self.shape.pes_per_node) => {
                Some(self.shape.node_of(pe).into())
            }
            Kind::NodeGroup | Kind::Array | Kind::Single | Kind::Main => None,
        }
    }

    /// The roots of groups that are in a part wait for the members of these PEs, which are new.
    pub(super) fn announce(&self, part: &mut Part, newcomers: &[PeId]) {
        for root in &mut part.roots {
            let Some(saved) = part.collections.iter().find(|saved| saved.of.id == root.id) else { continue };
            let members = newcomers.iter().filter(|pe| self.member(saved, **pe).is_some()).count() as u64;
            root.newborn = (members > 0).then_some(members);
        }
    }
}

fn type_of(saved: &SavedCollection) -> Option<&'static ChareType> {
    Registry::get().find(saved.of.key).map(|(_, chare)| chare)
}

impl Part {
    /// What this PE knows of collections when another has nothing in them.
    fn without_objects(pe: PeId, collections: Vec<SavedCollection>) -> Part {
        let forget = |saved| SavedCollection { sent: 0, made: 0, orders: Vec::new(), ..saved };
        Part { pe, collections: collections.into_iter().map(forget).collect(), ..Part::default() }
    }
}

impl Pe {
    /// Makes a member of a group on this PE, which is new, as soon as it can be read, if there is to be one. Its root hears of that.
    pub(super) fn expect_newborn(&self, group: CollectionId, newborn: Option<Newborn>) {
        let Some(collection) = self.collections.get(group) else { return };
        let reduction = newborn.as_ref().map(|newborn| newborn.reduction);
        self.tell(collection.root_pe(), PeMessage::Joins { collection: group, reduction });
        let Some(mut newborn) = newborn else { return };
        collection.casts.keep_for(newborn.id.index, std::mem::take(&mut newborn.given));
        let message = self.pe_message(PeMessage::Newborn(Box::new(newborn)));
        if self.lets_in(message) {
            self.enqueue(message);
        }
    }

    /// At the root of a group: the member of a new PE takes part from this reduction on, if there is one.
    pub(crate) fn on_joins(&self, group: CollectionId, reduction: Option<u32>) {
        let Some(collection) = self.collections.get(group) else { return };
        let Some(root) = &collection.root else { return };
        root.borrow_mut().put_off_newborn(reduction);
        self.complete_reductions(collection);
    }

    /// It can be.
    pub(crate) fn on_newborn(&self, newborn: Newborn) {
        let Newborn { id, init, args, reduction, .. } = newborn;
        let Some(collection) = self.collections.get(id.collection) else { return };
        let given = collection.casts.take_kept_for(id.index);
        let birth = Birth { reduction, generation: 1, ..Birth::default() };
        self.make_packed(collection, id.index, init, args, Some(birth));
        if let Some(head) = self.find_here(id) {
            // SAFETY: just made, and this PE's.
            let object = unsafe { head.as_ref() };
            object.set(flag::MADE_AGAIN);
            if let Some((first, _)) = given.first() {
                object.broadcasts.set(*first);
            }
            self.put_off(object, false, None, given);
        }
    }
}
