//! Every element receives every broadcast to its collection once, in the order of their numbers however it moves, and
//! every member every multicast to its section.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use talisman::ids::{CollectionId, ObjId, SectionId};
use talisman::witness::Seen;

use super::Oracle;

/// Counts what each element has received.
#[derive(Clone, Default)]
pub struct Broadcasts {
    drained: bool,
    /// Broadcasts to each collection.
    numbered: FxHashMap<CollectionId, u32>,
    elements: FxHashMap<ObjId, Receiver>,
    /// Multicasts to each section.
    multicasts: FxHashMap<SectionId, u32>,
    /// Those that have not reached all members: how many there are, and who was reached.
    open: BTreeMap<(SectionId, u32), (usize, FxHashSet<ObjId>)>,
    /// A node has died or gone back.
    blind: bool,
}

/// What an element receives next.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Receiver {
    next: u32,
    /// Broadcasts that had passed its PE when it came there: it has them all before it leaves.
    passed: u32,
}

impl Broadcasts {
    /// `drained`: at a good end everybody has received everything.
    pub fn new(drained: bool) -> Self {
        Broadcasts { drained, ..Broadcasts::default() }
    }

    fn numbered(&mut self, collection: CollectionId, number: u32) -> Result<(), String> {
        count_on(self.numbered.entry(collection).or_default(), number, || {
            format!("a broadcast to {collection:?}")
        })
    }

    fn received(&mut self, id: ObjId, number: u32) -> Result<(), String> {
        if number >= self.numbered.get(&id.collection).copied().unwrap_or(0) {
            return Err(format!("{id:?} receives broadcast {number}, which was never sent"));
        }
        let receiver = self
            .elements
            .get_mut(&id)
            .ok_or_else(|| format!("{id:?} receives broadcast {number}, and is gone"))?;
        if number != receiver.next {
            return Err(format!("{id:?} receives broadcast {number}, and its next is {}", receiver.next));
        }
        receiver.next += 1;
        Ok(())
    }

    fn departed(&self, id: ObjId) -> Result<(), String> {
        match self.elements.get(&id) {
            Some(receiver) if receiver.next < receiver.passed => {
                Err(format!("{id:?} leaves before it has received what it missed: {receiver:?}"))
            }
            _ => Ok(()),
        }
    }

    fn multicast(&mut self, section: SectionId, number: u32, members: usize) -> Result<(), String> {
        if members > 0 {
            self.open.insert((section, number), (members, FxHashSet::default()));
        }
        count_on(self.multicasts.entry(section).or_default(), number, || {
            format!("a multicast to {section:?}")
        })
    }

    fn reached(&mut self, id: ObjId, section: SectionId, number: u32) -> Result<(), String> {
        let key = (section, number);
        let what = |what| format!("multicast {number} to {section:?} reaches {id:?}, {what}");
        let (members, reached) =
            self.open.get_mut(&key).ok_or_else(|| what("and has reached all, or was never sent"))?;
        if !reached.insert(id) {
            return Err(what("and has done so before"));
        }
        if reached.len() == *members {
            self.open.remove(&key);
        }
        Ok(())
    }

    /// An element that has not received all, the first in order of names.
    fn behind(&self) -> Option<(ObjId, Receiver)> {
        let behind = self.elements.iter().filter(|(id, receiver)| {
            let all = self.numbered.get(&id.collection).copied().unwrap_or(0);
            receiver.next != all
        });
        behind.map(|(id, receiver)| (*id, *receiver)).min_by_key(|(id, _)| *id)
    }
}

/// Numbers are given one after the other.
fn count_on(next: &mut u32, number: u32, what: impl FnOnce() -> String) -> Result<(), String> {
    if number != *next {
        return Err(format!("{} has number {number}, and {next} was next", what()));
    }
    *next += 1;
    Ok(())
}

