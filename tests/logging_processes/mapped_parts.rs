//! Parts that stay where they are, as their keeper is on the same host, and are there when their node is lost.

use crate::executions::{Left, Relay};
use crate::job::Shape;
use crate::losses::{ROUNDS, SLOW, kill, undisturbed};

/// A runner's numbers: 160 KB in pages, and as many in a vector.
const FIELD: &str = "--field 20000";

crate::trials::checks!(
    a_lost_node_goes_back_to_parts_that_are_mapped,
    nodes_are_lost_that_map_parts_of_each_other,
    several_pes_of_a_node_have_their_parts_mapped,
    what_cannot_be_mapped_is_sent,
);

fn start(shape: Shape, options: &str) -> Relay {
    let told = "--log talisman::checkpoint=debug";
    Relay::start(shape, &format!("--ft logging --ckpt-every 10steps {FIELD} {SLOW} {told} {options}"))
}

/// How often parts came to a keeper without any byte of these, and with all of them.
fn mapped_and_sent(left: &Left) -> (usize, usize) {
    let came = left.ended.stderr.iter().filter(|line| line.contains("parts are here"));
    let (sent, mapped): (Vec<_>, Vec<_>) = came.partition(|line| line.contains("slabs=0"));
    (mapped.len(), sent.len())
}

fn a_lost_node_goes_back_to_parts_that_are_mapped() {
    for (transport, victim) in [("shm", 1), ("tcp", 0), ("tcp", 2)] {
        let shape = (3, 1, transport);
        let relay = start(shape, "");
        kill(relay.wait_for(victim, 35, &[]));
        let left = relay.end(0, &["it alone goes back", "nobody else went back"]);
        left.is_like(&undisturbed(shape, FIELD));
        let begins = left.went_back_to(ROUNDS, &[(victim, 2)]);
        assert!(begins[&victim][0] > 20, "{begins:?}: {}", left.ended.said());
        let (mapped, sent) = mapped_and_sent(&left);
        assert!(mapped >= 12 && sent == 0, "{mapped} {sent} {}", left.ended.said());
    }
}

/// One after another, each of which has a part that is mapped by the one before, or is kept by that.
fn nodes_are_lost_that_map_parts_of_each_other() {
    let shape = (4, 1, "shm");
    let relay = start(shape, "");
    let victims = [(1, 15), (2, 25), (1, 35), (0, 45), (3, 52)];
    let mut killed = Vec::new();
    for (victim, round) in victims {
        let pid = relay.wait_for(victim, round, &killed);
        kill(pid);
        killed.push(pid);
        // Its part is held twice again before the next one is lost.
        relay.wait_for(victim, round + 3, &killed);
    }
    let left = relay.end(0, &[]);
    left.is_like(&undisturbed(shape, FIELD));
    left.went_back_to(ROUNDS, &[(0, 2), (1, 3), (2, 2), (3, 2)]);
    assert!(mapped_and_sent(&left).0 >= 12, "{}", left.ended.said());
}

fn several_pes_of_a_node_have_their_parts_mapped() {
    let shape = (3, 2, "shm");
    let relay = start(shape, "");
    kill(relay.wait_for(2, 35, &[]));
    let left = relay.end(0, &["it alone goes back"]);
    left.is_like(&undisturbed(shape, FIELD));
    let (mapped, sent) = mapped_and_sent(&left);
    assert!(mapped >= 12 && sent == 0, "{mapped} {sent} {}", left.ended.said());
}

/// As where the system forbids to look into other processes.
fn what_cannot_be_mapped_is_sent() {
    for transport in ["shm", "tcp"] {
        let shape = (3, 1, transport);
        let relay = start(shape, "--hidden");
        kill(relay.wait_for(1, 35, &[]));
        let left = relay.end(0, &["it alone goes back", "parts are to be sent, as they cannot be mapped"]);
        left.is_like(&undisturbed(shape, FIELD));
        let (mapped, sent) = mapped_and_sent(&left);
        assert!(mapped == 0 && sent >= 12, "{mapped} {sent} {}", left.ended.said());
    }
}
