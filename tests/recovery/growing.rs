//! Nodes that are added to a running job: `talisman grow`.

use std::thread::{sleep, spawn};
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::asking::{ask, said};
use crate::disk::{Folder, goes_on, kill_all};
use crate::job::until;
use crate::subjects::{LONG, NEVER, Run, TRANSPORTS};
use crate::system::{children, signal};

/// The processes of the nodes, once there are so many; the last one is the youngest.
#[track_caller]
fn nodes(run: &Run, count: usize) -> Vec<i32> {
    let launcher = run.job.launcher_pid();
    until(|| Some(children(launcher)).filter(|nodes| nodes.len() == count)).expect("so many are left")
}

/// The job loses another node afterwards: sometimes one that was added, sometimes one that holds what it has.
pub fn released_nodes_are_added_again() {
    for (transport, (gone, victim)) in TRANSPORTS.into_iter().zip([("1", 0), ("0 2", 1), ("2", 3)]) {
        let shape = (4, 2, transport);
        let expected = LONG.undisturbed(shape);
        let folder = Folder::new();
        let balancer = if victim == 0 { "" } else { "--balancer greedy" };
        let options = format!("--ft double {NEVER} {balancer} --tower --pendulums {}", folder.holding());
        let run = LONG.start(shape, &options);
        run.job.nodes(4);
        run.job.wait_for("at 9");
        said(&ask(&run, "shrink", gone), 0, "the job goes on without node");
        let grown = ask(&run, "grow", "");
        said(&grown, 0, "the job goes on with node");
        said(&grown, 0, if victim == 0 { "without --balancer, no objects" } else { "" });
        let there = nodes(&run, 4);
        said(&ask(&run, "checkpoint", ""), 0, "checkpoint");
        signal(there[victim], Signal::KILL);
        run.job.wait_for_error("after the loss of");
        folder.let_go();
        let left = run.survives(&expected);
        assert!(matches!(left.losses[..], [(_, false)]), "{}", left.ended.said());
    }
}

/// As many as are asked for, one after the other, until all are there again; none of them is the first.
pub fn lost_nodes_are_added_again() {
    for (transport, first) in TRANSPORTS.into_iter().zip([0, 2, 1]) {
        let shape = (4, 1, transport);
        let expected = LONG.undisturbed(shape);
        let folder = Folder::new();
        let run = LONG.start(shape, &format!("--ft double {NEVER} --balancer greedy {}", folder.holding()));
        let there = run.job.nodes(4);
        run.job.wait_for("at 9");
        said(&ask(&run, "checkpoint", ""), 0, "checkpoint 1 is taken");
        signal(there[first], Signal::KILL);
        run.job.wait_for_error("3 nodes went back");
        said(&ask(&run, "checkpoint", ""), 0, "is taken");
        signal(there[first + 1], Signal::KILL);
        run.job.wait_for_error("2 nodes went back");
        said(&ask(&run, "grow", "3"), 1, "3 nodes cannot be added: only nodes");
        said(&ask(&run, "grow", "1"), 0, "the job goes on with node");
        said(&ask(&run, "grow", ""), 0, "the job goes on with node");
        said(&ask(&run, "grow", ""), 1, "all nodes of the job are there");
        nodes(&run, 4);
        folder.let_go();
        let left = run.survives(&expected);
        assert_eq!(left.losses.len(), 2, "{}", left.ended.said());
    }
}

/// What both copies are lost of is told: so it is seen what the new node has. (Strategies that measure may find that a busy machine has nothing
/// to gain by a move.)
pub fn objects_move_to_nodes_that_are_added() {
    for (balancer, moves) in [("rotate", true), ("off", false)] {
        let folder = Folder::new();
        let kills = "--kill 1@step70 --kill 2@step70";
        let options =
            format!("--ft double {NEVER} --stay --balancer {balancer} --lb-log {kills} {}", folder.holding());
        let run = LONG.start((3, 1, "mixed"), &options);
        run.job.nodes(3);
        run.job.wait_for("at 9");
        said(&ask(&run, "shrink", "1"), 0, "the job goes on without node 1");
        said(&ask(&run, "grow", ""), 0, "the job goes on with node 1");
        if moves {
            run.job.wait_for_error_after("node 1 is added", "(membership");
        }
        said(&ask(&run, "checkpoint", ""), 0, "is taken");
        folder.let_go();
        let ended = run.job.end().expect(3, &["that is what node 1 ("]);
        let lost = ended.stderr.iter().find(|line| line.contains("that is what node 1 (")).expect("it was");
        assert_eq!(lost.contains("of array"), moves, "{}", ended.said());
    }
}

