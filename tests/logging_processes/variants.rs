//! What all variants of `--ft logging` have to do: each test is run with those that have no files of their own for it.

use crate::executions::Relay;
use crate::job::{Shape, program, run};
use crate::losses::{NO_CUTS, ROUNDS, SLOW, kill, undisturbed};

crate::trials::checks!(
    nobody_is_lost_strictly,
    nobody_is_lost_with_tickets,
    each_node_is_lost_and_goes_back_alone_strictly,
    each_node_is_lost_and_goes_back_alone_with_tickets,
    a_lost_node_goes_back_to_the_last_cut_strictly,
    a_lost_node_goes_back_to_the_last_cut_with_tickets,
    a_program_that_breaks_the_rule_is_told,
    they_are_refused_where_logging_is,
);

pub const STRICT: &str = "logging:strict";
pub const TICKET: &str = "logging:ticket";

/// A job with this variant.
pub fn start(variant: &str, shape: Shape, options: &str) -> Relay {
    Relay::start(shape, &format!("--ft {variant} {options}"))
}

fn nobody_is_lost(variant: &str) {
    for (transport, words) in [("tcp", 8), ("shm", 4000), ("mixed", 8)] {
        let (shape, words) = ((3, 1, transport), format!("--words {words}"));
        let left = start(variant, shape, &format!("{NO_CUTS} {words}")).end(0, &[]);
        left.is_like(&undisturbed(shape, &words));
        left.only_these_went_back(ROUNDS, &[]);
        assert_eq!(left.report["ft"], variant, "{}", left.ended.said());
    }
}

fn nobody_is_lost_strictly() {
    nobody_is_lost(STRICT);
}

fn nobody_is_lost_with_tickets() {
    nobody_is_lost(TICKET);
}

fn each_node_is_lost_and_goes_back_alone(variant: &str) {
    for (victim, transport) in [(0, "tcp"), (1, "shm"), (2, "tcp")] {
        let shape = (3, 1, transport);
        let relay = start(variant, shape, &format!("{NO_CUTS} {SLOW}"));
        kill(relay.wait_for(victim, 20, &[]));
        let left = relay.end(0, &["it alone goes back", "nobody else went back"]);
        left.is_like(&undisturbed(shape, ""));
        left.only_these_went_back(ROUNDS, &[(victim, 2)]);
    }
}

fn each_node_is_lost_and_goes_back_alone_strictly() {
    each_node_is_lost_and_goes_back_alone(STRICT);
}

fn each_node_is_lost_and_goes_back_alone_with_tickets() {
    each_node_is_lost_and_goes_back_alone(TICKET);
}

fn a_lost_node_goes_back_to_the_last_cut(variant: &str) {
    for (transport, victim) in [("tcp", 1), ("shm", 0)] {
        let shape = (3, 1, transport);
        let relay = start(variant, shape, &format!("--ckpt-every 15steps {SLOW}"));
        kill(relay.wait_for(victim, 40, &[]));
        let left = relay.end(0, &["nobody else went back"]);
        left.is_like(&undisturbed(shape, ""));
        let begins = left.went_back_to(ROUNDS, &[(victim, 2)]);
        assert!(begins[&victim][0] > 15, "{begins:?}: {}", left.ended.said());
    }
}

fn a_lost_node_goes_back_to_the_last_cut_strictly() {
    a_lost_node_goes_back_to_the_last_cut(STRICT);
}

fn a_lost_node_goes_back_to_the_last_cut_with_tickets() {
    a_lost_node_goes_back_to_the_last_cut(TICKET);
}

fn a_program_that_breaks_the_rule_is_told() {
    for variant in [STRICT, TICKET] {
        let options = format!("{NO_CUTS} {SLOW} --breaks clock --kill 1@step18");
        let relay = start(variant, (3, 1, "tcp"), &options);
        relay.end(1, &["node 1: it runs again", "sends node 2 something else"]);
    }
}

fn they_are_refused_where_logging_is() {
    for variant in [STRICT, TICKET] {
        for (words, shape, texts) in [
            ("", (1, 1, "tcp"), &["needs two nodes"][..]),
            ("--max-nodes 2", (3, 1, "tcp"), &["--max-nodes 2: the job begins with more"]),
            ("--simulate", (3, 1, "tcp"), &["leave --simulate out"]),
        ] {
            run(program(&format!("--relay --ft {variant} {words}"), shape)).expect(2, texts);
        }
    }
}
