//! Jobs whose launcher is killed, and that one of their nodes leads to the end.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::job::{Shape, until};
use crate::subjects::{GARDEN, LEANMD, Left, ROUNDS, Run, Subject};
use crate::system::{signal, state};

/// No checkpoint but those after a recovery.
const NEVER: &str = "--ckpt-every 1h";
/// Long enough for several losses.
const SLOW: Subject = Subject::of_this("--rounds 80");

pub fn the_launcher_between_two_checkpoints() {
    for (nodes, transport) in [(2, "shm"), (4, "tcp"), (3, "mixed")] {
        let shape = (nodes, 1, transport);
        let expected = ROUNDS.undisturbed(shape);
        let run = begin(ROUNDS, shape, "--ckpt-every 4steps");
        run.job.wait_for("at 14");
        signal(run.job.launcher_pid(), Signal::KILL);
        led_by(&run.survives_its_launcher(&expected), &[0]);
    }
}

pub fn the_launcher_before_the_first_checkpoint() {
    for transport in ["tcp", "shm"] {
        let shape = (3, 2, transport);
        let expected = ROUNDS.undisturbed(shape);
        let run = begin(ROUNDS, shape, NEVER);
        run.job.wait_for("at 5");
        signal(run.job.launcher_pid(), Signal::KILL);
        let left = run.survives_its_launcher(&expected);
        led_by(&left, &[0]);
        assert!(left.failures[0]["version"].is_null(), "{:?}", left.failures);
    }
}

pub fn the_launcher_and_the_first_node_at_once() {
    for transport in ["mixed", "tcp"] {
        let shape = (4, 1, transport);
        let expected = ROUNDS.undisturbed(shape);
        let run = begin(ROUNDS, shape, "--ckpt-every 4steps");
        let nodes = run.job.nodes(4);
        run.job.wait_for("at 14");
        signal(run.job.launcher_pid(), Signal::KILL);
        signal(nodes[0], Signal::KILL);
        let left = run.survives_its_launcher(&expected);
        // The first node may have got to say that it leads.
        let told = left.ended.stderr.iter().filter(|line| line.ends_with("node 1 leads now")).count();
        assert_eq!(told, 1, "{}", left.ended.said());
        let lost: Vec<_> = left.failures.iter().map(|failure| failure["node"].as_u64()).collect();
        assert_eq!(lost, [None, Some(0)], "{}", left.ended.said());
    }
}

/// Until one node is left, which leads itself.
pub fn one_leader_after_another() {
    let shape = (4, 1, "shm");
    let expected = SLOW.undisturbed(shape);
    let run = begin(SLOW, shape, "--ckpt-every 3steps --ft-log");
    let nodes = run.job.nodes(4);
    run.job.wait_for("at 10");
    signal(run.job.launcher_pid(), Signal::KILL);
    for (node, pid) in nodes.into_iter().enumerate().take(3) {
        run.job.wait_for_error(&format!("node {node} leads now"));
        // Then both copies of everything are there again.
        run.job.wait_for_error_after(&format!("{} nodes went back", 4 - node), "committed after");
        signal(pid, Signal::KILL);
    }
    led_by(&run.survives_its_launcher(&expected), &[0, 1, 2, 3]);
}

/// While the others halt, restore, or make lost copies again.
pub fn the_launcher_during_a_recovery() {
    let mut rng = Rng::new(15);
    for round in 0..6 {
        let shape = (4, 1, ["tcp", "shm", "mixed"][round % 3]);
        let expected = ROUNDS.undisturbed(shape);
        let run = begin(ROUNDS, shape, "--ckpt-every 4steps");
        let nodes = run.job.nodes(4);
        run.job.wait_for("at 14");
        signal(nodes[rng.below(4) as usize], Signal::KILL);
        sleep(Duration::from_micros(rng.below(20_000)));
        signal(run.job.launcher_pid(), Signal::KILL);
        run.survives_its_launcher(&expected);
    }
}

