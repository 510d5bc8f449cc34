//! What every central strategy keeps to, on snapshots of all kinds.

use proptest::prelude::*;
use talisman_lb::generate::{self, Machine, Program};
use talisman_lb::plan::Plan;
use talisman_lb::quality::Quality;
use talisman_lb::snapshot::{Edge, Key, Node, Object, Pe, Snapshot};
use talisman_lb::strategies::{Choice, KNOWN, by_name};
use talisman_lb::strategy::Strategy as Balancer;

/// All there are that decide in one place.
fn central() -> Vec<Box<dyn Balancer>> {
    let made = KNOWN.iter().map(|known| (known.make)());
    let central = made.filter_map(|choice| match choice {
        Choice::Central(strategy) => Some(strategy),
        Choice::Distributed(_) => None,
    });
    central.collect()
}

fn balancer(name: &str) -> Box<dyn Balancer> {
    match by_name(name) {
        Ok(Choice::Central(strategy)) => strategy,
        other => panic!("{name}: {other:?}"),
    }
}

fn after(snapshot: &Snapshot, plan: &Plan) -> Snapshot {
    let mut after = snapshot.clone();
    for moved in &plan.moves {
        after.objects[moved.object as usize].pe = moved.to;
    }
    after
}

/// Seconds, or something odd.
fn seconds() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0..10.0,
        2 => Just(1.0),
        2 => Just(0.0),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -3.0, 1e-300, 1e300]),
    ]
}

fn pe(nodes: u32) -> impl Strategy<Value = Pe> {
    let speed = prop_oneof![4 => Just(1.0), 2 => 0.1..4.0, 1 => Just(f64::NAN), 1 => Just(0.0)];
    let background = prop_oneof![4 => Just(0.0), 1 => seconds()];
    let parts = (0..nodes, speed, background, prop::bool::weighted(0.85));
    parts.prop_map(|(node, speed, background, available)| Pe { node, speed, background, available })
}

fn object(pes: u32) -> impl Strategy<Value = Object> {
    let key = Key { collection: 1, index: 0 };
    let position = prop::option::weighted(0.8, prop::array::uniform3(-10.0f32..10.0));
    let parts = (seconds(), 0..1_000u64, 0..pes, prop::bool::weighted(0.9), position);
    parts.prop_map(move |(load, bytes, pe, migratable, position)| Object {
        key,
        load,
        bytes,
        pe,
        migratable,
        position,
    })
}

/// Of a few PEs, where there are any, and objects, in which every part fits together.
fn snapshots(limit: impl Strategy<Value = Option<u64>> + Clone + 'static) -> impl Strategy<Value = Snapshot> {
    let sizes = (1..4u32, 0..10u32);
    sizes.prop_flat_map(move |(nodes, pes)| {
        let node = (0..2u32, limit.clone()).prop_map(|(host, memory)| Node { host, memory });
        let objects = if pes == 0 { 0 } else { 60 };
        let edge = (0..objects.max(1) as u32, 0..objects.max(1) as u32, 0.0f32..1e6);
        let parts = (
            prop::collection::vec(pe(nodes), pes as usize),
            prop::collection::vec(node, nodes as usize),
            prop::collection::vec(object(pes.max(1)), 0..=objects),
            prop::collection::vec(edge, 0..100),
        );
        parts.prop_map(|(pes, nodes, objects, edges)| put_together(pes, nodes, objects, edges))
    })
}

fn put_together(
    pes: Vec<Pe>,
    nodes: Vec<Node>,
    mut objects: Vec<Object>,
    edges: Vec<(u32, u32, f32)>,
) -> Snapshot {
    for (index, object) in (0..).zip(&mut objects) {
        object.key.index = index;
    }
    let count = objects.len() as u32;
    let known = edges.into_iter().filter(|&(from, to, _)| from.max(to) < count);
    let mut edges: Vec<Edge> =
        known.map(|(from, to, bytes)| Edge { from, to, messages: 1.0, bytes }).collect();
    edges.sort_by_key(|edge| edge.from);
    let snapshot = Snapshot { pes, nodes, objects, edges };
    assert_eq!(snapshot.check(), Ok(()));
    snapshot
}

