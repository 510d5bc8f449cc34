//! What is to happen, in order of time, and what is planned for the same time in the order in which it was planned.
//!
//! A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990): nothing is planned for a time before the last that has come, so what
//! is planned is kept by the highest bit in which its time differs from that. Events move a few times, each time from the
//! end of one vector to that of another, where a binary heap of a million of them misses the cache at every level.

/// What is to happen.
pub(super) struct Agenda<T> {
    /// The first holds what is due at `now`, the one of number `n` what differs from it in bit `n - 1` and none above.
    buckets: Vec<Vec<(u64, T)>>,
    /// Taken from the first bucket already.
    taken: usize,
    /// Bit `n` is set when bucket `n + 1` has anything.
    filled: u64,
    now: u64,
}

/// More room than this is given back when a bucket has been emptied.
const ROOM_MAX: usize = 1 << 20;

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Agenda { buckets: (0..=64).map(|_| Vec::new()).collect(), taken: 0, filled: 0, now: 0 }
    }
}

impl<T: Copy> Agenda<T> {
    /// Plans something for a time that is not before the last event's.
    pub(super) fn plan(&mut self, at: u64, what: T) {
        debug_assert!(at >= self.now, "{at} is past, it is {}", self.now);
        let differs = at ^ self.now;
        let bucket = (u64::BITS - differs.leading_zeros()) as usize;
        if bucket > 0 {
            self.filled |= 1 << (bucket - 1);
        }
        self.buckets[bucket].push((at, what));
    }

    /// What happens next.
    pub(super) fn pop(&mut self) -> Option<(u64, T)> {
        if self.taken == self.buckets[0].len() {
            self.buckets[0].clear();
            self.taken = 0;
            self.advance()?;
        }
        let next = self.buckets[0][self.taken];
        self.taken += 1;
        Some(next)
    }

    /// Goes on to the next time for which anything is planned. What was planned earlier stands first in each bucket, and
    /// moves into empty ones, so it stays first.
    fn advance(&mut self) -> Option<()> {
        if self.filled == 0 {
            return None;
        }
        let lowest = self.filled.trailing_zeros();
        self.filled &= !(1 << lowest);
        let mut events = std::mem::take(&mut self.buckets[lowest as usize + 1]);
        self.now = events.iter().map(|(at, _)| *at).min().expect("the bucket has something");
        for (at, what) in events.drain(..) {
            self.plan(at, what);
        }
        if events.capacity() <= ROOM_MAX {
            self.buckets[lowest as usize + 1] = events;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use talisman_base::rng::Rng;

    #[test]
    fn events_come_by_time_and_then_as_planned() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let (mut agenda, mut expected) = (Agenda::default(), BTreeMap::new());
            let mut now = 0;
            for serial in 0..5000_u64 {
                let most = 1 << rng.below(30);
                let at = now + rng.below(most) * rng.below(2);
                agenda.plan(at, serial);
                expected.insert((at, serial), ());
                if rng.below(3) > 0 {
                    let (next, ()) = expected.pop_first().expect("one was planned");
                    assert_eq!(agenda.pop(), Some(next), "seed {seed}");
                    now = next.0;
                }
            }
            while let Some((next, ())) = expected.pop_first() {
                assert_eq!(agenda.pop(), Some(next), "seed {seed}");
            }
            assert_eq!(agenda.pop(), None);
        }
    }
}
