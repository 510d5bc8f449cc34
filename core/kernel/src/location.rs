//! Where objects are, as one PE knows it.
//!
//! Every object has a *home*, a PE computed from its name, which always knows where it is (Charm++ manual:
//! "array element location"). Other PEs send to the place they know, else to the home. Whoever finds that an
//! object has left forwards the message, and the PE where it is found tells the sender's PE.
//!
//! A new place is not used at once: what was sent along the old way might be overtaken. The sender's PE first sends a
//! *marker* along the old way and keeps further messages; when the marker has arrived, so has everything before it.
//!
//! An object that is made or removed goes by its home too. To be removed counts as a last move, to nowhere; the home
//! keeps that in mind, so that older news does not bring the object back. Whoever inserts an object again asks the
//! home, which waits until the former one is gone, and the moves are counted on. So of two places the one with more
//! moves is always the later one, and a message that follows places only ever goes forward. Markers rely on it: each
//! that is kept at a PE waits for one that is further on, so none waits for itself.
//!
//! None of that may grow with how many objects there have been.
//!
//! - A home forgets ends once they are many, and remembers the highest moves among them: whoever is inserted there from then on begins with
//!   these. Names of singletons are not given out again, so nothing has to be remembered of their ends.
//! - Another PE does not know whether what it knows of a place is of any use. So when it knows many it sends a marker along each of these ways, as if
//!   it had heard of a new place. Of an object that is nowhere it is answered by the home. Then nothing is on its way along the old way any more, and
//!   the PE knows no place, like one that never heard of the object. (Each marker of a PE has a number of its own: by moves the answer to an older one could
//!   be taken for that of a newer one, where moves have been forgotten in between.)
//! - That an object is at its home, or gone there, is not noted by others: they would send there anyway.

pub mod message;

use std::cell::{Cell, OnceCell, RefCell};
use std::ptr::NonNull;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::collection::Collection;
use crate::kind::Kind;
use crate::location::message::LocationMessage;
use crate::message::control::ObjectMessage;
use crate::message::envelope::Envelope;
use crate::order::Order;
use crate::pe::Pe;
use crate::witness::Until;
use talisman_base::history::{Few, SinceLook};
use talisman_base::ids::{ObjId, PeId, single_home, slot_of};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// What a PE knows of an object's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing: ask its home.
    Unknown,
    /// On this PE.
    Here { slot: u32, generation: u32 },
    /// On another, after so many moves.
    At { pe: PeId, moves: u32 },
    /// A marker, or the object itself, is on its way; messages are kept.
    Switching,
    /// At the home: nowhere, since so many moves.
    Gone { moves: u32 },
}

const KIND: u64 = 0b11 << 62;
const HERE: u64 = 0b01 << 62;
const AT: u64 = 0b10 << 62;
/// Of the fourth kind there are two: the low bits tell.
const GONE: u64 = KIND | 1;
/// Moves and generations in a packed place.
const HIGH: u32 = (1 << 30) - 1;

impl Place {
    #[inline(always)]
    pub fn unpack(bits: u64) -> Place {
        let (high, low) = ((bits >> 32) as u32 & HIGH, bits as u32);
        match bits & KIND {
            HERE => Place::Here { slot: low, generation: high },
            AT => Place::At { pe: low, moves: high },
            0 => Place::Unknown,
            _ if low == 0 => Place::Switching,
            _ => Place::Gone { moves: high },
        }
    }

    fn pack(self) -> u64 {
        match self {
            Place::Unknown => 0,
            Place::Here { slot, generation } => HERE | ((generation & HIGH) as u64) << 32 | slot as u64,
            Place::At { pe, moves } => AT | ((moves & HIGH) as u64) << 32 | pe as u64,
            Place::Switching => KIND,
            Place::Gone { moves } => GONE | ((moves & HIGH) as u64) << 32,
        }
    }
}

