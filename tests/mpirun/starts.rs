//! Ranks that start other programs and wait for them, or send their standard streams elsewhere.

use std::fs;

use crate::groups::{WAYS, built, is_the_same_with, native_with, wrappers};
use crate::job::{BOTH, folder};
use crate::packages::{mpi4py, same_python_as_under_open_mpi};
use crate::trials::checks;

checks!(
    programs_that_ranks_start_are_as_under_their_own_mpi needs wrappers,
    streams_that_go_elsewhere_are_as_under_their_own_mpi needs wrappers,
    python_starts_programs_as_under_open_mpi needs mpi4py,
);

/// While one runs its rank is held, so a loss may end the job.
fn programs_that_ranks_start_are_as_under_their_own_mpi() {
    let arguments = ["2", folder().to_str().expect("a name that is text")];
    for interface in BOTH {
        let file = built("starts.c", interface);
        let file = file.to_str().expect("a name that is text");
        is_the_same_with(&WAYS[..4], file, &arguments, native_with(interface, file, &arguments));
    }
}

/// Also what was not written when a rank ended.
fn streams_that_go_elsewhere_are_as_under_their_own_mpi() {
    let folder = folder().to_str().expect("a name that is text");
    for interface in BOTH {
        let file = built("redirects.c", interface);
        let file = file.to_str().expect("a name that is text");
        let expected = native_with(interface, file, &["1", folder]);
        for way in &WAYS[..5] {
            is_the_same_with(&[way], file, &["1", folder], expected.clone());
            for rank in 0..4 {
                let last = format!("{folder}/last-{rank}");
                let said = fs::read_to_string(&last).expect("each rank makes it");
                assert_eq!(said, format!("last words of rank {rank}\n"), "{interface:?} {way:?}");
                fs::remove_file(&last).expect("it is there");
            }
        }
    }
}

fn python_starts_programs_as_under_open_mpi() {
    let said = same_python_as_under_open_mpi("starts.py");
    assert!(said.contains("2 knar b'gone\\n' name 2 4 9"), "{said}");
}
