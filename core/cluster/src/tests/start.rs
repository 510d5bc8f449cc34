//! How jobs start and end when nobody dies in between.

use rustix::process::Signal;

use super::{Job, is_gone, run, signal_to};

const NODES: &str = "--nodes 3 --pes 1 --transport tcp";

#[test]
fn nodes_come_and_go_and_all_their_reports_are_there() {
    let ended = run("hello", "--nodes 4 --pes 2 --transport tcp");
    ended.expect(0, &["local [1, 1, 2, 2, 3, 3, 4, 4]", "from 0 of 4", "from 3 of 4", "0.30000000000000004"]);
}

#[test]
fn a_node_that_cannot_start_ends_the_job_with_the_reason() {
    run("no executable", NODES)
        .expect(3, &["error: node 0 of 3: cannot start /no/such/program: No such file"]);
    run("fails to start", NODES).expect(3, &["error: node 1 (pid", "): there is no port left"]);
    run("few descriptors", NODES).expect(3, &["the node cannot start: Too many open files"]);
    run("dies at the start", NODES).expect(3, &["ended with status 7 before it had joined the job"]);
}

#[test]
fn too_few_descriptors_are_a_clear_error() {
    // SAFETY: only a system call is made between fork and exec.
    let limited = |command: &mut std::process::Command| unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, || {
            let limit = rustix::process::Rlimit { current: Some(40), maximum: Some(40) };
            Ok(rustix::process::setrlimit(rustix::process::Resource::Nofile, limit)?)
        });
    };
    let job = Job::start_with("wait", "--nodes 30 --pes 1 --transport tcp", |command| {
        limited(command);
        command
    });
    job.end().expect(3, &["cannot start", "Too many open files"]);
}

#[test]
fn nodes_of_a_host_share_memory_and_ring_each_others_bells() {
    let ended = run("shares", "--nodes 3 --pes 2");
    ended.expect(0, &["test: node 2 (pid", "): has heard"]);
    for node in 0..3 {
        let line = format!("node {node} of [0, 1, 2] has [3, 2] and heard 14");
        assert!(ended.stdout.contains(&line), "{line} {}", ended.stdout);
    }
}

#[test]
fn without_shared_memory_tcp_does() {
    let ended = run("no memory", "--nodes 3 --pes 2");
    ended
        .expect(0, &["test: warning: no shared memory for the nodes of this host", "tcp links them instead"]);
}

#[test]
fn a_failure_of_the_program_has_its_status_and_message() {
    run("fails", NODES).expect(5, &["error: the program failed"]);
    run("fails at the end", NODES).expect(1, &["error: a value panicked"]);
}

#[test]
fn a_node_without_last_words_is_lost_even_after_success() {
    run("leaves without a word", NODES).expect(3, &["error: node 1 (pid", "ended by itself with status 0"]);
}

#[test]
fn signals_to_the_launcher_end_all_nodes_and_give_the_status() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut job = Job::start("wait", NODES);
        let pids = job.pids(3);
        // The terminal sends it to the whole group; a node leaves that to the launcher.
        pids.iter().for_each(|pid| signal_to(*pid, Signal::INT));
        job.signal_launcher(signal);
        job.end().expect(status, &["from 2 of 3"]);
        assert!(pids.iter().all(|pid| is_gone(*pid)));
    }
}

#[test]
fn a_terminated_node_ends_the_job_in_order() {
    let mut job = Job::start("wait", NODES);
    let pids = job.pids(3);
    signal_to(pids[1], Signal::TERM);
    job.end().expect(143, &["from 1 of 3"]);
}

#[test]
fn a_second_signal_ends_nodes_that_do_not_stop() {
    let mut job = Job::start("deaf", NODES);
    let pids = job.pids(3);
    job.signal_launcher(Signal::TERM);
    job.line_with("told to stop with 143");
    job.signal_launcher(Signal::INT);
    job.end().expect(130, &[]);
    assert!(pids.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn nodes_that_do_not_stop_are_killed_after_one_signal_too() {
    let mut job = Job::start("deaf", NODES);
    let pids = job.pids(3);
    job.signal_launcher(Signal::INT);
    job.end().expect(130, &[]);
    assert!(pids.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn a_node_inherits_its_connection_and_nothing_else() {
    let ended = run("descriptors", NODES);
    ended.expect(0, &[]);
    let mut lines =
        ended.stdout.lines().filter_map(|line| line.split_once("inherited [")).map(|(_, list)| list);
    let list =
        |text: &str| -> Vec<String> { text.trim_end_matches(']').split(", ").map(str::to_owned).collect() };
    // What the launcher itself inherited from whoever runs the tests goes on to the nodes.
    let own = list(lines.next().unwrap());
    let nodes: Vec<Vec<String>> = lines.map(list).collect();
    assert_eq!(nodes.len(), 3);
    for node in nodes {
        let new: Vec<&String> = node.iter().filter(|target| !own.contains(target)).collect();
        assert!(new.len() == 1 && new[0].contains("socket:"), "{node:?}, not only a socket beside {own:?}");
    }
}
