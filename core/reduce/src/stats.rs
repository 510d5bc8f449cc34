//! Count, mean, extremes and variance.

use talisman_pup::Pup;

use super::{Elementwise, ExactSum, Max, Min, ReduceError, Reducer};

/// [`Statistics`] of the numbers, from their exact sum and the exact sum of their squares.
#[derive(Clone, Copy, Debug)]
pub struct Stats;

/// What [`Stats`] gives.
#[derive(Clone, Copy, PartialEq, Debug, Pup)]
pub struct Statistics {
    /// How many numbers there were.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The smallest, as by [`Min`].
    pub min: f64,
    /// The largest, as by [`Max`].
    pub max: f64,
    /// The mean square of the distances from the mean (the population variance, divided by `count`). Free of
    /// cancellation: rounded three times, after exact sums. Infinite when a square is outside the range of `f64`,
    /// that is from 1.3e154 on; NaN when a number is infinite or NaN.
    pub variance: f64,
}

impl Statistics {
    /// The estimate of the variance of what the numbers are a sample of: divided by `count - 1`. This is `variance()`
    /// of `CkReduction::statisticsElement` in Charm++. Zero for a single number.
    pub fn sample_variance(&self) -> f64 {
        match self.count {
            0 | 1 => 0.0,
            count => self.variance * count as f64 / (count - 1) as f64,
        }
    }
}

/// What [`Stats`] collects on the way.
#[derive(Clone, Debug, Pup)]
pub struct Moments {
    count: u64,
    sum: ExactSum,
    squares: ExactSum,
    min: f64,
    max: f64,
}

impl Elementwise for Stats {}

impl Reducer<f64> for Stats {
    type Partial = Moments;
    type Output = Statistics;

    fn lift(value: f64, at: u128) -> Moments {
        let (sum, squares) = (ExactSum::new(), ExactSum::new());
        let mut moments = Moments { count: 0, sum, squares, min: value, max: value };
        Self::add(&mut moments, value, at);
        moments
    }

    fn combine(total: &mut Moments, next: Moments) {
        total.count = total.count.saturating_add(next.count);
        total.sum.merge(&next.sum);
        total.squares.merge(&next.squares);
        total.min = Min::of_floats(total.min, next.min);
        total.max = Max::of_floats(total.max, next.max);
    }

    fn add(total: &mut Moments, value: f64, _: u128) {
        total.count = total.count.saturating_add(1);
        total.sum.add(value);
        add_product(&mut total.squares, value, value);
        total.min = Min::of_floats(total.min, value);
        total.max = Max::of_floats(total.max, value);
    }

    fn finish(total: Moments) -> Result<Statistics, ReduceError> {
        if total.count == 0 {
            return Err(ReduceError::Empty);
        }
        Ok(Statistics {
            count: total.count,
            mean: total.sum.to_f64() / total.count as f64,
            min: Min::of_floats(total.min, total.min),
            max: Max::of_floats(total.max, total.max),
            variance: variance(&total),
        })
    }
}

/// Adds `a * b` without rounding, as the rounded product and what the rounding took away.
fn add_product(sum: &mut ExactSum, a: f64, b: f64) {
    let product = a * b;
    sum.add(product);
    if product.is_finite() {
        sum.add(a.mul_add(b, -product));
    }
}

/// `(n Σx² - (Σx)²) / n²`, the difference being exact until it is rounded.
fn variance(moments: &Moments) -> f64 {
    if !moments.sum.to_f64().is_finite() {
        return f64::NAN;
    }
    let count = moments.count as f64;
    let mut difference = ExactSum::new();
    for square in parts(&moments.squares) {
        add_product(&mut difference, count, square);
    }
    let sum = parts(&moments.sum);
    for a in &sum {
        for b in &sum {
            add_product(&mut difference, -a, *b);
        }
    }
    match difference.to_f64() / count / count {
        variance if variance.is_finite() => variance.max(0.0),
        _ => f64::INFINITY,
    }
}

/// The exact sum as an unrounded sum of few `f64`: each is what is left, rounded.
fn parts(sum: &ExactSum) -> Vec<f64> {
    let mut left = sum.clone();
    let mut parts = Vec::new();
    // Each part takes 53 bits away, of 2,100 and some; forged bytes must not keep this going either.
    for _ in 0..PARTS_MAX {
        let part = left.to_f64();
        if part == 0.0 {
            break;
        }
        parts.push(part);
        if !part.is_finite() {
            break;
        }
        left.add(-part);
    }
    parts
}

const PARTS_MAX: usize = 48;