const PAGE: usize = 512;
/// Room for so many places is not given back.
const KEPT_ROOM: usize = 1 << 12;
type Page = Box<[Cell<u64>]>;

/// Places of the elements of one collection, 8 bytes each: by ordinal in a dense box, else by index.
pub struct Places {
    /// Allocated by the page, since a PE of a large job touches few.
    dense: Box<[OnceCell<Page>]>,
    /// Elements of the box: the last page, which is all of a small array, has no more.
    len: usize,
    sparse: RefCell<HashMap<u128, u64, FxBuildHasher>>,
    /// In a group, whose members do not move: the index of the one that can be here, and its place.
    own: Option<(u128, Cell<u64>)>,
    /// At the home: the highest moves of those that are gone and were forgotten.
    moves: Cell<u32>,
    few: Few,
    /// At the home: ends.
    gone: SinceLook,
    /// Elsewhere: places.
    learnt: SinceLook,
}

impl Places {
    /// For a box of so many elements; or for a group, of which this member can be here.
    pub fn new(dense: u64, own: Option<u128>, few: Few) -> Self {
        let pages = (dense as usize).div_ceil(PAGE);
        Places {
            dense: (0..pages).map(|_| OnceCell::new()).collect(),
            len: dense as usize,
            sparse: RefCell::default(),
            own: own.map(|index| (index, Cell::new(0))),
            moves: Cell::new(0),
            few,
            gone: SinceLook::default(),
            learnt: SinceLook::default(),
        }
    }

    /// At the home: the moves with which an element begins of whose former life nothing is known.
    pub fn first_moves(&self) -> u32 {
        self.moves.get()
    }

    /// At the home: one more is gone, and noted. When they are many, all are forgotten but for the highest moves.
    pub fn limit_gone(&self, ordinal: Option<u64>) {
        if !self.is_counted(ordinal) || !self.gone.is_due(self.few, self.noted()) {
            return;
        }
        sometimes("a home forgot that objects were gone");
        let mut highest = self.moves.get();
        let mut is_kept = |packed: u64| match Place::unpack(packed) {
            Place::Gone { moves } => {
                highest = highest.max(moves);
                false
            }
            _ => true,
        };
        let mut sparse = self.sparse.borrow_mut();
        sparse.retain(|_, packed| is_kept(*packed));
        give_back(&mut sparse);
        if self.few.is_of_tests() {
            let cells = self.dense.iter().filter_map(OnceCell::get).flat_map(|page| page.iter());
            cells.filter(|cell| !is_kept(cell.get())).for_each(|cell| cell.set(0));
        }
        self.moves.set(highest);
    }

    /// One more place elsewhere is known, of an object whose home is elsewhere too: whether to ask for all of them.
    pub fn are_many_learnt(&self, ordinal: Option<u64>) -> bool {
        self.is_counted(ordinal) && self.learnt.is_due(self.few, self.noted())
    }

    /// Whether a place takes room that it would not take without being known.
    fn is_counted(&self, ordinal: Option<u64>) -> bool {
        ordinal.is_none() || self.few.is_of_tests()
    }

    fn noted(&self) -> usize {
        self.sparse.borrow().len()
    }

    #[inline(always)]
    pub fn get(&self, index: u128, ordinal: Option<u64>) -> Place {
        Place::unpack(self.packed(index, ordinal))
    }

    /// The packed place, which is one word in a register: the message path's question.
    #[inline(always)]
    pub fn packed(&self, index: u128, ordinal: Option<u64>) -> u64 {
        match ordinal {
            Some(ordinal) => match self.dense[ordinal as usize / PAGE].get() {
                Some(page) => page[ordinal as usize % PAGE].get(),
                None => 0,
            },
            None => match &self.own {
                Some((own, place)) => {
                    if *own == index {
                        place.get()
                    } else {
                        0
                    }
                }
                None => self.sparse.borrow().get(&index).copied().unwrap_or(0),
            },
        }
    }

