//! Lines that are written on disks. Nothing depends on these: it is another way back, for a job of which everything is lost.
//!
//! One is written at a time. What was written before stays until all parts of it are there.

use std::collections::BTreeSet;

use talisman_ft::Version;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// What is known of the line that is written.
#[derive(Debug, Default)]
pub struct Writing(Option<Line>);

#[derive(Debug)]
struct Line {
    version: Version,
    /// Nodes that have not said how it went.
    missing: BTreeSet<u32>,
    /// Why some part is not there.
    wrong: Option<String>,
    /// How many wait for it.
    asked: usize,
    /// How much had been printed when it began.
    said: u64,
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Which line.
    pub version: Version,
    /// Why it is not there, if it is not.
    pub wrong: Option<String>,
    /// How many have waited for it.
    pub asked: usize,
    /// How much had been printed when it began.
    pub said: u64,
}

impl Writing {
    /// The line that is written, if any is.
    pub fn line(&self) -> Option<Version> {
        self.0.as_ref().map(|line| line.version)
    }

    /// This one is to be, which has just begun, when so much had been printed; by these nodes; so many wait for it. Whether it is: none as
    /// long as another is.
    pub fn begin(
        &mut self,
        (version, said): (Version, u64),
        nodes: impl IntoIterator<Item = u32>,
        asked: usize,
    ) -> bool {
        if self.0.is_some() {
            sometimes("a line began while the disks had not written the one before it");
            return false;
        }
        self.0 = Some(Line { version, missing: nodes.into_iter().collect(), wrong: None, asked, said });
        true
    }

    /// A node has another process, which is live, in this line: it has to write what that which is lost had, and may have written. Whether it is to
    /// be told to.
    pub fn on_live(&mut self, node: u32) -> Option<Version> {
        let line = self.0.as_mut()?;
        line.missing.insert(node);
        Some(line.version)
    }

    /// A node has written what it has of a line, or why not. What came of all, when that is known.
    pub fn on_written(&mut self, node: u32, version: Version, wrong: Option<String>) -> Option<Written> {
        let line = self.0.as_mut().filter(|line| line.version == version)?;
        line.missing.remove(&node);
        line.wrong = line.wrong.take().or(wrong);
        let is_over = line.missing.is_empty() || mutated("line-is-written-when-one-has");
        let Line { version, wrong, asked, said, .. } = self.0.take_if(|_| is_over)?;
        Some(Written { version, wrong, asked, said })
    }

    /// A node is lost: what it has written may be with it.
    pub fn on_lost(&mut self, node: u32) {
        if let Some(line) = self.0.as_mut() {
            sometimes("a node was lost while its line was written");
            line.missing.insert(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_written_when_all_have_written_it() {
        let mut writing = Writing::default();
        assert!(writing.begin((3, 9), 0..2, 1));
        assert!(!writing.begin((4, 9), 0..2, 0), "one at a time");
        assert_eq!(writing.on_written(0, 3, None), None);
        assert_eq!(writing.on_written(1, 4, None), None, "of another line");
        assert_eq!(
            writing.on_written(1, 3, None),
            Some(Written { version: 3, wrong: None, asked: 1, said: 9 })
        );
        assert_eq!(writing.line(), None);
    }

    #[test]
    fn whoever_is_lost_meanwhile_writes_it_again() {
        let mut writing = Writing::default();
        assert!(writing.begin((3, 9), 0..2, 0));
        writing.on_written(1, 3, None);
        writing.on_lost(1);
        assert_eq!(writing.on_written(0, 3, None), None);
        assert_eq!(writing.on_live(1), Some(3));
        let wrong = Some("it is full".to_owned());
        assert_eq!(
            writing.on_written(1, 3, wrong.clone()),
            Some(Written { version: 3, wrong, asked: 0, said: 9 })
        );
    }
}
