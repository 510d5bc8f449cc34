//! What a part of a version has in it, so that it can be said what is lost with it.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// Collections that are named in a message.
const NAMED_MAX: usize = 12;

/// How many objects of which collections there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// By what a collection is called.
    pub of: BTreeMap<String, u64>,
    /// Of collections that nobody has told apart.
    pub others: u64,
}

impl Contents {
    /// All of them.
    #[must_use]
    pub fn objects(&self) -> u64 {
        self.of.values().fold(self.others, |sum, count| sum.saturating_add(*count))
    }

    /// With those of another part.
    pub fn add(&mut self, other: &Contents) {
        for (name, count) in &other.of {
            let sum = self.of.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.others = self.others.saturating_add(other.others);
    }
}

impl Display for Contents {
    /// `12 objects: 8 of array Block, 3 of group Clock and 1 of others`: the largest collections first.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut largest: Vec<(&str, u64)> = self.of.iter().map(|(name, count)| (&name[..], *count)).collect();
        largest.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let unnamed = largest.split_off(largest.len().min(NAMED_MAX));
        let others = unnamed.iter().fold(self.others, |sum, (_, count)| sum.saturating_add(*count));
        largest.extend((others > 0).then_some(("others", others)));
        let texts: Vec<String> = largest.iter().map(|(name, count)| format!("{count} of {name}")).collect();
        f.write_str(&in_words(self.objects()))?;
        match texts.split_last() {
            None => Ok(()),
            Some((one, [])) => write!(f, ": {one}"),
            Some((last, before)) => write!(f, ": {} and {last}", before.join(", ")),
        }
    }
}

/// `1 object`, `7 objects`.
#[must_use]
pub fn in_words(objects: u64) -> String {
    if objects == 1 { "1 object".to_owned() } else { format!("{objects} objects") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(of: &[(&str, u64)], others: u64) -> Contents {
        Contents { of: of.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(), others }
    }

    #[test]
    fn the_largest_collections_are_named_first() {
        let texts = [
            contents(&[], 0),
            contents(&[("array Block", 1)], 0),
            contents(&[("array Block", 3), ("group Clock", 8)], 0),
            contents(&[("array Block", 3), ("group Clock", 8)], 5),
        ];
        assert_eq!(
            texts.map(|contents| contents.to_string()),
            [
                "0 objects",
                "1 object: 1 of array Block",
                "11 objects: 8 of group Clock and 3 of array Block",
                "16 objects: 8 of group Clock, 3 of array Block and 5 of others",
            ]
        );
    }

    #[test]
    fn a_message_names_a_dozen_and_counts_all() {
        let of = (0..20).map(|number| (format!("array C{number:02}"), 20 - number)).collect();
        let text = Contents { of, others: 1 }.to_string();
        assert!(text.starts_with("211 objects: 20 of array C00, 19 of array C01, "), "{text}");
        assert!(text.ends_with(", 9 of array C11 and 37 of others"), "{text}");
    }

    #[test]
    fn parts_are_added_up_by_name() {
        let mut sum = contents(&[("array Block", 3), ("group Clock", 1)], 2);
        sum.add(&contents(&[("array Block", 4), ("single Main", 1)], 1));
        assert_eq!(sum, contents(&[("array Block", 7), ("group Clock", 1), ("single Main", 1)], 3));
        assert_eq!(sum.objects(), 12);
    }
}
