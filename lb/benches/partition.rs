//! How well graphs are divided: `cargo bench -p talisman-lb --bench partition`, and with `--features metis` METIS beside it.

use std::time::Instant;

use talisman_lb::snapshot::{Edge, Key, Node, Object, Pe, Snapshot};
#[cfg(feature = "metis")]
use talisman_lb::strategies::Metis;
use talisman_lb::strategies::{Comm, Graph, Rcb, Sfc};
use talisman_lb::strategy::Strategy;

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!(
        "{:38} {:8} {:>10} {:>8} {:>7} {:>8}",
        "graph", "strategy", "cut (MB)", "max/avg", "moves", "seconds"
    );
    let sizes: [(usize, u32); 6] = [(10, 8), (16, 64), (32, 64), (32, 1024), (64, 1024), (100, 1024)];
    for (side, pes) in sizes {
        table(&format!("stencil {side}³ on {pes} PEs"), &only, || stencil(side, pes));
    }
    for (side, pes) in [(5, 8), (8, 64), (12, 64), (16, 512), (32, 1024)] {
        table(&format!("molecules {side}³ on {pes} PEs"), &only, || molecules(side, pes));
    }
}

fn table(name: &str, only: &Option<String>, snapshot: impl Fn() -> Snapshot) {
    if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
        return;
    }
    let snapshot = snapshot();
    let name = format!("{name}, {} objects", snapshot.objects.len());
    line(&name, &mut Graph, &snapshot);
    #[cfg(feature = "metis")]
    line(&name, &mut Metis, &snapshot);
    line(&name, &mut Comm, &snapshot);
    line(&name, &mut Rcb, &snapshot);
    line(&name, &mut Sfc, &snapshot);
}

fn line(name: &str, strategy: &mut dyn Strategy, snapshot: &Snapshot) {
    let start = Instant::now();
    let plan = strategy.plan(snapshot);
    let seconds = start.elapsed().as_secs_f64();
    let mut pe_of: Vec<u32> = snapshot.objects.iter().map(|object| object.pe).collect();
    for to in &plan.moves {
        pe_of[to.object as usize] = to.to;
    }
    let cut = snapshot.edges.iter().filter(|edge| pe_of[edge.from as usize] != pe_of[edge.to as usize]);
    let cut = cut.map(|edge| f64::from(edge.bytes)).sum::<f64>() / 1e6;
    let mut loads = vec![0.0; snapshot.pes.len()];
    for (object, &pe) in snapshot.objects.iter().zip(&pe_of) {
        loads[pe as usize] += object.load;
    }
    let most = loads.iter().copied().fold(0.0, f64::max);
    let ratio = most / loads.iter().sum::<f64>() * loads.len() as f64;
    let strategy = strategy.name();
    println!("{name:38} {strategy:8} {cut:>10.3} {ratio:>8.4} {:>7} {seconds:>8.3}", plan.moves.len());
}

fn machine(pes: u32) -> Snapshot {
    let pe = |number: u32| Pe { node: number / 4, speed: 1.0, background: 0.0, available: true };
    Snapshot {
        pes: (0..pes).map(pe).collect(),
        nodes: (0..pes.div_ceil(4)).map(|node| Node { host: node / 4, memory: None }).collect(),
        ..Snapshot::default()
    }
}

fn object(index: usize, load: f64, pe: u32, position: [f32; 3]) -> Object {
    let key = Key { collection: 1, index: index as u128 };
    Object { key, load, bytes: 8000, pe, migratable: true, position: Some(position) }
}

/// A cube of blocks that send their faces to their neighbours; block distribution in order of the index.
fn stencil(side: usize, pes: u32) -> Snapshot {
    let mut snapshot = machine(pes);
    let all = side.pow(3);
    for index in 0..all {
        let at = [index % side, index / side % side, index / side / side];
        let load = 1e-3 * (1.0 + scatter(index));
        let pe = (index as u64 * u64::from(pes) / all as u64) as u32;
        snapshot.objects.push(object(index, load, pe, at.map(|coordinate| coordinate as f32)));
        for axis in 0..3 {
            let step = side.pow(axis as u32);
            let near = [(at[axis] > 0, index.wrapping_sub(step)), (at[axis] + 1 < side, index + step)];
            for (_, to) in near.into_iter().filter(|(is, _)| *is) {
                snapshot.edges.push(Edge { from: index as u32, to: to as u32, messages: 1.0, bytes: 1000.0 });
            }
        }
    }
    snapshot
}

/// Cells of atoms, denser towards one corner, and an object for each pair of neighbouring cells that gets the atoms of both and sends
/// back forces.
fn molecules(side: usize, pes: u32) -> Snapshot {
    let mut snapshot = machine(pes);
    let at = |index: usize| [index % side, index / side % side, index / side / side];
    let atoms =
        |index: usize| 20.0 + 200.0 * (-(at(index).iter().sum::<usize>() as f64) / side as f64 * 2.0).exp();
    let all = side.pow(3);
    let mut edges = Vec::new();
    let mut objects: Vec<(f64, [f32; 3])> =
        (0..all).map(|cell| (1e-7 * atoms(cell), at(cell).map(|c| c as f32))).collect();
    for cell in 0..all {
        for number in 13..27 {
            let step = [number % 3, number / 3 % 3, number / 9].map(|step| step as isize - 1);
            let near: [isize; 3] = std::array::from_fn(|axis| at(cell)[axis] as isize + step[axis]);
            if near.iter().any(|&c| c < 0 || c >= side as isize) {
                continue;
            }
            let other = near[0] as usize + side * (near[1] as usize + side * near[2] as usize);
            let pair = objects.len();
            let position = std::array::from_fn(|axis| (at(cell)[axis] as f32 + near[axis] as f32) / 2.0);
            objects.push((1e-8 * atoms(cell) * atoms(other), position));
            for cell in [cell, other] {
                let bytes = 24.0 * atoms(cell) as f32;
                edges.push(Edge { from: cell as u32, to: pair as u32, messages: 1.0, bytes });
                edges.push(Edge { from: pair as u32, to: cell as u32, messages: 1.0, bytes });
            }
        }
    }
    let pe = |index: usize| (index % pes as usize) as u32;
    snapshot.objects = objects.iter().enumerate().map(|(i, &(load, p))| object(i, load, pe(i), p)).collect();
    edges.sort_by_key(|edge| edge.from);
    snapshot.edges = edges;
    snapshot
}

/// From 0 to 1.
fn scatter(index: usize) -> f64 {
    ((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1u64 << 24) as f64
}
