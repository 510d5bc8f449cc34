//! Something that is kept of each peer in each context.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use talisman_pup::Pup;

use super::{Context, Rank};

/// By context and peer. The one of the last time is found without a search: mostly it is that one again.
#[derive(Debug, PartialEq, Pup)]
pub struct Peers<T> {
    all: Vec<(Context, Rank, T)>,
    /// Where each is among all.
    places: HashMap<(Context, Rank), u32, FxBuildHasher>,
    last: u32,
}

impl<T> Default for Peers<T> {
    fn default() -> Self {
        Peers { all: Vec::new(), places: HashMap::default(), last: 0 }
    }
}

impl<T> Peers<T> {
    /// That of a peer, if there is one.
    #[inline]
    pub fn get_mut(&mut self, context: Context, peer: Rank) -> Option<&mut T> {
        let is_last = |(of, with, _): &(Context, Rank, T)| *of == context && *with == peer;
        if !self.all.get(self.last as usize).is_some_and(is_last) {
            self.last = *self.places.get(&(context, peer))?;
        }
        self.all.get_mut(self.last as usize).map(|(.., kept)| kept)
    }

    /// That of a peer, made if there is none.
    #[inline]
    pub fn of(&mut self, context: Context, peer: Rank) -> &mut T
    where
        T: Default,
    {
        let is_last = |(of, with, _): &(Context, Rank, T)| *of == context && *with == peer;
        if !self.all.get(self.last as usize).is_some_and(is_last) {
            self.find_or_make(context, peer);
        }
        &mut self.all[self.last as usize].2
    }

    /// From now on it is the last one.
    #[cold]
    fn find_or_make(&mut self, context: Context, peer: Rank)
    where
        T: Default,
    {
        if self.get_mut(context, peer).is_none() {
            self.last = self.all.len() as u32;
            self.places.insert((context, peer), self.last);
            self.all.push((context, peer, T::default()));
        }
    }

    /// All, in the order in which they were made.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.all.iter().map(|(.., kept)| kept)
    }
}
