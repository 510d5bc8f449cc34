//! Measuring load without reading the clock at every call.
//!
//! A clock read before and after an entry costs more than delivering the message. So objects whose entries are short are timed
//! at random calls, so few that it costs half a percent, and a timed call counts for the calls skipped before it: what a PE's objects
//! are charged is right in expectation, whatever the costs of single calls. Of an object whose calls are long on average
//! every one is timed, so it is charged exactly; and where they are so long that others may have had the core meanwhile, it is
//! timed by a clock that stands still then.
//!
//! The first calls of a new object are timed as well, to learn which it is, as long as all this takes half a percent of the time: a PE
//! that gets a hundred thousand new objects with short calls would do little else. Further ones are timed at random meanwhile.

use std::cell::Cell;

use crate::sampler::{Sampler, gap_for};

/// An object's average is not believed before so many calls in a period: the short ones may just come first.
const CALLS_LEAST: u32 = 12;
/// So many calls of new objects are timed whatever that takes: a third of a millisecond in all.
const FIRST_TIMINGS: u64 = 4_096;
/// Further ones are paid for by what entries take: a tick in so many.
const PAYS_ONE_IN: u64 = 200;
/// Beside an entry a message costs its delivery, which has to be measured in no more than a percent as well: in ticks.
const DELIVERY: u64 = 30;
/// A call of a short object that takes so many times what is long was interrupted, most likely, or is one of a kind. It counts
/// once: as many times as calls were skipped, it would hide all others.
const ODD: u64 = 100;
/// The weight of a call in the average over the calls of short objects is one in so many.
const SMOOTHING: u64 = 16;
/// No call takes longer than this, a quarter of an hour at 2.4 GHz: a clock that jumps spoils one measurement, not all.
const TICKS_MAX: u64 = 1 << 41;

/// The load meter of one PE: decides which calls are timed, and what they are charged.
///
/// ```
/// use talisman_lb::load::{Kind, Limits, Meter, Past};
///
/// let meter = Meter::new(Limits { long: 1000, huge: 100_000, cost: 60, gap_max: 1000 });
/// let (mut past, mut kind) = (Past::default(), Kind::default());
/// for _ in 0..100_000 {
///     let alone = meter.times_alone(kind, past.calls);
///     past.calls += 1;
///     if alone || meter.is_due() {
///         let charge;
///         (charge, kind) = meter.charge(kind, alone, 40, past); // as measured
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
    /// Ticks that timing calls of new objects may still take.
    credit: Cell<u64>,
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
    /// So many calls of short objects are skipped on average, at most.
    pub gap_max: u32,
}

/// What is known of an object's calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// Nothing is known: each is timed if there is time for it, else at random.
    #[default]
    New,
    /// They are timed at random.
    Short,
    /// Each is timed.
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

impl Past {
    /// What a call took on average, in ticks.
    pub fn average(&self) -> u64 {
        self.ticks.max(0) as u64 / u64::from(self.calls.max(1))
    }
}

impl Meter {
    /// A meter that knows nothing yet.
    pub fn new(limits: Limits) -> Self {
        let credit = Cell::new(FIRST_TIMINGS * limits.cost);
        Meter { sampler: Sampler::default(), limits, short: Cell::new(limits.long), credit }
    }

    /// Whether the call that begins is timed for itself, and does not stand for others; of an object that got so many calls before.
    #[inline(always)]
    pub fn times_alone(&self, kind: Kind, calls: u32) -> bool {
        match kind {
            Kind::New => calls < CALLS_LEAST && self.credit.get() >= self.limits.cost,
            Kind::Short => false,
            Kind::Long | Kind::Huge => true,
        }
    }

