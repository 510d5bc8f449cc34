//! What falls outside of the promise, and options that cannot be: the job ends, and says why.

use rustix::process::Signal;

use crate::executions::Relay;
use crate::job::{program, run};
use crate::losses::{NO_CUTS, SLOW};
use crate::system::signal;

crate::trials::checks!(
    a_node_that_is_lost_with_its_keeper_is_the_end,
    what_is_lost_with_its_keeper_is_counted,
    a_panic_ends_the_job_with_what_was_said_before,
    a_process_that_aborts_again_and_again_ends_the_job,
    programs_that_break_the_rule_are_told,
    programs_that_break_the_rule_are_told_where_nobody_is_lost,
    options_that_cannot_be,
);

/// Another process has another clock, another order of hash maps, another number: the first thing that it sends again is another.
fn programs_that_break_the_rule_are_told() {
    for breaks in ["clock", "hash", "pid"] {
        for cuts in [NO_CUTS, "--ckpt-every 10steps"] {
            let options = format!("--ft logging {cuts} {SLOW} --breaks {breaks} --kill 1@step18");
            let relay = Relay::start((3, 1, "tcp"), &options);
            relay.end(
                1,
                &[
                    "node 1: it runs again",
                    "sends node 2 something else",
                    "Runner[2]",
                    "Runner::take` for",
                    "as many bytes, and others",
                ],
            );
        }
    }
}

/// With a check at the next checkpoint: what each node does again there has another clock, and other hash maps.
fn programs_that_break_the_rule_are_told_where_nobody_is_lost() {
    for (variant, pes, breaks) in [
        ("logging", 1, "clock"),
        ("logging", 2, "hash"),
        ("logging:strict", 1, "hash"),
        ("logging:ticket", 1, "clock"),
    ] {
        let options = format!("--ft {variant} --ft-check --ckpt-every 10steps --breaks {breaks}");
        let relay = Relay::start((3, pes, "tcp"), &options);
        relay.end(1, &["the twin of node", "begins with the image of line 0", "Runner["]);
    }
}

fn a_node_that_is_lost_with_its_keeper_is_the_end() {
    let relay = Relay::start((4, 1, "tcp"), &format!("--ft logging {NO_CUTS} --pause-us 500"));
    let victims = [relay.wait_for(1, 20, &[]), relay.wait_for(2, 20, &[])];
    victims.into_iter().for_each(|pid| signal(pid, Signal::STOP));
    victims.into_iter().for_each(|pid| signal(pid, Signal::KILL));
    let texts = [
        "node 1 is lost with node 2",
        "the job cannot go on",
        "all objects of node 1 are lost",
        "nodes 1 and 2",
    ];
    relay.end(3, &texts);
}

/// It is known what each part of the last checkpoint had.
fn what_is_lost_with_its_keeper_is_counted() {
    let relay = Relay::start((4, 2, "tcp"), "--ft logging --ckpt-every 10steps --pause-us 500");
    let victims = [relay.wait_for(2, 25, &[]), relay.wait_for(4, 25, &[])];
    victims.into_iter().for_each(|pid| signal(pid, Signal::STOP));
    victims.into_iter().for_each(|pid| signal(pid, Signal::KILL));
    relay.end(3, &["node 1 is lost with node 2", "2 of group", "held by nodes 1 and 2"]);
}

fn a_panic_ends_the_job_with_what_was_said_before() {
    let relay = Relay::start((3, 1, "shm"), "--ft logging --panic-at 20 --kill 1@step10");
    let left = relay.end(1, &["enough of it"]);
    let said = |round| left.lines.iter().any(|line| line.starts_with(&format!("runner 1 in round {round}:")));
    assert!(said(19) && !said(20), "{}", left.ended.said());
}

fn a_process_that_aborts_again_and_again_ends_the_job() {
    let relay = Relay::start((3, 1, "tcp"), "--ft logging --abort-at 20");
    let left = relay.end(3, &["the job came no further"]);
    // What others still print after the first time counts as progress.
    assert!((4..=6).contains(&left.executed[&1].len()), "{}", left.ended.said());
    assert_eq!(left.executed[&0].len(), 1, "{}", left.ended.said());
}

fn options_that_cannot_be() {
    for (words, shape, texts) in [
        ("--ft logging:x", (3, 1, "tcp"), &["logging:x", "off, double, disk, logging"][..]),
        ("--ft loging", (3, 1, "tcp"), &["loging", "'logging'"]),
        ("--ft logging", (1, 1, "tcp"), &["needs two nodes"]),
        ("--ft logging --simulate", (3, 1, "tcp"), &["leave --simulate out"]),
        ("--ft logging --max-nodes 2", (3, 1, "tcp"), &["--max-nodes 2: the job begins with more"]),
        ("--ft logging --log-budget 0", (3, 1, "tcp"), &["--log-budget", "64KiB"]),
        ("--ft logging --log-budget 10x", (3, 1, "tcp"), &["--log-budget", "64KiB"]),
        ("--ft logging --log-budget 1MiB", (3, 1, "tcp"), &["--log-budget 1048576", "2097152"]),
        ("--ft double --log-budget 1GiB", (3, 1, "tcp"), &["--log-budget", "--ft logging"]),
        ("--ft double --ft-check", (3, 1, "tcp"), &["--ft-check", "--ft logging"]),
    ] {
        run(program(&format!("--relay {words}"), shape)).expect(2, texts);
    }
}
