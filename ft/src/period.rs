//! How often to take checkpoints: Young 1974, with the higher orders of Daly 2006.
//!
//! Too many cost time, and with too few much is lost when a node is. Where a checkpoint costs C and the mean time between two
//! failures is M, the least is lost with about √(2CM) between two of them.

use std::time::Duration;

/// The mean time between two failures of a job of which nothing is known: none in an hour is nothing unusual, and a
/// checkpoint every few seconds costs little even if there is none in a month.
const UNKNOWN: Duration = Duration::from_secs(3600);
/// As many checkpoints are looked back at as have half the weight in what one costs.
const WEIGHT: f64 = 0.5;
/// What the first checkpoint costs is not known before it is taken.
const FIRST: Duration = Duration::from_millis(500);
/// Shortest period: whatever the formula says, a job is to do something beside.
const LEAST: Duration = Duration::from_millis(10);

/// Where nothing else is done while a checkpoint is taken, so many times what one costs is left until the next: they take a fifth of the
/// time at most.
const APART: u32 = 4;

/// What is known of the costs of checkpoints and of failures so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Period {
    /// What a checkpoint costs, in seconds, smoothed.
    cost: Option<f64>,
    /// The mean time between failures that the user has said.
    mtbf: Option<Duration>,
    failures: u32,
}

impl Period {
    /// At the start of a job, whose user may know the mean time between failures.
    #[must_use]
    pub fn new(mtbf: Option<Duration>) -> Self {
        Period { mtbf, ..Period::default() }
    }

    /// A checkpoint cost so much.
    pub fn checkpoint(&mut self, cost: Duration) {
        let cost = cost.as_secs_f64();
        self.cost = Some(self.cost.map_or(cost, |before| before + WEIGHT * (cost - before)));
    }

    /// So many failures there have been since the start.
    pub fn failed(&mut self, failures: u32) {
        self.failures = failures;
    }

    /// How long after a checkpoint the next one is to begin, `elapsed` after the job's start.
    #[must_use]
    pub fn next(&self, elapsed: Duration) -> Duration {
        let Some(cost) = self.cost else { return FIRST };
        let mtbf = self.mtbf(elapsed).as_secs_f64();
        Duration::try_from_secs_f64(daly(cost, mtbf)).unwrap_or(UNKNOWN).max(LEAST)
    }

    /// How long after a checkpoint the next one is to begin where a period is asked for, and entries wait for the whole of each.
    #[must_use]
    pub fn apart(&self, asked: Duration) -> Duration {
        let cost = self.cost.and_then(|cost| Duration::try_from_secs_f64(cost).ok()).unwrap_or_default();
        asked.max(cost.saturating_mul(APART))
    }

    /// The mean time between failures: what the user has said, or what has been seen, as if nothing had happened in the hour before the
    /// start.
    fn mtbf(&self, elapsed: Duration) -> Duration {
        self.mtbf.unwrap_or_else(|| (UNKNOWN + elapsed) / (1 + self.failures))
    }
}

/// The time between the end of a checkpoint and the beginning of the next one with which a job ends soonest, in the unit of its
/// arguments: what one costs, and the mean time between two failures (Daly, "A higher order estimate of the optimum
/// checkpoint interval for restart dumps", equation 37).
#[must_use]
pub fn daly(cost: f64, mtbf: f64) -> f64 {
    if cost >= 2.0 * mtbf {
        return mtbf;
    }
    let ratio = cost / (2.0 * mtbf);
    (2.0 * cost * mtbf).sqrt() * (1.0 + ratio.sqrt() / 3.0 + ratio / 9.0) - cost
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// The expected time for a second of work, in checkpoints of `cost` seconds every `period`, with failures of this mean time
    /// at random moments and no time for the restart (Daly's equation 13).
    fn time_for_a_second(period: f64, cost: f64, mtbf: f64) -> f64 {
        mtbf * (((period + cost) / mtbf).exp() - 1.0) / period
    }

    #[test]
    fn no_other_period_is_much_better() {
        for (cost, mtbf) in [(0.01, 3600.0), (1.0, 3600.0), (60.0, 3600.0), (1.0, 10.0), (0.5, 1.0)] {
            let at = |factor: f64| time_for_a_second(daly(cost, mtbf) * factor, cost, mtbf);
            let best = (1..400).map(|percent| at(f64::from(percent) / 100.0)).fold(f64::INFINITY, f64::min);
            assert!(at(1.0) <= best * 1.001, "{cost} {mtbf}: {} where {best} can be had", at(1.0));
            assert!(at(0.4) > at(1.0) && at(2.5) > at(1.0), "{cost} {mtbf}");
        }
    }

    #[test]
    fn where_checkpoints_cost_more_than_failures_they_are_as_rare_as_those() {
        assert_eq!(daly(30.0, 10.0), 10.0);
    }

    #[test]
    fn the_period_follows_what_is_measured() {
        let mut period = Period::new(None);
        assert_eq!(period.next(SECOND), FIRST);
        period.checkpoint(SECOND);
        let calm = period.next(3600 * SECOND);
        assert!((115.0..125.0).contains(&calm.as_secs_f64()), "{calm:?}: √7200·2 of an hour or two");
        period.failed(7);
        let stormy = period.next(3600 * SECOND);
        assert!(stormy < calm / 2, "{stormy:?} after seven failures, {calm:?} without");
        (0..20).for_each(|_| period.checkpoint(SECOND / 100));
        assert!(period.next(3600 * SECOND) < stormy / 5);
    }

    #[test]
    fn checkpoints_for_which_all_wait_take_a_fifth_of_the_time_at_most() {
        let mut period = Period::new(None);
        assert_eq!(period.apart(SECOND), SECOND, "nothing is known of their cost");
        period.checkpoint(SECOND / 5);
        assert_eq!(period.apart(SECOND), SECOND);
        assert_eq!(period.apart(SECOND / 500), SECOND * 4 / 5);
    }

    #[test]
    fn what_the_user_knows_counts() {
        let mut period = Period::new(Some(10 * SECOND));
        period.checkpoint(SECOND / 10);
        period.failed(100);
        let next = period.next(SECOND).as_secs_f64();
        assert!((1.3..1.5).contains(&next), "{next}");
        period.checkpoint(Duration::ZERO);
        (0..50).for_each(|_| period.checkpoint(Duration::ZERO));
        assert_eq!(period.next(SECOND), LEAST);
    }
}
