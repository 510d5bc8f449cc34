//! Long messages between nodes of one host, which are read where their senders have them, or come in messages where they must.

use talisman::launch::Report;

use crate::job::{c_compiler, folder, mpirun, printed, sorted};
use crate::trials::checks;
use crate::wrappers::built;

checks!(
    long_messages_are_read_where_they_lie needs c_compiler,
    long_messages_come_in_messages_where_nodes_run_again needs c_compiler,
    long_messages_come_with_ranks_that_move needs c_compiler,
    long_messages_come_after_a_loss needs c_compiler,
    memory_of_long_vectors_is_kept needs c_compiler,
);

const RANKS: u32 = 4;
/// As in the program.
const ROUNDS: u64 = 24;
const BYTES: u64 = 1 << 20;

/// How many bytes went between the nodes of a job with these options, as messages. All rounds are done so often.
fn bytes_in_messages(name: &str, times: u64, options: &[&str]) -> u64 {
    let program = built("talisman-mpicc", "long_messages.c");
    let program = program.to_str().expect("a name that is text");
    let report = folder().join(format!("long-{name}.json"));
    let path = report.to_str().expect("a name that is text");
    let count = times.to_string();
    let words = [&["-n", "4", "--nodes", "2", "--report", path], options, &[program, &count]].concat();
    let printed = printed(&mut mpirun(&words));
    let expected: Vec<String> =
        (0..RANKS).map(|rank| format!("rounds {} of {rank}", times * ROUNDS)).collect();
    assert_eq!(sorted(&printed), expected, "{options:?}");
    Report::read(&report).expect("the job ended well").messages.bytes_between_nodes
}

/// Of a ring of four ranks on two nodes two messages of a round go to the other node.
fn long_messages_are_read_where_they_lie() {
    let bytes = bytes_in_messages("read", 1, &[]);
    assert!(bytes < BYTES, "{bytes} bytes in messages, of {} bytes", 2 * BYTES * ROUNDS);
}

fn long_messages_come_in_messages_where_nodes_run_again() {
    let bytes = bytes_in_messages("logged", 1, &["--ft", "logging"]);
    assert!(bytes >= 2 * BYTES * ROUNDS, "{bytes} bytes are kept for who runs again");
    bytes_in_messages("logged-kill", 3, &["--ft", "logging", "--kill", "1@300ms"]);
}

fn long_messages_come_with_ranks_that_move() {
    bytes_in_messages("moved", 1, &["--move-always"]);
}

fn long_messages_come_after_a_loss() {
    bytes_in_messages("lost", 4, &["--ft", "double", "--ckpt-every", "200ms", "--kill", "1@500ms"]);
}

/// A reduction of a long vector needs memory beside the program's. It is not given back to the system each time.
fn memory_of_long_vectors_is_kept() {
    let program = built("talisman-mpicc", "reduces.c");
    let program = program.to_str().expect("a name that is text");
    for nodes in ["1", "2"] {
        let printed = printed(&mut mpirun(&["-n", "4", "--nodes", nodes, program]));
        let (sum, pages) = printed.trim().split_once(' ').expect("two numbers");
        assert_eq!(sum, "524290");
        // 25,600 of the pages of one rank's vector were it taken anew each time.
        let pages: u64 = pages.parse().expect("a number");
        assert!(pages < 5_000, "{pages} pages on {nodes} nodes");
    }
}
