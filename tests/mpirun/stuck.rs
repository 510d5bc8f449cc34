//! Jobs in which all ranks wait: where each is in its program.

use std::path::Path;

use crate::job::{BOTH, Interface, c_compiler, compiled, mpirun, output, program, text};
use crate::trials::checks;

checks!(
    a_rank_that_waits_is_named_with_function_and_line needs c_compiler,
    a_program_without_lines_has_the_nearest_name needs c_compiler,
);

/// What is said of a job of two ranks, which ends because nothing is left to do.
fn said(file: &Path, options: &[&str]) -> String {
    let file = file.to_str().expect("text");
    let output = output(&mut mpirun(&[&["-n", "2"], options, &[file]].concat()));
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("nothing is left to do"), "{said}");
    said
}

fn a_rank_that_waits_is_named_with_function_and_line() {
    for interface in BOTH {
        for options in [&[][..], &["--nodes", "2"]] {
            let said = said(&program("stuck.c", interface), options);
            for place in
                ["rank 0 in MPI_Recv (exchange, stuck.c:6) waits for tag 7", "MPI_Recv (collect, stuck.c:12)"]
            {
                assert!(said.contains(place), "{interface:?} {options:?}: {said}");
            }
        }
    }
}

fn a_program_without_lines_has_the_nearest_name() {
    let file = compiled("stuck.c", Interface::Mpich, ".stripped", &["-fPIE", "-pie", "-s"]);
    let said = said(&file, &[]);
    let name = file.file_name().expect("it has one").to_string_lossy();
    for place in ["MPI_Recv (exchange in", "MPI_Recv (collect in"] {
        assert!(said.contains(&format!("{place} {name})")), "{said}");
    }
}
