//! Jacobi's iteration for Laplace's equation on a three-dimensional grid, cut into blocks that are chares.
//!
//! Shows: a chare array that exchanges messages with its neighbours in an async entry, reductions whose result every element
//! gets, a value all chares share, and state that a checkpoint can leave out.
//!
//! ```text
//! cargo run --release --example jacobi3d -- --grid 128,128,128 --block 32,32,32 --steps 200
//! cargo run --release --example jacobi3d -- --grid 50,40,30 --block 16,16,16 --tolerance 1e-5 --check --pes 2
//! ```
//!
//! The west side of the grid is held at one, the other sides at zero, the inside starts at zero. The iteration ends after `--steps`
//! steps, or once no cell changes by more than `--tolerance` in one. Blocks at the end are smaller where `--block` does not
//! divide `--grid`. The result does not depend on the blocks, nor on the number of PEs, in any bit.
//!
//! Checks: with `--check` every cell is compared, bit by bit, with a serial solver's.
//!
//! Results: `steps`, `residual` (largest change in the last step), `checksum` (sum of all cells: the exact sum of the blocks'
//! sums), `converged`, `per_step_s`, and with `--check` `differences`.

mod block;
mod grid;
#[path = "../common/memory.rs"]
mod memory;
#[path = "../common/options.rs"]
mod options;
mod serial;

use block::{CellBlock, SIDES};
use grid::{BlockIndex, Grid};
use options::{Triple, positive};
use serial::{Solution, Until};
use talisman::prelude::*;

/// Solves Laplace's equation on a box, by Jacobi's iteration.
#[derive(clap::Parser, Clone, Pup)]
struct Options {
    /// Cells of the grid along each axis
    #[arg(long, value_name = "X,Y,Z", default_value = "64,64,64")]
    grid: Triple,
    /// Cells of a block along each axis
    #[arg(long, value_name = "X,Y,Z", default_value = "16,16,16")]
    block: Triple,
    /// Steps to do, or the most to do when there is a tolerance [default: 100, with a tolerance 100000]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// End once no cell changes by more than this in a step
    #[arg(long, allow_negative_numbers = true, value_name = "T", value_parser = positive)]
    tolerance: Option<f64>,
    /// Steps between two comparisons with the tolerance
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    look_every: u32,
    /// Compare every cell with a serial solver's
    #[arg(long)]
    check: bool,
}

impl Options {
    /// Refuses a grid that does not fit into the memory of so many processes.
    fn check_memory(&self, grid: &Grid, nodes: u32) -> Result<(), memory::TooMuch> {
        let product = |sides: [usize; 3]| sides.iter().map(|n| *n as f64).product::<f64>();
        let (cells, blocks) = (product(grid.cells), product(grid.blocks()));
        let serial = if self.check { 2.0 * CELL * cells } else { 0.0 };
        let bytes = (CELL * cells + BLOCK * blocks) / f64::from(nodes) + serial;
        memory::check(
            format!("{cells} cells in {blocks} blocks"),
            bytes,
            "a smaller --grid, or a larger --block",
        )
    }

    fn plan(&self) -> Result<Plan, grid::GridError> {
        let most = if self.tolerance.is_some() { 100_000 } else { 100 };
        let until = Until {
            steps: self.steps.unwrap_or(most),
            tolerance: self.tolerance,
            look_every: self.look_every,
        };
        Ok(Plan { grid: Grid::new(self.grid.0, self.block.0)?, until })
    }
}

/// What a cell takes, as it is and as it was, and a block beside its cells (bytes).
const CELL: f64 = 16.0;
const BLOCK: f64 = 2_000.0;

/// What all blocks know.
#[derive(Pup)]
struct Plan {
    grid: Grid,
    until: Until,
}

#[derive(Pup)]
struct Block {
    plan: Shared<Plan>,
    cells: CellBlock,
    /// The blocks beyond the sides.
    neighbours: [Option<BlockIndex>; SIDES],
}

#[chare(array3d)]
impl Block {
    #[init]
    fn new(cx: &mut Cx<Self>, plan: Shared<Plan>) -> Self {
        let cells = plan.grid.start(cx.index());
        let neighbours = std::array::from_fn(|side| plan.grid.neighbour(cx.index(), side));
        Block { plan, cells, neighbours }
    }

