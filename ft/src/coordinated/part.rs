//! What has become of a member's own part.

use crate::Version;
use talisman_observe::mutations::mutated;

/// Where a member's part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// With the member itself.
    Here,
    /// With all its keepers.
    Keepers,
}

/// Whether it is kept, or why not.
type Kept = Result<(), String>;

/// Each member says once of each version what has become of its part.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Part {
    version: Version,
    here: Option<Kept>,
    keepers: Option<Kept>,
    is_told: bool,
}

impl Part {
    pub(super) fn of(version: Version) -> Self {
        Part { version, ..Part::default() }
    }

    /// It is kept in one of the two places, or cannot be. What is to be said of it, once both are known.
    pub(super) fn on_kept(&mut self, version: Version, at: At, kept: Kept) -> Option<Kept> {
        if version != self.version || self.is_told {
            return None;
        }
        match at {
            At::Here => self.here = Some(kept),
            At::Keepers => self.keepers = Some(kept),
        }
        if mutated("safe-without-a-copy") {
            self.keepers.get_or_insert(Ok(()));
        }
        let (here, keepers) = self.here.as_ref().zip(self.keepers.as_ref())?;
        self.is_told = true;
        Some(here.clone().and(keepers.clone()))
    }
}
