//! Recursive coordinate bisection (Berger and Bokhari 1987; `OrbLB` and `RecBipartLB` in Charm++): space is cut into boxes.

use super::geometry::{self, Point};
use super::work::Place;
use crate::plan::Plan;
use crate::snapshot::Snapshot;
use crate::strategy::Strategy;

/// Cuts space in two across its longest side, so that each half of the PEs has its share of the load, and each half likewise.
///
/// Objects without a position go to whoever is done first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rcb;

impl Strategy for Rcb {
    fn name(&self) -> &str {
        "rcb"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        geometry::plan(snapshot, |work, mut points| {
            let mut placed = Vec::with_capacity(points.len());
            bisect(&work.places, 0, &mut points, &mut placed);
            placed
        })
    }
}

/// Gives each of the points, whose order it changes, one of the places.
fn bisect(places: &[Place], first: usize, points: &mut [Point], placed: &mut Vec<(u32, u32)>) {
    if places.len() <= 1 || points.is_empty() {
        placed.extend(points.iter().map(|point| (point.at, first as u32)));
        return;
    }
    let middle = middle(places);
    let (low, high) = places.split_at(middle);
    let (share, rest) = (sum(low), sum(high));
    let part = if share + rest > 0.0 { share / (share + rest) } else { 0.5 };
    let weight: f64 = points.iter().map(|point| point.weight).sum();
    let cut = cut(points, longest_side(points), weight * part);
    let (below, above) = points.split_at_mut(cut);
    bisect(low, first, below, placed);
    bisect(high, first + middle, above, placed);
}

/// Where a row of places is cut in two: between hosts if it can be, else between nodes, so that neighbours in space are on
/// one host, and as near the middle as that allows.
pub(super) fn middle(places: &[Place]) -> usize {
    let level = |at: usize| match (&places[at - 1], &places[at]) {
        (a, b) if a.host != b.host => 0,
        (a, b) if a.node != b.node => 1,
        _ => 2,
    };
    (1..places.len()).min_by_key(|&at| (level(at), at.abs_diff(places.len() / 2), at)).unwrap_or(0)
}

fn sum(places: &[Place]) -> f64 {
    places.iter().map(|place| place.share).sum()
}

/// The axis along which the points extend furthest.
fn longest_side(points: &[Point]) -> usize {
    let sides = geometry::sides(points);
    (0..3).max_by(|&a, &b| sides[a].total_cmp(&sides[b]).then(b.cmp(&a))).unwrap_or(0)
}

/// Orders the points so far that the first ones, as many as it says, are lowest along the axis and weigh as nearly so much as can be.
fn cut(points: &mut [Point], axis: usize, target: f64) -> usize {
    let (mut from, mut to, mut before) = (0, points.len(), 0.0);
    while to - from > 1 {
        let half = (to - from) / 2;
        let range = &mut points[from..to];
        range.select_nth_unstable_by(half, |a, b| a.order(b, axis));
        let weight: f64 = range[..half].iter().map(|point| point.weight).sum();
        match before + weight <= target {
            true => {
                before += weight;
                from += half;
            }
            false => to = from + half,
        }
    }
    // The one that the cut would go through belongs where more of it is.
    match points.get(from) {
        Some(point) if before + point.weight / 2.0 <= target => from + 1,
        _ => from,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::samples;

    #[test]
    fn objects_are_placed_by_position() {
        samples::placed_by_position(&mut Rcb);
    }
}
