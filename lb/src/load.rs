//! Measuring load without reading the clock at every call.
//!
//! A clock read before and after an entry costs more than delivering the message. So objects whose entries are short are timed
//! at random calls, so few that it costs a percent, and a timed call counts for the calls skipped before it: what a PE's objects
//! are charged is right in expectation, whatever the costs of single calls. Of an object whose calls are long on average
//! every one is timed, so it is charged exactly; and where they are so long that others may have had the core meanwhile, it is
//! timed by a clock that stands still then.

use std::cell::Cell;

use crate::sampler::{Sampler, gap_for};

/// An object's average is not believed before so many calls in a period: the short ones may just come first.
const CALLS_LEAST: u32 = 32;
/// Beside an entry a message costs its delivery, which has to be measured in no more than a percent as well: in ticks.
const DELIVERY: u64 = 30;
/// A call of a short object that takes so many times what is long was interrupted, most likely, or is one of a kind. It counts
/// once: as many times as calls were skipped, it would hide all others.
const INTERRUPTED: u64 = 100;
/// The weight of a call in the average over the calls of short objects is one in so many.
const SMOOTHING: u64 = 16;
/// No call takes longer than this, a quarter of an hour at 2.4 GHz: a clock that jumps spoils one measurement, not all.
const TICKS_MAX: u64 = 1 << 41;

/// The load meter of one PE: decides which calls are timed, and what they are charged.
///
/// ```
/// use talisman_lb::load::{Kind, Limits, Meter, Past};
///
/// let meter = Meter::new(Limits { long: 1000, huge: 100_000, cost: 60 });
/// let (mut past, mut kind) = (Past::default(), Kind::default());
/// for _ in 0..100_000 {
///     past.calls += 1;
///     if kind != Kind::Short || meter.is_due() {
///         let charge;
///         (charge, kind) = meter.charge(kind, 40, past); // as measured
///         past.ticks += charge;
///     }
/// }
/// assert!((3_900_000..4_100_000).contains(&past.ticks), "{}", past.ticks);
/// ```
#[derive(Debug)]
pub struct Meter {
    sampler: Sampler,
    limits: Limits,
    /// What a call of a short object takes on average.
    short: Cell<u64>,
}

/// What is long for a meter, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// On average from here on, all calls are timed.
    pub long: u64,
    /// From here on by a clock that stands still while others have the core.
    pub huge: u64,
    /// What it costs to time a call. 0: every call is timed.
    pub cost: u64,
}

/// What is known of an object's calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// They are timed at random.
    Short,
    /// Each is timed. So are the first of a new object.
    #[default]
    Long,
    /// Each is timed by a clock that stands still while others have the core.
    Huge,
}

/// An object's calls in this period so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Past {
    /// What it was charged.
    pub ticks: i64,
    /// How many there were.
    pub calls: u32,
}

impl Meter {
    /// A meter that knows nothing yet.
    pub fn new(limits: Limits) -> Self {
        Meter { sampler: Sampler::default(), limits, short: Cell::new(limits.long) }
    }

