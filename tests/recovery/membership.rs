//! Who is in broadcasts, multicasts and reductions while elements are inserted and go, and nodes are killed: the same as on one PE
//! that loses nobody.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::held::begin;
use crate::job::Shape;
use crate::subjects::{LONG_NURSERY, NEVER, NURSERY, Said, TRANSPORTS};
use crate::system::signal;

/// On one PE: answers that depend on how many there are would be others.
fn expected() -> Said {
    let said = NURSERY.undisturbed((1, 1, "shm"));
    for shape in [(1, 3, "shm"), (3, 2, "mixed")] {
        assert_eq!(NURSERY.undisturbed(shape), said, "{shape:?}");
    }
    said
}

/// With checkpoints after each few rounds, all the time, and none before the loss; and lost nodes that are replaced.
pub fn members_are_the_same_whoever_is_lost_at_a_step() {
    let expected = expected();
    let kills = ["--kill 0@step17", "--kill 2@step23 --kill 3@step31"];
    let options = ["--ckpt-every 3steps", "--ckpt-every 1ms", NEVER, "--ckpt-every 4steps --respawn"];
    let ways = options.iter().flat_map(|options| kills.iter().map(move |kills| format!("{options} {kills}")));
    // Each transport in turn.
    for (way, transport) in ways.zip(TRANSPORTS.into_iter().cycle()) {
        let shape: Shape = (4, 2, transport);
        NURSERY.survives(shape, &way, &expected);
    }
}

/// Amid insertions, announcements of them and reductions, with a checkpoint under way or not; one node, or two that do not keep each other's copies.
pub fn members_are_the_same_whenever_nodes_are_killed() {
    let mut rng = Rng::new(27);
    let expected = LONG_NURSERY.undisturbed((1, 1, "shm"));
    for round in 0..6 {
        let shape = (5, 1 + round % 2, TRANSPORTS[round as usize % 3]);
        let held = begin(LONG_NURSERY, shape, "--ckpt-every 1ms");
        let nodes = held.run.job.nodes(5);
        held.run.job.wait_for(&format!("at {}", 3 + rng.below(50)));
        sleep(Duration::from_micros(rng.below(4000)));
        let first = rng.below(5);
        let mut victims = vec![first];
        if round > 3 {
            victims.push((first + 2) % 5);
        }
        victims.iter().for_each(|victim| signal(nodes[*victim as usize], Signal::KILL));
        let left = held.survives(&expected);
        let mut lost: Vec<u64> = left.losses.iter().map(|(node, _)| *node).collect();
        lost.sort_unstable();
        victims.sort_unstable();
        assert_eq!(lost, victims, "{}", left.ended.said());
    }
}
