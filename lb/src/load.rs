//! Measuring load without reading the clock at every call.
//!
//! A clock read before and after an entry costs about as much as delivering the message, so entries that are
//! short on average are timed at one call in 16 only. The others are charged the average of their entry, and a timed
//! call settles the difference for the calls skipped before it. So what an object is charged is right in expectation
//! (the average serves as a *control variate*) even where objects with the same entry differ, or a rare
//! call is long; and exact where calls cost the same.

/// Below the limit, this many calls are skipped at most between two timed ones: 15 on average. The number is random,
/// or entries that take turns could always be timed on the same turn.
const GAP_MAX: u32 = 30;

/// The newest sample counts for an eighth of the average: steady enough, and forgets an old load in 20 samples.
const MEMORY: u32 = 8;

/// Averages have this many bits after the point, or a slow decrease would be lost in rounding.
const FRACTION: u32 = 8;

/// The load meter of a PE. Times are in ticks of whatever clock the caller reads; the meter reads none.
///
/// ```
/// use talisman_lb::load::Meter;
///
/// let mut meter = Meter::new(2_000); // a microsecond on a clock of 2 GHz
/// let mut load = 0;
/// for _ in 0..1000 {
///     if meter.begin(0) {
///         let ticks = 150; // clock, call, clock
///         load += meter.end(0, ticks);
///     } else {
///         load += meter.estimate(0); // call
///     }
/// }
/// assert_eq!(load, 150_000);
/// ```
#[derive(Debug)]
pub struct Meter {
    entries: Vec<Entry>,
    limit: u64,
    random: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The moving average, in ticks with `FRACTION` bits after the point.
    average: u64,
    /// Samples in the average so far, up to `MEMORY`.
    samples: u32,
    /// Calls to skip before the next is timed.
    left: u32,
    /// Calls skipped since the last timed one, when `left` is zero.
    gap: u32,
}

impl Meter {
    /// A meter that times every call of the entries which take `limit` ticks or more on average: about a
    /// microsecond's worth, where the clock is a few per cent of the call.
    pub fn new(limit: u64) -> Self {
        Meter { entries: Vec::new(), limit, random: 0x9e37_79b9 }
    }

    /// Whether to time the call of entry number `entry` that begins now. If so, report it to [`Meter::end`];
    /// otherwise charge the object [`Meter::estimate`]. Entries are numbered from zero; the first call is timed.
    #[inline]
    pub fn begin(&mut self, entry: usize) -> bool {
        match self.entries.get_mut(entry) {
            Some(Entry { left: 0, .. }) => true,
            Some(entry) => {
                entry.left -= 1;
                false
            }
            None => self.grow(entry),
        }
    }

    /// What a call that is not timed is charged, in ticks.
    #[inline]
    pub fn estimate(&self, entry: usize) -> i64 {
        self.entries.get(entry).map_or(0, Entry::estimate)
    }

    /// Takes in the `ticks` of a timed call; gives what to charge its object. That settles the calls skipped before,
    /// so it is negative when they were charged too much: charges mean something as a sum.
    pub fn end(&mut self, entry: usize, ticks: u64) -> i64 {
        let (limit, random) = (self.limit, self.random());
        let Some(entry) = self.entries.get_mut(entry) else { return 0 };
        let ticks = ticks.min(TICKS_MAX);
        let charge = ticks as i64 + i64::from(entry.gap) * (ticks as i64 - entry.estimate());
        entry.take_in(ticks);
        let gap = if entry.estimate() as u64 >= limit { 0 } else { random % (GAP_MAX + 1) };
        (entry.left, entry.gap) = (gap, gap);
        charge
    }

    #[cold]
    fn grow(&mut self, entry: usize) -> bool {
        self.entries.resize(entry + 1, Entry::default());
        true
    }

    /// Marsaglia's 32-bit xorshift: a few instructions, the same in every run.
    fn random(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }
}

/// Keeps the sums below in 64 bits: half an hour at 1 GHz, in one call.
const TICKS_MAX: u64 = 1 << 41;

impl Entry {
    fn estimate(&self) -> i64 {
        (self.average >> FRACTION) as i64
    }

