//! Twelve of the test programs of ScaLAPACK, as a distribution ships them: programs in Fortran, over the BLACS in C.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::job::{BOTH, Interface, folder, missing, mpirun, printed, under_open_mpi};
use crate::trials::checks;

checks!(
    real_matrices_are_factored_as_under_open_mpi needs scalapack,
    complex_matrices_are_factored_as_under_open_mpi needs scalapack,
    banded_systems_are_solved_as_under_open_mpi needs scalapack,
);

/// Programs and their inputs.
type Programs = [(&'static str, &'static str); 4];

const REAL: Programs = [("xdqr", "QR.dat"), ("xsinv", "INV.dat"), ("xdbrd", "BRD.dat"), ("xsllt", "LLT.dat")];
const COMPLEX: Programs =
    [("xchrd", "HRD.dat"), ("xcinv", "INV.dat"), ("xzqr", "QR.dat"), ("xztrd", "TRD.dat")];
const BANDED: Programs =
    [("xdptllt", "BLLT.dat"), ("xcpbllt", "BLLT.dat"), ("xsgblu", "BLU.dat"), ("xzdblu", "BLU.dat")];

const INPUTS: &str = "/usr/share/scalapack";

fn scalapack() -> Option<String> {
    let all = [REAL, COMPLEX, BANDED].concat();
    let is_there = |(name, input): &(&str, &str)| {
        BOTH.iter().all(|interface| path(*interface, name).is_file())
            && Path::new(INPUTS).join(input).is_file()
    };
    let absent = || "scalapack-mpi-test is not installed".to_owned();
    missing("mpirun.openmpi").or_else(|| (!all.iter().all(is_there)).then(absent))
}

fn path(interface: Interface, name: &str) -> PathBuf {
    let tests = if interface == Interface::Mpich { "mpich-tests" } else { "openmpi-tests" };
    Path::new("/usr/lib/x86_64-linux-gnu/scalapack").join(tests).join(name)
}

/// An input of the package, with few problems, for two processes in either order.
fn small(input: &str) -> String {
    input.lines().map(|line| small_line(line) + "\n").collect()
}

fn small_line(line: &str) -> String {
    let has = |part: &str| line.to_lowercase().contains(part);
    // The first word is how many of the numbers in the next line count.
    let count = |count: &str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        line.trim_start().replacen(first, count, 1)
    };
    if has("values of p") {
        return "1 2 values of P".into();
    }
    if has("values of q") {
        return "2 1 values of Q".into();
    }
    // Of condition numbers: programs take them by a number that is not alike on all ranks.
    if has("test cond") {
        return "F".into();
    }
    match () {
        () if has("number of problem") || has("number of bandwidths") => count("2"),
        () if has("process grids") || has("processor grids") => count("2"),
        () if ["number of nb's", "number of blocking", "number of nrhs's", "number of nbrhs's"]
            .into_iter()
            .any(has) =>
        {
            count("1")
        }
        () => line.into(),
    }
}

/// All that a program prints besides times and residuals, which have a point in them.
fn verdicts(printed: &str) -> Vec<String> {
    printed.split_whitespace().filter(|word| !word.contains('.')).map(str::to_owned).collect()
}

fn same_as_under_open_mpi(programs: Programs) {
    for (name, input) in programs {
        let own = folder().join(format!("scalapack-{name}"));
        fs::create_dir_all(&own).expect("the folder of this run");
        let text = fs::read_to_string(Path::new(INPUTS).join(input)).expect("it is there");
        fs::write(own.join(input), small(&text)).expect("the folder is there");
        let run = |command: &mut Command| {
            verdicts(&printed(command.current_dir(&own).stdin(Stdio::null()).env("OMP_NUM_THREADS", "1")))
        };
        let file = |interface: Interface| path(interface, name).into_os_string().into_string().expect("text");
        let expected = run(&mut under_open_mpi("2", &[&file(Interface::OpenMpi)]));
        assert!(expected.iter().filter(|word| *word == "PASSED").count() >= 4, "{name}: {expected:?}");
        for interface in BOTH {
            for nodes in ["1", "2"] {
                let found = run(&mut mpirun(&["-n", "2", "--nodes", nodes, &file(interface)]));
                assert_eq!(found, expected, "{name} {interface:?} on {nodes}");
            }
        }
    }
}

fn real_matrices_are_factored_as_under_open_mpi() {
    same_as_under_open_mpi(REAL);
}

fn complex_matrices_are_factored_as_under_open_mpi() {
    same_as_under_open_mpi(COMPLEX);
}

fn banded_systems_are_solved_as_under_open_mpi() {
    same_as_under_open_mpi(BANDED);
}