    /// Whether the call that begins is to be timed. To be asked at every call that is not timed for itself, and at no other.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.sampler.is_due()
    }

    /// Whether the call that begins is none that is to be timed; else it is to be asked whether it [is due](Meter::is_due).
    #[inline(always)]
    pub fn skips(&self) -> bool {
        self.sampler.skips()
    }

    /// The kind of an object one of whose calls is not timed for itself. After some of them one that is not known counts as short:
    /// it is found at random if it is not.
    pub fn kind_untimed(&self, kind: Kind, calls: u32) -> Kind {
        if kind == Kind::New && calls >= CALLS_LEAST { Kind::Short } else { kind }
    }

    /// For how many calls the one that is due stands.
    pub fn stands_for(&self) -> u32 {
        self.sampler.since()
    }

    /// What a call is charged, in ticks, that was timed, `alone` or for others as well, and the kind of its object from now on. `past`
    /// counts the call already, and is not charged for it yet.
    pub fn charge(&self, kind: Kind, alone: bool, ticks: u64, past: Past) -> (i64, Kind) {
        let ticks = ticks.min(TICKS_MAX);
        let weight = if alone { 1 } else { self.weight(ticks) };
        let charge = ticks as i64 * i64::from(weight);
        self.pay(if kind == Kind::New && alone { self.limits.cost } else { 0 }, charge as u64);
        let total = Past { ticks: past.ticks.saturating_add(charge), ..past };
        (charge, self.kind_after(kind, ticks, total))
    }

    /// The kind of an object in the next period. Of one that got few calls in this one, those say enough now. One whose calls were
    /// short is as good as new: found at random only, one that has become long would have no load for some periods.
    pub fn next_period(&self, kind: Kind, past: Past) -> Kind {
        match kind {
            Kind::New | Kind::Short => Kind::New,
            Kind::Long | Kind::Huge if past.calls > 0 && past.average() < self.limits.long / 2 => Kind::New,
            Kind::Long | Kind::Huge => kind,
        }
    }

    /// Timing a new object took so much, and the entries for which the timed one stands so much.
    fn pay(&self, cost: u64, entries: u64) {
        let credit = self.credit.get().saturating_sub(cost) + entries / PAYS_ONE_IN;
        self.credit.set(credit.min(FIRST_TIMINGS * self.limits.cost));
    }

    /// For how many calls one counts that is timed at random.
    fn weight(&self, ticks: u64) -> u32 {
        let short = (self.short.get() * (SMOOTHING - 1) + ticks.min(self.limits.long)) / SMOOTHING;
        self.short.set(short);
        let weight =
            self.sampler.weight(gap_for(self.limits.cost, short + DELIVERY).min(self.limits.gap_max));
        if ticks >= self.limits.long.saturating_mul(ODD) { 1 } else { weight }
    }

    /// One long call makes an object long, and it stays so while its calls are on average, half as long even: none at the limit
    /// changes all the time. In between there may be many short calls, as of messages that lead up to a computation.
    fn kind_after(&self, kind: Kind, ticks: u64, total: Past) -> Kind {
        let Limits { long, huge, .. } = self.limits;
        let average = || total.average();
        let is_known = total.calls >= CALLS_LEAST;
        match kind {
            Kind::New if ticks >= long && average() >= huge => Kind::Huge,
            Kind::New | Kind::Short if ticks >= long => Kind::Long,
            Kind::New if is_known => Kind::Short,
            Kind::Long if average() >= huge => Kind::Huge,
            Kind::Long if is_known && average() < long / 2 => Kind::Short,
            Kind::Huge if is_known && average() < huge / 2 => Kind::Long,
            as_before => as_before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { long: 1000, huge: 50_000, cost: 60, gap_max: 1000 };

    /// Charges calls of objects, given as (object, cost); the loads and how many calls were timed.
    fn charged(calls: impl IntoIterator<Item = (usize, u64)>, objects: usize) -> (Vec<i64>, usize) {
        let meter = Meter::new(LIMITS);
        let (mut past, mut kinds, mut timed) =
            (vec![Past::default(); objects], vec![Kind::default(); objects], 0);
        for (object, cost) in calls {
            past[object].calls += 1;
            let alone = meter.times_alone(kinds[object], past[object].calls - 1);
            if alone || meter.is_due() {
                let charge;
                (charge, kinds[object]) = meter.charge(kinds[object], alone, cost, past[object]);
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
    fn timing_short_calls_costs_half_a_percent() {
        for cost in [20, 90, 400] {
            let (loads, timed) = charged((0..400_000).map(|_| (0, cost)), 1);
            let overhead = timed as f64 * LIMITS.cost as f64 / (400_000 * (cost + DELIVERY)) as f64;
            assert!((0.0035..0.0065).contains(&overhead), "{overhead}");
            assert!(error(loads[0], cost * 400_000).abs() < 0.02, "{}", loads[0]);
        }
    }

    #[test]
    fn so_does_timing_a_hundred_thousand_new_objects_once_the_first_are_known() {
        let objects = 100_000;
        let calls = || (0..2_000_000).map(|call| (call * 61 % objects, 30));
        let (loads, timed) = charged(calls(), objects);
        let at_random = (2_000_000 * 30 / 200) / LIMITS.cost as usize * 2;
        assert!(timed < FIRST_TIMINGS as usize + 2 * at_random, "{timed}, of which {at_random} at random");
        let total = 2_000_000 * 30;
        assert!(error(loads.iter().sum(), total).abs() < 0.05, "{} of {total}", loads.iter().sum::<i64>());
    }

    #[test]
    fn new_objects_with_long_calls_pay_for_being_known() {
        // Ten thousand objects with a computation after five messages, twice: the second time nearly all are known.
        let objects = 10_000;
        let cost = |turn: usize| if turn % 6 == 5 { 40_000 } else { 30 };
        let calls = (0..12).flat_map(|turn| (0..objects).map(move |object| (object, cost(turn))));
        let (loads, _) = charged(calls, objects);
        let exact = loads.iter().filter(|load| (40_000..=80_300).contains(*load)).count();
        assert!(exact > objects * 9 / 10, "{exact}");
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
            assert!(meter.charge(Kind::Short, false, 10, Past { ticks: 10, calls: 1 }).0 > 0);
        }
        while !meter.is_due() {}
        assert_eq!(meter.charge(Kind::Short, false, 1_000_000, Past { ticks: 10, calls: 1 }).0, 1_000_000);
    }

    #[test]
    fn an_object_at_the_limit_does_not_flicker() {
        let meter = Meter::new(LIMITS);
        let after = |kind, ticks, calls| meter.kind_after(kind, 0, Past { ticks, calls });
        assert_eq!(meter.kind_after(Kind::Short, 999, Past { ticks: 999, calls: 1 }), Kind::Short);
        assert_eq!(meter.kind_after(Kind::Short, 1000, Past { ticks: 1000, calls: 1 }), Kind::Long);
        assert_eq!(meter.kind_after(Kind::New, 999, Past { ticks: 999, calls: 11 }), Kind::New);
        assert_eq!(meter.kind_after(Kind::New, 999, Past { ticks: 999, calls: 12 }), Kind::Short);
        assert_eq!(meter.kind_after(Kind::New, 1000, Past { ticks: 1000, calls: 9 }), Kind::Long);
        assert_eq!(meter.kind_after(Kind::New, 50_000, Past { ticks: 50_000, calls: 1 }), Kind::Huge);
        assert_eq!(after(Kind::Long, 100 * 500, 100), Kind::Long);
        assert_eq!(after(Kind::Long, 100 * 499, 100), Kind::Short);
        assert_eq!(after(Kind::Long, 10 * 499, 10), Kind::Long, "few calls say nothing");
        assert_eq!(after(Kind::Long, 50_000, 1), Kind::Huge);
        assert_eq!(after(Kind::Huge, 100 * 25_000, 100), Kind::Huge);
        assert_eq!(after(Kind::Huge, 100 * 24_999, 100), Kind::Long);
    }

    #[test]
    fn an_object_with_short_calls_in_a_period_is_as_good_as_new_in_the_next() {
        let meter = Meter::new(LIMITS);
        assert_eq!(meter.next_period(Kind::Long, Past { ticks: 3 * 499, calls: 3 }), Kind::New);
        assert_eq!(meter.next_period(Kind::Long, Past { ticks: 3 * 500, calls: 3 }), Kind::Long);
        assert_eq!(meter.next_period(Kind::Huge, Past::default()), Kind::Huge, "no call says nothing");
        assert_eq!(meter.next_period(Kind::Short, Past { ticks: 100 * 30, calls: 100 }), Kind::New);
    }

    #[test]
    fn a_new_object_whose_first_calls_could_not_be_timed_is_found_at_random() {
        let meter = Meter::new(LIMITS);
        assert_eq!(meter.kind_untimed(Kind::New, CALLS_LEAST - 1), Kind::New);
        assert_eq!(meter.kind_untimed(Kind::New, CALLS_LEAST), Kind::Short);
        for kind in [Kind::Short, Kind::Long, Kind::Huge] {
            assert_eq!(meter.kind_untimed(kind, CALLS_LEAST), kind);
        }
    }

    #[test]
    fn an_object_that_becomes_long_is_charged_in_the_same_period() {
        let meter = Meter::new(LIMITS);
        let mut kind = Kind::default();
        for (cost, calls) in [(30, 10_000), (40_000, 20), (30, 10_000), (40_000, 20)] {
            let mut past = Past::default();
            for _ in 0..calls {
                let alone = meter.times_alone(kind, past.calls);
                past.calls += 1;
                if alone || meter.is_due() {
                    let charge;
                    (charge, kind) = meter.charge(kind, alone, cost, past);
                    past.ticks += charge;
                }
            }
            let (load, total) = (past.ticks, cost * calls);
            assert!(error(load, total).abs() < 0.1, "{load} of {total}");
            kind = meter.next_period(kind, past);
        }
    }

    #[test]
    fn every_call_is_timed_where_that_costs_nothing() {
        let meter = Meter::new(Limits { cost: 0, ..LIMITS });
        for calls in 1..100 {
            assert!(meter.is_due(), "call {calls}");
            assert_eq!(meter.charge(Kind::Short, false, 7, Past { ticks: 0, calls }), (7, Kind::Short));
        }
    }
}
