//! Collectives, blocking and not, whose results each rank knows.

use talisman_ampi::api::traits::*;
use talisman_ampi::api::{self as mpi, Communicator, Error, SystemOperation};

use super::random::mix;

/// Takes part in one collective, by a number that all have drawn, and checks what came of it. Long values are announced.
pub fn collective(communicator: Communicator, drawn: u64, long: usize) -> Result<u64, Error> {
    let (rank, size) = (communicator.rank() as u64, communicator.size() as u64);
    let len = if drawn & 0x100 == 0 { long } else { 3 };
    let of = |rank: u64| mix(drawn, rank) >> 32;
    let values = |rank: u64| vec![of(rank); len];
    let of_ranks = |ranks: std::ops::Range<u64>| ranks.map(of).sum::<u64>();
    match drawn % 6 {
        0 => {
            let root = drawn / 8 % size;
            let mut received = if rank == root { values(root) } else { vec![0; len] };
            communicator.process_at_rank(root as i32).broadcast_into(&mut received)?;
            all_are(&received, of(root), "broadcast");
        }
        1 => {
            let mut sums = vec![0; len];
            communicator.all_reduce_into(&values(rank), &mut sums, SystemOperation::sum())?;
            all_are(&sums, of_ranks(0..size), "all_reduce");
        }
        2 => {
            let mut sums = vec![0; len];
            communicator.scan_into(&values(rank), &mut sums, SystemOperation::sum())?;
            all_are(&sums, of_ranks(0..rank + 1), "scan");
        }
        3 => {
            let mut gathered = vec![0; size as usize * len];
            communicator.all_gather_into(&values(rank), &mut gathered)?;
            gathered.chunks(len).zip(0..).for_each(|(chunk, from)| all_are(chunk, of(from), "all_gather"));
        }
        4 => {
            let sent: Vec<u64> = (0..size).flat_map(|to| vec![mix(of(rank), to); len]).collect();
            let mut received = vec![0; sent.len()];
            communicator.all_to_all_into(&sent, &mut received)?;
            let chunks = received.chunks(len).zip(0..);
            chunks.for_each(|(chunk, from)| all_are(chunk, mix(of(from), rank), "all_to_all"));
        }
        _ => overlapping(communicator, &values(rank), of_ranks(0..size))?,
    }
    Ok(of_ranks(0..size))
}

/// Two sums and a barrier under way at once.
fn overlapping(communicator: Communicator, values: &[u64], sum: u64) -> Result<(), Error> {
    let (mut sums, mut maxima) = (vec![0; values.len()], [0]);
    let (rank, add, greater) = ([communicator.rank() as u64], SystemOperation::sum(), SystemOperation::max());
    mpi::scope(|scope| {
        let first = communicator.immediate_all_reduce_into(scope, values, &mut sums, &add)?;
        let barrier = communicator.immediate_barrier(scope)?;
        let second = communicator.immediate_all_reduce_into(scope, &rank, &mut maxima, &greater)?;
        mpi::request::wait_all(vec![second, barrier, first]).map(drop)
    })?;
    all_are(&sums, sum, "immediate_all_reduce");
    assert_eq!(maxima, [communicator.size() as u64 - 1]);
    Ok(())
}

fn all_are(values: &[u64], value: u64, call: &str) {
    assert!(values.iter().all(|other| *other == value), "{call} gives {value}, not {:?}", values.first());
}
