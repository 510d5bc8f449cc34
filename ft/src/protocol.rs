//! A protocol: what happened goes in, what is to be done comes out. Each is a folder and a row in [`PROTOCOLS`].
//!
//! Images have the same life in all of them: a *cut* is made ([`Action::Freeze`], of all members or of one node),
//! parts are *captured*, *copied* to their keepers,
//! *safe* when these say so, and then *committed* or given up ([`Action::Commit`], [`Action::Abort`]). What differs
//! is who cuts together, what is kept beside images, and who goes back after a loss.

use crate::action::Action;
use crate::event::Event;

/// One machine of a protocol: of a member, or of the job.
pub trait Protocol {
    /// Something has happened.
    #[must_use]
    fn on_event(&mut self, event: Event) -> Vec<Action>;
}

/// Who makes a cut together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All nodes of the job.
    Job,
    /// Each node alone.
    Node,
}

/// What `--ft` chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// As users write it.
    pub name: &'static str,
    /// After a colon: the first is what is meant if there is none.
    pub variants: &'static [&'static str],
    /// Who makes a cut together.
    pub images: Scope,
    /// Who goes back after a loss: nodes that are lost alone, or all.
    pub goes_back: Scope,
    /// Whether nodes keep what they have sent, and what they were given.
    pub logs: bool,
}

/// All protocols that there are.
pub const PROTOCOLS: &[Row] = &[
    Row { name: "double", variants: &[""], images: Scope::Job, goes_back: Scope::Job, logs: false },
    Row { name: "disk", variants: &[""], images: Scope::Job, goes_back: Scope::Job, logs: false },
    Row {
        name: "logging",
        variants: &["default", "strict", "ticket"],
        images: Scope::Node,
        goes_back: Scope::Node,
        logs: true,
    },
];

/// The row of this name, and which of its variants is meant by `name:variant`.
#[must_use]
pub fn find(written: &str) -> Option<(&'static Row, &'static str)> {
    let (name, variant) = written.split_once(':').unwrap_or((written, ""));
    let row = PROTOCOLS.iter().find(|row| row.name == name)?;
    let variant = if variant.is_empty() {
        row.variants[0]
    } else {
        row.variants.iter().find(|one| **one == variant)?
    };
    Some((row, variant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_found_by_what_users_write() {
        let of = |written| find(written).map(|(row, variant)| (row.name, variant));
        assert_eq!(of("double"), Some(("double", "")));
        assert_eq!(of("logging"), Some(("logging", "default")));
        assert_eq!(of("logging:strict"), Some(("logging", "strict")));
        assert_eq!((of("logging:x"), of("loging"), of("double:strict")), (None, None, None));
    }
}
