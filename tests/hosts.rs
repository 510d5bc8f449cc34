//! Jobs on several hosts: over real ssh, on hosts that are namespaces of this machine.
//!
//! Skipped, with a message, where the rights or the programs for that are missing; see [`network`].

#![allow(missing_docs)]

#[path = "common/network/mod.rs"]
mod network;

use std::path::{Path, PathBuf};

use network::{Ended, Network, Running, eventually};

/// A host's nodes are two unless a test is about something else.
const TWO_HOSTS: [&str; 2] = ["h1 slots=2", "h2 slots=2"];

#[test]
fn hosts_reach_each_other_by_ssh_under_their_names() {
    let Some(network) = Network::new(3) else { return };
    let mut ssh = network.command(0, Path::new("ssh"));
    ssh.args(network.ssh_options().split(' ')).args(["h2", "hostname; echo $SSH_CONNECTION"]);
    let ended = Running::start(&mut ssh).end();
    assert!(ended.status.success(), "{ended:?}");
    let words: Vec<&str> = ended.output.split_whitespace().collect();
    assert!(matches!(words[..], ["h2", "10.77.0.1", _, "10.77.0.3", _]), "{ended:?}");
}

#[test]
fn a_network_leaves_nothing_behind() {
    let Some(network) = Network::new(2) else { return };
    let first = network.host(1).namespace.first_process();
    let folder = network.folder().to_path_buf();
    let outside = |id: u32| Path::new(&format!("/proc/{id}")).exists();
    let servers: Vec<u32> = network.host(1).namespace.processes().iter().map(|process| process.id).collect();
    assert!(outside(first) && !servers.is_empty());
    drop(network);
    assert!(!folder.exists() && !outside(first) && !servers.into_iter().any(outside));
}

#[test]
fn nodes_start_on_all_hosts_and_find_each_other() {
    let Some(network) = Network::new(3) else { return };
    let ended = run(&network, &TWO_HOSTS, &[]);
    assert_ended_well(&ended);
    let mut places: Vec<&str> = ended.output.lines().filter_map(|line| line.split(" pid ").next()).collect();
    places.sort_unstable();
    let expected = [
        "node 0 of 4 at 10.77.0.2",
        "node 1 of 4 at 10.77.0.2",
        "node 2 of 4 at 10.77.0.3",
        "node 3 of 4 at 10.77.0.3",
    ];
    assert_eq!(places, expected);
    assert_nothing_left(&network);
}

/// The probe on these hosts, started on the first one, which is none of them.
fn run(network: &Network, hosts: &[&str], options: &[&str]) -> Ended {
    start(network, hosts, options).end()
}

fn start(network: &Network, hosts: &[&str], options: &[&str]) -> Running {
    let mut command = network.command(0, &probe());
    command.arg("--hosts").arg(network.hosts_file(hosts)).args(["--transport", "tcp"]).args(options);
    Running::start(&mut command)
}

fn probe() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let profile = test.parent().and_then(Path::parent).expect("tests stand in target/PROFILE/deps");
    profile.join("examples/probe")
}

#[track_caller]
fn assert_ended_well(ended: &Ended) {
    assert!(ended.status.success() && ended.errors.is_empty(), "{ended:?}");
}

/// Whatever happened, soon no process of the program is left on any host, nor one of ssh.
#[track_caller]
fn assert_nothing_left(network: &Network) {
    let left = || [network.processes_of(&probe()), network.processes_of(Path::new("/usr/bin/ssh"))].concat();
    assert!(eventually(|| left().is_empty()), "{:?}", left());
}
