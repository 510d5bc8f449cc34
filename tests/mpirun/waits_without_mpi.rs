//! Ranks that wait for each other without messages, by what their host has for processes: locks of files, memory that
//! several have mapped, objects of the system, sockets and pipes.

use std::fs;

use crate::job::{Interface, c_compiler, folder, mpirun, printed, program};
use crate::trials::checks;

checks!(
    ranks_have_locks_of_their_own needs c_compiler,
    ranks_wait_for_each_other_in_memory_that_they_share needs c_compiler,
    ranks_wait_for_each_other_by_what_the_system_has needs c_compiler,
);

/// Few: a rank that moves whenever it waits does so at each attempt to have a lock.
const ROUNDS: u32 = 10;
const RANKS: u32 = 4;
/// In one process, in several, and where ranks would rather be elsewhere.
const MANNERS: [&[&str]; 3] = [&[], &["--nodes", "2"], &["--nodes", "2", "--move-always"]];

/// All ranks have counted to the end, and nobody has counted twice.
fn count(ways: &[&str]) {
    let file = program("waits_without_mpi.c", Interface::Mpich);
    let (file, ranks, rounds) = (file.to_str().expect("text"), RANKS.to_string(), ROUNDS.to_string());
    for way in ways {
        for (manner, options) in MANNERS.iter().enumerate() {
            let name = folder().join(format!("waits-{way}-{manner}"));
            let _none = fs::remove_file(&name);
            let task = [file, way, name.to_str().expect("text"), &rounds];
            let counted = printed(&mut mpirun(&[&["-n", &ranks], *options, &task].concat()));
            assert_eq!(counted, format!("{}\n", RANKS * ROUNDS), "{way}, {options:?}");
        }
    }
}

fn ranks_have_locks_of_their_own() {
    count(&["record", "tried", "position", "open", "whole"]);
}

fn ranks_wait_for_each_other_in_memory_that_they_share() {
    count(&["mutex", "writer", "condition", "barrier", "semaphore", "timed"]);
}

fn ranks_wait_for_each_other_by_what_the_system_has() {
    count(&["queue", "semop", "recv", "poll", "ppoll", "epoll", "fifo"]);
}
