//! The box cut into cells, and which cells must know of each other.
//!
//! Cells are at least as wide as the cutoff plus a margin, so that only neighbours interact, also while atoms have not yet been
//! moved to the cell they drifted into. Each pair of neighbours has a name, [`PairIndex`]: the cell on its left and the direction
//! to the other. Directions, not cells, tell pairs apart: with one or two cells along an axis a cell meets the same
//! neighbour, or itself, on both sides, and those are different pairs with different shifts.

use talisman::prelude::*;

/// A cell's place.
pub type CellIndex = (i32, i32, i32);

/// Directions a cell can have a neighbour in, its own place included.
pub const DIRECTIONS: usize = 27;

/// A pair of neighbouring cells, or of a cell with itself: the left cell, and the step to the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pup, ArrayIndex)]
pub struct PairIndex {
    pub x: i16,
    pub y: i16,
    pub z: i16,
    pub dx: i8,
    pub dy: i8,
    pub dz: i8,
}

/// The box and its cells.
#[derive(Clone, Debug, PartialEq, Pup)]
pub struct CellGrid {
    /// Cells along each axis.
    pub cells: [i32; 3],
    /// Sides of one cell (Å).
    pub width: [f64; 3],
    /// Whether the box repeats.
    pub periodic: bool,
}

/// A neighbour of a cell, or the cell itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Number of the direction it lies in, `0..DIRECTIONS`.
    pub direction: usize,
    pub cell: CellIndex,
    /// The pair of the two.
    pub pair: PairIndex,
    /// Whether the asking cell is the pair's right one.
    pub on_right: bool,
}

/// Why a box cannot be cut as wanted.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    #[error(
        "the box is {side} Å along {axis}, but cells must be at least {reach} Å wide (cutoff and skin); \
         use a larger box (--replicate) or a smaller --cutoff or --skin"
    )]
    Small { axis: char, side: f64, reach: f64 },
    #[error(
        "{cells} cells along {axis} would be {width:.3} Å wide, less than the {reach} Å of cutoff and skin; \
         use at most {most} cells there, or a smaller --cutoff or --skin"
    )]
    Narrow { axis: char, cells: i32, width: f64, reach: f64, most: i32 },
    #[error("{cells} cells along {axis}; use between 1 and {}", i16::MAX)]
    Count { axis: char, cells: usize },
}

const AXES: [char; 3] = ['x', 'y', 'z'];

impl CellGrid {
    /// Cuts a box of `size` (Å) into as many cells as fit that are at least `reach` (Å) wide. Those without atoms are not made.
    pub fn fit(size: [f64; 3], reach: f64, periodic: bool) -> Result<Self, GridError> {
        if let Some(axis) = (0..3).find(|axis| size[*axis] < reach) {
            return Err(GridError::Small { axis: AXES[axis], side: size[axis], reach });
        }
        let cells = size.map(|side| fitting(side, reach).clamp(1, i16::MAX as usize));
        Self::cut(size, cells, reach, periodic)
    }

    /// Cuts a box of `size` (Å) into the given number of cells.
    pub fn cut(size: [f64; 3], cells: [usize; 3], reach: f64, periodic: bool) -> Result<Self, GridError> {
        for axis in 0..3 {
            check_axis(AXES[axis], size[axis], cells[axis], reach)?;
        }
        let width = std::array::from_fn(|axis| size[axis] / cells[axis] as f64);
        Ok(CellGrid { cells: cells.map(|n| n as i32), width, periodic })
    }

    /// Sides of the box (Å).
    pub fn size(&self) -> [f64; 3] {
        std::array::from_fn(|axis| self.width[axis] * f64::from(self.cells[axis]))
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells.iter().map(|n| *n as usize).product()
    }

    /// All cells, in the order of their indices.
    pub fn indices(&self) -> impl Iterator<Item = CellIndex> + use<> {
        indices(self.cells)
    }