/// Bytes on every node, by number.
fn held(snapshot: &Snapshot) -> Vec<u64> {
    let mut held = vec![0; snapshot.nodes.len()];
    for object in &snapshot.objects {
        held[snapshot.pes[object.pe as usize].node as usize] += object.bytes;
    }
    held
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plans_make_sense_and_are_the_same_every_time(
        snapshot in snapshots(prop::option::weighted(0.3, 0..20_000u64))
    ) {
        for mut strategy in central() {
            let plan = strategy.plan(&snapshot);
            prop_assert_eq!(plan.check(&snapshot), Ok(()), "{}", strategy.name());
            prop_assert_eq!(&strategy.plan(&snapshot), &plan, "{} once more", strategy.name());
            prop_assert_eq!(balancer(strategy.name()).plan(&snapshot), plan, "another {}", strategy.name());
        }
    }

    #[test]
    fn pes_that_take_none_are_left(snapshot in snapshots(Just(None))) {
        let anywhere = snapshot.pes.iter().any(|pe| pe.available);
        for mut strategy in central() {
            let after = after(&snapshot, &strategy.plan(&snapshot));
            for object in after.objects.iter().filter(|object| object.migratable && anywhere) {
                prop_assert!(after.pes[object.pe as usize].available, "{}: {} stayed", strategy.name(), object.key);
            }
        }
    }

    #[test]
    fn memory_that_was_enough_is_enough_afterwards(
        snapshot in snapshots(prop::option::weighted(0.7, 0..20_000u64))
    ) {
        for mut strategy in central() {
            let after = after(&snapshot, &strategy.plan(&snapshot));
            for ((node, before), after) in snapshot.nodes.iter().zip(held(&snapshot)).zip(held(&after)) {
                let limit = node.memory.unwrap_or(u64::MAX).max(before);
                prop_assert!(after <= limit, "{}: {before} before, {after} of {limit} after", strategy.name());
            }
        }
    }

    #[test]
    fn refining_never_makes_it_worse(mut snapshot in snapshots(Just(None))) {
        for pe in &mut snapshot.pes {
            pe.available = true;
        }
        let before = Quality::of(&snapshot, &Plan::default());
        for name in ["greedy", "greedy-refine", "refine"] {
            let quality = Quality::of(&snapshot, &balancer(name).plan(&snapshot));
            prop_assert!(quality.max <= before.max * (1.0 + 1e-9), "{name}: {} before, {} after", before.max, quality.max);
            prop_assert!(quality.max >= quality.ideal * (1.0 - 1e-9), "{name}: {quality:?}");
        }
    }

    #[test]
    fn refine_takes_nothing_from_those_with_less_than_their_share(mut snapshot in snapshots(Just(None))) {
        for pe in &mut snapshot.pes {
            pe.available = true;
        }
        let level = talisman_lb::ideal::level(&snapshot);
        let mut times: Vec<f64> = snapshot.pes.iter().map(|pe| pe.busy()).collect();
        for object in &snapshot.objects {
            times[object.pe as usize] += object.work() / snapshot.pes[object.pe as usize].rate();
        }
        for moved in balancer("refine").plan(&snapshot).moves {
            let from = snapshot.objects[moved.object as usize].pe as usize;
            prop_assert!(times[from] > level, "{} of {level}", times[from]);
        }
    }
}

#[test]
fn nothing_to_balance_is_no_trouble() {
    let machine = |pes| Machine { pes, pes_per_node: 2, nodes_per_host: 1 };
    for program in Program::ALL {
        for (objects, pes) in [(0, 0), (0, 3), (40, 1)] {
            let mut snapshot = generate::snapshot(program, objects, machine(pes), true);
            if objects == 0 {
                (snapshot.objects, snapshot.edges) = (Vec::new(), Vec::new());
            }
            for mut strategy in central() {
                assert_eq!(strategy.plan(&snapshot), Plan::default(), "{} {program:?}", strategy.name());
            }
        }
    }
}

