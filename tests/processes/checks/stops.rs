//! Processes that are stopped, for too long or together.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;

use super::checks;
use crate::job::{Job, Scratch, program, until};
use crate::system::{signal, state};

checks!(
    of_a_node_beyond_the_limit,
    of_the_launcher_beyond_the_limit,
    of_everybody_is_no_failure,
    of_one_for_a_while_is_no_failure
);

fn of_a_node_beyond_the_limit() {
    for (victim, transport) in [(0, "shm"), (2, "tcp"), (3, "mixed")] {
        let job = Job::start(program("--silence 3s traffic", (4, 1, transport)));
        job.wait_for("under way");
        let pid = job.nodes(4)[victim];
        signal(pid, Signal::STOP);
        let reason = format!("error: node {victim} (pid {pid}) said nothing for 3s");
        job.end().expect(3, &[&reason]).at_once();
    }
}

fn of_the_launcher_beyond_the_limit() {
    let job = Job::start(program("--silence 3s traffic", (4, 1, "mixed")));
    job.wait_for("under way");
    let nodes = job.nodes(4);
    signal(job.launcher_pid(), Signal::STOP);
    let gone = || nodes.iter().all(|pid| matches!(state(*pid), None | Some('Z'))).then_some(());
    assert!(until(gone).is_some(), "nodes of a stopped launcher do not end: {}", job.said());
    signal(job.launcher_pid(), Signal::CONT);
    job.end().expect(3, &["heard nothing of the launcher for 3s"]).at_once();
}

fn of_everybody_is_no_failure() {
    let stop = Scratch::new("stop");
    let words = format!("--silence 1500ms traffic --stop {}", stop.name());
    let job = Job::start(program(&words, (4, 1, "mixed")));
    job.wait_for("under way");
    let everybody = job.processes();
    assert_eq!(everybody.len(), 5);
    for _ in 0..2 {
        everybody.iter().for_each(|pid| signal(*pid, Signal::STOP));
        let stopped = || everybody.iter().all(|pid| state(*pid) == Some('T')).then_some(());
        assert!(until(stopped).is_some(), "they do not stop");
        // Longer than the limit: here the time itself is the matter, and longer is as good.
        sleep(Duration::from_millis(2500));
        everybody.iter().for_each(|pid| signal(*pid, Signal::CONT));
    }
    stop.touch();
    job.end().expect(0, &[]).quietly();
}

fn of_one_for_a_while_is_no_failure() {
    let stop = Scratch::new("stop");
    let job = Job::start(program(&format!("traffic --stop {}", stop.name()), (4, 1, "mixed")));
    job.wait_for("under way");
    for pid in job.processes() {
        signal(pid, Signal::STOP);
        sleep(Duration::from_millis(300));
        signal(pid, Signal::CONT);
    }
    stop.touch();
    job.end().expect(0, &[]).quietly();
}
