//! A box of cells with one layer of ghost cells around it, and one step of Jacobi's iteration on it.
//!
//! Cells stand in memory with `x` running fastest. A step computes every cell from the *old* values of its six neighbours,
//!
//! ```text
//! new = ((west + east) + (south + north) + (below + above)) / 6
//! ```
//!
//! in just this order, into a second array; then the two change places. As each cell is computed by itself, the result has
//! the same bits however the grid is cut into blocks.

use talisman::prelude::*;

/// Sides of a box: west and east (`x`), south and north (`y`), below and above (`z`). A side's opposite is `side ^ 1`.
pub const SIDES: usize = 6;

/// A box of cells.
#[derive(Clone, Debug, Pup)]
pub struct CellBlock {
    size: [usize; 3],
    /// With the ghost layer: `(x + 2) · (y + 2) · (z + 2)` values.
    cells: Vec<f64>,
    /// Where the next step is written. Not part of a checkpoint: it differs from `cells` only where a step writes, or where
    /// ghosts are set before a step.
    #[pup(skip)]
    next: Vec<f64>,
    /// Values of the west and the east side where they are held: a step overwrites these ghosts.
    held: [Option<f64>; 2],
}

impl CellBlock {
    /// A box of `size` cells, all zero.
    pub fn new(size: [usize; 3]) -> Self {
        let len = size.iter().map(|n| n + 2).product();
        CellBlock { size, cells: vec![0.0; len], next: Vec::new(), held: [None; 2] }
    }

    /// Sets all ghost cells of a side to one value, for good: the boundary condition of the whole grid. Call it before the
    /// first step.
    pub fn hold(&mut self, side: usize, value: f64) {
        self.fill_ghosts(side, value);
        if let Some(held) = self.held.get_mut(side) {
            *held = Some(value);
        }
    }

    /// Copies the outermost own cells of a side into `face`, which keeps its memory.
    pub fn read_face(&self, side: usize, face: &mut Vec<f64>) {
        let outermost = if side.is_multiple_of(2) { 1 } else { self.size[side / 2] };
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
    pub fn set_ghosts(&mut self, side: usize, ghosts: &[f64]) {
        assert_eq!(ghosts.len(), self.face_len(side), "a neighbour's face has the size of ours");
        for (run, ghosts) in
            runs(self.size, side / 2, self.ghost_layer(side)).zip(ghosts.chunks_exact(self.face_row(side)))
        {
            let cells = &mut self.cells[run.range()];
            match run.stride {
                1 => cells.copy_from_slice(ghosts),
                stride => {
                    cells.iter_mut().step_by(stride).zip(ghosts).for_each(|(ghost, from)| *ghost = *from)
                }
            }
        }
    }

    /// One step.
    pub fn relax(&mut self) {
        if self.next.len() != self.cells.len() {
            self.next = self.cells.clone();
        }
        for side in 0..2 {
            if let Some(value) = self.held[side] {
                self.fill_ghosts(side, value);
            }
        }
        relax(self.size, &self.cells, &mut self.next);
        std::mem::swap(&mut self.cells, &mut self.next);
    }

    /// The largest change of a cell in the last step. Ask before the block may have been packed: what was before the step is not
    /// part of its state.
    pub fn change(&self) -> f64 {
        let changes = self
            .rows_of(&self.cells)
            .zip(self.rows_of(&self.next))
            .map(|(new, old)| largest_change(old, new));
        changes.fold(0.0, f64::max)
    }

    /// The sum of all cells, row by row.
    pub fn sum(&self) -> f64 {
        self.rows().map(|row| row.iter().sum::<f64>()).sum()
    }

    /// The rows of the box, ghosts left out, in the order of `z` and then `y`.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.rows_of(&self.cells)
    }

    fn rows_of<'a>(&self, cells: &'a [f64]) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        let size = self.size;
        let planes = (1..=size[2]).flat_map(move |z| runs(size, 2, z));
        planes.map(|run| &cells[run.range()])
    }

    fn fill_ghosts(&mut self, side: usize, value: f64) {
        for run in runs(self.size, side / 2, self.ghost_layer(side)) {
            self.cells[run.range()].iter_mut().step_by(run.stride).for_each(|ghost| *ghost = value);
        }
    }

    fn ghost_layer(&self, side: usize) -> usize {
        if side.is_multiple_of(2) { 0 } else { self.size[side / 2] + 1 }
    }

    fn face_len(&self, side: usize) -> usize {
        self.size.iter().product::<usize>() / self.size[side / 2]
    }

    /// Cells that a face has in each run.
    fn face_row(&self, side: usize) -> usize {
        if side / 2 == 0 { self.size[1] } else { self.size[0] }
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
    fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + (self.len - 1) * self.stride + 1
    }
}

