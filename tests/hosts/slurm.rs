//! Jobs in allocations of a real Slurm, whose `srun` starts what is on other hosts: nobody finds these by ssh.

use std::path::Path;

use crate::job::{assert_nothing_left, example, probe, results};
use crate::network::{Ended, Network, Process, Running, Slurm, eventually, slurm};
use crate::surviving::{Held, OFTEN};
use crate::trials::checks;

checks!(
    a_job_has_the_hosts_and_tasks_of_its_allocation needs slurm,
    what_is_no_allocation_of_this_program_is_refused needs slurm,
    a_job_that_is_cancelled_ends_in_order_on_all_hosts needs slurm,
    an_allocation_that_ends_at_once_leaves_nothing_behind needs slurm,
    a_job_survives_losses_in_its_allocation needs slurm,
);

/// What every job of these tests is told.
const WAY: [&str; 6] = ["--hosts", "slurm", "--transport", "tcp", "--pes", "1"];
/// Its nodes wait until they are ended.
const WAITS: [&str; 2] = ["--role", "wait"];

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is plain")
}

/// The probe in an allocation, behind these words.
fn allocated<'a>(words: &[&'a str], probe: &'a Path, options: &[&'a str]) -> Vec<&'a str> {
    [words, &[text(probe)], &WAY, options].concat()
}

/// How many nodes each host has, by what the probe prints.
fn nodes_by_host(output: &str) -> [usize; 3] {
    let on = |host: u32| format!(" at 10.77.0.{} pid ", host + 1);
    [0, 1, 2].map(|host| output.lines().filter(|line| line.contains(&on(host))).count())
}

fn a_job_has_the_hosts_and_tasks_of_its_allocation() {
    let network = Network::new(3);
    let slurm = Slurm::on(&network);
    let probe = probe();
    let salloc = |words: &[&str]| {
        let ended = Running::start(&mut slurm.command("salloc", &allocated(words, &probe, &[]))).end();
        assert!(ended.status.success(), "{words:?}: {ended:?}");
        nodes_by_host(&ended.output)
    };
    assert_eq!(salloc(&["--nodes=3", "--ntasks=5"]), [3, 1, 1]);
    assert_eq!(salloc(&["--nodelist=h[1-2]"]), [0, 1, 1]);
    assert_eq!(salloc(&["--nodelist=h0,h2", "--ntasks-per-node=2"]), [2, 0, 2]);
    // The launcher is a step itself, with variables of its own.
    let step = ["srun", "--mpi=none", "--nodes=1", "--ntasks=1", "--nodelist=h2"];
    assert_eq!(salloc(&[&["--nodes=3", "--ntasks-per-node=2"], &step[..]].concat()), [2, 2, 2]);
    assert_eq!(salloc(&[&["--nodes=3", "--ntasks=5"], &step[..]].concat()), [1, 1, 1]);
    // It is on one of the hosts.
    let script = allocated(&[], &probe, &[]).join(" ");
    let (_, output) = slurm.hand_in(&["--nodes=3", "--ntasks=4"], &script);
    slurm.wait_until_no_job();
    let printed = || std::fs::read_to_string(&output).unwrap_or_default();
    assert!(eventually(|| nodes_by_host(&printed()) == [2, 1, 1]), "{}", printed());
    has_the_same_results(&network, &slurm);
    assert_nothing_left(&network);
}

fn has_the_same_results(network: &Network, slurm: &Slurm<'_>) {
    let (program, work) = (example("nqueens"), ["--queens", "8", "--grain", "5", "--report", "report.json"]);
    let here = results(network, "nqueens", &["--queens", "8", "--grain", "5"], &["wall_s"]);
    let words = [&["--nodes=3", "--ntasks=5", text(&program)], &WAY[..], &work].concat();
    let ended = Running::start(&mut slurm.command("salloc", &words)).end();
    assert!(ended.status.success(), "{ended:?}");
    let report = std::fs::read_to_string(network.folder().join("report.json")).expect("it was asked for");
    let report: serde_json::Value = serde_json::from_str(&report).expect("a report is JSON");
    assert_eq!(report["nodes"], 5, "{report}");
    here.iter().for_each(|(name, value)| assert_eq!(report["results"][name], *value, "{report}"));
}

fn what_is_no_allocation_of_this_program_is_refused() {
    let network = Network::new(2);
    let slurm = Slurm::on(&network);
    let probe = probe();
    let refused = |program: &str, words: &[&str], said: &str| -> Ended {
        let ended = Running::start(&mut slurm.command(program, words)).end();
        assert!(!ended.status.success() && ended.errors.contains(said), "{words:?}: {ended:?}");
        assert_nothing_left(&network);
        ended
    };
    let outside = refused(text(&probe), &WAY, "SLURM_JOB_NODELIST is not set");
    assert_eq!(outside.status.code(), Some(2), "{outside:?}");
    let twice = allocated(&["--nodes=2", "--ntasks=2"], &probe, &[]);
    let twice = refused("srun", &twice, "srun starts this program 2 times");
    assert!(!twice.output.contains("node"), "{twice:?}");
    // A host that is in no allocation is none of Slurm's business.
    let elsewhere = ["--nodelist=h0", "env", "SLURM_JOB_NODELIST=h1"];
    let elsewhere = allocated(&elsewhere, &probe, &[]);
    refused("salloc", &elsewhere, "host h1 (node 0): srun failed (srun: error: ");
    let other = format!("mount --bind /bin/false {}", probe.display());
    network.host(1).namespace.sh(&other);
    let words = allocated(&["--nodes=2"], &probe, &[]);
    refused("salloc", &words, "host h1 (node 1): ");
}

