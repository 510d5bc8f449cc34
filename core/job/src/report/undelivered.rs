//! Messages that nobody got.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Messages for an element that did not exist when the job ended, or that still waited for all elements of an array, and so never ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undelivered {
    /// For whom: chare and index, or only the chare where it is all elements. Empty, like the other texts, where there are too many to tell them one by one.
    pub to: String,
    /// The entry that was called.
    pub entry: String,
    /// Who called it, as far as that is known: chare and index, or the PE. Empty where it is not.
    pub from: String,
    /// Why nobody got them, unless it is that the element does not exist.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// How often.
    pub count: u64,
}

/// As a line for people.
impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Undelivered { to, entry, from, cause, count } = self;
        let messages = if *count == 1 { "message" } else { "messages" };
        if to.is_empty() {
            return write!(f, "{count} {messages} for further elements that do not exist");
        }
        if !cause.is_empty() {
            let quote = if entry.starts_with('(') { "" } else { "`" };
            return write!(
                f,
                "{count} {messages} for all elements of `{to}`: {quote}{entry}{quote}; {cause}"
            );
        }
        write!(f, "{count} {messages} for {to}, which does not exist: `{entry}`, called by {from}")
    }
}
