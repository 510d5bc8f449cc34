//! PEs that begin without a part: a job that is started again has more of them than before, or has again what had been lost; or nodes
//! are added while it runs.
//!
//! A newcomer learns the collections from the part of another PE, the *pattern*. Members of groups are made on it by their `#[init]`, and
//! receive the broadcasts that are numbered from then on; those that others were given before and have not run are not theirs.
//!
//! Members of nodegroups go with their nodes' numbers: if nodes have another number of PEs than before, their members are on other PEs.
//!
//! Whatever the acting PE of a PE had kept for it, it has itself again: so have single chares come home that were made there, with all that waits for
//! them. What a chare makes is named after the PE that it is on, and names decide what is drawn from them (`cx.rng()`); and were they to
//! migrate, what is new could overtake what waits for them.
//!
//! From which reduction on a new member takes part, the root of its group finds out, which knows from the beginning who is
//! new ([`late`](crate::reduction::late)).
//!
//! In a section that was made before it, a newcomer has no part in what members contribute: it counts from the beginning there, and the
//! root could take its values for others'. So they go up by themselves, with its name ([`Contribution::made_again`]).
//!
//! [`Contribution::made_again`]: crate::reduction::Contribution::made_again

use std::ops::Deref;

use easy_ext::ext;

use super::part::{Newborn, Part, SavedCollection};
use crate::broadcast::BroadcastsOfCollection;
use crate::broadcast::BroadcastsOnPe;
use crate::checkpoint::recovery_message::RecoveryMessage;
use crate::checkpoint::restore::RestoreOnPe;
use crate::reduction::Begin;
use talisman_base::birth::BirthId;
use talisman_base::ids::{CollectionId, ObjId, PeId, single_home};
use talisman_base::view::View;
use talisman_kernel::collection::home_of;
use talisman_kernel::kind::Kind;
use talisman_kernel::message::envelope::Birth;
use talisman_kernel::pe::Pe;
use talisman_kernel::registry::{ChareType, Registry};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_store::view_change::ViewChange;

/// What is in parts, for the PEs that are there now.
pub struct Redistribution<'a>(ViewChange<'a>);

impl<'a> Deref for Redistribution<'a> {
    type Target = ViewChange<'a>;

    fn deref(&self) -> &ViewChange<'a> {
        &self.0
    }
}

impl<'a> Redistribution<'a> {
    pub fn after(taken_in: &'a View, view: &'a View) -> Self {
        Redistribution(ViewChange::after(taken_in, view))
    }

    /// The parts that a PE restores are left what is theirs: others may have come since they were taken.
    pub fn make_room(&self, pe: PeId, parts: &mut [Part]) {
        let newcomers = self.newcomers();
        if newcomers.is_empty() {
            return;
        }
        for part in parts {
            self.keep(part, pe);
            self.announce(part, &newcomers);
        }
    }

