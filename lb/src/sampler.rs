//! Picking events at random distances.

use std::cell::Cell;

/// No two picked events are further apart than twice this.
const GAP_MAX: u32 = 1 << 16;
/// Where what is picked decides soon, no more are to be skipped on average.
pub const GAP_USUAL: u32 = 1_000;

/// Picks some of many events: each picked one stands for those skipped before it, so sums are right in expectation whatever the
/// events are. The distances are random, so that no periodic program hides behind them.
///
/// ```
/// use talisman_lb::sampler::Sampler;
///
/// let sampler = Sampler::default();
/// let weights = (0..100_000).filter(|_| sampler.is_due()).map(|_| u64::from(sampler.weight(20)));
/// let total: u64 = weights.sum();
/// assert!((99_000..=100_000).contains(&total), "{total}");
/// ```
#[derive(Debug)]
pub struct Sampler {
    /// Events to skip until the next picked one.
    left: Cell<u32>,
    /// Events skipped, or to be skipped, before it.
    gap: Cell<u32>,
    random: Cell<u32>,
}

impl Default for Sampler {
    fn default() -> Self {
        // xorshift needs a seed that is not zero; every run draws the same gaps.
        Sampler { left: Cell::new(0), gap: Cell::new(0), random: Cell::new(0x9e37_79b9) }
    }
}

impl Sampler {
    /// Whether the event that happens is picked. To be asked at every event; after a picked one, [`Sampler::weight`] says when the
    /// next is, and none is before it was called.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        // A decrement and a branch.
        let (left, is_due) = self.left.get().overflowing_sub(1);
        self.left.set(left);
        is_due
    }

    /// Whether the event that happens is none that is picked: then it has been asked of it. Else it is to be asked whether it [is
    /// due](Sampler::is_due).
    #[inline(always)]
    pub fn skips(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// For how many events the picked one stands, itself included. From now on `mean_gap` are skipped on average.
    pub fn weight(&self, mean_gap: u32) -> u32 {
        let gap = match mean_gap {
            0 => 0,
            mean => self.random() % (2 * mean.min(GAP_MAX) + 1),
        };
        self.left.set(gap);
        self.gap.replace(gap) + 1
    }

    /// Events since the last picked one, when the next is due: itself included.
    pub fn since(&self) -> u32 {
        self.gap.get() + 1
    }

    /// xorshift32 (Marsaglia 2003).
    fn random(&self) -> u32 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        self.random.set(random);
        random
    }
}

/// How many events are to be skipped on average so that what a picked one costs is half a percent of the time that all take.
/// Both in the same unit.
pub fn gap_for(cost: u64, time_of_each: u64) -> u32 {
    (cost.saturating_mul(200) / time_of_each.max(1)).min(GAP_MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_picked_as_are_asked_for() {
        for mean in [0, 1, 15, 200] {
            let sampler = Sampler::default();
            sampler.weight(mean);
            let picks = || sampler.is_due() && sampler.weight(mean) > 0;
            let picked = (0..100_000).filter(|_| picks()).count();
            let wanted = 100_000.0 / f64::from(mean + 1);
            assert!((picked as f64 / wanted - 1.0).abs() < 0.1, "{picked} instead of {wanted}");
        }
    }

    #[test]
    fn what_is_skipped_is_what_is_not_picked() {
        let (asked_first, other) = (Sampler::default(), Sampler::default());
        for _ in 0..10_000 {
            let is_picked = !asked_first.skips() && asked_first.is_due();
            assert_eq!(is_picked, other.is_due());
            if is_picked {
                assert_eq!(asked_first.weight(15), other.weight(15));
            }
        }
    }

    #[test]
    fn what_comes_periodically_is_picked_as_often_as_anything() {
        let sampler = Sampler::default();
        let weights = (0..1_000u64).filter(|_| sampler.is_due() && sampler.weight(0) == 1);
        assert_eq!(weights.count(), 1_000, "without gaps all are picked");
        let mut of_each = [0; 8];
        for event in 0..160_000usize {
            if sampler.is_due() {
                of_each[event % 8] += sampler.weight(15);
            }
        }
        assert!(of_each.iter().all(|weight| (18_000..22_000).contains(weight)), "{of_each:?}");
    }

    #[test]
    fn none_is_picked_while_the_last_one_is_not_weighed() {
        let sampler = Sampler::default();
        assert!(sampler.is_due());
        assert!((0..10_000).all(|_| !sampler.is_due()));
        sampler.weight(0);
        assert!(sampler.is_due());
    }

    #[test]
    fn gaps_keep_the_cost_at_half_a_percent() {
        assert_eq!(gap_for(60, 50), 240);
        assert_eq!(gap_for(60, 100_000), 0);
        assert_eq!((gap_for(0, 0), gap_for(1 << 60, 0)), (0, GAP_MAX));
    }
}