    fn take_in(&mut self, ticks: u64) {
        // The first samples count alike, so that the average does not start from zero.
        self.samples = (self.samples + 1).min(MEMORY);
        let sample = ticks << FRACTION;
        self.average = match self.samples {
            // Soon always this case: without a division.
            MEMORY => self.average - self.average / u64::from(MEMORY) + sample / u64::from(MEMORY),
            few => (self.average * u64::from(few - 1) + sample) / u64::from(few),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 1000;

    /// What is charged in all, and how many calls were timed.
    fn charged(meter: &mut Meter, entry: usize, costs: impl IntoIterator<Item = u64>) -> (i64, usize) {
        let (mut load, mut timed) = (0, 0);
        for cost in costs {
            if meter.begin(entry) {
                load += meter.end(entry, cost);
                timed += 1;
            } else {
                load += meter.estimate(entry);
            }
        }
        (load, timed)
    }

    /// Relative error of the charges, for the costs of `calls` calls.
    fn error(calls: u64, cost: impl Fn(u64) -> u64) -> f64 {
        let total: u64 = (0..calls).map(&cost).sum();
        let (load, _) = charged(&mut Meter::new(LIMIT), 3, (0..calls).map(cost));
        (load as f64 - total as f64) / total as f64
    }

    /// Scatters the numbers of calls: a cost that depends on this has no period.
    fn scatter(call: u64) -> u64 {
        (call.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
    }

    #[test]
    fn short_calls_are_timed_one_in_sixteen() {
        let (load, timed) = charged(&mut Meter::new(LIMIT), 0, [90; 16_000]);
        assert_eq!(load, 90 * 16_000, "equal calls are charged exactly");
        assert!((900..1100).contains(&timed), "{timed}");
    }

    #[test]
    fn long_calls_are_all_timed() {
        let costs: Vec<u64> = (0..500).map(|call| 1500 + scatter(call) % 100).collect();
        let (load, timed) = charged(&mut Meter::new(LIMIT), 0, costs.clone());
        assert_eq!((load, timed), (costs.iter().sum::<u64>() as i64, 500));
    }

    #[test]
    fn an_entry_that_changes_is_noticed() {
        let mut meter = Meter::new(LIMIT);
        charged(&mut meter, 0, [50; 1000]);
        charged(&mut meter, 0, [20_000; 32]);
        assert_eq!(charged(&mut meter, 0, [20_000; 100]), (2_000_000, 100));
        charged(&mut meter, 0, [50; 400]);
        assert!(charged(&mut meter, 0, [50; 1600]).1 < 200);
    }

    #[test]
    fn varying_costs_are_right_on_average() {
        assert!(error(100_000, |call| 50 + scatter(call) % 500).abs() < 0.01);
        assert!(error(100_000, |call| 100 + call / 150).abs() < 0.01, "a slow rise");
        assert!(error(100_000, |call| if call % 2 == 0 { 20 } else { 800 }).abs() < 0.02, "taking turns");
        assert!(
            error(100_000, |call| if call % 16 == 0 { 900 } else { 30 }).abs() < 0.05,
            "the sampling's own period"
        );
    }

    #[test]
    fn rare_long_calls_are_not_lost() {
        // One call in a hundred takes 20 times the limit; an average alone would miss most of this load.
        let rare = |call| if scatter(call).is_multiple_of(100) { 20_000 } else { 80 };
        assert!(error(400_000, rare).abs() < 0.1, "{}", error(400_000, rare));
    }

    #[test]
    fn objects_that_differ_are_told_apart() {
        // Two objects get calls of the same entry; one takes nine times as long.
        let (mut meter, mut loads) = (Meter::new(LIMIT), [0, 0]);
        for call in 0..100_000 {
            let object = (scatter(call) % 2) as usize;
            loads[object] += charged(&mut meter, 0, [[60, 540][object]]).0;
        }
        let ratio = loads[1] as f64 / loads[0] as f64;
        assert!((7.5..10.5).contains(&ratio), "{loads:?}");
    }

    #[test]
    fn entries_do_not_mix_and_absurd_times_are_survived() {
        let mut meter = Meter::new(LIMIT);
        charged(&mut meter, 5, [40; 100]);
        charged(&mut meter, 2, [u64::MAX; 100]);
        assert_eq!((meter.estimate(5), meter.estimate(2), meter.estimate(77)), (40, TICKS_MAX as i64, 0));
        assert_eq!(meter.end(1000, 1), 0, "an entry that never began");
    }
}
