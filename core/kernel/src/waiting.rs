//! What a running entry waits for: the first thing to know when nothing moves any more.

use std::borrow::Cow;
use std::fmt;

use talisman_pup::Pup;

/// One place where an object waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The async entry.
    pub entry: &'static str,
    /// What for: an entry, or an answer.
    pub what: String,
    /// The source file where it waits.
    pub file: Cow<'static, str>,
    /// Its line there.
    pub line: u32,
    /// What is said instead where it can be set beside what other objects say.
    pub note: Option<Note>,
}

/// What an object says of its waiting that makes sense beside what others say of theirs.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Note {
    /// The name of the [`Explainer`] that reads it.
    pub explainer: String,
    /// What only that one knows.
    pub content: Vec<u8>,
}

/// Makes lines for people of the notes of all objects of a job. `inventory::submit!` makes one known to every process
/// from its start.
#[derive(Debug)]
pub struct Explainer {
    /// By which notes name it.
    pub name: &'static str,
    /// Reads the notes, in any order; those that cannot be read are passed over. The most important lines come first.
    pub explain: fn(Vec<Vec<u8>>) -> Vec<String>,
}

inventory::collect!(Explainer);

/// The lines that explainers make of notes. Notes that nobody knows have none.
pub fn explained(notes: Vec<Note>) -> Vec<String> {
    let mut lines = Vec::new();
    for explainer in inventory::iter::<Explainer>() {
        let own = notes.iter().filter(|note| note.explainer == explainer.name);
        let contents: Vec<Vec<u8>> = own.map(|note| note.content.clone()).collect();
        if !contents.is_empty() {
            lines.extend((explainer.explain)(contents));
        }
    }
    lines
}

impl Waiting {
    /// The entry waits for `what` in this line.
    pub fn new(entry: &'static str, what: &str, file: impl Into<Cow<'static, str>>, line: u32) -> Self {
        Waiting { entry, what: what.into(), file: file.into(), line, note: None }
    }

    /// Explained with what others say, instead of what is said here.
    #[must_use]
    pub fn with_note(self, explainer: &str, content: Vec<u8>) -> Self {
        Waiting { note: Some(Note { explainer: explainer.into(), content }), ..self }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits for {} ({}:{})", self.entry, self.what, self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    inventory::submit! {
        Explainer { name: "of this test", explain: |notes| vec![format!("{} notes", notes.len())] }
    }

    #[test]
    fn notes_of_one_kind_are_explained_together() {
        let note = |explainer: &str| {
            Waiting::new("run", "", "", 0).with_note(explainer, vec![1]).note.expect("it has one")
        };
        assert_eq!(explained(vec![note("of this test"), note("unknown"), note("of this test")]), ["2 notes"]);
        assert_eq!(explained(vec![note("unknown")]), [""; 0]);
    }

    #[test]
    fn reads_as_a_sentence() {
        let waiting = Waiting::new("run", "`ghost`", "src/main.rs", 7);
        assert_eq!(waiting.to_string(), "run waits for `ghost` (src/main.rs:7)");
    }
}
