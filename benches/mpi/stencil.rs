//! The same grid in 1 to 64 strips on one PE: what it costs to have more ranks than PEs.

use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Universe, request, scope};

use crate::common::{Budget, Row, ns_each, row, sample, table};
use crate::job::rounds;
use crate::ranks::{RankJob, Task};

/// Columns and rows of the whole grid.
pub const SIDE: usize = 2_048;
const ROUNDS: u32 = 9;
const RANKS: [u32; 5] = [1, 4, 8, 16, 64];
/// Steps that are timed together.
const STEPS: u64 = 5;

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        RANKS.into_iter().for_each(one);
        against_one();
    }
    let rows: Vec<Row> = RANKS[1..]
        .iter()
        .map(|ranks| row(against(*ranks), if *ranks == 8 { Budget::Times(1.05) } else { Budget::Open }))
        .collect();
    table("A step of a stencil on one PE", "ns", &rows);
}

fn one(ranks: u32) {
    let (size, rounds) = (SIDE, 5);
    RankJob { ranks, size, rounds, ..RankJob::new(Task::Stencil, name(ranks)) }.sample();
}

/// The fastest so far: a job of one rank is the limit of all others.
fn against_one() {
    let best = |ranks| crate::common::least_of(&name(ranks)).expect("it was measured");
    for ranks in &RANKS[1..] {
        sample(against(*ranks), best(*ranks), best(1));
    }
}

fn name(ranks: u32) -> String {
    format!("{ranks} ranks")
}

fn against(ranks: u32) -> String {
    format!("{ranks} ranks | 1 rank")
}

/// Rows of a rank, with those of its neighbours above and below.
pub struct Strip {
    width: usize,
    height: usize,
    now: Vec<f64>,
    next: Vec<f64>,
}

impl Strip {
    /// Of a grid that is as high as it is wide.
    pub fn new(universe: Universe, side: usize) -> Strip {
        let (rank, ranks) = (universe.world().rank() as usize, universe.world().size() as usize);
        let height = side * (rank + 1) / ranks - side * rank / ranks;
        let now: Vec<f64> = (0..(height + 2) * side).map(|cell| (cell % 7) as f64).collect();
        Strip { width: side, height, next: now.clone(), now }
    }

    /// So many rounds of steps; nanoseconds of a step.
    pub fn iterate(mut self, universe: Universe, rounds: u32) -> Vec<(f64, f64)> {
        let mut step = 0;
        let mut round = |_| {
            universe.world().barrier().expect("all take part");
            let ns = ns_each(STEPS, || {
                for _ in 0..STEPS {
                    self.exchange(universe);
                    self.relax();
                    step += 1;
                    if universe.world().rank() == 0 {
                        universe.step(step);
                    }
                }
            });
            (ns, f64::NAN)
        };
        (0..rounds).map(&mut round).collect()
    }

    fn exchange(&mut self, universe: Universe) {
        let (world, width) = (universe.world(), self.width);
        let (rank, last) = (world.rank(), world.size() - 1);
        let (above, rest) = self.now.split_at_mut(width);
        let (inner, below) = rest.split_at_mut(width * self.height);
        let (first, bottom) = (&inner[..width], &inner[inner.len() - width..]);
        scope(|scope| {
            let mut requests = Vec::new();
            if rank > 0 {
                let peer = world.process_at_rank(rank - 1);
                requests.push(peer.immediate_receive_into(scope, above)?);
                requests.push(peer.immediate_send(scope, first)?);
            }
            if rank < last {
                let peer = world.process_at_rank(rank + 1);
                requests.push(peer.immediate_receive_into(scope, below)?);
                requests.push(peer.immediate_send(scope, bottom)?);
            }
            request::wait_all(requests)
        })
        .expect("all take part");
    }

    fn relax(&mut self) {
        let width = self.width;
        for row in 1..=self.height {
            let [above, here, below] = [row - 1, row, row + 1].map(|row| &self.now[row * width..][..width]);
            let next = &mut self.next[row * width..][..width];
            for cell in 1..width - 1 {
                next[cell] = 0.25 * (above[cell] + below[cell] + here[cell - 1] + here[cell + 1]);
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
    }
}
