//! Which cells there are: those with atoms in them, or all of a box that has atoms nearly everywhere.
//!
//! A box may be far larger than its atoms, and the cells that would fill it more than any memory holds. So cells, and pairs of cells, exist
//! where atoms are: they are made where an atom comes to a place without a cell, and go with the last atom. Who decides that is the main
//! chare, which hears of it from all cells after atoms have changed cells: a cell is made once, whoever sends an atom there, and those
//! beside it know of it before they go on.

use std::collections::{BTreeMap, BTreeSet};

use talisman::prelude::*;

use super::atoms::Atom;
use super::cell_list::{CellGrid, CellIndex, DIRECTIONS};

/// The cells that there are.
#[derive(Clone, Debug, PartialEq, Pup)]
pub enum Population {
    /// All of the box, as long as the program runs: they need no news of each other.
    Everywhere,
    /// Those with atoms.
    In(BTreeSet<CellIndex>),
}

/// Which neighbours of a cell there are, itself included: a bit for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
pub struct Near(u32);

/// What a cell tells after atoms have changed cells.
#[derive(Clone, Debug, PartialEq, Pup)]
pub enum News {
    /// An atom has come to a place without a cell.
    Stray(CellIndex, Atom),
    /// The cell has no atom any more.
    Empty(CellIndex),
}

/// What becomes of the population then.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Change {
    pub born: Vec<CellIndex>,
    pub gone: Vec<CellIndex>,
}

impl Population {
    /// Where these atoms are; everywhere, if half of the cells have some.
    pub fn of(grid: &CellGrid, atoms: &[Atom]) -> Self {
        let cells: BTreeSet<CellIndex> = atoms.iter().map(|atom| grid.home(atom.at).0).collect();
        if 2 * cells.len() >= grid.len() { Population::Everywhere } else { Population::In(cells) }
    }

    /// Whether it can change.
    pub fn is_everywhere(&self) -> bool {
        *self == Population::Everywhere
    }

    /// Number of cells.
    pub fn len(&self, grid: &CellGrid) -> usize {
        match self {
            Population::Everywhere => grid.len(),
            Population::In(cells) => cells.len(),
        }
    }

    /// Number of pairs, those of a cell with itself included.
    pub fn pairs(&self, grid: &CellGrid) -> usize {
        match self {
            Population::Everywhere => grid.pairs(),
            Population::In(cells) => {
                let of_cell = |cell: &CellIndex| grid.owned_pairs(*cell).filter(|n| self.has(n.cell)).count();
                cells.iter().map(of_cell).sum()
            }
        }
    }

    /// The first cell.
    pub fn first(&self) -> CellIndex {
        match self {
            Population::Everywhere => (0, 0, 0),
            Population::In(cells) => cells.first().copied().unwrap_or_default(),
        }
    }

    /// The neighbours of a cell that there are.
    pub fn near(&self, grid: &CellGrid, cell: CellIndex) -> Near {
        let mut near = Near::default();
        for neighbour in grid.neighbours(cell) {
            near.set(neighbour.direction, self.has(neighbour.cell));
        }
        near
    }

    /// Makes room for strays, and leaves out cells without atoms. Gives the change, and the atoms of those that are born.
    pub fn follow(
        &mut self,
        news: impl IntoIterator<Item = News>,
    ) -> (Change, BTreeMap<CellIndex, Vec<Atom>>) {
        let (mut atoms, mut gone) = (BTreeMap::<CellIndex, Vec<Atom>>::new(), Vec::new());
        for news in news {
            match news {
                News::Stray(cell, atom) => atoms.entry(cell).or_default().push(atom),
                News::Empty(cell) => gone.push(cell),
            }
        }
        if let Population::In(cells) = self {
            cells.extend(atoms.keys());
            gone.iter().for_each(|cell| _ = cells.remove(cell));
        }
        (Change { born: atoms.keys().copied().collect(), gone }, atoms)
    }

    fn has(&self, cell: CellIndex) -> bool {
        match self {
            Population::Everywhere => true,
            Population::In(cells) => cells.contains(&cell),
        }
    }
}

impl Near {
    /// Whether there is a neighbour in a direction.
    pub fn has(self, direction: usize) -> bool {
        self.0 >> direction & 1 != 0
    }

    /// Says whether there is.
    pub fn set(&mut self, direction: usize, is: bool) {
        const { assert!(DIRECTIONS <= u32::BITS as usize) };
        self.0 = self.0 & !(1 << direction) | u32::from(is) << direction;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(side: usize) -> CellGrid {
        CellGrid::cut([12.0 * side as f64; 3], [side; 3], 11.0, true).expect("wide enough")
    }

    fn atom(at: [f64; 3]) -> Atom {
        Atom { at, velocity: [0.0; 3], mass: 2.0, sigma3: 30.0, strength: 0.4, id: 0 }
    }

    #[test]
    fn cells_are_where_atoms_are() {
        let atoms = [atom([1.0; 3]), atom([2.0; 3]), atom([-1.0, 13.0, 1.0])];
        let population = Population::of(&grid(80), &atoms);
        assert_eq!(population, Population::In([(0, 0, 0), (79, 1, 0)].into()));
        assert_eq!((population.len(&grid(80)), population.pairs(&grid(80))), (2, 3));
        assert_eq!(population.first(), (0, 0, 0));
        let far = Population::of(&grid(80), &[atom([1.0; 3]), atom([500.0; 3])]);
        assert_eq!((far.len(&grid(80)), far.pairs(&grid(80))), (2, 2));
    }

    #[test]
    fn a_box_that_is_half_full_has_all_of_its_cells() {
        let atoms: Vec<Atom> = (0..4)
            .map(|n| atom([1.0, 12.0 * f64::from(n / 2) + 1.0, 12.0 * f64::from(n % 2) + 1.0]))
            .collect();
        let all = Population::of(&grid(2), &atoms);
        assert!(all.is_everywhere() && !Population::of(&grid(2), &atoms[..3]).is_everywhere());
        assert_eq!((all.len(&grid(2)), all.pairs(&grid(2))), (8, grid(2).pairs()));
        // One cell, which is its own neighbour on all sides.
        assert_eq!(
            Population::of(&grid(1), &atoms[..1]).near(&grid(1), (0, 0, 0)),
            Near((1 << DIRECTIONS) - 1)
        );
    }

    #[test]
    fn cells_are_born_and_go() {
        let mut population = Population::of(&grid(80), &[atom([1.0; 3]), atom([20.0; 3])]);
        let stray = |cell, x| News::Stray(cell, atom([x, 1.0, 1.0]));
        let news = vec![stray((79, 0, 0), 959.0), News::Empty((1, 1, 1)), stray((79, 0, 0), 958.0)];
        let (change, atoms) = population.follow(news);
        assert_eq!(change, Change { born: vec![(79, 0, 0)], gone: vec![(1, 1, 1)] });
        assert_eq!(atoms[&(79, 0, 0)].len(), 2);
        assert_eq!(population, Population::In([(0, 0, 0), (79, 0, 0)].into()));
        let near = population.near(&grid(80), (0, 0, 0));
        let directions: Vec<usize> = (0..DIRECTIONS).filter(|direction| near.has(*direction)).collect();
        assert_eq!(directions, [4, 13], "the one on the other side of the border, and itself");
    }
}
