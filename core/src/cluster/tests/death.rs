//! Any process may die or stop at any moment: the job ends soon, says why, and leaves nobody behind.

use rustix::process::Signal;

use super::{Job, is_gone, signal_to};

const NODES: &str = "--nodes 4 --pes 1 --transport tcp";

#[test]
fn a_killed_node_ends_the_job_and_is_named() {
    for victim in [0, 2] {
        let mut job = Job::start("wait", NODES);
        let pids = job.pids(4);
        signal_to(pids[victim], Signal::KILL);
        let reason = format!(
            "error: node {victim} (pid {}) was killed by signal 9 (SIGKILL); the job cannot go on without it",
            pids[victim]
        );
        job.end().expect(3, &[&reason]);
        assert!(pids.iter().all(|pid| is_gone(*pid)));
    }
}

#[test]
fn nodes_die_with_their_launcher() {
    let mut job = Job::start("deaf", NODES);
    let pids = job.pids(4);
    job.signal_launcher(Signal::KILL);
    assert_eq!(job.end().status, None);
    assert!(pids.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn a_node_that_does_not_stop_is_killed() {
    let mut job = Job::start("deaf", NODES);
    let pids = job.pids(4);
    signal_to(pids[1], Signal::KILL);
    job.end().expect(3, &["error: node 1 (pid"]);
    assert!(pids.iter().all(|pid| is_gone(*pid)));
}
