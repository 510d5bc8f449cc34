//! Nodes that are added while the job runs (`talisman grow`): at a checkpoint, and nobody goes back for that.

use std::process::Command;
use std::thread::{self, sleep};
use std::time::Duration;

use talisman::rng::Rng;

use crate::held::{Held, Left, ROUNDS, ask};
use crate::job::{Scratch, program, run};
use crate::losses::{NO_CUTS, kill};
use crate::system::children;

crate::trials::checks!(
    nodes_are_added_and_nobody_goes_back,
    there_are_more_nodes_than_at_the_start,
    who_is_lost_when_one_was_added_goes_back_alone,
    nodes_are_lost_at_random_moments_as_one_is_added,
    the_launcher_is_lost_while_a_node_is_added,
    the_launcher_is_lost_when_a_node_was_added,
    all_go_on_from_a_disk_where_a_node_was_added,
);

/// One that was released, two at once, the first one; of several PEs; with other ways to log; objects are balanced. What is released later
/// has been added, or has not.
fn nodes_are_added_and_nobody_goes_back() {
    for (shape, options, first, later) in [
        ((3, 1, "tcp"), NO_CUTS, "1", "1"),
        ((3, 1, "shm"), "--ckpt-every 7steps --balancer greedy", "2", "0"),
        ((4, 1, "tcp"), NO_CUTS, "0", ""),
        ((4, 1, "shm"), "", "1 2", "3"),
        ((3, 2, "mixed"), NO_CUTS, "0", "1"),
        ((3, 1, "tcp"), "--ft logging:strict", "1", "2"),
        ((3, 1, "shm"), "--ft logging:ticket", "2", "2"),
    ] {
        let held = Held::start(shape, options);
        held.asks("shrink", first, (0, "the job goes on without node"));
        held.asks("grow", "", (0, "the job goes on with node"));
        held.asks("grow", "", (1, "all nodes of the job are there"));
        if !later.is_empty() {
            held.asks("shrink", later, (0, "the job goes on without node"));
            held.asks("grow", "1", (0, "the job goes on with node"));
        }
        let left = held.end(&["added; nobody goes back"]);
        left.is_like_undisturbed(shape);
        assert_eq!(left.lost(), [0_u64; 0], "{options}: {}", left.ended.said());
    }
}

/// A node is lost that was there, and one that was not.
fn there_are_more_nodes_than_at_the_start() {
    for (shape, options) in [((2, 1, "tcp"), NO_CUTS), ((2, 2, "shm"), ""), ((3, 1, "mixed"), NO_CUTS)] {
        let held = Held::start(shape, &format!("{options} --max-nodes 4"));
        held.asks("grow", "3", (1, "3 nodes cannot be added"));
        held.asks("grow", "1", (0, &format!("the job goes on with node {}", shape.0)));
        let there = held.job.nodes(shape.0 as usize + 1);
        kill(there[shape.0 as usize]);
        held.job.wait_for_error(&format!("after the loss of node {}", shape.0));
        kill(there[0]);
        held.job.wait_for_error("after the loss of node 0");
        let left = held.end(&["nobody else went back"]);
        // What there are numbers for decides what the program does.
        left.is_like_undisturbed((4, shape.1, shape.2));
        assert_eq!(left.lost(), [shape.0.into(), 0], "{}", left.ended.said());
    }
}

/// The one that was added, who had acted for it, its keeper, and another.
fn who_is_lost_when_one_was_added_goes_back_alone() {
    for (shape, victim) in
        [((4, 1, "tcp"), 3), ((4, 1, "shm"), 1), ((4, 1, "tcp"), 2), ((3, 2, "shm"), 2), ((4, 1, "shm"), 0)]
    {
        let held = Held::start(shape, NO_CUTS);
        held.asks("shrink", "1", (0, "the job goes on without node 1"));
        held.asks("grow", "", (0, "the job goes on with node 1"));
        // In the order in which they were started.
        let there = held.job.nodes(shape.0 as usize);
        kill(there[victim]);
        let left = held.end(&["it alone goes back", "nobody else went back"]);
        left.is_like_undisturbed(shape);
        let number = [0, 2, 3, 1][victim + usize::from(shape.0 == 3 && victim == 2)];
        assert_eq!(left.lost(), [number], "{}", left.ended.said());
    }
}