    /// Whether the call that begins is to be timed. To be asked at every call of a short object, and at no other.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.sampler.is_due()
    }

    /// What a timed call is charged, in ticks, and the kind of its object from now on. `past` counts the call already, and
    /// is not charged for it yet.
    pub fn charge(&self, kind: Kind, ticks: u64, past: Past) -> (i64, Kind) {
        let ticks = ticks.min(TICKS_MAX);
        let weight = match kind {
            Kind::Short => self.weight(ticks),
            Kind::Long | Kind::Huge => 1,
        };
        let charge = ticks as i64 * i64::from(weight);
        let total = Past { ticks: past.ticks.saturating_add(charge), ..past };
        (charge, self.kind_after(kind, ticks, total))
    }

    /// For how many calls one of a short object counts.
    fn weight(&self, ticks: u64) -> u32 {
        let short = (self.short.get() * (SMOOTHING - 1) + ticks.min(self.limits.long)) / SMOOTHING;
        self.short.set(short);
        let weight = self.sampler.weight(gap_for(self.limits.cost, short + DELIVERY));
        if ticks >= self.limits.long.saturating_mul(INTERRUPTED) { 1 } else { weight }
    }

    /// One long call makes an object long, and it stays so while its calls are on average, half as long even: none at the limit
    /// changes all the time. In between there may be many short calls, as of messages that lead up to a computation.
    fn kind_after(&self, kind: Kind, ticks: u64, total: Past) -> Kind {
        let Limits { long, huge, .. } = self.limits;
        let average = total.ticks.max(0) as u64 / u64::from(total.calls.max(1));
        let is_known = total.calls >= CALLS_LEAST;
        match kind {
            Kind::Short if ticks >= long => Kind::Long,
            Kind::Long if average >= huge => Kind::Huge,
            Kind::Long if is_known && average < long / 2 => Kind::Short,
            Kind::Huge if is_known && average < huge / 2 => Kind::Long,
            as_before => as_before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { long: 1000, huge: 50_000, cost: 60 };

    /// Charges calls of objects, given as (object, cost); the loads and how many calls were timed.
    fn charged(calls: impl IntoIterator<Item = (usize, u64)>, objects: usize) -> (Vec<i64>, usize) {
        let meter = Meter::new(LIMITS);
        let (mut past, mut kinds, mut timed) =
            (vec![Past::default(); objects], vec![Kind::default(); objects], 0);
        for (object, cost) in calls {
            past[object].calls += 1;
            if kinds[object] != Kind::Short || meter.is_due() {
                let charge;
                (charge, kinds[object]) = meter.charge(kinds[object], cost, past[object]);
                past[object].ticks += charge;
                timed += 1;
            }
        }
        (past.into_iter().map(|past| past.ticks).collect(), timed)
    }

    fn scatter(call: u64) -> u64 {
        (call.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
    }

    fn error(load: i64, total: u64) -> f64 {
        (load as f64 - total as f64) / total as f64
    }

    #[test]
    fn timing_short_calls_costs_a_percent() {
        for cost in [20, 90, 400] {
            let (loads, timed) = charged((0..400_000).map(|_| (0, cost)), 1);
            let overhead = timed as f64 * LIMITS.cost as f64 / (400_000 * (cost + DELIVERY)) as f64;
            assert!((0.005..0.015).contains(&overhead), "{overhead}");
            assert!(error(loads[0], cost * 400_000).abs() < 0.01, "{}", loads[0]);
        }
    }

    #[test]
    fn long_calls_are_all_timed_and_charged_exactly() {
        let cost = |call: u64| 1500 + scatter(call) % 100;
        let (loads, timed) = charged((0..500).map(|call| (0, cost(call))), 1);
        assert_eq!((loads[0], timed), ((0..500).map(cost).sum::<u64>() as i64, 500));
    }

    #[test]
    fn a_computation_after_some_messages_is_charged_exactly() {
        let cost = |call: u64| if call % 6 == 5 { 40_000 } else { 100 };
        let (loads, timed) = charged((0..6_000).map(|call| (0, cost(call))), 1);
        let total = (0..6_000).map(cost).sum();
        assert!(timed == 6_000 && error(loads[0], total) == 0.0, "{timed}: {} of {total}", loads[0]);
    }

    #[test]
    fn objects_of_different_costs_are_told_apart() {
        // Two short objects, one four times the other, and a long one between them.
        let costs = [50, 200, 5_000];
        let calls =
            (0..600_000u64).map(|call| scatter(call) as usize % 3).map(|object| (object, costs[object]));
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
        let total = (0..4_000_000).map(cost).sum();
        let (loads, _) = charged((0..4_000_000).map(|call| (0, cost(call))), 1);
        assert!(error(loads[0], total).abs() < 0.1, "{} of {total}", loads[0]);
    }

    #[test]
    fn an_interruption_of_a_short_object_counts_once() {
        let meter = Meter::new(LIMITS);
        for _ in 0..100 {
            assert!(meter.charge(Kind::Short, 10, Past { ticks: 10, calls: 1 }).0 > 0);
        }
        while !meter.is_due() {}
        assert_eq!(meter.charge(Kind::Short, 1_000_000, Past { ticks: 10, calls: 1 }).0, 1_000_000);
    }

    #[test]
    fn an_object_at_the_limit_does_not_flicker() {
        let meter = Meter::new(LIMITS);
        let after = |kind, ticks, calls| meter.kind_after(kind, 0, Past { ticks, calls });
        assert_eq!(meter.kind_after(Kind::Short, 999, Past { ticks: 999, calls: 1 }), Kind::Short);
        assert_eq!(meter.kind_after(Kind::Short, 1000, Past { ticks: 1000, calls: 1 }), Kind::Long);
        assert_eq!(after(Kind::Long, 100 * 500, 100), Kind::Long);
        assert_eq!(after(Kind::Long, 100 * 499, 100), Kind::Short);
        assert_eq!(after(Kind::Long, 10 * 499, 10), Kind::Long, "few calls say nothing");
        assert_eq!(after(Kind::Long, 50_000, 1), Kind::Huge);
        assert_eq!(after(Kind::Huge, 100 * 25_000, 100), Kind::Huge);
        assert_eq!(after(Kind::Huge, 100 * 24_999, 100), Kind::Long);
    }

    #[test]
    fn every_call_is_timed_where_that_costs_nothing() {
        let meter = Meter::new(Limits { cost: 0, ..LIMITS });
        for calls in 1..100 {
            assert!(meter.is_due());
            assert_eq!(meter.charge(Kind::Short, 7, Past { ticks: 0, calls }), (7, Kind::Short));
        }
    }
}
