//! Marks on rare paths, so that a test can ask whether it ever came there.

use std::cell::RefCell;
use std::collections::BTreeMap;

thread_local! {
    static MARKS: RefCell<BTreeMap<&'static str, u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// This rare path was taken. Costs a table look-up: never on the common path.
#[cold]
pub fn sometimes(what: &'static str) {
    // A thread that is ending has no table any more, and nobody to read it.
    let _ = MARKS.try_with(|marks| *marks.borrow_mut().entry(what).or_default() += 1);
}

/// The rare paths that this thread took since it was last asked, with how often.
pub fn take_marks() -> BTreeMap<&'static str, u64> {
    MARKS.take()
}
