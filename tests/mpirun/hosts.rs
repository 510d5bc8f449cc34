//! Ranks on several hosts, which are namespaces of this machine, as the files and lists of other systems' `mpirun` name them.

use std::path::Path;
use std::process::Command;

use crate::job::{Interface, mpirun, printed, program};
use crate::network::{Network, Running, Slurm, hosts, slurm};
use crate::trials::checks;

checks!(
    ranks_run_on_hosts_of_all_forms needs hosts_and_compiler,
    ranks_survive_the_loss_of_a_node_on_another_host needs hosts_and_compiler,
    ranks_run_in_an_allocation_of_slurm needs slurm_and_compiler,
);

fn slurm_and_compiler() -> Option<String> {
    crate::job::c_compiler().or_else(slurm)
}

fn hosts_and_compiler() -> Option<String> {
    crate::job::c_compiler().or_else(hosts)
}

const TASK: [&str; 3] = ["2000", "3000", "250"];

/// A job that is started on the first host.
fn job(network: &Network, words: &[&str]) -> Command {
    let mut command = network.command(0, Path::new(env!("CARGO_BIN_EXE_talisman")));
    command.arg("mpirun").args(words).env("TALISMAN_NO_ADVICE", "1");
    command
}

fn heat(words: &[&str]) -> Vec<String> {
    let file = program("heat.c", Interface::OpenMpi);
    let file = file.to_str().expect("a name that is text");
    [&["-n", "4"], words, &[file], &TASK].concat().into_iter().map(str::to_owned).collect()
}

fn run(network: &Network, words: &[&str], variables: &[(&str, &str)]) -> (String, String) {
    let words = heat(words);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = job(network, &words);
    command.envs(variables.iter().copied());
    let ended = Running::start(&mut command).end();
    assert!(ended.status.success(), "{words:?}: {ended:?}");
    (ended.output, ended.errors)
}

fn undisturbed() -> String {
    let words = heat(&[]);
    printed(&mut mpirun(&words.iter().map(String::as_str).collect::<Vec<_>>()))
}

fn ranks_run_on_hosts_of_all_forms() {
    let (network, expected) = (Network::new(3), undisturbed());
    let mpich = network.folder().join("of-mpich");
    std::fs::write(&mpich, "h1:1 # small\nh2:2\n").expect("the folder is ours");
    let open_mpi = network.hosts_file(&["h1 slots=2 max_slots=8", "h2 slots=9"]);
    let (mpich, open_mpi) = (mpich.to_str().expect("text"), open_mpi.to_str().expect("text"));
    let slurm = [("SLURM_JOB_NODELIST", "h[1-2]"), ("SLURM_NNODES", "2"), ("SLURM_TASKS_PER_NODE", "2,1")];
    for (words, variables) in [
        (&["-f", mpich, "--report", "report.json"][..], &[][..]),
        (&["-hostfile", open_mpi, "--report", "report.json"], &[]),
        (&["-hosts", "h1,h2:2", "--report", "report.json"], &[]),
        (&["-hostfile", "slurm", "--report", "report.json"], &slurm),
    ] {
        let (printed, said) = run(&network, words, variables);
        assert_eq!(printed, expected, "{words:?}: {said}");
        let report = std::fs::read_to_string(network.folder().join("report.json")).expect("it is written");
        let report: serde_json::Value = serde_json::from_str(&report).expect("a report is JSON");
        // No more nodes than ranks, also where there are eleven slots.
        let nodes = if words[1] == open_mpi { 4 } else { 3 };
        assert_eq!(report["nodes"], nodes, "{words:?}: {report}");
    }
}

fn ranks_survive_the_loss_of_a_node_on_another_host() {
    let (network, expected) = (Network::new(3), undisturbed());
    for way in [
        &["--ft", "double", "--ckpt-every", "50ms", "--kill", "1@400ms"][..],
        &["--ft", "logging", "--kill", "1@400ms"],
    ] {
        let (printed, said) = run(&network, &[&["-hosts", "h1:1,h2:1"], way].concat(), &[]);
        assert_eq!(printed, expected, "{said}");
        assert!(said.contains("node 1"), "{said}");
    }
}

fn ranks_run_in_an_allocation_of_slurm() {
    let (network, expected) = (Network::new(3), undisturbed());
    let slurm = Slurm::on(&network);
    for way in [&[][..], &["--ft", "double", "--ckpt-every", "50ms", "--kill", "1@400ms"]] {
        let words = heat(&[&["-hostfile", "slurm", "--report", "report.json"], way].concat());
        let allocation = ["--nodes=2", "--ntasks=3", env!("CARGO_BIN_EXE_talisman"), "mpirun"];
        let mut command = slurm.command("salloc", &allocation);
        let ended = Running::start(command.args(words).env("TALISMAN_NO_ADVICE", "1")).end();
        assert!(ended.status.success() && ended.output == expected, "{way:?}: {ended:?}");
        let report = std::fs::read_to_string(network.folder().join("report.json")).expect("it is written");
        let report: serde_json::Value = serde_json::from_str(&report).expect("a report is JSON");
        assert_eq!(report["nodes"], 3, "{way:?}: {report}");
        assert_eq!(ended.errors.contains("node 1"), !way.is_empty(), "{way:?}: {ended:?}");
    }
}
