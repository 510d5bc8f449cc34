//! A box of cells, the ghost cells around it beside them, and one step of Jacobi's iteration on it.
//!
//! Cells stand in memory with `x` running fastest. A step computes every cell from the *old* values of its six neighbours,
//!
//! ```text
//! new = ((west + east) + (south + north) + (below + above)) / 6
//! ```
//!
//! in just this order, into a second array; then the two change places. As each cell is computed by itself, the result has
//! the same bits however the grid is cut into blocks.
//!
//! Nothing is written to the cells but all of them at once: so a checkpoint can keep them as they are (`Pages`), and ghosts, which come
//! later, are in memory of their own.

use std::ops::Range;

use talisman::prelude::*;

/// Sides of a box: west and east (`x`), south and north (`y`), below and above (`z`). A side's opposite is `side ^ 1`.
pub const SIDES: usize = 6;

/// A box of cells.
#[derive(Clone, Debug, Pup)]
pub struct CellBlock {
    size: [usize; 3],
    cells: Pages<f64>,
    /// Where the next step is written: the cells as they were before the last one. Not part of a checkpoint.
    #[pup(skip)]
    next: Pages<f64>,
    /// The cells beyond each side. Those of a neighbour are in the order of a face, and there for one step; then they are empty, and their
    /// memory carries a face. Where one value is held, there is a row of it.
    ghosts: [Vec<f64>; SIDES],
    /// Sides at which one value is held.
    held: [bool; SIDES],
}

impl CellBlock {
    /// A box of `size` cells, all zero.
    pub fn new(size: [usize; 3]) -> Self {
        let [cells, next] = [(); 2].map(|()| Pages::filled(0.0, size.iter().product()));
        CellBlock { size, cells, next, ghosts: Default::default(), held: [false; SIDES] }
    }

    /// Sets all ghost cells of a side to one value, for good: the boundary condition of the whole grid.
    pub fn hold(&mut self, side: usize, value: f64) {
        self.ghosts[side] = vec![value; self.size[0].max(self.size[1])];
        self.held[side] = true;
    }

    /// Copies the outermost cells of a side into `face`, which keeps its memory.
    pub fn read_face(&self, side: usize, face: &mut Vec<f64>) {
        let outermost = if side.is_multiple_of(2) { 0 } else { self.size[side / 2] - 1 };
        face.clear();
        face.reserve(self.face_len(side));
        for run in runs(self.size, side / 2, outermost) {
            let cells = &self.cells[run.range()];
            match run.stride {
                1 => face.extend_from_slice(cells),
                stride => face.extend(cells.iter().step_by(stride)),
            }
        }
    }

    /// Sets the ghost cells of a side, in the order of [`read_face`](Self::read_face) of the neighbour's opposite side. To be
    /// done before every step for sides that are not held.
    ///
    /// # Panics
    /// If there are not as many as the side has cells.
    pub fn set_ghosts(&mut self, side: usize, ghosts: Vec<f64>) {
        assert_eq!(ghosts.len(), self.face_len(side), "a neighbour's face has the size of ours");
        self.ghosts[side] = ghosts;
    }

    /// Memory for a face, that of the ghosts of a side that is not held.
    pub fn take_ghosts(&mut self, side: usize) -> Vec<f64> {
        std::mem::take(&mut self.ghosts[side])
    }

    /// One step.
    ///
    /// # Panics
    /// If there are no ghosts beyond some side.
    pub fn relax(&mut self) {
        if self.next.len() != self.cells.len() {
            self.next = self.cells.clone();
        }
        let ghosts = std::array::from_fn(|side| Ghosts::new(&self.ghosts[side], self.held[side]));
        relax(self.size, &self.cells, ghosts, self.next.overwrite());
        std::mem::swap(&mut self.cells, &mut self.next);
        let given = self.ghosts.iter_mut().zip(self.held).filter(|(_, is_held)| !is_held);
        given.for_each(|(ghosts, _)| ghosts.clear());
    }

    /// The largest change of a cell in the last step. Ask before the block may have been packed: what was before the step is not
    /// part of its state.
    pub fn change(&self) -> f64 {
        largest_change(&self.next, &self.cells)
    }

