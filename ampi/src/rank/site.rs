//! Where in the program a rank waits.

use std::borrow::Cow;
use std::panic::Location;

use talisman_pup::Pup;

/// A call of the program: for reports of a job that is stuck.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Site {
    /// What is called.
    pub call: Cow<'static, str>,
    /// The source file of the call.
    pub file: Cow<'static, str>,
    /// The line there.
    pub line: u32,
}

impl Site {
    /// The function of this name is called by who calls the caller.
    #[track_caller]
    pub fn here(call: &'static str) -> Site {
        Site::at(call, Location::caller())
    }

    /// It is this one from now on, which it mostly is already.
    #[inline]
    pub fn be_at(&mut self, call: &'static str, place: &'static Location<'static>) {
        let is_same = |known: &Cow<'static, str>, text: &'static str| match known {
            Cow::Borrowed(known) => std::ptr::eq(*known, text),
            Cow::Owned(_) => false,
        };
        if self.line != place.line() || !is_same(&self.call, call) || !is_same(&self.file, place.file()) {
            *self = Site::at(call, place);
        }
    }

    /// The function of this name is called at this place.
    pub fn at(call: &'static str, place: &'static Location<'static>) -> Site {
        Site { call: call.into(), file: place.file().into(), line: place.line() }
    }
}
