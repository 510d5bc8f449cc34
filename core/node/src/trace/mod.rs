//! What a process writes of a trace (`--trace`): a file of its own beside the trace, its part.
//!
//! | file | is |
//! |---|---|
//! | [`part_file`] | the format, as it is written and read |
//! | `writer` | the thread that empties the rings of the PEs |

pub mod part_file;
mod writer;

pub(crate) use writer::TraceWriter;
pub use writer::write_simulated_trace;
