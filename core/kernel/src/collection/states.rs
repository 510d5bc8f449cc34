//! What services keep of a collection on a PE, each by itself.

use std::any::Any;
use std::cell::OnceCell;

use super::Collection;

/// The services that keep something of each collection.
#[derive(Clone, Copy, Debug)]
pub enum Keeper {
    Broadcasts,
    Reductions,
}

/// What a service keeps of a collection. It is made when it is first looked at.
pub trait CollectionState: 'static {
    /// Whose it is.
    const KEEPER: Keeper;

    /// Of one that this PE has just heard of.
    fn new(of: &Collection) -> Self;
}

/// One for each of them.
#[derive(Default)]
pub(super) struct States([OnceCell<Box<dyn Any>>; 2]);

impl Collection {
    /// What a service keeps of it.
    ///
    /// # Panics
    /// If two types are said to be of one service.
    #[inline]
    pub fn state<S: CollectionState>(&self) -> &S {
        let state = self.states.0[S::KEEPER as usize].get_or_init(|| Box::new(S::new(self)));
        state.downcast_ref().expect("a service keeps one thing of a collection")
    }
}
