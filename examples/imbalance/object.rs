//! An object: a part of the square, and its exchange with those beside it.

use std::fmt;
use std::time::Duration;

use super::cut::{Place, SIDES};
use super::options::Plan;
use super::patch::Patch;
use super::tally::Tally;
use talisman::prelude::*;
use talisman::simulation::charge;

/// A part of the square.
#[derive(Pup)]
pub struct Object {
    plan: Shared<Plan>,
    patch: Patch,
    /// Steps done.
    step: u32,
    /// Work done since it was last asked for, by the PE on which it was done.
    tally: Tally,
    /// The objects beyond the sides.
    neighbours: [Option<Place>; SIDES],
    /// Ghosts that have been used: their memory carries an edge in the next step.
    edges: [Vec<f64>; SIDES],
}

/// What a relaxation takes in simulation, about as much as on a real core.
const RELAXATION_NS: u64 = 5;

#[chare(array2d)]
impl Object {
    #[init]
    pub fn new(cx: &mut Cx<Self>, plan: Shared<Plan>) -> Self {
        let (cut, me) = (&plan.cut, cx.index());
        let patch = Patch::new(cut.origin(me), cut.size(me));
        let neighbours = std::array::from_fn(|side| cut.neighbour(me, side));
        Object { plan, patch, step: 0, tally: Tally::default(), neighbours, edges: Default::default() }
    }

    /// How many it has.
    #[entry]
    pub fn cells(&self) -> u64 {
        self.patch.len() as u64
    }

    /// The edge of the neighbour beyond `side`, as it was before `step`.
    #[entry]
    fn ghosts(step: u32, side: usize, cells: Vec<f64>);

    /// Some more steps; gives the work done in them.
    #[entry]
    pub async fn advance(&mut self, cx: &mut Cx<Self>, steps: u32) -> Tally {
        for _ in 0..steps {
            self.step += 1;
            let neighbours: usize = self.send_edges(cx);
            for _ in 0..neighbours {
                let (side, cells) = cx.when(Self::ghosts, self.step).await;
                self.patch.set_ghosts(side, &cells);
                self.edges[side] = cells;
            }
            self.work(cx);
            if self.plan.syncs_after(self.step) {
                cx.at_sync().await;
            }
        }
        std::mem::take(&mut self.tally)
    }

    /// Of the cells.
    #[entry]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.patch.fingerprint())
    }

    fn send_edges(&mut self, cx: &mut Cx<Self>) -> usize {
        let objects = cx.array();
        let mut neighbours = 0;
        for side in 0..SIDES {
            let Some(neighbour) = self.neighbours[side] else { continue };
            let mut edge = std::mem::take(&mut self.edges[side]);
            self.patch.read_edge(side, &mut edge);
            objects.at(neighbour).ghosts(self.step, side ^ 1, edge);
            neighbours += 1;
        }
        neighbours
    }

    fn work(&mut self, cx: &mut Cx<Self>) {
        let heat = self.plan.hot_spot.at(self.step, self.plan.cut.grid);
        let work = self.patch.step(&heat);
        self.tally.add(cx.pe(), work);
        charge(Duration::from_nanos(RELAXATION_NS * work));
        // One object speaks for all: none is more than a few steps ahead of the others.
        if cx.index() == (0, 0) {
            cx.step(u64::from(self.step));
        }
    }
}

/// Of the cells of some objects: their order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Fingerprint(pub u64);

impl Merge for Fingerprint {
    const COMMUTES: bool = true;

    fn merge(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
