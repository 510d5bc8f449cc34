//! Every message is delivered once, or given up for a reason that may be one.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use talisman::ids::PeId;
use talisman::witness::{Kind, Seen, Until, Why};

use super::{Oracle, are_apart};

/// Follows each message from PE to PE, from the first to the last.
#[derive(Clone, Default)]
pub struct Delivery {
    drained: bool,
    last: u64,
    open: FxHashMap<u64, Message>,
    /// The lowest number of a message that was given up at the end of the job, and was needed.
    given_up: Option<u64>,
    dead: Vec<Range<PeId>>,
    /// PEs that go on from a cut, and have had no turn yet.
    restoring: FxHashSet<PeId>,
}

#[derive(Clone)]
struct Message {
    at: At,
    kind: Kind,
    /// A node that it came from or went to has died.
    may_be_lost: bool,
    /// The runtime says it as it goes on from a cut: where objects are now, for example. A program that had nothing left to wait for at that
    /// cut may be over before that is delivered; whoever waits until all is quiet once more waits for this, too.
    of_going_on: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Made(PeId),
    Queued(PeId),
    UnderWay {
        from: PeId,
        to: PeId,
    },
    Taken(PeId),
    Kept(PeId),
    /// With its object, which may be anywhere.
    WithObject,
    /// With whoever restores it.
    Saved,
}

impl Delivery {
    /// `drained`: at a good end nothing is undelivered.
    pub fn new(drained: bool) -> Self {
        Delivery { drained, ..Delivery::default() }
    }

    fn sent(&mut self, message: u64, pe: PeId, kind: Kind) -> Result<(), String> {
        if message <= self.last {
            return Err(format!("message {message} is made after message {}", self.last));
        }
        self.last = message;
        // Nobody can have run an entry there, which might have sent it.
        let of_going_on = matches!(kind, Kind::Runtime { .. }) && self.restoring.contains(&pe);
        self.open.insert(message, Message { at: At::Made(pe), kind, may_be_lost: false, of_going_on });
        Ok(())
    }

    /// A message that is on this PE goes on there.
    fn go_on(&mut self, message: u64, pe: PeId, to: At) -> Result<(), String> {
        let found = self.open.get_mut(&message).ok_or_else(|| nowhere(message, pe, to))?;
        if !found.at.is_on(pe) {
            return Err(format!("message {message} is {:?}, and then {to:?} on PE {pe}", found.at));
        }
        found.at = to;
        Ok(())
    }

    fn taken(&mut self, message: u64, pe: PeId) -> Result<(), String> {
        let at = At::Taken(pe);
        let found = self.open.get_mut(&message).ok_or_else(|| nowhere(message, pe, at))?;
        if !matches!(found.at, At::UnderWay { to, .. } if to == pe) && found.at != At::Saved {
            return Err(format!("message {message} comes to PE {pe}, and is {:?}", found.at));
        }
        found.at = at;
        Ok(())
    }

    fn delivered(&mut self, message: u64, pe: PeId) -> Result<(), String> {
        let Some(found) = self.open.remove(&message) else {
            return Err(format!("message {message} is delivered on PE {pe}, and is over or was never made"));
        };
        match found.at {
            At::Queued(at) | At::Taken(at) if at == pe => Ok(()),
            // The home of an object that is nowhere answers at once.
            at if found.kind == Kind::Marker && at.is_on(pe) => Ok(()),
            // What a PE says to itself about a checkpoint.
            At::Made(at) if found.kind == (Kind::Runtime { counted: false }) && at == pe => Ok(()),
            at => Err(format!("message {message} is delivered on PE {pe}, and is {at:?}")),
        }
    }

    fn dropped(&mut self, message: u64, pe: PeId, why: Why) -> Result<(), String> {
        let Some(found) = self.open.remove(&message) else {
            // What a dead node had is lost already.
            let is_dead = self.dead.iter().any(|pes| pes.contains(&pe));
            let what = format!("message {message} is given up on PE {pe}, and is over or was never made");
            return if is_dead { Ok(()) } else { Err(what) };
        };
        match why {
            Why::Over => {
                if found.is_needed() {
                    self.given_up = Some(self.given_up.unwrap_or(message).min(message));
                }
                Ok(())
            }
            Why::NobodyWaits if found.kind == Kind::Reply => Ok(()),
            Why::OfLost if found.at == At::Saved => Ok(()),
            Why::Destroyed => Ok(()),
            Why::NobodyWaits | Why::OfLost | Why::Refused => {
                Err(format!("message {message}, {:?}, is given up on PE {pe}: {why:?}", found.kind))
            }
        }
    }

