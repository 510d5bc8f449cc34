//! When balancing is worth what it costs.
//!
//! After Menon, Jain, Zheng, Kalé, "Automated Load Balancing Invocation Based on Application Characteristics" (Cluster 2012).
//! Loads are looked at now and then, in equal intervals of the program. What the busiest PE has to compute beyond the average
//! is lost in each; a straight line through what was lost since the last step predicts what will be. Balancing would bring it
//! back to what the last step left, and so gain the difference in every interval to come; half as many of these are reckoned
//! with as have been since the last step. Where the loss grows evenly, that makes steps come exactly so often that balancing and
//! imbalance cost least together: every √(2·cost/growth) intervals. A loss that stays as it is makes up for a step after some
//! time, and a step that gains nothing is not repeated.

/// Decides when to balance.
#[derive(Clone, Debug, Default)]
pub struct Trigger {
    /// Of the intervals since the last step.
    line: Line,
    /// Seconds that a step takes, as measured.
    cost: Option<f64>,
    /// Seconds that are lost in an interval right after a step.
    left: f64,
    /// What the interval before the last step lost.
    lost_before: f64,
}

/// An interval of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Seconds that the busiest PE had to compute in it.
    pub max: f64,
    /// What each would have had to if all had been even.
    pub average: f64,
}

/// Loads that differ by less are even enough, whatever a step costs.
const RATIO_MIN: f64 = 1.02;

/// What a step costs is taken from the last ones, of which the newest counts for so much.
const NEWEST: f64 = 0.5;

impl Trigger {
    /// Looks at the interval that ends; whether to balance now.
    pub fn look(&mut self, interval: Interval) -> bool {
        let average = sound(interval.average);
        let lost = (sound(interval.max) - average).max(0.0);
        self.line.add(lost);
        if self.line.points == 1.0 {
            // A step that made things worse left no more than there was.
            self.left = if self.cost.is_some() { lost.min(self.lost_before) } else { 0.0 };
        }
        self.lost_before = lost;
        lost > average * (RATIO_MIN - 1.0) && self.gain() > self.cost.unwrap_or(0.0)
    }

    /// A step was made, and took so many seconds.
    pub fn balanced(&mut self, seconds: f64) {
        let seconds = sound(seconds);
        self.cost = Some(self.cost.map_or(seconds, |cost| cost + (seconds - cost) * NEWEST));
        self.line = Line::default();
    }

    /// Seconds that balancing now would gain in the intervals to come.
    pub fn gain(&self) -> f64 {
        (self.line.last() - self.left) * self.line.points / 2.0
    }
}

/// The straight line that is nearest to points at 1, 2, 3, …, by least squares.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    points: f64,
    mean: f64,
    /// Sum of the products of deviations of x and y.
    together: f64,
}

impl Line {
    fn add(&mut self, y: f64) {
        let mean_x = (self.points + 1.0) / 2.0;
        self.points += 1.0;
        // Welford's way: no large sums that cancel out.
        self.together += (self.points - mean_x) * (y - self.mean) * (self.points - 1.0) / self.points;
        self.mean += (y - self.mean) / self.points;
    }

    /// Its height at the last point.
    fn last(&self) -> f64 {
        if self.points < 2.0 {
            return self.mean;
        }
        let spread = self.points * (self.points * self.points - 1.0) / 12.0;
        self.mean + self.together / spread * (self.points - 1.0) / 2.0
    }
}

/// No interval is longer.
const SECONDS_MAX: f64 = 1e15;

/// What is no number of seconds counts as none.
fn sound(seconds: f64) -> f64 {
    if seconds > 0.0 { seconds.min(SECONDS_MAX) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AVERAGE: f64 = 1.0;

    /// After how many intervals it balances, if those lose so much.
    fn due_after(trigger: &mut Trigger, lost: impl Fn(u32) -> f64) -> Option<u32> {
        (1..10_000).find(|number| trigger.look(Interval { max: AVERAGE + lost(*number), average: AVERAGE }))
    }

    /// One that has balanced and knows what that costs.
    fn experienced(cost: f64) -> Trigger {
        let mut trigger = Trigger::default();
        trigger.balanced(cost);
        trigger
    }

    #[test]
    fn the_line_is_that_of_least_squares() {
        let mut line = Line::default();
        [1.0, 3.0, 2.0, 6.0].into_iter().for_each(|y| line.add(y));
        // By hand: slope 1.4, mean 3 at 2.5.
        assert!((line.last() - 5.1).abs() < 1e-12, "{}", line.last());
    }

    #[test]
    fn the_first_step_shows_what_one_costs() {
        assert_eq!(due_after(&mut Trigger::default(), |_| 0.5), Some(1));
        assert_eq!(due_after(&mut Trigger::default(), |_| 0.01), None, "even enough");
    }

    #[test]
    fn where_the_loss_grows_evenly_steps_come_as_often_as_is_best() {
        for (cost, growth) in [(1.0_f64, 0.1), (10.0, 0.05), (1.0, 0.005), (200.0, 0.1)] {
            let best = (2.0 * cost / growth).sqrt();
            let due =
                f64::from(due_after(&mut experienced(cost), |number| f64::from(number) * growth).unwrap());
            assert!(
                (due / best - 1.0).abs() < 0.25 || (due - best).abs() < 2.0,
                "{due} where {best} is best"
            );
        }
    }

    #[test]
    fn a_loss_that_came_and_stays_makes_up_for_a_step_in_the_end() {
        let jump = |number| if number < 10 { 0.0 } else { 1.0 };
        let due = due_after(&mut experienced(5.0), jump).unwrap();
        assert!((11..25).contains(&due), "{due}");
        assert!(due_after(&mut experienced(0.01), jump).unwrap() <= 11);
    }

    #[test]
    fn a_step_that_gains_nothing_is_not_repeated() {
        let mut trigger = Trigger::default();
        assert_eq!(due_after(&mut trigger, |_| 0.5), Some(1));
        trigger.balanced(0.001);
        assert_eq!(due_after(&mut trigger, |_| 0.5), None);
        // But what comes to it counts.
        assert!(due_after(&mut trigger, |_| 0.9).is_some());
    }

    #[test]
    fn costs_are_followed() {
        let mut trigger = experienced(100.0);
        (0..20).for_each(|_| trigger.balanced(1.0));
        assert!((trigger.cost.unwrap() - 1.0).abs() < 0.01);
    }

    #[test]
    fn odd_measurements_are_harmless() {
        let mut trigger = experienced(f64::NAN);
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            trigger.look(Interval { max: value, average: 1.0 });
            trigger.look(Interval { max: 1.0, average: value });
            assert!(trigger.gain().is_finite());
        }
        assert!(!Trigger::default().look(Interval { max: 0.0, average: 0.0 }));
    }
}
