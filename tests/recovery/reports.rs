//! What the report and the terminal say of losses, of checkpoints, and of load balancing after them.

use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::asking::{ask, said};
use crate::held::begin;
use crate::subjects::{LONG, Left, NEVER, SAVED};
use crate::system::signal;

/// The times that are known of a job that goes on.
const TIMES: [&str; 6] = ["detect_s", "halt_s", "recover_s", "replicate_s", "degraded_s", "balance_s"];

/// The program waits for checkpoints in rounds 8, 16 and 24: all goes back to those, and is held twice again by the next one.
pub fn a_job_with_two_losses_tells_all_of_them() {
    let shape = (4, 1, "mixed");
    let expected = SAVED.undisturbed(shape);
    let kills = "--kill 1@step10 --kill 3@step18";
    let options = format!("{NEVER} --respawn --balancer rotate --ft-log --lb-log {kills}");
    let left = SAVED.survives(shape, &options, &expected);

    let (failures, checkpoints) = (&left.failures, list(&left, "checkpoints"));
    // Whoever waited for the checkpoint that all go back to waits for one again.
    let triggers = ["request", "request", "failure", "request", "request", "failure", "request"];
    assert_eq!(words(checkpoints, "trigger"), triggers);
    assert_eq!(left.losses, [(1, true), (3, true)]);
    for (failure, (node, step, version)) in
        failures.iter().zip([(1, 10, &checkpoints[0]["version"]), (3, 18, &checkpoints[3]["version"])])
    {
        assert_eq!((&failure["detected"], &failure["detect_exact"]), (&"exit".into(), &true.into()));
        assert_eq!((&failure["version"], &failure["steps_redone"]), (version, &2.into()), "{failure}");
        assert_eq!(failure["nodes_left"], 4, "{failure}");
        assert!(TIMES.iter().all(|name| second(failure, name) >= 0.0), "{failure}");
        assert!(second(failure, "halt_s") <= second(failure, "recover_s"), "{failure}");
        assert_eq!(failure["degraded_s"], failure["replicate_s"]);
        let what = format!("was killed, as --kill {node}@step{step} asked");
        assert!(failure["what"].as_str().is_some_and(|told| told.contains(&what)), "{failure}");
        once(&left, &[&format!("node {node} (pid"), &format!("{what}; the others go back")]);
        once(
            &left,
            &[&gone_back(4, version), &after(node), &format!("node {node} in a new process"), DEGRADED],
        );
    }
    assert!(second(&failures[0], "at_s") < second(&failures[1], "at_s"), "{failures:?}");

    for checkpoint in checkpoints {
        let [version, trigger, objects, bytes] =
            ["version", "trigger", "objects", "bytes"].map(|name| &checkpoint[name]);
        assert!(objects.as_u64() > Some(24) && bytes.as_u64() > Some(24 * 2100 * 8), "{checkpoint}");
        assert!(second(checkpoint, "blocked_s") <= second(checkpoint, "commit_s"), "{checkpoint}");
        let trigger = trigger.as_str().expect("it is a word");
        once(
            &left,
            &[&format!("checkpoint {version} ({trigger}): {objects} objects, {bytes} bytes; blocked")],
        );
    }
    let rises = |name| checkpoints.windows(2).all(|two| second(&two[0], name) < second(&two[1], name));
    assert!(rises("version") && rises("at_s"), "{checkpoints:?}");
    is_balanced_after_each(&left, 4);
}

/// The job is balanced all the same, by the nodes that are left.
pub fn losses_without_replacement() {
    let shape = (4, 1, "tcp");
    let expected = SAVED.undisturbed(shape);
    let options = format!("{NEVER} --balancer rotate --lb-log --kill 1@step10");
    let left = SAVED.survives(shape, &options, &expected);
    let [failure] = &left.failures[..] else { panic!("{:?}", left.failures) };
    assert_eq!((&failure["replaced"], &failure["nodes_left"]), (&false.into(), &3.into()), "{failure}");
    once(&left, &[&gone_back(3, &failure["version"]), &after(1), DEGRADED]);
    is_balanced_after_each(&left, 3);
}

/// Nobody holds anything for a node that is alone: the job is degraded to its end.
pub fn one_node_holds_nothing_twice() {
    let shape = (2, 1, "shm");
    let expected = SAVED.undisturbed(shape);
    let left = SAVED.survives(shape, &format!("{NEVER} --kill 0@step10"), &expected);
    let [failure] = &left.failures[..] else { panic!("{:?}", left.failures) };
    assert_eq!((&failure["nodes_left"], &failure["replicate_s"]), (&1.into(), &Value::Null), "{failure}");
    assert_eq!(failure["balance_s"], Value::Null, "there is no balancer");
    assert!(second(failure, "degraded_s") >= second(failure, "recover_s"), "{failure}");
    assert!(!list(&left, "checkpoints").is_empty(), "{}", left.report);
    once(&left, &["1 node went back to checkpoint", &after(0), "; nothing is held twice any more"]);
}

