//! Ranks that move and are balanced, of nodes that log what they are given (`--ft logging`) and are killed: those of the
//! lost nodes, and such as had come there, do again what they did, and no others.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::job::{BOTH, Interface, c_compiler, cxx_compiler, folder, mpirun, printed, program, sorted};
use crate::packages::{lammps, lammps_job, table};
use crate::trials::checks;

checks!(
    ranks_that_move_do_again_what_they_did needs c_compiler,
    ranks_that_are_balanced_do_again_what_they_did needs c_compiler,
    whoever_had_moved_is_lost_where_it_came_from_and_where_it_went needs c_compiler,
    exceptions_are_caught_again_after_moves needs cxx_compiler,
    a_rank_that_writes_to_a_file_stays_with_it needs c_compiler,
    lammps_is_balanced_and_loses_a_node needs lammps,
);

/// All go back to the beginning: there is more to be done again.
const NO_CUTS: [&str; 2] = ["--ckpt-every", "100000steps"];

/// For ranks that always move, and for others: they print 25 lines, and then one each.
const FEW: [&str; 2] = ["250", "10"];
const MANY: [&str; 2] = ["8000", "320"];
const LINES: usize = 25 + 6;

/// When the job has printed so many lines, this node is killed.
type Kill = (usize, u32);

/// A job of `roams.c`, whose heap changes, and which leaves much on its stack that it never reads.
fn job(interface: Interface, way: &[&str], task: &[&str], kills: &[Kill]) -> Vec<String> {
    let file = program("roams.c", interface);
    let file = file.to_str().expect("a name that is text");
    let mut command = mpirun(&[&["-n", "6"], way, &[file], task].concat());
    let mut job =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("`talisman` was built");
    let mut lines = Vec::new();
    for line in BufReader::new(job.stdout.take().expect("a pipe")).lines() {
        lines.push(line.expect("a line"));
        for (_, node) in kills.iter().filter(|(after, _)| *after == lines.len()) {
            kill_process(pid_of(*node, &job), Signal::KILL).expect("a node of this job");
        }
    }
    let mut said = String::new();
    job.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    let status = job.wait().expect("it ends");
    assert!(status.success(), "{interface:?} {way:?} {kills:?} ended with {status}: {said}");
    let alone = said.matches("goes back").count();
    assert!(alone <= kills.len(), "{interface:?} {way:?} {kills:?}: {said}");
    assert!(said.contains("nobody else went back") || kills.is_empty(), "{way:?} {kills:?}: {said}");
    lines.sort_unstable();
    lines
}

/// The present process of a node: another one may just be starting.
fn pid_of(node: u32, job: &Child) -> Pid {
    let (launcher, name) = (job.id(), format!("node {node} of"));
    loop {
        let children = fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children"));
        let children = children.expect("the job has not ended");
        let is_it = |pid: &&str| {
            fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|words| String::from_utf8_lossy(&words).contains(&name))
        };
        let pid = children.split_whitespace().find(is_it).and_then(|pid| pid.parse().ok());
        match pid.and_then(Pid::from_raw) {
            Some(pid) => return pid,
            None => std::thread::yield_now(),
        }
    }
}

fn same(interface: Interface, ways: &[(&[&str], &[Kill])], common: &[&str], task: &[&str]) {
    let undisturbed = job(interface, &[], task, &[]);
    assert_eq!(undisturbed.len(), LINES, "{undisturbed:?}");
    for (way, kills) in ways {
        assert_eq!(job(interface, &[common, way].concat(), task, kills), undisturbed, "{way:?} {kills:?}");
    }
}

fn ranks_that_move_do_again_what_they_did() {
    let ways: [(&[&str], &[Kill]); 5] = [
        (&["logging"], &[(10, 1)]),
        (&["logging", "--ckpt-every", "200ms"], &[(10, 0)]),
        (&["logging:strict"], &[(8, 2)]),
        (&["logging:ticket"], &[(8, 1)]),
        (&["logging"], &[(4, 2), (15, 2)]),
    ];
    for (interface, ways) in BOTH.into_iter().zip([&ways[..], &ways[..1]]) {
        same(interface, ways, &["--nodes", "3", "--move-always", "--ft"], &FEW);
    }
}

fn ranks_that_are_balanced_do_again_what_they_did() {
    let ways: [(&[&str], &[Kill]); 4] = [
        (&["rotate", "--lb-every", "20ms"], &[(8, 1)]),
        (&["rotate", "--lb-every", "20ms", "--ckpt-every", "150ms"], &[(5, 0), (15, 1)]),
        (&["greedy", "--lb-every", "50ms"], &[(10, 2)]),
        (&["greedy"], &[(10, 0)]),
    ];
    same(Interface::Mpich, &ways, &["--nodes", "3", "--ft", "logging", "--balancer"], &MANY);
}

/// Each rank has been on all nodes soon. Nodes 0 and 2 of four keep nothing of each other, and neither do 1 and 3.
fn whoever_had_moved_is_lost_where_it_came_from_and_where_it_went() {
    let ways: [(&[&str], &[Kill]); 4] = [
        (&NO_CUTS, &[(10, 0), (10, 2)]),
        (&NO_CUTS, &[(5, 1), (6, 3)]),
        (&NO_CUTS, &[(5, 2), (14, 1)]),
        (&NO_CUTS, &[(4, 0), (10, 1), (16, 2), (20, 3)]),
    ];
    same(Interface::OpenMpi, &ways, &["--nodes", "4", "--move-always", "--ft", "logging"], &FEW);
}

fn exceptions_are_caught_again_after_moves() {
    let file = program("throws.cc", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let undisturbed = printed(&mut mpirun(&["-n", "4", file, "60"]));
    for moves in [&["--move-always"][..], &["--balancer", "rotate", "--lb-every", "5ms"]] {
        let lost = ["-n", "4", "--nodes", "3", "--ft", "logging", "--kill", "0@150ms"];
        let disturbed = printed(&mut mpirun(&[&lost, moves, &[file, "60"]].concat()));
        assert_eq!(sorted(&disturbed), sorted(&undisturbed), "{moves:?}");
    }
}

/// Would it go on elsewhere, its first node would make the file empty again when it does that again.
fn a_rank_that_writes_to_a_file_stays_with_it() {
    let written = |name: &str, way: &[&str], kills: &[Kill]| {
        let file = folder().join(format!("roams-{name}"));
        let name = file.to_str().expect("a name that is text");
        let lines = job(Interface::Mpich, way, &[FEW[0], FEW[1], name], kills);
        (lines, fs::read_to_string(&file).expect("a rank has written it"))
    };
    let expected = written("undisturbed", &[], &[]);
    assert_eq!((expected.0.len(), expected.1.lines().count()), (LINES, 25));
    let moves = ["--nodes", "3", "--move-always", "--ft", "logging"];
    for (name, cuts, kills) in [
        ("where-it-began", NO_CUTS, &[(10, 0)][..]),
        ("all", NO_CUTS, &[(5, 0), (12, 1), (19, 2)]),
        ("cut", ["--ckpt-every", "150ms"], &[(8, 0), (16, 2)]),
    ] {
        assert_eq!(written(name, &[&moves[..], &cuts].concat(), kills), expected, "{name}");
    }
}

fn lammps_is_balanced_and_loses_a_node() {
    let undisturbed = printed(&mut lammps_job(&[]));
    let lost = ["--nodes", "3", "--ft", "logging", "--balancer", "greedy", "--kill", "1@1500ms"];
    assert_eq!(table(&printed(&mut lammps_job(&lost))), table(&undisturbed));
}
