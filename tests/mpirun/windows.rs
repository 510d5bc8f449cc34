//! Ranks that access each other's memory: in the same process themselves, elsewhere by asking. Whichever it is, and whenever that changes,
//! all comes to the same.

use crate::groups::{built, wrappers};
use crate::job::{BOTH, mpirun, printed};
use crate::trials::checks;

checks!(
    nothing_is_lost_that_ranks_count_in_each_others_memory needs wrappers,
    nor_when_nodes_are_lost needs wrappers,
);

const RANKS: &str = "5";

/// What so many rounds come to.
fn counts(rounds: &str, ways: &[&[&str]]) {
    for interface in BOTH {
        let file = built("counters.c", interface);
        let task = ["-n", RANKS, file.to_str().expect("a name that is text"), rounds];
        let all = 5 * rounds.parse::<u64>().expect("a number");
        let expected = format!("right: {} {} {}\n", all * 32, all * 8, all * 4 * 500);
        for way in ways {
            assert_eq!(printed(&mut mpirun(&[*way, &task].concat())), expected, "{interface:?} {way:?}");
        }
    }
}

fn nothing_is_lost_that_ranks_count_in_each_others_memory() {
    let moves = ["--balancer", "rotate", "--lb-every", "10ms"];
    counts(
        "20",
        &[
            &[],
            &["--nodes", "2"],
            &["--nodes", "3", "--move-always"],
            &[&["--nodes", "2"], &moves[..]].concat(),
        ],
    );
}

/// A checkpoint in which some have done what others do not know of, or the other way round, would be seen in the counts.
fn nor_when_nodes_are_lost() {
    let kept = ["--nodes", "2", "--ft", "double", "--ckpt-every", "15ms"];
    let moves = ["--balancer", "rotate", "--lb-every", "25ms"];
    counts(
        "100",
        &[
            &[&kept[..], &["--kill", "1@250ms"]].concat(),
            &[&kept[..], &["--kill", "1@150ms,0@400ms", "--respawn"], &moves[..]].concat(),
            &["--nodes", "2", "--ft", "logging", "--kill", "1@250ms"],
        ],
    );
}
