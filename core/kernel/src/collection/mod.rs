//! Collections of chares, as one PE sees them.

pub mod description;
pub mod expected_chare;
pub mod gone;
pub mod life;
pub mod states;
pub mod table;
pub mod too_late;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::kind::Kind;
use crate::location::{Place, Places, Switches};
use crate::message::envelope::Envelope;
use crate::node::Node;
use crate::order::reconcile::Orders;
use crate::registry::{ChareType, Registry};
use description::{Description, Fill};
use states::States;
use talisman_base::ids::{CollectionId, ObjId, PeId, single_home};
use talisman_base::index::Bounds;
use talisman_base::map::Map;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_observe::mutations::mutated;

/// One PE's view of an array, a group, a nodegroup, or the singletons of one type.
pub struct Collection {
    pub id: CollectionId,
    pub chare: &'static ChareType,
    /// Of the chare type; a message for another type is not for this collection.
    pub key: u64,
    /// The number of the chare type among those of the program, where that is traced.
    pub number: u32,
    /// The box of elements it was created with, if it was.
    pub bounds: Option<Bounds>,
    map: Map,
    /// How many PEs had a number when it was made.
    pub pes: u32,
    /// Of a group: how members are made.
    fill: Option<Fill>,
    shape: Shape,
    view: Arc<View>,
    here: PeId,
    /// Messages may go straight into the queue: no order to keep, nothing to pack.
    pub direct: bool,
    places: Places,
    pub switches: Switches,
    /// Elements on this PE.
    pub members: Cell<u32>,
    /// The slots of the elements on this PE in index order, kept from one broadcast to the next.
    roster: RefCell<Option<Rc<[u32]>>>,
    /// At the home: messages for elements that do not exist yet.
    awaiting: RefCell<HashMap<u128, Vec<NonNull<Envelope>>, FxBuildHasher>>,
    /// At the home: elements to be made when the former ones of their names are gone.
    unborn: RefCell<HashMap<u128, Vec<NonNull<Envelope>>, FxBuildHasher>>,
    /// At the home: what elements that were removed left to the next of their names.
    pub orders: Orders,
    /// How many elements it was created with, if that was said.
    pub elements: Option<u64>,
    /// Its trees end here: at the creator, or the PE that acts for it.
    pub is_root: bool,
    states: States,
    pub insertion: Insertion,
    /// Its elements are being destroyed.
    pub going: Cell<bool>,
}

/// Counts that tell when the first elements of a sparse array are all there.
#[derive(Default)]
pub struct Insertion {
    /// `done_inserting` was announced here: later insertions from outside go by way of the root.
    pub closed: Cell<bool>,
    /// Elements sent off from here before that.
    pub sent: Cell<u64>,
    /// Such elements made here.
    pub made: Cell<u64>,
}

/// The member of a group that is on a PE.
fn own_member(kind: Kind, shape: Shape, here: PeId) -> Option<u128> {
    match kind {
        Kind::Group => Some(here.into()),
        Kind::NodeGroup => Some(shape.node_of(here).into()),
        Kind::Single | Kind::Array | Kind::Main => None,
    }
}

/// The home of an element of a collection, before it is known who is there.
pub fn home_of(of: &Description, chare: &ChareType, shape: Shape, index: u128) -> PeId {
    home_in(chare.kind, shape, index, || mapped(chare, &of.map, of.bounds.as_ref(), of.pes, index))
}

fn home_in(kind: Kind, shape: Shape, index: u128, mapped: impl FnOnce() -> PeId) -> PeId {
    match kind {
        // Of an index that cannot be, any PE: there is nothing of that name, which is told where nothing is left to do.
        Kind::Single | Kind::Main => single_home(index) % shape.pes(),
        Kind::Group => index as PeId % shape.pes(),
        Kind::NodeGroup => shape.first_pe(index as u32 % shape.nodes),
        Kind::Array => mapped(),
    }
}

/// Where the map puts an element.
///
/// # Panics
/// When a user's map names a PE that there is not.
fn mapped(chare: &ChareType, map: &Map, bounds: Option<&Bounds>, pes: u32, index: u128) -> PeId {
    (chare.home)(map, index, bounds, pes).unwrap_or_else(|error| panic!("{error}"))
}

/// The number of a chare type among those of the program.
fn number_of(chare: &ChareType) -> u32 {
    Registry::get().find(chare.key).map_or(u32::MAX, |(number, _)| number)
}