    /// A cell's corner with the smallest coordinates (Å).
    pub fn corner(&self, (i, j, k): CellIndex) -> [f64; 3] {
        [f64::from(i) * self.width[0], f64::from(j) * self.width[1], f64::from(k) * self.width[2]]
    }

    /// The cell an atom belongs to, and its position brought into the box if the box repeats. In an open box the
    /// outermost cells own what is beyond them.
    pub fn home(&self, at: [f64; 3]) -> (CellIndex, [f64; 3]) {
        let size = self.size();
        let at = if self.periodic { std::array::from_fn(|axis| wrap(at[axis], size[axis])) } else { at };
        let cell =
            |axis: usize| ((at[axis] / self.width[axis]).floor() as i32).clamp(0, self.cells[axis] - 1);
        ((cell(0), cell(1), cell(2)), at)
    }

    /// A cell's neighbours and itself, in the order of their directions; fewer at the border of an open box.
    pub fn neighbours(&self, cell: CellIndex) -> Vec<Neighbour> {
        (0..DIRECTIONS).filter_map(|direction| self.neighbour(cell, direction)).collect()
    }

    /// Pairs whose left cell is `cell`, in the order of their directions.
    pub fn owned_pairs(&self, cell: CellIndex) -> impl Iterator<Item = Neighbour> + use<> {
        self.neighbours(cell).into_iter().filter(Neighbour::is_owned)
    }

    /// Number of pairs, those of a cell with itself included.
    pub fn pairs(&self) -> usize {
        self.indices().map(|cell| self.owned_pairs(cell).count()).sum()
    }

    /// A pair's right cell.
    pub fn right(&self, pair: PairIndex) -> CellIndex {
        let along =
            |axis: usize, at: i16, step: i8| (i32::from(at) + i32::from(step)).rem_euclid(self.cells[axis]);
        (along(0, pair.x, pair.dx), along(1, pair.y, pair.dy), along(2, pair.z, pair.dz))
    }

    /// What must be added to the coordinates of a pair's right cell to have it beside the left one (Å).
    pub fn shift(&self, pair: PairIndex) -> [f64; 3] {
        let (left, step) = ([pair.x, pair.y, pair.z], [pair.dx, pair.dy, pair.dz]);
        let size = self.size();
        std::array::from_fn(|axis| {
            let right = i32::from(left[axis]) + i32::from(step[axis]);
            f64::from(right.div_euclid(self.cells[axis])) * size[axis]
        })
    }

    /// How far the atoms of two cells may come closer, unseen, before they are moved to their new cells (Å).
    pub fn margin(&self, cutoff: f64) -> f64 {
        self.width.iter().fold(f64::INFINITY, |least, width| least.min(*width)) - cutoff
    }

    fn neighbour(&self, cell: CellIndex, direction: usize) -> Option<Neighbour> {
        let step = step(direction);
        let other = self.stepped(cell, step)?;
        let on_right = direction < opposite(direction);
        let pair = if on_right { pair(other, step.map(|d| -d)) } else { pair(cell, step) };
        Some(Neighbour { direction, cell: other, pair, on_right })
    }

    fn stepped(&self, (i, j, k): CellIndex, [dx, dy, dz]: [i32; 3]) -> Option<CellIndex> {
        let along = |axis: usize, at: i32| {
            let around = at.rem_euclid(self.cells[axis]);
            (self.periodic || around == at).then_some(around)
        };
        Some((along(0, i + dx)?, along(1, j + dy)?, along(2, k + dz)?))
    }
}

impl Neighbour {
    /// Whether the asking cell is the pair's left one, to which the pair counts.
    pub fn is_owned(&self) -> bool {
        !self.on_right
    }
}

impl PairIndex {
    /// The direction in which the left cell sees the right one.
    pub fn direction(self) -> usize {
        direction([self.dx, self.dy, self.dz].map(i32::from))
    }

