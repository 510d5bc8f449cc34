//! What the system does not give any more.

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::executions::Relay;
use crate::losses::{NO_CUTS, SLOW, kill, undisturbed};

crate::trials::checks!(
    no_process_can_be_started_again,
    without_memory_for_a_part_the_cut_does_not_take_place,
    without_memory_for_a_copy_of_a_part_neither,
    with_double_it_does_not_take_place_either,
);

/// 32 MB, of which there is to be no copy; and so many rounds that memory is lacking at most checkpoints, and not at the last one.
const HOARD: &str = "--hoard 4000000 --rounds 220 --pause-us 3000";
const EVERY: &str = "--ckpt-every 50steps";
/// Rounds in which two checkpoints would have been taken since there is none.
const REFUSED: u64 = 160;
/// So much memory is left for all else.
const LEFT: u64 = 12 << 20;

/// Its launcher keeps the files that it has, and gets none more.
fn no_process_can_be_started_again() {
    let relay = Relay::start((3, 1, "tcp"), &format!("--ft logging {NO_CUTS} {SLOW}"));
    let victim = relay.wait_for(1, 20, &[]);
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    prlimit(Pid::from_raw(relay.job.launcher_pid()), Resource::Nofile, none).expect("it is our own");
    kill(victim);
    relay.end(3, &["node 1 could not be started again", "Too many open files"]);
}

/// One node has no memory for its part for a while, in which another one is lost: that does again what it did since the last checkpoint
/// before, if there was any. When there is memory, there is one.
fn without_memory_for_a_part_the_cut_does_not_take_place() {
    for shape in [(3, 1, "tcp"), (3, 2, "shm")] {
        let options = format!("--ft logging {EVERY} {HOARD}");
        let relay = Relay::start(shape, &options);
        // Of runners on PE 1 and on PE 5, the last of the third node.
        let limited = relay.wait_for(1, 1, &[]);
        let victim = relay.wait_for(shape.0 * shape.1 - 1, 1, &[]);
        limit_memory(&relay, limited, Some(taken(limited) + LEFT));
        relay.wait_for(1, REFUSED, &[]);
        kill(victim);
        relay.wait_for(shape.0 * shape.1 - 1, REFUSED + 3, &[victim]);
        limit_memory(&relay, limited, None);
        let left =
            relay.end(0, &["it alone goes back", "the system gives no memory for its part", "degraded"]);
        left.is_like(&undisturbed(shape, HOARD));
        let given_up = left.ended.stderr.iter().filter(|line| line.contains("is given up")).count();
        assert_eq!(given_up, 1, "{}", left.ended.said());
        let of_victim = &left.executed[&(shape.0 * shape.1 - 1)];
        assert!(of_victim.len() == 2 && of_victim[1].1[0] <= 51, "{of_victim:?}: {}", left.ended.said());
        assert!((1..=2).contains(&left.checkpoints()), "{}", left.ended.said());
    }
}

/// The keeper of the node that has much can neither map its part nor be sent it.
fn without_memory_for_a_copy_of_a_part_neither() {
    let shape = (3, 1, "tcp");
    let relay = Relay::start(shape, &format!("--ft logging {EVERY} {HOARD}"));
    let keeper = relay.wait_for(2, 1, &[]);
    limit_memory(&relay, keeper, Some(taken(keeper) + LEFT));
    relay.wait_for(1, REFUSED, &[]);
    limit_memory(&relay, keeper, None);
    let left = relay.end(0, &["node 1: its keeper has no memory for a copy of its part", "degraded"]);
    left.is_like(&undisturbed(shape, HOARD));
    left.only_these_went_back(220, &[]);
    let given_up = left.ended.stderr.iter().filter(|line| line.contains("is given up")).count();
    assert_eq!(given_up, 1, "{}", left.ended.said());
    assert!((1..=2).contains(&left.checkpoints()), "{}", left.ended.said());
}

fn with_double_it_does_not_take_place_either() {
    let shape = (3, 1, "shm");
    let relay = Relay::start(shape, &format!("--ft double {EVERY} {HOARD}"));
    let limited = relay.wait_for(1, 1, &[]);
    limit_memory(&relay, limited, Some(taken(limited) + LEFT));
    relay.wait_for(1, REFUSED, &[]);
    limit_memory(&relay, limited, None);
    let left = relay.end(0, &["node 1: the system gives no memory for its part"]);
    left.is_like(&undisturbed(shape, HOARD));
    let given_up = left.ended.stderr.iter().filter(|line| line.contains("is given up")).count();
    assert_eq!(given_up, 1, "{}", left.ended.said());
    assert!((1..=2).contains(&left.checkpoints()), "{}", left.ended.said());
}

/// The addresses that a process has taken, in bytes.
fn taken(process: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).expect("it is there");
    let pages: u64 = text.split(' ').next().and_then(|pages| pages.parse().ok()).expect("a number");
    pages * rustix::param::page_size() as u64
}

#[track_caller]
fn limit_memory(relay: &Relay, process: i32, bytes: Option<u64>) {
    let limit = Rlimit { current: bytes, maximum: None };
    let limited = prlimit(Pid::from_raw(process), Resource::As, limit);
    limited.unwrap_or_else(|error| panic!("process {process}: {error}: {}", relay.job.said()));
}
