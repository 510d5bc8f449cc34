//! What nodes on other hosts read and print.

use std::path::Path;

use crate::job::{TWO_HOSTS, assert_ended_well, job, probe, run};
use crate::network::{Network, Running, hosts};
use crate::trials::checks;

checks!(
    standard_input_reaches_the_first_node_wherever_it_is needs hosts,
    all_output_arrives_in_whole_lines needs hosts,
    output_that_nobody_reads_for_a_while_costs_nobody_his_life needs hosts,
);

fn standard_input_reaches_the_first_node_wherever_it_is() {
    let network = Network::new(2);
    let text: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    let file = network.folder().join("input");
    std::fs::write(&file, &text).expect("the folder is ours");
    for hosts in [&["h1"][..], &["localhost"]] {
        let input = std::fs::File::open(&file).expect("just written");
        let mut command = job(&network, hosts, &["--role", "echo"]);
        let ended = Running::start_reading(&mut command, input).end();
        assert_ended_well(&ended);
        let (_, echoed) = ended.output.split_once('\n').expect("the node says first where it is");
        assert!(echoed == text, "{hosts:?}: {} bytes of {}", echoed.len(), text.len());
    }
}

fn all_output_arrives_in_whole_lines() {
    let network = Network::new(3);
    let ended = run(&network, &TWO_HOSTS, &["--role", "8000"]);
    assert_ended_well(&ended);
    for node in 0..4 {
        let all: Vec<String> =
            (0..8000).map(|line| format!("line {line} of node {node} {}", "x".repeat(80))).collect();
        let of_node = format!(" of node {node} ");
        let arrived: Vec<&str> = ended.output.lines().filter(|line| line.contains(&of_node)).collect();
        assert!(all == arrived, "node {node}: {} lines arrived", arrived.len());
    }
}

fn output_that_nobody_reads_for_a_while_costs_nobody_his_life() {
    let network = Network::new(2);
    let hosts = network.hosts_file(&["h1 slots=2"]);
    // Far more than all pipes and windows hold, and a pause longer than the limit of silence.
    let line = format!(
        "{} --hosts {} --transport tcp --role 30000 --silence 2s | (sleep 4; wc -l)",
        probe().display(),
        hosts.display()
    );
    let mut shell = network.command(0, Path::new("sh"));
    let ended = Running::start(shell.args(["-c", &line])).end();
    assert_ended_well(&ended);
    assert_eq!(ended.output.trim(), "60002");
}
