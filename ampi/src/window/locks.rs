//! Who has a window locked, and who waits for that (MPI-4.1, 12.5.3).

use std::collections::{BTreeMap, VecDeque};

use talisman_pup::Pup;

use crate::engine::{Rank, Tag};

/// A lock that is held or wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
struct Wanted {
    by: Rank,
    is_exclusive: bool,
    answer: Option<Tag>,
}

/// A rank that has a lock now, and the tag of the answer that it wants to that.
pub type Granted = (Rank, Option<Tag>);

/// The lock of one window, at the rank whose memory it is. Those who wait get it in the order in which they have asked: who wants it for
/// itself is not overtaken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Lock {
    /// Who has it, and whether for itself.
    holders: BTreeMap<Rank, bool>,
    waiting: VecDeque<Wanted>,
}

impl Lock {
    /// A rank wants it. Who has it now.
    pub fn ask(&mut self, by: Rank, is_exclusive: bool, answer: Option<Tag>) -> Vec<Granted> {
        self.waiting.push_back(Wanted { by, is_exclusive, answer });
        self.grant()
    }

    /// A rank gives it back. Who has it now.
    pub fn give_back(&mut self, by: Rank) -> Vec<Granted> {
        self.holders.remove(&by);
        self.grant()
    }

    /// Whether a rank waits for it.
    pub fn is_awaited_by(&self, rank: Rank) -> bool {
        self.waiting.iter().any(|wanted| wanted.by == rank)
    }

    /// Takes it for a rank at once, if nobody is in its way and nobody waits. Whether it has it.
    pub fn take(&mut self, by: Rank, is_exclusive: bool) -> bool {
        let is_free = self.waiting.is_empty() && self.admits(is_exclusive);
        if is_free {
            self.holders.insert(by, is_exclusive);
        }
        is_free
    }

    /// Gives it back for a rank that has it, if nobody waits for that. Whether it is given back.
    pub fn put_back(&mut self, by: Rank) -> bool {
        self.waiting.is_empty() && self.holders.remove(&by).is_some()
    }

    /// Whether a rank has it.
    pub fn is_held_by(&self, rank: Rank) -> bool {
        self.holders.contains_key(&rank)
    }

    fn admits(&self, is_exclusive: bool) -> bool {
        self.holders.is_empty() || !is_exclusive && self.holders.values().all(|is_exclusive| !is_exclusive)
    }

    /// Whether nobody has it, and nobody waits.
    pub fn is_free(&self) -> bool {
        self.holders.is_empty() && self.waiting.is_empty()
    }

    fn grant(&mut self) -> Vec<Granted> {
        let mut granted = Vec::new();
        while let Some(next) = self.waiting.front().copied() {
            if !self.admits(next.is_exclusive) {
                break;
            }
            self.waiting.pop_front();
            self.holders.insert(next.by, next.is_exclusive);
            granted.push((next.by, next.answer));
        }
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_share_it_or_one_has_it() {
        let mut lock = Lock::default();
        assert_eq!(lock.ask(1, false, Some(10)), [(1, Some(10))]);
        assert_eq!(lock.ask(2, false, None), [(2, None)]);
        assert_eq!(lock.ask(3, true, Some(30)), []);
        assert_eq!(lock.ask(4, false, Some(40)), [], "who came first is not overtaken");
        assert_eq!(lock.ask(5, false, Some(50)), []);
        assert!(!lock.is_awaited_by(2) && lock.is_awaited_by(3) && lock.is_awaited_by(5));
        assert_eq!(lock.give_back(1), []);
        assert_eq!(lock.give_back(2), [(3, Some(30))]);
        assert_eq!(lock.ask(1, true, None), []);
        assert_eq!(lock.give_back(3), [(4, Some(40)), (5, Some(50))]);
        assert_eq!(lock.give_back(4), []);
        assert_eq!(lock.give_back(5), [(1, None)]);
        assert!(!lock.is_free());
        assert_eq!(lock.give_back(1), []);
        assert!(lock.is_free());
    }

    #[test]
    fn it_is_taken_at_once_if_nobody_is_in_the_way() {
        let mut lock = Lock::default();
        assert!(lock.take(1, false) && lock.take(2, false));
        assert!(!lock.take(3, true) && !lock.is_held_by(3), "it is shared");
        assert_eq!(lock.ask(4, true, Some(40)), []);
        assert!(!lock.take(5, false), "one waits who is not overtaken");
        assert!(!lock.put_back(1) && lock.is_held_by(1), "who waits is to be told");
        assert_eq!(lock.give_back(1), []);
        assert_eq!(lock.give_back(2), [(4, Some(40))]);
        assert!(!lock.take(5, false) && !lock.put_back(5));
        assert!(lock.put_back(4) && lock.is_free());
        assert!(lock.take(5, true) && lock.is_held_by(5));
    }
}
