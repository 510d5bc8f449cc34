//! A cell: the atoms in it, and their motion.

use super::atoms::{Atom, Atoms, sort_out};
use super::cell_list::{CellIndex, Neighbour, PairIndex, others};
use super::frozen::Frozen;
use super::kernel::{Kinds, Share};
use super::options::Rules;
use super::pair::Pair;
use super::population::{Change, Near, News};
use super::serial::{no_shares, total};
use talisman::prelude::*;

/// How a cell begins.
#[derive(Pup)]
pub struct Start {
    /// Its neighbours.
    pub near: Near,
    /// Steps done before.
    pub step: u32,
    pub atoms: Vec<Atom>,
}

/// One cell of the box.
#[derive(Pup)]
pub struct Cell {
    rules: Shared<Rules>,
    pairs: Array<Pair>,
    near: Near,
    step: u32,
    atoms: Atoms,
    /// What kind the atoms are, until the pairs have been told.
    news: Option<Frozen<Kinds>>,
    /// Shares that have come, by the direction of the neighbour. They come in any order, and are added in this one.
    shares: Vec<Option<Share>>,
    /// Forces on the atoms, and the energy of the pairs of this cell.
    total: Share,
    /// How far an atom may have gone since atoms were last moved to their cells (Å).
    gone: f64,
}

#[chare(array3d)]
impl Cell {
    #[init]
    pub fn new(cx: &mut Cx<Self>, rules: Shared<Rules>, pairs: Array<Pair>, start: Start) -> Self {
        let atoms = Atoms::new(start.atoms, &rules.grid, cx.index());
        let news = Some(Frozen::new(atoms.kinds.clone()));
        let (near, step, shares, total) = (start.near, start.step, no_shares(), Share::default());
        Cell { rules, pairs, near, step, atoms, news, shares, total, gone: 0.0 }
    }

    /// Creates the pairs whose left cell this is, beside it; gives their number.
    #[entry]
    pub fn create_pairs(&mut self, cx: &mut Cx<Self>) -> u64 {
        let mut created = 0;
        for neighbour in self.neighbours(cx.index()).into_iter().filter(Neighbour::is_owned) {
            self.pairs.insert(neighbour.pair).on(cx.pe()).new(self.rules.clone(), cx.array());
            created += 1;
        }
        created
    }

    /// The forces of `step` from the pair with the neighbour in a direction.
    #[entry]
    pub fn share(step: u32, direction: usize, share: Share);

    /// Atoms that moved here, after `step`.
    #[entry]
    fn arrivals(step: u32, atoms: Vec<Atom>);

    /// The first forces; gives kinetic and potential energy.
    #[entry]
    pub async fn start(&mut self, cx: &mut Cx<Self>) -> [f64; 2] {
        self.interact(cx).await;
        self.energies()
    }

    /// Some steps of velocity Verlet; gives kinetic and potential energy after them.
    #[entry]
    pub async fn advance(&mut self, cx: &mut Cx<Self>, steps: u32) -> [f64; 2] {
        for _ in 0..steps {
            self.drift(cx);
            if self.step.is_multiple_of(self.rules.pace.migrate_every) {
                let strays: Vec<News> = self.migrate(cx).await;
                debug_assert!(strays.is_empty(), "the margin keeps atoms from passing a whole cell");
            }
            self.finish(cx).await;
        }
        self.energies()
    }

    /// The first half of a step in which atoms change cells, perhaps to where there is none.
    #[entry]
    pub async fn part(&mut self, cx: &mut Cx<Self>) -> Vec<News> {
        self.drift(cx);
        let mut news: Vec<News> = self.migrate(cx).await;
        if self.atoms.len() == 0 && cx.index() != self.rules.teller {
            news.push(News::Empty(cx.index()));
        }
        news
    }

    /// The second half of such a step, beside those that there are now; gives kinetic and potential energy. Who is left out itself goes.
    #[entry]
    pub async fn meet(&mut self, cx: &mut Cx<Self>, change: Change) -> [f64; 2] {
        let mut ending: Vec<PairIndex> = self.pairs_that_end(cx.index(), &change);
        while let Some(pair) = ending.pop() {
            let pair: PairIndex = pair;
            self.pairs.at(pair).leave().await;
        }
        if change.gone.contains(&cx.index()) {
            self.total = Share::default();
            cx.destroy();
        } else {
            self.welcome(cx, &change);
            self.finish(cx).await;
        }
        self.energies()
    }

