//! Jobs whose frames go with tickets of their receivers (`--ft logging:ticket`).

use crate::executions::Relay;
use crate::job::{Shape, program, run};
use crate::losses::{NO_CUTS, ROUNDS, SLOW, kill, undisturbed};

crate::trials::checks!(
    nobody_is_lost_that_gives_tickets,
    each_node_that_gives_tickets_is_lost_and_goes_back_alone,
    one_after_another_is_lost_also_the_same_again,
    several_pes_with_tickets,
    a_node_that_gives_tickets_goes_back_to_the_last_cut,
    two_at_once_are_one_too_many,
    who_breaks_the_rule_with_tickets_is_told,
    tickets_are_refused_where_logging_is,
);

fn start(shape: Shape, options: &str) -> Relay {
    Relay::start(shape, &format!("--ft logging:ticket {options}"))
}

fn nobody_is_lost_that_gives_tickets() {
    for (transport, words) in [("tcp", 8), ("shm", 4000), ("mixed", 8)] {
        let (shape, words) = ((3, 1, transport), format!("--words {words}"));
        let left = start(shape, &format!("{NO_CUTS} {words}")).end(0, &[]);
        left.is_like(&undisturbed(shape, &words));
        left.only_these_went_back(ROUNDS, &[]);
        assert_eq!(left.report["ft"], "logging:ticket", "{}", left.ended.said());
    }
}

fn each_node_that_gives_tickets_is_lost_and_goes_back_alone() {
    for (victim, transport) in [(0, "tcp"), (1, "shm"), (2, "tcp")] {
        let shape = (3, 1, transport);
        let relay = start(shape, &format!("{NO_CUTS} {SLOW}"));
        kill(relay.wait_for(victim, 20, &[]));
        let left = relay.end(0, &["it alone goes back", "nobody else went back"]);
        left.is_like(&undisturbed(shape, ""));
        left.only_these_went_back(ROUNDS, &[(victim, 2)]);
    }
}

/// Each when the one before has done again what it had done, and gone on.
fn one_after_another_is_lost_also_the_same_again() {
    let shape = (3, 1, "shm");
    let relay = start(shape, &format!("{NO_CUTS} {SLOW}"));
    let first = relay.wait_for(2, 15, &[]);
    kill(first);
    let second = relay.wait_for(2, 30, &[first]);
    kill(second);
    relay.wait_for(2, 45, &[first, second]);
    kill(relay.wait_for(1, 45, &[]));
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(1, 2), (2, 3)]);
}

fn several_pes_with_tickets() {
    let shape = (3, 2, "tcp");
    let relay = start(shape, &format!("{NO_CUTS} {SLOW}"));
    kill(relay.wait_for(2, 20, &[]));
    let left = relay.end(0, &["nobody else went back"]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(2, 2), (3, 2)]);
}

fn a_node_that_gives_tickets_goes_back_to_the_last_cut() {
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

/// Neither keeps anything of the other, and what they had sent each other is in an order that nobody knows any more.
fn two_at_once_are_one_too_many() {
    let relay = start((4, 1, "tcp"), &format!("{NO_CUTS} {SLOW}"));
    let victims = [relay.wait_for(0, 20, &[]), relay.wait_for(2, 20, &[])];
    victims.into_iter().for_each(kill);
    relay.end(3, &["nodes 0 and 2 were away at once", "one may be lost at a time"]);
}

fn who_breaks_the_rule_with_tickets_is_told() {
    let relay = start((3, 1, "tcp"), &format!("{NO_CUTS} {SLOW} --breaks clock --kill 1@step18"));
    relay.end(1, &["node 1: it runs again", "sends node 2 something else"]);
}

fn tickets_are_refused_where_logging_is() {
    for (words, shape, texts) in [
        ("", (1, 1, "tcp"), &["needs two nodes"][..]),
        ("--max-nodes 5", (3, 1, "tcp"), &["--max-nodes: there is no such thing"]),
        ("--simulate", (3, 1, "tcp"), &["leave --simulate out"]),
    ] {
        run(program(&format!("--relay --ft logging:ticket {words}"), shape)).expect(2, texts);
    }
}