    /// The face of the neighbour beyond `side`, as it was before `step`.
    #[entry]
    fn ghosts(step: u32, side: usize, cells: Vec<f64>);

    /// Steps to the end; gives the steps done and the largest change of a cell of this block in the last one (with a
    /// tolerance: of any block).
    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) -> (u32, f64) {
        for step in 1..=self.plan.until.steps {
            let neighbours: usize = self.send_faces(cx, step);
            for _ in 0..neighbours {
                let (side, cells) = cx.when(Self::ghosts, step).await;
                self.cells.set_ghosts(side, cells);
            }
            self.cells.relax();
            self.tell_progress(cx, step);
            if self.plan.until.looks_at(step) {
                let residual: f64 = cx.all_reduce(self.cells.change(), Max).await;
                if self.plan.until.is_reached(residual) || step == self.plan.until.steps {
                    return (step, residual);
                }
            }
        }
        (self.plan.until.steps, self.cells.change())
    }

    #[entry]
    fn sum(&self) -> f64 {
        self.cells.sum()
    }

    /// Cells that differ from a solution.
    #[entry]
    fn differences(&self, cx: &mut Cx<Self>, solution: Shared<Solution>) -> u64 {
        let grid = &self.plan.grid;
        serial::differences(&self.cells, grid, grid.origin(cx.index()), &solution.cells)
    }

    fn send_faces(&mut self, cx: &mut Cx<Self>, step: u32) -> usize {
        let blocks = cx.array();
        let mut neighbours = 0;
        for side in 0..SIDES {
            let Some(neighbour) = self.neighbours[side] else { continue };
            let mut face = self.cells.take_ghosts(side);
            self.cells.read_face(side, &mut face);
            blocks.at(neighbour).ghosts(step, side ^ 1, face);
            neighbours += 1;
        }
        neighbours
    }

    /// One block speaks for all: none is more than a step ahead of its neighbours.
    fn tell_progress(&self, cx: &mut Cx<Self>, step: u32) {
        if cx.index() == (0, 0, 0) {
            cx.step(u64::from(step));
        }
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let plan: Plan = options.plan().map_err(|error| error.to_string())?;
    options.check_memory(&plan.grid, cx.nodes()).map_err(|error| error.to_string())?;
    let [x, y, z] = plan.grid.blocks();
    cx.expect_steps(u64::from(plan.until.steps));
    let plan: Shared<Plan> = cx.share(plan);
    let blocks: Array<Block> = Block::array((x, y, z)).map(Map::Block).new(plan.clone());

    let start: f64 = cx.now().as_secs_f64();
    let end: (u32, f64) = blocks.run().reduce((Max, Max)).await;
    let (steps, residual): (u32, f64) = end;
    let seconds: f64 = (cx.now().as_secs_f64() - start) / f64::from(steps);
    let checksum: f64 = blocks.sum().reduce(Sum).await;

    writeln!(cx.output(), "{steps} steps, residual {residual:e}, checksum {checksum:.12}");
    cx.result("steps", steps);
    cx.result("residual", residual);
    cx.result("checksum", checksum);
    cx.result("converged", plan.until.is_reached(residual));
    cx.result("per_step_s", seconds);
    if options.check {
        let serial = serial::solve(&plan.grid, plan.until);
        let same_end: bool = (serial.steps, serial.residual.to_bits()) == (steps, residual.to_bits());
        let solution: Shared<Solution> = cx.share(serial);
        let differences: u64 = blocks.differences(solution.clone()).reduce(Sum).await;
        cx.result("differences", differences);
        verdict(differences, same_end)?;
        writeln!(cx.output(), "every cell is the serial solver's");
    }
    Ok(())
}

fn verdict(differences: u64, same_end: bool) -> Result<(), String> {
    match (differences, same_end) {
        (0, true) => Ok(()),
        (0, false) => Err("the serial solver ended elsewhere: its steps or its residual differ".into()),
        _ => Err(format!("{differences} cells differ from the serial solver's")),
    }
}
