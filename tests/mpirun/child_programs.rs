//! Ranks that start other programs and wait for them.

use crate::groups::{WAYS, built, is_the_same_with, native_with, wrappers};
use crate::job::{BOTH, folder};
use crate::packages::{mpi4py, same_python_as_under_open_mpi};
use crate::trials::checks;

checks!(
    programs_that_ranks_start_are_as_under_their_own_mpi needs wrappers,
    python_starts_programs_as_under_open_mpi needs mpi4py,
);

/// While one runs its rank is held, so a loss may end the job.
fn programs_that_ranks_start_are_as_under_their_own_mpi() {
    let arguments = ["2", folder().to_str().expect("a name that is text")];
    for interface in BOTH {
        let file = built("child_programs.c", interface);
        let file = file.to_str().expect("a name that is text");
        is_the_same_with(&WAYS[..4], file, &arguments, native_with(interface, file, &arguments));
    }
}

fn python_starts_programs_as_under_open_mpi() {
    let said = same_python_as_under_open_mpi("child_programs.py");
    assert!(said.contains("2 knar b'gone\\n' name 2 4 9"), "{said}");
}