/// A limit of time ends a job in the same way: the system tells all processes to end, and kills them later.
fn a_job_that_is_cancelled_ends_in_order_on_all_hosts() {
    let network = Network::new(3);
    let slurm = Slurm::on(&network);
    let probe = probe();
    let is_silent = |said: &str| !said.contains("probe: ") && !said.contains("warning: ");
    for ft in [&[][..], &["--ft", "double"]] {
        let options = [&WAITS[..], ft].concat();
        // The shell is told as well, and shall say how the job ended.
        let script = format!("trap : TERM\n{}\necho status $?", allocated(&[], &probe, &options).join(" "));
        let (job, output) = slurm.hand_in(&["--nodes=3", "--ntasks=5"], &script);
        let printed = || std::fs::read_to_string(&output).unwrap_or_default();
        assert!(eventually(|| nodes_by_host(&printed()) == [3, 1, 1]), "{}", printed());
        slurm.ask("scancel", &[&job]);
        slurm.wait_until_no_job();
        assert!(eventually(|| printed().contains("status 143\n")), "{}", printed());
        assert!(is_silent(&printed()), "{}", printed());
        assert_nothing_left(&network);
        // Nobody tells a launcher that is outside of the allocation: it hears it from all hosts.
        let words = allocated(&["--nodes=3"], &probe, &options);
        let mut running = Running::start(&mut slurm.command("salloc", &words));
        running.wait_for_lines(3);
        slurm.ask("scancel", &[&slurm.job()]);
        let ended = running.end();
        assert!(ended.status.code() == Some(143) && is_silent(&ended.errors), "{ended:?}");
        assert_nothing_left(&network);
    }
}

/// Also a job that would go on without its launcher elsewhere: its hosts may be others' by then.
fn an_allocation_that_ends_at_once_leaves_nothing_behind() {
    let network = Network::new(3);
    let slurm = Slurm::on(&network);
    let (probe, double) = (probe(), [&WAITS[..], &["--ft", "double", "--silence", "2s"]].concat());
    let script = allocated(&["exec"], &probe, &double).join(" ");
    let (job, output) = slurm.hand_in(&["--nodes=3"], &script);
    let printed = || std::fs::read_to_string(&output).unwrap_or_default();
    assert!(eventually(|| nodes_by_host(&printed()) == [1, 1, 1]), "{}", printed());
    slurm.ask("scancel", &["--signal=KILL", &job]);
    slurm.wait_until_no_job();
    assert_nothing_left(&network);
    let mut running =
        Running::start(&mut slurm.command("salloc", &allocated(&["--nodes=3"], &probe, &double)));
    running.wait_for_lines(3);
    let launchers = network.nodes_of(0, &probe).into_iter();
    let launcher = launchers.filter(|process| process.arguments.contains(&"--hosts".into()));
    assert!(Process::kill(launcher.min_by_key(|process| process.id).expect("it runs here").id));
    // What status that is, is salloc's affair.
    running.end();
    slurm.wait_until_no_job();
    assert_nothing_left(&network);
}

fn a_job_survives_losses_in_its_allocation() {
    let network = Network::new(3);
    let slurm = Slurm::on(&network);
    let program = example("rounds");
    let words = ["--no-kill", "--nodelist=h[1-2]", "--ntasks-per-node=2", text(&program)];
    let survives = |lose: &dyn Fn(), said: &str| {
        let hosts = Path::new("slurm");
        let held = Held::by(&network, slurm.command("salloc", &words), hosts, OFTEN, &[]);
        lose();
        let report = held.goes_on(&[said, " went back to checkpoint ", " after the loss of node"]);
        slurm.wait_until_no_job();
        report["failures"].as_array().map(Vec::len)
    };
    let node = || _ = Process::kill(network.nodes_of(2, &program)[0].id);
    assert_eq!(survives(&node, " on the host h2) was killed by signal 9 (SIGKILL)"), Some(1));
    let agent = || _ = Process::kill(network.agent_of(1, &program).id);
    assert_eq!(survives(&agent, "host h1 (nodes 0 to 1): its agent was killed by signal 9"), Some(2));
    // Slurm takes the host from the job, and ends what runs there.
    let down = || {
        let done = slurm.ask("scontrol", &["update", "nodename=h2", "state=down", "reason=test"]);
        assert_eq!(done, "");
    };
    assert_eq!(survives(&down, "host h2 (nodes 2 to 3): its agent "), Some(2));
}
