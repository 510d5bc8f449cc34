//! Jobs from whose nodes nothing leaves before their logs are kept (`--ft logging:strict`).

use crate::losses::{NO_CUTS, ROUNDS, SLOW, kill, undisturbed};
use crate::variants::{STRICT, start};

crate::trials::checks!(
    two_are_lost_at_once_that_keep_nothing_of_each_other,
    a_keeper_is_lost_and_then_its_ward,
);

fn two_are_lost_at_once_that_keep_nothing_of_each_other() {
    let shape = (4, 1, "tcp");
    let relay = start(STRICT, shape, &format!("{NO_CUTS} {SLOW}"));
    let victims = [relay.wait_for(0, 20, &[]), relay.wait_for(2, 20, &[])];
    victims.into_iter().for_each(kill);
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(0, 2), (2, 2)]);
}

/// Node 2 keeps what node 1 was given: what node 1 sends waits for its new process.
fn a_keeper_is_lost_and_then_its_ward() {
    let shape = (3, 1, "shm");
    let relay = start(STRICT, shape, &format!("{NO_CUTS} {SLOW}"));
    let keeper = relay.wait_for(2, 15, &[]);
    kill(keeper);
    let ward = relay.wait_for(1, 30, &[]);
    relay.wait_for(2, 30, &[keeper]);
    kill(ward);
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(1, 2), (2, 2)]);
}
