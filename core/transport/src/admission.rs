//! Who may wait at a listener until it has proved who it is, and whose place is given to another.
//!
//! A listener has few places, and strangers come in any number. So nobody waits for a place: who comes gets one at once,
//! and somebody else loses theirs. It is one of the source that has the most of them: whoever has said nothing before whoever has, and the oldest of
//! these. Whoever has said what no stranger knows is *vouched for* and has another place, which none of the others can take.
//!
//! So of a crowd that comes from elsewhere nobody keeps a peer of the job out; of one that comes from the same address as the peer (another
//! user of its machine) nobody does unless as many come as there are places between the peer's arrival and its first words.
//!
//! Pure: the time is an argument, and what is to be done is returned.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How far somebody at a listener has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It has connected.
    Silent,
    /// It has begun to speak, as anybody can.
    Speaks,
    /// It has said what only those know who are of the job, and has yet to prove that it does not repeat it.
    VouchedFor,
}

/// What a listener has room and time for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Places of those that nobody vouches for.
    pub places: usize,
    /// Places of those that are vouched for.
    pub vouched: usize,
    /// So long somebody may say nothing.
    pub silent: Duration,
    /// So long it may take to be authenticated somebody.
    pub unproved: Duration,
}

/// Those at a listener. `S` is where they come from.
#[derive(Debug)]
pub struct Admission<S> {
    limits: Limits,
    /// By their numbers, which are in the order of their arrival.
    all: BTreeMap<u64, Guest<S>>,
    /// Those that nobody vouches for, by source: those that lose their places first in front.
    unproved: BTreeMap<S, BTreeSet<(Stage, u64)>>,
    /// The others, likewise.
    vouched: BTreeMap<S, BTreeSet<(Stage, u64)>>,
    next: u64,
}

#[derive(Debug)]
struct Guest<S> {
    source: S,
    stage: Stage,
    came: Duration,
}

impl<S: Ord + Clone> Admission<S> {
    /// Nobody is there.
    pub fn new(limits: Limits) -> Self {
        let (unproved, vouched) = (BTreeMap::new(), BTreeMap::new());
        Admission { limits, all: BTreeMap::new(), unproved, vouched, next: 0 }
    }

    /// Somebody has come: its number, and who loses a place to it.
    pub fn arrive(&mut self, now: Duration, source: S, stage: Stage) -> (u64, Option<u64>) {
        let number = self.next;
        self.next += 1;
        self.place(number, Guest { source, stage, came: now });
        (number, self.crowded_out(stage))
    }

    /// Somebody is at this stage now, if it was not beyond it: who loses a place to it.
    pub fn reach(&mut self, number: u64, stage: Stage) -> Option<u64> {
        self.all.get(&number).filter(|guest| guest.stage < stage)?;
        let guest = self.take_away(number)?;
        self.place(number, Guest { stage, ..guest });
        self.crowded_out(stage)
    }

    /// Somebody is not at the listener any more; whether it was.
    pub fn leave(&mut self, number: u64) -> bool {
        self.take_away(number).is_some()
    }

    /// Those that have been there for too long. They are not any more.
    pub fn expired(&mut self, now: Duration) -> Vec<u64> {
        let Limits { silent, unproved, .. } = self.limits;
        let least = silent.min(unproved);
        let waited = |guest: &Guest<S>| now.saturating_sub(guest.came);
        let is_late =
            |guest: &Guest<S>| waited(guest) >= if guest.stage == Stage::Silent { silent } else { unproved };
        let old = self.all.iter().take_while(|(_, guest)| waited(guest) >= least);
        let late: Vec<u64> = old.filter(|(_, guest)| is_late(guest)).map(|(number, _)| *number).collect();
        for number in &late {
            self.leave(*number);
        }
        late
    }

    fn place(&mut self, number: u64, guest: Guest<S>) {
        let Guest { source, stage, .. } = &guest;
        self.places(*stage).entry(source.clone()).or_default().insert((*stage, number));
        self.all.insert(number, guest);
    }

    fn take_away(&mut self, number: u64) -> Option<Guest<S>> {
        let guest = self.all.remove(&number)?;
        let sources = self.places(guest.stage);
        let of_source = sources.get_mut(&guest.source)?;
        of_source.remove(&(guest.stage, number));
        if of_source.is_empty() {
            sources.remove(&guest.source);
        }
        Some(guest)
    }

