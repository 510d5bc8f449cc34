//! The skeleton of `examples/leanmd` on the model of a machine: the same objects and messages, without atoms.
//!
//! Cells and pairs say what they would compute, and messages weigh on a simulated wire what they would. So does the state of
//! a cell; in a checkpoint it takes the time of its bytes besides.

use std::cell::RefCell;
use std::time::Duration;

use talisman::launch::RunArgs;
use talisman::prelude::*;
use talisman::pup::{Packer, PupError, Unpacker};
use talisman::run::Outcome;
use talisman::simulation::{Ballast, Losses, Machine, charge, run_modelled_losing};

/// Atoms of a cell: those of the paper, whose 700 cells have 92,000.
const ATOMS: u32 = 131;
/// Bytes of an atom in a message of positions or forces, and in a cell.
const BYTES_SENT: u32 = 24;
const BYTES_KEPT: u32 = 72;
/// Two atoms; `cargo bench --bench apps` measures it. Moving an atom takes some ten times as much.
const TWO_ATOMS_NS: f64 = 0.7;
const ATOM_NS: f64 = 8.0;
/// A byte that is packed or unpacked.
const BYTE_NS: f64 = 0.2;

/// What is run, of what size.
#[derive(Clone, Copy, Debug, clap::Parser, Pup)]
pub struct Options {
    /// Cells along each axis; the box does not repeat.
    #[arg(long, default_value = "7")]
    pub x: u32,
    #[arg(long, default_value = "10")]
    pub y: u32,
    #[arg(long, default_value = "10")]
    pub z: u32,
    #[arg(long, default_value = "600")]
    pub steps: u32,
    /// Times the work of today's processors.
    #[arg(long, default_value = "1")]
    pub slower: u32,
}

thread_local! {
    /// When the first cell ended which step: outside of the job, so that nothing of it is ever taken back.
    static DONE: RefCell<Vec<(u32, Duration)>> = const { RefCell::new(Vec::new()) };
}

/// Runs it to its end; all steps that were done, with when they were.
pub fn run(
    options: Options,
    machine: &Machine,
    with: &RunArgs,
    losses: &Losses,
) -> (Outcome, Vec<(u32, Duration)>) {
    DONE.take();
    let outcome = run_modelled_losing::<__Main>((options,), machine, with, losses);
    assert_eq!((outcome.status, &outcome.message), (0, &None), "the skeleton runs to its end");
    (outcome, DONE.take())
}

/// Bytes that take time to be packed and unpacked.
#[derive(Clone, Copy)]
struct Atoms(u32);

impl Pup for Atoms {
    const MIN_SIZE: usize = Ballast::MIN_SIZE;

    fn pack(&self, p: &mut Packer) {
        charge(takes(self.0 * BYTES_KEPT, BYTE_NS));
        Ballast(self.0 * BYTES_KEPT).pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let atoms = Atoms(Ballast::unpack(u)?.0 / BYTES_KEPT);
        charge(takes(atoms.0 * BYTES_KEPT, BYTE_NS));
        Ok(atoms)
    }
}

fn takes(units: u32, each_ns: f64) -> Duration {
    Duration::from_nanos((f64::from(units) * each_ns) as u64)
}

/// Who interacts with whom.
#[derive(Pup)]
struct Plan {
    options: Options,
    /// The cells of each pair; a cell makes one with itself.
    pairs: Vec<(u32, u32)>,
    /// Of each cell: its pairs, and on which side of each it is.
    of_cell: Vec<Vec<(u32, u32)>>,
}

impl Plan {
    fn new(options: Options) -> Plan {
        let cells = options.x * options.y * options.z;
        let near =
            |a: u32, b: u32| place(options, a).iter().zip(place(options, b)).all(|(a, b)| a.abs_diff(b) <= 1);
        let pairs = (0..cells).flat_map(|a| (a..cells).filter(move |b| near(a, *b)).map(move |b| (a, b)));
        let mut plan = Plan { options, pairs: pairs.collect(), of_cell: vec![Vec::new(); cells as usize] };
        for (number, (a, b)) in (0..).zip(&plan.pairs) {
            plan.of_cell[*a as usize].push((number, 0));
            if a != b {
                plan.of_cell[*b as usize].push((number, 1));
            }
        }
        plan
    }
}

