//! Forces between the atoms of two cells, and within one cell.
//!
//! Atoms stand in blocks of [`LANES`], coordinate by coordinate. A block of the left cell against a block of the right one is a
//! tile of 8 × 8 pairs; within it each row, one left atom against eight right ones, is straight-line arithmetic without
//! branches. Tiles and rows that lie beyond the cutoff as a whole are left out: their forces would be exactly zero.
//!
//! The lanes are part of the definition of the result: which operations happen, in which order, does not depend on the
//! width of the machine's registers, and none is fused. So the plain build and the AVX2 build of the same code, chosen at run
//! time, give the same bits.

use std::cell::RefCell;

use talisman::prelude::*;

use super::potential::Potential;

/// Atoms of a block.
pub const LANES: usize = 8;

type Lane = [f64; LANES];

/// Coordinates of a cell's atoms (Å), padded to whole blocks by [`pad`].
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Coordinates {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub z: Vec<f64>,
}

/// What kind of atom each is: `σ³` (Å³) and `√(4 ε)` ((kcal/mol)^½), padded to whole blocks.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Kinds {
    pub sigma3: Vec<f64>,
    pub strength: Vec<f64>,
}

/// One side of a pair of cells.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub at: &'a Coordinates,
    pub kinds: &'a Kinds,
}

/// Forces on a cell's atoms (kcal/mol/Å), padded as its coordinates are.
///
/// All axes stand in one piece of memory: there is one for each message.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Forces {
    /// First `x` of all atoms, then `y`, then `z`.
    all: Vec<f64>,
}

impl Forces {
    /// No force on any of `atoms` atoms (padding included).
    pub fn zero(atoms: usize) -> Self {
        Forces { all: vec![0.0; 3 * atoms] }
    }

    /// The forces along `x`, `y` and `z`.
    pub fn axes(&self) -> [&[f64]; 3] {
        let (x, yz) = self.all.split_at(self.all.len() / 3);
        let (y, z) = yz.split_at(x.len());
        [x, y, z]
    }

    /// As [`axes`](Self::axes), to write.
    pub fn axes_mut(&mut self) -> [&mut [f64]; 3] {
        let atoms = self.all.len() / 3;
        let (x, yz) = self.all.split_at_mut(atoms);
        let (y, z) = yz.split_at_mut(atoms);
        [x, y, z]
    }
}

/// What one cell gets from a pair: the forces on its atoms, and the pair's energy (kcal/mol) if the pair counts as its own.
#[derive(Clone, Debug, Default, PartialEq, Pup)]
pub struct Share {
    pub energy: f64,
    pub forces: Forces,
}

/// What two cells do to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// The left cell's share, with the energy of both.
    pub on_left: Share,
    pub on_right: Share,
}

/// `len` rounded up to whole blocks.
pub fn padded(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

/// Fills the last block. Pass `None` to repeat the last value: a coordinate of its own would widen the block's bounds.
pub fn pad(values: &mut Vec<f64>, with: Option<f64>) {
    if let Some(last) = values.last() {
        let with = with.unwrap_or(*last);
        values.resize(padded(values.len()), with);
    }
}

/// Which build of the kernel runs on this machine.
pub fn build() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        return "avx2";
    }
    "plain"
}

/// Forces between the atoms of `left` and those of `right` moved by `shift` (the box's period, where the two are
/// neighbours across its border).
pub fn between(potential: &Potential, left: Side, right: Side, shift: [f64; 3]) -> Interaction {
    WORKSPACE.with_borrow_mut(|space| {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, which is all the function asks for beyond the baseline.
            return unsafe { between_avx2(space, potential, left, right, shift) };
        }
        between_plain(space, potential, left, right, shift)
    })
}

