//! Nodes that are released while the job runs (`talisman shrink`): at a checkpoint, and nobody goes back for that.

use std::process::Command;
use std::thread::{self, sleep};
use std::time::Duration;

use talisman::rng::Rng;

use crate::held::{Held, Left, ROUNDS, ask};
use crate::job::{Scratch, program, run};
use crate::losses::{NO_CUTS, kill};

crate::trials::checks!(
    nodes_are_released_and_nobody_goes_back,
    who_is_lost_when_one_was_released_goes_back_alone,
    nodes_are_lost_at_random_moments_of_a_release,
    the_launcher_is_lost_while_a_node_is_released,
    the_launcher_is_lost_when_a_node_was_released,
    all_go_on_from_a_disk_where_a_node_was_released,
    what_cannot_be_released_stays,
);

/// One, two one after the other, two at once, the first one; of several PEs; with other ways to log; objects are balanced.
fn nodes_are_released_and_nobody_goes_back() {
    for (shape, options, released) in [
        ((3, 1, "tcp"), NO_CUTS, &["1"][..]),
        ((3, 1, "shm"), "--ckpt-every 7steps --balancer greedy", &["2"]),
        ((4, 1, "tcp"), NO_CUTS, &["0", "3"]),
        ((4, 1, "shm"), "", &["1 2"]),
        ((3, 2, "mixed"), NO_CUTS, &["0"]),
        ((3, 1, "tcp"), "--ft logging:strict", &["1"]),
        ((3, 1, "shm"), "--ft logging:ticket", &["2"]),
    ] {
        let held = Held::start(shape, options);
        for nodes in released {
            held.asks("shrink", nodes, (0, "the job goes on without node"));
        }
        let left = held.end(&["the job goes on without node", "nobody went back"]);
        left.is_like_undisturbed(shape);
        assert_eq!(left.lost(), [0_u64; 0], "{options}: {}", left.ended.said());
    }
}

/// Who has taken it over, its keeper, and another.
fn who_is_lost_when_one_was_released_goes_back_alone() {
    for (shape, victim) in
        [((4, 1, "tcp"), 2), ((4, 1, "shm"), 3), ((4, 1, "tcp"), 0), ((3, 2, "shm"), 2), ((3, 1, "tcp"), 0)]
    {
        let held = Held::start(shape, NO_CUTS);
        held.asks("shrink", "1", (0, "the job goes on without node 1"));
        kill(held.nodes[victim]);
        let left = held.end(&["it alone goes back", "nobody else went back"]);
        left.is_like_undisturbed(shape);
        assert_eq!(left.lost(), [victim as u64], "{}", left.ended.said());
    }
}

/// `TALISMAN_TEST_ROUNDS` says how often.
fn nodes_are_lost_at_random_moments_of_a_release() {
    let rounds = std::env::var("TALISMAN_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let mut rng = Rng::new(7);
    for nth in 0..rounds.unwrap_or(8_u32) {
        let shape = [(4, 1, "tcp"), (4, 1, "shm"), (3, 2, "tcp")][nth as usize % 3];
        let held = Held::start(shape, NO_CUTS);
        let (launcher, released) = (held.job.launcher_pid(), nth % shape.0);
        let asking = thread::spawn(move || ask(launcher, "shrink", &released.to_string()));
        sleep(Duration::from_micros(rng.below(40_000)));
        let victim = held.nodes[rng.below(u64::from(shape.0)) as usize];
        // It may have been released, and be gone.
        _ = Command::new("kill").args(["-9", &victim.to_string()]).output();
        let asked = asking.join().expect("it asks");
        let text = String::from_utf8_lossy(&asked.stdout).into_owned();
        let is_done = asked.status.success() && text.contains("the job goes on without node");
        // Who is lost, and not back yet, cannot be released.
        let is_away = String::from_utf8_lossy(&asked.stderr).contains("is not there");
        assert!(is_done || is_away, "round {nth}: {asked:?}: {}", held.job.said());
        held.end(&[]).is_like_undisturbed(shape);
    }
}

/// It may have told of it, or not: either way the job goes on.
fn the_launcher_is_lost_while_a_node_is_released() {
    let mut rng = Rng::new(11);
    for nth in 0..4_u32 {
        let shape = [(4, 1, "tcp"), (4, 1, "shm")][nth as usize % 2];
        let held = Held::start(shape, NO_CUTS);
        let launcher = held.job.launcher_pid();
        let asking = thread::spawn(move || ask(launcher, "shrink", &(nth % 4).to_string()));
        sleep(Duration::from_micros(rng.below(30_000)));
        kill(launcher);
        _ = asking.join();
        held.end_without_launcher().is_like_undisturbed(shape);
    }
}

/// Another node leads then, and a node is lost, which goes back to a line in which fewer are.
fn the_launcher_is_lost_when_a_node_was_released() {
    for (shape, released) in [((4, 1, "tcp"), "0"), ((4, 1, "shm"), "2")] {
        let held = Held::start(shape, NO_CUTS);
        held.asks("shrink", released, (0, "the job goes on without node"));
        kill(held.job.launcher_pid());
        held.job.wait_for_error("leads now");
        kill(held.nodes[3]);
        let left = held.end_without_launcher();
        left.is_like_undisturbed(shape);
        assert_eq!(left.lost(), [3], "{}", left.ended.said());
    }
}

/// The line that begins with fewer nodes is written by these.
fn all_go_on_from_a_disk_where_a_node_was_released() {
    for (again, shape) in [("tcp", (4, 1, "tcp")), ("shm", (4, 1, "shm"))] {
        let folder = Scratch::new("parts");
        let options = format!("{NO_CUTS} --ckpt-dir {}", folder.name());
        let held = Held::start(shape, &options);
        held.asks("shrink", "2", (0, "the job goes on without node 2"));
        held.asks("checkpoint", "", (0, "is taken; after the loss of all nodes: --restart"));
        // The launcher first: nobody is to be replaced, nor to end in order, which would clear the folder.
        kill(held.job.launcher_pid());
        held.nodes.iter().enumerate().filter(|(node, _)| *node != 2).for_each(|(_, pid)| kill(*pid));
        held.let_go();
        let report = Scratch::new("report");
        let words = format!("--ft logging {ROUNDS} --restart {} --report {}", folder.name(), report.name());
        let left = Left::of(run(program(&words, (3, 1, again))).expect(0, &["goes on from"]), &report);
        let expected = left.reports_what_is_right(shape);
        let are_known = left.lines.iter().all(|line| expected.lines.contains(line));
        assert!(are_known && !left.lines.is_empty(), "{}", left.ended.said());
    }
}

fn what_cannot_be_released_stays() {
    let shape = (2, 1, "tcp");
    let held = Held::start(shape, NO_CUTS);
    held.asks("shrink", "1", (1, "needs two nodes"));
    held.asks("shrink", "7", (1, "node 7 is not there"));
    held.asks("shrink", "0 1", (1, "without any node"));
    held.asks("grow", "", (1, "all nodes of the job are there"));
    let left = held.end(&[]);
    left.is_like_undisturbed(shape);
    assert_eq!(left.lost(), [0_u64; 0]);
}
