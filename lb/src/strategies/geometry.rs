//! What strategies for objects with positions have in common.

use std::cmp::Ordering;

use super::least::Least;
use super::work::{NOWHERE, Work};
use super::{mapping, memory};
use crate::plan::Plan;
use crate::snapshot::Snapshot;

/// An object with a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub position: [f32; 3],
    /// Its place among the objects of the work.
    pub at: u32,
    pub weight: f64,
}

impl Point {
    /// By an axis, and then somehow.
    pub fn order(&self, other: &Point, axis: usize) -> Ordering {
        self.position[axis].total_cmp(&other.position[axis]).then(self.at.cmp(&other.at))
    }
}

/// The plan of a strategy that places points, each of the given ones once, as pairs of the point's `at` and its place.
///
/// Shares are in proportion for the points, too. Objects without a position then go to whoever is done first.
pub(super) fn plan(snapshot: &Snapshot, place: impl FnOnce(&Work, Vec<Point>) -> Vec<(u32, u32)>) -> Plan {
    let work = Work::new(snapshot);
    if work.objects.is_empty() {
        return Plan::default();
    }
    let mut placed = vec![NOWHERE; work.objects.len()];
    for (at, place) in place(&work, points(snapshot, &work)) {
        placed[at as usize] = place;
    }
    mapping::keep(snapshot, &work, &mut placed);
    place_the_rest(snapshot, &work, &mut placed);
    memory::plan(snapshot, &work, placed)
}

/// How far the points extend along each axis.
pub(super) fn sides(points: &[Point]) -> [f64; 3] {
    let (low, high) = corners(points);
    std::array::from_fn(|axis| f64::from(high[axis]) - f64::from(low[axis]))
}

/// The lowest and the highest coordinates of the points.
pub(super) fn corners(points: &[Point]) -> ([f32; 3], [f32; 3]) {
    let mut corners = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for point in points {
        for axis in 0..3 {
            corners.0[axis] = corners.0[axis].min(point.position[axis]);
            corners.1[axis] = corners.1[axis].max(point.position[axis]);
        }
    }
    corners
}

/// The objects that have a position that is one.
fn points(snapshot: &Snapshot, work: &Work) -> Vec<Point> {
    let point = |(at, &object): (usize, &u32)| {
        let position = snapshot.objects[object as usize].position?;
        let is_one = position.iter().all(|coordinate| coordinate.is_finite());
        is_one.then_some(Point { position, at: at as u32, weight: work.weights[at] })
    };
    work.objects.iter().enumerate().filter_map(point).collect()
}

/// Those that have no place yet, the heaviest first, each to whoever is done first with it. Of equals, it stays where it is.
fn place_the_rest(snapshot: &Snapshot, work: &Work, placed: &mut [u32]) {
    let mut rest: Vec<u32> = (0..placed.len() as u32).filter(|&at| placed[at as usize] == NOWHERE).collect();
    if rest.is_empty() {
        return;
    }
    let weight = |at: u32| work.weights[at as usize];
    rest.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
    let (sums, current) = (work.placed_weights(placed), work.current(snapshot));
    let mut times = Least::new((0..sums.len()).map(|place| work.time(place, sums[place])).collect());
    for at in rest {
        let Some(first) = times.of(0..sums.len()) else { return };
        let own = current[at as usize] as usize;
        let stays = own < sums.len() && times.value(own) <= times.value(first);
        let to = if stays { own } else { first };
        times.set(to, times.value(to) + weight(at) / work.places[to].speed);
        placed[at as usize] = to as u32;
    }
}
