//! Parts of MPI that are not there: a program that has their functions runs until it calls one, and the job ends with its
//! name then, under each interface, in C and in Fortran.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::job::{BOTH, c_compiler, folder, mpirun, output, program, text};
use crate::trials::checks;
use crate::wrappers::wrapper;

checks!(functions_that_are_not_there_are_named_when_they_are_called needs c_compiler);

/// Of each part: a function, and what is said of it.
const OF_C: [(&str, &str); 2] = [
    ("PMPI_Register_datarep_c", "as values are in memory"),
    ("MPI_Register_datarep", "as values are in memory"),
];

const OF_FORTRAN: [(&str, &str, &str); 2] = [
    ("mpi_register_datarep_", "MPI_Register_datarep", "as values are in memory"),
    ("PMPI_REGISTER_DATAREP", "MPI_Register_datarep", "as values are in memory"),
];

fn functions_that_are_not_there_are_named_when_they_are_called() {
    for file in BOTH.map(|interface| program("absent.c", interface)).iter().chain([&of_the_standard()]) {
        for (name, why) in OF_C {
            check(file, name, name.trim_start_matches('P'), why);
        }
    }
    for interface in BOTH {
        for (name, function, why) in OF_FORTRAN {
            check(&program("absent.c", interface), name, function, why);
        }
    }
}

fn check(file: &Path, name: &str, function: &str, why: &str) {
    let output = output(&mut mpirun(&["-n", "2", file.to_str().expect("a name that is text"), name]));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{file:?} {name}: {said}");
    assert_eq!(said.matches(&format!("{name} is there\n")).count(), 2, "{file:?} {name}: {said}");
    assert!(said.contains(&format!("error: {function} is not supported: ")), "{file:?} {name}: {said}");
    assert!(said.contains(why) && !said.contains("came back"), "{file:?} {name}: {said}");
}

/// Of the interface of the standard.
fn of_the_standard() -> PathBuf {
    let file = folder().join("absent.standard");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpirun/programs/absent.c");
    let mut command: Command = wrapper("talisman-mpicc");
    let built = output(command.arg(source).arg("-o").arg(&file));
    assert!(built.status.success(), "{}", text(&built.stderr));
    file
}
