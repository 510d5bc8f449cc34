//! Traces of jobs (`--trace`): parts of nodes put together, and what a trace says, summed up (`talisman trace`).
//!
//! | file | is |
//! |---|---|
//! | `perfetto` | the few messages of Perfetto's format that a trace has |
//! | `clocks` | times of all hosts on one scale |
//! | `tracks` | how tracks of hosts, nodes and PEs are numbered |
//! | `vocabulary` | names that all of them have |
//! | `sequence`, `packets` | records of one PE as packets |
//! | `merge` | parts as one trace |
//! | `reader`, `scan` | a trace, packet by packet; an event where it lies |
//! | `summary`, `histogram`, `usage` | what is found in it, in bounded memory |
//! | `path`, `balance` | of a part of it: the critical path, what objects did, for balancers to be tried on it |
//! | `words`, `terminal`, `html` | that for people: in words, on a terminal, and as a page with plots |
//! | `picture` | a part of it, drawn |
//! | `command` | `talisman trace` |
//! | `hostile` | bytes of strangers in place of all that, for fuzz targets |

mod balance;
mod clocks;
pub(crate) mod command;
mod histogram;
pub(crate) mod hostile;
mod html;
mod merge;
mod packets;
mod path;
mod perfetto;
mod picture;
mod reader;
mod scan;
mod sentences;
mod sequence;
mod summary;
mod terminal;
#[cfg(test)]
mod tests;
mod tracks;
mod usage;
mod vocabulary;

pub(crate) use command::{gain_in, gather};
pub(crate) use merge::{Extras, MergeError};
pub(crate) use sentences::plural;
