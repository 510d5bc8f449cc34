//! How it spreads who has room for more.

use crate::rng::Rng;
use talisman_pup::Pup;

/// A PE that is said to have room.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub(crate) struct Peer {
    /// Its number.
    pub pe: u32,
    /// Its host.
    pub host: u32,
    /// What it has to do already, as load.
    pub work: f32,
    /// Its speed.
    pub speed: f32,
    /// Bytes that it may take.
    pub room: i64,
}

/// What a PE hears in a pass: in each round one rumour.
#[derive(Debug, Default)]
pub(crate) struct Rumours {
    /// By round: how far on a PE tells, and that far back is whom it hears.
    distances: Vec<u32>,
    /// Those of rounds to come that were faster.
    early: Vec<Option<Vec<Peer>>>,
    round: usize,
    /// PEs with room, by number.
    pub known: Vec<Peer>,
}

/// Who is known of doubles in each round: 64 are enough to find room, and few enough for a note.
const ROUNDS_MAX: u32 = 6;

impl Rumours {
    /// Of a pass of a step; `own` if the PE has room itself.
    pub fn new(seed: u64, pass: u32, pes: u32, own: Option<Peer>) -> Self {
        let distances = distances(seed, pass, pes);
        let early = vec![None; distances.len()];
        Rumours { distances, early, round: 0, known: own.into_iter().collect() }
    }

    /// Whom to tell in this round, unless all rounds are over.
    pub fn to(&self, pe: u32, pes: u32) -> Option<(u32, u32)> {
        let distance = self.distances.get(self.round)?;
        let to = (u64::from(pe) + u64::from(*distance)) % u64::from(pes);
        Some((self.round as u32, to as u32))
    }

    /// Whether this PE is the one to be heard in a round, and was not yet.
    pub fn is_due(&self, from: u32, pe: u32, pes: u32, round: u32) -> bool {
        let Some(distance) = self.distances.get(round as usize) else { return false };
        let expected = (u64::from(pe) + u64::from(pes - distance)) % u64::from(pes);
        let round = round as usize;
        u64::from(from) == expected && round >= self.round && self.early[round].is_none()
    }

    /// Takes a rumour that was due.
    pub fn hear(&mut self, round: u32, known: Vec<Peer>) {
        self.early[round as usize] = Some(known);
    }

    /// Goes on to the next round if what is to be heard in this one was.
    pub fn go_on(&mut self) -> bool {
        let Some(heard) = self.early.get_mut(self.round).and_then(Option::take) else { return false };
        self.known.extend(heard);
        self.known.sort_unstable_by_key(|peer| peer.pe);
        self.known.dedup_by_key(|peer| peer.pe);
        self.round += 1;
        true
    }
}

/// In the first pass neighbours, which often share a host; then any.
fn distances(seed: u64, pass: u32, pes: u32) -> Vec<u32> {
    let mut rng = Rng::new(seed ^ u64::from(pass));
    let rounds = pes.checked_next_power_of_two().map_or(u32::BITS, u32::trailing_zeros).min(ROUNDS_MAX);
    let distance = |round: u32| if pass == 0 { 1 << round } else { 1 + rng.below(pes - 1) };
    (0..rounds).map(distance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_hears_of_as_many_as_rounds_allow() {
        for (pass, pes) in [(0, 1), (0, 2), (0, 40), (0, 500), (3, 500)] {
            let own = |pe| Some(Peer { pe, host: 0, work: 0.0, speed: 1.0, room: 0 });
            let mut all: Vec<_> = (0..pes).map(|pe| Rumours::new(7, pass, pes, own(pe))).collect();
            while all[0].to(0, pes).is_some() {
                let told: Vec<_> = (0..pes).map(|pe| (pe, all[pe as usize].known.clone())).collect();
                for (from, known) in told {
                    let (round, to) = all[from as usize].to(from, pes).unwrap();
                    assert!(all[to as usize].is_due(from, to, pes, round));
                    assert!(pes < 3 || !all[to as usize].is_due(to, to, pes, round));
                    all[to as usize].hear(round, known);
                }
                assert!(all.iter_mut().all(Rumours::go_on));
            }
            let known = pes.min(64) as usize;
            assert!(all.iter().all(|rumours| rumours.known.len() == known), "{pass} {pes}");
        }
    }

    #[test]
    fn rumours_of_later_rounds_wait() {
        let mut rumours = Rumours::new(7, 0, 8, None);
        assert!(rumours.is_due(6, 0, 8, 1) && rumours.is_due(7, 0, 8, 0));
        rumours.hear(1, vec![]);
        assert!(!rumours.go_on());
        rumours.hear(0, vec![]);
        assert!(rumours.go_on() && rumours.go_on() && !rumours.go_on());
        assert!(!rumours.is_due(7, 0, 8, 0) && !rumours.is_due(0, 0, 8, 77));
        assert_eq!(rumours.to(0, 8), Some((2, 4)));
    }
}
