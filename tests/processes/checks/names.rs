//! What processes are called, and which jobs there are, for whoever looks from outside.

use std::fs;
use std::process::Command;

use rustix::process::Signal;

use super::checks;
use crate::job::{Job, program, until};
use crate::system::{arguments, environment, signal};

checks!(of_nodes, of_jobs);

/// As `ps` shows them, whole and in short; the program is called by its package here.
fn of_nodes() {
    let job = Job::start(program("traffic", (3, 1, "mixed")));
    job.wait_for("under way");
    for (node, pid) in job.nodes(3).into_iter().enumerate() {
        let arguments = arguments(pid);
        assert_eq!(arguments[0], format!("talisman: node {node} of 3"));
        assert!(arguments.contains(&"traffic".to_owned()), "{arguments:?}");
        let short = fs::read_to_string(format!("/proc/{pid}/comm")).expect("it runs");
        assert_eq!(short.trim_end(), format!("talisman: {node}"));
        let told = format!("TALISMAN_JOB={} 3 3 talisman", job.launcher_pid());
        assert!(environment(pid).contains(&told), "{:?}", environment(pid));
    }
}

fn of_jobs() {
    let of_nodes = Job::start(program("--ft double traffic", (3, 1, "shm")));
    of_nodes.wait_for("under way");
    assert_eq!(line(&of_nodes).as_deref(), Some("talisman 3 3 runs"));
    let alone = Job::start(program("traffic", (1, 2, "shm")));
    alone.wait_for("under way");
    assert!(line(&alone).is_some_and(|line| line.ends_with("1 1 none needed")), "{:?}", line(&alone));
    let nodes = of_nodes.nodes(3);
    signal(of_nodes.launcher_pid(), Signal::KILL);
    of_nodes.wait_for_error("leads now");
    let gone = || line(&of_nodes).filter(|line| line == "talisman 3 3 gone, or on another host");
    until(gone).unwrap_or_else(|| panic!("{:?}: {}", line(&of_nodes), of_nodes.said()));
    nodes.into_iter().for_each(|node| signal(node, Signal::KILL));
    until(|| line(&of_nodes).is_none().then_some(())).expect("it has ended");
}

/// The job's line in the list, without the number that it is called by.
fn line(job: &Job) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_talisman")).arg("list").output();
    let text = String::from_utf8(output.expect("the command is built with the tests").stdout).expect("text");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut lines = text.lines().map(words);
    let line = lines.find(|line| line[0] == job.launcher_pid().to_string())?;
    Some(line[1..].join(" "))
}
