//! Programs as a distribution ships them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::job::{folder, missing, mpirun, printed, sorted, under_open_mpi};
use crate::trials::checks;

checks!(
    lammps_prints_the_same_however_it_is_run needs lammps,
    lammps_prints_the_same_when_its_ranks_always_move needs lammps,
    lammps_prints_what_it_prints_elsewhere needs lammps_and_open_mpi,
    netpipe_of_mpich_measures needs netpipe_of_mpich,
    netpipe_of_open_mpi_measures needs netpipe_of_open_mpi,
    phyml_finds_the_same_trees needs phyml,
    hpcc_comes_to_its_end_with_the_verdicts_of_open_mpi needs hpcc,
    pt_scotch_orders_by_threads_that_call_mpi needs pt_scotch,
    python_sends_objects_as_under_open_mpi needs mpi4py,
    python_adds_arrays_as_under_open_mpi needs numpy,
);

pub fn lammps() -> Option<String> {
    missing("lmp")
}

fn lammps_and_open_mpi() -> Option<String> {
    missing("lmp").or_else(|| missing("mpirun.openmpi"))
}

fn netpipe_of_mpich() -> Option<String> {
    missing("NPmpich2")
}

fn netpipe_of_open_mpi() -> Option<String> {
    missing("NPopenmpi")
}

fn phyml() -> Option<String> {
    missing("phyml-mpi")
}

fn hpcc() -> Option<String> {
    missing("hpcc").or_else(|| missing("mpirun.openmpi"))
}

fn pt_scotch() -> Option<String> {
    missing("dgord")
}

fn script() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpirun/programs/in.lj");
    file.to_str().expect("a name that is text").to_owned()
}

/// What LAMMPS prints of each step: not how long anything took.
pub fn table(printed: &str) -> Vec<&str> {
    let table: Vec<&str> = printed
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("Step"))
        .take_while(|line| !line.starts_with("Loop time"))
        .collect();
    assert!(table.len() > 5, "{printed}");
    table
}

pub fn lammps_job(options: &[&str]) -> Command {
    let script = script();
    mpirun(&[&["-n", "4"], options, &["lmp", "-log", "none", "-in", &script]].concat())
}

fn lammps_prints_the_same_however_it_is_run() {
    let undisturbed = printed(&mut lammps_job(&[]));
    for options in [
        &["--nodes", "2"][..],
        &["--nodes", "2", "--balancer", "rotate", "--lb-every", "200ms"],
        &["--nodes", "2", "--ft", "double", "--ckpt-every", "300ms", "--kill", "1@1s"],
    ] {
        let other = printed(&mut lammps_job(options));
        assert_eq!(table(&other), table(&undisturbed), "{options:?}");
    }
}

/// A rank of it has many pages, and each waits often: a few steps are enough.
fn lammps_prints_the_same_when_its_ranks_always_move() {
    let script = script();
    let task = ["lmp", "-log", "none", "-var", "steps", "6", "-var", "every", "1", "-in", &script];
    let job = |options: &[&str]| printed(&mut mpirun(&[&["-n", "2"], options, &task].concat()));
    assert_eq!(table(&job(&["--nodes", "2", "--move-always"])), table(&job(&[])));
}

fn lammps_prints_what_it_prints_elsewhere() {
    let mut elsewhere = under_open_mpi("4", &["lmp", "-log", "none", "-in", &script()]);
    assert_eq!(table(&printed(&mut lammps_job(&[]))), table(&printed(&mut elsewhere)));
}

/// Sizes that it has measured.
fn netpipe(program: &str) {
    let result = folder().join(format!("{program}.out"));
    let result = result.to_str().expect("a name that is text");
    for nodes in ["1", "2"] {
        // As often for each size, else each takes half a second.
        let words = ["-n", "2", "--nodes", nodes, program, "-n", "30", "-u", "10000", "-o", result];
        printed(&mut mpirun(&words));
        let measured = std::fs::read_to_string(result).expect("it has written its results");
        let sizes = measured.lines().filter_map(|line| line.split_whitespace().next()?.parse::<u32>().ok());
        assert!(sizes.clone().count() > 20 && sizes.max() > Some(8_000), "{measured}");
    }
}

