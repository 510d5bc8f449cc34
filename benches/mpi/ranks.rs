//! The program of ranks that all parts measure, and its jobs.

use std::hint::black_box;
use std::process::ExitCode;

use talisman::prelude::*;
use talisman_ampi::RankArgs;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{SystemOperation, Universe};
use talisman_ampi::rank::Program;

use crate::common::ns_each;
use crate::create;
use crate::job::{Job, Transport, line};
use crate::raw::{Cold, RawPair};
use crate::stencil::Strip;

pub const PROGRAM: &str = "@ranks";

/// What ranks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup, clap::ValueEnum)]
pub enum Task {
    /// Two send each other messages.
    PingPong,
    /// All take part in sums of one number.
    AllReduce,
    /// All are there, and do nothing.
    Create,
    /// All have a strip of a grid.
    Stencil,
    /// One goes to the other node and back.
    Move,
    /// All have memory, and say when a checkpoint is welcome.
    Checkpoint,
}

impl Task {
    fn word(self) -> String {
        clap::ValueEnum::to_possible_value(&self).expect("none is hidden").get_name().to_owned()
    }
}

/// A job of ranks.
pub struct RankJob {
    pub task: Task,
    pub ranks: u32,
    pub nodes: u32,
    pub transport: Transport,
    /// Bytes of a message or of a rank.
    pub size: usize,
    pub rounds: u32,
    /// The row that rounds are of.
    pub what: String,
    /// Options of the runtime.
    pub options: String,
}

impl RankJob {
    /// Of two ranks on one node.
    pub fn new(task: Task, what: impl Into<String>) -> RankJob {
        let (ranks, nodes, transport) = (2, 1, Transport::Shm);
        RankJob {
            task,
            ranks,
            nodes,
            transport,
            size: 0,
            rounds: 1,
            what: what.into(),
            options: String::new(),
        }
    }

    /// Runs it, and keeps its samples.
    pub fn sample(self) {
        self.job().sample();
    }

    /// Runs it, without keeping samples.
    pub fn run(self) {
        self.job().run();
    }

    fn job(self) -> Job {
        let (task, what) = (self.task.word(), self.what);
        let mut options = vec![format!("--task={task}"), format!("--what={what}")];
        options.extend(
            [("ranks", self.ranks as usize), ("size", self.size), ("rounds", self.rounds as usize)]
                .map(|(name, value)| format!("--{name}={value}")),
        );
        options.extend(self.options.split_whitespace().map(String::from));
        if self.task == Task::PingPong && self.nodes == 2 {
            options.push(format!("--limit={}", self.transport));
        }
        Job { program: PROGRAM, nodes: self.nodes, transport: self.transport, options }
    }
}

/// Nanoseconds of ours, and of what bounds it.
type Sample = (f64, f64);

#[derive(Clone, Copy, Pup)]
struct Measured {
    task: Task,
    size: usize,
    rounds: u32,
}

talisman_ampi::program!(Measured);

impl Program for Measured {
    type Output = Vec<Sample>;

    fn main(self, universe: Universe) -> Vec<Sample> {
        match self.task {
            Task::PingPong => self.ping_pong(universe),
            Task::AllReduce => self.all_reduce(universe),
            Task::Create => create::rank(universe),
            Task::Stencil => Strip::new(universe, self.size).iterate(universe, self.rounds),
            Task::Move => self.move_about(universe),
            Task::Checkpoint => self.be_kept(universe),
        }
    }
}

const PEERS: &str = "the peers are there";

/// Round trips of a round, so that it takes some milliseconds.
fn trips(bytes: usize) -> u64 {
    (12_000_000 / (bytes as u64 + 3_000)).clamp(4, 3_000)
}

/// Sums of a round.
const SUMS: u64 = 100;