    /// Leaves to a part what concerns a PE, and those for whom it acts: others may have come back.
    pub(super) fn keep(&self, part: &mut Part, pe: PeId) {
        let is_own = |of: PeId| self.view.acting_for(of) == pe;
        if self.had_guests_of(part.pe).next().is_some() {
            self.keep_singles(part, |home| home.is_none_or(|home| home == pe));
        }
        if self.have_other_lanes() {
            let is_elsewhere =
                |id: &ObjId| self.home_of_member(&part.collections, *id).is_some_and(|home| home != pe);
            part.objects.retain(|object| !is_elsewhere(&object.id));
        }
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

    /// Leaves to a part those single chares, and what waits for single chares, of which this holds: the PE that one goes home to, if it does.
    fn keep_singles(&self, part: &mut Part, stays: impl Fn(Option<PeId>) -> bool) {
        let acting = part.pe;
        let stays = |id: ObjId| stays(self.goes_home(acting, id));
        part.objects.retain(|object| stays(object.id));
        part.messages.retain(stays);
    }

    fn home(&self, collections: &[SavedCollection], id: CollectionId, index: u128) -> Option<PeId> {
        if id.is_singles() {
            return Some(self.view.acting_for(single_home(index) % self.shape.pes()));
        }
        let collection = collections.iter().find(|collection| collection.of.id == id)?;
        Some(self.view.acting_for(home_of(&collection.of, type_of(collection)?, self.shape, index)))
    }

    /// Where the member of a nodegroup is, if it is one, or would be if it were not lost.
    fn home_of_member(&self, collections: &[SavedCollection], id: ObjId) -> Option<PeId> {
        let collection = collections.iter().find(|collection| collection.of.id == id.collection)?;
        let is_by_node = type_of(collection).is_some_and(|chare| chare.kind == Kind::NodeGroup);
        is_by_node.then(|| self.home(collections, id.collection, id.index)).flatten()
    }

    /// The members of a node, from the part of the PE that they were on.
    pub(super) fn members_of(&self, node: u32, mut kept: Part) -> Part {
        let first = self.shape.first_pe(node);
        let home = self.view.acting_for(first);
        let is_member = |id: ObjId| self.home_of_member(&kept.collections, id) == Some(home);
        kept.objects.retain(|object| is_member(object.id));
        if !kept.objects.is_empty() {
            sometimes(
                "the member of a nodegroup went on on another PE, as its node had more or fewer than before",
            );
        }
        let Part { objects, casts, collections, .. } = kept;
        Part { objects, casts, ..Part::without_objects(first, collections) }
    }

    /// What a newcomer begins with.
    pub(super) fn part_of_newcomer(&self, pe: PeId, pattern: Part) -> Part {
        let newborn = self.members_of_newcomer(pe, &pattern);
        let Part { gone, gone_shared, doomed, collections, .. } = pattern;
        Part { newborn, gone, gone_shared, doomed, ..Part::without_objects(pe, collections) }
    }

    /// The same of one that somebody had acted for, whose part this is: that is its pattern, and had kept what was its own.
    pub fn part_instead_of(&self, pe: PeId, kept: Part) -> Part {
        let newborn = self.members_of_newcomer(pe, &kept);
        let mut part = self.taken_over(pe, kept);
        if mutated("added-node-knows-no-places") {
            part.away.clear();
        }
        Part { newborn, ..part }
    }

    /// The members that are new on a PE.
    pub(super) fn members_of_newcomer(&self, pe: PeId, pattern: &Part) -> Vec<Newborn> {
        let newborn = |saved: &SavedCollection| {
            let (index, fill) = (self.new_member(saved, pe)?, saved.of.fill.as_ref()?);
            let id = ObjId { collection: saved.of.id, index };
            Some(Newborn { id, init: fill.init, args: fill.args.clone() })
        };
        pattern.collections.iter().filter_map(newborn).collect()
    }

    /// What a PE takes over from the part of another, which had kept it for one for which this one acts now.
    pub(super) fn taken_over(&self, pe: PeId, mut kept: Part) -> Part {
        let is_here = |id: &ObjId| self.home(&kept.collections, id.collection, id.index) == Some(pe);
        let stays = |id: &ObjId| self.goes_home(kept.pe, *id).is_none();
        let ids = kept.objects.iter().map(|object| object.id);
        let at_home: Vec<_> = ids.filter(|id| stays(id) && is_here(id)).collect();
        self.keep_singles(&mut kept, |home| home == Some(pe));
        self.keep(&mut kept, pe);
        kept.away.extend(at_home);
        if !kept.objects.is_empty() {
            sometimes("a single chare went back to a PE that had been lost");
        }
        let Part { shared, gone, gone_shared, doomed, roots, sections, names, away, .. } = kept;
        let (objects, messages) = (kept.objects, kept.messages);
        let counted = |saved| SavedCollection { sent: 0, made: 0, unborn: Vec::new(), ..saved };
        let collections = kept.collections.into_iter().map(counted).collect();
        let part = Part { pe, collections, shared, gone, gone_shared, doomed, roots, ..Part::default() };
        Part { sections, names, away, objects, messages, ..part }
    }

    /// The member of a group that a PE has, if it is new.
    fn new_member(&self, saved: &SavedCollection, pe: PeId) -> Option<u128> {
        match type_of(saved)?.kind {
            Kind::Group => (!self.taken_in.is_there(pe)).then(|| pe.into()),
            Kind::NodeGroup => self.new_node_of(pe).map(u128::from),
            Kind::Array | Kind::Single | Kind::Main => None,
        }
    }

    /// The roots of groups and sections that are in a part hear of the members on these PEs that are new.
    pub(super) fn announce(&self, part: &mut Part, newcomers: &[PeId]) {
        for root in &mut part.roots {
            let Some(saved) = part.collections.iter().find(|saved| saved.of.id == root.id) else { continue };
            let members = newcomers.iter().filter_map(|pe| self.new_member(saved, *pe));
            let late = members.map(|member| (member as u32, Begin::After(saved.passed)));
            // Of one that there was before, and that was lost, nothing counts any more.
            root.late.extend(late);
        }
        for section in &mut part.sections {
            let Some(saved) = part.collections.iter().find(|saved| saved.of.id == section.of) else {
                continue;
            };
            let members = newcomers.iter().filter_map(|pe| self.new_member(saved, *pe));
            let unknown = members.filter(|member| section.gone.iter().all(|(gone, _)| gone != member));
            let named: Vec<_> = unknown.filter(|member| section.members.contains(member)).collect();
            // Named when nobody was there: it has never contributed, and nobody waits for it.
            section.gone.extend(named.into_iter().map(|member| (member, 0)));
        }
    }
}

fn type_of(saved: &SavedCollection) -> Option<&'static ChareType> {
    Registry::get().find(saved.of.key).map(|(_, chare)| chare)
}