fn netpipe_of_mpich_measures() {
    netpipe("NPmpich2");
}

fn netpipe_of_open_mpi_measures() {
    netpipe("NPopenmpi");
}

/// Four sequences that fall into two pairs.
const SEQUENCES: &str = "\
 4 40
one       ACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT
two       ACGTACGTACGTACGTACGTACGTACGTACGTACGTACGA
three     TTGTACGAACGTTCGTACGTAGGTACCTACGTATGTACGT
four      TTGTACGAACGTTCGTACGTAGGTACCTACGTATGTACGA
";

/// The tree, and those of the bootstrap, which ranks compute in any order.
fn phyml_finds_the_same_trees() {
    let trees = |name: &str, options: &[&str]| {
        let file = folder().join(name);
        std::fs::write(&file, SEQUENCES).expect("the folder is there");
        let file = file.to_str().expect("a name that is text");
        let task = ["phyml-mpi", "-i", file, "-b", "40", "--r_seed", "7", "--no_memory_check"];
        printed(&mut mpirun(&[&["-n", "4"], options, &task].concat()));
        let written =
            |of: &str| std::fs::read_to_string(format!("{file}_phyml_{of}.txt")).expect("it has written it");
        let mut trees: Vec<String> = written("boot_trees").lines().map(str::to_owned).collect();
        trees.sort();
        (written("tree"), trees)
    };
    let alone = trees("phyml-alone", &[]);
    assert!(alone.0.contains("three") && alone.1.len() == 40, "{alone:?}");
    assert_eq!(trees("phyml-nodes", &["--nodes", "2"]), alone);
    let moves = ["--nodes", "2", "--balancer", "rotate", "--lb-every", "50ms"];
    assert_eq!(trees("phyml-moves", &moves), alone);
    let loses = ["--nodes", "2", "--ft", "double", "--ckpt-every", "100ms", "--kill", "1@600ms"];
    assert_eq!(trees("phyml-loses", &loses), alone);
}

/// All that the HPC Challenge says of its results: whether they are right, not how fast they came. It repeats those beside times of
/// the clock beside times of the processor, where these are long enough.
fn verdicts(text: &str) -> Vec<String> {
    const SUBJECTS: [&str; 8] =
        ["PASSED", "FAILED", "errors in", "with error", "completed and", "Success=", "skipped", "End of"];
    let is_verdict =
        |line: &&str| !line.starts_with("CPU ") && SUBJECTS.iter().any(|subject| line.contains(subject));
    text.lines().filter(is_verdict).map(without_rates).collect()
}

/// Times and rates have a point in them.
fn without_rates(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().filter(|word| !word.contains('.')).collect();
    words.join(" ")
}

/// It multiplies, transposes, sorts, updates at random, and its operations of reductions ask for their rank.
fn hpcc_comes_to_its_end_with_the_verdicts_of_open_mpi() {
    let run = |name: &str, command: &mut Command| {
        let own = folder().join(name);
        std::fs::create_dir_all(&own).expect("the folder of this run");
        let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpirun/programs/hpccinf.txt");
        std::fs::copy(input, own.join("hpccinf.txt")).expect("it is there");
        printed(command.current_dir(&own));
        verdicts(&std::fs::read_to_string(own.join("hpccoutf.txt")).expect("it has written its results"))
    };
    let expected = run("hpcc-elsewhere", &mut under_open_mpi("4", &["hpcc"]));
    assert!(expected.len() > 40 && expected.contains(&"Success=1".to_owned()), "{expected:?}");
    for (name, way) in [("hpcc-alone", &[][..]), ("hpcc-nodes", &["--nodes", "2"])] {
        let own = run(name, &mut mpirun(&[&["-n", "4"], way, &["hpcc"]].concat()));
        assert_eq!(own, expected, "{name}");
    }
}