/// The cells with coordinate `layer` along `axis`, ghosts of the other axes left out.
fn runs(size: [usize; 3], axis: usize, layer: usize) -> impl Iterator<Item = Run> {
    let [nx, ny, nz] = size;
    let at = move |x: usize, y: usize, z: usize| (z * (ny + 2) + y) * (nx + 2) + x;
    let (count, len, stride) = [(nz, ny, nx + 2), (nz, nx, 1), (ny, nx, 1)][axis];
    (1..=count).map(move |n| {
        let start = [at(layer, 1, n), at(1, layer, n), at(1, n, layer)][axis];
        Run { start, len, stride }
    })
}

/// Steps from `old` to `new`, both with ghost layers.
fn relax(size: [usize; 3], old: &[f64], new: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all the function asks for beyond the baseline.
        return unsafe { relax_avx2(size, old, new) };
    }
    relax_plain(size, old, new);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn relax_avx2(size: [usize; 3], old: &[f64], new: &mut [f64]) {
    relax_plain(size, old, new);
}

/// Plane by plane, each as one long row: what stands between the rows, ghosts of the west and east sides, gets values of no
/// meaning, and short rows cost nothing extra.
#[inline(always)]
fn relax_plain([nx, ny, nz]: [usize; 3], old: &[f64], new: &mut [f64]) {
    let (row, plane) = (nx + 2, (nx + 2) * (ny + 2));
    let len = (ny - 1) * row + nx;
    for z in 1..=nz {
        let start = z * plane + row + 1;
        let around = [start - 1, start + 1, start - row, start + row, start - plane, start + plane];
        relax_row(around.map(|start| &old[start..start + len]), &mut new[start..start + len]);
    }
}

/// A plain loop over rows of the same length, which the compiler turns into vector code.
#[inline(always)]
fn relax_row([west, east, south, north, below, above]: [&[f64]; SIDES], new: &mut [f64]) {
    for x in 0..new.len() {
        new[x] = ((west[x] + east[x]) + (south[x] + north[x]) + (below[x] + above[x])) * (1.0 / 6.0);
    }
}

fn largest_change(old: &[f64], new: &[f64]) -> f64 {
    old.iter().zip(new).fold(0.0, |most, (old, new)| most.max((new - old).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(size: [usize; 3]) -> CellBlock {
        let mut block = CellBlock::new(size);
        block.cells.iter_mut().enumerate().for_each(|(at, cell)| *cell = at as f64);
        block
    }

    #[test]
    fn a_face_fits_its_neighbours_ghosts() {
        let mut face = Vec::new();
        for side in 0..SIDES {
            let (left, mut right) = (counted([3, 4, 5]), CellBlock::new([3, 4, 5]));
            left.read_face(side, &mut face);
            right.set_ghosts(side ^ 1, &face);
            let [x, y, z] = [4, 4, 4].map(|n: usize| n - 2);
            let at = |block: &CellBlock, layer: usize| {
                let mut place = [x, y, z];
                place[side / 2] = layer;
                block.cells[(place[2] * 6 + place[1]) * 5 + place[0]]
            };
            let own = if side % 2 == 0 { 1 } else { left.size[side / 2] };
            let ghost = if side % 2 == 0 { left.size[side / 2] + 1 } else { 0 };
            assert_eq!(at(&right, ghost), at(&left, own), "side {side}");
            assert_eq!(right.cells.iter().filter(|cell| **cell != 0.0).count(), face.len());
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
    fn the_builds_for_this_machine_agree_to_the_bit() {
        let size = [19, 5, 3];
        let mut old = counted(size).cells;
        old.iter_mut().for_each(|cell| *cell = cell.sin());
        let (mut ours, mut plain) = (old.clone(), old.clone());
        relax(size, &old, &mut ours);
        relax_plain(size, &old, &mut plain);
        assert_eq!(ours, plain);
    }

    #[test]
    fn the_largest_change_is_found_wherever_it_is() {
        for x in 0..11 {
            let mut block = CellBlock::new([11, 1, 1]);
            let at = runs(block.size, 2, 1).next().expect("one row").start + x;
            block.cells[at] = -6.0;
            block.relax();
            assert_eq!(block.change(), 6.0, "at {x}");
        }
    }

    #[test]
    fn what_a_checkpoint_leaves_out_does_not_matter() {
        let mut block = counted([4, 3, 2]);
        block.relax();
        let mut restored = CellBlock { next: Vec::new(), ..block.clone() };
        for _ in 0..3 {
            block.relax();
            restored.relax();
            assert_eq!(block.change().to_bits(), restored.change().to_bits());
        }
        assert_eq!(block.cells, restored.cells);
    }
}