    /// The indices of those that are on other PEs and whose places take room by being known, in the same order in every run.
    pub fn learnt(&self, name: impl Fn(u64) -> Option<u128>) -> Vec<u128> {
        match self.few.is_of_tests() {
            true => self.elsewhere(name),
            false => self.elsewhere_sparse(),
        }
    }

    /// The indices of those that are on other PEs, in the same order in every run; `name` gives the index of an ordinal.
    pub fn elsewhere(&self, name: impl Fn(u64) -> Option<u128>) -> Vec<u128> {
        let pages = self.dense.iter().enumerate().filter_map(|(page, cell)| Some((page * PAGE, cell.get()?)));
        let places = pages.flat_map(|(first, page)| (first..).zip(page.iter().map(Cell::get)));
        let dense = places.filter(|(_, packed)| is_away(*packed)).filter_map(|(at, _)| name(at as u64));
        dense.chain(self.elsewhere_sparse()).collect()
    }

    fn elsewhere_sparse(&self) -> Vec<u128> {
        let sparse = self.sparse.borrow();
        let away = sparse.iter().filter(|(_, packed)| is_away(**packed));
        let mut all: Vec<_> = away.map(|(index, _)| *index).collect();
        all.sort_unstable();
        all
    }

    /// The slots of those that are here, in the order of their indices; `name` gives the index of an ordinal.
    pub fn here(&self, name: impl Fn(u64) -> Option<u128>) -> Vec<u32> {
        let pages = self.dense.iter().enumerate().filter_map(|(page, cell)| Some((page * PAGE, cell.get()?)));
        let places = pages.flat_map(|(first, page)| (first..).zip(page.iter().map(Cell::get)));
        let dense = places.filter_map(|(at, packed)| {
            let (slot, _) = Pe::slot_in(packed)?;
            Some((name(at as u64)?, slot))
        });
        let sparse = self.sparse.borrow();
        let others = sparse.iter().map(|(index, packed)| (*index, *packed));
        let own = self.own.as_ref().map(|(index, place)| (*index, place.get()));
        let others = others.chain(own).filter_map(|(index, packed)| Some((index, Pe::slot_in(packed)?.0)));
        let mut all: Vec<_> = dense.chain(others).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, slot)| slot).collect()
    }

    pub fn set(&self, index: u128, ordinal: Option<u64>, place: Place) {
        match ordinal {
            Some(ordinal) => {
                let before = ordinal as usize / PAGE * PAGE;
                let page = self.dense[ordinal as usize / PAGE]
                    .get_or_init(|| vec![Cell::new(0); PAGE.min(self.len - before)].into());
                page[ordinal as usize % PAGE].set(place.pack());
            }
            None if self.own.as_ref().is_some_and(|(own, _)| *own == index) => {
                self.own.iter().for_each(|(_, own)| own.set(place.pack()));
            }
            None if place == Place::Unknown => {
                let mut sparse = self.sparse.borrow_mut();
                sparse.remove(&index);
                give_back(&mut sparse);
            }
            None => drop(self.sparse.borrow_mut().insert(index, place.pack())),
        }
    }
}

fn is_away(packed: u64) -> bool {
    matches!(Place::unpack(packed), Place::At { .. })
}

/// A burst of places would keep its room for ever.
fn give_back(sparse: &mut HashMap<u128, u64, FxBuildHasher>) {
    if sparse.capacity() > KEPT_ROOM && sparse.len() < sparse.capacity() / 8 {
        sparse.shrink_to(sparse.capacity() / 4);
    }
}

/// A change of place that is waited for.
#[derive(Default)]
pub struct Switch {
    /// Of the marker that is under way; none when the object is itself on its way here.
    asked: Option<Asked>,
    /// After going back to a checkpoint: the PE where the object is has yet to say so.
    news: bool,
    held: Vec<NonNull<Envelope>>,
}

/// What a PE asked of an object's place by a marker.
#[derive(Clone, Copy)]
struct Asked {
    /// The marker's number.
    number: u32,
    /// It is, or was, elsewhere after so many moves.
    moves: u32,
    why: Why,
}

