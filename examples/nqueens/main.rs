//! How many ways are there to place N queens on a board so that none attacks another? A search of a tree that nobody knows
//! beforehand.
//!
//! Shows: chares created while the program runs, one for each subtree, placed by the runtime; priorities; a group that
//! counts; the end of it all by quiescence.
//!
//! ```text
//! cargo run --release --example nqueens -- --queens 14 --grain 10 --pes 2
//! ```
//!
//! A subtree with more than `--grain` rows left creates a chare for each of its branches, and goes; a smaller one is
//! searched at once. Deeper subtrees have priority: so the search goes down before it goes wide, and few chares exist at a time.
//!
//! Checks: the number of solutions is the published one (OEIS A000170, up to 18 queens), and every chare that was created has
//! been searched. Results: `solutions`, `chares`, `wall_s`.

mod board;

use board::{Board, MOST_QUEENS, known};
use talisman::prelude::*;

/// Counts the ways to place N queens on a board.
#[derive(clap::Parser, Pup)]
struct Options {
    /// Queens, and rows and columns of the board
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_QUEENS)))]
    queens: u32,
    /// Rows left at which a subtree is searched by one chare
    #[arg(long, allow_negative_numbers = true, value_name = "ROWS", default_value_t = 7)]
    grain: u32,
}

/// What has been found on a PE.
#[derive(Pup)]
struct Tally {
    found: Found,
}

/// Solutions, chares created and chares gone.
type Found = [u64; 3];

#[chare(group)]
impl Tally {
    #[init]
    fn new() -> Self {
        Tally { found: [0; 3] }
    }

    /// Goes before all that waits: in order, those of all subtrees would wait until the search has ended.
    #[entry(expedited)]
    fn add(&mut self, found: Found) {
        for (total, more) in self.found.iter_mut().zip(found) {
            *total += more;
        }
    }

    #[entry]
    fn found(&self) -> Found {
        self.found
    }

    /// What had been found on a PE that is lost.
    #[lost]
    fn inherit(&mut self, other: Self) {
        self.add(other.found);
    }
}

/// A part of the tree.
#[derive(Pup)]
struct Subtree {
    tally: Group<Tally>,
    grain: u32,
}

#[chare(single)]
impl Subtree {
    #[init]
    fn new(tally: Group<Tally>, grain: u32) -> Self {
        Subtree { tally, grain }
    }

    /// Searches everything below a board, alone or through chares of its own.
    #[entry]
    fn search(&mut self, cx: &mut Cx<Self>, board: Board) {
        let found =
            if board.left() <= self.grain { [board.solutions(), 0, 1] } else { [0, self.branch(board), 1] };
        self.tally.here().add(found);
        cx.destroy();
    }

    /// Creates a chare for each board with one more queen; gives their number.
    fn branch(&self, board: Board) -> u64 {
        let mut created = 0;
        for board in board.children() {
            let priority = Priority::int(-(board.placed() as i32));
            let subtree = Subtree::chare().with_priority(&priority).new(self.tally, self.grain);
            subtree.with_priority(&priority).search(board);
            created += 1;
        }
        created
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let start: f64 = cx.now().as_secs_f64();
    let tally: Group<Tally> = Tally::group().new();
    Subtree::chare().new(tally, options.grain).search(Board::new(options.queens));
    cx.quiescence().await;
    let found: Found = tally.found().reduce(Sum).await;

    let [solutions, created, gone] = found;
    let seconds = cx.now().as_secs_f64() - start;
    writeln!(cx.output(), "{} queens: {solutions} solutions, found by {gone} chares", options.queens);
    cx.result("solutions", solutions);
    cx.result("chares", gone);
    cx.result("wall_s", seconds);
    if gone != created + 1 {
        return Err(format!("{} chares were created and {gone} searched", created + 1));
    }
    match known(options.queens) {
        Some(expected) if expected != solutions => {
            Err(format!("the published number is {expected}, not {solutions}"))
        }
        _ => Ok(()),
    }
}
