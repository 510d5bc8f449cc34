//! Deliberate mistakes, to see that simulations notice them.
//!
//! `if mutated("name") { … }` stands where a mistake could be made. It is `false`, at no cost, unless this crate was built
//! with the feature `mutations` and the mistake was chosen for this thread.

use std::cell::Cell;

thread_local! {
    static CHOSEN: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Whether the mistake of this name is to be made.
#[must_use]
#[inline(always)]
pub fn mutated(name: &str) -> bool {
    cfg!(feature = "mutations") && CHOSEN.get() == Some(name)
}

/// Chooses the mistake that this thread makes from now on.
///
/// # Panics
/// If this crate was built without the feature `mutations`.
pub fn choose(name: Option<&'static str>) {
    assert!(name.is_none() || cfg!(feature = "mutations"), "built without the feature `mutations`");
    CHOSEN.set(name);
}
