//! What a strategy decides.

use crate::snapshot::{Key, Snapshot};
use talisman_pup::Pup;

/// An object goes to another PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Move {
    /// Its number in the snapshot.
    pub object: u32,
    /// Where it goes.
    pub to: u32,
}

/// Who goes where; whoever is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Plan {
    /// Each object once at most.
    pub moves: Vec<Move>,
}

impl Plan {
    /// The plan after which every object is on the PE given for it, by its number in the snapshot. What does not move is left out.
    pub fn to_places(snapshot: &Snapshot, places: &[u32]) -> Self {
        let numbered = (0..).zip(snapshot.objects.iter().zip(places));
        let moves = numbered.filter(|(_, (object, to))| object.pe != **to);
        Plan { moves: moves.map(|(object, (_, &to))| Move { object, to }).collect() }
    }

    /// Where every object is after it, by its number in the snapshot.
    pub fn places(&self, snapshot: &Snapshot) -> Vec<u32> {
        let mut places: Vec<u32> = snapshot.objects.iter().map(|object| object.pe).collect();
        for moved in &self.moves {
            if let Some(place) = places.get_mut(moved.object as usize) {
                *place = moved.to;
            }
        }
        places
    }

    /// Whether it can be carried out.
    ///
    /// # Errors
    /// The first entry that makes no sense.
    pub fn check(&self, snapshot: &Snapshot) -> Result<(), Nonsense> {
        let mut named = vec![false; snapshot.objects.len()];
        for (entry, moved) in self.moves.iter().enumerate() {
            self.check_entry(entry, moved, snapshot)?;
            if std::mem::replace(&mut named[moved.object as usize], true) {
                return Err(self.twice(entry, moved, snapshot));
            }
        }
        Ok(())
    }

    fn check_entry(&self, entry: usize, moved: &Move, snapshot: &Snapshot) -> Result<(), Nonsense> {
        let Move { object, to } = *moved;
        let Some(known) = snapshot.objects.get(object as usize) else {
            return Err(Nonsense::UnknownObject { entry, object, objects: snapshot.objects.len() });
        };
        let key = known.key;
        match snapshot.pes.get(to as usize) {
            None => Err(Nonsense::UnknownPe { entry, key, to, pes: snapshot.pes.len() }),
            Some(pe) if !pe.available => Err(Nonsense::NotAvailable { entry, key, to }),
            Some(_) if !known.migratable => Err(Nonsense::NotMigratable { entry, key, to }),
            Some(_) => Ok(()),
        }
    }

    fn twice(&self, entry: usize, moved: &Move, snapshot: &Snapshot) -> Nonsense {
        let first = self.moves.iter().position(|earlier| earlier.object == moved.object);
        let key = snapshot.objects[moved.object as usize].key;
        Nonsense::Twice { entry, key, first: first.unwrap_or(entry) }
    }
}

/// What is wrong with a plan. Entries are numbers in [`Plan::moves`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Nonsense {
    /// An object that is not in the snapshot.
    #[error("entry {entry} of the plan moves object number {object}; there are {objects}")]
    UnknownObject {
        /// The entry.
        entry: usize,
        /// What it says.
        object: u32,
        /// Objects in the snapshot.
        objects: usize,
    },
    /// A PE that is not in the snapshot.
    #[error("entry {entry} of the plan moves {key} to PE {to}; there are {pes} PEs")]
    UnknownPe {
        /// The entry.
        entry: usize,
        /// The object that it moves.
        key: Key,
        /// What it says.
        to: u32,
        /// PEs in the snapshot.
        pes: usize,
    },
    /// A PE that takes no objects.
    #[error("entry {entry} of the plan moves {key} to PE {to}, which takes no objects")]
    NotAvailable {
        /// The entry.
        entry: usize,
        /// The object that it moves.
        key: Key,
        /// What it says.
        to: u32,
    },
    /// An object that must stay.
    #[error("entry {entry} of the plan moves {key} to PE {to}, but that object is not migratable")]
    NotMigratable {
        /// The entry.
        entry: usize,
        /// The object that it moves.
        key: Key,
        /// Where to.
        to: u32,
    },
    /// An object that an earlier entry moves.
    #[error("entry {entry} of the plan moves {key}, which entry {first} moves already")]
    Twice {
        /// The entry.
        entry: usize,
        /// The object.
        key: Key,
        /// The entry before it.
        first: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    fn check(moves: &[(u32, u32)]) -> Result<(), String> {
        let mut snapshot = line(4, &[(0, 1.0), (0, 1.0), (0, 1.0)]);
        snapshot.pes[3].available = false;
        snapshot.objects[2].migratable = false;
        let plan = Plan { moves: moves.iter().map(|&(object, to)| Move { object, to }).collect() };
        plan.check(&snapshot).map_err(|nonsense| nonsense.to_string())
    }

    #[test]
    fn what_makes_sense_passes() {
        assert_eq!(check(&[(1, 2), (0, 0)]), Ok(()));
    }

    #[test]
    fn what_makes_none_is_named_with_its_entry() {
        let said = |moves: &[(u32, u32)]| check(moves).unwrap_err();
        assert_eq!(said(&[(0, 1), (3, 1)]), "entry 1 of the plan moves object number 3; there are 3");
        assert_eq!(
            said(&[(1, 4)]),
            "entry 0 of the plan moves object 1 of collection 1 to PE 4; there are 4 PEs"
        );
        assert_eq!(
            said(&[(1, 3)]),
            "entry 0 of the plan moves object 1 of collection 1 to PE 3, which takes no objects"
        );
        assert_eq!(
            said(&[(2, 1)]),
            "entry 0 of the plan moves object 2 of collection 1 to PE 1, but that object is not migratable"
        );
        assert_eq!(
            said(&[(0, 1), (1, 1), (1, 2)]),
            "entry 2 of the plan moves object 1 of collection 1, which entry 1 moves already"
        );
    }

    #[test]
    fn places_and_moves_say_the_same() {
        let snapshot = line(4, &[(0, 1.0), (1, 1.0), (2, 1.0)]);
        let plan = Plan::to_places(&snapshot, &[0, 3, 1]);
        assert_eq!(plan.moves, [Move { object: 1, to: 3 }, Move { object: 2, to: 1 }]);
        assert_eq!(plan.places(&snapshot), [0, 3, 1]);
        let nonsense = Plan { moves: vec![Move { object: 9, to: 1 }] };
        assert_eq!(nonsense.places(&snapshot), [0, 1, 2]);
    }
}
