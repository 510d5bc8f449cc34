//! A job on several hosts: over real ssh, on hosts that are namespaces of this machine.
//!
//! Skipped, with a message, where the rights or the programs for that are missing; see [`network`].

#![allow(missing_docs)]

#[path = "common/network/mod.rs"]
mod network;

use std::path::Path;

use network::{Network, Running};

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