    fn node_gone(&mut self, pes: &Range<PeId>) {
        self.open.retain(|_, message| {
            let from = matches!(message.at, At::UnderWay { from, .. } if pes.contains(&from));
            message.may_be_lost |= from || message.at == At::WithObject;
            !message.at.is_within(pes)
        });
        self.dead.push(pes.clone());
    }
}

impl Message {
    /// Whether it counts as undelivered if the job ends before.
    fn is_needed(&self) -> bool {
        !self.may_be_lost && !self.of_going_on && self.kind != Kind::Runtime { counted: false }
    }
}

impl At {
    fn is_on(self, pe: PeId) -> bool {
        match self {
            At::Made(at) | At::Queued(at) | At::Taken(at) | At::Kept(at) => at == pe,
            At::WithObject | At::Saved => true,
            At::UnderWay { .. } => false,
        }
    }

    fn is_within(self, pes: &Range<PeId>) -> bool {
        match self {
            At::Made(at) | At::Queued(at) | At::Taken(at) | At::Kept(at) => pes.contains(&at),
            At::UnderWay { to, .. } => pes.contains(&to),
            At::WithObject | At::Saved => false,
        }
    }
}

fn nowhere(message: u64, pe: PeId, at: At) -> String {
    format!("message {message} is {at:?} on PE {pe}, and is over or was never made")
}

