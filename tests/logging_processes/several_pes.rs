//! Nodes of several PEs: all of a lost node's go back, and nobody else.

use rustix::process::Signal;

use crate::examples::{of_example, survives};
use crate::executions::{Left, Relay};
use crate::job::{Shape, program};
use crate::losses::{NO_CUTS, ROUNDS, SLOW, kill, undisturbed};
use crate::system::signal;

crate::trials::checks!(
    nobody_is_lost_of_several_pes,
    all_pes_of_a_node_run_at_once,
    all_pes_of_a_node_run_at_once_when_they_run_again,
    all_pes_of_a_lost_node_go_back_together,
    several_nodes_of_several_pes_are_lost,
    several_pes_go_back_to_the_last_cut,
    several_pes_with_strict_logs,
    programs_on_several_pes,
    several_pes_that_break_the_rule_are_told,
    a_pe_of_several_that_panics_ends_the_job,
);

/// So many have gone back of these nodes, and nobody of others.
#[track_caller]
fn only_these_nodes(left: &Left, shape: Shape, lost: &[(u32, usize)]) {
    let runners = lost
        .iter()
        .flat_map(|(node, count)| (node * shape.1..(node + 1) * shape.1).map(move |runner| (runner, *count)));
    left.only_these_went_back(ROUNDS, &runners.collect::<Vec<_>>());
}

fn nobody_is_lost_of_several_pes() {
    for (shape, words) in [((3, 2, "tcp"), "--words 4000"), ((2, 3, "shm"), ""), ((2, 4, "mixed"), "")] {
        let left = Relay::start(shape, &format!("--ft logging {NO_CUTS} {words}")).end(0, &[]);
        left.is_like(&undisturbed(shape, words));
        only_these_nodes(&left, shape, &[]);
    }
}

/// Their entries wait for each other: on one thread none of them would ever return.
fn all_pes_of_a_node_run_at_once() {
    for (shape, options) in [
        ((2, 2, "shm"), "--ft logging"),
        ((2, 3, "tcp"), "--ft logging"),
        ((2, 2, "tcp"), "--ft logging:strict"),
    ] {
        let words = format!("--meet {} --rounds 20", shape.1);
        let left = Relay::start(shape, &format!("{options} {NO_CUTS} {words}")).end(0, &[]);
        left.is_like(&undisturbed(shape, &words));
        left.only_these_went_back(20, &[]);
    }
}

/// Also after a cut, from which all have begun anew.
fn all_pes_of_a_node_run_at_once_when_they_run_again() {
    for (options, cuts) in [("--ft logging", NO_CUTS), ("--ft logging --ckpt-every 15steps", "")] {
        let shape = (2, 2, "shm");
        let relay = Relay::start(shape, &format!("{options} {cuts} {SLOW} --meet 2"));
        kill(relay.wait_for(2, 40, &[]));
        let left = relay.end(0, &["nobody else went back"]);
        left.is_like(&undisturbed(shape, "--meet 2"));
        left.went_back_to(ROUNDS, &[(2, 2), (3, 2)]);
    }
}

fn all_pes_of_a_lost_node_go_back_together() {
    for (shape, victim, words) in
        [((3, 2, "tcp"), 1, ""), ((3, 2, "shm"), 0, "--words 4000"), ((2, 3, "shm"), 1, "")]
    {
        let relay = Relay::start(shape, &format!("--ft logging {NO_CUTS} {SLOW} {words}"));
        kill(relay.wait_for(victim * shape.1 + 1, 20, &[]));
        let left = relay.end(0, &["it alone goes back", "nobody else went back"]);
        left.is_like(&undisturbed(shape, words));
        only_these_nodes(&left, shape, &[(victim, 2)]);
    }
}

/// At once, and one of them again.
fn several_nodes_of_several_pes_are_lost() {
    let shape = (4, 2, "shm");
    let relay = Relay::start(shape, &format!("--ft logging {NO_CUTS} {SLOW}"));
    let victims = [relay.wait_for(1, 20, &[]), relay.wait_for(4, 20, &[])];
    victims.into_iter().for_each(kill);
    kill(relay.wait_for(0, 40, &victims));
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    only_these_nodes(&left, shape, &[(0, 3), (2, 2)]);
}

fn several_pes_go_back_to_the_last_cut() {
    for (shape, victim) in [((3, 2, "tcp"), 1), ((2, 2, "shm"), 0)] {
        let relay = Relay::start(shape, &format!("--ft logging --ckpt-every 15steps {SLOW}"));
        kill(relay.wait_for(victim * 2, 40, &[]));
        let left = relay.end(0, &["nobody else went back"]);
        left.is_like(&undisturbed(shape, ""));
        let begins = left.went_back_to(ROUNDS, &[(victim * 2, 2), (victim * 2 + 1, 2)]);
        for runner in [victim * 2, victim * 2 + 1] {
            assert!(begins[&runner][0] > 15, "{begins:?}: {}", left.ended.said());
        }
    }
}

fn several_pes_with_strict_logs() {
    let shape = (3, 2, "tcp");
    let relay = Relay::start(shape, &format!("--ft logging:strict {NO_CUTS} {SLOW}"));
    let victim = relay.wait_for(2, 20, &[]);
    signal(victim, Signal::KILL);
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    only_these_nodes(&left, shape, &[(1, 2)]);
}

/// With all that goes between PEs: reductions, groups of PEs and of nodes, sections, what moves and is balanced.
fn programs_on_several_pes() {
    let jacobi = "--grid 44,42,21 --block 21,21,21 --steps 60 --check";
    survives(of_example("jacobi3d", jacobi, (2, 2, "tcp")), "--kill 1@step30");
    survives(
        of_example("jacobi3d", jacobi, (3, 2, "shm")),
        "--ckpt-every 15steps --kill 0@step20 --kill 2@step50",
    );
    let leanmd = "--cells 3,3,3 --atoms-per-cell 8 --steps 40 --migrate-every 10 --check";
    survives(of_example("leanmd", leanmd, (3, 2, "shm")), "--kill 2@step25");
    survives(|words| program(words, (3, 2, "tcp")), "--kill 1@step18 --kill 0@step30");
    let tower = |words: &str| program(&format!("--tower --pendulums {words}"), (3, 2, "shm"));
    survives(tower, "--kill 1@step12");
    survives(tower, "--balancer rotate --ckpt-every 10steps --kill 0@step25");
}

fn several_pes_that_break_the_rule_are_told() {
    let options = format!("--ft logging {NO_CUTS} {SLOW} --breaks clock --kill 1@step18");
    Relay::start((3, 2, "tcp"), &options)
        .end(1, &["node 1: it runs again", "something else", "Runner::take` for"]);
}

/// On a thread that is not its node's first.
fn a_pe_of_several_that_panics_ends_the_job() {
    for options in ["", "--kill 0@step10"] {
        let options = format!("--ft logging {NO_CUTS} --panic-at 20 {options}");
        Relay::start((2, 2, "shm"), &options).end(1, &["enough of it", "Runner[1]"]);
    }
}
