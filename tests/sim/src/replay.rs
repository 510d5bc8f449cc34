//! One case, told in full: what it is, what happened, how it ended, and the line that shows it again.

use std::fmt::Write;

use crate::case::{Again, Case};
use crate::played::Stage;
use crate::run::{Judged, judged};

/// Runs a case, twice with faults, and prints all there is to know, or of its events only the last ones of each node;
/// whether it came out right.
pub fn replay(stage: &dyn Stage, case: &Case, brief: bool) -> bool {
    let judged = judged(stage, case, true, !brief);
    println!("{}", described(case, &judged));
    judged.failures.is_empty()
}

/// The line that shows a case again.
pub fn line(case: &Case) -> String {
    format!("cargo run --release -p talisman-sim -- {}", said(case))
}

/// What is said to see a case.
pub fn said(case: &Case) -> String {
    format!("--seed {:#x}{}", case.seed, case.overrides)
}

/// A case and what became of it.
fn described(case: &Case, judged: &Judged) -> String {
    let mut text = String::new();
    let played = judged.main();
    played.log.iter().for_each(|line| writeln!(text, "{line}").expect("memory takes it"));
    write!(text, "{}", world(case, judged)).expect("memory takes it");
    let end = played.message.as_deref().unwrap_or("no message");
    let trace = played.trace.map_or("none".into(), |trace| format!("{trace:#018x}"));
    let (status, events, ms) = (played.status, played.events, played.lasted_ns as f64 / 1e6);
    writeln!(text, "end       status {status}, {end}").expect("memory takes it");
    writeln!(text, "trace     {trace}, {events} events in {ms:.3} ms").expect("memory takes it");
    writeln!(text, "happened  {:?}", played.injected).expect("memory takes it");
    writeln!(text, "hurt by   {:?}", played.hurt).expect("memory takes it");
    for again in played.jobs().skip(1) {
        let (status, ms) = (again.status, again.lasted_ns as f64 / 1e6);
        let end = again.message.as_deref().unwrap_or("no message");
        writeln!(text, "again     status {status}, {end}, {} events in {ms:.3} ms", again.events)
            .expect("memory takes it");
    }
    match judged.failures.is_empty() {
        true => writeln!(text, "right     as it should be").expect("memory takes it"),
        false => judged.failures.iter().for_each(|failure| {
            writeln!(text, "FAILED    {failure}").expect("memory takes it");
        }),
    }
    write!(text, "{}", line(case)).expect("memory takes it");
    text
}

/// What the world of a case is like.
fn world(case: &Case, judged: &Judged) -> String {
    let Case { workload, size, hosts, pes, network, schedule, limits, silence, .. } = case;
    let mut text = format!(
        "runs      {workload} of size {size}\non        hosts of {hosts:?} nodes, {pes} PEs each\n\
         network   {network:?}\nturns     {schedule:?}\nlimits    {limits:?}, silence {silence:?}\n"
    );
    let Some(plan) = &judged.plan else { return text };
    let plans = || std::iter::successors(Some(plan), |plan| plan.again.as_deref());
    for (drawn, fault) in case.all_faults().zip(plans().flat_map(|plan| &plan.faults)) {
        writeln!(text, "fault {:<3} {:?}: {:?}", drawn.number, fault.when, fault.what)
            .expect("memory takes it");
    }
    for Again { hosts, pes, survival, .. } in &case.again {
        writeln!(
            text,
            "again     on hosts of {hosts:?} nodes, {pes} PEs each, --ft {survival}, if all was lost"
        )
        .expect("memory takes it");
    }
    writeln!(text, "healed    after {:.3} ms", plan.healed_ns as f64 / 1e6).expect("memory takes it");
    text
}