    fn places(&mut self, stage: Stage) -> &mut BTreeMap<S, BTreeSet<(Stage, u64)>> {
        if stage == Stage::VouchedFor { &mut self.vouched } else { &mut self.unproved }
    }

    /// Takes away one of those that share the places of a stage, if there are too many.
    fn crowded_out(&mut self, stage: Stage) -> Option<u64> {
        let is_vouched = stage == Stage::VouchedFor;
        let most = if is_vouched { self.limits.vouched } else { self.limits.places };
        let sources = self.places(stage).values();
        if sources.clone().map(BTreeSet::len).sum::<usize>() <= most {
            return None;
        }
        // Of sources that have the same number, the one of which one is before all others.
        let heaviest = sources.max_by_key(|guests| (guests.len(), Reverse(guests.first())))?;
        let (_, number) = *heaviest.first()?;
        self.leave(number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { places: 64, vouched: 16, silent: Duration::from_secs(1), unproved: Duration::from_secs(3) };

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_crowd_from_elsewhere_keeps_nobody_out() {
        let mut admission = Admission::new(LIMITS);
        for round in 0..100 {
            let (peer, _) = admission.arrive(at(round), "peer", Stage::Silent);
            for _ in 0..10_000 {
                let (_, lost) = admission.arrive(at(round), "crowd", Stage::Speaks);
                assert_ne!(lost, Some(peer));
                let (_, lost) = admission.arrive(at(round), "crowd", Stage::Silent);
                assert_ne!(lost, Some(peer));
            }
            assert!(admission.leave(peer));
        }
    }

    #[test]
    fn a_crowd_from_the_same_place_keeps_nobody_out_that_speaks_in_time() {
        let mut admission = Admission::new(LIMITS);
        for before in 0..LIMITS.places as u64 {
            for _ in 0..1000 {
                admission.arrive(at(0), (), Stage::Speaks);
            }
            let (peer, _) = admission.arrive(at(0), (), Stage::Speaks);
            for _ in 1..before {
                assert_ne!(
                    admission.arrive(at(0), (), Stage::Speaks).1,
                    Some(peer),
                    "{before} came after it"
                );
            }
            assert_eq!(admission.reach(peer, Stage::VouchedFor), None);
            for _ in 0..1000 {
                assert_ne!(admission.arrive(at(0), (), Stage::Speaks).1, Some(peer));
            }
            assert!(admission.leave(peer), "after {before}");
        }
    }

    #[test]
    fn who_has_said_nothing_goes_before_who_has() {
        let mut admission = Admission::new(LIMITS);
        let (peer, _) = admission.arrive(at(0), (), Stage::Silent);
        assert_eq!(admission.reach(peer, Stage::Speaks), None);
        for _ in 0..100_000 {
            assert_ne!(admission.arrive(at(0), (), Stage::Silent).1, Some(peer));
        }
    }

    #[test]
    fn there_are_never_more_than_there_are_places() {
        let mut admission = Admission::new(LIMITS);
        for source in 0..10_000_u32 {
            let (number, _) = admission.arrive(at(0), source % 700, Stage::Silent);
            if source % 3 == 0 {
                admission.reach(number, Stage::VouchedFor);
            }
            assert!(admission.all.len() <= LIMITS.places + LIMITS.vouched);
        }
        let places: usize =
            admission.unproved.values().chain(admission.vouched.values()).map(BTreeSet::len).sum();
        assert_eq!(places, admission.all.len());
    }

    #[test]
    fn nobody_stays_for_long() {
        let mut admission = Admission::new(LIMITS);
        let (silent, _) = admission.arrive(at(0), (), Stage::Silent);
        let (speaks, _) = admission.arrive(at(0), (), Stage::Speaks);
        let (later, _) = admission.arrive(at(500), (), Stage::Silent);
        assert!(admission.expired(at(999)).is_empty());
        assert_eq!(admission.expired(at(1000)), [silent]);
        assert_eq!(admission.expired(at(1500)), [later]);
        assert!(admission.expired(at(2999)).is_empty());
        assert_eq!(admission.expired(at(3000)), [speaks]);
        assert!(!admission.leave(speaks));
    }
}
