//! Messages of all lengths between two nodes of one host: short ones go from memory to memory where their receivers wait for them, others
//! are announced, and none overtakes another.

use crate::job::{c_compiler, mpirun, printed, sorted};
use crate::trials::checks;
use crate::wrappers::built;

checks!(
    messages_of_all_lengths_keep_their_order needs c_compiler,
    they_do_with_ranks_that_move_and_nodes_that_are_lost needs c_compiler,
);

fn mixed(ranks: u32, rounds: u32, way: &[&str]) {
    let program = built("talisman-mpicc", "mixed.c");
    let program = program.to_str().expect("a name that is text");
    let (count, times) = (ranks.to_string(), rounds.to_string());
    let printed = printed(&mut mpirun(&[&["-n", &count], way, &[program, &times]].concat()));
    let expected: Vec<String> = (0..ranks).map(|rank| format!("mixed {} of {rank}", rounds * 60)).collect();
    assert_eq!(sorted(&printed), expected, "{way:?}");
}

fn messages_of_all_lengths_keep_their_order() {
    for ranks in [2, 3, 6] {
        for transport in ["shm", "tcp"] {
            mixed(ranks, 4, &["--nodes", "2", "--transport", transport]);
        }
    }
}

fn they_do_with_ranks_that_move_and_nodes_that_are_lost() {
    for way in [
        &["--move-always"][..],
        &["--balancer", "rotate", "--lb-every", "5ms"],
        &["--ft", "double", "--ckpt-every", "50ms", "--kill", "1@300ms"],
        &["--ft", "logging", "--ckpt-every", "50ms", "--kill", "1@300ms"],
    ] {
        mixed(4, 4, &[&["--nodes", "2"], way].concat());
    }
}
