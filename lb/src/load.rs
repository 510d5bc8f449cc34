//! Measuring load without reading the clock at every call.
//!
//! A clock read before and after an entry costs about as much as delivering the message. So objects whose entries are
//! short are timed at one call in 16 on average, at random distances, and a timed call counts for the calls skipped before
//! it: what a PE's objects are charged is right in expectation, whatever the costs of single calls. An object that
//! was seen to run long has every call timed, so long calls are charged exactly.

/// The most calls skipped between two timed ones; 15 on average. Random, so that no periodic program hides behind it.
const GAP_MAX: u32 = 30;

/// The load meter of one PE: decides which calls are timed, and what they are charged.
///
/// ```
/// use talisman_lb::load::{Kind, Meter};
///
/// let mut meter = Meter::new(1000);
/// let mut load = 0;
/// let mut kind = Kind::Short;
/// for _ in 0..100_000 {
///     if kind == Kind::Long || meter.is_due() {
///         let charge;
///         (charge, kind) = meter.charge(kind, 40); // as measured
///         load += charge;
///     }
/// }
/// assert!((3_900_000..4_100_000).contains(&load), "{load}");
/// ```
#[derive(Debug)]
pub struct Meter {
    /// Calls to skip until the next timed one.
    left: u32,
    /// Calls skipped, or to be skipped, before it.
    gap: u32,
    /// Calls of at least so many ticks are long.
    limit: u64,
    random: u32,
}

/// What is known of an object's calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// They are timed at random.
    #[default]
    Short,
    /// Each is timed.
    Long,
}

impl Meter {
    /// A meter that takes calls of `limit` ticks and more for long.
    pub fn new(limit: u64) -> Self {
        // xorshift needs a seed that is not zero; every run draws the same gaps.
        Meter { left: 0, gap: 0, limit, random: 0x9e37_79b9 }
    }

    /// Whether the call that begins is to be timed. To be asked at every call of a short object, and at no other.
    #[inline(always)]
    pub fn is_due(&mut self) -> bool {
        if self.left == 0 {
            return true;
        }
        self.left -= 1;
        false
    }

    /// What a timed call is charged, in ticks, and the kind of its object from now on.
    pub fn charge(&mut self, kind: Kind, ticks: u64) -> (i64, Kind) {
        let now = self.kind_after(kind, ticks);
        let ticks = ticks.min(TICKS_MAX) as i64;
        if kind == Kind::Long {
            return (ticks, now);
        }
        let charge = ticks * (i64::from(self.gap) + 1);
        self.gap = self.random() % (GAP_MAX + 1);
        self.left = self.gap;
        (charge, now)
    }

    /// Long above the limit, short again only below half of it: no object at the limit changes at every call.
    fn kind_after(&self, kind: Kind, ticks: u64) -> Kind {
        match kind {
            _ if ticks >= self.limit => Kind::Long,
            Kind::Long if ticks >= self.limit / 2 => Kind::Long,
            _ => Kind::Short,
        }
    }

    /// xorshift32 (Marsaglia 2003).
    fn random(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }
}

/// No call takes longer than this, a quarter of an hour at 2.4 GHz: a clock that jumps spoils one measurement, not all.
const TICKS_MAX: u64 = 1 << 41;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 1000;

    /// Charges calls of objects, given as (object, cost); the loads and how many calls were timed.
    fn charged(calls: impl IntoIterator<Item = (usize, u64)>, objects: usize) -> (Vec<i64>, usize) {
        let mut meter = Meter::new(LIMIT);
        let (mut loads, mut kinds, mut timed) = (vec![0; objects], vec![Kind::Short; objects], 0);
        for (object, cost) in calls {
            if kinds[object] == Kind::Long || meter.is_due() {
                let charge;
                (charge, kinds[object]) = meter.charge(kinds[object], cost);
                loads[object] += charge;
                timed += 1;
            }
        }
        (loads, timed)
    }

    fn scatter(call: u64) -> u64 {
        (call.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
    }

    fn error(load: i64, total: u64) -> f64 {
        (load as f64 - total as f64) / total as f64
    }

    #[test]
    fn short_calls_are_timed_one_in_sixteen() {
        let (loads, timed) = charged((0..160_000).map(|_| (0, 90)), 1);
        assert!((9_500..10_500).contains(&timed), "{timed}");
        assert!(error(loads[0], 90 * 160_000).abs() < 0.001, "{}", loads[0]);
    }

    #[test]
    fn long_calls_are_all_timed_and_charged_exactly() {
        let cost = |call: u64| 1500 + scatter(call) % 100;
        let (loads, timed) = charged((0..500).map(|call| (0, cost(call))), 1);
        assert_eq!((loads[0], timed), ((0..500).map(cost).sum::<u64>() as i64, 500));
    }

    #[test]
    fn objects_of_different_costs_are_told_apart() {
        // Two short objects, one four times the other, and a long one between them.
        let costs = [50, 200, 5_000];
        let calls =
            (0..300_000u64).map(|call| scatter(call) as usize % 3).map(|object| (object, costs[object]));
        let totals = calls.clone().fold([0; 3], |mut totals, (object, cost)| {
            totals[object] += cost;
            totals
        });
        let (loads, _) = charged(calls, 3);
        for object in 0..2 {
            assert!(error(loads[object], totals[object]).abs() < 0.05, "{object}: {loads:?} {totals:?}");
        }
        assert!(error(loads[2], totals[2]).abs() < 0.001, "{loads:?} {totals:?}");
    }

    #[test]
    fn costs_that_vary_with_a_rare_long_call_are_right_in_the_sum() {
        let cost = |call: u64| if call % 1000 == 7 { 20_000 } else { scatter(call) % 300 };
        let total = (0..1_000_000).map(cost).sum();
        let (loads, _) = charged((0..1_000_000).map(|call| (0, cost(call))), 1);
        assert!(error(loads[0], total).abs() < 0.1, "{} of {total}", loads[0]);
    }

    #[test]
    fn an_object_at_the_limit_does_not_flicker() {
        let meter = Meter::new(LIMIT);
        assert_eq!(meter.kind_after(Kind::Short, 999), Kind::Short);
        assert_eq!(meter.kind_after(Kind::Short, 1000), Kind::Long);
        assert_eq!(meter.kind_after(Kind::Long, 999), Kind::Long);
        assert_eq!(meter.kind_after(Kind::Long, 499), Kind::Short);
    }
}