    /// The sum of all cells, row by row.
    pub fn sum(&self) -> f64 {
        self.rows().map(|row| row.iter().sum::<f64>()).sum()
    }

    /// The rows of the box, in the order of `z` and then `y`.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks_exact(self.size[0])
    }

    fn face_len(&self, side: usize) -> usize {
        self.size.iter().product::<usize>() / self.size[side / 2]
    }
}

/// Some cells of a plane, `stride` apart in memory.
struct Run {
    start: usize,
    len: usize,
    stride: usize,
}

impl Run {
    /// From the first cell to the last.
    fn range(&self) -> Range<usize> {
        self.start..self.start + (self.len - 1) * self.stride + 1
    }
}

/// The cells with coordinate `layer` along `axis`.
fn runs([nx, ny, nz]: [usize; 3], axis: usize, layer: usize) -> impl Iterator<Item = Run> {
    let at = move |x: usize, y: usize, z: usize| (z * ny + y) * nx + x;
    let (count, len, stride) = [(nz, ny, nx), (nz, nx, 1), (ny, nx, 1)][axis];
    (0..count).map(move |n| {
        let start = [at(layer, 0, n), at(0, layer, n), at(0, n, layer)][axis];
        Run { start, len, stride }
    })
}

/// Cells beyond a side, as many as it has, or some that stand for all others as well.
#[derive(Clone, Copy)]
struct Ghosts<'a> {
    cells: &'a [f64],
    is_held: bool,
}

impl<'a> Ghosts<'a> {
    fn new(cells: &'a [f64], is_held: bool) -> Self {
        Ghosts { cells, is_held }
    }

    #[inline(always)]
    fn part(self, range: Range<usize>) -> &'a [f64] {
        if self.is_held { &self.cells[..range.len()] } else { &self.cells[range] }
    }
}

