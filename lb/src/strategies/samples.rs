//! Small snapshots for tests.

use crate::plan::Plan;
use crate::quality::Quality;
use crate::snapshot::{Edge, Key, Node, Object, Pe, Snapshot};
use crate::strategy::Strategy;

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

/// What holds for every strategy that cuts space.
pub(super) fn placed_by_position(strategy: &mut dyn Strategy) {
    neighbours_come_together_and_all_is_in_balance(strategy);
    fast_and_busy_pes_get_their_shares(strategy);
    objects_without_a_position_fill_up_what_is_left(strategy);
    once_placed_hardly_anybody_moves(strategy);
}

fn neighbours_come_together_and_all_is_in_balance(strategy: &mut dyn Strategy) {
    let mut snapshot = machine(2, 2, 2);
    square(&mut snapshot, 32);
    let quality = Quality::of(&snapshot, &strategy.plan(&snapshot));
    assert!(quality.over_ideal() < 1.01, "{quality:?}");
    // Eight parts of 8 by 16 have borders of 160 edges.
    assert!(quality.external_bytes <= 160.0 * 100.0, "{quality:?}");
    assert!(quality.bytes_between_hosts <= 32.0 * 100.0, "{quality:?}");
}

fn fast_and_busy_pes_get_their_shares(strategy: &mut dyn Strategy) {
    let mut snapshot = machine(1, 1, 4);
    square(&mut snapshot, 40);
    (snapshot.pes[1].speed, snapshot.pes[2].speed, snapshot.pes[3].background) = (0.5, 2.0, 100.0);
    let quality = Quality::of(&snapshot, &strategy.plan(&snapshot));
    assert!(quality.over_ideal() < 1.01, "{quality:?}");
}

fn objects_without_a_position_fill_up_what_is_left(strategy: &mut dyn Strategy) {
    let mut snapshot = machine(1, 1, 4);
    square(&mut snapshot, 20);
    snapshot.objects.iter_mut().step_by(3).for_each(|object| object.position = None);
    snapshot.objects[1].position = Some([f32::NAN, 0.0, f32::INFINITY]);
    let quality = Quality::of(&snapshot, &strategy.plan(&snapshot));
    assert!(quality.over_ideal() < 1.01, "{quality:?}");
}

fn once_placed_hardly_anybody_moves(strategy: &mut dyn Strategy) {
    let mut snapshot = machine(1, 2, 2);
    square(&mut snapshot, 32);
    for moved in strategy.plan(&snapshot).moves {
        snapshot.objects[moved.object as usize].pe = moved.to;
    }
    assert_eq!(strategy.plan(&snapshot), Plan::default());
    snapshot.objects.iter_mut().step_by(3).for_each(|object| object.load *= 1.02);
    assert!(strategy.plan(&snapshot).moves.len() < 50);
}