impl Oracle for Delivery {
    fn name(&self) -> &'static str {
        "delivery"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        match *seen {
            Seen::Sent { message, pe, kind, .. } => self.sent(message, pe, kind),
            Seen::Queued { message, pe } => self.go_on(message, pe, At::Queued(pe)),
            Seen::Left { message, pe, to } => self.go_on(message, pe, At::UnderWay { from: pe, to }),
            Seen::Kept { message, pe, until: Until::Turn } => self.go_on(message, pe, At::WithObject),
            Seen::Kept { message, pe, .. } => self.go_on(message, pe, At::Kept(pe)),
            Seen::Taken { message, pe } => self.taken(message, pe),
            Seen::Delivered { message, pe, .. } => self.delivered(message, pe),
            Seen::Dropped { message, pe, why } => self.dropped(message, pe, why),
            Seen::NodeGone { ref pes } => {
                self.node_gone(pes);
                Ok(())
            }
            // Another process is the node now.
            Seen::Begun { ref pes, .. } => {
                self.dead.retain(|dead| are_apart(dead, pes));
                self.restoring.extend(pes.clone());
                Ok(())
            }
            Seen::StartedAgain { ref pes, .. } => {
                self.dead.clear();
                self.restoring.extend(pes.clone());
                Ok(())
            }
            Seen::Turn { pe } => {
                self.restoring.remove(&pe);
                Ok(())
            }
            Seen::Quiet => {
                self.open.values_mut().for_each(|message| message.of_going_on = false);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn go_back(&mut self) {
        // A cut has no message of the runtime to itself, and what the program had asked of PEs is asked again.
        self.open.retain(|_, message| !matches!(message.kind, Kind::Runtime { .. } | Kind::Marker));
        self.open.values_mut().for_each(|message| message.at = At::Saved);
        self.restoring.clear();
    }

    fn end(&mut self, ended_well: bool) -> Result<(), String> {
        if !ended_well || !self.drained {
            return Ok(());
        }
        let left = self.open.iter().filter(|(_, message)| message.is_needed());
        match left.map(|(number, _)| *number).chain(self.given_up).min() {
            None => Ok(()),
            Some(first) => Err(format!("message {first}, at least, was never delivered")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{delivered, finds, sent, tell, told};
    use super::*;

    fn under_way() -> Vec<Seen> {
        vec![sent(1, 0, 5, 6), Seen::Left { message: 1, pe: 0, to: 1 }]
    }

    fn with(mut story: Vec<Seen>, more: &[Seen]) -> Vec<Seen> {
        story.extend_from_slice(more);
        story
    }

    #[test]
    fn a_message_on_its_way_to_its_receiver_is_right() {
        let story = with(
            under_way(),
            &[
                Seen::Taken { message: 1, pe: 1 },
                Seen::Kept { message: 1, pe: 1, until: Until::Place },
                Seen::Left { message: 1, pe: 1, to: 2 },
                Seen::Taken { message: 1, pe: 2 },
                Seen::Queued { message: 1, pe: 2 },
                delivered(1, 2, 6),
            ],
        );
        let mut oracle = Delivery::new(true);
        assert_eq!(tell(&mut oracle, &story).and_then(|()| oracle.end(true)), Ok(()));
    }

    #[test]
    fn a_message_comes_once_and_where_it_was_sent() {
        let taken = Seen::Taken { message: 1, pe: 1 };
        finds(Delivery::new(true), &with(under_way(), &[taken.clone(), taken]), "comes to PE 1");
        let astray = Seen::Taken { message: 1, pe: 2 };
        finds(Delivery::new(true), &with(under_way(), &[astray]), "comes to PE 2");
    }

    #[test]
    fn a_message_is_delivered_once_and_where_it_is() {
        let here = [sent(1, 0, 5, 6), Seen::Queued { message: 1, pe: 0 }];
        let twice = [delivered(1, 0, 6), delivered(1, 0, 6)];
        finds(Delivery::new(true), &with(here.to_vec(), &twice), "is over");
        finds(Delivery::new(true), &with(here.to_vec(), &[delivered(1, 3, 6)]), "Queued(0)");
        finds(Delivery::new(true), &with(under_way(), &[delivered(1, 1, 6)]), "UnderWay");
        finds(Delivery::new(true), &[delivered(1, 1, 6)], "never made");
    }

    #[test]
    fn what_is_lost_is_missed_at_a_good_end_only() {
        for (drained, well, missed) in [(true, true, true), (true, false, false), (false, true, false)] {
            let mut oracle = Delivery::new(drained);
            tell(&mut oracle, &under_way()).expect("right so far");
            assert_eq!(oracle.end(well).is_err(), missed, "{drained} {well}");
        }
    }

    #[test]
    fn what_the_runtime_says_as_it_goes_on_may_come_too_late_for_the_end() {
        let back = [
            Seen::Begun { epoch: 1, version: Some(1), pes: 0..2, life: 0 },
            Seen::StartedAgain { version: 1, epoch: 0, pes: 0..2 },
        ];
        let (places, turn) = (told(1, 0), Seen::Turn { pe: 0 });
        let over = Seen::Dropped { message: 1, pe: 0, why: Why::Over };
        for back in back {
            for (story, missed) in [
                (vec![places.clone()], false),
                (vec![places.clone(), turn.clone(), over.clone()], false),
                (vec![turn.clone(), places.clone()], true),
                (vec![Seen::Turn { pe: 1 }, places.clone()], false),
                (vec![sent(1, 0, 5, 6)], true),
                (vec![places.clone(), Seen::Quiet], true),
                (vec![places.clone(), Seen::Quiet, over.clone()], true),
            ] {
                let mut oracle = Delivery::new(true);
                tell(&mut oracle, &[vec![back.clone()], story.clone()].concat()).expect("right so far");
                assert_eq!(oracle.end(true).is_err(), missed, "{back:?}, {story:?}");
            }
        }
        let mut oracle = Delivery::new(true);
        tell(&mut oracle, &[places]).expect("right so far");
        assert!(oracle.end(true).is_err(), "nobody has gone back");
    }

    #[test]
    fn a_needed_message_is_not_given_up_before_the_end() {
        let drop = |why| Seen::Dropped { message: 1, pe: 0, why };
        finds(Delivery::new(true), &[told(1, 0), drop(Why::NobodyWaits)], "NobodyWaits");
        finds(Delivery::new(true), &[sent(1, 0, 5, 6), drop(Why::Refused)], "Refused");
        let mut oracle = Delivery::new(true);
        tell(&mut oracle, &[sent(1, 0, 5, 6), drop(Why::Over)]).expect("the job is over");
        assert!(oracle.end(true).is_err());
    }

    #[test]
    fn what_a_dead_node_had_is_lost_with_it() {
        let mut oracle = Delivery::new(true);
        let dies = Seen::NodeGone { pes: 1..2 };
        let drop = Seen::Dropped { message: 1, pe: 1, why: Why::Over };
        tell(&mut oracle, &with(under_way(), &[dies.clone(), drop])).expect("lost");
        tell(&mut oracle, &[sent(2, 1, 5, 6), Seen::Left { message: 2, pe: 1, to: 0 }, dies]).expect("lost");
        tell(&mut oracle, &[Seen::Taken { message: 2, pe: 0 }]).expect("it was written before");
        assert_eq!(oracle.end(true), Ok(()));
    }
}
