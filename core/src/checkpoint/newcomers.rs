//! PEs that begin without a part: a job that is started again has more of them than before, or has again what had been lost.
//!
//! A newcomer learns the collections from the part of another PE, the *pattern*. Members of groups are made on it by their `#[init]`, and
//! are from then on where the pattern's members are: they take part in the same reduction next, and run the same broadcasts.
//! Whatever the seat of a PE had kept for it, it has itself again.

use super::part::{Newborn, Part, SavedCollection};
use crate::chare::Kind;
use crate::collection::home_of;
use crate::ids::{CollectionId, ObjId, PeId, single_home};
use crate::message::control::{Cast, CastCall, PeMessage};
use crate::message::envelope::Birth;
use crate::node::Shape;
use crate::pe::Pe;
use crate::registry::{ChareType, Registry};
use crate::view::View;

/// Who is there, of which numbers.
pub(super) struct Seats<'a> {
    pub(super) view: &'a View,
    pub(super) shape: Shape,
}

impl Seats<'_> {
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
        let newborn =
            pattern.collections.iter().filter_map(|saved| self.newborn(saved, &pattern, pe)).collect();
        Part { newborn, ..Part::without_objects(pe, pattern.collections) }
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

    /// The roots of groups that are in a part wait for their new members.
    pub(super) fn announce(&self, part: &mut Part, newcomers: &[PeId], pattern: &Part) {
        for root in &mut part.roots {
            let Some(saved) = pattern.collections.iter().find(|saved| saved.of.id == root.id) else {
                continue;
            };
            let newborn = newcomers.iter().filter_map(|pe| self.newborn(saved, pattern, *pe));
            let reductions: Vec<u32> = newborn.map(|newborn| newborn.reduction).collect();
            root.newborn = reductions.first().map(|reduction| (*reduction, reductions.len() as u64));
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
    /// Makes a member of a group on this PE, which is new, as soon as it can be read.
    pub(super) fn expect_newborn(&self, mut newborn: Newborn) {
        let Some(collection) = self.collections.get(newborn.id.collection) else { return };
        collection.casts.keep_for(newborn.id.index, std::mem::take(&mut newborn.given));
        let message = self.pe_message(PeMessage::Newborn(Box::new(newborn)));
        if self.lets_in(message) {
            self.enqueue(message);
        }
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
            if let Some((first, _)) = given.first() {
                object.broadcasts.set(*first);
            }
            self.put_off(object, false, None, given);
        }
    }
}
