//! Deliberate mistakes, to see that simulations notice them: those of this crate and of `talisman-ft` are chosen in one place.

pub use talisman_ft::mutations::choose;
pub(crate) use talisman_ft::mutations::mutated;
