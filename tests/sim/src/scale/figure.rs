//! Weak and strong scaling on the modelled cluster, as a figure.

use std::fs;
use std::path::PathBuf;

use super::skeleton::{self, Plan, per_step_s};
use super::svg::{Line, Plot, draw};
use super::{cluster, triple};

/// Runs the program like jacobi3d on 1 to 10,000 modelled nodes, and draws how it scales.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Where the figure goes
    #[arg(long, default_value = "tests/sim/scaling.svg")]
    out: PathBuf,
    /// Nodes
    #[arg(long, value_delimiter = ',', default_value = "1,3,10,30,100,300,1000,3000,10000")]
    nodes: Vec<u32>,
    /// Strong scaling: blocks of the whole grid along each axis
    #[arg(long, value_parser = triple, default_value = "50,50,40")]
    blocks: [u32; 3],
    /// Weak scaling: blocks of each node
    #[arg(long, default_value_t = 16)]
    blocks_per_node: u32,
    /// Steps
    #[arg(long, default_value_t = 3)]
    steps: u32,
}

/// Runs it.
pub fn main(args: &Args) {
    let mut weak = Vec::new();
    let mut strong = Vec::new();
    println!("{:>8}  {:>14}  {:>14}", "nodes", "weak, s a step", "strong, s a step");
    for nodes in &args.nodes {
        let grown = skeleton_of(box_of(nodes * args.blocks_per_node), [64; 3], args.steps);
        let fixed = skeleton_of(args.blocks, [32; 3], args.steps);
        let times =
            [grown, fixed].map(|plan| per_step_s(&skeleton::run(plan, &cluster::machine(), *nodes, 1)));
        println!("{nodes:>8}  {:>14.6}  {:>14.6}", times[0], times[1]);
        weak.push((f64::from(*nodes), times[0] * 1e3));
        strong.push((f64::from(*nodes), times[1] * 1e3));
    }
    let svg =
        draw(&[plot("Weak scaling", weak, |_| 1.0), plot("Strong scaling", strong, |nodes| 1.0 / nodes)]);
    fs::write(&args.out, svg).unwrap_or_else(|error| panic!("{}: {error}", args.out.display()));
    println!("{}", args.out.display());
}

fn skeleton_of(blocks: [u32; 3], cells: [u32; 3], steps: u32) -> Plan {
    Plan { blocks, cells, steps, look_every: 1, cost: cluster::cost() }
}

/// So many blocks in a box whose sides differ as little as they can.
fn box_of(blocks: u32) -> [u32; 3] {
    let sides = |of: u32| (1..=of).filter(move |side| of.is_multiple_of(*side));
    let boxes = sides(blocks).flat_map(|x| sides(blocks / x).map(move |y| [x, y, blocks / x / y]));
    boxes.min_by_key(|sides| sides.iter().max().copied()).expect("one block is a box")
}

fn plot(title: &str, points: Vec<(f64, f64)>, ideal: impl Fn(f64) -> f64) -> Plot<'_> {
    let (_, first) = points[0];
    let ideal = points.iter().map(|(nodes, _)| (*nodes, first * ideal(*nodes))).collect();
    Plot {
        title,
        x: "nodes",
        y: "ms a step",
        lines: vec![
            Line { name: "modelled", color: "#1f5fa8", is_ideal: false, points },
            Line { name: "ideal", color: "#888", is_ideal: true, points: ideal },
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_as_even_as_they_can_be() {
        let mut sides = box_of(160_000);
        sides.sort_unstable();
        assert_eq!(sides, [50, 50, 64]);
        assert_eq!(box_of(1), [1, 1, 1]);
    }
}