/// One that waits takes the place of the first that is missing, and another is started for the next.
pub fn spares_are_added() {
    let shape = (3, 1, "tcp");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let run = LONG.start(shape, &format!("--ft double {NEVER} --spares 1 {}", folder.holding()));
    let before = run.job.nodes(4);
    run.job.wait_for("at 9");
    said(&ask(&run, "shrink", "0"), 0, "the job goes on without node 0");
    said(&ask(&run, "shrink", "2"), 0, "the job goes on without node 2");
    said(&ask(&run, "grow", ""), 0, "the job goes on with nodes 0 and 2");
    let there = nodes(&run, 3);
    assert_eq!(
        there.iter().filter(|pid| before.contains(pid)).count(),
        2,
        "one that stayed and one that waited"
    );
    folder.let_go();
    run.survives(&expected);
}

/// A number that was never there is taken by one that waits, too. The job loses the others one after the other.
pub fn spares_are_added_to_those_of_the_start() {
    let shape = (2, 2, "mixed");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let options = format!("--ft double --max-nodes 4 --spares 1 {NEVER} --tower {}", folder.holding());
    let run = LONG.start(shape, &options);
    let before = run.job.nodes(3);
    run.job.wait_for("at 9");
    said(&ask(&run, "grow", "1"), 0, "the job goes on with node 2");
    assert_eq!(nodes(&run, 3), before);
    said(&ask(&run, "grow", ""), 0, "the job goes on with node 3");
    let there = nodes(&run, 4);
    said(&ask(&run, "checkpoint", ""), 0, "is taken");
    signal(before[2], Signal::KILL);
    run.job.wait_for_error("after the loss of node 2");
    said(&ask(&run, "checkpoint", ""), 0, "is taken");
    signal(there[1], Signal::KILL);
    run.job.wait_for_error("after the loss of node 1");
    folder.let_go();
    assert_eq!(run.survives(&expected).losses, [(2, false), (1, false)]);
}

/// The job begins with fewer than it may have; with one alone, too. (What sections have for members was there when they were made.)
pub fn more_nodes_than_at_the_start() {
    for (nodes, transport, victim) in [(2, "tcp", 0), (2, "shm", 2), (1, "mixed", 1)] {
        let shape = (nodes, 2, transport);
        let expected = LONG.undisturbed(shape);
        let folder = Folder::new();
        let options = format!(
            "--ft double --max-nodes 4 {NEVER} --tower --pendulums --balancer greedy {}",
            folder.holding()
        );
        let run = LONG.start(shape, &options);
        run.job.nodes(nodes as usize);
        run.job.wait_for("at 9");
        said(&ask(&run, "grow", "4"), 1, "4 nodes cannot be added: only node");
        said(&ask(&run, "grow", "1"), 0, &format!("the job goes on with node {nodes}"));
        said(&ask(&run, "checkpoint", ""), 0, "is taken");
        let there = run.job.nodes(nodes as usize + 1);
        signal(there[victim], Signal::KILL);
        run.job.wait_for_error(&format!("after the loss of node {victim}"));
        said(&ask(&run, "grow", ""), 0, &format!("the job goes on with nodes {victim}"));
        said(&ask(&run, "grow", ""), 1, "all nodes of the job are there");
        run.job.nodes(4);
        folder.let_go();
        let left = run.survives(&expected);
        assert_eq!(left.losses, [(victim as u64, false)], "{}", left.ended.said());
    }
}

