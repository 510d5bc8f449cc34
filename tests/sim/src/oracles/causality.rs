//! No effect before its cause: nothing is delivered that was not sent, nor that depends on what has not happened.
//!
//! Every PE has a vector clock: of each PE, how many messages delivered there it depends on. A message takes along the
//! clock of where it was sent. When a PE goes back, the messages that it got since have not happened; their numbers are
//! not used again. Who depends on them is an *orphan* until it has gone back too: it may go on meanwhile, since it cannot
//! know, but what it sends must not be delivered to others than orphans, and none may be left at a good end.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use talisman::ids::PeId;
use talisman::witness::Seen;

use super::{Oracle, are_apart};

/// Keeps the clocks of PEs and messages.
#[derive(Clone, Default)]
pub struct Causality {
    pes: BTreeMap<PeId, History>,
    open: FxHashMap<u64, Message>,
    /// Numbers of messages got that have not happened, by the PE that got them.
    undone: BTreeMap<PeId, Vec<Range<u64>>>,
    dead: Vec<Range<PeId>>,
}

#[derive(Clone)]
struct Message {
    clock: Clock,
    /// Sent by an orphan.
    orphan: bool,
}

/// By PE; those behind the end are zero. Shared by all that was sent between two receipts.
type Clock = Rc<[u64]>;

/// What a PE has got.
#[derive(Clone, Default)]
struct History {
    clock: Vec<u64>,
    /// The clock as messages take it along, until it changes.
    shared: Option<Clock>,
    got: Vec<Got>,
    /// How many were delivered before those, and the clock by then.
    before: (u64, Vec<u64>),
    orphan: bool,
}

/// A message that came: its clock, and its number if it was delivered.
#[derive(Clone)]
struct Got {
    clock: Clock,
    number: Option<u64>,
}

impl History {
    fn clock(&mut self) -> Clock {
        self.shared.get_or_insert_with(|| self.clock.as_slice().into()).clone()
    }

    fn merge(&mut self, clock: &Clock) {
        if self.shared.as_ref().is_some_and(|shared| Rc::ptr_eq(shared, clock)) {
            return;
        }
        if self.clock.len() < clock.len() {
            self.clock.resize(clock.len(), 0);
        }
        let pairs = self.clock.iter_mut().zip(clock.iter());
        pairs.for_each(|(mine, other)| *mine = (*mine).max(*other));
        self.shared = None;
    }

    fn take(&mut self, clock: Clock) {
        self.merge(&clock);
        self.got.push(Got { clock, number: None });
    }

    fn deliver(&mut self, pe: PeId, clock: Clock) {
        self.merge(&clock);
        let number = self.tick(pe);
        self.got.push(Got { clock, number: Some(number) });
    }

    /// The PE's own next number.
    fn tick(&mut self, pe: PeId) -> u64 {
        let place = pe as usize;
        self.clock.resize(self.clock.len().max(place + 1), 0);
        self.clock[place] += 1;
        self.shared = None;
        self.clock[place]
    }

    /// Keeps so many messages that were delivered; the numbers of the others.
    fn roll_back(&mut self, pe: PeId, to: u64) -> Range<u64> {
        // Going back has a number of its own, so that what is sent then is not taken for what was undone.
        let end = self.tick(pe);
        let mut delivered = self.before.0;
        let keeps = self.got.iter().position(|got| {
            delivered += u64::from(got.number.is_some());
            delivered > to
        });
        let first = keeps.and_then(|keeps| self.got[keeps].number).unwrap_or(end);
        self.got.truncate(keeps.unwrap_or(self.got.len()));
        self.clock.clone_from(&self.before.1);
        let clocks: Vec<_> = self.got.iter().map(|got| got.clock.clone()).collect();
        clocks.iter().for_each(|clock| self.merge(clock));
        self.clock.resize(self.clock.len().max(pe as usize + 1), 0);
        self.clock[pe as usize] = end;
        first..end
    }

    /// The PE will not go back behind what it has got by now.
    fn forget(&mut self) {
        let delivered = self.got.iter().filter(|got| got.number.is_some()).count();
        self.before = (self.before.0 + delivered as u64, self.clock.clone());
        self.got = Vec::new();
    }
}

