//! A pair: the forces between two neighbouring cells, or within one.

use super::cell::Cell;
use super::cell_list::{PairIndex, opposite};
use super::frozen::Frozen;
use super::kernel::{self, Coordinates, Kinds, Share, Side};
use super::options::Rules;
use talisman::prelude::*;

/// Two neighbouring cells, or a cell with itself.
#[derive(Pup)]
pub struct Pair {
    rules: Shared<Rules>,
    cells: Array<Cell>,
    left: Shown,
    right: Shown,
}

/// What a cell has shown of its atoms: the kinds when they changed, the coordinates every step.
#[derive(Default, Pup)]
struct Shown {
    at: Frozen<Coordinates>,
    kinds: Frozen<Kinds>,
}

#[chare(array(PairIndex))]
impl Pair {
    #[init]
    pub fn new(rules: Shared<Rules>, cells: Array<Cell>) -> Self {
        Pair { rules, cells, left: Shown::default(), right: Shown::default() }
    }

    /// The atoms of the left or the right cell at `step`; `kinds` if they are other atoms than the step before.
    #[entry]
    pub fn positions(step: u32, on_right: bool, at: Frozen<Coordinates>, kinds: Option<Frozen<Kinds>>);

    /// Computes forces for as long as there are steps, from this one on.
    #[entry]
    pub async fn run(&mut self, cx: &mut Cx<Self>, from: u32) {
        let cells: u32 = if cx.index().is_alone() { 1 } else { 2 };
        for step in from..=self.rules.steps {
            for _ in 0..cells {
                let (on_right, at, kinds) = cx.when(Self::positions, step).await;
                self.look(on_right, at, kinds);
            }
            self.interact(cx.index(), step);
        }
    }

    /// One of its cells has no atom any more.
    #[entry(ack)]
    pub fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.destroy();
    }

    fn look(&mut self, on_right: bool, at: Frozen<Coordinates>, kinds: Option<Frozen<Kinds>>) {
        let shown = if on_right { &mut self.right } else { &mut self.left };
        shown.at = at;
        if let Some(kinds) = kinds {
            shown.kinds = kinds;
        }
    }

    fn interact(&self, me: PairIndex, step: u32) {
        let potential = &self.rules.potential;
        let left = self.cells.at(me.left());
        if me.is_alone() {
            left.share(step, me.direction(), kernel::within(potential, self.left.side()));
        } else {
            let shift = self.rules.grid.shift(me);
            let found = kernel::between(potential, self.left.side(), self.right.side(), shift);
            left.share(step, me.direction(), found.on_left);
            let right: Share = found.on_right;
            self.cells.at(self.rules.grid.right(me)).share(step, opposite(me.direction()), right);
        }
    }
}

impl Shown {
    fn side(&self) -> Side<'_> {
        Side { at: &self.at, kinds: &self.kinds }
    }
}
