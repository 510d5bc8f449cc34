//! A port of Charm++'s `wave2d`: a wave on a square that is closed to a torus. See `docs/src/porting/`.

use talisman::prelude::*;

/// A wave on a torus.
#[derive(clap::Parser, Pup)]
struct Options {
    /// Blocks along each side of the square
    #[arg(long, default_value_t = 4)]
    blocks: i32,
    /// Cells along each side of a block
    #[arg(long, default_value_t = 32)]
    cells: usize,
    /// Steps
    #[arg(long, default_value_t = 100)]
    steps: u32,
}

// ANCHOR: state
#[derive(Pup)]
struct Wave {
    options: Shared<Options>,
    /// The pressure now and a step before: rows of cells, with a ghost cell around.
    now: Vec<f64>,
    before: Vec<f64>,
}

/// Left, right, above, below. The opposite of a side is `side ^ 1`.
const SIDES: [(i32, i32); 4] = [(-1, 0), (1, 0), (0, -1), (0, 1)];
// ANCHOR_END: state

// ANCHOR: chare
#[chare(array2d)]
impl Wave {
    #[init]
    fn new(cx: &mut Cx<Self>, options: Shared<Options>) -> Self {
        let width = options.cells + 2;
        let mut wave = Wave { options, now: vec![0.0; width * width], before: vec![] };
        wave.drop_a_stone(cx.index());
        wave.before = wave.now.clone();
        wave
    }

    /// The neighbour's cells along a side of mine.
    #[entry]
    fn ghosts(step: u32, side: usize, cells: Vec<f64>);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        for step in 1..=self.options.steps {
            self.send_edges(cx, step);
            for _ in 0..4 {
                let (side, cells) = cx.when(Self::ghosts, step).await;
                self.set_ghosts(side, &cells);
            }
            self.advance();
            if step % 25 == 0 {
                let peak: f64 = cx.all_reduce(self.peak(), Max).await;
                if cx.index() == (0, 0) {
                    writeln!(cx.output(), "step {step}: peak {peak:.9}");
                    cx.step(step.into());
                }
            }
        }
    }

    #[entry]
    fn sum(&self) -> f64 {
        let n = self.options.cells;
        (1..=n).map(|row| self.now[row * (n + 2) + 1..][..n].iter().sum::<f64>()).sum()
    }

    fn send_edges(&self, cx: &Cx<Self>, step: u32) {
        let (x, y) = cx.index();
        let around = |at: i32| at.rem_euclid(self.options.blocks);
        for (side, (dx, dy)) in SIDES.iter().enumerate() {
            let to = cx.array().at((around(x + dx), around(y + dy)));
            to.ghosts(step, side ^ 1, self.edge(side));
        }
    }
}
// ANCHOR_END: chare

// ANCHOR: numerics
impl Wave {
    /// The place of the `k`th cell along a side: of my own there, or of the ghosts beyond.
    fn along(&self, side: usize, k: usize, is_ghost: bool) -> usize {
        let (n, inwards) = (self.options.cells, usize::from(!is_ghost));
        let line = if side.is_multiple_of(2) { inwards } else { n + 1 - inwards };
        if side < 2 { k * (n + 2) + line } else { line * (n + 2) + k }
    }

    fn edge(&self, side: usize) -> Vec<f64> {
        (1..=self.options.cells).map(|k| self.now[self.along(side, k, false)]).collect()
    }

    fn set_ghosts(&mut self, side: usize, cells: &[f64]) {
        for (k, cell) in (1..).zip(cells) {
            let at = self.along(side, k, true);
            self.now[at] = *cell;
        }
    }

    fn advance(&mut self) {
        let (n, width) = (self.options.cells, self.options.cells + 2);
        for at in (1..=n).flat_map(|row| row * width + 1..=row * width + n) {
            let now = &self.now;
            let around = now[at - 1] + now[at + 1] + now[at - width] + now[at + width];
            self.before[at] = 2.0 * now[at] - self.before[at] + 0.16 * (around - 4.0 * now[at]);
        }
        std::mem::swap(&mut self.now, &mut self.before);
    }
    // ANCHOR_END: numerics

    fn peak(&self) -> f64 {
        let (n, width) = (self.options.cells, self.options.cells + 2);
        let rows = (1..=n).map(|row| &self.now[row * width + 1..][..n]);
        rows.flatten().fold(0.0, |peak: f64, cell| peak.max(*cell))
    }

    /// A bump of a quarter of the square's side.
    fn drop_a_stone(&mut self, (x, y): (i32, i32)) {
        let n = self.options.cells;
        let side = f64::from(self.options.blocks) * n as f64;
        for (row, col) in (0..n).flat_map(|row| (0..n).map(move |col| (row, col))) {
            let place = |block: i32, cell: usize| (f64::from(block) * n as f64 + cell as f64) / side - 0.5;
            let far = (place(x, col).powi(2) + place(y, row).powi(2)) * 64.0;
            if far < 1.0 {
                self.now[(row + 1) * (n + 2) + col + 1] = (1.0 - far).powi(2);
            }
        }
    }
}

// ANCHOR: main
#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    cx.expect_steps(options.steps.into());
    let (b, options) = (options.blocks, cx.share(options));
    let waves: Array<Wave> = Wave::array((b, b)).map(Map::Block).new(options);
    waves.run().await;
    let sum: f64 = waves.sum().reduce(Sum).await;
    writeln!(cx.output(), "sum {sum:.9}");
    cx.result("sum", sum);
}
// ANCHOR_END: main
