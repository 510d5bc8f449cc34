//! How far it goes: a job of many nodes in one process, what it would take on a cluster, and what it takes here.

mod cluster;
mod exchange;
pub mod figure;
mod kernel;
pub mod predict;
mod skeleton;
mod svg;

use std::fs;
use std::time::Instant;

use skeleton::{Plan, per_step_s};

/// Runs a program like jacobi3d with many blocks on many nodes of a modelled cluster, and says what that takes here.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Simulated nodes
    #[arg(long, default_value_t = 10_000)]
    nodes: u32,
    /// PEs of each
    #[arg(long, default_value_t = 1)]
    pes: u32,
    /// Blocks along each axis: chares
    #[arg(long, value_parser = triple, default_value = "100,100,100")]
    blocks: [u32; 3],
    /// Cells of a block along each axis
    #[arg(long, value_parser = triple, default_value = "32,32,32")]
    cells: [u32; 3],
    /// Steps
    #[arg(long, default_value_t = 4)]
    steps: u32,
}

/// Runs it.
pub fn main(args: &Args) {
    let plan = Plan {
        blocks: args.blocks,
        cells: args.cells,
        steps: args.steps,
        look_every: 1,
        cost: cluster::cost(),
    };
    let start = Instant::now();
    let outcome = skeleton::run(plan, &cluster::machine(), args.nodes, args.pes);
    let took = start.elapsed().as_secs_f64();
    let chares: u64 = args.blocks.iter().map(|n| u64::from(*n)).product();
    let messages = outcome.messages.local + outcome.messages.between_pes + outcome.messages.between_nodes;
    println!("{chares} chares on {} nodes of {} PEs, {} steps", args.nodes, args.pes, args.steps);
    println!("simulated   {:.6} s, {:.6} s a step", outcome.wall.as_secs_f64(), per_step_s(&outcome));
    println!("took        {took:.1} s, {:.2e} simulated seconds a second", outcome.wall.as_secs_f64() / took);
    println!("events      {}, {:.2e} a second", outcome.events, outcome.events as f64 / took);
    println!("messages    {messages}, {:.2e} a second", messages as f64 / took);
    let most = memory("VmHWM");
    println!(
        "memory      {:.2} GiB, {:.0} bytes a chare",
        most as f64 / (1 << 30) as f64,
        most as f64 / chares as f64
    );
    println!("trace       {:016x}", outcome.trace.unwrap_or_default());
}

/// A line of what the system knows of this process' memory, in bytes.
fn memory(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|found| found.strip_prefix(line)?.split_whitespace().nth(1));
    value.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Three numbers, as in `10,20,30`.
fn triple(text: &str) -> Result<[u32; 3], String> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    let numbers = numbers.map_err(|error| format!("{error}; give three numbers, as in 10,20,30"))?;
    <[u32; 3]>::try_from(numbers).map_err(|_| "give three numbers, as in 10,20,30".into())
}