    /// Changes with any bit of any atom's position and velocity.
    #[entry]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.atoms.fingerprint())
    }

    /// A step from the forces on.
    async fn finish(&mut self, cx: &mut Cx<Self>) {
        self.interact(cx).await;
        self.kick();
        self.tell_progress(cx);
        if self.rules.syncs_after(self.step) {
            cx.at_sync().await;
        }
    }

    /// Shows the atoms to all pairs, and adds up what comes back.
    async fn interact(&mut self, cx: &mut Cx<Self>) {
        let neighbours: usize = self.show_atoms(cx);
        for _ in 0..neighbours {
            let (direction, share) = cx.when(Self::share, self.step).await;
            self.shares[direction] = Some(share);
        }
        self.total = total(&self.shares, self.atoms.at.x.len());
        self.shares.fill(None);
    }

    /// Sends atoms that have left to their cells, and takes in those that come. Gives those that no cell takes.
    async fn migrate(&mut self, cx: &mut Cx<Self>) -> Vec<News> {
        let neighbours: usize = others(&self.neighbours(cx.index()), cx.index()).len();
        let (mut atoms, strays): (Vec<Atom>, Vec<News>) = self.send_leavers(cx);
        for _ in 0..neighbours {
            let arrived = cx.when(Self::arrivals, self.step).await;
            atoms.extend(arrived);
        }
        self.settle(cx, atoms);
        strays
    }

    fn show_atoms(&mut self, cx: &mut Cx<Self>) -> usize {
        let (at, news) = (Frozen::new(self.atoms.at.clone()), self.news.take());
        let neighbours = self.neighbours(cx.index());
        for neighbour in &neighbours {
            let pair = self.pairs.at(neighbour.pair);
            pair.positions(self.step, neighbour.on_right, at.clone(), news.clone());
        }
        neighbours.len()
    }

    fn send_leavers(&mut self, cx: &mut Cx<Self>) -> (Vec<Atom>, Vec<News>) {
        let (stay, mut go) = sort_out(self.atoms.take(), &self.rules.grid, cx.index());
        for other in others(&self.neighbours(cx.index()), cx.index()) {
            let to_other = |(home, atom): (CellIndex, Atom)| (home == other).then_some(atom);
            let leavers = go.iter().copied().filter_map(to_other).collect();
            go.retain(|(home, _)| *home != other);
            cx.array().at(other).arrivals(self.step, leavers);
        }
        (stay, go.into_iter().map(|(home, atom)| News::Stray(home, atom)).collect())
    }

    fn settle(&mut self, cx: &mut Cx<Self>, atoms: Vec<Atom>) {
        self.atoms = Atoms::new(atoms, &self.rules.grid, cx.index());
        self.news = Some(Frozen::new(self.atoms.kinds.clone()));
        self.gone = 0.0;
    }

    /// Those of this cell as the left one that lose a cell.
    fn pairs_that_end(&self, me: CellIndex, change: &Change) -> Vec<PairIndex> {
        let ends = |other: &Neighbour| change.gone.contains(&me) || change.gone.contains(&other.cell);
        let owned = self.neighbours(me).into_iter().filter(Neighbour::is_owned);
        owned.filter(ends).map(|neighbour| neighbour.pair).collect()
    }

    /// Knows its neighbours anew, and creates the pairs with them of which it is the left cell.
    fn welcome(&mut self, cx: &mut Cx<Self>, change: &Change) {
        let me = cx.index();
        for other in self.rules.grid.neighbours(me) {
            let is_new = change.born.contains(&other.cell);
            if is_new || change.gone.contains(&other.cell) {
                self.near.set(other.direction, is_new);
            }
            if other.is_owned() && self.near.has(other.direction) && (is_new || change.born.contains(&me)) {
                self.pairs.insert(other.pair).on(cx.pe()).new(self.rules.clone(), cx.array());
                self.pairs.at(other.pair).run(self.step);
            }
        }
    }

    /// The first half of a step: velocities, then positions. Two atoms of cells that are no neighbours must not have come within the cutoff
    /// unseen.
    fn drift(&mut self, cx: &mut Cx<Self>) {
        self.kick();
        self.step += 1;
        self.gone += self.atoms.drift(self.rules.pace.time_step).sqrt();
        let is_known = 2.0 * self.gone <= self.rules.margin;
        if !is_known {
            let (gone, half) = (self.gone, self.rules.margin / 2.0);
            cx.fail(format!(
                "at step {} an atom of cell {:?} may be {gone:.2} Å from where it was sorted in, more than the {half:.2} Å \
                 that cutoff and skin allow; use a larger --skin, or a smaller --migrate-every or --time-step",
                self.step,
                cx.index(),
            ));
        }
    }

    fn tell_progress(&self, cx: &mut Cx<Self>) {
        if cx.index() == self.rules.teller {
            cx.step(u64::from(self.step));
        }
    }
}

impl Cell {
    fn kick(&mut self) {
        self.atoms.kick(&self.total.forces, self.rules.pace.time_step / 2.0);
    }

    /// The neighbours that there are, itself included, in the order of their directions.
    fn neighbours(&self, me: CellIndex) -> Vec<Neighbour> {
        let mut all = self.rules.grid.neighbours(me);
        all.retain(|neighbour| self.near.has(neighbour.direction));
        all
    }

    fn energies(&self) -> [f64; 2] {
        [self.atoms.kinetic(), self.total.energy]
    }
}

/// Of the atoms of some cells: the order of the cells does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
pub struct Fingerprint(pub u64);

impl Merge for Fingerprint {
    fn merge(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}