/// Forces among the atoms of one cell, each pair once.
pub fn within(potential: &Potential, cell: Side) -> Share {
    WORKSPACE.with_borrow_mut(|space| {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, which is all the function asks for beyond the baseline.
            return unsafe { within_avx2(space, potential, cell) };
        }
        within_plain(space, potential, cell)
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn between_avx2(
    space: &mut Workspace,
    potential: &Potential,
    left: Side,
    right: Side,
    shift: [f64; 3],
) -> Interaction {
    between_plain(space, potential, left, right, shift)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn within_avx2(space: &mut Workspace, potential: &Potential, cell: Side) -> Share {
    within_plain(space, potential, cell)
}

#[inline(always)]
fn between_plain(
    space: &mut Workspace,
    potential: &Potential,
    left: Side,
    right: Side,
    shift: [f64; 3],
) -> Interaction {
    let Workspace { rows, columns, on_columns } = space;
    fill(rows, left, shift);
    fill(columns, right, [0.0; 3]);
    clear(on_columns, columns.len());
    let mut on_left = Forces::zero(rows.len() * LANES);
    for (number, row) in rows.iter().enumerate() {
        let mut on_row = [LaneForces::default(); LANES];
        for (column, on_column) in columns.iter().zip(&mut *on_columns) {
            if row.bounds.gap_squared(&column.bounds) < potential.cutoff_squared {
                tile::<false>(potential, row, column, &mut on_row, on_column);
            }
        }
        store_rows(&on_row, &mut on_left, number);
    }
    Interaction {
        on_left: Share { energy: energy(on_columns), forces: on_left },
        on_right: Share { energy: 0.0, forces: store_columns(on_columns) },
    }
}

#[inline(always)]
fn within_plain(space: &mut Workspace, potential: &Potential, cell: Side) -> Share {
    let Workspace { rows: blocks, on_columns, .. } = space;
    fill(blocks, cell, [0.0; 3]);
    clear(on_columns, blocks.len());
    let mut on_rows = Forces::zero(blocks.len() * LANES);
    for (number, row) in blocks.iter().enumerate() {
        let mut on_row = [LaneForces::default(); LANES];
        tile::<true>(potential, row, row, &mut on_row, &mut on_columns[number]);
        for (column, on_column) in blocks.iter().zip(&mut *on_columns).skip(number + 1) {
            if row.bounds.gap_squared(&column.bounds) < potential.cutoff_squared {
                tile::<false>(potential, row, column, &mut on_row, on_column);
            }
        }
        store_rows(&on_row, &mut on_rows, number);
    }
    let mut forces = store_columns(on_columns);
    add(&mut forces, &on_rows);
    Share { energy: energy(on_columns), forces }
}

/// Eight left atoms against eight right ones. In a `DIAGONAL` tile, a block against itself, each pair counts once.
#[inline(always)]
fn tile<const DIAGONAL: bool>(
    potential: &Potential,
    rows: &Block,
    columns: &Block,
    on_rows: &mut [LaneForces; LANES],
    on_column: &mut Column,
) {
    let gaps = columns.bounds.gaps_squared(rows);
    let mut column = *on_column;
    for row in 0..LANES {
        if gaps[row] >= potential.cutoff_squared {
            continue;
        }
        let (x, y, z) = (rows.x[row], rows.y[row], rows.z[row]);
        let (sigma3, strength) = (rows.sigma3[row], rows.strength[row]);
        let on_row = &mut on_rows[row];
        for lane in 0..LANES {
            let (dx, dy, dz) = (x - columns.x[lane], y - columns.y[lane], z - columns.z[lane]);
            let r2 = dx * dx + dy * dy + dz * dz;
            let counts = if DIAGONAL && lane <= row { 0.0 } else { columns.strength[lane] };
            let (e, f) = potential.at(r2, sigma3 * columns.sigma3[lane], strength * counts);
            let (fx, fy, fz) = (f * dx, f * dy, f * dz);
            column.energy[lane] += e;
            on_row.x[lane] += fx;
            on_row.y[lane] += fy;
            on_row.z[lane] += fz;
            column.forces.x[lane] -= fx;
            column.forces.y[lane] -= fy;
            column.forces.z[lane] -= fz;
        }
    }
    *on_column = column;
}

/// Forces collected lane by lane: on one left atom from all right ones, or on eight right atoms.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct LaneForces {
    x: Lane,
    y: Lane,
    z: Lane,
}

/// What the rows so far did to eight right atoms, and the energy with them.
#[derive(Clone, Copy, Default)]
struct Column {
    forces: LaneForces,
    energy: Lane,
}

/// What a kernel works on: kept from pair to pair, since memory for it would take longer than a tile.
#[derive(Default)]
struct Workspace {
    rows: Vec<Block>,
    columns: Vec<Block>,
    /// For each of the columns.
    on_columns: Vec<Column>,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Block {
    x: Lane,
    y: Lane,
    z: Lane,
    sigma3: Lane,
    strength: Lane,
    bounds: Bounds,
}

/// No forces on so many blocks.
#[inline(always)]
fn clear(on_columns: &mut Vec<Column>, blocks: usize) {
    on_columns.clear();
    on_columns.resize(blocks, Column::default());
}

/// The blocks of a cell, moved back by `shift`. A loop: `extend` would not be compiled into the build for AVX2.
#[inline(always)]
fn fill(blocks: &mut Vec<Block>, side: Side, shift: [f64; 3]) {
    let (at, kinds) = (side.at, side.kinds);
    blocks.clear();
    for number in 0..at.x.len() / LANES {
        let x = moved(&at.x, number, shift[0]);
        let y = moved(&at.y, number, shift[1]);
        let z = moved(&at.z, number, shift[2]);
        let (sigma3, strength) = (lane(&kinds.sigma3, number), lane(&kinds.strength, number));
        blocks.push(Block { x, y, z, sigma3, strength, bounds: Bounds::of(&x, &y, &z) });
    }
}

/// The box around a block's atoms (Å).
#[derive(Clone, Copy)]
struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl Bounds {
    #[inline(always)]
    fn of(x: &Lane, y: &Lane, z: &Lane) -> Self {
        Bounds { low: [least(x), least(y), least(z)], high: [most(x), most(y), most(z)] }
    }

    /// Square of the shortest distance between two boxes.
    #[inline(always)]
    fn gap_squared(&self, other: &Bounds) -> f64 {
        let mut sum = 0.0;
        for axis in 0..3 {
            let gap = outside(self.low[axis] - other.high[axis], other.low[axis] - self.high[axis]);
            sum += gap * gap;
        }
        sum
    }

    /// Square of the distance of each of a block's atoms from the box.
    #[inline(always)]
    fn gaps_squared(&self, atoms: &Block) -> Lane {
        let mut gaps = [0.0; LANES];
        for (axis, at) in [&atoms.x, &atoms.y, &atoms.z].into_iter().enumerate() {
            for lane in 0..LANES {
                let gap = outside(self.low[axis] - at[lane], at[lane] - self.high[axis]);
                gaps[lane] += gap * gap;
            }
        }
        gaps
    }
}

/// How far a value is beyond an interval, given how far it is below its start and above its end.
#[inline(always)]
fn outside(below: f64, above: f64) -> f64 {
    let beyond = if below > above { below } else { above };
    if beyond > 0.0 { beyond } else { 0.0 }
}

#[inline(always)]
fn least(lane: &Lane) -> f64 {
    lane.iter().fold(f64::INFINITY, |least, x| if *x < least { *x } else { least })
}

#[inline(always)]
fn most(lane: &Lane) -> f64 {
    lane.iter().fold(f64::NEG_INFINITY, |most, x| if *x > most { *x } else { most })
}

#[inline(always)]
fn lane(values: &[f64], number: usize) -> Lane {
    values[number * LANES..][..LANES].try_into().expect("a block has LANES atoms")
}

#[inline(always)]
fn moved(values: &[f64], number: usize, shift: f64) -> Lane {
    lane(values, number).map(|x| x - shift)
}

#[inline(always)]
fn store_rows(on_row: &[LaneForces; LANES], forces: &mut Forces, number: usize) {
    let [x, y, z] = forces.axes_mut().map(|axis| &mut axis[number * LANES..][..LANES]);
    for (row, push) in on_row.iter().enumerate() {
        x[row] = sum(&push.x);
        y[row] = sum(&push.y);
        z[row] = sum(&push.z);
    }
}

#[inline(always)]
fn store_columns(columns: &[Column]) -> Forces {
    let mut all = Vec::with_capacity(3 * columns.len() * LANES);
    columns.iter().for_each(|column| all.extend_from_slice(&column.forces.x));
    columns.iter().for_each(|column| all.extend_from_slice(&column.forces.y));
    columns.iter().for_each(|column| all.extend_from_slice(&column.forces.z));
    Forces { all }
}

#[inline(always)]
fn energy(columns: &[Column]) -> f64 {
    columns.iter().map(|column| sum(&column.energy)).sum()
}

/// Adds `more` to `forces`, atom by atom.
pub fn add(forces: &mut Forces, more: &Forces) {
    for (to, from) in forces.all.iter_mut().zip(&more.all) {
        *to += from;
    }
}

/// The sum of a block's lanes, always in this order.
#[inline(always)]
fn sum(lane: &Lane) -> f64 {
    ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))
}

#[cfg(test)]
mod tests {
    use super::super::fluid::noise;
    use super::*;

    /// A cell of `atoms` atoms at seeded places of a cube of 10 Å.
    fn cell(atoms: usize, seed: u64) -> (Coordinates, Kinds) {
        let axis = |axis: u64| {
            let mut values: Vec<f64> = (0..atoms as u64).map(|i| 10.0 * noise(seed, 3 * i + axis)).collect();
            pad(&mut values, None);
            values
        };
        let kind = |low: f64, with: f64| {
            let mut values: Vec<f64> = (0..atoms as u64).map(|i| low + noise(seed + 9, i)).collect();
            pad(&mut values, Some(with));
            values
        };
        (
            Coordinates { x: axis(0), y: axis(1), z: axis(2) },
            Kinds { sigma3: kind(20.0, 1.0), strength: kind(0.3, 0.0) },
        )
    }

    fn side((at, kinds): &(Coordinates, Kinds)) -> Side<'_> {
        Side { at, kinds }
    }

    /// The definition: every pair, one by one.
    fn plainly(p: &Potential, left: Side, right: Side, shift: [f64; 3], same: bool) -> (f64, Forces) {
        let mut forces = Forces::zero(left.at.x.len());
        let mut energy = 0.0;
        for i in 0..left.at.x.len() {
            for j in (0..right.at.x.len()).filter(|j| !same || i != *j) {
                let d = [
                    left.at.x[i] - shift[0] - right.at.x[j],
                    left.at.y[i] - shift[1] - right.at.y[j],
                    left.at.z[i] - shift[2] - right.at.z[j],
                ];
                let sigma6 = left.kinds.sigma3[i] * right.kinds.sigma3[j];
                let strength = left.kinds.strength[i] * right.kinds.strength[j];
                let (e, f) = p.at(d.iter().map(|x| x * x).sum(), sigma6, strength);
                energy += e;
                forces.axes_mut().iter_mut().zip(d).for_each(|(force, d)| force[i] += f * d);
            }
        }
        (energy, forces)
    }

    fn assert_close(a: &Forces, b: &Forces) {
        let (a, b) = (&a.all, &b.all);
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-11 * (1.0 + b.abs())), "{a:?} {b:?}");
    }

    #[test]
    fn tiles_give_what_every_pair_one_by_one_gives() {
        let potential = Potential::new(9.0);
        for (n, m) in [(1, 1), (7, 30), (64, 8), (33, 100), (0, 5)] {
            let (left, right) = (cell(n, 1), cell(m, 2));
            for shift in [[0.0; 3], [-10.0, 0.0, 0.0], [6.0, -7.0, 8.0]] {
                let found = between(&potential, side(&left), side(&right), shift);
                let (energy, on_left) = plainly(&potential, side(&left), side(&right), shift, false);
                let back = shift.map(|x| -x);
                let (_, on_right) = plainly(&potential, side(&right), side(&left), back, false);
                assert!((found.on_left.energy - energy).abs() <= 1e-11 * (1.0 + energy.abs()));
                assert_close(&found.on_left.forces, &on_left);
                assert_close(&found.on_right.forces, &on_right);
            }
        }
    }

    #[test]
    fn within_a_cell_each_pair_counts_once() {
        let potential = Potential::new(9.0);
        for n in [0, 1, 2, 8, 9, 100] {
            let cell = cell(n, 3);
            let Share { energy, forces } = within(&potential, side(&cell));
            let (twice, expected) = plainly(&potential, side(&cell), side(&cell), [0.0; 3], true);
            assert!((2.0 * energy - twice).abs() <= 1e-11 * (1.0 + twice.abs()));
            assert_close(&forces, &expected);
        }
    }

    #[test]
    fn the_builds_for_this_machine_agree_to_the_bit() {
        let potential = Potential::new(9.0);
        let (left, right) = (cell(77, 4), cell(90, 5));
        let mut space = Workspace::default();
        let plain = between_plain(&mut space, &potential, side(&left), side(&right), [3.0, 0.0, -3.0]);
        assert_eq!(between(&potential, side(&left), side(&right), [3.0, 0.0, -3.0]), plain, "{}", build());
        assert_eq!(within(&potential, side(&left)), within_plain(&mut space, &potential, side(&left)));
    }

    #[test]
    fn no_force_comes_from_beyond_the_cutoff_or_from_padding() {
        let (left, right) = (cell(5, 6), cell(3, 7));
        let far = between(&Potential::new(9.0), side(&left), side(&right), [50.0, 0.0, 0.0]);
        let nothing = Share { energy: 0.0, forces: Forces::zero(8) };
        assert_eq!(far, Interaction { on_left: nothing.clone(), on_right: nothing });
        let near = between(&Potential::new(9.0), side(&left), side(&right), [0.0; 3]);
        let (on_left, on_right) = (near.on_left.forces.axes()[0], near.on_right.forces.axes()[2]);
        assert!(on_left[5..].iter().chain(&on_right[3..]).all(|force| *force == 0.0));
    }
}
