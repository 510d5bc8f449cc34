//! Jacobi's iteration of `jacobi3d` as an MPI program: its grid is cut into one block for each virtual rank.
//!
//! Shows: immediate sends and receives in a scope, collectives, hints for balancing and checkpoints, progress.
//!
//! ```text
//! cargo run --release --example mpi_jacobi -- --ranks 64 --steps 200
//! cargo run --release --example mpi_jacobi -- --ranks 64 --nodes 4 --ft double --balancer greedy --kill 2@step40 --check
//! ```
//!
//! Computes the same cells as `jacobi3d`, bit by bit. The ranks must divide the grid: as many along each axis as are nearly equal.
//!
//! Checks: with `--check` every cell is compared, bit by bit, with a serial solver's.
//!
//! Results: `steps`, `residual` (largest change in the last step), `checksum` (sum of all cells: the exact sum of the blocks' sums),
//! `converged`, and with `--check` `differences`.

#[path = "jacobi3d/block.rs"]
mod block;
#[path = "jacobi3d/grid.rs"]
mod grid;
#[path = "common/options.rs"]
mod options;
#[path = "jacobi3d/serial.rs"]
mod serial;

use block::{CellBlock, SIDES};
use grid::{BlockIndex, Grid};
use options::{Triple, positive};
use serial::Until;
use talisman::prelude::*;
use talisman::reduce::ExactSum;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Communicator, Error, SystemOperation, Universe, request, scope};
use talisman_ampi::comm::topology::dims_create;
use talisman_ampi::{RankArgs, rank::Program};

/// Solves Laplace's equation on a box, by Jacobi's iteration in virtual MPI ranks.
#[derive(clap::Parser, Clone, Pup)]
struct Options {
    #[command(flatten)]
    ranks: RankArgs,
    /// Cells of the grid along each axis
    #[arg(long, value_name = "X,Y,Z", default_value = "64,64,64")]
    grid: Triple,
    /// Steps to do, or the most to do when there is a tolerance [default: 100, with a tolerance 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// End once no cell changes by more than this in a step
    #[arg(long, value_name = "T", value_parser = positive)]
    tolerance: Option<f64>,
    /// Steps between two comparisons with the tolerance
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    look_every: u32,
    /// Steps between two hints that balancing is welcome; none if 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    balance_every: u32,
    /// Steps between two hints that a checkpoint is welcome; none if 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    checkpoint_every: u32,
    /// Compare every cell with a serial solver's
    #[arg(long)]
    check: bool,
}

impl Options {
    fn program(&self) -> Result<Jacobi, String> {
        let mut dims = [0; 3];
        let ranks = self.ranks.ranks;
        dims_create(ranks, &mut dims).map_err(|error| error.to_string())?;
        let cut: [usize; 3] = std::array::from_fn(|axis| self.grid.0[axis].div_ceil(dims[axis] as usize));
        let grid = Grid::new(self.grid.0, cut).map_err(|error| error.to_string())?;
        if grid.blocks().iter().product::<usize>() != ranks as usize {
            return Err(format!("{ranks} ranks do not divide this --grid: {dims:?} along the axes"));
        }
        let most = if self.tolerance.is_some() { 100_000 } else { 100 };
        let until = Until {
            steps: self.steps.unwrap_or(most),
            tolerance: self.tolerance,
            look_every: self.look_every,
        };
        let (balance_every, checkpoint_every) = (self.balance_every, self.checkpoint_every);
        Ok(Jacobi { grid, until, balance_every, checkpoint_every, check: self.check })
    }
}

/// What each rank runs.
#[derive(Clone, Pup)]
struct Jacobi {
    grid: Grid,
    until: Until,
    balance_every: u32,
    checkpoint_every: u32,
    check: bool,
}

/// What a rank has at its end.
#[derive(Pup)]
struct End {
    steps: u32,
    residual: f64,
    sum: f64,
    differences: u64,
}

talisman_ampi::program!(Jacobi);

impl Program for Jacobi {
    /// The end, or why the rank has failed.
    type Output = Result<End, String>;

    fn main(self, universe: Universe) -> Result<End, String> {
        self.solve(universe).map_err(|error| error.to_string())
    }
}

impl Jacobi {
    fn solve(&self, universe: Universe) -> Result<End, Error> {
        let world = universe.world();
        let index = self.index_of(world.rank() as usize);
        let mut block = Block {
            cells: self.grid.start(index),
            neighbours: std::array::from_fn(|side| {
                self.grid.neighbour(index, side).map(|index| self.rank_of(index))
            }),
            faces: Default::default(),
        };
        let (steps, residual) = self.iterate(universe, &mut block)?;
        let (sum, differences) = (block.cells.sum(), self.differences(world, &block.cells, index)?);
        Ok(End { steps, residual, sum, differences })
    }

