//! What is simulated: the box, its cells and its atoms, from a file or generated.

use std::collections::BTreeMap;
use std::path::Path;

use super::atoms::{ACCELERATION, Atom, BOLTZMANN};
use super::cell_list::{CellGrid, CellIndex, GridError};
use super::fluid::{self, Filling, noise};
use super::memory::{self, TooMuch};
use super::pdb::{self, PdbAtom, PdbError, Structure};
use super::population::Population;

/// A system before its first step.
#[derive(Clone, Debug)]
pub struct System {
    pub grid: CellGrid,
    pub atoms: Vec<Atom>,
    /// The cells that are made.
    pub population: Population,
    /// What a user should know of how it was read: a sentence each.
    pub notes: Vec<String>,
}

/// Why there is nothing to simulate.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    #[error(transparent)]
    Pdb(#[from] PdbError),
    #[error(transparent)]
    Grid(#[from] GridError),
    #[error("more than {MOST_ATOMS} atoms; use fewer replicas, cells or atoms per cell")]
    TooMany,
    #[error("--fill {filled} cells along an axis that has {cells}; use at most as many as --cells")]
    Fill { filled: usize, cells: usize },
    #[error(transparent)]
    Memory(#[from] TooMuch),
}

/// Most atoms of a system, about what a large machine's memory holds.
const MOST_ATOMS: usize = 1 << 32;

/// How the box is cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Least width of a cell: cutoff and skin (Å).
    pub reach: f64,
    /// Cells along each axis; as many as fit if none is said.
    pub cells: Option<[usize; 3]>,
    pub periodic: bool,
    /// Processes that share the cells.
    pub nodes: u32,
}

impl System {
    /// The contents of a PDB file, `replicas` times along each axis, at rest.
    pub fn from_pdb(path: &Path, replicas: [usize; 3], cut: Cut) -> Result<Self, SystemError> {
        let structure = pdb::read(path)?;
        let atoms = count(replicas, structure.atoms.len())?;
        check_memory(0, atoms, cut.nodes)?;
        Self::of_structure(&replicate(structure, replicas), cut)
    }

    /// A structure, at rest.
    pub fn of_structure(structure: &Structure, cut: Cut) -> Result<Self, SystemError> {
        let grid = match cut.cells {
            Some(cells) => CellGrid::cut(structure.size, cells, cut.reach, cut.periodic)?,
            None => CellGrid::fit(structure.size, cut.reach, cut.periodic)?,
        };
        let atoms = structure.atoms.iter().enumerate().map(|(id, atom)| at_rest(id as u64, atom)).collect();
        Self::populated(grid, atoms, structure.notes.clone(), cut)
    }

    /// A fluid in a box of `cells` cells that are as narrow as allowed, at rest.
    pub fn fluid(cells: [usize; 3], filling: Filling, seed: u64, cut: Cut) -> Result<Self, SystemError> {
        if let Some((filled, cells)) = filling.cells.into_iter().zip(cells).find(|(filled, all)| filled > all)
        {
            return Err(SystemError::Fill { filled, cells });
        }
        let atoms = count(filling.cells, filling.per_cell)?;
        check_memory(filling.cells.iter().product(), atoms, cut.nodes)?;
        let size = cells.map(|n| n as f64 * cut.reach);
        let grid = CellGrid::cut(size, cells, cut.reach, cut.periodic)?;
        let atoms = fluid::fill(&grid, filling, seed);
        Self::populated(grid, atoms, Vec::new(), cut)
    }

    fn populated(
        grid: CellGrid,
        atoms: Vec<Atom>,
        mut notes: Vec<String>,
        cut: Cut,
    ) -> Result<Self, SystemError> {
        let population = Population::of(&grid, &atoms);
        check_memory(population.len(&grid), atoms.len(), cut.nodes)?;
        if !population.is_everywhere() {
            let (cells, all) = (population.len(&grid), grid.len());
            notes.push(format!(
                "the box is large for its atoms: {cells} of {all} cells have some, and only these are made"
            ));
        }
        Ok(System { grid, atoms, population, notes })
    }

    /// Gives the atoms velocities of a temperature (K), without a motion of the whole. The same seed gives the same velocities.
    pub fn heat(&mut self, temperature: f64, seed: u64) {
        for atom in &mut self.atoms {
            let spread = (BOLTZMANN * temperature * ACCELERATION / atom.mass).sqrt();
            atom.velocity = std::array::from_fn(|axis| spread * normal(seed, 3 * atom.id + axis as u64));
        }
        self.stop_drifting();
    }

    /// The atoms of each cell that has some, brought into the box.
    pub fn by_cell(&self) -> BTreeMap<CellIndex, Vec<Atom>> {
        let mut cells = BTreeMap::<CellIndex, Vec<Atom>>::new();
        for atom in &self.atoms {
            let (cell, at) = self.grid.home(atom.at);
            cells.entry(cell).or_default().push(Atom { at, ..*atom });
        }
        cells
    }

    fn stop_drifting(&mut self) {
        let mass: f64 = self.atoms.iter().map(|atom| atom.mass).sum();
        for axis in 0..3 {
            let momentum: f64 = self.atoms.iter().map(|atom| atom.mass * atom.velocity[axis]).sum();
            self.atoms.iter_mut().for_each(|atom| atom.velocity[axis] -= momentum / mass);
        }
    }
}

/// Repeats a structure and its box.
pub fn replicate(structure: Structure, replicas: [usize; 3]) -> Structure {
    let size = structure.size;
    let places = (0..replicas.iter().product()).map(|n: usize| {
        let place = [n / replicas[2] / replicas[1], n / replicas[2] % replicas[1], n % replicas[2]];
        std::array::from_fn::<f64, 3, _>(|axis| place[axis] as f64 * size[axis])
    });
    let copy = |origin: [f64; 3]| {
        let moved = move |atom: &PdbAtom| PdbAtom {
            at: std::array::from_fn(|axis| atom.at[axis] + origin[axis]),
            ..*atom
        };
        structure.atoms.iter().map(moved)
    };
    let atoms = places.flat_map(copy).collect();
    Structure {
        size: std::array::from_fn(|axis| size[axis] * replicas[axis] as f64),
        atoms,
        notes: structure.notes.clone(),
    }
}

fn count(times: [usize; 3], atoms: usize) -> Result<usize, SystemError> {
    let count = times.into_iter().try_fold(atoms, usize::checked_mul);
    count.filter(|count| *count <= MOST_ATOMS).ok_or(SystemError::TooMany)
}

/// What a cell takes with its pairs, and an atom, which all stand on PE 0 before they are in their cells (bytes, estimated).
const CELL: f64 = 7_000.0;
const ATOM: f64 = 160.0;

fn check_memory(cells: usize, atoms: usize, nodes: u32) -> Result<(), TooMuch> {
    let shared = (cells as f64 * CELL + atoms as f64 * ATOM) / f64::from(nodes);
    let what =
        if cells == 0 { format!("{atoms} atoms") } else { format!("{cells} cells with {atoms} atoms") };
    memory::check(what, shared + atoms as f64 * ATOM, "fewer --cells, replicas or atoms per cell")
}

fn at_rest(id: u64, atom: &PdbAtom) -> Atom {
    let element = atom.element;
    Atom {
        at: atom.at,
        velocity: [0.0; 3],
        mass: element.mass,
        sigma3: element.sigma().powi(3),
        strength: (4.0 * element.depth).sqrt(),
        id,
    }
}

/// A number from the normal distribution (Box and Muller), of `seed` and `index` alone.
fn normal(seed: u64, index: u64) -> f64 {
    let (radius, angle) = (1.0 - noise(seed, 2 * index), noise(seed, 2 * index + 1));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use super::super::elements;
    use super::*;

    const CUT: Cut = Cut { reach: 11.0, cells: None, periodic: true, nodes: 1 };

    fn fluid(cells: [usize; 3], per_cell: usize) -> Result<System, SystemError> {
        System::fluid(cells, Filling { per_cell, gradient: 0.0, cells }, 1, CUT)
    }

    #[test]
    fn a_replicated_structure_is_the_structure_side_by_side() {
        let oxygen = elements::find("O").expect("in the table");
        let one = Structure {
            size: [10.0, 20.0, 30.0],
            atoms: vec![PdbAtom { element: oxygen, at: [1.0, 2.0, 3.0] }],
            notes: Vec::new(),
        };
        let four = replicate(one, [2, 2, 1]);
        assert_eq!(four.size, [20.0, 40.0, 30.0]);
        let at: Vec<[f64; 3]> = four.atoms.iter().map(|atom| atom.at).collect();
        assert_eq!(at, [[1.0, 2.0, 3.0], [1.0, 22.0, 3.0], [11.0, 2.0, 3.0], [11.0, 22.0, 3.0]]);
    }

    #[test]
    fn heat_has_the_temperature_it_says_and_no_drift() {
        let mut system = fluid([3, 3, 3], 50).expect("wide enough");
        system.heat(300.0, 2);
        let twice: f64 =
            system.atoms.iter().map(|a| a.mass * a.velocity.iter().map(|v| v * v).sum::<f64>()).sum();
        let kelvin = twice / ACCELERATION / (3.0 * system.atoms.len() as f64 * BOLTZMANN);
        assert!((kelvin - 300.0).abs() < 15.0, "{kelvin}");
        let momentum: f64 = system.atoms.iter().map(|a| a.mass * a.velocity[0]).sum();
        assert!(momentum.abs() < 1e-10, "{momentum}");
    }

    #[test]
    fn a_system_no_memory_holds_is_refused() {
        let message = fluid([1 << 30; 3], 1 << 40).expect_err("too many").to_string();
        assert!(message.contains("fewer"), "{message}");
        let message = fluid([30_000; 3], 1).expect_err("too many").to_string();
        assert!(message.contains("fewer"), "{message}");
        let message = fluid([1_500; 3], 1).expect_err("24 TB").to_string();
        assert!(
            message.contains("3375000000 cells with 3375000000 atoms would take 24705.0 GB"),
            "{message}"
        );
    }

    #[test]
    fn a_box_that_is_large_for_its_atoms_is_said() {
        let oxygen = elements::find("O").expect("in the table");
        let structure = |side| Structure {
            size: [side; 3],
            atoms: vec![PdbAtom { element: oxygen, at: [1.0, 2.0, 3.0] }; 125],
            notes: vec!["of the file".into()],
        };
        let notes = |side, cells| {
            System::of_structure(&structure(side), Cut { cells, ..CUT }).expect("wide enough").notes
        };
        assert_eq!(notes(21.0, None), ["of the file"]);
        assert!(notes(999.0, None)[1].contains("1 of 729000 cells"), "{:?}", notes(999.0, None));
        assert_eq!(notes(999.0, Some([1, 2, 1])), ["of the file"]);
    }

    #[test]
    fn a_fluid_may_fill_a_part_of_its_box() {
        let filling = Filling { per_cell: 9, gradient: 0.0, cells: [2, 1, 3] };
        let system = System::fluid([30_000; 3], filling, 1, CUT).expect("six cells");
        assert_eq!((system.population.len(&system.grid), system.atoms.len()), (6, 54));
        let message = System::fluid([2, 2, 2], filling, 1, CUT).expect_err("three of two").to_string();
        assert!(message.contains("--fill 3 cells along an axis that has 2"), "{message}");
    }

    #[test]
    fn every_atom_is_in_one_cell() {
        let cells = fluid([2, 3, 4], 9).expect("wide enough").by_cell();
        assert!(cells.len() == 24 && cells.values().all(|atoms| atoms.len() == 9));
    }
}