/// Why a PE asks where an object is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It was said to be at a new place.
    News,
    /// To forget the place if it is nowhere.
    Many,
}

/// The changes of place that a PE waits for, in one collection.
#[derive(Default)]
pub struct Switches {
    all: RefCell<HashMap<u128, Switch, FxBuildHasher>>,
    /// Markers that this PE has sent.
    markers: Cell<u32>,
}

impl Switches {
    /// Keeps a message until the marker has arrived.
    pub fn hold(&self, index: u128, envelope: NonNull<Envelope>) {
        let mut switches = self.all.borrow_mut();
        let switch = switches.get_mut(&index).expect("a place that switches has its switch");
        if switch.asked.is_none() {
            sometimes("a message waited for an object on its way");
        }
        switch.held.push(envelope);
    }

    /// The object itself is on its way here: what comes for it waits for it, rather than going round in circles.
    fn expect(&self, index: u128) {
        let mut switches = self.all.borrow_mut();
        let switch = switches.entry(index).or_default();
        switch.news = false;
        if switch.asked.take().is_some() {
            sometimes("an object came while a marker for it was under way");
        }
    }

    /// The object is somewhere, and where will be said.
    fn expect_news(&self, index: u128) {
        self.all.borrow_mut().insert(index, Switch { news: true, ..Switch::default() });
    }

    fn awaits_news(&self, index: u128) -> bool {
        self.all.borrow().get(&index).is_some_and(|switch| switch.news)
    }

    /// A marker goes off: its number.
    fn begin(&self, index: u128, moves: u32, why: Why) -> u32 {
        let number = self.markers.get();
        self.markers.set(number.wrapping_add(1));
        let asked = Some(Asked { number, moves, why });
        self.all.borrow_mut().insert(index, Switch { asked, ..Switch::default() });
        number
    }

    /// What was kept for an object whose place is known now.
    fn end(&self, index: u128) -> Vec<NonNull<Envelope>> {
        let mut all = self.all.borrow_mut();
        let held = all.remove(&index).map(|switch| switch.held).unwrap_or_default();
        if all.is_empty() && all.capacity() > KEPT_ROOM {
            *all = HashMap::default();
        }
        held
    }

    /// What was asked by a marker whose answer is waited for.
    fn asked(&self, index: u128) -> Option<Asked> {
        self.all.borrow().get(&index).and_then(|switch| switch.asked)
    }

    /// Objects whose messages wait for a place, and how many wait for each, for the report of a job that is stuck.
    pub fn waiting(&self) -> Vec<(u128, usize)> {
        let switches = self.all.borrow();
        let mut all: Vec<_> = switches.iter().map(|(index, switch)| (*index, switch.held.len())).collect();
        all.sort_unstable();
        all
    }

    /// Messages that wait for a place, in the same order in every run.
    pub fn held(&self) -> Vec<NonNull<Envelope>> {
        let switches = self.all.borrow();
        let mut all: Vec<_> = switches.iter().collect();
        all.sort_unstable_by_key(|(index, _)| **index);
        all.into_iter().flat_map(|(_, switch)| switch.held.iter().copied()).collect()
    }

    pub fn take_all(&self) -> Vec<NonNull<Envelope>> {
        self.all.take().into_values().flat_map(|switch| switch.held).collect()
    }
}

impl Pe {
    /// What is known of an object's place.
    pub fn place_of(&self, collection: &Collection, index: u128) -> Place {
        match self.named_slot(collection, index) {
            Some((slot, generation)) => Place::Here { slot, generation },
            None => collection.place(index),
        }
    }

    /// The slot and generation in the packed place of an object that is here.
    #[inline(always)]
    pub fn slot_in(packed: u64) -> Option<(u32, u32)> {
        (packed & KIND == HERE).then_some((packed as u32, (packed >> 32) as u32 & HIGH))
    }