/// Steps from `old` to `new`, with these ghosts.
fn relax(size: [usize; 3], old: &[f64], ghosts: [Ghosts<'_>; SIDES], new: &mut [f64]) {
    let [nx, ny, nz] = size;
    let faces = [ny * nz, nx * nz, nx * ny];
    let are_there = |side: usize| {
        ghosts[side].cells.len() == if ghosts[side].is_held { nx.max(ny) } else { faces[side / 2] }
    };
    assert!((0..SIDES).all(are_there), "there are ghosts beyond every side");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all the function asks for beyond the baseline.
        return unsafe { relax_avx2(size, old, ghosts, new) };
    }
    relax_plain(size, old, ghosts, new);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn relax_avx2(size: [usize; 3], old: &[f64], ghosts: [Ghosts<'_>; SIDES], new: &mut [f64]) {
    relax_plain(size, old, ghosts, new);
}

/// Plane by plane.
#[inline(always)]
fn relax_plain([nx, ny, nz]: [usize; 3], old: &[f64], ghosts: [Ghosts<'_>; SIDES], new: &mut [f64]) {
    let plane = |of: usize| of * nx * ny..(of + 1) * nx * ny;
    let [west, east, south, north, below, above] = ghosts;
    for z in 0..nz {
        let plane = Plane {
            cells: &old[plane(z)],
            below: if z == 0 { below } else { Ghosts::new(&old[plane(z - 1)], false) },
            above: if z + 1 == nz { above } else { Ghosts::new(&old[plane(z + 1)], false) },
            west: west.part(z * ny..(z + 1) * ny),
            east: east.part(z * ny..(z + 1) * ny),
        };
        let row = z * nx..(z + 1) * nx;
        let (south, north, new) = (south.part(row.clone()), north.part(row), &mut new[z * nx * ny..]);
        let last = (ny - 1) * nx;
        // The first row, all that have rows on both sides, and the last one.
        plane.relax(0..1, south, if ny == 1 { north } else { &plane.cells[nx..] }, new);
        if ny > 1 {
            plane.relax(1..ny - 1, plane.cells, &plane.cells[2 * nx..], new);
            plane.relax(ny - 1..ny, &plane.cells[last - nx..], north, new);
        }
    }
}

/// A plane of cells, with those around it but the rows south and north.
#[derive(Clone, Copy)]
struct Plane<'a> {
    cells: &'a [f64],
    below: Ghosts<'a>,
    above: Ghosts<'a>,
    west: &'a [f64],
    east: &'a [f64],
}

impl Plane<'_> {
    /// Some of its rows, with those south and north of them: all at once, unless there is one row below or above for all of them.
    #[inline(always)]
    fn relax(self, rows: Range<usize>, south: &[f64], north: &[f64], new: &mut [f64]) {
        if !self.below.is_held && !self.above.is_held {
            return self.relax_rows(rows, south, north, new);
        }
        let row = self.cells.len() / self.west.len();
        for (at, begin) in rows.zip((0..).step_by(row)) {
            self.relax_rows(at..at + 1, &south[begin..], &north[begin..], new);
        }
    }

    /// They are gone through as one long row, so that short rows cost nothing extra; the cells at their ends, whose neighbours in memory
    /// are those of other rows, are computed again.
    #[inline(always)]
    fn relax_rows(self, rows: Range<usize>, south: &[f64], north: &[f64], new: &mut [f64]) {
        let row = self.cells.len() / self.west.len();
        let (from, len) = (rows.start * row, rows.len() * row);
        let (cells, below, above) = (
            &self.cells[from..from + len],
            self.below.part(from..from + len),
            self.above.part(from..from + len),
        );
        let (south, north, new) = (&south[..len], &north[..len], &mut new[from..from + len]);
        if len > 2 {
            let [south, north, below, above] = [south, north, below, above].map(|all| &all[1..len - 1]);
            relax_row([&cells[..len - 2], &cells[2..], south, north, below, above], &mut new[1..len - 1]);
        }
        let ends = self.west[rows.clone()].iter().zip(&self.east[rows]);
        for (first, (west, east)) in (0..len).step_by(row).zip(ends) {
            let last = first + row - 1;
            let mean_at = |at, west, east| mean([west, east, south[at], north[at], below[at], above[at]]);
            new[first] = mean_at(first, *west, if row == 1 { *east } else { cells[first + 1] });
            new[last] = mean_at(last, if row == 1 { *west } else { cells[last - 1] }, *east);
        }
    }
}

/// A plain loop over rows of the same length, which the compiler turns into vector code.
#[inline(always)]
fn relax_row(around: [&[f64]; SIDES], new: &mut [f64]) {
    let [west, east, south, north, below, above] = around.map(|row| &row[..new.len()]);
    for x in 0..new.len() {
        new[x] = mean([west[x], east[x], south[x], north[x], below[x], above[x]]);
    }
}

/// Of the cells west, east, south, north, below and above.
#[inline(always)]
fn mean([west, east, south, north, below, above]: [f64; SIDES]) -> f64 {
    ((west + east) + (south + north) + (below + above)) * (1.0 / 6.0)
}

fn largest_change(old: &[f64], new: &[f64]) -> f64 {
    old.iter().zip(new).fold(0.0, |most, (old, new)| most.max((new - old).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(size: [usize; 3]) -> CellBlock {
        let mut block = CellBlock::new(size);
        block.cells.to_mut().iter_mut().enumerate().for_each(|(at, cell)| *cell = at as f64);
        block
    }

    /// With zero beyond every side.
    fn held(mut block: CellBlock) -> CellBlock {
        (0..SIDES).for_each(|side| block.hold(side, 0.0));
        block
    }

    #[test]
    fn a_face_has_the_outermost_cells_of_its_side() {
        let (block, mut face) = (counted([3, 4, 5]), Vec::new());
        let at = |x: usize, y: usize, z: usize| ((z * 4 + y) * 3 + x) as f64;
        let expected: [Vec<f64>; SIDES] = std::array::from_fn(|side| {
            let outermost = |axis: usize| if side % 2 == 0 { 0 } else { [3, 4, 5][axis] - 1 };
            let all = (0..5).flat_map(|z| (0..4).flat_map(move |y| (0..3).map(move |x| [x, y, z])));
            let of_side = all.filter(|place| place[side / 2] == outermost(side / 2));
            of_side.map(|[x, y, z]| at(x, y, z)).collect()
        });
        for (side, expected) in expected.iter().enumerate() {
            block.read_face(side, &mut face);
            assert_eq!(&face, expected, "side {side}");
        }
    }

    /// The same computed cell by cell, each with its neighbours looked up one by one.
    fn naive(block: &CellBlock) -> Vec<f64> {
        let [nx, ny, nz] = block.size;
        let at = |x: usize, y: usize, z: usize| block.cells[(z * ny + y) * nx + x];
        let mut new = Vec::new();
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let beyond = [z * ny + y, z * nx + x, y * nx + x];
                    let ghost = |side: usize| match block.held[side] {
                        true => block.ghosts[side][0],
                        false => block.ghosts[side][beyond[side / 2]],
                    };
                    new.push(mean([
                        if x == 0 { ghost(0) } else { at(x - 1, y, z) },
                        if x + 1 == nx { ghost(1) } else { at(x + 1, y, z) },
                        if y == 0 { ghost(2) } else { at(x, y - 1, z) },
                        if y + 1 == ny { ghost(3) } else { at(x, y + 1, z) },
                        if z == 0 { ghost(4) } else { at(x, y, z - 1) },
                        if z + 1 == nz { ghost(5) } else { at(x, y, z + 1) },
                    ]));
                }
            }
        }
        new
    }

    #[test]
    fn every_cell_has_the_neighbours_that_it_has() {
        for size in [[1, 1, 1], [2, 1, 3], [1, 2, 2], [3, 2, 1], [5, 4, 3], [9, 3, 2], [1, 7, 4], [19, 1, 1]]
        {
            // Nothing is held, one side of each axis is, both of the last one are, and all are.
            for held in [0b00_0000, 0b01_1001, 0b11_0000, 0b11_1111] {
                let mut block = counted(size);
                for side in 0..SIDES {
                    match held >> side & 1 {
                        0 => block.set_ghosts(
                            side,
                            (0..block.face_len(side)).map(|at| (100 * side + at) as f64).collect(),
                        ),
                        _ => block.hold(side, 0.5 + side as f64),
                    }
                }
                block.cells.to_mut().iter_mut().for_each(|cell| *cell = cell.sin());
                let expected = naive(&block);
                block.relax();
                assert_eq!(*block.cells, expected, "{size:?}, {held:b}");
            }
        }
    }

    #[test]
    fn a_cell_becomes_the_mean_of_its_neighbours() {
        let mut block = CellBlock::new([1, 1, 1]);
        (0..SIDES).for_each(|side| block.hold(side, side as f64));
        block.relax();
        assert_eq!((block.change(), block.sum()), (15.0 * (1.0 / 6.0), 15.0 * (1.0 / 6.0)));
        block.relax();
        assert_eq!(block.change(), 0.0, "the boundary stays");
    }

    #[test]
    #[should_panic(expected = "there are ghosts beyond every side")]
    fn ghosts_of_a_neighbour_are_there_for_one_step() {
        let mut block = held(CellBlock::new([2, 2, 2]));
        block.held[3] = false;
        block.relax();
        assert_eq!(block.take_ghosts(3).capacity(), 4, "their memory is");
        block.relax();
    }

    #[test]
    fn the_builds_for_this_machine_agree_to_the_bit() {
        let size = [19, 5, 3];
        let block = held(counted(size));
        let old: Vec<f64> = block.cells.iter().map(|cell| cell.sin()).collect();
        let (mut ours, mut plain) = (old.clone(), old.clone());
        let ghosts = std::array::from_fn(|side| Ghosts::new(&block.ghosts[side], block.held[side]));
        relax(size, &old, ghosts, &mut ours);
        relax_plain(size, &old, ghosts, &mut plain);
        assert_eq!(ours, plain);
    }

    #[test]
    fn the_largest_change_is_found_wherever_it_is() {
        for x in 0..11 {
            let mut block = held(CellBlock::new([11, 1, 1]));
            block.cells.to_mut()[x] = -6.0;
            block.relax();
            assert_eq!(block.change(), 6.0, "at {x}");
        }
    }

    #[test]
    fn what_a_checkpoint_leaves_out_does_not_matter() {
        let mut block = held(counted([4, 3, 2]));
        block.relax();
        let mut restored = CellBlock { next: Pages::default(), ..block.clone() };
        for _ in 0..3 {
            block.relax();
            restored.relax();
            assert_eq!(block.change().to_bits(), restored.change().to_bits());
        }
        assert_eq!(block.cells, restored.cells);
    }
}
