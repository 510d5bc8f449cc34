//! Programs without steps: nothing tells when a checkpoint would be due but the time, and nothing comes to a point at which it could be saved.

use rustix::process::Signal;

use crate::job::{Shape, until};
use crate::subjects::{GOLOMB, LARGE_GOLOMB, LARGE_NQUEENS, Left, NQUEENS, Subject};
use crate::system::signal;

pub fn searches_go_back_to_checkpoints() {
    let left = goes_back([GOLOMB, LARGE_GOLOMB], (4, 1, "mixed"), 2, 3);
    let triggers = left.report["checkpoints"].as_array().expect("a report has checkpoints").iter();
    let mut triggers = triggers.map(|checkpoint| checkpoint["trigger"].as_str().expect("each has one"));
    assert!(triggers.all(|trigger| ["period", "failure"].contains(&trigger)), "{}", left.report);
}

/// What a member of a group has counted on a lost PE, another one inherits. (What was only to be counted is in the queue, and comes later than
/// all searches: at first there is nothing to inherit.)
pub fn the_search_with_heirs_goes_back() {
    goes_back([NQUEENS, LARGE_NQUEENS], (3, 1, "shm"), 1, 12);
}

/// Kills a node when so many checkpoints have been taken. If the search was over by then, a larger one is not.
#[track_caller]
fn goes_back(searches: [Subject; 2], shape: Shape, victim: usize, taken: u64) -> Left {
    for search in searches {
        let expected = search.undisturbed(shape);
        let run = search.start(shape, "--ft double --ckpt-every 5ms --ft-log");
        let nodes = run.job.nodes(shape.0 as usize);
        let is_under_way = || run.job.said().contains(&format!("checkpoint {taken} (period)"));
        until(|| (is_under_way() || run.job.processes().is_empty()).then_some(())).expect("it ends");
        signal(nodes[victim], Signal::KILL);
        let left = run.survives(&expected);
        if let [failure] = &left.failures[..] {
            assert_eq!(left.losses, [(victim as u64, false)], "{failure}");
            assert!(failure["version"].as_u64() >= Some(taken), "{failure}");
            return left;
        }
    }
    panic!("both searches were over before anybody could be killed");
}
