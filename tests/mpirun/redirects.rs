//! Ranks that send their standard streams to files.

use std::fs;

use crate::groups::{WAYS, built, is_the_same_with, native_with, wrappers};
use crate::job::{BOTH, folder};
use crate::trials::checks;

checks!(
    streams_that_go_elsewhere_are_as_under_their_own_mpi needs wrappers,
);

/// Also what was not written when a rank ended.
fn streams_that_go_elsewhere_are_as_under_their_own_mpi() {
    let folder = folder().to_str().expect("a name that is text");
    for interface in BOTH {
        let file = built("redirects.c", interface);
        let file = file.to_str().expect("a name that is text");
        let expected = native_with(interface, file, &["1", folder]);
        for way in &WAYS[..5] {
            let task = ["1", folder, "alone"];
            let task = if way.contains(&"--kill") { &task[..] } else { &task[..2] };
            is_the_same_with(&[way], file, task, expected.clone());
            for rank in 0..4 {
                let last = format!("{folder}/last-{rank}");
                let said = fs::read_to_string(&last).expect("each rank makes it");
                assert_eq!(said, format!("last words of rank {rank}\n"), "{interface:?} {way:?}");
                fs::remove_file(&last).expect("it is there");
            }
        }
    }
}
