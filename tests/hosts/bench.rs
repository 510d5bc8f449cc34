//! `talisman bench` between hosts.

use std::path::Path;

use serde_json::Value;

use crate::job::{assert_ended_well, assert_nothing_left};
use crate::network::{Network, Running, hosts};
use crate::trials::checks;

checks!(messages_between_hosts_are_measured_beside_a_connection_of_the_two needs hosts,);

fn messages_between_hosts_are_measured_beside_a_connection_of_the_two() {
    let network = Network::new(3);
    let report = network.folder().join("report.json");
    let mut command = network.command(0, Path::new(env!("CARGO_BIN_EXE_talisman")));
    command.args(["bench", "--rounds", "2", "--pes", "1"]).arg("--hosts").arg(network.hosts_file(&[
        "h0 slots=2",
        "h1",
        "h2",
    ]));
    let ended = Running::start(command.arg("--report").arg(&report)).end();
    assert_ended_well(&ended);
    for line in
        ["3 hosts, 4 nodes, 4 PEs", "8 bytes between nodes of a host ", "1 MiB between hosts, slowest pair "]
    {
        assert!(ended.output.contains(line), "`{line}` is not in {ended:?}");
    }
    // Whoever cannot be reached would be said.
    assert!(!ended.output.contains("could be measured"), "{ended:?}");
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(&report).expect("it is written")).expect("it is JSON");
    let result = |name: &str| report["results"][name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"));
    for name in [
        "message_hosts",
        "message_hosts_allowed",
        "stream_hosts",
        "stream_hosts_allowed",
        "message_nodes_allowed",
    ] {
        assert!(result(name) > 0.0, "{name}");
    }
    assert_nothing_left(&network);
}
