//! Why a rank has to stay where it is.

use std::ffi::{CStr, c_int};
use std::fmt;

use super::departed::{self, Departed, PATH};
use crate::libc::State;

/// Why a rank cannot move now, nor be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It has something open that cannot be opened again.
    Open {
        /// Its descriptor.
        descriptor: i32,
        /// The system's name for it: `pipe:[41]`, `socket:[42]`, `/tmp/file (deleted)`.
        name: String,
    },
    /// It has mapped memory itself (`mmap`), which is not in its slot.
    Mapped {
        /// How much.
        bytes: usize,
    },
}

impl State {
    /// Why the rank has to stay where it is; none if it may move. It does not run.
    pub fn held(&self) -> Option<Reason> {
        self.open_for_good().or_else(|| {
            let bytes = self.mappings.outside();
            (bytes > 0).then_some(Reason::Mapped { bytes })
        })
    }

    fn open_for_good(&self) -> Option<Reason> {
        let movable = |descriptor: c_int| {
            self.descriptors.standard(descriptor).is_some() || Departed::of_file(descriptor).is_ok()
        };
        let descriptor = self.descriptors.open().find(|descriptor| !movable(*descriptor))?;
        let mut name = [0; PATH];
        departed::read_link(descriptor, &mut name);
        // SAFETY: it ends with a zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        Some(Reason::Open { descriptor, name })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Open { descriptor, name } => {
                write!(
                    f,
                    "it has {name} open (descriptor {descriptor}), which cannot be opened again elsewhere"
                )
            }
            Reason::Mapped { bytes } => {
                write!(f, "it has mapped {bytes} bytes of memory outside of its slot")
            }
        }
    }
}