impl Measured {
    fn ping_pong(self, universe: Universe) -> Vec<Sample> {
        let world = universe.world();
        let (rank, peer) = (world.rank(), world.process_at_rank(1 - world.rank()));
        let (mut ball, mut copy) = (vec![1u8; self.size], vec![2u8; self.size]);
        let trips = trips(self.size);
        let mut round = |_| {
            world.barrier().expect(PEERS);
            let ours = ns_each(2 * trips, || {
                for _ in 0..trips {
                    if rank == 0 {
                        peer.send(&ball).expect(PEERS);
                        peer.receive_into(&mut ball).expect(PEERS);
                    } else {
                        peer.receive_into(&mut ball).expect(PEERS);
                        peer.send(&ball).expect(PEERS);
                    }
                }
            });
            let limit = ns_each(2 * trips, || {
                for _ in 0..if rank == 0 { trips } else { 0 } {
                    black_box(&mut copy).copy_from_slice(black_box(&ball));
                    black_box(&mut ball).copy_from_slice(black_box(&copy));
                }
            });
            (ours, limit)
        };
        (0..self.rounds).map(&mut round).collect()
    }

    fn all_reduce(self, universe: Universe) -> Vec<Sample> {
        let world = universe.world();
        let round = |_| {
            world.barrier().expect(PEERS);
            let ns = ns_each(SUMS, || {
                for _ in 0..SUMS {
                    let mut sum = 0.0;
                    world.all_reduce_into(&1.0, &mut sum, SystemOperation::sum()).expect(PEERS);
                    assert!(sum > 0.0);
                }
            });
            (ns, f64::NAN)
        };
        (0..self.rounds).map(round).collect()
    }

    /// There and back, which the same clock measures.
    fn move_about(self, universe: Universe) -> Vec<Sample> {
        let world = universe.world();
        let memory = vec![1u8; self.size];
        let mut samples = Vec::new();
        if world.rank() == 0 {
            for _ in 0..self.rounds {
                let start = universe.time();
                universe.move_to(1);
                universe.move_to(0);
                samples.push(((universe.time() - start).as_nanos() as f64 / 2.0, f64::NAN));
            }
        }
        world.barrier().expect(PEERS);
        black_box(memory);
        samples
    }

    fn be_kept(self, universe: Universe) -> Vec<Sample> {
        let mut memory = vec![1u8; self.size];
        for round in 0..self.rounds {
            black_box(&mut memory).fill(round as u8);
            universe.checkpoint_here_is_good().expect(PEERS);
        }
        Vec::new()
    }
}

#[derive(clap::Parser, Pup)]
struct Options {
    program: String,
    #[command(flatten)]
    ranks: RankArgs,
    #[arg(long)]
    task: Task,
    #[arg(long)]
    what: String,
    #[arg(long)]
    size: usize,
    #[arg(long)]
    rounds: u32,
    /// What messages between two nodes are compared with.
    #[arg(long)]
    limit: Option<Transport>,
}

pub fn program() -> ExitCode {
    main()
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let raw: Group<RawPair> = RawPair::group().new();
    let mut limits: Vec<f64> = Vec::new();
    if let Some(limit) = options.limit {
        let refused: String = raw.on(0).connect(1, limit.way()).await;
        assert!(refused.is_empty(), "{refused}");
        for _ in 0..options.rounds {
            let ns: f64 = raw.on(0).ping_pong(options.size, trips(options.size) / 4 + 1).await;
            limits.push(ns);
        }
    }
    if options.task == Task::Move {
        let mut cold: Cold = Cold::new();
        limits.extend((0..options.rounds).map(|_| cold.copy(options.size, 4)));
    }
    let before: create::Before = create::Before::new(cx.now());
    let program: Measured = Measured { task: options.task, size: options.size, rounds: options.rounds };
    let call = talisman_ampi::run(options.ranks.clone(), program).expect("ranks have room");
    let mut ended: Vec<Vec<Sample>> = call.await;
    if options.task == Task::Create {
        ended[0] = before.samples(&ended);
    }
    for (round, (ours, limit)) in ended[0].iter().enumerate() {
        let limit: f64 = limits.get(round).copied().unwrap_or(*limit);
        writeln!(cx.output(), "{}", line(&options.what, *ours, limit));
    }
}
