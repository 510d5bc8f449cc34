//! Ranks that stay where they are, as they have something that does not move with them: a pipe, mapped memory.
//!
//! Such a rank is neither balanced nor moved. Checkpoints are made all the same, since others are as they were; but one
//! that was made meanwhile has not all of that rank. So the job ends if it has to go back to it, instead of going on
//! with a rank that finds its pipe closed. With `--ft logging` all go on from each checkpoint: there is none meanwhile.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use talisman_core::cx::Cx;

use super::{Program, RankElement};

/// In a job that survives losses it is said, once in a process, which ranks are held, and why.
pub(super) fn say_once<P: Program>(cx: &mut Cx<RankElement<P>>, why: &str) {
    static SAID: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
    let rank = cx.index();
    let matters = cx.survives() || cx.goes_back_alone();
    if matters && SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(rank) {
        let follows = match cx.goes_back_alone() {
            true => "there are no checkpoints, as all would go on from them",
            false => "checkpoints have not all of it: a loss of nodes ends the job",
        };
        cx.warn(format!("rank {rank} stays where it is: {why}. As long as that is so, {follows}"));
    }
}

/// The job has gone back to a checkpoint that has not all of this rank.
pub(super) fn refuse_to_go_on<P: Program>(cx: &mut Cx<RankElement<P>>, held: &str) {
    let rank = cx.index();
    cx.fail(format!("rank {rank} cannot go on from a checkpoint: when it was made, {held}"));
}
