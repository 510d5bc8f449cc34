//! The mask of permissions (`umask`) of a rank. A process has one, so it is changed when a rank that has its own goes
//! on or waits.

use ::libc::mode_t;

use super::{current, functions};

/// A rank's own mask: plain data.
#[repr(C)]
pub struct Mask {
    is_own: bool,
    own: mode_t,
    /// The process's, while the rank runs.
    process: mode_t,
}

impl Mask {
    pub const fn new() -> Mask {
        Mask { is_own: false, own: 0, process: 0 }
    }

    pub fn enter(&mut self) {
        if self.is_own {
            // SAFETY: a number.
            self.process = unsafe { ::libc::umask(self.own) };
        }
    }

    pub fn leave(&self) {
        if self.is_own {
            // SAFETY: a number.
            unsafe { ::libc::umask(self.process) };
        }
    }
}

functions! {
    "umask" => change,
}

unsafe extern "C" fn change(new: mode_t) -> mode_t {
    // SAFETY: a number; the running rank's state.
    let (former, mask) = unsafe { (::libc::umask(new), &mut (*current()).mask) };
    if !mask.is_own {
        (mask.is_own, mask.process) = (true, former);
    }
    mask.own = new & 0o777;
    former
}
