//! What oracles see of a simulated run: every message and object, as they come and go.
//!
//! Without the feature `oracles` nothing here costs anything; with it, nothing is seen unless a thread has a witness.

use std::cell::RefCell;

use crate::ids::{ObjId, PeId};

/// Something that oracles look at.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Seen {
    /// An object is on this PE from now on: made, or arrived.
    Here {
        /// The object.
        object: ObjId,
        /// Where.
        pe: PeId,
    },
}

type Witness = Box<dyn FnMut(&Seen)>;

thread_local! {
    static WITNESS: RefCell<Option<Witness>> = const { RefCell::new(None) };
}

/// From now on, what happens in this thread is told to `witness`; the former one is given back.
pub fn call(witness: Option<Witness>) -> Option<Witness> {
    WITNESS.replace(witness)
}

/// Tells the witness, if there is one.
#[inline(always)]
pub(crate) fn see(what: impl FnOnce() -> Seen) {
    if cfg!(feature = "oracles") {
        tell(what);
    }
}

#[cold]
fn tell(what: impl FnOnce() -> Seen) {
    WITNESS.with_borrow_mut(|witness| {
        if let Some(witness) = witness {
            witness(&what());
        }
    });
}
