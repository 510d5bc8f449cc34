// jacobi3d
use talisman::prelude::*;

#[derive(clap::Parser, Pup)]
struct Config { #[arg(long, default_value_t = 3)] blocks: i32, #[arg(long, default_value_t = 4)] cells: usize }

const STEPS: [(i32, i32, i32); 6] = [(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)];

#[derive(Pup)]
struct Block { config: Shared<Config>, cells: Vec<f64>, ghosts: [Vec<f64>; 6] }

#[chare(array3d)]
impl Block {
    #[init]
    fn new(cx: &mut Cx<Self>, config: Shared<Config>) -> Self {
        let (i, j, k) = cx.index();
        let cells = (0..config.cells.pow(3)).map(|c| (c as f64 + (i * 9 + j * 3 + k) as f64).sin()).collect();
        Block { config, cells, ghosts: Default::default() }
    }

    /// A neighbour's side, of its iteration `iter`. An entry without a body is kept until an async entry receives it.
    #[entry]
    fn ghost(iter: u32, side: usize, cells: Vec<f64>);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, steps: u32) -> f64 {
        for iter in 0..steps {
            self.send_sides(cx, iter);
            for _ in 0..6 {
                let (side, cells) = cx.when(Self::ghost, iter).await; // the next whose first argument is `iter`
                self.ghosts[side] = cells;
            }
            let change = self.relax();
            let worst: f64 = cx.all_reduce(change, Max).await; // every element gets the result
            if worst < 1e-3 { break }
        }
        self.cells.iter().sum()
    }

    fn send_sides(&self, cx: &Cx<Self>, iter: u32) {
        let ((i, j, k), round) = (cx.index(), |x: i32| x.rem_euclid(self.config.blocks));
        for (side, s) in STEPS.iter().enumerate() {
            let cells = self.plane(side).map(|at| self.cells[at]).collect();
            cx.array().at((round(i + s.0), round(j + s.1), round(k + s.2))).ghost(iter, side ^ 1, cells);
        }
    }
}

impl Block { // numerics know nothing of chares
    fn plane(&self, side: usize) -> impl Iterator<Item = usize> + use<> {
        let (n, stride) = (self.config.cells, self.config.cells.pow(2 - side as u32 / 2));
        (0..n * n * n).filter(move |at| at / stride % n == (n - 1) * (side % 2))
    }
    fn relax(&mut self) -> f64 {
        let mut change: f64 = 0.0;
        for side in 0..6 { for (at, g) in self.plane(side).zip(&self.ghosts[side]) {
            let x = (self.cells[at] + g) / 2.0;
            change = change.max((x - self.cells[at]).abs());
            self.cells[at] = x;
        } }
        change
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, config: Config) {
    let b = config.blocks;
    let config = cx.share(config); // read-only, one copy a node; a chare keeps a pointer, a message carries its number
    let sum: f64 = Block::array((b, b, b)).map(Map::Block).new(config).run(20).reduce(Sum).await;
    writeln!(cx.output(), "sum {sum:.9}");
}
