//! Traces of jobs (`--trace`): parts of nodes put together, and what a trace says, summed up (`talisman trace`).
//!
//! | file | is |
//! |---|---|
//! | `perfetto` | the few messages of Perfetto's format that a trace has |
//! | `clocks` | times of all hosts on one scale |
//! | `tracks` | how tracks of hosts, nodes and PEs are numbered |
//! | `vocabulary` | names that all of them have |
//! | `sequence` | records of one PE as packets |
//! | `merge` | parts as one trace |
//! | `reader` | a trace, packet by packet |
//! | `summary`, `histogram`, `usage` | what is found in it, in bounded memory |
//! | `path`, `balance` | of a part of it: the critical path, what a balancer would have saved |
//! | `terminal`, `html` | that for people: on a terminal, and as a page with plots |
//! | `command` | `talisman trace` |
//! | `hostile` | bytes of strangers in place of all that, for fuzz targets |

mod balance;
mod clocks;
pub(crate) mod command;
mod histogram;
pub(crate) mod hostile;
mod html;
mod merge;
mod path;
mod perfetto;
mod reader;
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
