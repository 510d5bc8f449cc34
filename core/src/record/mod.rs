//! Records: what a PE is given, in a file (`--record`), and the same PE that runs again from it, alone (`talisman
//! replay`).
//!
//! A PE does the same whenever it is given the same. What that is comes in by its door (`Pe::turn`), and is told to a
//! recorder there: a [`writer::RecordWriter`] writes it down, with the contents of all frames, those of other PEs of its node
//! included, and with marks of those that the PE sends. A [`replayer::Replayer`] gives it to a fresh PE, and compares.
//!
//! | file | is |
//! |---|---|
//! | [`item`] | what a record consists of |
//! | [`file`] | how it is written and read: blocks with sums |
//! | [`writer`] | a recorder that writes |
//! | [`steps`] | items, as a PE that runs again takes them: an input, and what came of it |
//! | `expected` | says values of the world to a PE that runs again, and compares what it sends |
//! | [`replayer`] | runs it again |
//! | [`hostile`] | files of others, for fuzz targets |

mod expected;
pub mod file;
pub mod hostile;
pub mod item;
pub mod replayer;
pub mod steps;
#[cfg(test)]
mod tests;
pub mod writer;

#[doc(hidden)]
pub use talisman_kernel::pe::turn::{committed, packs_undetermined, runs_alone, world};