/// A job that is started again on fewer nodes than it had can have them again.
pub fn nodes_from_before_are_added() {
    let shape = (4, 1, "shm");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let run = LONG.start(shape, &folder.held("--ckpt-every 5steps"));
    let there = run.job.nodes(4);
    run.job.wait_for("at 22");
    said(&ask(&run, "checkpoint", ""), 0, "--restart");
    let before = kill_all(run, &folder, there);
    folder.holding();
    let run = LONG.start((2, 1, "tcp"), &folder.restart("--ft disk"));
    run.job.nodes(2);
    run.job.wait_for("at 59");
    said(&ask(&run, "grow", ""), 0, "the job goes on with nodes 2 and 3");
    folder.let_go();
    let said_by_both = run.end().said.and_before(&before);
    assert_eq!(said_by_both, expected);
}

/// What was added is part of what is kept.
pub fn a_job_that_has_grown_is_started_again() {
    let shape = (3, 2, "shm");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let run = LONG.start(shape, &folder.held(NEVER));
    run.job.nodes(3);
    run.job.wait_for("at 9");
    said(&ask(&run, "shrink", "2"), 0, "the job goes on without node 2");
    said(&ask(&run, "grow", ""), 0, "the job goes on with node 2");
    said(&ask(&run, "checkpoint", ""), 0, "after the loss of all nodes: --restart");
    let there = nodes(&run, 3);
    let before = kill_all(run, &folder, there);
    goes_on(LONG, (4, 2, "tcp"), &folder.restart("--ft disk"), &before, &expected);
}

/// Whoever is lost while nodes are added, new ones too: the job goes on, with them or without.
pub fn lost_at_random_moments_while_nodes_are_added() {
    let mut rng = Rng::new(31);
    for round in 0..4 {
        let shape = (4, 1, TRANSPORTS[round % 3]);
        let expected = LONG.undisturbed(shape);
        let folder = Folder::new();
        let run = LONG.start(shape, &format!("--ft double --ckpt-every 4steps {}", folder.holding()));
        run.job.nodes(4);
        run.job.wait_for("at 9");
        said(&ask(&run, "shrink", "1"), 0, "the job goes on without node 1");
        nodes(&run, 3);
        // From here on everything is held twice.
        said(&ask(&run, "checkpoint", ""), 0, "is taken");
        let launcher = run.job.launcher_pid();
        let pause = Duration::from_micros(rng.below(80_000));
        let victim = rng.below(4) as usize;
        let killing = spawn(move || {
            sleep(pause);
            let there = children(launcher);
            signal(there[victim % there.len()], Signal::KILL);
        });
        let answer = ask(&run, "grow", "");
        killing.join().expect("it only kills");
        // Whoever was lost before that was asked is added too.
        said(&answer, answer.status.code().expect("it ends"), "node");
        folder.let_go();
        run.survives(&expected);
    }
}

/// Whoever was lost may be one of those that come, if it is not replaced anyway. Whoever waits may be added before the loss is known: then nobody is
/// left to take the lost node's place.
pub fn nodes_are_added_during_a_recovery() {
    let mut rng = Rng::new(33);
    for round in 0..6 {
        let shape = (3, 1, TRANSPORTS[round % 3]);
        let expected = LONG.undisturbed(shape);
        let folder = Folder::new();
        let means = ["", "--respawn", "--spares 1"][round / 2];
        let run = LONG.start(
            shape,
            &format!("--ft double --ckpt-every 4steps --max-nodes 5 {means} {}", folder.holding()),
        );
        let before = run.job.nodes(if means == "--spares 1" { 4 } else { 3 });
        run.job.wait_for("at 9");
        said(&ask(&run, "checkpoint", ""), 0, "is taken");
        signal(before[rng.below(3) as usize], Signal::KILL);
        sleep(Duration::from_micros(rng.below(60_000)));
        said(&ask(&run, "grow", "2"), 0, "the job goes on with nodes");
        let is_replaced = run.job.wait_for_error("after the loss of node").contains(" in a new process");
        assert!(means == "--spares 1" || is_replaced == (means == "--respawn"), "{}", run.job.said());
        nodes(&run, if is_replaced { 5 } else { 4 });
        folder.let_go();
        let left = run.survives(&expected);
        assert!(matches!(left.losses[..], [(_, replaced)] if replaced == is_replaced), "{:?}", left.losses);
    }
}