/// An interpreter at fixed addresses, so each rank needs a node; MPI comes with a module that it loads while it runs.
const PYTHON: &str = "/usr/bin/python3";

pub fn mpi4py() -> Option<String> {
    missing("mpirun.openmpi").or_else(|| missing_module("mpi4py"))
}

fn numpy() -> Option<String> {
    mpi4py().or_else(|| missing_module("numpy"))
}

fn missing_module(name: &str) -> Option<String> {
    let found = Command::new(PYTHON).args(["-c", &format!("import {name}")]).output();
    let is_there = found.is_ok_and(|output| output.status.success());
    (!is_there).then(|| format!("Python's {name} is not installed"))
}

fn python_sends_objects_as_under_open_mpi() {
    let expected = same_python_as_under_open_mpi("objects.py");
    assert!(expected.lines().count() == 4 && expected.contains("('tuple', 7)"), "{expected}");
}

/// Its libraries have 40 MiB.
fn python_adds_arrays_as_under_open_mpi() {
    let expected = same_python_as_under_open_mpi("arrays.py");
    assert_eq!(expected, "[ 0.  3.  6.  9. 12.] 90.0\n");
}

pub fn same_python_as_under_open_mpi(script: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpirun/programs").join(script);
    let script = script.to_str().expect("a name that is text");
    let expected = printed(&mut under_open_mpi("3", &[PYTHON, script]));
    let own = printed(&mut mpirun(&["-n", "3", "--nodes", "3", PYTHON, script]));
    assert_eq!(sorted(&own), sorted(&expected));
    expected
}

/// A grid of cubes, each joined with those that it touches, as Scotch reads graphs.
fn grid(side: usize) -> String {
    let place = |x: usize, y: usize, z: usize| (x * side + y) * side + z;
    let one_less = |at: usize| at.checked_sub(1);
    let one_more = |at: usize| Some(at + 1).filter(|at| *at < side);
    let mut lines = Vec::new();
    for (x, y, z) in (0..side.pow(3)).map(|at| (at / side / side, at / side % side, at % side)) {
        let near = [
            one_less(x).map(|x| place(x, y, z)),
            one_more(x).map(|x| place(x, y, z)),
            one_less(y).map(|y| place(x, y, z)),
            one_more(y).map(|y| place(x, y, z)),
            one_less(z).map(|z| place(x, y, z)),
            one_more(z).map(|z| place(x, y, z)),
        ];
        lines.push(near.into_iter().flatten().map(|near| near.to_string()).collect::<Vec<_>>());
    }
    let edges: usize = lines.iter().map(Vec::len).sum();
    let lines: Vec<String> = lines.iter().map(|near| format!("{} {}", near.len(), near.join(" "))).collect();
    format!("0\n{} {edges}\n0 000\n{}\n", lines.len(), lines.join("\n"))
}

/// It folds a graph onto two halves of its ranks, and a thread of each rank does so for the second one. In which order the cubes come
/// depends on when threads run, under Open MPI too: each has one place.
fn pt_scotch_orders_by_threads_that_call_mpi() {
    let graph = folder().join("grid.grf");
    fs::write(&graph, grid(16)).expect("the folder of this run");
    for (ranks, nodes) in [("4", "1"), ("4", "2"), ("3", "3")] {
        let order = folder().join(format!("grid-{ranks}-{nodes}.ord"));
        let [graph, order] = [&graph, &order].map(|file| file.to_str().expect("a name that is text"));
        printed(&mut mpirun(&["-n", ranks, "--nodes", nodes, "dgord", graph, order]));
        let written = fs::read_to_string(order).expect("it was written");
        let mut places: Vec<usize> =
            written.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).collect();
        places.sort_unstable();
        assert_eq!(places, (0..16 * 16 * 16).collect::<Vec<_>>(), "{ranks} ranks on {nodes} nodes");
    }
}
