// leanmd
use talisman::prelude::*;
type Vec3 = [f64; 3];
type Index3 = (i32, i32, i32);

#[derive(Clone, Copy, Pup)]
#[repr(C)]
#[pup(plain)] // proven at compile time to be its bytes: a `Vec<Atom>` is packed as one block
struct Atom { at: Vec3, speed: Vec3 }

#[derive(Pup)]
struct World { side: i32, steps: u32, pairs: Array<Pair> }

#[derive(Pup)]
struct Cell { world: Shared<World>, atoms: Vec<Atom> }

#[chare(array3d)]
impl Cell {
    #[init]
    fn new(world: Shared<World>, atoms: Vec<Atom>) -> Self { Cell { world, atoms } }
    #[entry]
    fn create_pairs(&mut self, cx: &mut Cx<Self>, done: Callback) {
        let me = cx.index();
        for other in self.neighbours(me).into_iter().filter(|other| me <= *other) {
            self.world.pairs.insert(pair(me, other)).new(cx.array(), self.world.clone());
        }
        cx.contribute((), Nothing, done);
    }
    #[entry]
    fn forces(step: u32, forces: Vec<Vec3>);
    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) -> f64 {
        for step in 0..self.world.steps {
            let (me, at) = (cx.index(), self.atoms.iter().map(|a| a.at).collect::<Vec<_>>());
            for other in self.neighbours(me) { self.world.pairs.at(pair(me, other)).positions(step, me, at.clone()) }
            for _ in 0..27 {
                let forces = cx.when(Self::forces, step).await;
                for (a, f) in self.atoms.iter_mut().zip(forces) { for d in 0..3 { a.speed[d] += 1e-3 * f[d] } }
            }
            for a in &mut self.atoms { for d in 0..3 { a.at[d] += 1e-3 * a.speed[d] } }
        }
        self.atoms.iter().flat_map(|a| a.speed).map(|v| v * v / 2.0).sum()
    }
    fn neighbours(&self, (i, j, k): Index3) -> Vec<Index3> {
        let near = |x: i32| [-1, 0, 1].map(|d| (x + d).rem_euclid(self.world.side));
        near(i).iter().flat_map(|a| near(j).map(|b| near(k).map(|c| (*a, b, c)))).flatten().collect()
    }
}
fn pair(a: Index3, b: Index3) -> (i32, i32, i32, i32, i32, i32) {
    let (a, b) = (a.min(b), a.max(b)); // one name, whichever of the two speaks
    (a.0, a.1, a.2, b.0, b.1, b.2)
}

#[derive(Pup)]
struct Pair { cells: Array<Cell>, world: Shared<World> }

#[chare(array6d)]
impl Pair {
    #[init]
    fn new(cells: Array<Cell>, world: Shared<World>) -> Self { Pair { cells, world } }
    #[entry]
    fn positions(step: u32, from: Index3, at: Vec<Vec3>);
    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        let (a, b, c, d, e, f) = cx.index();
        let alone: bool = (a, b, c) == (d, e, f);
        for step in 0..self.world.steps {
            let (left, mine) = cx.when(Self::positions, step).await;
            if alone {
                self.cells.at(left).forces(step, push(&mine, &mine));
            } else {
                let (right, theirs) = cx.when(Self::positions, step).await;
                self.cells.at(left).forces(step, push(&mine, &theirs));
                self.cells.at(right).forces(step, push(&theirs, &mine));
            }
        }
    }
}
fn push(on: &[Vec3], from: &[Vec3]) -> Vec<Vec3> {
    on.iter().map(|a| std::array::from_fn(|d| from.iter().map(|b| (a[d] - b[d]).signum()).sum())).collect()
}

#[derive(Pup)]
struct Driver { cells: Array<Cell>, pairs: Array<Pair> }

#[talisman::main] // a main chare with a state of its own: on its impl block
impl Driver {
    #[init]
    fn new(cx: &mut Cx<Self>) -> Self {
        let pairs = Pair::sparse(); // no element yet, but its handle can be given away
        let world = cx.share(World { side: 3, steps: 6, pairs });
        let atom = |i, j, k| Atom { at: [i as f64, j as f64, (k * k) as f64], speed: [0.0; 3] };
        let cells = Cell::array((3, 3, 3)).each(|(i, j, k), new| { new.new(world.clone(), vec![atom(i, j, k); 3]); });
        cells.create_pairs(cx.callback(Self::created));
        Driver { cells, pairs }
    }
    #[entry]
    fn created(&mut self, cx: &mut Cx<Self>) {
        self.pairs.done_inserting();
        self.pairs.run();
        self.cells.run().reduce(Sum).reply(cx.callback(Self::done)); // outside async entries: a callback
    }
    #[entry]
    fn done(&mut self, cx: &mut Cx<Self>, energy: f64) { writeln!(cx.output(), "energy {energy:.9}"); cx.exit() }
}
