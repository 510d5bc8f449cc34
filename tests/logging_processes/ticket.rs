//! Jobs whose frames go with tickets of their receivers (`--ft logging:ticket`).

use crate::losses::{NO_CUTS, ROUNDS, SLOW, kill, undisturbed};
use crate::variants::{TICKET, start};

crate::trials::checks!(
    one_after_another_is_lost_also_the_same_again,
    several_pes_with_tickets,
    two_at_once_are_one_too_many,
);

/// Each when the one before has done again what it had done, and gone on.
fn one_after_another_is_lost_also_the_same_again() {
    let shape = (3, 1, "shm");
    let relay = start(TICKET, shape, &format!("{NO_CUTS} {SLOW}"));
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
    let relay = start(TICKET, shape, &format!("{NO_CUTS} {SLOW}"));
    kill(relay.wait_for(2, 20, &[]));
    let left = relay.end(0, &["nobody else went back"]);
    left.is_like(&undisturbed(shape, ""));
    left.only_these_went_back(ROUNDS, &[(2, 2), (3, 2)]);
}

/// Neither keeps anything of the other, and what they had sent each other is in an order that nobody knows any more.
fn two_at_once_are_one_too_many() {
    let relay = start(TICKET, (4, 1, "tcp"), &format!("{NO_CUTS} {SLOW}"));
    let victims = [relay.wait_for(0, 20, &[]), relay.wait_for(2, 20, &[])];
    victims.into_iter().for_each(kill);
    relay.end(3, &["nodes 0 and 2 were away at once", "one may be lost at a time"]);
}
