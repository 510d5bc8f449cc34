//! The atoms of one cell and how they move: velocity Verlet, and the passing on of atoms that have left.
//!
//! Units: Å, fs, u, kcal/mol.

use talisman::prelude::*;

use super::cell_list::{CellGrid, CellIndex};
use super::kernel::{Coordinates, Forces, Kinds, LANES, Side, pad};

/// Acceleration (Å/fs²) of 1 u by 1 kcal/mol/Å.
pub const ACCELERATION: f64 = 4.184e-4;

/// Boltzmann's constant (kcal/mol/K).
pub const BOLTZMANN: f64 = 0.001_987_204_259;

/// One atom, as it travels from cell to cell.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
#[repr(C)]
#[pup(plain)]
pub struct Atom {
    /// Position (Å).
    pub at: [f64; 3],
    /// Velocity (Å/fs).
    pub velocity: [f64; 3],
    /// Mass (u).
    pub mass: f64,
    /// `σ³` (Å³).
    pub sigma3: f64,
    /// `√(4 ε)` ((kcal/mol)^½).
    pub strength: f64,
    /// Number in the whole system.
    pub id: u64,
}

/// A cell's atoms, quantity by quantity. Coordinates and kinds are padded to whole blocks for the kernel, and atoms that are
/// near each other stand near each other, so that whole blocks fall beyond the cutoff.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Atoms {
    pub at: Coordinates,
    pub kinds: Kinds,
    velocity: [Vec<f64>; 3],
    mass: Vec<f64>,
    id: Vec<u64>,
}

impl Atoms {
    /// Takes a cell's atoms, in any order; the order in which they are kept depends on their positions alone.
    pub fn new(mut atoms: Vec<Atom>, grid: &CellGrid, cell: CellIndex) -> Self {
        sort(&mut atoms, grid, cell);
        let column = |of: fn(&Atom) -> f64| atoms.iter().map(of).collect::<Vec<f64>>();
        let padded = |of: fn(&Atom) -> f64, with: Option<f64>| {
            let mut values = column(of);
            pad(&mut values, with);
            values
        };
        let axis = |of: fn(&Atom) -> f64| padded(of, None);
        Atoms {
            at: Coordinates { x: axis(|a| a.at[0]), y: axis(|a| a.at[1]), z: axis(|a| a.at[2]) },
            kinds: Kinds {
                sigma3: padded(|a| a.sigma3, Some(1.0)),
                strength: padded(|a| a.strength, Some(0.0)),
            },
            velocity: [column(|a| a.velocity[0]), column(|a| a.velocity[1]), column(|a| a.velocity[2])],
            mass: column(|a| a.mass),
            id: atoms.iter().map(|a| a.id).collect(),
        }
    }

    /// Number of atoms, padding not counted.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// What the kernel reads.
    pub fn side(&self) -> Side<'_> {
        Side { at: &self.at, kinds: &self.kinds }
    }

    /// Changes the velocities by the forces acting for `time` (fs).
    pub fn kick(&mut self, forces: &Forces, time: f64) {
        let impulse = time * ACCELERATION;
        for (velocity, force) in self.velocity.iter_mut().zip(forces.axes()) {
            for ((velocity, force), mass) in velocity.iter_mut().zip(force).zip(&self.mass) {
                *velocity += impulse * force / mass;
            }
        }
    }

    /// Moves the atoms for `time` (fs); gives the square of the largest distance an atom went (Å²).
    pub fn drift(&mut self, time: f64) -> f64 {
        for (at, velocity) in [&mut self.at.x, &mut self.at.y, &mut self.at.z].into_iter().zip(&self.velocity)
        {
            for (at, velocity) in at.iter_mut().zip(velocity) {
                *at += time * velocity;
            }
        }
        let squares = (0..self.len()).map(|i| self.speed_squared(i));
        // What is not a number any more is the largest; `f64::max` would leave it out.
        let larger = |most: f64, square: f64| if square <= most || most.is_nan() { most } else { square };
        time * time * squares.fold(0.0, larger)
    }

    /// Kinetic energy (kcal/mol).
    pub fn kinetic(&self) -> f64 {
        let twice = self.mass.iter().enumerate().map(|(i, mass)| mass * self.speed_squared(i));
        twice.sum::<f64>() / (2.0 * ACCELERATION)
    }

    /// The atoms one by one. With them an end: what is kept is empty afterwards.
    pub fn take(&mut self) -> Vec<Atom> {
        let all = std::mem::take(self);
        (0..all.len()).map(|i| all.atom(i)).collect()
    }

    /// A number that changes with any bit of any atom's position and velocity, and not with the atoms' order.
    pub fn fingerprint(&self) -> u64 {
        (0..self.len()).map(|i| fingerprint(&self.atom(i))).fold(0, u64::wrapping_add)
    }

    fn atom(&self, i: usize) -> Atom {
        Atom {
            at: [self.at.x[i], self.at.y[i], self.at.z[i]],
            velocity: [self.velocity[0][i], self.velocity[1][i], self.velocity[2][i]],
            mass: self.mass[i],
            sigma3: self.kinds.sigma3[i],
            strength: self.kinds.strength[i],
            id: self.id[i],
        }
    }

    fn speed_squared(&self, i: usize) -> f64 {
        self.velocity.iter().map(|velocity| velocity[i] * velocity[i]).sum()
    }
}

