//! Molecular dynamics in the manner of LeanMD, the program of the FTC-Charm++ paper (Zheng, Shi, Kalé 2004): the box is cut
//! into cells, and for each two neighbouring cells, and each cell with itself, there is a pair that computes forces.
//!
//! Shows: two chare arrays, one with three indices, one with an index type of its own, both dense or sparse as the box is filled, with
//! elements that are inserted and go while the program runs; messages matched by step;
//! async functions that call each other; a reducer of one's own; a value many messages share; points where a balancer may move the
//! objects of two arrays; numerics that know nothing of chares.
//!
//! ```text
//! cargo run --release --example leanmd -- --cells 7,10,10 --open --atoms-per-cell 131 --steps 100
//! cargo run --release --example leanmd -- --pdb examples/leanmd/water.pdb --replicate 2,2,1 --steps 200
//! cargo run --release --example leanmd -- --cells 90,90,90 --fill 2,2,2 --steps 500
//! cargo run --release --example leanmd -- --cells 16,4,4 --gradient 0.8 --nodes 4 --pes 1 --balancer greedy --sync-every 10
//! ```
//!
//! **Physics** (`potential.rs`, `elements.rs`): Lennard-Jones with a soft core (Beutler 1994), so that the atoms of a structure whose
//! bonds and charges are not simulated may stand as close as they do, brought smoothly to zero at the cutoff; parameters of the
//! Universal Force Field; velocity Verlet. Units: Å, fs, u, kcal/mol, K. Without `--pdb` the box is filled with a
//! fluid of argon's mass and well depth, `σ` following from the number of atoms per cell.
//!
//! **Cells** are wider than the cutoff by at least `--skin`. Atoms change cells every `--migrate-every` steps only; that no two
//! atoms have come within the cutoff unseen meanwhile is checked at every step. The box repeats on all sides unless `--open`; then
//! `--cells 7,10,10` gives the 700 cells and 7798 pairs of the paper.
//!
//! **Files** (`pdb.rs`): what of a PDB file is not certain is an error with its line, such as an element that neither its columns nor the
//! atom's names tell; what is left out is said. `water.pdb` is generated (`water.rs`). What does not fit into memory is refused beforehand.
//!
//! **Large boxes** (`population.rs`): where less than half of the cells have atoms, only these are made, with their pairs; others follow where
//! atoms come to, and those that atoms have left go. The main chare decides that in each step in which atoms change cells, which all cells wait
//! for then. Fuller boxes have all of their cells as long as the program runs, and nobody waits. `--fill` leaves a part of the box empty.
//!
//! **Load**: with `--gradient` the fluid is denser towards the far end of the x axis, and a pair has work as the product of two
//! densities. With `--sync-every` a balancer may move cells and pairs every so many steps; without, whenever it finds it worth while.
//!
//! **Determinism**: a cell adds forces in the order of its neighbours, whatever the order in which they come, and energies
//! are added exactly: the results have the same bits on any number of PEs, and with or without AVX2.
//!
//! Checks: the total energy may not change by more than `--energy-bound` times the kinetic energy at the start. With `--check`
//! a serial simulation must give the same positions and velocities bit by bit, and the same energies to the last place.
//!
//! Results: `energy_kinetic`, `energy_potential`, `energy_total` (kcal/mol, after the last step), `energy_change` (largest,
//! as a share of the kinetic energy at the start), `fingerprint` (of all positions and velocities), `atoms`, `cells`, `pairs` (those
//! that there are at the end), `kernel` (the build of the force kernel that ran), `per_step_s`.

mod atoms;
mod cell;
mod cell_list;
mod columns;
mod elements;
mod fluid;
mod frozen;
mod kernel;
mod locations;
#[path = "../common/memory.rs"]
mod memory;
mod names;
#[path = "../common/options.rs"]
mod numbers;
mod options;
mod pair;
mod pdb;
mod population;
mod potential;
mod residues;
mod serial;
mod system;

use std::collections::BTreeMap;

