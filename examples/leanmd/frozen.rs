//! A value that many messages carry and nobody changes.
//!
//! A cell sends its coordinates to up to 27 pairs. Within a node the messages share one copy; on its way to another node each
//! message is packed with the value in it, and arrives with a copy of its own. As the value cannot change, no one can tell.

use std::ops::Deref;
use std::sync::Arc;

use talisman::prelude::*;

/// A shared read-only value.
#[derive(Debug, Default)]
pub struct Frozen<T>(Arc<T>);

impl<T> Frozen<T> {
    /// Freezes a value.
    pub fn new(value: T) -> Self {
        Frozen(Arc::new(value))
    }
}

impl<T> Clone for Frozen<T> {
    fn clone(&self) -> Self {
        Frozen(Arc::clone(&self.0))
    }
}

impl<T> Deref for Frozen<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Pup> Pup for Frozen<T> {
    fn pack(&self, p: &mut Packer) {
        self.0.as_ref().pack(p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        T::unpack(u).map(Frozen::new)
    }
}
