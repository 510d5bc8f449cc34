//! The skeleton of `examples/jacobi3d`: the same chares, messages and reductions, without cells.
//!
//! Blocks say what they would compute, and their faces weigh on a simulated wire what they would. So a block takes some
//! hundred bytes however large it is, and its time is that of any machine.

use std::time::Duration;

use talisman::launch::ResultValue;
use talisman::prelude::*;
use talisman::run::Outcome;
use talisman::simulation::{Ballast, Machine, charge, run_modelled};

/// A grid cut into blocks of the same size, what it costs to step it, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, clap::Args, Pup)]
pub struct Plan {
    /// Blocks along each axis
    #[arg(skip)]
    pub blocks: [u32; 3],
    /// Cells of a block along each axis
    #[arg(skip)]
    pub cells: [u32; 3],
    /// Steps to do
    #[arg(long, default_value_t = 4)]
    pub steps: u32,
    /// Steps between two looks at the residual, which all blocks take part in
    #[arg(long, default_value_t = 1)]
    pub look_every: u32,
    /// What a step takes for a cell
    #[arg(skip)]
    pub cost: Cost,
}

/// What a block computes, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
pub struct Cost {
    /// A step, for a cell.
    pub relax_ns: f64,
    /// Reading a face or setting ghosts, for a cell of it.
    pub face_ns: f64,
    /// The largest change in a step, for a cell.
    pub change_ns: f64,
}

impl Cost {
    /// So many times as much.
    pub fn times(self, factor: f64) -> Cost {
        Cost {
            relax_ns: self.relax_ns * factor,
            face_ns: self.face_ns * factor,
            change_ns: self.change_ns * factor,
        }
    }
}

const PER_STEP: &str = "per_step_s";

const SIDES: usize = 6;

/// Runs it on a modelled machine.
pub fn run(plan: Plan, machine: &Machine, nodes: u32, pes: u32) -> Outcome {
    let outcome = run_modelled::<__Main>((Options { plan },), machine, nodes, pes);
    assert_eq!((outcome.status, &outcome.message), (0, &None), "the skeleton runs to its end");
    outcome
}

/// The seconds of a step in such a run.
pub fn per_step_s(outcome: &Outcome) -> f64 {
    match outcome.results.value(PER_STEP) {
        Some(ResultValue::F64(seconds)) => *seconds,
        other => panic!("the skeleton tells what a step takes, not {other:?}"),
    }
}

type BlockIndex = (i32, i32, i32);

#[derive(Pup)]
struct Block {
    plan: Shared<Plan>,
}

#[chare(array3d)]
impl Block {
    #[init]
    fn new(plan: Shared<Plan>) -> Self {
        Block { plan }
    }

    #[entry]
    fn ready(&self) -> u32 {
        1
    }

    /// The face of the neighbour beyond `side`.
    #[entry]
    fn ghosts(step: u32, side: usize, cells: Ballast);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) -> u32 {
        for step in 1..=self.plan.steps {
            let neighbours: usize = self.send_faces(cx, step);
            for _ in 0..neighbours {
                let (side, _cells) = cx.when(Self::ghosts, step).await;
                self.set_ghosts(side);
            }
            self.relax();
            if step.is_multiple_of(self.plan.look_every) {
                self.look();
                let _residual: f64 = cx.all_reduce(1.0, Max).await;
            }
        }
        self.look();
        self.plan.steps
    }

    fn send_faces(&self, cx: &mut Cx<Self>, step: u32) -> usize {
        let (plan, blocks) = (&self.plan, cx.array());
        let mut neighbours = 0;
        for side in 0..SIDES {
            let Some(neighbour) = plan.neighbour(cx.index(), side) else { continue };
            charge_cells(plan.face(side), plan.cost.face_ns);
            blocks.at(neighbour).ghosts(step, side ^ 1, Ballast(plan.face(side) as u32 * 8));
            neighbours += 1;
        }
        neighbours
    }

    fn set_ghosts(&self, side: usize) {
        charge_cells(self.plan.face(side), self.plan.cost.face_ns);
    }

    fn relax(&self) {
        charge_cells(self.plan.cells_of_block(), self.plan.cost.relax_ns);
    }

    fn look(&self) {
        charge_cells(self.plan.cells_of_block(), self.plan.cost.change_ns);
    }
}

impl Plan {
    /// Cells of a block.
    pub fn cells_of_block(&self) -> u64 {
        self.cells.iter().map(|n| u64::from(*n)).product()
    }

    /// Cells of a face.
    pub fn face(&self, side: usize) -> u64 {
        self.cells_of_block() / u64::from(self.cells[side / 2])
    }

    fn neighbour(&self, (i, j, k): BlockIndex, side: usize) -> Option<BlockIndex> {
        let mut place = [i, j, k];
        place[side / 2] += if side.is_multiple_of(2) { -1 } else { 1 };
        let inside = (0..self.blocks[side / 2] as i32).contains(&place[side / 2]);
        inside.then_some((place[0], place[1], place[2]))
    }
}

fn charge_cells(cells: u64, ns: f64) {
    charge(Duration::from_nanos((cells as f64 * ns) as u64));
}

/// What runs it.
#[derive(Clone, Copy, clap::Parser, Pup)]
struct Options {
    #[command(flatten)]
    plan: Plan,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let plan: Shared<Plan> = cx.share(options.plan);
    let [x, y, z] = options.plan.blocks.map(|n| n as i32);
    let blocks: Array<Block> = Block::array((x, y, z)).map(Map::Block).new(plan);
    let _all: u32 = blocks.ready().reduce(Sum).await;
    let start: f64 = cx.now().as_secs_f64();
    let _steps: u32 = blocks.run().reduce(Max).await;
    let seconds: f64 = cx.now().as_secs_f64() - start;
    cx.result(PER_STEP, seconds / f64::from(options.plan.steps));
}