/// Without `--ckpt-every`, the job finds out itself when they are due; others are asked for.
pub fn why_there_were_checkpoints() {
    let shape = (3, 1, "shm");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, "--ft-log");
    let nodes = held.run.job.nodes(3);
    held.run.job.wait_for_error("(auto)");
    said(&ask(&held.run, "checkpoint", ""), 0, "is taken");
    signal(nodes[2], Signal::KILL);
    held.wait_until_held_twice(" went back to ");
    let left = held.survives(&expected);
    let triggers = words(list(&left, "checkpoints"), "trigger");
    for trigger in ["auto", "asked", "failure"] {
        assert!(triggers.contains(&trigger), "{triggers:?}");
    }
    assert_eq!(left.failures[0]["detect_exact"], false, "nobody knows just when somebody else killed it");
}

/// Nobody asks for that, and a variable can say that it is not wanted.
pub fn each_checkpoint_is_told_on_a_terminal() {
    let shape = (3, 1, "shm");
    for (log, is_told) in [(None, true), (Some("0"), false)] {
        let options = format!("--ft double {NEVER} --kill 1@step10");
        let run = SAVED.start_by(shape, &options, |command| on_a_terminal(&command, log));
        let left = run.end();
        let shown = left.ended.stdout.join("\n");
        assert!(shown.contains("the others go back"), "{shown}");
        for checkpoint in list(&left, "checkpoints") {
            let line = format!(
                "checkpoint {} ({}): ",
                checkpoint["version"],
                checkpoint["trigger"].as_str().expect("it is a word")
            );
            assert_eq!(shown.matches(&line).count(), usize::from(is_told), "{line}: {shown}");
        }
    }
}

/// The command with a terminal of its own, whose lines are on standard output.
fn on_a_terminal(command: &Command, log: Option<&str>) -> Command {
    const RUN: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut terminal = Command::new("python3");
    terminal.args(["-c", RUN]).arg(command.get_program()).args(command.get_args());
    command.get_envs().for_each(|(name, _)| {
        terminal.env_remove(name);
    });
    terminal.envs(log.map(|log| ("TALISMAN_FT_LOG", log))).stdin(Stdio::null());
    terminal
}

const DEGRADED: &str = "; degraded until the next checkpoint";

fn gone_back(nodes: u32, version: &Value) -> String {
    format!("{nodes} nodes went back to checkpoint {version} in ")
}

fn after(node: u32) -> String {
    format!(" ms after the loss of node {node}")
}

/// One step after each loss, which has moved objects, on so many PEs.
#[track_caller]
fn is_balanced_after_each(left: &Left, pes: u32) {
    let steps = list(left, "balancing");
    assert_eq!(words(steps, "trigger"), vec!["membership"; left.failures.len()], "{steps:?}");
    assert!(steps.iter().all(|step| step["pes"] == pes && step["moves"].as_u64() > Some(0)), "{steps:?}");
    for (failure, step) in left.failures.iter().zip(steps) {
        let done = second(step, "at_s") + second(step, "step_s") - second(failure, "at_s");
        assert_eq!(second(failure, "balance_s"), done, "{failure} {step}");
        let moves = format!("{} of {} objects moved", step["moves"], step["objects"]);
        let line = format!("balancing step {} (membership, rotate): ", step["number"]);
        assert!(count(left, &[&line, &moves]) > 0, "{step}: {}", left.ended.said());
    }
}

#[track_caller]
fn list<'a>(left: &'a Left, name: &str) -> &'a [Value] {
    left.report[name].as_array().expect("a report has such a list")
}

fn words<'a>(list: &'a [Value], name: &str) -> Vec<&'a str> {
    list.iter().map(|one| one[name].as_str().expect("it is a word")).collect()
}

#[track_caller]
fn second(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("no {name}: {of}"))
}

/// One line on the terminal has all of these.
#[track_caller]
fn once(left: &Left, texts: &[&str]) {
    assert_eq!(count(left, texts), 1, "{texts:?}: {}", left.ended.said());
}

fn count(left: &Left, texts: &[&str]) -> usize {
    let has_all = |line: &&String| texts.iter().all(|text| line.contains(text));
    left.ended.stderr.iter().filter(has_all).count()
}
