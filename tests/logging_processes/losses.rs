//! Nodes that are killed: they go back, and nobody else.

use std::sync::Arc;

use rustix::process::Signal;

use crate::executions::{Left, Relay};
use crate::job::Shape;
use crate::once::Once;
use crate::system::signal;

/// Rounds of a relay: those that are interrupted take at least this times the pause.
pub const ROUNDS: u64 = 60;
pub const SLOW: &str = "--pause-us 500";
/// More steps than there are.
pub const NO_CUTS: &str = "--ckpt-every 100000steps";

crate::trials::checks!(
    nobody_is_lost,
    one_is_lost_and_the_others_do_not_go_back,
    the_first_node_is_lost,
    the_same_node_is_lost_three_times,
    two_are_lost_at_once_that_keep_nothing_of_each_other,
    another_is_lost_while_one_goes_back,
    at_steps_as_options_ask,
    at_random_moments,
    a_process_that_is_stopped_is_lost,
);

/// A run without fault tolerance.
pub fn undisturbed(shape: Shape, options: &str) -> Arc<Left> {
    static KNOWN: Once<(Shape, String), Left> = Once::new();
    KNOWN.get((shape, options.into()), || Relay::start(shape, options).end(0, &[]))
}

/// One that goes back to its beginning.
fn start(shape: Shape, options: &str) -> Relay {
    Relay::start(shape, &format!("--ft logging {NO_CUTS} {options}"))
}

pub fn kill(pid: i32) {
    signal(pid, Signal::KILL);
}

fn nobody_is_lost() {
    for transport in ["tcp", "shm", "unix", "mixed"] {
        let shape = (3, 1, transport);
        let left = start(shape, "--words 4000").end(0, &[]);
        left.is_like(&undisturbed(shape, "--words 4000"));
        left.only_these_went_back(ROUNDS, &[]);
        assert!(left.lost().is_empty());
    }
}

fn one_is_lost_and_the_others_do_not_go_back() {
    for (transport, words) in [("tcp", 8), ("shm", 8), ("tcp", 4000), ("shm", 4000)] {
        let (shape, words) = ((3, 1, transport), format!("--words {words}"));
        let relay = start(shape, &format!("{SLOW} {words}"));
        kill(relay.wait_for(1, 20, &[]));
        let left = relay.end(0, &["it alone goes back", "nobody else went back"]);
        left.is_like(&undisturbed(shape, &words));
        left.only_these_went_back(ROUNDS, &[(1, 2)]);
        assert_eq!(left.lost(), [1]);
    }
}

fn the_first_node_is_lost() {
    for transport in ["tcp", "shm"] {
        let shape = (3, 1, transport);
        let relay = start(shape, SLOW);
        kill(relay.wait_for(0, 30, &[]));
        let left = relay.end(0, &[]);
        left.is_like(&undisturbed(shape, ""));
        left.only_these_went_back(ROUNDS, &[(0, 2)]);
    }
}

fn the_same_node_is_lost_three_times() {
    let shape = (3, 1, "shm");
    let relay = start(shape, SLOW);
    let mut killed = Vec::new();
    for round in [10, 25, 40] {
        killed.push(relay.wait_for(2, round, &killed));
        kill(killed[killed.len() - 1]);
    }
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(2, 4)]);
    assert_eq!(left.lost(), [2, 2, 2]);
}

/// Nodes 0 and 2 of four: what they were given is kept by 1 and 3.
fn two_are_lost_at_once_that_keep_nothing_of_each_other() {
    for transport in ["tcp", "shm"] {
        let shape = (4, 1, transport);
        let relay = start(shape, SLOW);
        let victims = [relay.wait_for(0, 20, &[]), relay.wait_for(2, 20, &[])];
        victims.into_iter().for_each(kill);
        let left = relay.end(0, &[]);
        left.is_like(&undisturbed(shape, ""));
        left.only_these_went_back(ROUNDS, &[(0, 2), (2, 2)]);
    }
}

/// It is not known how far the first one has come by then: it may have to begin once more.
fn another_is_lost_while_one_goes_back() {
    let shape = (5, 1, "tcp");
    let relay = start(shape, SLOW);
    let victims = [relay.wait_for(1, 20, &[]), relay.wait_for(3, 20, &[])];
    kill(victims[0]);
    relay.wait_for(1, 1, &victims[..1]);
    kill(victims[1]);
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    for survivor in [0, 2, 4] {
        assert_eq!(left.executed[&survivor].len(), 1, "{}", left.ended.said());
    }
}

fn at_steps_as_options_ask() {
    let shape = (4, 1, "mixed");
    let left = start(shape, "--kill 1@step10 --kill 3@step10 --kill 1@step40").end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(1, 3), (3, 2)]);
}

fn at_random_moments() {
    let rounds = std::env::var("TALISMAN_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let shapes = [(3, 1, "tcp"), (4, 1, "shm")];
    for nth in 0..rounds.unwrap_or(4_u32) {
        let shape = shapes[nth as usize % 2];
        let (victim, round) =
            (nth.wrapping_mul(7) % shape.0, 1 + u64::from(nth.wrapping_mul(13)) % (ROUNDS - 5));
        let relay = start(shape, SLOW);
        kill(relay.wait_for(victim, round, &[]));
        let left = relay.end(0, &[]);
        left.is_like(&undisturbed(shape, ""));
        left.only_these_went_back(ROUNDS, &[(victim, 2)]);
    }
}

fn a_process_that_is_stopped_is_lost() {
    let shape = (3, 1, "tcp");
    let relay = start(shape, &format!("{SLOW} --silence 3s"));
    signal(relay.wait_for(1, 20, &[]), Signal::STOP);
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(1, 2)]);
}