    /// The packed place of a singleton in the slot that it was named after, else 0.
    #[inline(always)]
    pub fn named_here(&self, collection: &Collection, index: u128) -> u64 {
        if !collection.id.is_singles() {
            return 0;
        }
        match self.named_slot(collection, index) {
            Some((slot, generation)) => HERE | (generation as u64) << 32 | slot as u64,
            None => 0,
        }
    }

    /// The slot of a singleton that was named after it, while it is there.
    #[inline(always)]
    pub fn named_slot(&self, collection: &Collection, index: u128) -> Option<(u32, u32)> {
        if !collection.id.is_singles() || single_home(index) != self.id {
            return None;
        }
        slot_of(index).filter(|(slot, generation)| self.slots.get(*slot, *generation).is_some())
    }

    /// At the home, after going back to a checkpoint: an object is on some PE, unless it is on this one, or on its way here.
    pub fn expect_news(&self, collection: &Collection, index: u128) {
        if let Place::Unknown = self.place_of(collection, index) {
            collection.set_place(index, Place::Switching);
            collection.switches.expect_news(index);
        }
    }

    /// Where it is, unless it is on its way here since, or its end is, of which this PE knows more than whoever says this.
    pub fn take_news(&self, collection: &Collection, index: u128, pe: PeId, moves: u32) {
        match collection.switches.awaits_news(index) || mutated("old-news-believed") {
            true => self.switch(collection, index, Place::At { pe, moves }),
            false => {
                sometimes("an object was on its way home, or gone, before the news of where it was restored")
            }
        }
    }

