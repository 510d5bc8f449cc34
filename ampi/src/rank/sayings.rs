//! What ranks say to the outside, each in its order.
//!
//! A rank says it on the PE where it is, and goes on on another one. So it numbers what it says, and all goes to one
//! place, which brings it in order again.

use std::collections::BTreeMap;

use talisman_pup::Pup;

/// Something that a rank says.
#[derive(Debug, PartialEq, Eq, Pup)]
pub enum Said {
    /// Lines of the program's output.
    Lines(String),
    /// Lines of its standard error.
    Errors(String),
    /// The job ends with this exit status, for this reason.
    End {
        /// The exit status.
        status: u8,
        /// Why.
        why: String,
    },
}

/// What has come of all ranks.
#[derive(Debug, Default, Pup)]
pub(super) struct Sayings {
    /// The number of what comes next of a rank.
    next: BTreeMap<u32, u64>,
    /// What has come before what the same rank has said earlier.
    early: BTreeMap<(u32, u64), Said>,
    /// How much was given on.
    given: u64,
}

impl Sayings {
    /// A rank has said this, after `number` others. Gives what it is the turn of now.
    pub fn take(&mut self, rank: u32, number: u64, said: Said) -> Vec<Said> {
        self.early.insert((rank, number), said);
        let next = self.next.entry(rank).or_default();
        let mut due = Vec::new();
        while let Some(said) = self.early.remove(&(rank, *next)) {
            due.push(said);
            *next += 1;
        }
        self.given += due.len() as u64;
        due
    }

    /// How much was given on, of all ranks.
    pub fn given(&self) -> u64 {
        self.given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_is_heard_in_its_order() {
        let mut sayings = Sayings::default();
        let lines = |text: &str| Said::Lines(text.into());
        assert_eq!(sayings.take(3, 1, lines("second")), []);
        assert_eq!(sayings.take(4, 0, lines("other")), [lines("other")]);
        assert_eq!(sayings.take(3, 2, Said::End { status: 5, why: "third".into() }), []);
        assert_eq!(sayings.given(), 1);
        let all = sayings.take(3, 0, lines("first"));
        assert_eq!(all, [lines("first"), lines("second"), Said::End { status: 5, why: "third".into() }]);
        assert_eq!(sayings.given(), 4);
    }
}
