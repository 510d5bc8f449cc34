//! Loads programs that nobody recompiled, many times in one process.
//!
//! A virtual MPI rank has a range of addresses of its own, its slot. An executable that is position-independent, with
//! its private libraries, is mapped there for each rank: code is shared, data is copied when it is written to. What a
//! dynamic linker would do for one copy is resolved once ([`Program::prepare`]) and replayed for each rank
//! ([`Program::load`]). The C library is the process's own; what it hides is answered per rank ([`libc`](mod@libc)).
//!
//! This crate knows nothing of MPI: who embeds it says what else is answered ([`Imports`]). x86-64 Linux with the GNU
//! C library alone.
//!
//! ```no_run
//! use std::path::Path;
//! use talisman_loader::{NoImports, Program, Search};
//!
//! let program = Program::prepare(Path::new("/bin/true"), &Search::from_environment(), &NoImports)?;
//! println!("{} bytes for each rank", program.span());
//! # Ok::<(), talisman_loader::LoadError>(())
//! ```

mod closure;
mod debugging;
mod elf;
mod error;
mod explain;
mod functions;
mod image;
mod imports;
mod later;
pub mod libc;
mod linker;
mod names;
mod object;
mod order;
mod pad;
mod place;
mod plan;
mod program;
mod replay;
mod resolve;
mod scope;
mod search;
mod shared;
pub mod stack_scrubbing;
mod thread_locals;
mod variables;

pub use debugging::{Registers, Stack, place_of};
pub use error::{LoadError, Malformed, MissingSymbol};
pub use explain::{Explanation, Import, Meaning, explain};
pub use image::{Part, PartKind};
pub use imports::{Imports, NoImports};
pub use linker::{answer_later, answer_names};
pub use pad::pad_room;
pub use program::Program;
pub use search::Search;
pub use shared::open_shared_libraries;
pub use thread_locals::ThreadLocals;
pub use variables::Variables;

/// Bytes of a page: the only length on x86-64 that files are linked for.
pub const PAGE: usize = 4096;

/// Programs are loaded to multiples of this.
pub const BASE_ALIGN: usize = 64 << 10;