impl Causality {
    fn sent(&mut self, message: u64, pe: PeId) {
        let sender = self.pes.entry(pe).or_default();
        let sent = Message { clock: sender.clock(), orphan: sender.orphan };
        self.open.insert(message, sent);
    }

    fn taken(&mut self, message: u64, pe: PeId) -> Result<(), String> {
        let of = self.open.get(&message).cloned().ok_or_else(|| nowhere(message, pe))?;
        // An orphan's may yet be refused.
        if self.why_orphan(&of).is_none() {
            self.pes.entry(pe).or_default().take(of.clock);
        }
        Ok(())
    }

    fn delivered(&mut self, message: u64, pe: PeId) -> Result<(), String> {
        let of = self.open.remove(&message).ok_or_else(|| nowhere(message, pe))?;
        if self.dead.iter().any(|pes| pes.contains(&pe)) {
            return Err(format!("message {message} is delivered on PE {pe}, which is dead"));
        }
        let why = self.why_orphan(&of);
        let receiver = self.pes.entry(pe).or_default();
        if let Some(why) = why.filter(|_| !receiver.orphan) {
            return Err(format!("message {message} is delivered on PE {pe}, and depends on {why}"));
        }
        receiver.deliver(pe, of.clock);
        Ok(())
    }

    /// What a message depends on that has not happened.
    fn why_orphan(&self, message: &Message) -> Option<String> {
        if message.orphan {
            return Some("what its sender got and should not have".into());
        }
        let (pe, number) = undone_of(&self.undone, &message.clock)?;
        Some(format!("what PE {pe} got as its number {number}, which was undone"))
    }

    fn roll_back(&mut self, pe: PeId, to: u64) {
        let undone = self.pes.entry(pe).or_default().roll_back(pe, to);
        if !undone.is_empty() {
            self.undone.entry(pe).or_default().push(undone);
        }
        for (other, history) in &mut self.pes {
            let depends = undone_of(&self.undone, &history.clock).is_some();
            // Later numbers of the same PE hide those that were undone, so an orphan stays one until it goes back.
            history.orphan = depends || history.orphan && *other != pe;
        }
        self.dead.retain(|pes| !pes.contains(&pe));
    }
}

fn undone_of(undone: &BTreeMap<PeId, Vec<Range<u64>>>, clock: &[u64]) -> Option<(PeId, u64)> {
    undone.iter().find_map(|(pe, undone)| {
        let number = clock.get(*pe as usize).copied()?;
        undone.iter().any(|numbers| numbers.contains(&number)).then_some((*pe, number))
    })
}

fn nowhere(message: u64, pe: PeId) -> String {
    format!("message {message} comes on PE {pe}, and is over or was never sent")
}

