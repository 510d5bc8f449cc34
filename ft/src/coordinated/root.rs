//! What the root knows of the image under way.

use crate::Version;
use talisman_observe::mutations::mutated;

/// The root's part.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Root {
    running: Option<Running>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Running {
    version: Version,
    /// Words that have not been heard of what has become of parts.
    missing: u32,
    wrong: Option<String>,
}

/// How an image ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Committed(Version),
    GivenUp(Version, String),
}

impl Root {
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// An image begins. So many words are to be heard before it is safe.
    pub(super) fn begin(&mut self, version: Version, words: u32) {
        self.running = Some(Running { version, missing: words, wrong: None });
    }

    /// A word of what has become of a part.
    pub(super) fn on_safe(&mut self, version: Version, kept: Result<(), String>) {
        let Some(running) = self.running.as_mut().filter(|running| running.version == version) else {
            return;
        };
        running.missing = match mutated("committed-before-all-are-safe") {
            true => 0,
            false => running.missing.saturating_sub(1),
        };
        if let Err(wrong) = kept {
            running.wrong.get_or_insert(wrong);
        }
    }

    /// Whether it is known that the image under way cannot be kept.
    pub(super) fn is_refused(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.wrong.is_some())
    }

    /// The end of the image under way, if all have said how it went.
    pub(super) fn end(&mut self) -> Option<End> {
        let done = self.running.take_if(|running| running.missing == 0)?;
        Some(match done.wrong.filter(|_| !mutated("refusal-not-heard")) {
            None => End::Committed(done.version),
            Some(wrong) => End::GivenUp(done.version, wrong),
        })
    }
}
