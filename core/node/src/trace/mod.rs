//! What a process writes of a trace (`--trace`): a file of its own beside the trace, its part.
//!
//! | file | is |
//! |---|---|
//! | [`part_file`] | the format, as it is written and read |
//! | `decoder` | from what PEs write to records |
//! | `writer` | the thread that empties the rings of the PEs |

mod decoder;
pub mod part_file;
mod writer;

pub(crate) use writer::TraceWriter;
pub use writer::write_simulated_trace;
