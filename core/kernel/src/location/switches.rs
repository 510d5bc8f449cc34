//! Changes of place that a PE waits for: what it keeps until the old way is empty.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::places::KEPT_ROOM;
use crate::message::envelope::Envelope;
use talisman_observe::sometimes::sometimes;

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
pub(super) struct Asked {
    /// The marker's number.
    pub(super) number: u32,
    /// It is, or was, elsewhere after so many moves.
    pub(super) moves: u32,
    pub(super) why: Why,
}

/// Why a PE asks where an object is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
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
    pub(super) fn expect(&self, index: u128) {
        let mut switches = self.all.borrow_mut();
        let switch = switches.entry(index).or_default();
        switch.news = false;
        if switch.asked.take().is_some() {
            sometimes("an object came while a marker for it was under way");
        }
    }

    /// The object is somewhere, and where will be said.
    pub(super) fn expect_news(&self, index: u128) {
        self.all.borrow_mut().insert(index, Switch { news: true, ..Switch::default() });
    }

    pub(super) fn awaits_news(&self, index: u128) -> bool {
        self.all.borrow().get(&index).is_some_and(|switch| switch.news)
    }

    /// A marker goes off: its number.
    pub(super) fn begin(&self, index: u128, moves: u32, why: Why) -> u32 {
        let number = self.markers.get();
        self.markers.set(number.wrapping_add(1));
        let asked = Some(Asked { number, moves, why });
        self.all.borrow_mut().insert(index, Switch { asked, ..Switch::default() });
        number
    }

    /// Whether the place of an object is waited for.
    pub(crate) fn is_waited_for(&self, index: u128) -> bool {
        let all = self.all.borrow();
        !all.is_empty() && all.contains_key(&index)
    }

    /// What was kept for an object whose place is known now.
    pub(super) fn end(&self, index: u128) -> Vec<NonNull<Envelope>> {
        if self.all.borrow().is_empty() {
            return Vec::new();
        }
        let mut all = self.all.borrow_mut();
        let held = all.remove(&index).map(|switch| switch.held).unwrap_or_default();
        if all.is_empty() && all.capacity() > KEPT_ROOM {
            *all = HashMap::default();
        }
        held
    }

    /// What was asked by a marker whose answer is waited for.
    pub(super) fn asked(&self, index: u128) -> Option<Asked> {
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
