//! A stencil whose work is unevenly spread, and moves: what load balancing is for.
//!
//! A substance spreads over a square and grows (Fisher's equation). Where it is hot, the growth is computed in many small
//! steps; the hot spot wanders over the square. The square is cut into objects, 64 for each PE, of which each PE has a
//! strip at first. So the PE under the hot spot has several times the work of the others, and it is never the same one for long.
//!
//! Shows: `cx.at_sync()`, where objects may be moved by the balancer that `--balancer` names; with `--no-sync` the program has no
//! such point, and objects move whenever the runtime finds it worth while (`--lb-every`).
//!
//! ```text
//! cargo run --release --example imbalance -- --nodes 4 --pes 1
//! cargo run --release --example imbalance -- --nodes 4 --pes 1 --balancer greedy
//! cargo run --release --example imbalance -- --nodes 4 --pes 1 --balancer greedy-refine --no-sync --lb-every auto
//! ```
//!
//! A cell is computed from the values before the step, by itself: the result has the same bits however many objects, PEs and
//! nodes there are, and whatever the balancer does. In simulation an object takes time in proportion to its work.
//!
//! Checks: with `--check` a serial loop over the whole square must give the same fingerprint.
//!
//! Results: `fingerprint` (of all cells), `cells`, `steps`, `relaxations` (small steps of growth, in all), `per_step_s`,
//! `max_over_average_ratio` (work of the PE that had most of it, over the average PE's, summed over the stretches), and the last two
//! for each stretch of `--report-every` steps: `stretch_1_per_step_s`, `stretch_1_max_over_average_ratio` and so on.

mod cut;
mod hot_spot;
#[path = "../common/memory.rs"]
mod memory;
mod object;
mod options;
mod patch;
mod serial;
mod tally;

use object::{Fingerprint, Object};
use options::{Options, Plan};
use talisman::prelude::*;
use tally::{Sums, Tally};

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let pes: u32 = cx.pes();
    let plan: Plan = options.plan(pes).map_err(|error| error.to_string())?;
    check_memory(&plan, cx.nodes(), options.check).map_err(|error| error.to_string())?;
    let plan: Shared<Plan> = cx.share(plan);
    let objects: Array<Object> = create(&plan);
    let cells: u64 = objects.cells().reduce(Sum).await;
    let [x, y] = plan.cut.objects;
    writeln!(cx.output(), "{cells} cells in {x} × {y} objects on {pes} PEs");
    cx.expect_steps(u64::from(options.steps));

    let mut sums: Sums = Sums::default();
    let mut step: u32 = 0;
    while step < options.steps {
        let more: u32 = options.report_every.min(options.steps - step);
        let start: f64 = cx.now().as_secs_f64();
        let tally: Tally = objects.advance(more).reduce(Merged).await;
        let seconds: f64 = cx.now().as_secs_f64() - start;
        step += more;
        sums.add(&tally, pes, seconds);
        tell(
            cx,
            step,
            &[("per_step_s", seconds / f64::from(more)), (RATIO, tally.max_over_average(pes))],
            &sums,
        );
    }
    let fingerprint: Fingerprint = objects.fingerprint().reduce(Merged).await;

    cx.result("fingerprint", fingerprint.to_string());
    cx.result("cells", cells);
    cx.result("steps", step);
    cx.result("relaxations", sums.work);
    cx.result("per_step_s", sums.seconds / f64::from(step));
    cx.result(RATIO, sums.max_over_average());
    writeln!(cx.output(), "{step} steps in {:.4} s, fingerprint {fingerprint}", sums.seconds);
    if options.check {
        check(&plan, fingerprint, sums.work)?;
        writeln!(cx.output(), "every cell is the serial loop's");
    }
    Ok(())
}

/// Refuses a square that does not fit into the memory of so many processes.
fn check_memory(plan: &Plan, nodes: u32, check: bool) -> Result<(), memory::TooMuch> {
    // As they are and as they were; all of them once more in a serial loop.
    let cells = (plan.cut.grid as f64).powi(2);
    let bytes = 16.0 * cells * (1.0 / f64::from(nodes) + if check { 1.0 } else { 0.0 });
    memory::check(format!("{cells} cells"), bytes, "a smaller --grid")
}

/// Consecutive objects on each PE: a strip of the square.
fn create(plan: &Shared<Plan>) -> Array<Object> {
    let [x, y] = plan.cut.objects.map(|n| n as i32);
    Object::array((x, y)).map(Map::Block).new(plan.clone())
}

/// Of the PEs' work.
const RATIO: &str = "max_over_average_ratio";

/// Says what a stretch took.
fn tell<C: Chare>(cx: &mut Cx<C>, step: u32, figures: &[(&str, f64); 2], sums: &Sums) {
    let [(_, seconds), (_, ratio)] = figures;
    writeln!(cx.output(), "step {step}: {:.3} ms a step, work max/average {ratio:.3}", seconds * 1e3);
    for (name, value) in figures {
        cx.result(&format!("stretch_{}_{name}", sums.stretches), *value);
    }
}

fn check(plan: &Plan, fingerprint: Fingerprint, work: u64) -> Result<(), String> {
    let serial = serial::run(plan);
    if fingerprint.0 != serial.fingerprint {
        return Err("cells differ from the serial loop's".into());
    }
    if work != serial.work {
        return Err(format!("the objects relaxed {work} times, the serial loop {}", serial.work));
    }
    Ok(())
}