impl Collection {
    pub fn new(of: &Description, chare: &'static ChareType, node: &Node, here: PeId) -> Self {
        let (shape, view) = (node.shape, node.view.clone());
        let is_root = !of.id.is_singles() && view.acting_for(of.id.creator) == here;
        Collection {
            id: of.id,
            chare,
            key: chare.key,
            number: if node.config.trace.is_some() { number_of(chare) } else { u32::MAX },
            bounds: of.bounds,
            map: of.map.clone(),
            pes: of.pes,
            fill: of.fill.clone().filter(|_| matches!(chare.kind, Kind::Group | Kind::NodeGroup)),
            shape,
            view,
            direct: !node.config.pack_all && !chare.ordered,
            places: Places::new(
                of.bounds.as_ref().map_or(0, Bounds::len),
                own_member(chare.kind, shape, here),
                node.config.few,
            ),
            here,
            switches: Switches::default(),
            members: Cell::new(0),
            roster: RefCell::default(),
            awaiting: RefCell::default(),
            unborn: RefCell::default(),
            orders: Orders::default(),
            elements: of.elements,
            is_root,
            states: States::default(),
            insertion: Insertion::default(),
            going: Cell::new(false),
        }
    }

    /// What is known of an element's place.
    #[inline]
    pub fn place(&self, index: u128) -> Place {
        self.places.get(index, self.ordinal(index))
    }

    /// The packed place of an element; the caller knows the ordinal.
    #[inline(always)]
    pub fn packed_place(&self, index: u128, ordinal: Option<u64>) -> u64 {
        self.places.packed(index, ordinal)
    }

    /// What leads to the home leads there without being known.
    pub fn set_place(&self, index: u128, place: Place) {
        let place = match place {
            Place::At { pe, .. } if pe != self.here && pe == self.home(index) => Place::Unknown,
            _ => place,
        };
        self.places.set(index, self.ordinal(index), place);
    }

    /// At the home: the place of an element that is gone after so many moves.
    pub fn end(&self, moves: u32) -> Place {
        // No singleton ever has the name of another.
        if self.id.is_singles() || mutated("gone-is-forgotten") {
            Place::Unknown
        } else {
            Place::Gone { moves }
        }
    }

    /// At the home: the end of an element has been noted, if it had to be.
    pub fn limit_gone(&self, index: u128) {
        let ordinal = self.ordinal(index);
        if let Place::Gone { .. } = self.places.get(index, ordinal) {
            self.places.limit_gone(ordinal);
        }
    }

    /// At the home: the moves with which an element begins of whose former life nothing is known.
    pub fn first_moves(&self) -> u32 {
        self.places.first_moves()
    }

    /// One more place is known: whether they are many.
    pub fn are_many_learnt(&self, index: u128) -> bool {
        self.places.are_many_learnt(self.ordinal(index))
    }

    /// Elements that are known to be on other PEs, where that takes room.
    pub fn learnt(&self) -> Vec<u128> {
        self.places.learnt(|ordinal| self.index_of(ordinal))
    }

    fn index_of(&self, ordinal: u64) -> Option<u128> {
        self.bounds.as_ref().and_then(|bounds| (self.chare.index_at)(ordinal, bounds))
    }

    /// Objects whose home this PE is, and that are elsewhere.
    pub fn away(&self, here: PeId) -> Vec<ObjId> {
        let mut away = self.places.elsewhere(|ordinal| self.index_of(ordinal));
        away.retain(|index| self.home(*index) == here);
        away.into_iter().map(|index| self.object(index)).collect()
    }

    /// Whether an index is one of those with which it was made.
    pub fn is_among_first(&self, index: u128) -> bool {
        self.ordinal(index).is_some()
    }

    fn ordinal(&self, index: u128) -> Option<u64> {
        self.bounds.as_ref().and_then(|bounds| (self.chare.ordinal)(index, bounds))
    }

    /// The slots of its elements on this PE, in index order: by their places, not by the slots of all objects of the PE, of which others may
    /// be many.
    pub fn slots(&self) -> Vec<u32> {
        self.places.here(|ordinal| self.index_of(ordinal))
    }

    /// The PE that always knows where an element is: a pure function of its name, and of who is there.
    pub fn home(&self, index: u128) -> PeId {
        self.view.acting_for(self.home_before_losses(index))
    }

    /// The same if nobody had been lost: the PE that it acts for.
    pub fn home_before_losses(&self, index: u128) -> PeId {
        let mapped = || mapped(self.chare, &self.map, self.bounds.as_ref(), self.pes, index);
        home_in(self.chare.kind, self.shape, index, mapped)
    }

    /// Of the member of a group on a lost PE or node: the member that takes its place.
    pub fn acting(&self, index: u128) -> Option<u128> {
        let (lost, acting) = match self.chare.kind {
            Kind::Group if index < self.shape.pes().into() => {
                (!self.view.is_there(index as PeId), self.view.acting_for(index as PeId))
            }
            Kind::NodeGroup if index < self.shape.nodes.into() => {
                let nodes = self.view.of_nodes();
                (!nodes.is_there(index as u32), nodes.acting_for(index as u32))
            }
            _ => return None,
        };
        lost.then_some(acting.into())
    }

    /// Whether there may be members that have an acting node.
    pub fn has_lost_members(&self) -> bool {
        matches!(self.chare.kind, Kind::Group | Kind::NodeGroup) && !self.view.is_whole()
    }