/// `TALISMAN_TEST_ROUNDS` says how often.
fn nodes_are_lost_at_random_moments_as_one_is_added() {
    let rounds = std::env::var("TALISMAN_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let mut rng = Rng::new(5);
    for nth in 0..rounds.unwrap_or(9_u32) {
        let shape = [(4, 1, "tcp"), (4, 1, "shm"), (3, 2, "tcp")][nth as usize % 3];
        let held = Held::start(shape, NO_CUTS);
        let (launcher, gone) = (held.job.launcher_pid(), nth % shape.0);
        held.asks("shrink", &gone.to_string(), (0, "the job goes on without node"));
        let before = held.job.nodes(shape.0 as usize - 1);
        let asking = thread::spawn(move || ask(launcher, "grow", ""));
        sleep(Duration::from_micros(rng.below(120_000)));
        // Of each three the new one, if it is there by then.
        let new = children(launcher).into_iter().find(|pid| !before.contains(pid)).filter(|_| nth % 3 == 0);
        let victim = new.unwrap_or(before[rng.below(before.len() as u64) as usize]);
        _ = Command::new("kill").args(["-9", &victim.to_string()]).output();
        let asked = asking.join().expect("it asks");
        let text = String::from_utf8_lossy(&asked.stdout).into_owned();
        let is_done = asked.status.success() && text.contains("the job goes on with node");
        let is_given_up = String::from_utf8_lossy(&asked.stderr).contains("did not join");
        assert!(is_done || is_given_up && new.is_some(), "round {nth}: {asked:?}: {}", held.job.said());
        held.end(&[]).is_like_undisturbed(shape);
    }
}

/// It may have told of it, or not: either way the job goes on.
fn the_launcher_is_lost_while_a_node_is_added() {
    let mut rng = Rng::new(3);
    for nth in 0..6_u32 {
        let shape = [(4, 1, "tcp"), (4, 1, "shm")][nth as usize % 2];
        let held = Held::start(shape, NO_CUTS);
        held.asks("shrink", &(nth % 4).to_string(), (0, "the job goes on without node"));
        let launcher = held.job.launcher_pid();
        let asking = thread::spawn(move || ask(launcher, "grow", ""));
        sleep(Duration::from_micros(rng.below(120_000)));
        kill(launcher);
        _ = asking.join();
        held.end_without_launcher().is_like_undisturbed(shape);
    }
}

/// Another node leads then, and a node is lost, which goes back to a line in which more are.
fn the_launcher_is_lost_when_a_node_was_added() {
    for (shape, gone) in [((4, 1, "tcp"), "0"), ((4, 1, "shm"), "2")] {
        let held = Held::start(shape, NO_CUTS);
        held.asks("shrink", gone, (0, "the job goes on without node"));
        held.asks("grow", "", (0, "the job goes on with node"));
        let new = held.job.nodes(4)[3];
        kill(held.job.launcher_pid());
        held.job.wait_for_error("leads now");
        kill(new);
        let left = held.end_without_launcher();
        left.is_like_undisturbed(shape);
        assert_eq!(left.lost(), [gone.parse::<u64>().expect("a number")], "{}", left.ended.said());
    }
}

/// The line that begins with more nodes is written by these, and so is the next one.
fn all_go_on_from_a_disk_where_a_node_was_added() {
    for (cuts, shape) in [(0, (4, 1, "tcp")), (1, (4, 1, "shm"))] {
        let folder = Scratch::new("parts");
        let options = format!("{NO_CUTS} --ckpt-dir {}", folder.name());
        let held = Held::start(shape, &options);
        held.asks("shrink", "2", (0, "the job goes on without node 2"));
        held.asks("grow", "", (0, "the job goes on with node 2"));
        // The first is that of the line, which is on disk once that is said.
        for _ in 0..=cuts {
            held.asks("checkpoint", "", (0, "is taken; after the loss of all nodes: --restart"));
        }
        let there = held.job.nodes(4);
        // The launcher first: nobody is to be replaced, nor to end in order, which would clear the folder.
        kill(held.job.launcher_pid());
        there.into_iter().for_each(kill);
        held.let_go();
        let report = Scratch::new("report");
        let words = format!("--ft logging {ROUNDS} --restart {} --report {}", folder.name(), report.name());
        let left = Left::of(run(program(&words, shape)).expect(0, &["goes on from"]), &report);
        let expected = left.reports_what_is_right(shape);
        let are_known = left.lines.iter().all(|line| expected.lines.contains(line));
        assert!(are_known && !left.lines.is_empty(), "{}", left.ended.said());
    }
}
