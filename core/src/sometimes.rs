//! Marks on rare paths, so that a test can ask whether it ever came there: those of this crate and of `talisman-ft` are counted in
//! one place.

pub(crate) use talisman_ft::sometimes::sometimes;
pub use talisman_ft::sometimes::take_marks;
