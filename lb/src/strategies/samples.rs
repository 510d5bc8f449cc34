//! Small snapshots for tests.

use crate::snapshot::{Edge, Key, Node, Object, Pe, Snapshot};

/// A PE of each speed, on a node each, on one host.
pub(super) fn pes(speeds: &[f64]) -> Snapshot {
    let pe =
        |(node, &speed): (usize, &f64)| Pe { node: node as u32, speed, background: 0.0, available: true };
    Snapshot {
        pes: speeds.iter().enumerate().map(pe).collect(),
        nodes: vec![Node { host: 0, memory: None }; speeds.len()],
        ..Snapshot::default()
    }
}

/// PEs of speed 1: so many hosts, nodes on each, and PEs on each of those.
pub(super) fn machine(hosts: u32, nodes: u32, pes: u32) -> Snapshot {
    let pe = |number: u32| Pe { node: number / pes, speed: 1.0, background: 0.0, available: true };
    Snapshot {
        pes: (0..hosts * nodes * pes).map(pe).collect(),
        nodes: (0..hosts * nodes).map(|node| Node { host: node / nodes, memory: None }).collect(),
        ..Snapshot::default()
    }
}

/// An object of 100 bytes on PE 0.
pub(super) fn object(number: usize, load: f64) -> Object {
    let key = Key { collection: 1, index: number as u128 };
    Object { key, load, bytes: 100, pe: 0, migratable: true, position: None }
}

/// Objects of load 1 in a square, with an edge of 100 bytes to the right and to the lower neighbour each.
pub(super) fn square(snapshot: &mut Snapshot, side: usize) {
    for number in 0..side * side {
        let (x, y) = (number % side, number / side);
        snapshot.objects.push(Object { position: Some([x as f32, y as f32, 0.0]), ..object(number, 1.0) });
        let neighbours = [(x + 1 < side, number + 1), (y + 1 < side, number + side)];
        for (_, to) in neighbours.into_iter().filter(|(is, _)| *is) {
            snapshot.edges.push(Edge { from: number as u32, to: to as u32, messages: 1.0, bytes: 100.0 });
        }
    }
}