impl Part {
    /// What this PE knows of collections when another has nothing in them.
    fn without_objects(pe: PeId, collections: Vec<SavedCollection>) -> Part {
        let forget =
            |saved| SavedCollection { sent: 0, made: 0, orders: Vec::new(), unborn: Vec::new(), ..saved };
        Part { pe, collections: collections.into_iter().map(forget).collect(), ..Part::default() }
    }
}

#[ext(JoinersOnPe)]
pub impl Pe {
    /// Makes a member of a group on this PE, which is new, as soon as it can be read. One that was to be on another, whose place this PE has
    /// taken since, is not made: nobody knows of it.
    fn expect_newborn(&self, newborn: Newborn) {
        let Some(collection) = self.collections.get(newborn.id.collection) else { return };
        if collection.acting(newborn.id.index).is_some() {
            return sometimes("a new PE was lost before there was a checkpoint with it");
        }
        // What passes before that is for it, too.
        collection.casts().keep_for(newborn.id.index, Vec::new());
        let message = self.pe_message(RecoveryMessage::Newborn(Box::new(newborn)));
        if self.lets_in(message) {
            self.enqueue(message);
        }
    }

    /// It can be.
    fn on_newborn(&self, newborn: Newborn) {
        let Newborn { id, init, args } = newborn;
        let Some(collection) = self.collections.get(id.collection) else { return };
        let given = collection.casts().take_kept_for(id.index);
        let birth = Birth { id: BirthId::of_late(id.index as u32), ..Birth::default() };
        self.make_packed(collection, id.index, init, args, Some(birth), None);
        if let Some(head) = self.find_here(id) {
            // SAFETY: just made, and this PE's.
            let object = unsafe { head.as_ref() };
            if let Some((first, _)) = given.first() {
                object.broadcasts.set(*first);
            }
            self.put_off(object, false, None, given);
            let slot = object.slot.get();
            (!self.frozen.get()).then(|| self.receive_kept_in(slot));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use talisman_ft::view::View as Nodes;

    use super::*;
    use crate::chare::Chare;
    use crate::checkpoint::part::SavedObject;
    use crate::checkpoint::waiting::Messages;
    use crate::section::SavedSection;
    use talisman_base::ids::{SectionId, single_index};
    use talisman_base::map::Map;
    use talisman_base::topology::Shape;
    use talisman_kernel::collection::description::{Description, Fill};
    use talisman_kernel::object::{Born, ObjectHeader};
    use talisman_kernel::order::Order;
    use talisman_kernel::wire;
    use talisman_pup::Packed;

    mod program {
        use talisman::prelude::*;

        #[derive(Pup)]
        pub struct Clock;

        #[chare(group)]
        impl Clock {
            #[init]
            fn new() -> Self {
                Clock
            }
        }

        #[derive(Pup)]
        pub struct Tower;

        #[chare(nodegroup)]
        impl Tower {
            #[init]
            fn new() -> Self {
                Tower
            }
        }
    }

    fn clocks() -> SavedCollection {
        group(0, program::Clock::KEY, None)
    }

    fn towers() -> SavedCollection {
        group(1, program::Tower::KEY, Some(Fill { indices: None, init: 0, args: Packed::of(&()) }))
    }

    fn group(serial: u32, key: u64, fill: Option<Fill>) -> SavedCollection {
        let id = CollectionId { creator: 0, serial };
        let of = Description { id, key, bounds: None, map: Map::Hash, pes: 4, elements: None, fill };
        let (orders, unborn) = (Vec::new(), Vec::new());
        SavedCollection { of, passed: 0, closed: true, sent: 0, made: 0, orders, unborn }
    }

    /// What lives on a PE, by its name only.
    fn saved(id: ObjId) -> SavedObject {
        let header = ObjectHeader {
            flags: 0,
            reduction: 0,
            broadcasts: 0,
            moves: 0,
            messages: 0,
            load: 0,
            birth: BirthId::NONE,
            born: Born::default(),
            rng: None,
            sections: BTreeMap::new(),
            order: Order::default(),
            given: None,
            past: None,
        };
        SavedObject { id, header, given: 0, destination: None, state: Packed::of(&()) }
    }

    /// PEs 0 and 1 had been lost; 2 acted for them, and has what it had itself, and what the program had moved there from 3. Of the names that
    /// are taken for single chares', one is of an array.
    #[test]
    fn single_chares_go_home_with_what_waits_for_them_when_their_pe_is_back() {
        let before = View::without(Shape { nodes: 4, pes_per_node: 1 }, &[0, 1]);
        assert_eq!([0, 1].map(|pe| before.acting_for(pe)), [2, 2]);
        let single =
            |home| ObjId { collection: CollectionId::singles(0), index: single_index(home, home, 0) };
        let of_array = ObjId { collection: clocks().of.id, ..single(0) };
        let all = [single(0), single(1), single(2), single(3), of_array, single(9)];
        let part = || Part {
            pe: 2,
            objects: all.map(saved).into(),
            messages: Messages::of_each(all.iter().chain(&all).map(|to| wire::beginning_of_kept(*to))),
            ..Part::default()
        };
        let names = |part: Part| {
            let objects: Vec<_> = part.objects.iter().map(|object| object.id).collect();
            let messages = part.messages.each().expect("just packed");
            let to: Vec<_> = messages.iter().filter_map(wire::kept_for).collect();
            assert_eq!(to, [&objects[..], &objects].concat(), "in the same order, as they were sent");
            objects
        };
        let of_two = |back: &[u32]| {
            let after = before.gaining(back);
            let mut parts = [part()];
            Redistribution::after(&before, &after).make_room(2, &mut parts);
            let [part] = parts;
            names(part)
        };
        let of_newcomer = |pe, back: &[u32]| {
            let after = before.gaining(back);
            let acting = Redistribution::after(&before, &after);
            let mut parts = [acting.part_instead_of(pe, part())];
            acting.make_room(pe, &mut parts);
            let [part] = parts;
            names(part)
        };
        assert_eq!(of_two(&[]), all);
        assert_eq!(of_two(&[0]), [&all[1..]].concat());
        assert_eq!(of_two(&[0, 1]), all[2..]);
        assert_eq!(of_newcomer(0, &[0]), [single(0)]);
        assert_eq!(of_newcomer(0, &[0, 1]), [single(0)]);
        assert_eq!(of_newcomer(1, &[0, 1]), [single(1)]);
        // Started again where one PE has what all had: they are at home, or have none.
        let one = View::new(Nodes::beginning_with(1, 4), 1);
        let mut kept = part();
        Redistribution::after(&before, &one).keep(&mut kept, 0);
        assert_eq!(names(kept), all);
    }

    /// Of three nodes with two PEs each, one was lost; there are four nodes with one each.
    #[test]
    fn members_of_nodegroups_go_with_the_numbers_of_nodes() {
        let before = View::without(Shape { nodes: 3, pes_per_node: 2 }, &[1]);
        let after = View::new(Nodes::beginning_with(4, 6), 1);
        let acting = Redistribution::after(&before, &after);
        let fetched = |pe| acting.members_to_fetch(pe).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(fetched), [vec![], vec![], vec![(4, 2)], vec![]]);
        let tower = |node| ObjId { collection: towers().of.id, index: node };
        let clock = |pe| ObjId { collection: clocks().of.id, index: pe };
        let part = |pe: PeId, objects: &[ObjId]| Part {
            pe,
            collections: vec![clocks(), towers()],
            objects: objects.iter().copied().map(saved).collect(),
            ..Part::default()
        };
        let names = |part: &Part| part.objects.iter().map(|object| object.id).collect::<Vec<_>>();
        // That of PE 4 has PE 0 for its acting PE now.
        let four = || part(4, &[clock(4), tower(2)]);
        let mut left = four();
        acting.keep(&mut left, 0);
        assert_eq!(names(&left), [clock(4)]);
        let came = acting.members_of(2, four());
        assert_eq!((came.pe, names(&came)), (2, vec![tower(2)]));
        let newborn = |pe| {
            let newborn = acting.members_of_newcomer(pe, &part(0, &[]));
            newborn.into_iter().map(|newborn| newborn.id).collect::<Vec<_>>()
        };
        assert_eq!([0, 1, 2, 3].map(newborn), [vec![], vec![tower(1)], vec![], vec![tower(3)]]);
        assert_eq!(acting.newcomers(), [1, 2, 3]);
    }

    /// Of a section that names members of PEs 2 and 3, and was made when PE 2 was not there; PE 3 was lost later.
    #[test]
    fn a_section_waits_for_no_member_that_was_not_there_when_it_was_made() {
        let (collections, id) = (vec![clocks()], SectionId { creator: 0, serial: 0 });
        let (of, members) = (collections[0].of.id, vec![0, 1, 2, 3]);
        let section =
            SavedSection { id, of, members, next: 3, complete: 3, open: vec![], gone: vec![(3, 2)] };
        let part = Part { collections, sections: vec![section], ..Part::default() };
        let [before, after] = [Nodes::beginning_with(2, 4), Nodes::whole(4)].map(|nodes| View::new(nodes, 1));
        let mut parts = vec![part];
        Redistribution::after(&before, &after).make_room(0, &mut parts);
        assert_eq!(parts[0].sections[0].gone, [(3, 2), (2, 0)]);
    }
}
