//! Any process may die or stop at any moment: the job ends soon, says why, and leaves nobody behind.

use rustix::process::Signal;

use super::{Job, is_gone, run, signal_to};

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
    // This one cannot notice anything: the system has to kill it.
    signal_to(pids[3], Signal::STOP);
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

#[test]
fn a_node_that_ends_by_itself_is_named_with_how() {
    run("exits", NODES).expect(3, &["error: node 1 (pid", "ended by itself with status 7"]);
    run("aborts", NODES).expect(3, &["error: node 1 (pid", "killed by signal 6 (SIGABRT"]);
}

#[test]
fn a_stopped_node_is_killed_and_named() {
    let mut job = Job::start("wait", "--nodes 3 --pes 1 --transport tcp --silence 600ms");
    let pids = job.pids(3);
    signal_to(pids[2], Signal::STOP);
    let reason = format!("error: node 2 (pid {}) said nothing for 600ms", pids[2]);
    job.end().expect(3, &[&reason]);
    assert!(pids.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn nodes_of_a_stopped_launcher_end_by_themselves() {
    let mut job = Job::start("deaf", "--nodes 3 --pes 1 --transport tcp --silence 600ms");
    let pids = job.pids(3);
    job.signal_launcher(Signal::STOP);
    assert!(pids.iter().all(|pid| is_gone(*pid)));
    job.signal_launcher(Signal::CONT);
    job.end().expect(3, &["heard nothing of the launcher for 600ms"]);
}

#[test]
fn all_stopped_and_continued_together_is_no_failure() {
    let mut job = Job::start("wait", "--nodes 3 --pes 1 --transport tcp --silence 1500ms");
    let pids = job.pids(3);
    let all = |signal| {
        job.signal_launcher(signal);
        pids.iter().for_each(|pid| signal_to(*pid, signal));
    };
    all(Signal::STOP);
    std::thread::sleep(std::time::Duration::from_millis(2500));
    all(Signal::CONT);
    std::thread::sleep(std::time::Duration::from_millis(500));
    job.signal_launcher(Signal::INT);
    job.end().expect(130, &["from 0 of 3", "from 2 of 3"]);
}

#[test]
fn a_kill_at_a_step_happens_before_the_next() {
    let ended = run("siblings", &format!("{NODES} --kill 3@step40"));
    ended.expect(3, &["error: node 3 (pid", "was killed, as --kill 3@step40 asked"]);
    let count =
        |word: &str| ended.stdout.lines().find_map(|line| line.strip_prefix(word)?.parse::<u32>().ok());
    // The others are told to stop at once after that, so fewer may be left.
    let (before, after) = (count("before ").unwrap(), count("after ").unwrap());
    assert!(before == 4 && after < 4, "{before} {after}");
}

#[test]
fn a_node_may_be_killed_at_its_own_step() {
    let ended = run("siblings", &format!("{NODES} --kill 0@step40"));
    ended.expect(3, &["error: node 0 (pid", "was killed, as --kill 0@step40 asked"]);
    assert!(!ended.stdout.contains("after"), "{}", ended.stdout);
}

#[test]
fn kills_happen_at_their_time_and_at_random() {
    run("wait", &format!("{NODES} --kill 1@50ms")).expect(3, &["was killed, as --kill 1@50ms asked"]);
    run("wait", &format!("{NODES} --chaos mtbf=30ms,seed=4"))
        .expect(3, &["was killed, as --chaos mtbf=30ms,seed=4 asked"]);
}
