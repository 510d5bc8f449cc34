//! There are never more messages than the workload can explain, and none is made by a PE that has ended.

use rustc_hash::{FxHashMap, FxHashSet};
use talisman::ids::PeId;
use talisman::witness::Seen;

use super::{Expected, Oracle};

/// Counts messages: all, those in each queue, those that are kept.
#[derive(Clone, Default)]
pub struct Bounds {
    expected: Expected,
    open: FxHashMap<u64, At>,
    queued: FxHashMap<PeId, usize>,
    kept: usize,
    ended: FxHashSet<PeId>,
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    UnderWay,
    Queued(PeId),
    Kept,
}

impl Bounds {
    /// With the bounds that the workload states.
    pub fn new(expected: Expected) -> Self {
        Bounds { expected, ..Bounds::default() }
    }

    fn sent(&mut self, message: u64, pe: PeId) -> Result<(), String> {
        if self.ended.contains(&pe) {
            return Err(format!("message {message} is made on PE {pe}, which has ended"));
        }
        self.open.insert(message, At::UnderWay);
        check("there are", self.open.len(), self.expected.messages_max, "messages")
    }

    fn is_over(&mut self, message: u64) {
        if let Some(at) = self.open.remove(&message) {
            self.leave(at);
        }
    }

    fn goes(&mut self, message: u64, to: At) -> Result<(), String> {
        let Some(at) = self.open.get_mut(&message) else { return Ok(()) };
        let before = std::mem::replace(at, to);
        self.leave(before);
        match to {
            At::UnderWay => Ok(()),
            At::Queued(pe) => {
                let queued = self.queued.entry(pe).or_default();
                *queued += 1;
                check(&format!("in the queue of PE {pe} are"), *queued, self.expected.queued_max, "messages")
            }
            At::Kept => {
                self.kept += 1;
                check("there are", self.kept, self.expected.kept_max, "messages that wait for something")
            }
        }
    }

    fn leave(&mut self, at: At) {
        match at {
            At::UnderWay => {}
            At::Queued(pe) => *self.queued.entry(pe).or_default() -= 1,
            At::Kept => self.kept -= 1,
        }
    }
}

fn check(there_are: &str, count: usize, max: usize, what: &str) -> Result<(), String> {
    if count <= max {
        Ok(())
    } else {
        Err(format!("{there_are} {count} {what}, which should be {max} at most"))
    }
}

impl Oracle for Bounds {
    fn name(&self) -> &'static str {
        "bounds"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        match *seen {
            Seen::Sent { message, pe, .. } => return self.sent(message, pe),
            Seen::Queued { message, pe } => return self.goes(message, At::Queued(pe)),
            Seen::Left { message, .. } => return self.goes(message, At::UnderWay),
            Seen::Kept { message, .. } => return self.goes(message, At::Kept),
            Seen::Delivered { message, .. } | Seen::Dropped { message, .. } => self.is_over(message),
            Seen::Ended { pe, .. } => drop(self.ended.insert(pe)),
            Seen::WentOn { pe, unsent, most } if unsent > most => {
                return Err(format!(
                    "a sender on PE {pe} goes on with {unsent} bytes unsent, at most {most} may be"
                ));
            }
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        Box::new(self.clone())
    }

    fn go_back(&mut self) {
        // Whoever saved a message brings it, and has it in a queue or keeps it then.
        self.open.values_mut().for_each(|at| *at = At::UnderWay);
        self.queued.clear();
        self.kept = 0;
    }

    fn end(&mut self, _: bool) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use talisman::witness::Until;

    use super::super::told::{delivered, finds, sent, tell};
    use super::*;

    #[test]
    fn senders_wait_for_room() {
        let story = [40, 41].map(|unsent| Seen::WentOn { pe: 1, unsent, most: 40 });
        finds(of_two(), &story, "goes on with 41 bytes unsent");
    }

    fn of_two() -> Bounds {
        Bounds::new(Expected { drained: true, messages_max: 2, queued_max: 1, kept_max: 1 })
    }

    fn queued(message: u64, pe: PeId) -> Seen {
        Seen::Queued { message, pe }
    }

    fn kept(message: u64) -> Seen {
        Seen::Kept { message, pe: 0, until: Until::Element }
    }

    #[test]
    fn as_many_as_were_stated_are_right() {
        let story = [
            sent(1, 0, 5, 6),
            sent(2, 0, 5, 6),
            queued(1, 0),
            kept(2),
            delivered(1, 0, 6),
            queued(2, 0),
            sent(3, 0, 5, 6),
            kept(3),
            queued(3, 1),
            Seen::Ended { pe: 0, objects: 0, messages: 0 },
            sent(2, 1, 5, 6),
        ];
        assert_eq!(tell(&mut of_two(), &story), Ok(()));
    }

    #[test]
    fn one_more_is_too_many() {
        let two = [sent(1, 0, 5, 6), sent(2, 0, 5, 6)];
        let then = |more: &[Seen]| two.iter().chain(more).cloned().collect::<Vec<_>>();
        finds(of_two(), &then(&[sent(3, 0, 5, 6)]), "there are 3 messages");
        finds(of_two(), &then(&[queued(1, 0), queued(2, 0)]), "in the queue of PE 0 are 2");
        finds(of_two(), &then(&[kept(1), kept(2)]), "2 messages that wait");
    }

    #[test]
    fn who_has_ended_sends_nothing() {
        let story = [Seen::Ended { pe: 0, objects: 0, messages: 0 }, sent(1, 0, 5, 6)];
        finds(of_two(), &story, "which has ended");
    }
}
