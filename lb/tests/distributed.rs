//! What distributed strategies make of whole jobs.

use talisman_lb::distributed::{Distributed, Model, Ran, run};
use talisman_lb::quality::Quality;
use talisman_lb::rng::Rng;
use talisman_lb::snapshot::{Key, Node, Object, Pe, Snapshot};
use talisman_lb::strategies::{Choice, Hierarchical, by_name};

fn each(check: impl Fn(&str, &dyn Distributed)) {
    for name in ["diffusion", "gossip", "hierarchical"] {
        match by_name(name) {
            Ok(Choice::Distributed(strategy)) => check(name, &*strategy),
            other => panic!("{name} is {other:?}"),
        }
    }
    check("small groups", &Hierarchical { group: 16, ..Hierarchical::default() });
}

fn ran(name: &str, strategy: &dyn Distributed, snapshot: &Snapshot) -> Ran {
    let ran = run(strategy, snapshot, Model::default());
    assert_eq!((ran.undecided, &ran.refused), (0, &None), "{name}");
    ran.plan.check(snapshot).unwrap();
    let predicted = Quality::of(snapshot, &ran.plan).max;
    assert!(
        (ran.predicted_max - predicted).abs() <= 1e-6 * predicted,
        "{name}: {} {predicted}",
        ran.predicted_max
    );
    ran
}

/// Nodes of four PEs, two nodes on a host; the objects of a PE have consecutive numbers.
fn machine(pes: u32, per_pe: u32, load: impl Fn(u32, &mut Rng) -> f64) -> Snapshot {
    let mut rng = Rng::new(5);
    let object = |number| Object {
        key: Key { collection: 1, index: u128::from(number) },
        load: load(number / per_pe, &mut rng),
        bytes: 100,
        pe: number / per_pe,
        migratable: true,
        position: None,
    };
    Snapshot {
        objects: (0..pes * per_pe).map(object).collect(),
        pes: (0..pes).map(|pe| Pe { node: pe / 4, speed: 1.0, background: 0.0, available: true }).collect(),
        nodes: (0..pes.div_ceil(4)).map(|node| Node { host: node / 2, memory: None }).collect(),
        edges: Vec::new(),
    }
}

/// The first quarter of the PEs has eight times as much as the others.
fn uneven(pes: u32) -> Snapshot {
    machine(pes, 40, |pe, rng| (0.5 + rng.unit()) * if pe < pes / 4 { 8.0 } else { 1.0 })
}

#[test]
fn load_is_spread_evenly() {
    for pes in [64, 100] {
        let snapshot = uneven(pes);
        each(|name, strategy| {
            let quality = Quality::of(&snapshot, &ran(name, strategy, &snapshot).plan);
            assert!(quality.ratio() < 1.1, "{name} on {pes} PEs: {quality:?}");
            assert!(quality.moves < 40 * u64::from(pes) * 3 / 4, "{name} on {pes} PEs: {quality:?}");
        });
    }
}

#[test]
fn speeds_and_background_are_respected() {
    let mut snapshot = machine(48, 40, |_, rng| 0.5 + rng.unit());
    for (number, pe) in snapshot.pes.iter_mut().enumerate() {
        pe.speed = [1.0, 0.5, 2.0][number % 3];
        pe.background = if number % 8 == 0 { 20.0 } else { 0.0 };
    }
    each(|name, strategy| {
        let quality = Quality::of(&snapshot, &ran(name, strategy, &snapshot).plan);
        assert!(quality.over_ideal() < 1.1, "{name}: {quality:?}");
    });
}

#[test]
fn all_objects_leave_pes_that_take_none() {
    let mut snapshot = machine(40, 20, |pe, rng| if pe == 3 { 0.0 } else { rng.unit() });
    for number in [0, 3, 17, 18, 19, 39] {
        snapshot.pes[number].available = false;
    }
    each(|name, strategy| {
        let places = ran(name, strategy, &snapshot).plan.places(&snapshot);
        let left = places.iter().filter(|pe| !snapshot.pes[**pe as usize].available).count();
        assert_eq!(left, 0, "{name}");
    });
}

#[test]
fn what_is_even_stays() {
    let snapshot = machine(64, 20, |_, _| 1.0);
    each(|name, strategy| assert_eq!(ran(name, strategy, &snapshot).plan.moves, [], "{name}"));
}

#[test]
fn a_balance_once_found_is_kept() {
    let mut snapshot = uneven(64);
    each(|name, strategy| {
        let mut snapshot = snapshot.clone();
        for moved in ran(name, strategy, &snapshot).plan.moves {
            snapshot.objects[moved.object as usize].pe = moved.to;
        }
        let again = ran(name, strategy, &snapshot).plan.moves.len();
        assert!(again < snapshot.objects.len() / 20, "{name} moves {again} again");
    });
    snapshot.objects.clear();
    each(|name, strategy| assert_eq!(ran(name, strategy, &snapshot).plan.moves, [], "{name}"));
}

#[test]
fn odd_jobs_end_without_moves() {
    let mut none_available = uneven(12);
    none_available.pes.iter_mut().for_each(|pe| pe.available = false);
    let no_load = machine(12, 10, |_, _| 0.0);
    let strange = machine(12, 10, |_, _| f64::NAN);
    for snapshot in [Snapshot::default(), machine(1, 50, |_, _| 1.0), none_available, no_load, strange] {
        each(|name, strategy| assert_eq!(ran(name, strategy, &snapshot).plan.moves, [], "{name}"));
    }
}

#[test]
fn no_leader_holds_more_than_its_share() {
    let mut snapshot = machine(64, 200, |_, rng| rng.unit());
    snapshot.objects.iter_mut().for_each(|object| object.pe = 0);
    let strategy = Hierarchical { group: 8, bundles: 128, ..Hierarchical::default() };
    let ran = ran("hierarchical", &strategy, &snapshot);
    assert_eq!(ran.most_held, 12_800, "PE 0 has its own objects, and leaders have less");
    assert!(Quality::of(&snapshot, &ran.plan).ratio() < 4.0);
}

#[test]
fn moves_stay_inside_hosts_where_they_can() {
    // Each host has as much as the others, all of it on its first PE.
    let mut snapshot = machine(64, 40, |_, rng| 0.5 + rng.unit());
    snapshot.objects.retain(|object| object.pe % 8 == 0);
    for name in ["diffusion", "gossip"] {
        let Ok(Choice::Distributed(strategy)) = by_name(name) else { panic!("{name} is distributed") };
        let quality = Quality::of(&snapshot, &ran(name, &*strategy, &snapshot).plan);
        assert!(quality.moves_between_hosts * 3 < quality.moves, "{name}: {quality:?}");
    }
}