#[test]
fn objects_on_pes_that_are_not_known_make_no_panic() {
    let machine = Machine { pes: 4, pes_per_node: 2, nodes_per_host: 1 };
    let mut snapshot = generate::snapshot(Program::Stencil, 60, machine, true);
    snapshot.objects.iter_mut().step_by(7).for_each(|object| object.pe += 100);
    snapshot.pes[1].node = 77;
    for mut strategy in central() {
        assert_eq!(strategy.plan(&snapshot).check(&snapshot), Ok(()), "{}", strategy.name());
    }
    snapshot.pes.clear();
    for mut strategy in central() {
        assert_eq!(strategy.plan(&snapshot), Plan::default(), "{}", strategy.name());
    }
}

#[test]
fn greedy_is_near_the_ideal_on_all_programs_and_machines() {
    let machine = Machine { pes: 24, pes_per_node: 4, nodes_per_host: 2 };
    for program in Program::ALL {
        let mut snapshot = generate::snapshot(program, 24 * 64, machine, false);
        let ideal =
            |snapshot: &Snapshot| Quality::of(snapshot, &balancer("greedy").plan(snapshot)).over_ideal();
        assert!(ideal(&snapshot) < 1.01, "{program:?}: {}", ideal(&snapshot));
        for (number, pe) in (0..).zip(&mut snapshot.pes) {
            pe.speed = [1.0, 0.5, 0.83, 2.1][number % 4];
            pe.background = if number % 5 == 0 { 0.05 } else { 0.0 };
        }
        assert!(ideal(&snapshot) < 1.02, "{program:?}, uneven machine: {}", ideal(&snapshot));
    }
}

#[test]
fn greedy_refine_moves_few_objects_when_a_hot_spot_has_wandered() {
    let machine = Machine { pes: 8, pes_per_node: 2, nodes_per_host: 4 };
    let mut snapshot = generate::snapshot(Program::Stencil, 8 * 64, machine, false);
    let load = |object: &Object, x: f64| {
        let [at, ..] = object.position.unwrap_or_default().map(f64::from);
        1e-3 * (1.0 + 4.0 * (-(at - x).powi(2) / 2.0).exp())
    };
    for step in 0..20 {
        let x = f64::from(step) * 0.3;
        snapshot.objects.iter_mut().for_each(|object| object.load = load(object, x));
        let plan = balancer("greedy-refine").plan(&snapshot);
        let quality = Quality::of(&snapshot, &plan);
        assert!(quality.ratio() <= 1.10, "step {step}: {}", quality.ratio());
        let few = snapshot.objects.len() as u64 * 15 / 100;
        assert!(step == 0 || quality.moves <= few, "step {step}: {} moves", quality.moves);
        snapshot = after(&snapshot, &plan);
    }
}

#[test]
fn moves_stay_in_the_host_where_it_costs_nothing() {
    let machine = Machine { pes: 16, pes_per_node: 4, nodes_per_host: 2 };
    let mut snapshot = generate::snapshot(Program::Uniform, 16 * 64, machine, false);
    // Half of the PEs of each node have twice as much to do.
    for object in &mut snapshot.objects {
        object.load *= if object.pe % 4 < 2 { 2.0 } else { 1.0 };
    }
    for name in ["greedy", "greedy-refine", "refine"] {
        let quality = Quality::of(&snapshot, &balancer(name).plan(&snapshot));
        assert!(quality.ratio() < 1.03, "{name}: {}", quality.ratio());
        assert!(quality.moves_between_nodes * 3 < quality.moves, "{name}: {quality:?}");
        assert!(quality.moves_between_hosts * 5 < quality.moves, "{name}: {quality:?}");
    }
}
