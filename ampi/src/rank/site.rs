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

    /// The function of this name is called at this place.
    pub fn at(call: &'static str, place: &'static Location<'static>) -> Site {
        Site { call: call.into(), file: place.file().into(), line: place.line() }
    }
}
