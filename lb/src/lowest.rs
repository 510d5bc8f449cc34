//! The least of many keys that change one at a time.

use std::ops::Range;

/// A tournament: every match of two is remembered, so that a key changes and the least of a span is found in some log₂ steps.
///
/// Among equals the first place wins. A key of infinity takes no part.
#[derive(Clone, Debug)]
pub struct Lowest {
    places: u32,
    /// By place, and infinity for those that make up a power of two.
    keys: Vec<f64>,
    /// The winner below every match: the final is at 1, the matches below match `m` are at `2m` and `2m + 1`, places come last.
    winners: Vec<u32>,
}

impl Lowest {
    /// Of these keys.
    pub fn new(mut keys: Vec<f64>) -> Self {
        let (places, size) = (keys.len() as u32, keys.len().next_power_of_two());
        keys.resize(size, f64::INFINITY);
        let mut lowest = Lowest { places, keys, winners: vec![0; size] };
        lowest.winners.extend(0..size as u32);
        for played in (1..size).rev() {
            lowest.winners[played] = lowest.winner_of(played);
        }
        lowest
    }

    /// Gives a place another key.
    #[inline]
    pub fn set(&mut self, place: u32, key: f64) {
        self.keys[place as usize] = key;
        let mut played = (self.keys.len() + place as usize) / 2;
        while played > 0 {
            let winner = self.winner_of(played);
            // Above a match that the place neither won before nor wins now, nothing changes.
            if winner == self.winners[played] && winner != place {
                break;
            }
            self.winners[played] = winner;
            played /= 2;
        }
    }

    /// The place in a span that has the least key, and the key; none if all are at infinity.
    #[inline]
    pub fn lowest(&self, span: &Range<u32>) -> Option<(u32, f64)> {
        let size = self.keys.len();
        let winner = match span.start == 0 && span.end == self.places {
            true => self.winners[1],
            false => self.lowest_below(size + span.start as usize, size + span.end as usize)?,
        };
        Some((winner, self.keys[winner as usize])).filter(|(_, key)| *key < f64::INFINITY)
    }

    /// Goes up from both ends of the span, and asks the matches that lie in it altogether.
    fn lowest_below(&self, mut start: usize, mut end: usize) -> Option<u32> {
        let mut winner = None;
        while start < end {
            if start % 2 == 1 {
                winner = Some(self.better(winner, self.winners[start]));
                start += 1;
            }
            if end % 2 == 1 {
                end -= 1;
                winner = Some(self.better(winner, self.winners[end]));
            }
            start /= 2;
            end /= 2;
        }
        winner
    }

    fn better(&self, champion: Option<u32>, challenger: u32) -> u32 {
        match champion {
            Some(champion) if self.rank(champion) < self.rank(challenger) => champion,
            _ => challenger,
        }
    }

    #[inline]
    fn winner_of(&self, played: usize) -> u32 {
        let (first, second) = (self.winners[2 * played], self.winners[2 * played + 1]);
        // The second is the later place, and wins no draw.
        if self.keys[second as usize] < self.keys[first as usize] { second } else { first }
    }

    fn rank(&self, place: u32) -> (f64, u32) {
        (self.keys[place as usize], place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Looks at every key.
    fn searched(keys: &[f64], span: Range<u32>) -> Option<(u32, f64)> {
        let keyed = span.map(|place| (place, keys[place as usize])).filter(|(_, key)| key.is_finite());
        keyed.reduce(|least, next| if next.1 < least.1 { next } else { least })
    }

    #[test]
    fn it_is_what_a_search_finds_after_every_change() {
        let mut rng = Rng::new(3);
        for places in 0..20u32 {
            let mut keys: Vec<f64> = (0..places).map(|_| f64::from(rng.below(4))).collect();
            let mut lowest = Lowest::new(keys.clone());
            for _ in 0..if places == 0 { 0 } else { 100 } {
                let place = rng.below(places);
                let key = [0.0, 1.0, 2.0, f64::INFINITY][rng.below(4) as usize];
                keys[place as usize] = key;
                lowest.set(place, key);
                let start = rng.below(places + 1);
                let span = start..start + rng.below(places - start + 1);
                assert_eq!(lowest.lowest(&span), searched(&keys, span.clone()), "{span:?} of {keys:?}");
            }
            assert_eq!(lowest.lowest(&(0..places)), searched(&keys, 0..places));
        }
    }
}
