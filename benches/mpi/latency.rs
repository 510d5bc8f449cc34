//! A message to and fro between two ranks: on one PE, and on two nodes of this host.

use crate::common::{Budget, Row, alone, row, sample, table};
use crate::job::{Transport, rounds};
use crate::ranks::{RankJob, Task};
use crate::systems::{self, Kind, Peer};

const ROUNDS: u32 = 41;
const SIZES: [usize; 5] = [8, 1 << 10, 8 << 10, 64 << 10, 1 << 20];
const SMALL: usize = 8;
const LARGE: usize = 1 << 20;

/// Where the two are.
const PLACES: [(&str, u32, Transport); 3] =
    [("one PE", 1, Transport::Shm), ("shm", 2, Transport::Shm), ("tcp", 2, Transport::Tcp)];

pub fn measure() {
    let peers = systems::measured(&systems::PAIR);
    for (place, nodes, transport) in PLACES {
        let mut rows = Vec::new();
        for size in SIZES {
            let what = name(place, size);
            let rounds = rounds(ROUNDS);
            RankJob { nodes, transport, size, rounds, ..RankJob::new(Task::PingPong, what.as_str()) }
                .sample();
            rows.push(beside(row(what, budget(place, size)), place, &peers, size));
        }
        table(&format!("A message between two ranks, one way, {place}"), "ns", &rows);
    }
    against_mpich(&peers);
}

fn name(place: &str, bytes: usize) -> String {
    let size = match bytes >> 10 {
        0 => format!("{bytes} B"),
        kib => format!("{kib} KiB"),
    };
    let limit = match (place, bytes) {
        ("one PE", _) => "memcpy",
        ("shm", 65_537..) => "copy of cold memory",
        _ => "raw",
    };
    format!("{place}, {size} | {limit}")
}

fn budget(place: &str, size: usize) -> Budget {
    match (place, size) {
        ("one PE", SMALL) => Budget::AtMost(120.0),
        ("one PE", LARGE) => Budget::Times(1.05),
        ("tcp", SMALL) => Budget::Times(1.2),
        _ => Budget::Open,
    }
}

/// Processes of other systems use shared memory on a host, or TCP if they are told to: they have no two ranks in a process.
fn beside(row: Row, place: &str, peers: &[Peer], size: usize) -> Row {
    if place == "tcp" { row } else { systems::beside(row, peers, Kind::PingPong, size) }
}

/// The same figures, by MPICH's.
fn against_mpich(peers: &[Peer]) {
    let rows: Vec<Row> = [("one PE", SMALL, 0.35), ("shm", SMALL, 0.75), ("shm", LARGE, 1.3)]
        .into_iter()
        .filter_map(|(place, size, times)| {
            let ours = crate::common::median_of(&name(place, size))?;
            let what = format!("{place}, {size} B | MPICH through memory");
            match systems::of(peers, systems::MPICH, Kind::PingPong, size) {
                Some(theirs) => sample(what.as_str(), ours, theirs),
                None => alone(what.as_str(), ours),
            }
            Some(row(what, Budget::Times(times)))
        })
        .collect();
    table("By MPICH's", "ns", &rows);
}
