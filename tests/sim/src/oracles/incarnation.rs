//! Every object is at one place, and has one home; nobody else gets its messages, and none after its end.

use std::ops::Range;

use rustc_hash::FxHashMap;
use talisman::ids::{ObjId, PeId};
use talisman::witness::{Reduction, Seen};

use super::Oracle;

/// Knows where each object is.
#[derive(Clone, Default)]
pub struct Incarnation {
    objects: FxHashMap<ObjId, Object>,
    /// The job goes on from a cut: not all that was there then needs be made again yet.
    goes_on: bool,
}

#[derive(Clone, Copy, Debug)]
struct Object {
    /// Unknown when others may have to act for its former one.
    home: Option<PeId>,
    moves: u32,
    at: At,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Here(PeId),
    UnderWay {
        from: PeId,
        to: PeId,
    },
    Gone,
    /// Its node has died, or it was on its way from one that has.
    Lost,
    /// A checkpoint has it, and it is to be made again from that.
    Saved,
    /// It is to be made again on this PE, when a shared value is there without which it cannot be read.
    Awaited(PeId),
}

impl Incarnation {
    fn born(&mut self, id: ObjId, pe: PeId, home: PeId, moves: u32) -> Result<(), String> {
        let new = Object { home: Some(home), moves, at: At::Here(pe) };
        let Some(former) = self.objects.insert(id, new) else { return Ok(()) };
        is_home(id, &former, home)?;
        match former.at {
            At::Here(_) | At::UnderWay { .. } | At::Saved | At::Awaited(_) => {
                Err(format!("{id:?} is made on PE {pe}, and is {:?}", former.at))
            }
            // To be gone counts as a move, unless nobody ever heard of another place.
            At::Gone if moves > former.moves || moves == former.moves && moves == 0 => Ok(()),
            At::Gone => {
                Err(format!("{id:?} is made with {moves} moves, and the former had {}", former.moves))
            }
            At::Lost => Ok(()),
        }
    }

    fn awaited(&mut self, id: ObjId, pe: PeId) -> Result<(), String> {
        match self.objects.get_mut(&id) {
            Some(object) if object.at == At::Saved => object.at = At::Awaited(pe),
            Some(object) => return Err(format!("{id:?} is awaited on PE {pe}, and is {:?}", object.at)),
            None => return Err(format!("{id:?} is awaited on PE {pe}, and was not there at the cut")),
        }
        Ok(())
    }

    fn restored(&mut self, id: ObjId, pe: PeId, home: PeId) -> Result<(), String> {
        let Some(object) = self.objects.get_mut(&id) else {
            return Err(format!("{id:?} is made again on PE {pe}, and was not there at the cut"));
        };
        if object.at != At::Saved && object.at != At::Awaited(pe) {
            return Err(format!("{id:?} is made again on PE {pe}, and is {:?}", object.at));
        }
        (object.home, object.at) = (Some(home), At::Here(pe));
        Ok(())
    }

    /// The next cut has nothing of what is not made again by then, and whoever waits until all is quiet waits for that, too.
    fn all_are_back(&mut self) -> Result<(), String> {
        if !std::mem::take(&mut self.goes_on) {
            return Ok(());
        }
        match self.first(|at| matches!(at, At::Saved | At::Awaited(_))) {
            Some(id) => Err(format!("{id:?} was there at the cut, and is not made again yet")),
            None => Ok(()),
        }
    }

    fn first(&self, is: impl Fn(At) -> bool) -> Option<ObjId> {
        self.objects.iter().filter(|(_, object)| is(object.at)).map(|(id, _)| *id).min()
    }

    fn departed(&mut self, id: ObjId, pe: PeId, to: PeId, moves: u32) -> Result<(), String> {
        let object = self.on(id, pe, "leaves")?;
        if moves != object.moves + 1 {
            return Err(format!("{id:?} leaves PE {pe} with {moves} moves, and had {}", object.moves));
        }
        (object.moves, object.at) = (moves, At::UnderWay { from: pe, to });
        Ok(())
    }

    fn arrived(&mut self, id: ObjId, pe: PeId, home: PeId, moves: u32) -> Result<(), String> {
        let Some(object) = self.objects.get_mut(&id) else {
            return Err(format!("{id:?} arrives on PE {pe}, and was never made"));
        };
        is_home(id, object, home)?;
        let comes = matches!(object.at, At::UnderWay { to, .. } if to == pe) && object.moves == moves;
        if !comes && object.at != At::Lost {
            return Err(format!("{id:?} arrives on PE {pe} after {moves} moves, and is {object:?}"));
        }
        (object.moves, object.at) = (moves, At::Here(pe));
        Ok(())
    }