/// They are there, and do not answer: they are killed.
pub fn nodes_and_launchers_that_are_stopped_are_fenced() {
    let mut rng = Rng::new(16);
    let shape = (4, 1, "tcp");
    let expected = ROUNDS.undisturbed(shape);
    let options = "--ckpt-every 4steps --silence 1s";
    for stopped in [0, 2] {
        let run = begin(ROUNDS, shape, options);
        let nodes = run.job.nodes(4);
        run.job.wait_for("at 12");
        signal(run.job.launcher_pid(), Signal::KILL);
        // It leads, or is about to.
        sleep(Duration::from_micros(rng.below(10_000)));
        signal(nodes[stopped], Signal::STOP);
        run.survives_its_launcher(&expected);
    }
    let run = begin(SLOW, shape, options);
    let nodes = run.job.nodes(4);
    run.job.wait_for("at 12");
    signal(run.job.launcher_pid(), Signal::KILL);
    run.job.wait_for_error("node 0 leads now");
    signal(nodes[0], Signal::STOP);
    led_by(&run.survives_its_launcher(&SLOW.undisturbed(shape)), &[0, 1]);
    let run = begin(ROUNDS, shape, options);
    run.job.wait_for("at 12");
    signal(run.job.launcher_pid(), Signal::STOP);
    led_by(&run.survives_its_launcher(&expected), &[0]);
}

/// The system sends SIGHUP to all then, and wakes those that are stopped.
pub fn the_launcher_of_a_job_with_a_node_that_is_stopped() {
    let shape = (3, 1, "shm");
    let expected = ROUNDS.undisturbed(shape);
    for stopped in [0, 2] {
        let run = begin(ROUNDS, shape, "--ckpt-every 4steps --silence 1s");
        let nodes = run.job.nodes(3);
        run.job.wait_for("at 12");
        signal(nodes[stopped], Signal::STOP);
        until(|| (state(nodes[stopped]) == Some('T')).then_some(()));
        signal(run.job.launcher_pid(), Signal::KILL);
        run.survives_its_launcher(&expected);
    }
}

/// What else may happen to a job happens to one that has lost its launcher.
pub fn other_losses_and_ends_without_the_launcher() {
    let shape = (4, 1, "mixed");
    let expected = SLOW.undisturbed(shape);
    let run = begin(SLOW, shape, "--ckpt-every 4steps --kill 2@step40 --kill 0@step50");
    run.job.wait_for("at 12");
    signal(run.job.launcher_pid(), Signal::KILL);
    led_by(&run.survives_its_launcher(&expected), &[0, 1]);

    let orphaned = |subject, options: &str| {
        let run = begin(subject, shape, &format!("--ckpt-every 4steps {options}"));
        let nodes = run.job.nodes(4);
        run.job.wait_for("at 12");
        signal(run.job.launcher_pid(), Signal::KILL);
        (run, nodes)
    };
    let (run, _) = orphaned(SLOW, "--panic-at 30");
    let left = run.ends_without_its_launcher();
    assert_eq!(left.status, Some(1), "{}", left.ended.said());
    assert!(left.ended.stderr.iter().any(|line| line.contains("enough of it")), "{}", left.ended.said());
    let (run, nodes) = orphaned(Subject::of_this("--rounds 100000"), "");
    run.job.wait_for_error("leads now");
    signal(nodes[3], Signal::TERM);
    assert_eq!(run.ends_without_its_launcher().status, Some(143));
}

pub fn the_launcher_of_other_programs_and_on_disk() {
    for (subject, at) in [(GARDEN, "at 6"), (LEANMD, "")] {
        let shape = (3, 1, "shm");
        let expected = subject.undisturbed(shape);
        for ft in ["double", "disk"] {
            let run = subject.start(shape, &format!("--ft {ft} --ckpt-every 4steps --ft-log"));
            run.job.wait_for_error("committed after");
            run.job.wait_for(at);
            signal(run.job.launcher_pid(), Signal::KILL);
            run.survives_its_launcher(&expected);
        }
    }
}

fn begin(subject: Subject, shape: Shape, options: &str) -> Run {
    subject.start(shape, &format!("--ft double {options}"))
}

/// These nodes led, one after another, as people were told; the last one reports that the launcher before it was lost.
#[track_caller]
fn led_by(left: &Left, leaders: &[u32]) {
    let said = |node: &u32| format!("the launcher is gone; node {node} leads now");
    let told: Vec<_> = left.ended.stderr.iter().filter(|line| line.contains("leads now")).collect();
    assert_eq!(told.len(), leaders.len(), "{}", left.ended.said());
    for (told, leader) in told.iter().zip(leaders) {
        assert!(told.ends_with(&said(leader)), "{}", left.ended.said());
    }
    let launchers: Vec<_> = left.failures.iter().filter(|failure| failure["node"].is_null()).collect();
    assert_eq!(launchers.len(), 1, "{:?}", left.failures);
    assert_eq!(launchers[0]["what"], said(leaders.last().expect("somebody led")).as_str());
}