fn place(options: Options, cell: u32) -> [u32; 3] {
    [cell % options.x, cell / options.x % options.y, cell / options.x / options.y]
}

#[derive(Pup)]
struct Cell {
    plan: Shared<Plan>,
    pairs: Array<Pair>,
    atoms: Atoms,
}

#[chare(array1d)]
impl Cell {
    #[init]
    fn new(plan: Shared<Plan>, pairs: Array<Pair>) -> Self {
        Cell { plan, pairs, atoms: Atoms(ATOMS) }
    }

    #[entry]
    fn forces(step: u32, forces: Ballast);

    #[entry]
    async fn advance(&mut self, cx: &mut Cx<Self>) -> u32 {
        for step in 1..=self.plan.options.steps {
            let pairs: usize = self.send(cx, step);
            for _ in 0..pairs {
                let _forces = cx.when(Self::forces, step).await;
            }
            charge(takes(self.atoms.0 * self.plan.options.slower, ATOM_NS));
            self.tell(cx, step);
        }
        self.plan.options.steps
    }

    fn send(&mut self, cx: &mut Cx<Self>, step: u32) -> usize {
        let of_cell = &self.plan.of_cell[cx.index() as usize];
        for (pair, side) in of_cell {
            self.pairs.at(*pair as i32).positions(step, *side, Ballast(self.atoms.0 * BYTES_SENT));
        }
        of_cell.len()
    }

    fn tell(&mut self, cx: &mut Cx<Self>, step: u32) {
        if cx.index() == 0 {
            DONE.with_borrow_mut(|done| done.push((step, cx.now())));
            cx.step(u64::from(step));
        }
    }
}

#[derive(Pup)]
struct Pair {
    plan: Shared<Plan>,
}

#[chare(array1d)]
impl Pair {
    #[init]
    fn new(plan: Shared<Plan>) -> Self {
        Pair { plan }
    }

    #[entry]
    fn positions(step: u32, side: u32, positions: Ballast);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, cells: Array<Cell>) {
        for step in 1..=self.plan.options.steps {
            let sides: u32 = self.sides(cx);
            for _ in 0..sides {
                let (_side, _positions) = cx.when(Self::positions, step).await;
            }
            self.interact(cx, cells, step);
        }
    }

    /// A cell makes a pair with itself, too.
    fn sides(&self, cx: &mut Cx<Self>) -> u32 {
        let (a, b) = self.plan.pairs[cx.index() as usize];
        1 + u32::from(a != b)
    }

    fn interact(&mut self, cx: &mut Cx<Self>, cells: Array<Cell>, step: u32) {
        let (a, b) = self.plan.pairs[cx.index() as usize];
        let two = if a == b { ATOMS * ATOMS / 2 } else { ATOMS * ATOMS };
        charge(takes(two * self.plan.options.slower, TWO_ATOMS_NS));
        for cell in [a, b].into_iter().take(1 + usize::from(a != b)) {
            cells.at(cell as i32).forces(step, Ballast(ATOMS * BYTES_SENT));
        }
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let plan: Plan = Plan::new(options);
    let (cells, pairs): (i32, i32) = (plan.of_cell.len() as i32, plan.pairs.len() as i32);
    cx.result("pairs", pairs as u64);
    let plan: Shared<Plan> = cx.share(plan);
    let pairs: Array<Pair> = Pair::array(pairs).map(Map::Block).new(plan.clone());
    let cells: Array<Cell> = Cell::array(cells).map(Map::Block).new(plan.clone(), pairs);
    pairs.run(cells);
    let steps: u32 = cells.advance().reduce(Max).await;
    cx.result("steps", steps);
}
