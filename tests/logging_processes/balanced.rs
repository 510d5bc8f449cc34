//! Jobs that log, and whose objects are balanced, or whose lost nodes are replaced by processes that wait.

use std::process::Command;

use rustix::process::Signal;

use crate::executions::{Left, Relay};
use crate::job::{Scratch, example, run};
use crate::losses::{ROUNDS, SLOW, kill, undisturbed};
use crate::system::signal;

crate::trials::checks!(
    nodes_of_a_balanced_job_are_lost,
    a_step_is_asked_for_from_outside,
    spares_take_the_places_of_lost_nodes,
);

const HOT: &str = "--grid 44 --steps 60 --lap 30 --peak 30 --objects-per-pe 4 --sync-every 4 --check";

/// What a run of a stencil with a hot spot has come to, and its report.
fn stencil(transport: &'static str, options: &str) -> (Vec<serde_json::Value>, serde_json::Value) {
    let report = Scratch::new("report");
    let words = format!("{HOT} --report {} {options}", report.name());
    let ended = run(example("imbalance", &words, (3, 1, transport))).expect(0, &[]);
    assert!(ended.stdout.iter().any(|line| line == "every cell is the serial loop's"), "{}", ended.said());
    let text = std::fs::read_to_string(&report.0).expect("a job that ends well writes its report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("it is a report");
    let results =
        ["fingerprint", "cells", "steps", "relaxations"].map(|name| report["results"][name].clone());
    (results.into(), report)
}

fn nodes_of_a_balanced_job_are_lost() {
    for (transport, every, kills) in [
        ("tcp", "100000steps", "--kill 1@step30"),
        ("shm", "100000steps", "--kill 0@step41"),
        ("tcp", "15steps", "--kill 2@step22 --kill 0@step40"),
        ("shm", "7steps", "--kill 1@step9 --kill 1@step33"),
    ] {
        let (expected, _) = stencil(transport, "");
        let options = format!("--ft logging --ckpt-every {every} --balancer greedy {kills}");
        let (results, report) = stencil(transport, &options);
        assert_eq!(results, expected, "{options}");
        let steps = report["balancing"].as_array().expect("a list");
        let moves: u64 = steps.iter().filter_map(|step| step["moves"].as_u64()).sum();
        assert!(moves > 0, "{options}: {report}");
        let lost = report["failures"].as_array().map_or(0, Vec::len);
        assert_eq!(lost, kills.matches("--kill").count(), "{options}: {report}");
    }
}

fn a_step_is_asked_for_from_outside() {
    let shape = (3, 1, "tcp");
    let relay = Relay::start(shape, &format!("--ft logging --ckpt-every 15steps --balancer rotate {SLOW}"));
    let victim = relay.wait_for(1, 20, &[]);
    let mut ask = Command::new(env!("CARGO_BIN_EXE_talisman"));
    let asked = ask.arg("balance").arg(relay.job.launcher_pid().to_string()).output();
    let asked = asked.expect("the command is built with the tests");
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(asked.status.success() && said.contains("moved"), "{said}: {}", relay.job.said());
    signal(victim, Signal::KILL);
    let left = relay.end(0, &["it alone goes back"]);
    left.is_like(&undisturbed(shape, ""));
}

fn spares_take_the_places_of_lost_nodes() {
    for transport in ["tcp", "shm"] {
        let shape = (3, 1, transport);
        let relay = Relay::start(shape, &format!("--ft logging --ckpt-every 20steps --spares 1 {SLOW}"));
        let mut killed = Vec::new();
        // The second one has to be started.
        for round in [10, 40] {
            killed.push(relay.wait_for(1, round, &killed));
            kill(killed[killed.len() - 1]);
        }
        let left: Left = relay.end(0, &["it alone goes back", "nobody else went back"]);
        left.is_like(&undisturbed(shape, ""));
        left.went_back_to(ROUNDS, &[(1, 3)]);
    }
    // Nobody needs it in the end.
    let shape = (2, 1, "tcp");
    let left = Relay::start(shape, "--ft logging --spares 2").end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
}
