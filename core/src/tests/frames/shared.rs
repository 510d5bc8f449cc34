//! What the fuzz target does with its bytes: frames that come to the PEs of a running job. `cargo test -p talisman-core`
//! does the same with the corpus, on a stable compiler.
//!
//! The job's program sends every kind of message, and panics at no value, so that a panic is the runtime's.

use talisman::function::Function;
use talisman::lab::{Frame, Lab};
use talisman::prelude::*;

/// Rounds of the job that any bytes may ask for before the first frame.
const ROUNDS_MAX: u16 = 1023;

/// Reads `data` as a number of rounds (`u16`) and frames: receiver (`u8`), number of slices beside it of 20,000 bytes (`u8`),
/// length (`u16`), bytes. The job goes on for some rounds after each.
pub fn run(data: &[u8]) {
    let mut lab = Lab::new::<Main>();
    let Some((rounds, mut rest)) = data.split_first_chunk() else { return };
    lab.run((u16::from_le_bytes(*rounds) & ROUNDS_MAX).into());
    while let Some((&[to, beside, low, high], after)) = rest.split_first_chunk() {
        let (head, next) = after.split_at(usize::from(u16::from_le_bytes([low, high])).min(after.len()));
        let segments = (0..beside % 3).map(|_| vec![u64::from(beside); 2500].into()).collect();
        lab.inject(Frame { to: u32::from(to) % 4, head: head.to_vec(), segments });
        lab.run(30);
        rest = next;
    }
    lab.run(200);
}

/// The committed seeds: a name, and bytes; one real frame of each kind, which pin the format.
#[allow(dead_code, reason = "the fuzz target reads the files")]
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut lab = Lab::new::<Main>();
    lab.run(usize::MAX);
    let mut seeds = std::collections::BTreeMap::new();
    for (at, frame) in lab.frames().iter().enumerate() {
        let (tag, service, which) = frame.kind();
        let Ok(len) = u16::try_from(frame.head.len()) else { continue };
        let [low, high] = len.to_le_bytes();
        let rounds = (at as u16 % ROUNDS_MAX).to_le_bytes().to_vec();
        let front = vec![frame.to as u8, frame.segments.len() as u8, low, high];
        seeds
            .entry(format!("{tag}-{service}-{which}"))
            .or_insert([rounds, front, frame.head.clone()].concat());
    }
    seeds.into_iter().collect()
}

/// The packed arguments of [`Cell::tick`], as the program calls it.
pub const TICK: [u8; 9] = [7, 0, 0, 0, 0, 0, 0, 0, 1];

#[derive(Pup)]
pub struct Cell {
    table: Shared<Vec<u32>>,
    large: Vec<f64>,
    ticks: u64,
    row: Option<Section<Cell>>,
}

#[chare(array2d, name = "fuzz::Cell")]
impl Cell {
    #[init]
    fn new(table: Shared<Vec<u32>>) -> Self {
        Cell { table, large: vec![0.5; 3000], ticks: 0, row: None }
    }

    #[entry]
    fn tick(&mut self, cx: &mut Cx<Self>, n: u64, on: bool) {
        self.ticks = self.ticks.wrapping_add(n);
        if on {
            let (i, j) = cx.index();
            cx.array().at((i.wrapping_add(1) & 3, j)).tick(n, false);
        }
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, values: Vec<f64>) {
        self.large.extend(values.iter().take(10));
        cx.migrate_to(cx.pe().wrapping_add(1) % cx.pes());
    }

    #[entry]
    fn ticks(&mut self) -> u64 {
        self.ticks
    }

    #[entry]
    fn join(&mut self, cx: &mut Cx<Self>, row: Section<Cell>, to: Callback<u64>, table: Shared<Vec<u32>>) {
        cx.contribute_to(row, u64::from(table.len() as u32), Sum, to);
        self.row = Some(row);
    }

    #[entry]
    fn add(&mut self, cx: &mut Cx<Self>, to: Callback<u64>) {
        cx.contribute(self.ticks & 1, Sum, to);
    }

    #[entry(expedited)]
    fn answer(&mut self, to: Callback<u64>) {
        to.send(self.ticks.wrapping_add(self.table.len() as u64));
    }
}

#[derive(Pup)]
pub struct Pair {
    heard: u32,
}

#[chare(array1d, ordered, name = "fuzz::Pair")]
impl Pair {
    #[init]
    fn new() -> Self {
        Pair { heard: 0 }
    }