    /// Steps to the end; the steps done, and the largest change of a cell in the last one (with a tolerance: of any block).
    fn iterate(&self, universe: Universe, block: &mut Block) -> Result<(u32, f64), Error> {
        let (world, until) = (universe.world(), self.until);
        for step in 1..=until.steps {
            block.exchange(world)?;
            block.cells.relax();
            if world.rank() == 0 {
                universe.step(u64::from(step));
            }
            if until.looks_at(step) {
                let mut residual = 0.0;
                world.all_reduce_into(&block.cells.change(), &mut residual, SystemOperation::max())?;
                if until.is_reached(residual) || step == until.steps {
                    return Ok((step, residual));
                }
            } else if step < until.steps {
                self.hint(universe, step)?;
            }
        }
        Ok((until.steps, block.cells.change()))
    }

    fn hint(&self, universe: Universe, step: u32) -> Result<(), Error> {
        let is_due = |every: u32| every > 0 && step.is_multiple_of(every);
        if is_due(self.balance_every) {
            universe.migrate_here_is_good()?;
        }
        if is_due(self.checkpoint_every) {
            universe.checkpoint_here_is_good()?;
        }
        Ok(())
    }

    /// Cells that differ from the serial solution, which the first rank finds.
    fn differences(&self, world: Communicator, cells: &CellBlock, index: BlockIndex) -> Result<u64, Error> {
        if !self.check {
            return Ok(0);
        }
        let mut solution = match world.rank() {
            0 => serial::solve(&self.grid, self.until).cells,
            _ => vec![0.0; self.grid.cells.iter().product()],
        };
        world.process_at_rank(0).broadcast_into(&mut solution)?;
        Ok(serial::differences(cells, &self.grid, self.grid.origin(index), &solution))
    }

    fn index_of(&self, rank: usize) -> BlockIndex {
        let [_, b, c] = self.grid.blocks();
        ((rank / (b * c)) as i32, (rank / c % b) as i32, (rank % c) as i32)
    }

    fn rank_of(&self, (i, j, k): BlockIndex) -> i32 {
        let [_, b, c] = self.grid.blocks().map(|n| n as i32);
        (i * b + j) * c + k
    }
}

/// A rank's part of the grid.
struct Block {
    cells: CellBlock,
    /// The ranks beyond the sides.
    neighbours: [Option<i32>; SIDES],
    /// What is sent, kept for the next step.
    faces: [Vec<f64>; SIDES],
}

impl Block {
    /// Sends the outermost cells of each side that has a neighbour, and receives the neighbour's.
    fn exchange(&mut self, world: Communicator) -> Result<(), Error> {
        let Block { cells, neighbours, faces } = self;
        let mut ghosts: [Vec<f64>; SIDES] = Default::default();
        for side in (0..SIDES).filter(|side| neighbours[*side].is_some()) {
            cells.read_face(side, &mut faces[side]);
            ghosts[side] = cells.take_ghosts(side);
            ghosts[side].resize(faces[side].len(), 0.0);
        }
        scope(|scope| {
            let mut requests = Vec::new();
            for (side, (ghosts, face)) in ghosts.iter_mut().zip(faces.iter()).enumerate() {
                let Some(neighbour) = neighbours[side] else { continue };
                let (neighbour, opposite) = (world.process_at_rank(neighbour), side as i32 ^ 1);
                requests.push(neighbour.immediate_receive_into_with_tag(scope, ghosts, opposite)?);
                requests.push(neighbour.immediate_send_with_tag(scope, face, side as i32)?);
            }
            request::wait_all(requests)
        })?;
        for (side, ghosts) in ghosts.into_iter().enumerate().filter(|(side, _)| neighbours[*side].is_some()) {
            cells.set_ghosts(side, ghosts);
        }
        Ok(())
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let program: Jacobi = options.program()?;
    let until: Until = program.until;
    cx.expect_steps(u64::from(until.steps));
    let call = talisman_ampi::run(options.ranks.clone(), program).map_err(|error| error.to_string())?;
    let ends: Vec<Result<End, String>> = call.await;
    let ends: Vec<End> = ends.into_iter().collect::<Result<_, _>>()?;
    let (steps, residual, checksum): (u32, f64, f64) = summary(&ends);
    writeln!(cx.output(), "{steps} steps, residual {residual:e}, checksum {checksum:.12}");
    cx.result("steps", steps);
    cx.result("residual", residual);
    cx.result("checksum", checksum);
    cx.result("converged", until.is_reached(residual));
    if options.check {
        let differences: u64 = ends.iter().map(|end| end.differences).sum();
        cx.result("differences", differences);
        if differences > 0 {
            return Err(format!("{differences} cells differ from the serial solver's"));
        }
        writeln!(cx.output(), "every cell is the serial solver's");
    }
    Ok(())
}

/// Steps, the largest residual, and the exact sum of the blocks' sums.
fn summary(ends: &[End]) -> (u32, f64, f64) {
    let mut sum = ExactSum::default();
    ends.iter().for_each(|end| sum.add(end.sum));
    let residual = ends.iter().fold(0.0, |most: f64, end| most.max(end.residual));
    (ends.iter().map(|end| end.steps).max().unwrap_or_default(), residual, sum.to_f64())
}