impl Oracle for Broadcasts {
    fn name(&self) -> &'static str {
        "broadcasts"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        if self.blind {
            return Ok(());
        }
        match *seen {
            Seen::Numbered { collection, number } => return self.numbered(collection, number),
            Seen::Received { object, number, .. } => return self.received(object, number),
            Seen::Multicast { section, number, members } => return self.multicast(section, number, members),
            Seen::Reached { object, section, number, .. } => return self.reached(object, section, number),
            Seen::Born { object, broadcast, .. } => {
                self.elements.insert(object, Receiver { next: broadcast, passed: 0 });
            }
            Seen::Departed { object, .. } => return self.departed(object),
            Seen::Arrived { object, passed, .. } => {
                self.elements.get_mut(&object).into_iter().for_each(|receiver| receiver.passed = passed);
            }
            Seen::Removed { object, .. } => drop(self.elements.remove(&object)),
            Seen::NodeGone { .. } | Seen::RolledBack { .. } => {
                *self = Broadcasts { blind: true, ..Broadcasts::default() };
            }
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn end(&mut self, ended_well: bool) -> Result<(), String> {
        if !ended_well || !self.drained {
            return Ok(());
        }
        if let Some((id, receiver)) = self.behind() {
            return Err(format!("{id:?} has not received all broadcasts: {receiver:?}"));
        }
        match self.open.first_key_value() {
            Some(((section, number), (members, reached))) => Err(format!(
                "multicast {number} to {section:?} has reached {} of {members} members",
                reached.len()
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use talisman::witness::section;

    use super::super::told::{born, element, finds, tell};
    use super::*;

    fn numbered(number: u32) -> Seen {
        Seen::Numbered { collection: element(0).collection, number }
    }

    fn received(index: u128, number: u32) -> Seen {
        Seen::Received { object: element(index), pe: 0, number }
    }

    fn moves(passed: u32) -> [Seen; 2] {
        let object = element(5);
        [
            Seen::Departed { object, pe: 0, to: 1, moves: 1 },
            Seen::Arrived { object, pe: 1, home: 0, moves: 1, passed },
        ]
    }

    /// Three broadcasts to an element that exists.
    fn three(more: &[Seen]) -> Vec<Seen> {
        [born(5, 0), numbered(0), numbered(1), numbered(2)].into_iter().chain(more.iter().cloned()).collect()
    }

    #[test]
    fn everybody_receives_everything() {
        let mut oracle = Broadcasts::new(true);
        tell(&mut oracle, &three(&[received(5, 0), received(5, 1)])).expect("right");
        assert!(oracle.end(true).is_err_and(|what| what.contains("has not received all")));
        tell(&mut oracle, &[received(5, 2)]).expect("right");
        assert_eq!(oracle.end(true), Ok(()));
    }

    #[test]
    fn nothing_comes_twice_or_before_another_or_from_nowhere() {
        finds(Broadcasts::new(true), &three(&[received(5, 0), received(5, 0)]), "receives broadcast 0");
        finds(Broadcasts::new(true), &three(&[received(5, 1)]), "receives broadcast 1");
        finds(Broadcasts::new(true), &[born(5, 0), received(5, 0)], "never sent");
        finds(Broadcasts::new(true), &three(&[received(6, 0)]), "is gone");
        finds(Broadcasts::new(true), &three(&[numbered(2)]), "3 was next");
    }

    #[test]
    fn who_moves_gets_what_it_missed_before_the_others() {
        let [leaves, comes] = moves(2);
        let story = three(&[leaves, comes, received(5, 0), received(5, 1), received(5, 2)]);
        let mut oracle = Broadcasts::new(true);
        assert_eq!(tell(&mut oracle, &story).and_then(|()| oracle.end(true)), Ok(()));
        let [leaves, comes] = moves(2);
        finds(Broadcasts::new(true), &three(&[leaves, comes, received(5, 2)]), "receives broadcast 2");
        let [leaves, comes] = moves(2);
        finds(
            Broadcasts::new(true),
            &three(&[leaves.clone(), comes, received(5, 0), leaves]),
            "leaves before",
        );
    }

    #[test]
    fn a_multicast_reaches_all_members_once() {
        let part = section(0, 3);
        let cast = Seen::Multicast { section: part, number: 0, members: 2 };
        let reached = |index| Seen::Reached { object: element(index), pe: 0, section: part, number: 0 };
        let mut oracle = Broadcasts::new(true);
        tell(&mut oracle, &[cast.clone(), reached(1)]).expect("right");
        assert!(oracle.end(true).is_err_and(|what| what.contains("1 of 2")));
        tell(&mut oracle, &[reached(2)]).expect("right");
        assert_eq!(oracle.end(true), Ok(()));
        finds(Broadcasts::new(true), &[cast.clone(), reached(1), reached(1)], "done so before");
        finds(Broadcasts::new(true), &[cast, reached(1), reached(2), reached(3)], "has reached all");
    }
}
