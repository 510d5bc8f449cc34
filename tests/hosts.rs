//! Jobs on several hosts: over real ssh, on hosts that are namespaces of this machine.
//!
//! Skipped, with a message, where the rights or the programs for that are missing; see [`network`].

#![allow(missing_docs)]

#[path = "common/network/mod.rs"]
mod network;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Map, Value};

use network::{Ended, Network, Process, Running, eventually, signal};

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

/// Programs with their options, and the results that are times.
const PROGRAMS: [(&str, &[&str], &[&str]); 4] = [
    ("ring", &["--members", "7", "--laps", "30"], &["per_hop_s"]),
    ("nqueens", &["--queens", "8", "--grain", "5"], &["wall_s"]),
    ("jacobi3d", &["--grid", "24,24,24", "--block", "8,8,12", "--steps", "12"], &["wall_s", "per_step_s"]),
    ("leanmd", &["--cells", "3,3,2", "--atoms-per-cell", "20", "--steps", "15"], &["wall_s", "per_step_s"]),
];

#[test]
fn programs_have_the_same_results_on_several_hosts_as_on_one() {
    let Some(network) = Network::new(3) else { return };
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

/// The program's results by its report, without those that are times.
fn results(network: &Network, program: &str, options: &[&str], times: &[&str]) -> Map<String, Value> {
    let report = network.folder().join("report.json");
    let mut command = network.command(0, &example(program));
    let ended = Running::start(command.args(options).arg("--report").arg(&report)).end();
    assert_ended_well(&ended);
    let text = std::fs::read_to_string(&report).expect("a report was asked for");
    let report: Value = serde_json::from_str(&text).expect("a report is JSON");
    let mut results = report["results"].as_object().expect("a report has results").clone();
    times.iter().for_each(|time| drop(results.remove(*time)));
    results
}

#[test]
fn three_hosts_and_the_launchers_own_may_take_part() {
    let Some(network) = Network::new(3) else { return };
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

#[test]
fn a_slurm_allocation_is_recognised_and_the_command_passes_options_on() {
    let Some(network) = Network::new(3) else { return };
    let mut command = network.command(0, Path::new(env!("CARGO_BIN_EXE_talisman")));
    command.env("SLURM_JOB_NODELIST", "h[1-2]").env("SLURM_NNODES", "2");
    command.env("SLURM_TASKS_PER_NODE", "2,1");
    command.args(["run", "--hosts", "slurm", "--transport", "tcp", "--"]).arg(probe());
    let ended = Running::start(&mut command).end();
    assert_ended_well(&ended);
    assert!(ended.output.contains("node 2 of 3 at 10.77.0.3"), "{ended:?}");
}

#[test]
fn standard_input_reaches_the_first_node_wherever_it_is() {
    let Some(network) = Network::new(2) else { return };
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

#[test]
fn all_output_arrives_in_whole_lines() {
    let Some(network) = Network::new(3) else { return };
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

#[test]
fn output_that_nobody_reads_for_a_while_costs_nobody_his_life() {
    let Some(network) = Network::new(2) else { return };
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

#[test]
fn a_remote_node_that_is_killed_ends_the_job_and_is_named() {
    let Some(network) = Network::new(3) else { return };
    let mut running = start(&network, &TWO_HOSTS, &["--role", "wait"]);
    running.wait_for_lines(4);
    let nodes = network.nodes_of(2, &probe());
    assert_eq!(nodes.len(), 2);
    Process::kill(nodes[0].id);
    let ended = running.end();
    assert_failed(&ended, &[" on the host h2) was killed by signal 9 (SIGKILL)"]);
    assert!(["error: node 2 ", "error: node 3 "].iter().any(|node| ended.errors.contains(node)), "{ended:?}");
    assert_nothing_left(&network);
}

#[test]
fn a_remote_node_that_is_stopped_is_noticed_and_named() {
    let Some(network) = Network::new(2) else { return };
    let mut running = start(&network, &["h1 slots=2"], &["--role", "wait", "--silence", "2s"]);
    running.wait_for_lines(2);
    signal(network.nodes_of(1, &probe())[0].id, "STOP");
    assert_failed(&running.end(), &[" on the host h1) said nothing for 2s", "was killed"]);
    assert_nothing_left(&network);
}

#[test]
fn a_broken_ssh_connection_is_a_lost_host() {
    let Some(network) = Network::new(3) else { return };
    let mut running = start(&network, &TWO_HOSTS, &["--role", "wait"]);
    running.wait_for_lines(4);
    // The ssh server's process of this session is the agent's parent.
    Process::kill(network.agent_of(2, &probe()).parent);
    let ended = running.end();
    assert_failed(&ended, &["error: host h2 (nodes 2 to 3): the connection of ssh broke"]);
    assert!(ended.took < AT_ONCE, "{ended:?}");
    assert_nothing_left(&network);
}

#[test]
fn a_program_that_computes_ends_with_a_host_it_loses() {
    let Some(network) = Network::new(3) else { return };
    let endless =
        ["--grid", "24,24,24", "--block", "8,8,8", "--steps", "1000000000", "--pes", "1", "--progress"];
    let ends = |lose: &dyn Fn(), said: &str| {
        let mut command = network.command(0, &example("jacobi3d"));
        command.arg("--hosts").arg(network.hosts_file(&TWO_HOSTS)).args(endless).args(["--silence", "3s"]);
        let mut running = Running::start(&mut command);
        running.wait_for_error_lines(1);
        lose();
        let ended = running.end();
        assert_failed(&ended, &[said]);
        assert!(ended.took < AT_ONCE, "{ended:?}");
        assert_nothing_left(&network);
    };
    let program = example("jacobi3d");
    let node = || _ = Process::kill(network.nodes_of(2, &program)[0].id);
    ends(&node, " on the host h2) was killed by signal 9");
    let agent = || _ = Process::kill(network.agent_of(1, &program).id);
    ends(&agent, "error: host h1 (nodes 0 to 1): its agent ");
    let server = || _ = Process::kill(network.agent_of(2, &program).parent);
    ends(&server, "error: host h2 (nodes 2 to 3): ");
    ends(&|| network.host(2).cut_off(), "error: host h2 (nodes 2 to 3): it said nothing for 3s");
}

#[test]
fn a_job_that_survives_goes_on_without_a_host_it_loses() {
    let Some(network) = Network::new(3) else { return };
    let program = example("jacobi3d");
    let options = ["--grid", "24,24,24", "--block", "8,8,8", "--steps", "800", "--pes", "1"];
    let expected = results(&network, "jacobi3d", &options, &["wall_s", "per_step_s"]);
    let survives = |hosts: &[&str], lost: usize, lose: &dyn Fn(), said: &str| {
        let report = network.folder().join("survived.json");
        let mut command = network.command(0, &program);
        command.arg("--hosts").arg(network.hosts_file(hosts)).args(options).arg("--report").arg(&report);
        command.args(["--ft", "double", "--ckpt-every", "50steps", "--silence", "3s", "--progress"]);
        let mut running = Running::start(&mut command);
        running.wait_for_error_lines(1);
        lose();
        let ended = running.end();
        assert!(ended.status.success(), "{ended:?}");
        for said in [said, " went back to checkpoint ", " after the loss of node"] {
            assert!(ended.errors.contains(said), "{said}: {ended:?}");
        }
        let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
        let mut results = report["results"].as_object().expect("a report has results").clone();
        ["wall_s", "per_step_s"].iter().for_each(|time| drop(results.remove(*time)));
        assert_eq!(results, expected);
        assert_eq!(report["failures"].as_array().map(Vec::len), Some(lost));
        assert_nothing_left(&network);
    };
    let agent = || _ = Process::kill(network.agent_of(1, &program).id);
    survives(&TWO_HOSTS, 2, &agent, "host h1 (nodes 0 to 1): its agent ");
    // The launcher reaches both, but they do not reach each other: the first goes on. With several nodes on each, a connection on which little
    // is said may be missed later than another, when one node has gone already.
    let between = |what: &str| network.host(2).namespace.sh(&format!("ip route {what} blackhole 10.77.0.2"));
    survives(&["h1", "h2"], 1, &|| between("add"), "was killed, as node ");
    between("del");
    survives(&TWO_HOSTS, 2, &|| network.host(2).cut_off(), "host h2 (nodes 2 to 3): it said nothing for 3s");
}

/// A run of `jacobi3d` that goes on without its launcher, and what it has to come to.
struct Orphaned<'a> {
    network: &'a Network,
    running: Running,
    report: PathBuf,
    expected: Map<String, Value>,
}

impl<'a> Orphaned<'a> {
    fn start(network: &'a Network, hosts: &[&str], every: &str) -> Self {
        let program = example("jacobi3d");
        let work = ["--grid", "24,24,24", "--block", "8,8,8", "--steps", "800", "--pes", "1"];
        let expected = results(network, "jacobi3d", &work, &["wall_s", "per_step_s"]);
        let report = network.folder().join("orphaned.json");
        let mut command = network.command(0, &program);
        command.arg("--hosts").arg(network.hosts_file(hosts)).args(work);
        command.args(["--ft", "double", "--ckpt-every", every, "--silence", "3s", "--progress"]);
        command.arg("--report").arg(&report);
        let mut running = Running::start(&mut command);
        running.wait_for_error_lines(1);
        Orphaned { network, running, report, expected }
    }

    fn kill_launcher(&self) {
        let all = self.network.nodes_of(0, &example("jacobi3d")).into_iter();
        let launcher = all
            .filter(|process| process.arguments.contains(&"--hosts".into()))
            .min_by_key(|process| process.id);
        assert!(Process::kill(launcher.expect("it runs on the first host").id));
    }

    /// It comes to the same, says all of this on the way, and leaves nothing behind.
    #[track_caller]
    fn ends_well(self, said: &[&str]) -> Value {
        let Orphaned { network, running, report: file, expected } = self;
        let ended = running.end();
        // The launcher may have written one as well, in which the job has failed.
        let report = || -> Option<Value> { serde_json::from_slice(&std::fs::read(&file).ok()?).ok() };
        let has_succeeded = || report().is_some_and(|report| report["status"] == 0);
        assert!(eventually(has_succeeded), "{ended:?} {}", errors_elsewhere(network));
        let errors = ended.errors.clone() + &errors_elsewhere(network);
        for said in said {
            assert!(errors.contains(said), "{said}: {errors}");
        }
        let report = report().expect("it has just been there");
        let mut results = report["results"].as_object().expect("a report has results").clone();
        ["wall_s", "per_step_s"].iter().for_each(|time| drop(results.remove(*time)));
        assert_eq!(results, expected, "{ended:?}");
        assert!(report["failures"][0]["node"].is_null(), "{report}");
        assert_nothing_left(network);
        report
    }
}

/// What was said by a launcher on another host than the first, where the working folder is.
fn errors_elsewhere(network: &Network) -> String {
    let files = std::fs::read_dir(network.folder()).expect("the folder is ours").flatten();
    let files =
        files.map(|entry| entry.path()).filter(|file| file.extension().is_some_and(|kind| kind == "err"));
    files.filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

#[test]
fn a_job_on_several_hosts_goes_on_without_its_launcher() {
    let Some(network) = Network::new(3) else { return };
    let orphaned = Orphaned::start(&network, &TWO_HOSTS, "50steps");
    orphaned.kill_launcher();
    orphaned.ends_well(&["the launcher is gone; process ", " leads now", " after the loss of the launcher;"]);
}

#[test]
fn two_hosts_of_three_go_on_without_that_of_the_launcher() {
    let Some(network) = Network::new(3) else { return };
    let orphaned = Orphaned::start(&network, &TWO_HOSTS, "50steps");
    network.host(0).cut_off();
    orphaned.ends_well(&[" on the host h1 leads now", " 4 nodes ", " after the loss of the launcher;"]);
}

/// Either could begin the program anew.
#[test]
fn of_two_parts_without_a_checkpoint_the_larger_one_goes_on() {
    let Some(network) = Network::new(3) else { return };
    let hosts = ["localhost slots=1 address=10.77.0.1", "h1 slots=1", "h2 slots=1"];
    let orphaned = Orphaned::start(&network, &hosts, "1h");
    network.host(0).cut_off();
    let too_few = "too many hosts were lost at once, which may go on without the others";
    orphaned.ends_well(&[" on the host h1 leads now", " 2 nodes began the program anew", too_few]);
}

#[test]
fn a_host_alone_does_not_go_on_without_that_of_the_launcher() {
    let Some(network) = Network::new(2) else { return };
    let hosts = ["localhost slots=1 address=10.77.0.1", "h1 slots=1"];
    let orphaned = Orphaned::start(&network, &hosts, "50steps");
    network.host(1).cut_off();
    let ended = orphaned.running.end();
    assert!(ended.status.success(), "the side with the launcher goes on: {ended:?}");
    assert_nothing_left(&network);
}

#[test]
fn only_the_launchers_side_of_a_cut_network_computes_on() {
    let Some(network) = Network::new(3) else { return };
    let program = example("jacobi3d");
    let endless =
        ["--grid", "24,24,24", "--block", "8,8,8", "--steps", "1000000000", "--pes", "1", "--progress"];
    let hosts = ["localhost slots=1 address=10.77.0.1", "h1 slots=2", "h2 slots=2"];
    let mut command = network.command(0, &program);
    command.arg("--hosts").arg(network.hosts_file(&hosts)).args(endless);
    command.args(["--ft", "double", "--ckpt-every", "200ms", "--silence", "2s"]);
    let mut running = Running::start(&mut command);
    let end_by_themselves = |running: &mut Running, host: usize| {
        assert!(eventually(|| network.nodes_of(host, &program).is_empty()), "nodes of host {host} go on");
        // The others do, and tell of far more than of the loss.
        let lines = running.error_lines();
        running.wait_for_error_lines(lines + 20);
    };
    running.wait_for_error_lines(3);
    network.host(2).cut_off();
    end_by_themselves(&mut running, 2);
    // Two nodes of three are more than one, but the launcher is not among them.
    network.host(1).cut_off();
    end_by_themselves(&mut running, 1);
    let left = network.nodes_of(0, &program);
    assert_eq!(left.len(), 2, "the launcher and its node");
    for process in left {
        // The node may have died with the launcher.
        let _ = Process::kill(process.id);
    }
    drop(running);
    assert_nothing_left(&network);
}

#[test]
fn an_agent_that_is_killed_takes_its_nodes_along() {
    let Some(network) = Network::new(3) else { return };
    let mut running = start(&network, &TWO_HOSTS, &["--role", "wait"]);
    running.wait_for_lines(4);
    Process::kill(network.agent_of(1, &probe()).id);
    assert_failed(&running.end(), &["error: host h1 (nodes 0 to 1): its agent "]);
    assert_nothing_left(&network);
}

#[test]
fn a_host_that_is_cut_off_is_lost_after_the_limit_on_both_sides() {
    let Some(network) = Network::new(3) else { return };
    let mut running = start(&network, &TWO_HOSTS, &["--role", "wait", "--silence", "2s"]);
    running.wait_for_lines(4);
    network.host(1).cut_off();
    let ended = running.end();
    assert_failed(&ended, &["error: host h1 (nodes 0 to 1): it said nothing for "]);
    assert!(ended.took < AT_ONCE, "{ended:?}");
    // Nobody can tell the host: it finds out by itself.
    assert_nothing_left(&network);
}

#[test]
fn nothing_is_left_on_any_host_when_the_launcher_is_killed() {
    let Some(network) = Network::new(3) else { return };
    let mut running = start(&network, &TWO_HOSTS, &["--role", "wait"]);
    running.wait_for_lines(4);
    let launcher = network
        .processes_of(&probe())
        .into_iter()
        .find(|process| process.arguments.contains(&"--hosts".into()) && network.host(0).has(process));
    Process::kill(launcher.expect("it runs on the first host").id);
    assert_nothing_left(&network);
    assert!(!running.end().status.success());
}

#[test]
fn an_interrupt_ends_all_hosts_in_order() {
    let Some(network) = Network::new(3) else { return };
    for (name, status) in [("INT", 130), ("TERM", 143)] {
        let mut running = start(&network, &TWO_HOSTS, &["--role", "wait"]);
        running.wait_for_lines(4);
        let launcher =
            network.processes_of(&probe()).into_iter().find(|process| network.host(0).has(process));
        signal(launcher.expect("it runs on the first host").id, name);
        assert_eq!(running.end().status.code(), Some(status));
        assert_nothing_left(&network);
    }
}

#[test]
fn a_host_that_cannot_take_part_is_named_with_the_reason() {
    let Some(network) = Network::new(3) else { return };
    let refused = |hosts: &[&str], said: &str| {
        let ended = run(&network, hosts, &[]);
        assert_failed(&ended, &[said]);
        assert_nothing_left(&network);
    };
    refused(&["h1", "nobody-has-this-name"], "host nobody-has-this-name (node 1): ssh failed (");
    refused(&["h1", "10.77.0.99"], "host 10.77.0.99 (node 1): ssh failed (");
    refused(&["h1 user=nobody", "h2"], "Permission denied");
    refused(&["h1", "h2 address=10.77.0.99"], "cannot listen at 10.77.0.99");
}

#[test]
fn a_host_with_another_program_is_named_with_the_reason() {
    let Some(network) = Network::new(2) else { return };
    let probe = probe();
    // Any other program of the same runtime is an agent, too.
    let (program, other) = (probe.display(), example("ring"));
    let other = other.display();
    let host = &network.host(1).namespace;
    let with = |mount: &str, said: &str| {
        host.sh(mount);
        assert_failed(&run(&network, &["h1 slots=2"], &[]), &["error: host h1 (nodes 0 to 1): ", said]);
        assert_nothing_left(&network);
        host.sh("umount -l \"$(tail -n 1 /proc/mounts | cut -d ' ' -f 2)\"");
    };
    with(&format!("mount --bind {other} {program}"), "another build of the program");
    with(
        &format!("mount --bind /bin/false {program}"),
        "is another program than here: it ended with status 1",
    );
    with(&format!("mount --bind /dev/null {program}"), "cannot be run there");
    let programs = probe.parent().expect("it is in a folder").display();
    with(&format!("mount -t tmpfs none {programs}"), "there is no program /");
    let here = std::env::current_dir().expect("tests have a folder");
    // The program stays where it is when its package's folder is hidden under it.
    let again = format!(
        "mkdir -p /run/t && mount --bind {programs} /run/t && mount -t tmpfs none {here} && mkdir -p {programs} \
         && mount --bind /run/t {programs}",
        here = here.display()
    );
    host.sh(&again);
    assert_ended_well(&run(&network, &["h1"], &[]));
}

#[test]
fn a_host_that_does_not_answer_is_given_up() {
    let Some(network) = Network::new(2) else { return };
    let server = network
        .host(1)
        .namespace
        .processes()
        .into_iter()
        .find(|process| process.executable.ends_with("sshd"));
    signal(server.expect("it has been started").id, "STOP");
    let mut command = job(&network, &["h1"], &[]);
    command.env("TALISMAN_SSH", format!("{} -o ConnectTimeout=1", network.ssh_options()));
    assert_failed(&Running::start(&mut command).end(), &["host h1 (node 0): ssh failed ("]);
    assert_nothing_left(&network);
    // Nobody waits for it once the job has failed elsewhere.
    let mut command = job(&network, &["h1", "nobody-has-this-name"], &[]);
    command.env("TALISMAN_SSH", format!("{} -o ConnectTimeout=60", network.ssh_options()));
    assert_failed(&Running::start(&mut command).end(), &["host nobody-has-this-name (node 1): ssh failed ("]);
    assert_nothing_left(&network);
}

/// Needs no rights: something that is called as ssh is, and runs what it is given here.
#[test]
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

#[test]
fn an_agent_that_is_told_nonsense_ends() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("nonsense-{}", std::process::id()));
    // Nothing; a frame that is no message; a length that nobody can have; half a frame.
    for nonsense in [&b""[..], b"\x01\0\0\0\xc1", b"\xff\xff\xff\xffmore", b"\x09\0\0\0half"] {
        std::fs::write(&file, nonsense).expect("the folder is ours");
        let input = std::fs::File::open(&file).expect("just written");
        let ended = Running::start_reading(Command::new(probe()).arg("--talisman-agent"), input).end();
        assert!(ended.output.starts_with("talisman-agent 3 ") && ended.errors.is_empty(), "{ended:?}");
        assert!(ended.status.success(), "{ended:?}");
    }
    std::fs::remove_file(&file).expect("just written");
}

/// Within this everything has ended, whatever happened. The promise is two seconds; the rest is for slow machines.
const AT_ONCE: Duration = Duration::from_secs(10);

/// The probe on these hosts, started on the first one.
fn run(network: &Network, hosts: &[&str], options: &[&str]) -> Ended {
    start(network, hosts, options).end()
}

fn start(network: &Network, hosts: &[&str], options: &[&str]) -> Running {
    Running::start(&mut job(network, hosts, options))
}

fn job(network: &Network, hosts: &[&str], options: &[&str]) -> Command {
    let mut command = network.command(0, &probe());
    command.arg("--hosts").arg(network.hosts_file(hosts)).args(["--transport", "tcp"]).args(options);
    command
}

fn probe() -> PathBuf {
    example("probe")
}

fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let profile = test.parent().and_then(Path::parent).expect("tests stand in target/PROFILE/deps");
    profile.join("examples").join(name)
}

#[track_caller]
fn assert_ended_well(ended: &Ended) {
    assert!(ended.status.success() && ended.errors.is_empty(), "{ended:?}");
}

/// It failed as a job does that lost something, and said all of this.
#[track_caller]
fn assert_failed(ended: &Ended, parts: &[&str]) {
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    for part in parts {
        assert!(ended.errors.contains(part), "no {part:?} in {ended:?}");
    }
}

/// Whatever happened, soon no process of a program is left on any host, nor one of ssh.
#[track_caller]
fn assert_nothing_left(network: &Network) {
    let programs = probe().parent().expect("it is in a folder").to_path_buf();
    let ours = |program: &Path| program.starts_with(&programs) || program.ends_with("bin/ssh");
    let left =
        || network.processes().into_iter().filter(|process| ours(&process.executable)).collect::<Vec<_>>();
    assert!(eventually(|| left().is_empty()), "{:?}", left());
}