    /// Somebody found an object at another place than this PE had sent to.
    pub fn on_moved(&self, id: ObjId, pe: PeId, moves: u32) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let (new, old_way) = match self.place_of(collection, id.index) {
            // A home knows its objects from when they are made, and forgets only those that never moved.
            Place::Unknown if collection.home(id.index) == self.id => return,
            // Where this PE sends anyway.
            Place::Unknown if collection.home(id.index) == pe => return,
            Place::Unknown => (true, collection.home(id.index)),
            Place::At { moves: known, pe: old } => {
                if moves < known {
                    sometimes("older news of a place came after newer");
                }
                (moves > known && old != pe, old)
            }
            Place::Here { .. } => {
                return sometimes("an object was back before the news of where it had been");
            }
            Place::Switching => return sometimes("news of a place came while another was awaited"),
            Place::Gone { .. } => return sometimes("news of a place came when the object was gone"),
        };
        if !new || pe == self.id {
            return;
        }
        sometimes("a sender learns that an object moved");
        if mutated("place-without-marker") {
            return collection.set_place(id.index, Place::At { pe, moves });
        }
        self.ask_where(collection, id, old_way, moves, Why::News);
    }

    /// Sends a marker along the way by which this PE has sent to an object so far.
    fn ask_where(&self, collection: &Collection, id: ObjId, old_way: PeId, moves: u32, why: Why) {
        collection.set_place(id.index, Place::Switching);
        let asked = collection.switches.begin(id.index, moves, why);
        let marker = self.object_message(id, ObjectMessage::Marker { asker: self.id, asked });
        self.transmit(old_way, marker);
    }

    /// This PE knows one more place. When they are many, it asks which of them are of use.
    pub fn limit_learnt(&self, collection: &Collection, index: u128) {
        let is_learnt = matches!(collection.place(index), Place::At { .. });
        if !is_learnt || collection.home(index) == self.id || !collection.are_many_learnt(index) {
            return;
        }
        sometimes("a PE asked for all places that it knew");
        for index in collection.learnt() {
            if collection.home(index) != self.id
                && let Place::At { pe, moves } = collection.place(index)
            {
                self.ask_where(collection, collection.object(index), pe, moves, Why::Many);
            }
        }
    }

    /// Keeps a message until its object's place is known. It may be this PE's own marker, if the object has been here
    /// since that was sent: nothing waits for it any more.
    pub fn hold(&self, collection: &Collection, envelope: NonNull<Envelope>) {
        // SAFETY: the sender owns the envelope.
        let index = unsafe { envelope.as_ref() }.to().index;
        self.see_kept(envelope, Until::Place);
        collection.switches.hold(index, envelope);
    }

    /// A marker arrived where the object is (or, if it is nowhere, at its home).
    pub fn on_marker(&self, id: ObjId, asker: PeId, asked: u32, moves: u32) {
        self.tell(asker, LocationMessage::Found { id, pe: self.id, asked, moves });
    }

    /// The marker arrived: the new place can be used.
    pub fn on_found(&self, id: ObjId, pe: PeId, number: u32, moves: u32) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let asked = collection.switches.asked(id.index);
        // The object may have been here since, and this be the answer to an older question.
        let is_answer = asked.is_some_and(|asked| asked.number == number);
        if !is_answer && !mutated("older-answer-believed") {
            return sometimes("a marker was answered when nobody waited for it any more");
        }
        if pe == self.id {
            sometimes("a marker was answered by the PE that had sent it");
        }
        let known = asked.map_or(0, |asked| asked.moves);
        let place = if pe == self.id { Place::Unknown } else { Place::At { pe, moves: moves.max(known) } };
        self.switch(collection, id.index, place);
        match asked {
            Some(Asked { why: Why::Many, .. }) if collection.home(id.index) == pe => {
                sometimes("a PE forgot the place of an object that was gone, or at its home");
            }
            Some(Asked { why: Why::Many, .. }) => {}
            _ => self.limit_learnt(collection, id.index),
        }
    }

    /// A place is known: what waited for that goes on.
    fn switch(&self, collection: &Collection, index: u128, place: Place) {
        // Of a singleton in the slot that it is named after, the name tells the place.
        if self.named_slot(collection, index).is_none() {
            collection.set_place(index, place);
        }
        let mut held = collection.switches.end(index);
        if mutated("held-messages-backwards") {
            held.reverse();
        }
        if mutated("held-message-lost") {
            held.pop().into_iter().for_each(|envelope| self.release(envelope));
        }
        for envelope in self.one_by_one(held) {
            sometimes("a message waited for a marker");
            self.dispatch(collection, envelope);
        }
    }

    /// An object is on its way to this PE and will be taken in behind what is queued.
    pub fn expect_object(&self, collection: &Collection, index: u128) {
        if !matches!(self.place_of(collection, index), Place::Here { .. }) {
            collection.set_place(index, Place::Switching);
            collection.switches.expect(index);
        }
    }

    /// At the home: an object is gone, which will be taken in behind what is queued. What comes for it meanwhile waits:
    /// from where it was removed it may have come, and by the place known so far it would go backwards. A marker could
    /// then be kept by a PE whose own marker is kept by one that waits for the first, for ever.
    pub fn expect_end(&self, collection: &Collection, index: u128) {
        if !mutated("end-not-expected") {
            self.expect_object(collection, index);
        }
    }

    /// An object came to, or was made on, this PE: what waited for it goes on.
    pub fn settle(&self, collection: &Collection, index: u128, slot: u32, generation: u32) {
        self.switch(collection, index, Place::Here { slot, generation });
        self.one_by_one(collection.take_awaiting(index))
            .for_each(|envelope| self.dispatch(collection, envelope));
    }

    /// At the home: an object is to be made on another PE.
    pub fn settle_elsewhere(&self, collection: &Collection, index: u128, pe: PeId, moves: u32) {
        collection.set_place(index, Place::At { pe, moves });
        self.one_by_one(collection.take_awaiting(index))
            .for_each(|envelope| self.dispatch(collection, envelope));
    }

    /// An object was removed here: its home hears of it, and this PE sends there what still comes for it.
    pub fn unsettle(&self, collection: &Collection, index: u128, moves: u32, order: Order) {
        let (home, id) = (collection.home(index), collection.object(index));
        // Only elements of arrays have successors; the partners of a single chare are told that it is gone, too.
        let is_kept = matches!(collection.chare.kind, Kind::Array | Kind::Single);
        let inherited = is_kept && !order.is_empty() && !mutated("order-not-inherited");
        if inherited {
            sometimes("an element left its order to its home");
        }
        if !is_kept && collection.going.get() {
            self.tell_of_end(id, &order);
        }
        let order = inherited.then(|| Box::new(order));
        if home == self.id {
            if moves > 0 {
                sometimes("an element that had moved was removed at its home");
            }
            // Of one that never moved there is no older news to be guarded against.
            let place = if moves == 0 { Place::Unknown } else { collection.end(moves + 1) };
            collection.set_place(index, place);
            collection.limit_gone(index);
            collection.orders.keep(index, order);
            return self.after_end(collection, index, inherited);
        }
        sometimes("an element was removed away from its home");
        collection.set_place(index, Place::At { pe: home, moves: moves + 1 });
        self.tell(home, LocationMessage::Gone { id, moves: moves + 1, order });
    }

    /// At the home: an object is gone.
    pub fn on_gone(&self, id: ObjId, moves: u32, order: Option<Box<Order>>) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        if let Place::Here { .. } = self.place_of(collection, id.index) {
            let who = collection.label(id.index);
            return self
                .node
                .job
                .end(1, Some(format!("{who} is said to be gone by another PE, and is on PE {}", self.id)));
        }
        let leaves_order = order.is_some();
        // First: among what waits for the place may be a question about it.
        collection.orders.keep(id.index, order);
        self.switch(collection, id.index, collection.end(moves));
        collection.limit_gone(id.index);
        self.after_end(collection, id.index, leaves_order);
    }

    /// The object of this name is gone, and what it left is kept: those that wait to be made can be.
    fn after_end(&self, collection: &Collection, index: u128, leaves_order: bool) {
        self.release_unborn(collection, index);
        if leaves_order {
            self.limit_orders(collection);
        }
    }

    /// Those that wait to be made under this name can be.
    pub fn release_unborn(&self, collection: &Collection, index: u128) {
        for envelope in collection.take_unborn(index) {
            sometimes("an element could be made because its former one was gone");
            if mutated("unborn-forgotten") {
                self.release(envelope);
            } else {
                self.enqueue(envelope);
            }
        }
    }

    /// An object found here was sent to by another PE's knowledge: that PE learns better.
    pub fn correct(&self, sender: PeId, id: ObjId, moves: u32) {
        if sender != self.id {
            self.tell(sender, LocationMessage::Moved { id, pe: self.id, moves });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_packing() {
        let places = [
            Place::Unknown,
            Place::Switching,
            Place::Gone { moves: HIGH },
            Place::Here { slot: u32::MAX, generation: HIGH },
            Place::At { pe: 9999, moves: 12 },
        ];
        for place in places {
            assert_eq!(Place::unpack(place.pack()), place);
        }
    }

    #[test]
    fn places_are_kept_by_ordinal_and_by_index() {
        let places = Places::new(1000, None, Few::default());
        let here = Place::Here { slot: 3, generation: 1 };
        assert_eq!(places.get(0, Some(999)), Place::Unknown);
        places.set(0, Some(999), here);
        places.set(77, None, here);
        assert_eq!((places.get(0, Some(999)), places.get(77, None)), (here, here));
        assert_eq!(places.get(999, None), Place::Unknown);
        places.set(77, None, Place::Unknown);
        assert!(places.sparse.borrow().is_empty());
    }

    #[test]
    fn of_a_group_one_member_can_be_here() {
        let places = Places::new(0, Some(3), Few::default());
        let here = Place::Here { slot: 3, generation: 1 };
        places.set(3, None, here);
        assert_eq!((places.get(3, None), places.get(2, None)), (here, Place::Unknown));
        assert!(places.sparse.borrow().is_empty());
    }
}