    fn removed(&mut self, id: ObjId, pe: PeId) -> Result<(), String> {
        // A member of a group whose PE is lost.
        if let Some(object) = self.objects.get_mut(&id).filter(|object| object.at == At::Saved) {
            object.at = At::Gone;
            return Ok(());
        }
        self.on(id, pe, "is removed")?.at = At::Gone;
        Ok(())
    }

    /// An object that does something on a PE: it has to be there.
    fn on(&mut self, id: ObjId, pe: PeId, does: &str) -> Result<&mut Object, String> {
        match self.objects.get_mut(&id) {
            Some(object) if object.at == At::Here(pe) => Ok(object),
            Some(object) => Err(format!("{id:?} {does} on PE {pe}, and is {:?}", object.at)),
            None => Err(format!("{id:?} {does} on PE {pe}, and was never made")),
        }
    }

    fn node_gone(&mut self, pes: &Range<PeId>) {
        for object in self.objects.values_mut() {
            let lost = match object.at {
                At::Here(pe) | At::Awaited(pe) => pes.contains(&pe),
                At::UnderWay { from, to } => pes.contains(&from) || pes.contains(&to),
                At::Gone | At::Lost | At::Saved => false,
            };
            if lost {
                object.at = At::Lost;
            }
        }
    }
}

fn is_home(id: ObjId, object: &Object, home: PeId) -> Result<(), String> {
    match object.home {
        Some(former) if former != home => {
            Err(format!("the home of {id:?} is PE {home}, and was PE {former}"))
        }
        _ => Ok(()),
    }
}