/// Splits a cell's atoms by the cell they are in now: those that stay, and those that go, each with its new cell.
/// Positions come back inside the box, where it repeats.
pub fn sort_out(atoms: Vec<Atom>, grid: &CellGrid, cell: CellIndex) -> (Vec<Atom>, Vec<(CellIndex, Atom)>) {
    let (mut stay, mut go) = (Vec::with_capacity(atoms.len()), Vec::new());
    for mut atom in atoms {
        let (home, at) = grid.home(atom.at);
        atom.at = at;
        if home == cell { stay.push(atom) } else { go.push((home, atom)) }
    }
    (stay, go)
}

/// Orders atoms by columns of the cell and by height in the column. A column is about as wide as a block of atoms is
/// high, so that blocks are compact. The id decides between atoms at the same place.
fn sort(atoms: &mut [Atom], grid: &CellGrid, cell: CellIndex) {
    let corner = grid.corner(cell);
    let volume: f64 = grid.width.iter().product();
    let side = (volume * LANES as f64 / atoms.len().max(1) as f64).cbrt();
    let column = |atom: &Atom, axis: usize| ((atom.at[axis] - corner[axis]) / side).floor() as i64;
    atoms.sort_by(|a, b| {
        let columns = (column(a, 0), column(a, 1)).cmp(&(column(b, 0), column(b, 1)));
        columns.then(a.at[2].total_cmp(&b.at[2])).then(a.id.cmp(&b.id))
    });
}

fn fingerprint(atom: &Atom) -> u64 {
    let words = atom.at.into_iter().chain(atom.velocity).map(f64::to_bits);
    words.fold(atom.id, |hash, word| (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> CellGrid {
        CellGrid::cut([24.0; 3], [2; 3], 11.0, true).expect("wide enough")
    }

    fn atom(id: u64, at: [f64; 3], velocity: [f64; 3]) -> Atom {
        Atom { at, velocity, mass: 2.0, sigma3: 30.0, strength: 0.4, id }
    }

    #[test]
    fn the_order_of_arrival_does_not_matter() {
        // Two atoms at each place: then their numbers decide.
        let place = |n: u64| [(n * 7 % 12) as f64, (n * 5 % 12) as f64, 0.6 * n as f64];
        let all: Vec<Atom> = (0..40).map(|i| atom(i, place(i / 2), [0.0; 3])).collect();
        let forwards = Atoms::new(all.clone(), &grid(), (0, 0, 0));
        let mut backwards = Atoms::new(all.iter().rev().copied().collect(), &grid(), (0, 0, 0));
        assert_eq!(forwards, backwards);
        assert_eq!(forwards.fingerprint(), backwards.fingerprint());
        assert_eq!((forwards.at.x.len(), backwards.take().len(), backwards.len()), (40, 40, 0));
    }

    #[test]
    fn a_fingerprint_sees_every_bit() {
        let one = Atoms::new(vec![atom(1, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3])], &grid(), (0, 0, 0));
        let other =
            Atoms::new(vec![atom(1, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3_f64.next_up()])], &grid(), (0, 0, 0));
        assert_ne!(one.fingerprint(), other.fingerprint());
    }

    #[test]
    fn motion_has_the_units_it_says() {
        let mut atoms = Atoms::new(vec![atom(1, [1.0; 3], [0.01, 0.0, 0.0])], &grid(), (0, 0, 0));
        assert!((atoms.kinetic() - 0.5 * 2.0 * 1e-4 / ACCELERATION).abs() < 1e-12);
        assert!((atoms.drift(2.0).sqrt() - 0.02).abs() < 1e-15);
        let mut forces = Forces::zero(8);
        forces.axes_mut()[1].fill(1.0);
        atoms.kick(&forces, 1.0);
        assert_eq!(atoms.take()[0].velocity, [0.01, ACCELERATION / 2.0, 0.0]);
    }

    #[test]
    fn a_motion_that_is_no_number_is_the_largest() {
        let slow = |id| atom(id, [1.0; 3], [0.01, 0.0, 0.0]);
        let lost = atom(2, [1.0; 3], [f64::NAN, 0.0, 0.0]);
        let mut atoms = Atoms::new(vec![slow(1), lost, slow(3)], &grid(), (0, 0, 0));
        assert!(atoms.drift(1.0).is_nan());
    }

    #[test]
    fn atoms_that_left_are_told_where_they_are() {
        let (inside, gone) = (atom(1, [1.0; 3], [0.0; 3]), atom(2, [-1.0, 13.0, 1.0], [0.0; 3]));
        let (stay, go) = sort_out(vec![inside, gone], &grid(), (0, 0, 0));
        assert_eq!(stay, [inside]);
        assert_eq!(go, [((1, 1, 0), Atom { at: [23.0, 13.0, 1.0], ..gone })]);
    }
}
