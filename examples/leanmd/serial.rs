//! The same simulation as one loop, to compare with: the same cells and pairs, the same arithmetic in the same order.
//!
//! Positions and velocities of a parallel run have the same bits. Energies are sums over cells: here they are compensated
//! sums, in a parallel run the runtime's exact ones; the two agree to the last place or the one beside it.

use std::collections::BTreeMap;

use talisman::prelude::*;

use super::atoms::{Atom, Atoms, sort_out};
use super::cell_list::{CellGrid, CellIndex, DIRECTIONS, opposite};
use super::kernel::{self, Forces, Share};
use super::potential::Potential;
use super::system::System;

/// Kinetic and potential energy (kcal/mol).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energies {
    pub kinetic: f64,
    pub potential: f64,
}

impl Energies {
    /// Their sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// How time goes on.
#[derive(Clone, Copy, Debug, Pup)]
pub struct Pace {
    /// Length of a step (fs).
    pub time_step: f64,
    /// Steps between two sortings of the atoms into their cells.
    pub migrate_every: u32,
}

/// A serial simulation.
pub struct Serial {
    grid: CellGrid,
    potential: Potential,
    pace: Pace,
    /// Those that have atoms.
    cells: BTreeMap<CellIndex, Atoms>,
    /// Forces on the atoms of each cell, and the energy of the pairs it owns.
    totals: BTreeMap<CellIndex, Share>,
    step: u32,
}

impl Serial {
    /// A system with its first forces.
    pub fn new(system: &System, potential: Potential, pace: Pace) -> Self {
        let grid = system.grid.clone();
        let cells = sorted_in(system.by_cell(), &grid);
        let mut serial = Serial { grid, potential, pace, cells, totals: BTreeMap::new(), step: 0 };
        serial.interact();
        serial
    }

    /// Goes on for some steps.
    pub fn run(&mut self, steps: u32) {
        for _ in 0..steps {
            self.kick();
            self.drift();
            self.step += 1;
            if self.step.is_multiple_of(self.pace.migrate_every) {
                self.migrate();
            }
            self.interact();
            self.kick();
        }
    }

    /// The energies now.
    pub fn energies(&self) -> Energies {
        let kinetic = compensated(self.cells.values().map(Atoms::kinetic));
        Energies { kinetic, potential: compensated(self.totals.values().map(|total| total.energy)) }
    }

    /// Of all atoms, as [`Atoms::fingerprint`].
    pub fn fingerprint(&self) -> u64 {
        self.cells.values().map(Atoms::fingerprint).fold(0, u64::wrapping_add)
    }

    fn kick(&mut self) {
        for (atoms, total) in self.cells.values_mut().zip(self.totals.values()) {
            atoms.kick(&total.forces, self.pace.time_step / 2.0);
        }
    }

    fn drift(&mut self) {
        for atoms in self.cells.values_mut() {
            atoms.drift(self.pace.time_step);
        }
    }

    fn migrate(&mut self) {
        let mut homes: BTreeMap<CellIndex, Vec<Atom>> = BTreeMap::new();
        for (cell, atoms) in &mut self.cells {
            let (stay, go) = sort_out(atoms.take(), &self.grid, *cell);
            let all = stay.into_iter().map(|atom| (*cell, atom)).chain(go);
            all.for_each(|(home, atom)| homes.entry(home).or_default().push(atom));
        }
        self.cells = sorted_in(homes, &self.grid);
    }