    #[entry]
    fn talk(&mut self, cx: &mut Cx<Self>, rounds: u32) {
        self.heard = self.heard.wrapping_add(1);
        if rounds > 0 && rounds < 20 {
            let me = cx.index();
            cx.array().at(me ^ 1).talk(rounds - 1);
            cx.array().at(me ^ 2).talk(0);
            if rounds.is_multiple_of(3) {
                cx.migrate_to((cx.pe() + 1) % cx.pes());
            }
            if rounds == 5 {
                cx.array().insert(me.wrapping_add(100)).new();
            }
        }
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.destroy();
    }
}

#[derive(Pup)]
pub struct Alone {
    to: Callback<u64>,
}

#[chare(single, name = "fuzz::Alone")]
impl Alone {
    /// Does from outside what the main chare does at the roots.
    #[init]
    fn new(
        cx: &mut Cx<Self>,
        cells: Array<Cell>,
        pairs: Array<Pair>,
        row: Section<Cell>,
        to: Callback<u64>,
    ) -> Self {
        cells.tick(7, true);
        row.tick(7, false);
        pairs.insert(60).new();
        pairs.done_inserting();
        cx.on_quiescence(Callback::ignore());
        cells.at((1, 1)).answer(to.clone());
        Alone { to }
    }

    #[entry]
    fn say(&mut self, n: u64) {
        self.to.send(n);
    }
}

#[derive(Pup)]
pub struct Local;

#[chare(group, name = "fuzz::Local")]
impl Local {
    #[init]
    fn new() -> Self {
        Local
    }

    #[entry]
    fn one(&mut self) -> u64 {
        1
    }
}

struct Tell;

impl Function for Tell {
    const NAME: &'static str = "wire::Tell";
    type Value = u64;

    fn call(n: u64) {
        Main::main_chare().got(n);
    }
}

talisman::register_function!(Tell);

#[derive(Pup)]
pub struct Main {
    cells: Option<Array<Cell>>,
    pairs: Option<Array<Pair>>,
    local: Option<Group<Local>>,
    got: u32,
    phase: u32,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>) -> Self {
        let table = cx.share(vec![1; 5]);
        let cells = Cell::array((4, 4)).new(table);
        let pairs = Pair::sparse();
        for i in 0..8 {
            pairs.insert(i).new();
        }
        pairs.done_inserting();
        cx.on_quiescence(cx.callback(Self::quiet));
        cells.tick(7, true);
        Main { cells: Some(cells), pairs: Some(pairs), local: Some(Local::group().new()), got: 0, phase: 0 }
    }

    /// The next part of the program.
    #[entry]
    fn quiet(&mut self, cx: &mut Cx<Self>) {
        let (Some(cells), Some(pairs), Some(local)) = (self.cells, self.pairs, self.local) else { return };
        let to = cx.callback(Self::got);
        let got = || to.clone();
        match self.phase {
            0 => {
                (0..4).for_each(|i| cells.at((i, 1)).tick(7, true));
                (0..8).for_each(|i| pairs.at(i).talk(15));
                cells.add(got());
                cells.at((3, 3)).ticks().reply(got());
                cells.at((3, 2)).answer(got());
            }
            1 => {
                cells.go(vec![1.5; 5000]);
                (0..4).for_each(|i| cells.at((i, 2)).go(vec![2.5; 3000]));
                cells.tick(7, true);
                local.one().reduce(Sum).reply(got());
                cells.ticks().reduce(Concat).ignore();
                cells.tick(7, false);
            }
            2 => {
                let row: Section<Cell> = cells.section((0..4).map(|j| (2, j)));
                let late = cx.share(vec![3; 4000]);
                row.join(row, got(), late);
                row.ticks().reduce(Sum).reply(got());
                Alone::chare().on(3).new(cells, pairs, row, got()).say(4);
                Callback::function::<Tell>(2).send(5);
                pairs.at(3).leave();
                pairs.at(6).leave();
                pairs.insert(50).on(1).new();
            }
            3 => {
                pairs.insert(3).new();
                pairs.at(3).talk(3);
                (0..4).for_each(|i| cells.at((i, 0)).go(vec![]));
            }
            _ => return cx.exit(),
        }
        self.phase = self.phase.wrapping_add(1);
        cx.on_quiescence(cx.callback(Self::quiet));
    }

    #[entry]
    fn got(&mut self, n: u64) {
        self.got = self.got.wrapping_add(n as u32);
    }
}
