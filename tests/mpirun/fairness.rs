//! Ranks that wait for each other without MPI, or by looking again and again, have their turns.

use crate::job::{c_compiler, folder, mpirun, printed, sorted};
use crate::trials::checks;
use crate::wrappers::built;

checks!(
    ranks_of_one_node_have_their_turns needs c_compiler,
    ranks_of_two_nodes_have_their_turns needs c_compiler,
    ranks_agree_with_one_tag needs c_compiler,
    what_was_sent_leaves_while_ranks_compute needs c_compiler,
);

/// On one node nobody runs but by another's leave.
fn have_their_turns(nodes: &str) {
    let file = built("talisman-mpicc", "fairness.c");
    let file = file.to_str().expect("a name that is text");
    let stem = folder().join(format!("fairness-{nodes}"));
    let stem = stem.to_str().expect("a name that is text");
    let printed = printed(&mut mpirun(&["-n", "5", "--nodes", nodes, file, stem]));
    let subjects = ["begun", "files", "looks", "pauses"];
    let expected: Vec<String> =
        subjects.iter().flat_map(|subject| (0..5).map(move |rank| format!("{subject} {rank}"))).collect();
    assert_eq!(sorted(&printed), expected);
}

fn ranks_of_one_node_have_their_turns() {
    have_their_turns("1");
}

fn ranks_of_two_nodes_have_their_turns() {
    have_their_turns("2");
}

/// A rank that looks for a message does not find one of the next agreement before it has seen the barrier of this one end.
fn ranks_agree_with_one_tag() {
    let program = built("talisman-mpicc", "agrees.c");
    let program = program.to_str().expect("a name that is text");
    for (ranks, nodes) in [("2", "1"), ("3", "1"), ("5", "1"), ("3", "3"), ("5", "2")] {
        let printed = printed(&mut mpirun(&["-n", ranks, "--nodes", nodes, program, "300"]));
        let expected: Vec<String> =
            (0..ranks.parse().expect("a number")).map(|rank: u32| format!("agreed {rank}")).collect();
        assert_eq!(sorted(&printed), expected, "{nodes} nodes");
    }
}

fn what_was_sent_leaves_while_ranks_compute() {
    let program = built("talisman-mpicc", "leaves.c");
    let program = program.to_str().expect("a name that is text");
    for transport in ["shm", "tcp"] {
        let file = folder().join(format!("leaves-{transport}"));
        let file = file.to_str().expect("a name that is text");
        let words = ["-n", "2", "--nodes", "2", "--transport", transport, program, file];
        assert_eq!(sorted(&printed(&mut mpirun(&words))), ["computed 0", "computed 1"], "{transport}");
    }
}
