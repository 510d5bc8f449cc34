//! The PEs by neighbourhood and by speed, so that those near by are found together.

use crate::lowest::Lowest;
use crate::snapshot::Snapshot;
use std::ops::Range;

/// The PEs in the order of hosts, nodes and numbers, so that what is near is a span of positions.
#[derive(Clone, Debug)]
pub(crate) struct Neighborhoods {
    /// By position.
    pub(crate) pes: Vec<u32>,
    /// By PE.
    pub(crate) of: Vec<Position>,
    /// Of speed.
    pub(crate) classes: u16,
}

/// Where a PE is among them.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    pub(crate) number: u32,
    /// Of speed.
    pub(crate) class: u16,
    node: Range<u32>,
    host: Range<u32>,
}

impl Neighborhoods {
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let address = |&pe: &u32| (snapshot.host(pe), snapshot.pes[pe as usize].node, pe);
        let mut pes: Vec<u32> = (0..snapshot.pes.len() as u32).collect();
        pes.sort_unstable_by_key(address);
        let hosts = spans(&pes, |pe| snapshot.host(pe));
        let nodes = spans(&pes, |pe| (snapshot.host(pe), snapshot.pes[pe as usize].node));
        let (class_of, classes) = speed_classes(snapshot);
        let mut of = vec![Position { number: 0, class: 0, node: 0..0, host: 0..0 }; pes.len()];
        for ((number, &pe), (node, host)) in (0..).zip(&pes).zip(nodes.into_iter().zip(hosts)) {
            of[pe as usize] = Position { number, class: class_of[pe as usize], node, host };
        }
        Neighborhoods { pes, of, classes }
    }

    /// The times of the positions whose PEs are of a class and take objects.
    pub(crate) fn lowest(&self, class: u16, snapshot: &Snapshot, times: &[f64]) -> Lowest {
        let key = |&pe: &u32| match snapshot.pes[pe as usize].available && self.of[pe as usize].class == class
        {
            true => times[pe as usize],
            false => f64::INFINITY,
        };
        Lowest::new(self.pes.iter().map(key).collect())
    }

    /// The spans of a PE's node, of its host, and all; each empty if it is no more than the one before, or the PE is not known.
    pub(crate) fn around(&self, pe: u32) -> [Range<u32>; 3] {
        let all = 0..self.pes.len() as u32;
        let Some(Position { node, host, .. }) = self.of.get(pe as usize).cloned() else {
            return [0..0, 0..0, all];
        };
        let beyond_host = if host == all { 0..0 } else { all };
        let beyond_node = if host == node { 0..0 } else { host };
        [node, beyond_node, beyond_host]
    }
}

/// By position, the span of those that have the same neighbourhood.
fn spans<T: PartialEq>(pes: &[u32], neighbourhood: impl Fn(u32) -> T) -> Vec<Range<u32>> {
    let mut spans = Vec::with_capacity(pes.len());
    for together in pes.chunk_by(|&a, &b| neighbourhood(a) == neighbourhood(b)) {
        let start = spans.len() as u32;
        spans.resize(spans.len() + together.len(), start..start + together.len() as u32);
    }
    spans
}

/// By PE, a number for its speed, and how many numbers there are. Fast PEs have the lower ones. PEs of one number differ little, so that
/// the least busy of them is nearly the one that is ready first; there are few numbers, because each is asked for every object.
fn speed_classes(snapshot: &Snapshot) -> (Vec<u16>, u16) {
    let mut steps_per_doubling = 4.0;
    loop {
        let class = |rate: f64| (-rate.log2() * steps_per_doubling).round() as i32;
        let of: Vec<i32> = snapshot.pes.iter().map(|pe| class(pe.rate())).collect();
        let mut known = of.clone();
        known.sort_unstable();
        known.dedup();
        if known.len() <= CLASSES_MAX {
            let number = |class: &i32| known.partition_point(|other| other < class) as u16;
            return (of.iter().map(number).collect(), known.len() as u16);
        }
        steps_per_doubling /= 2.0;
    }
}

/// More would take longer than they would gain.
const CLASSES_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    #[test]
    fn the_neighbourhoods_of_a_pe_are_spans_that_grow() {
        // PEs 0 and 3 are on node 1, PE 1 on node 0 of the same host, PE 2 on node 2 of another.
        let mut snapshot = line(4, &[]);
        for (pe, node) in [1, 0, 2, 1].into_iter().enumerate() {
            snapshot.pes[pe].node = node;
        }
        snapshot.nodes[1].host = 0;
        let neighborhoods = Neighborhoods::new(&snapshot);
        assert_eq!(neighborhoods.pes, [1, 0, 3, 2]);
        assert_eq!(neighborhoods.around(3), [1..3, 0..3, 0..4]);
        assert_eq!(neighborhoods.around(2), [3..4, 0..0, 0..4], "its host is no more than its node");
        assert_eq!(neighborhoods.around(9), [0..0, 0..0, 0..4]);
        assert_eq!(Neighborhoods::new(&line(1, &[])).around(0), [0..1, 0..0, 0..0]);
    }

    #[test]
    fn many_speeds_make_few_classes() {
        let mut snapshot = line(1000, &[]);
        for (number, pe) in (0..).zip(&mut snapshot.pes) {
            pe.speed = 2f64.powi(number % 60 - 30);
        }
        let (of, classes) = speed_classes(&snapshot);
        assert!((4..=8).contains(&classes) && of.iter().all(|&class| class < classes));
        assert!(of[59] < of[0], "the fast ones first");
    }
}