impl Oracle for Causality {
    fn name(&self) -> &'static str {
        "causality"
    }

    fn see(&mut self, seen: &Seen) -> Result<(), String> {
        match *seen {
            Seen::Sent { message, pe, .. } => self.sent(message, pe),
            Seen::Taken { message, pe } => return self.taken(message, pe),
            Seen::Delivered { message, pe, .. } => return self.delivered(message, pe),
            Seen::Dropped { message, .. } => drop(self.open.remove(&message)),
            Seen::RolledBack { pe, to } => self.roll_back(pe, to),
            Seen::NodeGone { ref pes } => self.dead.push(pes.clone()),
            // Other processes have these PEs now. A job that was started again has them otherwise dealt out, and may go back to
            // what was kept when those of the former one were dead.
            Seen::Begun { ref pes, .. } => self.dead.retain(|dead| are_apart(dead, pes)),
            // So are all, and with other PEs.
            Seen::StartedAgain { .. } => self.dead.clear(),
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self) -> Box<dyn Oracle> {
        // A job that can go back to here goes back as a whole, to here or to another cut.
        self.pes.values_mut().for_each(History::forget);
        Box::new(self.clone())
    }

    fn end(&mut self, ended_well: bool) -> Result<(), String> {
        match self.pes.iter().find(|(_, history)| history.orphan) {
            Some((pe, _)) if ended_well => {
                Err(format!("PE {pe} depends on what has not happened, at the end"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{delivered, finds, sent, tell};
    use super::*;

    /// PE 0 gets messages 1 and 2 and then sends 3 to PE 1.
    fn past() -> Vec<Seen> {
        let begin = [sent(1, 0, 5, 5), sent(2, 0, 5, 5), delivered(1, 0, 5), delivered(2, 0, 5)];
        begin.into_iter().chain([sent(3, 0, 5, 6)]).collect()
    }

    fn back(pe: PeId, to: u64) -> Seen {
        Seen::RolledBack { pe, to }
    }

    fn then(more: &[Seen]) -> Vec<Seen> {
        past().into_iter().chain(more.iter().cloned()).collect()
    }

    #[test]
    fn what_was_sent_is_delivered_after() {
        let mut oracle = Causality::default();
        tell(&mut oracle, &then(&[Seen::Taken { message: 3, pe: 1 }, delivered(3, 1, 6)])).expect("right");
        assert_eq!(oracle.pes[&1].clock, [2, 1]);
        assert_eq!(oracle.end(true), Ok(()));
        finds(Causality::default(), &[delivered(1, 0, 5)], "never sent");
    }

    #[test]
    fn nothing_depends_on_what_was_undone() {
        finds(Causality::default(), &then(&[back(0, 1), delivered(3, 1, 6)]), "number 2, which was undone");
        let kept = then(&[back(0, 2), delivered(3, 1, 6)]);
        assert_eq!(tell(&mut Causality::default(), &kept), Ok(()));
        let again = then(&[back(0, 1), sent(4, 0, 5, 6), delivered(4, 1, 6)]);
        assert_eq!(tell(&mut Causality::default(), &again), Ok(()));
    }

    #[test]
    fn an_orphan_stays_one_until_it_has_gone_back() {
        let story = then(&[delivered(3, 1, 6), back(0, 1), sent(4, 0, 5, 6), delivered(4, 1, 6)]);
        let mut oracle = Causality::default();
        tell(&mut oracle, &story).expect("it cannot know yet");
        assert!(oracle.end(true).is_err());
        tell(&mut oracle, &[back(1, 0)]).expect("right");
        assert_eq!(oracle.end(true), Ok(()));
        let told: Vec<_> = story.into_iter().chain([sent(5, 1, 6, 7), delivered(5, 2, 7)]).collect();
        finds(Causality::default(), &told, "its sender got and should not have");
    }

    #[test]
    fn what_was_got_before_a_cut_is_forgotten_and_counted() {
        let mut oracle = Causality::default();
        tell(&mut oracle, &past()).expect("right");
        let clock = oracle.pes[&0].clock.clone();
        drop(oracle.keep());
        assert!(oracle.pes.values().all(|history| history.got.is_empty()));
        tell(&mut oracle, &[sent(4, 0, 5, 5), delivered(4, 0, 5), sent(5, 0, 5, 6)]).expect("right");
        tell(&mut oracle, &[back(0, 2)]).expect("right");
        assert_eq!(oracle.pes[&0].clock[0], clock[0] + 2, "numbers are not used again");
        assert_eq!(tell(&mut oracle, &[delivered(3, 1, 6)]), Ok(()), "it was sent before");
        let undone = tell(&mut oracle, &[delivered(5, 1, 6)]).unwrap_err();
        assert!(undone.contains("number 3, which was undone"), "{undone}");
    }

    #[test]
    fn the_dead_get_nothing() {
        let mut story = then(&[Seen::NodeGone { pes: 1..2 }, delivered(3, 1, 6)]);
        finds(Causality::default(), &story, "which is dead");
        story.insert(6, back(1, 0));
        assert_eq!(tell(&mut Causality::default(), &story), Ok(()));
        let others = |pes| Seen::Begun { epoch: 1, version: Some(1), pes, life: 0 };
        for again in
            [Seen::StartedAgain { version: 1, epoch: 0, pes: 0..4 }, others(1..2), others(0..2), others(1..4)]
        {
            story[6] = again;
            assert_eq!(tell(&mut Causality::default(), &story), Ok(()));
        }
        story[6] = others(0..1);
        finds(Causality::default(), &story, "which is dead");
    }
}
