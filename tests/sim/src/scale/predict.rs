//! What jacobi3d takes on some processes here, as the model says from what was measured here, and as it is.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use talisman::launch::ResultValue;
use talisman::launch::options::Transport;
use talisman::launch::report::Report;
use talisman::simulation::{Machine, Way};

use super::exchange::{Exchange, Work, measure, modelled};
use super::skeleton::{self, Cost, Plan, per_step_s};
use super::{kernel, triple};

/// Predicts the time per step of examples/jacobi3d on 1, 2, 4 and 8 processes from measurements of the runtime and the kernel, and
/// measures it.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The example, built with `cargo build --release --example jacobi3d`
    #[arg(long, default_value = "target/release/examples/jacobi3d")]
    example: PathBuf,
    /// Blocks along each axis
    #[arg(long, value_parser = triple, default_value = "4,4,4")]
    blocks: [u32; 3],
    /// Cells of a block along each axis
    #[arg(long, value_parser = triple, default_value = "32,32,32")]
    cells: [u32; 3],
    /// Steps of a run
    #[arg(long, default_value_t = 200)]
    steps: u32,
    /// Processes
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8")]
    nodes: Vec<u32>,
    /// Times that everything is measured, in turns; medians count
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Cores of this host
    #[arg(long, default_value_t = cores())]
    cores: u32,
}

/// Everything that is measured in a round.
#[derive(Default)]
struct Round {
    /// The kernel, with as many of the cores busy.
    costs: Vec<Cost>,
    local: Exchange,
    /// For shared memory and TCP.
    links: Vec<Link>,
    /// Seconds a step: per transport, then per number of processes.
    real: Vec<Vec<f64>>,
}

/// Exchanges of a small message and of a face between two nodes, and of a face in a ring of all of them, which compute.
#[derive(Clone, Default)]
struct Link {
    small: Exchange,
    face: Exchange,
    /// For each number of processes.
    crowded: Vec<Exchange>,
}

const TRANSPORTS: [(Transport, &str); 2] = [(Transport::Shm, "shm"), (Transport::Tcp, "tcp")];

/// For so long Linux lets a thread run while others want its core, about.
const SLICE_NS: u64 = 3_000_000;
/// It takes less than this until a thread runs.
const WAKE_NS_MAX: u64 = 1_000_000;

/// Steps of an exchange.
const EXCHANGES: u32 = 2_000;

/// Predicts, measures and compares.
pub fn main(args: &Args) {
    let rounds = Rounds((0..args.rounds).map(|_| Round::measure(args)).collect());
    println!(
        "{:>9}  {:>9}  {:>13}  {:>13}  {:>5}",
        "transport", "processes", "predicted, ms", "measured, ms", "ratio"
    );
    for (number, (_, name)) in TRANSPORTS.iter().enumerate() {
        for (at, nodes) in args.nodes.iter().enumerate() {
            let machine = fitted(args, &rounds, number, *nodes);
            let slow = slowness(args, &rounds, number, at, &machine);
            let plan = Plan { cost: cost_of(&rounds, args, *nodes).times(slow), ..args.plan() };
            let predicted = per_step_s(&skeleton::run(plan, &machine, *nodes, 1)) * 1e3;
            let measured = rounds.median(|round: &Round| round.real[number][at]) * 1e3;
            println!(
                "{name:>9}  {nodes:>9}  {predicted:>13.4}  {measured:>13.4}  {:>5.2}",
                predicted / measured
            );
        }
        args.nodes.iter().for_each(|nodes| println!("  {:?}", fitted(args, &rounds, number, *nodes)));
    }
    for cores in 1..=args.cores {
        println!("  {:?} with {cores} cores busy", cost_of(&rounds, args, cores));
    }
}

impl Args {
    fn plan(&self) -> Plan {
        // The example looks at the residual only at its end.
        let look_every = u32::MAX;
        Plan { blocks: self.blocks, cells: self.cells, steps: self.steps, look_every, cost: Cost::default() }
    }
}

impl Round {
    fn measure(args: &Args) -> Round {
        let plan = args.plan();
        let face = plan.face(0) as u32;
        let mut round = Round {
            costs: (1..=args.cores).map(|cores| kernel::cost(&plan, cores)).collect(),
            local: measure(1, Transport::Shm, exchange(1)),
            ..Round::default()
        };
        for (transport, name) in TRANSPORTS {
            round.links.push(Link {
                small: measure(2, transport, exchange(1)),
                face: measure(2, transport, exchange(face)),
                crowded: args.nodes.iter().map(|nodes| measure(*nodes, transport, crowded(face))).collect(),
            });
            round.real.push(args.nodes.iter().map(|nodes| real(args, name, *nodes)).collect());
        }
        round
    }
}

fn exchange(cells: u32) -> Work {
    Work { cells, steps: EXCHANGES, compute_ns: 0, is_modelled: false }
}

/// With as much to compute as some blocks have.
fn crowded(cells: u32) -> Work {
    Work { steps: EXCHANGES / 10, compute_ns: 100_000, ..exchange(cells) }
}

