//! A slow receiver bounds the memory of whoever sends to it, and two that are both full do not wait for each other.

use super::checks;
use crate::job::{Job, Scratch, program, run, until};
use crate::system::{state, status};

checks!(
    of_a_sleeping_receiver_over_tcp,
    of_a_sleeping_receiver_through_memory,
    of_a_sleeping_receiver_over_unix_sockets,
    both_ways_over_tcp,
    both_ways_through_memory,
    both_ways_over_unix_sockets,
    round_the_ring,
);

/// KiB that a sender may ever have had; it is to send more, 2 GB mostly.
const MEMORY_MAX: u64 = 300 << 10;

fn of_a_sleeping_receiver_over_tcp() {
    bounds_its_sender("", "tcp", 2000);
}

fn of_a_sleeping_receiver_through_memory() {
    bounds_its_sender("", "shm", 2000);
}

pub fn bounds_its_sender(options: &str, transport: &'static str, messages: u32) {
    let [wake, leave] = ["wake", "leave"].map(Scratch::new);
    let flood = format!("{options} flood --sender 0 --messages {messages} --bytes 1048576");
    let words = format!("{flood} --wake {} --leave {}", wake.name(), leave.name());
    let job = Job::start(program(&words, (2, 1, transport)));
    job.wait_for("asleep");
    let nodes = job.nodes(2);
    // It has sent what goes, and sleeps now: it has not sent all, and what it has sent is not much.
    let sleeps = || (0..5).all(|_| state(nodes[0]) == Some('S')).then_some(());
    assert!(until(sleeps).is_some(), "the sender never waits: {}", job.said());
    assert!(!job.said().contains("has sent all"), "{}", job.said());
    wake.touch();
    job.wait_for("node 0 has sent all");
    let most = status(nodes[0], "VmHWM").unwrap_or_else(|| panic!("it has ended: {}", job.said()));
    assert!(most < MEMORY_MAX, "the sender had {most} KiB");
    leave.touch();
    let ended = job.end().expect(0, &[]).quietly();
    ended.prints(&format!("{messages} received"));
}

fn of_a_sleeping_receiver_over_unix_sockets() {
    bounds_its_sender("", "unix", 2000);
}

fn both_ways_over_tcp() {
    all_come(2, "tcp", 300, 1 << 20);
    all_come(2, "tcp", 20_000, 1000);
}

fn both_ways_through_memory() {
    all_come(2, "shm", 300, 1 << 20);
    all_come(2, "shm", 20_000, 1000);
}

fn both_ways_over_unix_sockets() {
    all_come(2, "unix", 300, 1 << 20);
    all_come(2, "unix", 20_000, 1000);
}

fn round_the_ring() {
    all_come(5, "mixed", 150, 1 << 20);
}

fn all_come(nodes: u32, transport: &'static str, messages: u32, bytes: u32) {
    let words = format!("flood --messages {messages} --bytes {bytes}");
    let ended = run(program(&words, (nodes, 1, transport))).expect(0, &[]).quietly();
    ended.prints(&format!("{} received", nodes * messages));
}