    fn interact(&mut self) {
        let mut shares: BTreeMap<CellIndex, Vec<Option<Share>>> = BTreeMap::new();
        let mut add = |cell: CellIndex, direction: usize, share: Share| {
            shares.entry(cell).or_insert_with(no_shares)[direction] = Some(share);
        };
        for (cell, atoms) in &self.cells {
            for pair in self.grid.owned_pairs(*cell) {
                let Some(other) = self.cells.get(&pair.cell) else { continue };
                if pair.pair.is_alone() {
                    add(*cell, pair.direction, kernel::within(&self.potential, atoms.side()));
                } else {
                    let shift = self.grid.shift(pair.pair);
                    let found = kernel::between(&self.potential, atoms.side(), other.side(), shift);
                    add(*cell, pair.direction, found.on_left);
                    add(pair.cell, opposite(pair.direction), found.on_right);
                }
            }
        }
        let total =
            |(cell, shares): (&CellIndex, &Vec<_>)| (*cell, total(shares, self.cells[cell].at.x.len()));
        self.totals = shares.iter().map(total).collect();
    }
}

fn sorted_in(atoms: BTreeMap<CellIndex, Vec<Atom>>, grid: &CellGrid) -> BTreeMap<CellIndex, Atoms> {
    atoms.into_iter().map(|(cell, atoms)| (cell, Atoms::new(atoms, grid, cell))).collect()
}

/// A place for a share from each direction.
pub fn no_shares() -> Vec<Option<Share>> {
    vec![None; DIRECTIONS]
}

/// The shares from all directions, added in the order of the directions; `padded` is the number of atoms with padding.
pub fn total(shares: &[Option<Share>], padded: usize) -> Share {
    let mut total = Share { energy: 0.0, forces: Forces::zero(padded) };
    for share in shares.iter().flatten() {
        total.energy += share.energy;
        kernel::add(&mut total.forces, &share.forces);
    }
    total
}

/// A sum that carries what each addition rounds away (Neumaier).
fn compensated(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::super::fluid::Filling;
    use super::super::system::Cut;
    use super::*;
    use std::path::Path;

    const PACE: Pace = Pace { time_step: 1.0, migrate_every: 20 };

    fn fluid(cells: [usize; 3], periodic: bool) -> System {
        let filling = Filling { per_cell: 30, gradient: 0.0, cells };
        let cut = Cut { reach: 11.0, cells: None, periodic, nodes: 1 };
        let mut system = System::fluid(cells, filling, 1, cut).expect("wide enough");
        system.heat(300.0, 5);
        system
    }

    /// The largest change of the total energy, as a share of the kinetic energy at the start.
    fn energy_change(system: &System, pace: Pace, steps: u32) -> f64 {
        let mut serial = Serial::new(system, Potential::new(9.0), pace);
        let start = serial.energies();
        let change = |serial: &mut Serial| {
            serial.run(10);
            (serial.energies().total() - start.total()).abs() / start.kinetic
        };
        (0..steps / 10).map(|_| change(&mut serial)).fold(0.0, f64::max)
    }

    #[test]
    fn a_fluid_keeps_its_energy() {
        for (cells, periodic) in [([3, 3, 3], true), ([1, 2, 3], true), ([2, 2, 2], false)] {
            let change = energy_change(&fluid(cells, periodic), PACE, 200);
            assert!(change <= 1e-4, "{cells:?}: {change:e}");
        }
    }

    #[test]
    fn half_the_time_step_makes_a_quarter_of_the_error() {
        // Velocity Verlet is of second order; where forces were not the slope of the energy this would not hold.
        let system = fluid([2, 2, 2], true);
        let error = |time_step, steps| energy_change(&system, Pace { time_step, migrate_every: 5 }, steps);
        let ratio = error(8.0, 40) / error(4.0, 80);
        assert!((3.0..5.5).contains(&ratio), "{ratio}");
    }

    #[test]
    fn how_the_box_is_cut_does_not_matter() {
        let fine = fluid([2, 2, 4], true);
        let grid = CellGrid::cut(fine.grid.size(), [1, 2, 2], 11.0, true).expect("wide");
        let coarse = System { grid, ..fine.clone() };
        let energy = |system| Serial::new(system, Potential::new(9.0), PACE).energies().potential;
        assert!((energy(&fine) - energy(&coarse)).abs() < 1e-9 * energy(&fine).abs());
    }

    #[test]
    fn atoms_migrate_and_none_is_lost() {
        let system = fluid([2, 2, 2], true);
        let mut serial =
            Serial::new(&system, Potential::new(9.0), Pace { time_step: 5.0, migrate_every: 10 });
        serial.run(60);
        let counts: Vec<usize> = serial.cells.values().map(Atoms::len).collect();
        assert_eq!(counts.iter().sum::<usize>(), system.atoms.len());
        assert_ne!(counts, [30; 8]);
    }

    #[test]
    #[ignore = "its file is not part of the project: ../shared/data/5dfr_solv-cube_equil.pdb"]
    fn the_benchmark_structure_keeps_its_energy() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/5dfr_solv-cube_equil.pdb");
        let cut = Cut { reach: 11.0, cells: None, periodic: true, nodes: 1 };
        let mut system = System::from_pdb(&path, [1, 1, 1], cut).expect("a standard file");
        system.heat(300.0, 5);
        // Plain builds take seconds per hundred steps; optimised ones run the full length.
        let steps = if cfg!(debug_assertions) { 20 } else { 200 };
        let change = energy_change(&system, PACE, steps);
        assert!(change <= 1e-4, "{change:e}");
    }
}
