//! Jobs from whose nodes nothing leaves before their logs are kept (`--ft logging:strict`).

use crate::executions::Relay;
use crate::job::{Shape, program, run};
use crate::losses::{NO_CUTS, ROUNDS, SLOW, kill, undisturbed};

crate::trials::checks!(
    nobody_is_lost,
    each_node_is_lost_and_goes_back_alone,
    two_are_lost_at_once_that_keep_nothing_of_each_other,
    a_keeper_is_lost_and_then_its_ward,
    a_lost_node_goes_back_to_the_last_cut,
    a_program_that_breaks_the_rule_is_told,
    it_is_refused_where_logging_is,
);

fn start(shape: Shape, options: &str) -> Relay {
    Relay::start(shape, &format!("--ft logging:strict {options}"))
}

fn nobody_is_lost() {
    for (transport, words) in [("tcp", 8), ("shm", 4000), ("mixed", 8)] {
        let (shape, words) = ((3, 1, transport), format!("--words {words}"));
        let left = start(shape, &format!("{NO_CUTS} {words}")).end(0, &[]);
        left.is_like(&undisturbed(shape, &words));
        left.only_these_went_back(ROUNDS, &[]);
        assert_eq!(left.report["ft"], "logging:strict", "{}", left.ended.said());
    }
}

fn each_node_is_lost_and_goes_back_alone() {
    for (victim, transport) in [(0, "tcp"), (1, "shm"), (2, "tcp")] {
        let shape = (3, 1, transport);
        let relay = start(shape, &format!("{NO_CUTS} {SLOW}"));
        kill(relay.wait_for(victim, 20, &[]));
        let left = relay.end(0, &["it alone goes back", "nobody else went back"]);
        left.is_like(&undisturbed(shape, ""));
        left.only_these_went_back(ROUNDS, &[(victim, 2)]);
    }
}

fn two_are_lost_at_once_that_keep_nothing_of_each_other() {
    let shape = (4, 1, "tcp");
    let relay = start(shape, &format!("{NO_CUTS} {SLOW}"));
    let victims = [relay.wait_for(0, 20, &[]), relay.wait_for(2, 20, &[])];
    victims.into_iter().for_each(kill);
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(0, 2), (2, 2)]);
}

/// Node 2 keeps what node 1 was given: what node 1 sends waits for its new process.
fn a_keeper_is_lost_and_then_its_ward() {
    let shape = (3, 1, "shm");
    let relay = start(shape, &format!("{NO_CUTS} {SLOW}"));
    let keeper = relay.wait_for(2, 15, &[]);
    kill(keeper);
    let ward = relay.wait_for(1, 30, &[]);
    relay.wait_for(2, 30, &[keeper]);
    kill(ward);
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(1, 2), (2, 2)]);
}

fn a_lost_node_goes_back_to_the_last_cut() {
    for (transport, victim) in [("tcp", 1), ("shm", 0)] {
        let shape = (3, 1, transport);
        let relay = start(shape, &format!("--ckpt-every 15steps {SLOW}"));
        kill(relay.wait_for(victim, 40, &[]));
        let left = relay.end(0, &["nobody else went back"]);
        left.is_like(&undisturbed(shape, ""));
        let begins = left.went_back_to(ROUNDS, &[(victim, 2)]);
        assert!(begins[&victim][0] > 15, "{begins:?}: {}", left.ended.said());
    }
}

fn a_program_that_breaks_the_rule_is_told() {
    let relay = start((3, 1, "tcp"), &format!("{NO_CUTS} {SLOW} --breaks clock --kill 1@step18"));
    relay.end(1, &["node 1: it runs again", "sends node 2 something else"]);
}

fn it_is_refused_where_logging_is() {
    for (words, shape, texts) in [
        ("", (1, 1, "tcp"), &["needs two nodes"][..]),
        ("--max-nodes 5", (3, 1, "tcp"), &["--max-nodes: there is no such thing"]),
        ("--simulate", (3, 1, "tcp"), &["leave --simulate out"]),
    ] {
        run(program(&format!("--relay --ft logging:strict {words}"), shape)).expect(2, texts);
    }
}
