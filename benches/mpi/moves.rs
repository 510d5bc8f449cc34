//! A rank that goes to another node of the host.

use crate::common::{Budget, row, table};
use crate::job::{Transport, rounds};
use crate::ranks::{RankJob, Task};

const ROUNDS: u32 = 31;
const BYTES: usize = 16 << 20;

pub fn measure() {
    let rows = [Transport::Shm, Transport::Tcp].map(|transport| {
        let what = format!("16 MiB over {transport} | copy of cold memory");
        let (nodes, size, rounds) = (2, BYTES, rounds(ROUNDS));
        RankJob { nodes, transport, size, rounds, ..RankJob::new(Task::Move, what.as_str()) }.sample();
        row(what, if transport == Transport::Shm { Budget::Times(2.0) } else { Budget::Open })
    });
    table("A rank moves", "ns", &rows);
}