impl Oracle for Incarnation {
    fn name(&self) -> &'static str {
        "incarnation"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        match *seen {
            Seen::Born { object, pe, home, moves, .. } => self.born(object, pe, home, moves),
            Seen::Departed { object, pe, to, moves } => self.departed(object, pe, to, moves),
            Seen::Arrived { object, pe, home, moves, .. } => self.arrived(object, pe, home, moves),
            Seen::Removed { object, pe } => self.removed(object, pe),
            Seen::Delivered { object: Some(object), pe, .. } => {
                self.on(object, pe, "gets a message").map(drop)
            }
            Seen::Received { object, pe, .. } => self.on(object, pe, "receives a broadcast").map(drop),
            Seen::Contributed { object, pe, reduction: Reduction::All(_) | Reduction::Section(..) } => {
                self.on(object, pe, "contributes").map(drop)
            }
            Seen::Awaited { object, pe } => self.awaited(object, pe),
            Seen::Restored { object, pe, home } => self.restored(object, pe, home),
            Seen::Captured { .. } | Seen::Quiet => self.all_are_back(),
            Seen::NodeGone { ref pes } => {
                self.node_gone(pes);
                Ok(())
            }
            // What it did since has to be told anew.
            Seen::RolledBack { .. } => {
                self.objects.values_mut().for_each(|object| object.at = At::Lost);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn go_back(&mut self) {
        // News of those that are gone are not under way any more, so that the next of their names begins anew.
        self.objects.retain(|_, object| object.at != At::Gone);
        for object in self.objects.values_mut() {
            (object.home, object.at) = (None, At::Saved);
        }
        self.goes_on = true;
    }

    fn end(&mut self, ended_well: bool) -> Result<(), String> {
        // The program may have been over but for one message: nobody waits for what is awaited then.
        match self.first(|at| at == At::Saved) {
            Some(id) if ended_well => Err(format!("{id:?} was there at the cut, and was not made again")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{born, delivered, element, finds, tell};
    use super::*;

    fn departs(pe: PeId, to: PeId, moves: u32) -> Seen {
        Seen::Departed { object: element(5), pe, to, moves }
    }

    fn arrives(pe: PeId, moves: u32) -> Seen {
        Seen::Arrived { object: element(5), pe, home: 0, moves, passed: 0 }
    }

    fn removed(pe: PeId) -> Seen {
        Seen::Removed { object: element(5), pe }
    }

    fn born_again(home: PeId, moves: u32) -> Seen {
        Seen::Born { object: element(5), pe: 3, home, moves, reduction: 0, broadcast: 0, late: false }
    }

    #[test]
    fn objects_are_made_and_move_and_go_and_are_made_again() {
        let story = [
            born(5, 0),
            delivered(1, 0, 5),
            departs(0, 1, 1),
            arrives(1, 1),
            delivered(2, 1, 5),
            removed(1),
            born_again(0, 2),
            delivered(3, 3, 5),
        ];
        assert_eq!(tell(&mut Incarnation::default(), &story), Ok(()));
    }

    #[test]
    fn there_is_one_of_each_name() {
        finds(Incarnation::default(), &[born(5, 0), born(5, 1)], "is made on PE 1, and is Here(0)");
        finds(Incarnation::default(), &[born(5, 0), departs(0, 1, 1), born(5, 1)], "UnderWay");
        let twice = [born(5, 0), departs(0, 1, 1), arrives(1, 1), arrives(1, 1)];
        finds(Incarnation::default(), &twice, "arrives on PE 1");
        finds(Incarnation::default(), &[arrives(1, 1)], "never made");
    }

    #[test]
    fn who_is_elsewhere_or_gone_gets_nothing() {
        finds(Incarnation::default(), &[born(5, 0), delivered(1, 1, 5)], "gets a message on PE 1");
        finds(Incarnation::default(), &[born(5, 0), departs(0, 1, 1), delivered(1, 0, 5)], "UnderWay");
        finds(Incarnation::default(), &[born(5, 0), removed(0), delivered(1, 0, 5)], "Gone");
        let late = Seen::Received { object: element(5), pe: 0, number: 3 };
        finds(Incarnation::default(), &[born(5, 0), removed(0), late], "Gone");
    }

    #[test]
    fn moves_are_counted_on_and_the_home_stays() {
        finds(Incarnation::default(), &[born(5, 0), departs(0, 1, 2)], "with 2 moves");
        let former = [born(5, 0), departs(0, 1, 1), arrives(1, 1), removed(1)];
        let then = |last| former.iter().cloned().chain([last]).collect::<Vec<_>>();
        finds(Incarnation::default(), &then(born_again(0, 1)), "with 1 moves");
        finds(Incarnation::default(), &then(born_again(2, 2)), "the home");
    }

    #[test]
    fn what_a_checkpoint_has_is_made_again_once() {
        let back = || {
            let mut oracle = Incarnation::default();
            tell(&mut oracle, &[born(5, 0), departs(0, 1, 1), arrives(1, 1)]).expect("right so far");
            oracle.go_back();
            oracle
        };
        let again = |pe| Seen::Restored { object: element(5), pe, home: 2 };
        assert_eq!(tell(&mut back(), &[again(3), delivered(1, 3, 5), departs(3, 1, 2)]), Ok(()));
        finds(back(), &[again(3), again(0)], "and is Here(3)");
        finds(back(), &[delivered(1, 1, 5)], "Saved");
        finds(back(), &[Seen::Restored { object: element(6), pe: 0, home: 0 }], "not there at the cut");
        assert!(back().end(true).is_err() && back().end(false).is_ok());
    }

    #[test]
    fn what_waits_for_a_shared_value_is_made_again_before_the_next_cut_unless_the_job_ends() {
        let awaiting = || {
            let mut oracle = Incarnation::default();
            tell(&mut oracle, &[born(5, 0)]).expect("right so far");
            oracle.go_back();
            tell(&mut oracle, &[Seen::Awaited { object: element(5), pe: 3 }]).expect("it was there");
            oracle
        };
        let again = |pe| Seen::Restored { object: element(5), pe, home: 2 };
        let cut = Seen::Captured { pe: 0, version: 2 };
        assert_eq!(awaiting().end(true), Ok(()));
        assert_eq!(tell(&mut awaiting(), &[again(3), delivered(1, 3, 5), cut.clone(), Seen::Quiet]), Ok(()));
        finds(awaiting(), &[again(2)], "Awaited(3)");
        finds(awaiting(), &[delivered(1, 3, 5)], "Awaited(3)");
        finds(awaiting(), &[born(5, 3)], "Awaited(3)");
        finds(awaiting(), &[cut], "is not made again yet");
        finds(awaiting(), &[Seen::Quiet], "is not made again yet");
        let elsewhere = Seen::Awaited { object: element(6), pe: 3 };
        finds(awaiting(), &[elsewhere], "not there at the cut");
    }

    #[test]
    fn what_a_node_had_is_lost_with_it_and_may_be_made_again() {
        let gone = Seen::NodeGone { pes: 0..1 };
        finds(Incarnation::default(), &[born(5, 0), gone.clone(), delivered(1, 0, 5)], "Lost");
        assert_eq!(tell(&mut Incarnation::default(), &[born(5, 0), gone, born(5, 1)]), Ok(()));
    }
}