use atoms::Atom;
use cell::{Cell, Fingerprint, Start};
use cell_list::CellIndex;
use options::{Options, Rules};
use pair::Pair;
use population::{Change, News, Population};
use serial::{Energies, Serial};
use system::System;
use talisman::prelude::*;

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let system: System = options.system(cx.nodes()).map_err(|error| error.to_string())?;
    let atoms: u64 = system.atoms.len() as u64;
    for note in &system.notes {
        writeln!(cx.output(), "note: {note}");
    }
    let mut population: Population = system.population.clone();
    let rules: Shared<Rules> = cx.share(options.rules(system.grid.clone(), population.first()));
    let pairs: Array<Pair> = Pair::sparse();
    let cells: Array<Cell> = create(&rules, pairs, system, cx.pes());
    let number_of_pairs: u64 = cells.create_pairs().reduce(Sum).await;
    pairs.done_inserting();
    pairs.run(0);
    writeln!(
        cx.output(),
        "{atoms} atoms in {} cells and {number_of_pairs} pairs",
        population.len(&rules.grid)
    );
    cx.expect_steps(u64::from(options.steps));

    let first: [f64; 2] = cells.start().reduce(Sum).await;
    let start: f64 = cx.now().as_secs_f64();
    let mut step: u32 = 0;
    let mut change: f64 = 0.0;
    let mut last: [f64; 2] = first;
    while step < options.steps {
        let alone: u32 = options.steps_alone(step, !population.is_everywhere());
        if alone > 0 {
            last = cells.advance(alone).reduce(Sum).await;
            step += alone;
        } else {
            let news: Vec<Vec<News>> = cells.part().reduce(Concat).await;
            step += 1;
            let comings: Change = follow(&mut population, news, step, &rules, pairs, cells);
            last = cells.meet(comings).reduce(Sum).await;
        }
        if options.tells_energies_after(step) {
            change = change.max(change_of(first, last));
            writeln!(cx.output(), "step {step}: {}", text(last));
        }
    }
    let seconds: f64 = (cx.now().as_secs_f64() - start) / f64::from(step);
    let fingerprint: Fingerprint = cells.fingerprint().reduce(Merged).await;

    report(cx, last, change);
    cx.result("fingerprint", format!("{:016x}", fingerprint.0));
    cx.result("atoms", atoms);
    cx.result("cells", population.len(&rules.grid) as u64);
    cx.result("pairs", population.pairs(&rules.grid) as u64);
    cx.result("kernel", kernel::build());
    cx.result("per_step_s", seconds);
    if !last.iter().all(|energy| energy.is_finite()) {
        return Err(format!(
            "the energies are no numbers any more ({last:?}); use a smaller --time-step or --temperature"
        ));
    }
    if options.check {
        check(&options, fingerprint, last)?;
        writeln!(cx.output(), "every atom is where the serial simulation has it");
    }
    conserved(change, options.energy_bound)
}

/// Creates the cells with their atoms.
fn create(rules: &Shared<Rules>, pairs: Array<Pair>, system: System, pes: u32) -> Array<Cell> {
    let mut atoms: BTreeMap<CellIndex, Vec<Atom>> = system.by_cell();
    let near = |cell| system.population.near(&rules.grid, cell);
    if system.population.is_everywhere() {
        let [x, y, z] = rules.grid.cells;
        return Cell::array((x, y, z)).each(|cell, new| {
            let atoms = atoms.remove(&cell).unwrap_or_default();
            new.new(rules.clone(), pairs, Start { near: near(cell), step: 0, atoms });
        });
    }
    let cells: Array<Cell> = Cell::sparse();
    // Beside each other, as far as may be.
    let per_pe = atoms.len().div_ceil(pes as usize);
    for (number, (cell, atoms)) in atoms.into_iter().enumerate() {
        let start = Start { near: near(cell), step: 0, atoms };
        cells.insert(cell).on((number / per_pe) as u32).new(rules.clone(), pairs, start);
    }
    cells.done_inserting();
    cells
}

/// Makes cells where atoms have come to a place without one; all are to be told of the change.
fn follow(
    population: &mut Population,
    news: Vec<Vec<News>>,
    step: u32,
    rules: &Shared<Rules>,
    pairs: Array<Pair>,
    cells: Array<Cell>,
) -> Change {
    let (change, atoms) = population.follow(news.into_iter().flatten());
    for (cell, atoms) in atoms {
        let start = Start { near: population.near(&rules.grid, cell), step, atoms };
        cells.insert(cell).new(rules.clone(), pairs, start);
    }
    change
}

fn energies([kinetic, potential]: [f64; 2]) -> Energies {
    Energies { kinetic, potential }
}

fn change_of(first: [f64; 2], now: [f64; 2]) -> f64 {
    (energies(now).total() - energies(first).total()).abs() / first[0]
}

fn text(now: [f64; 2]) -> String {
    let now = energies(now);
    format!("kinetic {:.6}, potential {:.6}, total {:.6} kcal/mol", now.kinetic, now.potential, now.total())
}

fn report<C: Chare>(cx: &mut Cx<C>, last: [f64; 2], change: f64) {
    let last = energies(last);
    cx.result("energy_kinetic", last.kinetic);
    cx.result("energy_potential", last.potential);
    cx.result("energy_total", last.total());
    cx.result("energy_change", change);
}

fn check(options: &Options, fingerprint: Fingerprint, last: [f64; 2]) -> Result<(), String> {
    let system = options.system(1).map_err(|error| error.to_string())?;
    let mut serial = Serial::new(&system, potential::Potential::new(options.cutoff), options.pace());
    serial.run(options.steps);
    let (found, expected) = (energies(last), serial.energies());
    if fingerprint.0 != serial.fingerprint() {
        return Err("positions or velocities differ from the serial simulation's".into());
    }
    let close = |a: f64, b: f64| a.next_down() <= b && b <= a.next_up();
    if close(found.kinetic, expected.kinetic) && close(found.potential, expected.potential) {
        return Ok(());
    }
    Err(format!("the energies are {found:?}, in the serial simulation {expected:?}"))
}

fn conserved(change: f64, bound: f64) -> Result<(), String> {
    if change <= bound {
        return Ok(());
    }
    Err(format!(
        "the total energy changed by {change:e} of the kinetic energy, more than the bound of {bound:e}; \
         use a smaller --time-step, or a larger --energy-bound if this is expected"
    ))
}