    /// The pair's left cell.
    pub fn left(self) -> CellIndex {
        (i32::from(self.x), i32::from(self.y), i32::from(self.z))
    }

    /// Whether this is a cell with itself.
    pub fn is_alone(self) -> bool {
        (self.dx, self.dy, self.dz) == (0, 0, 0)
    }
}

/// The cells from the corner up to some along each axis, in the order of their indices.
pub fn indices([x, y, z]: [i32; 3]) -> impl Iterator<Item = CellIndex> {
    (0..x).flat_map(move |i| (0..y).flat_map(move |j| (0..z).map(move |k| (i, j, k))))
}

/// Of a cell's neighbours the other cells, to which its atoms can move, each once, in the order of their indices.
pub fn others(neighbours: &[Neighbour], cell: CellIndex) -> Vec<CellIndex> {
    let mut others: Vec<CellIndex> = neighbours.iter().map(|neighbour| neighbour.cell).collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|other| *other != cell);
    others
}

/// The direction from the other side.
pub fn opposite(direction: usize) -> usize {
    DIRECTIONS - 1 - direction
}

fn step(direction: usize) -> [i32; 3] {
    [direction / 9, direction / 3 % 3, direction % 3].map(|d| d as i32 - 1)
}

fn direction([dx, dy, dz]: [i32; 3]) -> usize {
    ((dx + 1) * 9 + (dy + 1) * 3 + (dz + 1)) as usize
}

fn pair((i, j, k): CellIndex, [dx, dy, dz]: [i32; 3]) -> PairIndex {
    PairIndex { x: i as i16, y: j as i16, z: k as i16, dx: dx as i8, dy: dy as i8, dz: dz as i8 }
}

fn fitting(side: f64, reach: f64) -> usize {
    (side / reach) as usize
}

fn check_axis(axis: char, side: f64, cells: usize, reach: f64) -> Result<(), GridError> {
    let count = i16::try_from(cells).ok().filter(|cells| *cells > 0);
    let cells = i32::from(count.ok_or(GridError::Count { axis, cells })?);
    let width = side / f64::from(cells);
    if side < reach {
        return Err(GridError::Small { axis, side, reach });
    }
    if width < reach {
        return Err(GridError::Narrow { axis, cells, width, reach, most: fitting(side, reach) as i32 });
    }
    Ok(())
}

