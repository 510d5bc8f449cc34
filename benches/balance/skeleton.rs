//! The skeleton of `examples/imbalance`: the same chares, messages and points of synchronization, without cells.
//!
//! Objects say what they would compute, and edges weigh on a simulated wire what they would; so a run depends on nothing but
//! the modelled machine and the balancer.

use std::time::Duration;

use talisman::launch::{ResultValue, RunArgs};
use talisman::prelude::*;
use talisman::run::Outcome;
use talisman::simulation::{Ballast, Machine, charge, run_modelled_with};

use super::cut::{Cut, Place, SIDES};
use super::figures::Figures;
use super::hot_spot::HotSpot;
use super::tally::Tally;

/// What is run, of what size.
#[derive(Clone, Copy, Debug, clap::Parser, Pup)]
pub struct Options {
    #[arg(long, default_value_t = 512)]
    pub grid: u32,
    #[arg(long, default_value_t = 64)]
    pub objects_per_pe: u32,
    #[arg(long, default_value_t = 400)]
    pub steps: u32,
    /// Steps between two points of synchronization.
    #[arg(long, default_value_t = 10)]
    pub sync_every: u32,
    #[arg(long, default_value_t = 60.0)]
    pub peak: f64,
    #[arg(long, default_value_t = 4000)]
    pub lap: u32,
    /// What a relaxation takes.
    #[arg(long, default_value_t = 5)]
    pub relaxation_ns: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            grid: 512,
            objects_per_pe: 64,
            steps: 400,
            sync_every: 10,
            peak: 60.0,
            lap: 4000,
            relaxation_ns: 5,
        }
    }
}

/// Nodes of the modelled machine.
pub const NODES: u32 = 4;

/// Runs it on a machine of four nodes with a balancer.
pub fn run(options: Options, machine: &Machine, balancer: &RunArgs) -> Outcome {
    let balancer = RunArgs { nodes: NODES, pes: Some(1), ..balancer.clone() };
    let outcome = run_modelled_with::<__Main>((options,), machine, &balancer);
    assert_eq!((outcome.status, &outcome.message), (0, &None), "the skeleton runs to its end");
    outcome
}

/// The options for a balancer.
pub fn with(balancer: &str) -> RunArgs {
    RunArgs { balancer: balancer.into(), ..RunArgs::default() }
}

/// Of such a run, on PEs that together do the work of so many usual ones.
pub fn figures(what: impl Into<String>, outcome: &Outcome, capacity: f64) -> Figures {
    let even_s = value(outcome, "work_s") / capacity;
    Figures::new(what, value(outcome, "seconds"), even_s, &outcome.balancing)
}

/// A number that such a run told.
pub fn value(outcome: &Outcome, name: &str) -> f64 {
    match outcome.results.value(name) {
        Some(ResultValue::F64(value)) => *value,
        other => panic!("the skeleton tells {name}, not {other:?}"),
    }
}

#[derive(Pup)]
struct Plan {
    cut: Cut,
    hot_spot: HotSpot,
    options: Options,
}

#[derive(Pup)]
struct Object {
    plan: Shared<Plan>,
    step: u32,
    tally: Tally,
    /// As heavy as the cells when it moves.
    cells: Ballast,
}

#[chare(array2d)]
impl Object {
    #[init]
    fn new(cx: &mut Cx<Self>, plan: Shared<Plan>) -> Self {
        let [x, y] = plan.cut.size(cx.index());
        let bytes = ((x + 2) * (y + 2) * 8) as u32;
        Object { plan, step: 0, tally: Tally::default(), cells: Ballast(bytes) }
    }

    #[entry]
    fn ready(&self) -> u32 {
        self.cells.0
    }

    #[entry]
    fn ghosts(step: u32, side: usize, cells: Ballast);

    #[entry]
    async fn advance(&mut self, cx: &mut Cx<Self>, steps: u32) -> Tally {
        for _ in 0..steps {
            self.step += 1;
            let neighbours: usize = self.send_edges(cx);
            for _ in 0..neighbours {
                let (_side, _cells) = cx.when(Self::ghosts, self.step).await;
            }
            self.work(cx);
            if self.step.is_multiple_of(self.plan.options.sync_every) && self.step < self.plan.options.steps {
                cx.at_sync().await;
            }
        }
        std::mem::take(&mut self.tally)
    }

    fn send_edges(&mut self, cx: &mut Cx<Self>) -> usize {
        let (cut, objects) = (&self.plan.cut, cx.array());
        let size = cut.size(cx.index());
        let there = (0..SIDES).filter_map(|side| Some((side, cut.neighbour(cx.index(), side)?)));
        let all: Vec<(usize, Place)> = there.collect();
        for (side, neighbour) in &all {
            let bytes = size[1 - side / 2] as u32 * 8;
            objects.at(*neighbour).ghosts(self.step, side ^ 1, Ballast(bytes));
        }
        all.len()
    }

    fn work(&mut self, cx: &mut Cx<Self>) {
        let work = self.plan.work(cx.index(), self.step);
        charge(Duration::from_nanos(work * self.plan.options.relaxation_ns));
        self.tally.add(cx.pe(), work);
    }
}

impl Plan {
    fn work(&self, place: Place, step: u32) -> u64 {
        let (origin, size) = (self.cut.origin(place), self.cut.size(place));
        let heat = self.hot_spot.at(step, self.cut.grid);
        let [xs, ys] = [0, 1].map(|axis| heat.along(axis, origin[axis], size[axis]).collect::<Vec<f64>>());
        let cells = ys.iter().flat_map(|y| xs.iter().map(|x| u64::from(heat.relaxations(*x, *y))));
        cells.sum()
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let plan: Plan = plan(options, cx.pes())?;
    let plan: Shared<Plan> = cx.share(plan);
    let objects: Array<Object> = create(&plan);
    let _bytes: u32 = objects.ready().reduce(Sum).await;
    let start: f64 = cx.now().as_secs_f64();
    let tally: Tally = objects.advance(options.steps).reduce(Merged).await;
    cx.result("seconds", cx.now().as_secs_f64() - start);
    cx.result("work_s", (tally.sum() * options.relaxation_ns) as f64 * 1e-9);
    Ok(())
}

fn plan(options: Options, pes: u32) -> Result<Plan, String> {
    let objects = u64::from(options.objects_per_pe * pes);
    let cut = Cut::new(options.grid as usize, objects).map_err(|error| error.to_string())?;
    let hot_spot = HotSpot { peak: options.peak, width: 0.1, lap: options.lap };
    Ok(Plan { cut, hot_spot, options })
}

fn create(plan: &Shared<Plan>) -> Array<Object> {
    let [x, y] = plan.cut.objects.map(|n| n as i32);
    Object::array((x, y)).map(Map::Block).new(plan.clone())
}
