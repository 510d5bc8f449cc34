//! Where parts of a checkpoint are taken nothing is on its way, and each part has every message that waits on its PE.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use talisman::ids::PeId;
use talisman::witness::{Kind, Seen, Until};

use super::Oracle;

/// Follows messages, and looks where they are at each cut.
#[derive(Clone, Default)]
pub struct Cut {
    open: FxHashMap<u64, Message>,
    /// The PE that takes its part, and messages that it has not put into it.
    taking: Option<(PeId, BTreeSet<u64>)>,
}

#[derive(Clone, Copy)]
struct Message {
    at: At,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    On(PeId),
    UnderWay(PeId, PeId),
    /// With its object, or whoever restores it.
    Elsewhere,
}

impl Cut {
    fn is(&mut self, message: u64, at: At) {
        if let Some(open) = self.open.get_mut(&message) {
            open.at = at;
        }
    }

    fn begins(&mut self, pe: PeId) -> Result<(), String> {
        let under_way = |(number, message): (&u64, &Message)| match message.at {
            At::UnderWay(from, to) if message.kind != Kind::Runtime { counted: false } => {
                Some((*number, from, to))
            }
            _ => None,
        };
        if let Some((number, from, to)) = self.open.iter().filter_map(under_way).min() {
            return Err(format!(
                "PE {pe} takes its part while message {number} is on its way from PE {from} to {to}"
            ));
        }
        let here =
            self.open.iter().filter(|(_, message)| message.at == At::On(pe) && message.kind.is_saved());
        self.taking = Some((pe, here.map(|(number, _)| *number).collect()));
        Ok(())
    }

    fn saves(&mut self, message: u64, pe: PeId) -> Result<(), String> {
        let Some((taking, missing)) = self.taking.as_mut() else { return Ok(()) };
        let is_known = self.open.get(&message).is_some_and(|message| message.kind.is_saved());
        if *taking == pe && is_known && !missing.remove(&message) {
            return Err(format!("message {message} is in the part of PE {pe}, and is not there"));
        }
        Ok(())
    }

    fn has_taken(&mut self) -> Result<(), String> {
        match self.taking.take().and_then(|(pe, missing)| Some((pe, *missing.first()?))) {
            None => Ok(()),
            Some((pe, first)) => Err(format!("message {first} is on PE {pe}, and not in its part")),
        }
    }
}

trait Saved {
    /// Whether a part has every message of this kind that waits for an object. Markers ask again after a restart.
    fn is_saved(&self) -> bool;
}

impl Saved for Kind {
    fn is_saved(&self) -> bool {
        matches!(self, Kind::Entry | Kind::Birth | Kind::Reply)
    }
}

impl Oracle for Cut {
    fn name(&self) -> &'static str {
        "cut"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        if let Seen::Saved { message, pe } = *seen {
            return self.saves(message, pe);
        }
        self.has_taken()?;
        match *seen {
            Seen::Captured { pe, .. } => return self.begins(pe),
            Seen::Sent { message, pe, kind, .. } => {
                self.open.insert(message, Message { at: At::On(pe), kind });
            }
            Seen::Kept { message, until: Until::Turn, .. } => self.is(message, At::Elsewhere),
            Seen::Queued { message, pe } | Seen::Taken { message, pe } | Seen::Kept { message, pe, .. } => {
                self.is(message, At::On(pe));
            }
            Seen::Left { message, pe, to } => self.is(message, At::UnderWay(pe, to)),
            Seen::Delivered { message, .. } | Seen::Dropped { message, .. } => {
                self.open.remove(&message);
            }
            Seen::NodeGone { ref pes } => self.open.retain(|_, message| match message.at {
                At::On(pe) => !pes.contains(&pe),
                At::UnderWay(from, to) => !pes.contains(&from) && !pes.contains(&to),
                At::Elsewhere => true,
            }),
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn go_back(&mut self) {
        self.taking = None;
        self.open.retain(|_, message| message.kind.is_saved());
        self.open.values_mut().for_each(|message| message.at = At::Elsewhere);
    }

    fn end(&mut self, _: bool) -> Result<(), String> {
        self.has_taken()
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{delivered, finds, sent, tell};
    use super::*;

    const CAPTURED: Seen = Seen::Captured { pe: 1, version: 1 };
    const SAVED: Seen = Seen::Saved { message: 1, pe: 1 };

    fn waits() -> [Seen; 3] {
        [sent(1, 0, 5, 6), Seen::Left { message: 1, pe: 0, to: 1 }, Seen::Taken { message: 1, pe: 1 }]
    }

    #[test]
    fn what_is_on_its_way_is_in_no_part() {
        let [sent, left, _] = waits();
        finds(Cut::default(), &[sent, left, CAPTURED], "message 1 is on its way from PE 0 to 1");
    }

    #[test]
    fn what_waits_is_in_the_part_of_its_pe() {
        let story = [waits().as_slice(), &[CAPTURED, SAVED, Seen::Quiet]].concat();
        assert_eq!(tell(&mut Cut::default(), &story), Ok(()));
        let without = [waits().as_slice(), &[CAPTURED, Seen::Quiet]].concat();
        finds(Cut::default(), &without, "message 1 is on PE 1, and not in its part");
        let twice = [waits().as_slice(), &[CAPTURED, SAVED, SAVED]].concat();
        finds(Cut::default(), &twice, "is not there");
        let over = [waits().as_slice(), &[delivered(1, 1, 6), CAPTURED, Seen::Quiet]].concat();
        assert_eq!(tell(&mut Cut::default(), &over), Ok(()));
    }
}
