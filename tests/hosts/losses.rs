//! Whatever is lost, the job ends soon, says why, and leaves nothing behind on any host.

use crate::job::{AT_ONCE, TWO_HOSTS, assert_failed, assert_nothing_left, example, probe, start};
use crate::network::{Network, Process, Running, hosts, signal};
use crate::trials::checks;

checks!(
    a_remote_node_that_is_killed_ends_the_job_and_is_named needs hosts,
    a_remote_node_that_is_stopped_is_noticed_and_named needs hosts,
    a_broken_ssh_connection_is_a_lost_host needs hosts,
    a_program_that_computes_ends_with_a_host_it_loses needs hosts,
    an_agent_that_is_killed_takes_its_nodes_along needs hosts,
    a_host_that_is_cut_off_is_lost_after_the_limit_on_both_sides needs hosts,
    nothing_is_left_on_any_host_when_the_launcher_is_killed needs hosts,
    an_interrupt_ends_all_hosts_in_order needs hosts,
    a_system_that_tells_all_processes_to_end_ends_the_job_in_order needs hosts,
);

fn a_remote_node_that_is_killed_ends_the_job_and_is_named() {
    let network = Network::new(3);
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

fn a_remote_node_that_is_stopped_is_noticed_and_named() {
    let network = Network::new(2);
    let mut running = start(&network, &["h1 slots=2"], &["--role", "wait", "--silence", "2s"]);
    running.wait_for_lines(2);
    signal(network.nodes_of(1, &probe())[0].id, "STOP");
    assert_failed(&running.end(), &[" on the host h1) said nothing for 2s", "was killed"]);
    assert_nothing_left(&network);
}

fn a_broken_ssh_connection_is_a_lost_host() {
    let network = Network::new(3);
    let mut running = start(&network, &TWO_HOSTS, &["--role", "wait"]);
    running.wait_for_lines(4);
    // The ssh server's process of this session is the agent's parent.
    Process::kill(network.agent_of(2, &probe()).parent);
    let ended = running.end();
    assert_failed(&ended, &["error: host h2 (nodes 2 to 3): the connection of ssh broke"]);
    assert!(ended.took < AT_ONCE, "{ended:?}");
    assert_nothing_left(&network);
}

fn a_program_that_computes_ends_with_a_host_it_loses() {
    let network = Network::new(3);
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

fn an_agent_that_is_killed_takes_its_nodes_along() {
    let network = Network::new(3);
    let mut running = start(&network, &TWO_HOSTS, &["--role", "wait"]);
    running.wait_for_lines(4);
    Process::kill(network.agent_of(1, &probe()).id);
    assert_failed(&running.end(), &["error: host h1 (nodes 0 to 1): its agent "]);
    assert_nothing_left(&network);
}

fn a_host_that_is_cut_off_is_lost_after_the_limit_on_both_sides() {
    let network = Network::new(3);
    let mut running = start(&network, &TWO_HOSTS, &["--role", "wait", "--silence", "2s"]);
    running.wait_for_lines(4);
    network.host(1).cut_off();
    let ended = running.end();
    assert_failed(&ended, &["error: host h1 (nodes 0 to 1): it said nothing for "]);
    assert!(ended.took < AT_ONCE, "{ended:?}");
    // Nobody can tell the host: it finds out by itself.
    assert_nothing_left(&network);
}

fn nothing_is_left_on_any_host_when_the_launcher_is_killed() {
    let network = Network::new(3);
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

fn an_interrupt_ends_all_hosts_in_order() {
    let network = Network::new(3);
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

/// As batch systems do, in whatever order.
fn a_system_that_tells_all_processes_to_end_ends_the_job_in_order() {
    let network = Network::new(3);
    for ft in [&[][..], &["--ft", "double"]] {
        let waiting = || {
            let mut running = start(&network, &TWO_HOSTS, &[&["--role", "wait"], ft].concat());
            running.wait_for_lines(4);
            running
        };
        let ends = |running: Running| {
            let ended = running.end();
            assert!(ended.status.code() == Some(143) && ended.errors.is_empty(), "{ft:?}: {ended:?}");
            assert_nothing_left(&network);
        };
        let running = waiting();
        let is_launcher = |process: &Process| process.arguments.contains(&"--hosts".into());
        let is_of_job =
            |process: &Process| process.executable == probe() || process.executable.ends_with("bin/ssh");
        let here = network.host(0).namespace.processes().into_iter().filter(is_of_job);
        let (launchers, others): (Vec<_>, Vec<_>) = here.partition(is_launcher);
        assert!(others.len() >= 2 && !launchers.is_empty(), "{others:?} {launchers:?}");
        others.iter().chain(&launchers[..1]).for_each(|process| assert!(signal(process.id, "TERM")));
        ends(running);
        // Where the launcher is told nothing, it hears it from an agent.
        let running = waiting();
        signal(network.agent_of(2, &probe()).id, "TERM");
        ends(running);
    }
}
