//! What the root knows of the image under way.

use std::collections::BTreeSet;

use crate::Version;
use crate::event::Member;
use talisman_observe::mutations::mutated;

/// The root's part.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Root {
    running: Option<Running>,
    /// An image was wanted while one was under way.
    wanted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Running {
    version: Version,
    /// Members that have not said what has become of their parts.
    missing: BTreeSet<Member>,
    wrong: Option<String>,
}

/// How an image ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Committed(Version),
    GivenUp(Version, String),
}

impl Root {
    /// An image is wanted; whether it begins now.
    pub(super) fn want(&mut self, version: Version, members: u32) -> bool {
        if self.running.is_some() {
            self.wanted = true;
            return false;
        }
        self.wanted = false;
        self.running = Some(Running { version, missing: (0..members).collect(), wrong: None });
        true
    }

    /// Whether another one is to begin.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted && self.running.is_none()
    }

    /// A member says what has become of its part.
    pub(super) fn on_safe(&mut self, from: Member, version: Version, kept: Result<(), String>) {
        let Some(running) = self.running.as_mut().filter(|running| running.version == version) else {
            return;
        };
        running.missing.remove(&from);
        if mutated("commit-before-all-are-safe") {
            running.missing.clear();
        }
        if let Err(wrong) = kept {
            running.wrong.get_or_insert(wrong);
        }
    }

    /// The end of the image under way, if all have said how it went.
    pub(super) fn end(&mut self) -> Option<End> {
        let done = self.running.take_if(|running| running.missing.is_empty())?;
        Some(match done.wrong.filter(|_| !mutated("refusal-not-heard")) {
            None => End::Committed(done.version),
            Some(wrong) => End::GivenUp(done.version, wrong),
        })
    }
}
