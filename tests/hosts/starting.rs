//! Jobs that start on several hosts, and end as on one.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::job::{TWO_HOSTS, assert_ended_well, assert_nothing_left, probe, results, run};
use crate::network::{Network, Running, hosts};
use crate::trials::checks;

checks!(
    hosts_reach_each_other_by_ssh_under_their_names needs hosts,
    a_network_leaves_nothing_behind needs hosts,
    nodes_start_on_all_hosts_and_find_each_other needs hosts,
    programs_have_the_same_results_on_several_hosts_as_on_one needs hosts,
    three_hosts_and_the_launchers_own_may_take_part needs hosts,
    a_slurm_allocation_is_recognised_and_the_command_passes_options_on needs hosts,
    whatever_is_called_ssh_may_log_in needs hosts,
);

fn hosts_reach_each_other_by_ssh_under_their_names() {
    let network = Network::new(3);
    let mut ssh = network.command(0, Path::new("ssh"));
    ssh.args(network.ssh_options().split(' ')).args(["h2", "hostname; echo $SSH_CONNECTION"]);
    let ended = Running::start(&mut ssh).end();
    assert!(ended.status.success(), "{ended:?}");
    let words: Vec<&str> = ended.output.split_whitespace().collect();
    assert!(matches!(words[..], ["h2", "10.77.0.1", _, "10.77.0.3", _]), "{ended:?}");
}

fn a_network_leaves_nothing_behind() {
    let network = Network::new(2);
    let first = network.host(1).namespace.first_process();
    let folder = network.folder().to_path_buf();
    let outside = |id: u32| Path::new(&format!("/proc/{id}")).exists();
    let servers: Vec<u32> = network.host(1).namespace.processes().iter().map(|process| process.id).collect();
    assert!(outside(first) && !servers.is_empty());
    drop(network);
    assert!(!folder.exists() && !outside(first) && !servers.into_iter().any(outside));
}

fn nodes_start_on_all_hosts_and_find_each_other() {
    let network = Network::new(3);
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

/// Programs with their options, and the results that are times.
const PROGRAMS: [(&str, &[&str], &[&str]); 4] = [
    ("ring", &["--members", "7", "--laps", "30"], &["per_hop_s"]),
    ("nqueens", &["--queens", "8", "--grain", "5"], &["wall_s"]),
    ("jacobi3d", &["--grid", "24,24,24", "--block", "8,8,12", "--steps", "12"], &["wall_s", "per_step_s"]),
    ("leanmd", &["--cells", "3,3,2", "--atoms-per-cell", "20", "--steps", "15"], &["wall_s", "per_step_s"]),
];

fn programs_have_the_same_results_on_several_hosts_as_on_one() {
    let network = Network::new(3);
    let three = ["localhost slots=2 address=10.77.0.1", "h1 slots=2", "h2 slots=2"];
    for (program, options, times) in PROGRAMS {
        let here = results(&network, program, &[options, &["--pes", "2"]].concat(), times);
        assert!(!here.is_empty(), "{program} has results");
        for (hosts, links) in
            [(&TWO_HOSTS[..], "shm"), (&TWO_HOSTS, "tcp"), (&TWO_HOSTS, "tcp --tls"), (&three, "mixed")]
        {
            let file = network.hosts_file(hosts);
            let file = file.to_str().expect("the path is plain");
            let way = ["--hosts", file, "--pes", "2", "--transport"];
            let links: Vec<&str> = links.split(' ').collect();
            let there = results(&network, program, &[options, &way, &links].concat(), times);
            assert_eq!(here, there, "{program} {way:?} {links:?}");
        }
    }
    assert_nothing_left(&network);
}

fn three_hosts_and_the_launchers_own_may_take_part() {
    let network = Network::new(3);
    let hosts = ["localhost slots=2 address=10.77.0.1", "h1 slots=3", "h2 user=root port=40022"];
    let ended = run(&network, &hosts, &[]);
    assert_ended_well(&ended);
    for (node, host) in [(0, 1), (1, 1), (2, 2), (4, 2), (5, 3)] {
        let place = format!("node {node} of 6 at 10.77.0.{host} pid");
        assert!(ended.output.contains(&place), "{place}: {ended:?}");
    }
    // Fewer nodes than slots: who is not needed is not asked.
    let ended = run(&network, &["localhost", "nobody-has-this-name"], &[]);
    assert!(ended.errors.contains("needs an address"), "{ended:?}");
    let ended = run(&network, &["h1", "nobody-has-this-name"], &["--nodes", "1"]);
    assert_ended_well(&ended);
    assert!(ended.output.starts_with("node 0 of 1 at 127.0.0.1 "), "{ended:?}");
}

fn a_slurm_allocation_is_recognised_and_the_command_passes_options_on() {
    let network = Network::new(3);
    let mut command = network.command(0, Path::new(env!("CARGO_BIN_EXE_talisman")));
    command.env("SLURM_JOB_NODELIST", "h[1-2]").env("SLURM_NNODES", "2");
    command.env("SLURM_TASKS_PER_NODE", "2,1");
    command.args(["run", "--hosts", "slurm", "--transport", "tcp", "--"]).arg(probe());
    let ended = Running::start(&mut command).end();
    assert_ended_well(&ended);
    assert!(ended.output.contains("node 2 of 3 at 10.77.0.3"), "{ended:?}");
}

/// Needs no rights: something that is called as ssh is, and runs what it is given here.
fn whatever_is_called_ssh_may_log_in() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ssh-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder is ours");
    let script = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\n\
                  echo Welcome to \"$2\"\nSSH_CONNECTION='127.0.0.1 1 127.0.0.1 2' exec sh -c \"$3\"\n";
    let ssh = folder.join("ssh");
    std::fs::write(&ssh, script).expect("the folder is ours");
    std::fs::set_permissions(&ssh, PermissionsExt::from_mode(0o755)).expect("it is ours");
    let hosts = folder.join("hosts");
    std::fs::write(&hosts, "one slots=2\ntwo address=127.0.0.2").expect("the folder is ours");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(probe());
    command.env("PATH", format!("{}:{path}", folder.display()));
    let ended = Running::start(command.arg("--hosts").arg(&hosts).args(["--transport", "tcp"])).end();
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    assert_ended_well(&ended);
    assert!(!ended.output.contains("Welcome"), "{ended:?}");
    for place in ["node 1 of 3 at 127.0.0.1 ", "node 2 of 3 at 127.0.0.2 "] {
        assert!(ended.output.contains(place), "{ended:?}");
    }
}
