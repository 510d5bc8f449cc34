//! At the end all that was taken has been given back: the memory of objects, envelopes, slots, what was kept.

use std::ops::Range;

use rustc_hash::FxHashSet;
use talisman::ids::PeId;
use talisman::witness::Seen;

use super::Oracle;

/// Counts what is taken and given back.
#[derive(Clone, Default)]
pub struct Resources {
    /// Addresses of objects.
    objects: FxHashSet<usize>,
    /// All envelopes of nodes that are gone, and those that were free.
    envelopes: (usize, usize),
    /// PEs whose process was killed.
    dead: Vec<Range<PeId>>,
}

impl Oracle for Resources {
    fn name(&self) -> &'static str {
        "resources"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        match *seen {
            Seen::Allocated { at } if !self.objects.insert(at) => {
                return Err("memory is taken for two objects".into());
            }
            Seen::Freed { at } if !self.objects.remove(&at) => {
                return Err("the memory of an object is given back twice, or was never taken".into());
            }
            // What a process has when it is killed goes with it.
            Seen::NodeGone { ref pes } => self.dead.push(pes.clone()),
            Seen::Ended { pe, .. } if self.dead.iter().any(|pes| pes.contains(&pe)) => {}
            Seen::Ended { pe, objects, messages } if (objects, messages) != (0, 0) => {
                return Err(format!("PE {pe} ends with {objects} objects and {messages} messages"));
            }
            Seen::Envelopes { all, free } => {
                self.envelopes = (self.envelopes.0 + all, self.envelopes.1 + free);
            }
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn outlasts(&self) -> bool {
        true
    }

    fn end(&mut self, ended_well: bool) -> Result<(), String> {
        // Nobody frees what a process that was killed had in hand, on its way out of it for example.
        if !self.objects.is_empty() && self.dead.is_empty() {
            return Err(format!("{} objects were never freed", self.objects.len()));
        }
        // An entry that panics takes its envelope along, and so does a process that is killed with what it has in hand.
        match self.envelopes {
            (all, free) if all != free && ended_well && self.dead.is_empty() => {
                Err(format!("of {all} envelopes {free} were given back"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{finds, tell};
    use super::*;

    const TAKEN: Seen = Seen::Allocated { at: 64 };
    const FREED: Seen = Seen::Freed { at: 64 };

    #[test]
    fn all_that_was_taken_is_given_back() {
        let story = [
            TAKEN,
            FREED,
            TAKEN,
            FREED,
            Seen::Ended { pe: 0, objects: 0, messages: 0 },
            // A message may take its envelope to another node.
            Seen::Envelopes { all: 64, free: 60 },
            Seen::Envelopes { all: 64, free: 68 },
        ];
        let mut oracle = Resources::default();
        assert_eq!(tell(&mut oracle, &story).and_then(|()| oracle.end(true)), Ok(()));
    }

    #[test]
    fn memory_is_taken_and_given_back_in_turns() {
        finds(Resources::default(), &[TAKEN, TAKEN], "two objects");
        finds(Resources::default(), &[TAKEN, FREED, FREED], "twice");
    }

    #[test]
    fn who_is_killed_gives_nothing_back() {
        let gone = Seen::NodeGone { pes: 2..4 };
        let left = |pe| Seen::Ended { pe, objects: 0, messages: 2 };
        assert_eq!(tell(&mut Resources::default(), &[gone.clone(), left(2), left(3)]), Ok(()));
        finds(Resources::default(), &[gone.clone(), left(4)], "2 messages");
        let mut oracle = Resources::default();
        tell(&mut oracle, &[TAKEN, gone]).expect("right so far");
        assert_eq!(oracle.end(false), Ok(()));
    }

    #[test]
    fn what_is_left_is_found() {
        let mut oracle = Resources::default();
        tell(&mut oracle, &[TAKEN]).expect("right so far");
        assert_eq!(oracle.end(false), Err("1 objects were never freed".into()));
        finds(
            Resources::default(),
            &[Seen::Ended { pe: 3, objects: 1, messages: 2 }],
            "1 objects and 2 messages",
        );
        for (well, found) in [(true, true), (false, false)] {
            let mut oracle = Resources::default();
            tell(&mut oracle, &[Seen::Envelopes { all: 64, free: 63 }]).expect("right so far");
            assert_eq!(oracle.end(well).is_err(), found);
        }
    }
}