/// Brings a coordinate into `0..side`. A tiny negative one would round up to `side` itself, which is `0`.
fn wrap(at: f64, side: f64) -> f64 {
    let inside = at - (at / side).floor() * side;
    if inside < side { inside.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn grid(cells: [usize; 3], periodic: bool) -> CellGrid {
        CellGrid::cut(cells.map(|n| n as f64 * 12.0), cells, 11.0, periodic).expect("wide enough")
    }

    #[test]
    fn the_paper_has_700_cells_and_7798_pairs() {
        let open = grid([7, 10, 10], false);
        assert_eq!((open.len(), open.pairs()), (700, 7798));
        assert_eq!(grid([7, 10, 10], true).pairs(), 700 * 14);
    }

    #[test]
    fn both_cells_of_a_pair_give_it_the_same_name() {
        for cells in [[1, 1, 1], [2, 1, 3], [3, 4, 5]] {
            for periodic in [false, true] {
                let grid = grid(cells, periodic);
                let seen_from = |right: bool| -> BTreeSet<(PairIndex, CellIndex)> {
                    let all = grid
                        .indices()
                        .flat_map(|cell| grid.neighbours(cell).into_iter().map(move |n| (n, cell)));
                    let both = all.filter(|(n, _)| !n.pair.is_alone() && n.on_right == right);
                    both.map(|(n, cell)| if right { (n.pair, n.cell) } else { (n.pair, cell) }).collect()
                };
                assert_eq!(seen_from(false), seen_from(true));
                assert!(seen_from(false).iter().all(|(pair, left)| pair.left() == *left));
                let neighbours = grid.indices().flat_map(|cell| grid.owned_pairs(cell));
                neighbours.for_each(|neighbour| assert_eq!(grid.right(neighbour.pair), neighbour.cell));
            }
        }
    }

    #[test]
    fn directions_have_opposites() {
        for number in 0..DIRECTIONS {
            assert_eq!(direction(step(number)), number);
            assert_eq!(step(opposite(number)), step(number).map(|d| -d));
        }
        let own = grid([3, 3, 3], true).neighbours((1, 1, 1))[13];
        assert!(own.pair.is_alone() && !own.on_right && own.pair.direction() == 13);
    }

    #[test]
    fn each_other_cell_is_named_once_and_both_ways() {
        for cells in [[1, 1, 1], [2, 1, 3], [3, 4, 5]] {
            let grid = grid(cells, true);
            let others = |cell| others(&grid.neighbours(cell), cell);
            for cell in grid.indices() {
                let all = others(cell);
                assert!(all.iter().all(|other| others(*other).contains(&cell)));
                assert!(all.windows(2).all(|two| two[0] < two[1]) && !all.contains(&cell));
            }
        }
        assert_eq!(others(&grid([3, 3, 3], true).neighbours((0, 0, 0)), (0, 0, 0)).len(), 26);
    }

    #[test]
    fn shifts_bring_the_right_cell_beside_the_left_one() {
        let grid = grid([2, 1, 3], true);
        let shift = |x, y, z, dx, dy, dz| grid.shift(PairIndex { x, y, z, dx, dy, dz });
        assert_eq!(shift(0, 0, 0, 1, 0, 0), [0.0; 3]);
        assert_eq!(shift(1, 0, 0, 1, 0, 0), [24.0, 0.0, 0.0]);
        assert_eq!(shift(0, 0, 0, 0, 1, -1), [0.0, 12.0, -36.0]);
    }

    #[test]
    fn atoms_find_their_home() {
        let periodic = grid([2, 2, 2], true);
        assert_eq!(periodic.home([25.0, -1.0, 11.0]), ((0, 1, 0), [1.0, 23.0, 11.0]));
        assert_eq!(periodic.home([-1e-18, 0.0, 24.0]), ((0, 0, 0), [0.0; 3]));
        let open = grid([2, 2, 2], false);
        assert_eq!(open.home([25.0, -1.0, 11.0]), ((1, 0, 0), [25.0, -1.0, 11.0]));
    }

    #[test]
    fn a_box_is_cut_into_as_many_cells_as_fit() {
        for (side, cells) in [(33.0, 3), (999.0, 90), (9_999.0, 909), (99_999.999, 9_090), (1e9, 32_767)] {
            let grid = CellGrid::fit([side; 3], 11.0, true).expect("wide enough");
            assert_eq!((grid.cells, grid.len()), ([cells; 3], (cells as usize).pow(3)), "{side} Å");
        }
        let flat = CellGrid::fit([9_999.0, 22.0, 11.0], 11.0, true).expect("wide enough");
        assert_eq!(flat.cells, [909, 2, 1]);
    }

    #[test]
    fn a_box_that_is_too_small_is_refused_with_what_to_do() {
        let message = CellGrid::fit([62.0, 62.0, 10.0], 11.0, true).expect_err("too flat").to_string();
        assert!(message.contains("10 Å along z") && message.contains("--replicate"), "{message}");
        let message = CellGrid::cut([62.0; 3], [5, 6, 5], 11.0, true).expect_err("too many").to_string();
        assert!(message.contains("6 cells along y") && message.contains("at most 5"), "{message}");
        assert!(CellGrid::cut([62.0; 3], [0, 1, 1], 11.0, true).is_err());
        assert!(CellGrid::cut([62.0; 3], [1, 1, 70_000], 11.0, true).is_err());
        assert_eq!(CellGrid::fit([62.23; 3], 11.0, true).map(|grid| grid.cells), Ok([5; 3]));
    }
}