/// All that was measured.
struct Rounds(Vec<Round>);

impl Rounds {
    fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        median(self.0.iter().map(of).collect())
    }
}

/// The example itself: seconds a step.
fn real(args: &Args, transport: &str, nodes: u32) -> f64 {
    let report = std::env::temp_dir().join(format!("talisman-predict-{}.json", std::process::id()));
    let cells: Vec<_> = (0..3).map(|axis| args.blocks[axis] * args.cells[axis]).collect();
    let status = Command::new(&args.example)
        .args(["--grid", &comma_separated(&cells), "--block", &comma_separated(&args.cells)])
        .args(["--steps", &args.steps.to_string(), "--nodes", &nodes.to_string(), "--pes", "1"])
        .args(["--transport", transport, "--report"])
        .arg(&report)
        .stdout(Stdio::null())
        .status()
        .unwrap_or_else(|error| panic!("{}: {error}; build it first", args.example.display()));
    assert!(status.success(), "the example fails: {status}");
    let read = Report::read(&report).unwrap_or_else(|error| panic!("{error}"));
    let _ = std::fs::remove_file(report);
    match read.results.value("per_step_s") {
        Some(ResultValue::F64(seconds)) => *seconds,
        other => panic!("the example tells what a step takes, not {other:?}"),
    }
}

/// The machine that fits what was measured.
fn fitted(args: &Args, rounds: &Rounds, transport: usize, nodes: u32) -> Machine {
    let link = |of: fn(&Link) -> f64| rounds.median(|round: &Round| of(&round.links[transport]));
    let run_ns = rounds.median(|round: &Round| round.local.step_ns) / 2.0;
    let bytes = args.plan().face(0) as f64 * 8.0;
    let (send_ns, send_of_face) = (link(|link| link.small.send_ns), link(|link| link.face.send_ns));
    let step_ns = link(|link| link.small.step_ns);
    let receive_ns = (link(|link| link.small.flood_ns) - run_ns).clamp(0.0, step_ns - run_ns - send_ns);
    let more = (link(|link| link.face.step_ns) - step_ns).max(0.0);
    let more_to_send = (send_of_face - send_ns).clamp(0.0, more);
    let near = Way {
        send_ns,
        send_ns_per_byte: more_to_send / bytes,
        receive_ns,
        receive_ns_per_byte: (more - more_to_send) / bytes,
        latency_ns: (step_ns - run_ns - send_ns - receive_ns).max(0.0),
        line_ns_per_byte: 0.0,
    };
    let machine = Machine {
        nodes_per_host: nodes,
        cores_per_host: args.cores,
        cores: Vec::new(),
        run_ns,
        within: Way::default(),
        near,
        far: near,
        slice_ns: SLICE_NS,
        wake_ns: 0,
    };
    let at = args.nodes.iter().position(|other| *other == nodes).unwrap_or(0);
    let crowded = rounds.median(|round: &Round| round.links[transport].crowded[at].step_ns);
    Machine { wake_ns: if nodes > args.cores { wake_ns(args, &machine, crowded) } else { 0 }, ..machine }
}

/// How many times as long as its work something takes here that only computes and exchanges: others use the cores now and then, and of
/// several PEs that wait for each other the slowest counts. What PEs that share cores wait for each other is in `wake_ns` already.
fn slowness(args: &Args, rounds: &Rounds, transport: usize, at: usize, machine: &Machine) -> f64 {
    if machine.nodes_per_host > args.cores {
        return 1.0;
    }
    let measured = rounds.median(|round: &Round| round.links[transport].crowded[at].step_ns);
    let work = crowded(args.plan().face(0) as u32);
    (measured / modelled(machine, machine.nodes_per_host, work).step_ns).max(1.0)
}

/// What it has to take until a PE runs that shares a core, so that exchanges of many PEs take in the model what they do.
fn wake_ns(args: &Args, machine: &Machine, crowded_step_ns: f64) -> u64 {
    let work = crowded(args.plan().face(0) as u32);
    let (mut low, mut high) = (0, WAKE_NS_MAX);
    while high - low > 100 {
        let wake_ns = (low + high) / 2;
        let machine = Machine { wake_ns, ..machine.clone() };
        match modelled(&machine, machine.nodes_per_host, work).step_ns < crowded_step_ns {
            true => low = wake_ns,
            false => high = wake_ns,
        }
    }
    low
}

/// What the kernel takes where so many processes have the cores.
fn cost_of(rounds: &Rounds, args: &Args, nodes: u32) -> Cost {
    let busy = nodes.min(args.cores) as usize - 1;
    Cost {
        relax_ns: rounds.median(|round: &Round| round.costs[busy].relax_ns),
        face_ns: rounds.median(|round: &Round| round.costs[busy].face_ns),
        change_ns: rounds.median(|round: &Round| round.costs[busy].change_ns),
    }
}

/// The one in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn comma_separated(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}
