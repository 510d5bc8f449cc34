//! How much messages may have, and how far counts go: each limit once, for whoever makes bytes and for whoever reads them.
//!
//! Whoever reads bytes of another node needs bounds. A bound that only the reader has is a trap: what was sent off, or kept in a
//! checkpoint that counts, is refused when it comes. So each is held against what is *made*, and the job ends there by name
//! (`refusal.rs` of the runtime). Those of single values are in [`pup::limits`](crate::pup::limits).

use std::fmt;
use std::time::Duration;

/// A peer that has not proved itself by then never will; a node that is alive takes a thousandth of this.
pub const DIAL_DEADLINE: Duration = Duration::from_secs(5);

/// Most bytes of one message's head on a link. Packed bytes travel beside it, as a segment, where they are more than
/// `wire::BESIDE_MIN`.
pub const HEAD_MAX: usize = 1 << 30;
/// Most segments of one message: of as many, the shortest have 4 TiB. Its table has 16 bytes for each, and comes before memory is taken for
/// any.
pub const SEGMENTS_MAX: usize = 1 << 28;
/// Most bytes of all segments of one message: all that a process has addresses for.
pub const SEGMENT_BYTES_MAX: u64 = 1 << 47;

/// Ticks of load: ten years.
pub const LOAD_MAX: u64 = 1 << 60;
/// Collections that a PE may hear of before an earlier one of the same creator, which waits for a shared value: a table has a place for each.
/// As many announcements that wait as well would take gigabytes.
pub const AHEAD_MAX: u32 = 1 << 24;

/// Something that is counted, and sent to other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// What, in the plural.
    pub what: &'static str,
    /// Every count is below this. Counts only grow, so that a bound far below their ends keeps every sum from overflowing.
    pub most: u32,
    /// What a program does about it.
    pub advice: &'static str,
}

const ANEW: &str = "go on with a new collection before that";

/// Moves are packed into 30 bits beside a place.
pub const MOVES: Count = Count { what: "moves", most: (1 << 30) - 1, advice: ANEW };
/// Reductions that an element has contributed to.
pub const REDUCTIONS: Count = Count { what: "reductions", most: 1 << 31, advice: ANEW };
/// Broadcasts to a collection.
pub const BROADCASTS: Count = Count { what: "broadcasts", most: 1 << 31, advice: ANEW };
/// Multicasts to a section.
pub const MULTICASTS: Count =
    Count { what: "multicasts", most: 1 << 31, advice: "make a new section before that" };
/// Messages from one object to another of a collection that is ordered.
pub const ORDERED: Count = Count { what: "ordered messages", most: 1 << 31, advice: ANEW };
/// Elements that an element inserts between two of its contributions.
pub const BORN: Count =
    Count { what: "elements inserted", most: 1 << 31, advice: "contribute to a reduction now and then" };
/// Insertions that a PE asks the root of a collection for.
pub const INSERTIONS: Count = Count { what: "insertions", most: 1 << 31, advice: ANEW };
/// Looks at the load, which the runtime takes.
pub const LOOKS: Count = Count { what: "looks at the load", most: 1 << 31, advice: "give a longer period" };
/// Steps of load balancing.
pub const STEPS: Count = Count { what: "balancing steps", most: 1 << 31, advice: "give a longer period" };

impl Count {
    /// One more; none if that is too many.
    #[inline]
    pub fn next(self, count: u32) -> Option<u32> {
        count.checked_add(1).filter(|next| *next < self.most)
    }

    /// Whether a count that comes from elsewhere can be one.
    ///
    /// # Errors
    /// In words, if it cannot.
    pub fn check(self, count: u32) -> Result<(), String> {
        if count < self.most { Ok(()) } else { Err(format!("{self}, and this is {count}")) }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there may be {} {} at most", self.most - 1, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_taken_up_to_the_last_one() {
        let all = [MOVES, REDUCTIONS, BROADCASTS, MULTICASTS, ORDERED, BORN, INSERTIONS, LOOKS, STEPS];
        for count in all {
            assert_eq!((count.check(0), count.next(0)), (Ok(()), Some(1)), "{count}");
            let last = count.next(count.most - 2).expect("within the limit");
            assert_eq!((count.check(last), count.next(last)), (Ok(()), None), "{count}");
            assert!(count.check(count.most).is_err() && count.next(u32::MAX).is_none(), "{count}");
        }
    }
}