    /// The PE at the root of its trees.
    pub fn root_pe(&self) -> PeId {
        self.view.acting_for(self.id.creator)
    }

    pub fn object(&self, index: u128) -> ObjId {
        ObjId { collection: self.id, index }
    }

    /// `Block[(1, 2, 3)]`, for people.
    pub fn label(&self, index: u128) -> String {
        format!("{}[{}]", (self.chare.name)(), (self.chare.show_index)(index))
    }

    /// An element came or went.
    pub fn count_member(&self, change: i32) {
        self.members.set(self.members.get().checked_add_signed(change).expect("members come before they go"));
        *self.roster.borrow_mut() = None;
    }

    /// The slots of the elements on this PE, in index order.
    pub fn roster(&self) -> Rc<[u32]> {
        let mut roster = self.roster.borrow_mut();
        roster
            .get_or_insert_with(|| {
                let slots = self.slots();
                debug_assert_eq!(
                    slots.len(),
                    self.members.get() as usize,
                    "who is here is known by its place"
                );
                slots.into()
            })
            .clone()
    }

    /// Keeps a message for an element that does not exist yet.
    pub fn await_element(&self, index: u128, envelope: NonNull<Envelope>) {
        self.awaiting.borrow_mut().entry(index).or_default().push(envelope);
    }

    /// Whether anything waits for an element: that it is made, or that its place is known.
    pub fn is_waited_for(&self, index: u128) -> bool {
        let awaiting = self.awaiting.borrow();
        !awaiting.is_empty() && awaiting.contains_key(&index) || self.switches.is_waited_for(index)
    }

    /// The messages that wait for elements which do not exist, those for an element in their order.
    pub fn each_awaiting(&self, mut f: impl FnMut(u128, &Envelope)) {
        for (index, kept) in self.awaiting.borrow().iter() {
            // SAFETY: what is kept is a live envelope.
            kept.iter().for_each(|envelope| f(*index, unsafe { envelope.as_ref() }));
        }
    }

    pub fn take_awaiting(&self, index: u128) -> Vec<NonNull<Envelope>> {
        if self.awaiting.borrow().is_empty() {
            return Vec::new();
        }
        self.awaiting.borrow_mut().remove(&index).unwrap_or_default()
    }

    /// Keeps an element that cannot be made before the former one of its name is gone.
    pub fn await_end(&self, index: u128, creation: NonNull<Envelope>) {
        self.unborn.borrow_mut().entry(index).or_default().push(creation);
    }

    pub fn take_unborn(&self, index: u128) -> Vec<NonNull<Envelope>> {
        if self.unborn.borrow().is_empty() {
            return Vec::new();
        }
        self.unborn.borrow_mut().remove(&index).unwrap_or_default()
    }

    /// Elements that wait to be made.
    pub fn unborn(&self) -> Vec<u128> {
        let mut all: Vec<_> = self.unborn.borrow().keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// Elements that never came, and how many messages waited for each.
    pub fn awaited(&self) -> Vec<(u128, usize)> {
        let mut all: Vec<_> =
            self.awaiting.borrow().iter().map(|(index, kept)| (*index, kept.len())).collect();
        all.sort_unstable();
        all
    }

    /// What every PE was told of it, without its first elements; of a group, with how members are made.
    pub fn description(&self) -> Description {
        let (bounds, map, pes) = (self.bounds, self.map.clone(), self.pes);
        let fill = self.fill.clone();
        Description { id: self.id, key: self.key, bounds, map, pes, elements: None, fill }
    }

    /// Shared values that members are made with.
    pub fn needs(&self) -> &[u64] {
        self.fill.as_ref().map_or(&[], |fill| fill.args.needs())
    }

    /// A table that is empty keeps room for what comes next, but not where nobody is any more: there may be many such collections.
    pub fn give_back<K, V>(&self, table: &mut BTreeMap<K, V>) {
        if table.is_empty() && self.members.get() == 0 {
            *table = BTreeMap::new();
        }
    }

    /// Every message it keeps, in the same order in every run.
    pub fn kept(&self) -> Vec<NonNull<Envelope>> {
        let of = |kept: &RefCell<HashMap<u128, Vec<NonNull<Envelope>>, FxBuildHasher>>| {
            let kept = kept.borrow();
            let mut all: Vec<_> = kept.iter().map(|(index, messages)| (*index, messages.clone())).collect();
            all.sort_unstable_by_key(|(index, _)| *index);
            all.into_iter().flat_map(|(_, messages)| messages).collect::<Vec<_>>()
        };
        [self.switches.held(), of(&self.awaiting), of(&self.unborn)].concat()
    }

    /// Every message it keeps, when its PE ends.
    pub fn take_kept(&self) -> Vec<NonNull<Envelope>> {
        let mut kept: Vec<_> = self.awaiting.take().into_values().flatten().collect();
        kept.extend(self.unborn.take().into_values().flatten());
        kept.extend(self.switches.take_all());
        kept
    }
}
