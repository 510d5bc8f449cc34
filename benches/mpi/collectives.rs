//! A sum of one number over 64 ranks.

use crate::common::{Budget, row, table};
use crate::job::rounds;
use crate::ranks::{RankJob, Task};
use crate::systems::{self, Kind};

const ROUNDS: u32 = 21;
const RANKS: u32 = 64;

pub fn measure() {
    let peers = systems::measured(&systems::MANY);
    let rows = [(1, "on one PE"), (2, "on two nodes")].map(|(nodes, place)| {
        let what = format!("allreduce of 8 B over {RANKS} ranks {place}");
        let (ranks, rounds) = (RANKS, rounds(ROUNDS));
        RankJob { ranks, nodes, rounds, ..RankJob::new(Task::AllReduce, what.as_str()) }.sample();
        let budget = if nodes == 2 { Budget::AtMost(10_000.0) } else { Budget::Open };
        systems::beside(row(what, budget), &peers, Kind::AllReduce, 8)
    });
    table("Collectives; other systems have 64 processes on as many cores", "ns", &rows);
}
