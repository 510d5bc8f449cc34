//! Entries in bytes and back; bytes that are anything else.

use proptest::prelude::*;

use super::super::{Batch, Entries, Entry, Input, InputLog, Lengths, LogId, Ride, Shape, Spread, Stable};

const SHAPE: Shape = Shape { nodes: 20, pes_per_node: 2 };

fn input() -> impl Strategy<Value = Input> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        (0_u32..20, 1_u32..200, any::<[u64; 2]>()).prop_map(|(from, frames, told)| Input::Lane {
            from,
            frames,
            told: told.to_vec()
        }),
        (0_u32..2, 1_u32..200, any::<u64>()).prop_map(|(rank, slots, told)| Input::Ring {
            rank,
            slots,
            told
        }),
        any::<u32>().prop_map(Input::InOrder),
        any::<u64>().prop_map(Input::Timer),
        any::<u32>().prop_map(Input::Due),
        any::<u32>().prop_map(Input::Chore),
        bytes().prop_map(Input::Command),
        (any::<u32>(), bytes()).prop_map(|(kind, bytes)| Input::Value { kind, bytes }),
        Just(Input::Cut),
    ]
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let entries = proptest::collection::vec((0_u64..1 << 40, input()), 0..30);
    entries.prop_map(|steps| {
        let mut at = 0;
        steps
            .into_iter()
            .map(|(since, input)| {
                at += since;
                Entry { at, input }
            })
            .collect()
    })
}

/// What a node knows of others.
fn heard(spread: &Spread) -> (Vec<Batch>, Lengths, Lengths) {
    (spread.riding(), spread.told().clone(), spread.stable().clone())
}

fn ride() -> impl Strategy<Value = Ride> {
    let log = || (0_u32..20, 0_u32..2).prop_map(|(node, rank)| LogId { node, rank });
    let batch = (log(), any::<u32>(), 0_u64..1 << 60, entries());
    let batch = batch.prop_map(|(log, incarnation, first, entries)| Batch {
        log,
        incarnation,
        first,
        entries: entries.into_iter().collect(),
    });
    let stable = (log(), any::<u32>(), any::<u64>());
    let stable = stable.prop_map(|(log, incarnation, length)| Stable { log, incarnation, length });
    let parts =
        (any::<[u64; 2]>(), proptest::collection::vec(batch, 0..4), proptest::collection::vec(stable, 0..4));
    parts.prop_map(|(lengths, batches, stable)| Ride { lengths: lengths.to_vec(), batches, stable })
}

proptest! {
    #[test]
    fn rides_come_back(ride in ride()) {
        let mut bytes = Vec::new();
        ride.write(&mut bytes, SHAPE.pes_per_node);
        prop_assert_eq!(Ride::read(&bytes, SHAPE), Ok(ride));
    }

    /// Whatever comes, it is a ride or refused, and what it takes is bounded by its length.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(ride) = Ride::read(&bytes, SHAPE) {
            let entries: usize = ride.batches.iter().map(|batch| batch.entries.len()).sum();
            prop_assert!(entries * 2 + ride.stable.len() * 4 <= bytes.len());
        }
    }

    #[test]
    fn a_ride_that_is_cut_short_or_changed_does_no_harm(ride in ride(), at in any::<usize>(), with in any::<u8>()) {
        let mut bytes = Vec::new();
        ride.write(&mut bytes, SHAPE.pes_per_node);
        let at = at % bytes.len();
        prop_assert!(Ride::read(&bytes[..at], SHAPE).is_err());
        bytes[at] ^= with;
        let _ = Ride::read(&bytes, SHAPE);
    }

    /// What has ridden is heard the same where it is written, in any order, and again; and what is no ride is refused by both.
    #[test]
    fn what_rides_is_heard_as_it_is_written(rides in proptest::collection::vec(ride(), 1..4), at in any::<usize>(), with in any::<u8>()) {
        let (mut read, mut written) = (Spread::new(0, 1, SHAPE), Spread::new(0, 1, SHAPE));
        let (mut bytes, mut told) = (Vec::new(), Vec::new());
        for ride in rides.iter().chain(&rides) {
            bytes.clear();
            ride.write(&mut bytes, SHAPE.pes_per_node);
            read.hear(1, ride.clone());
            prop_assert_eq!(written.hear_written(1, &bytes, &mut told), Ok(()));
            prop_assert_eq!(&told, &ride.lengths);
            prop_assert_eq!(heard(&read), heard(&written));
        }
        let at = at % bytes.len();
        bytes[at] ^= with;
        // Of several things that are wrong with it each may say another.
        let is_ride = Ride::read(&bytes, SHAPE).is_ok();
        prop_assert_eq!(written.hear_written(1, &bytes, &mut told).is_ok(), is_ride);
    }

    /// Entries that follow each other, as they mostly ride, some of which are known already.
    #[test]
    fn entries_in_a_row_are_heard_as_they_are_written(parts in proptest::collection::vec((entries(), 0_u64..4), 1..20)) {
        let (mut read, mut written) = (Spread::new(0, 1, SHAPE), Spread::new(0, 1, SHAPE));
        let (mut bytes, mut told, mut end) = (Vec::new(), Vec::new(), 0);
        for (entries, again) in parts {
            let entries: Entries = entries.into_iter().collect();
            let first = u64::saturating_sub(end, again);
            end = first + entries.len() as u64;
            let batch = Batch { log: LogId { node: 1, rank: 1 }, incarnation: 0, first, entries };
            let ride = Ride { lengths: vec![end, 7], batches: vec![batch], stable: Vec::new() };
            bytes.clear();
            ride.write(&mut bytes, SHAPE.pes_per_node);
            read.hear(1, ride);
            prop_assert_eq!(written.hear_written(1, &bytes, &mut told), Ok(()));
            prop_assert_eq!(heard(&read), heard(&written));
        }
    }

    #[test]
    fn a_log_gives_back_what_it_was_given(
        entries in entries(),
        first in 0_u64..100,
        from in 0_u64..140,
        cut in 0_u64..140,
    ) {
        let mut log = InputLog::starting_at(first);
        entries.iter().for_each(|entry| { log.append(entry); });
        let mut naive: Vec<_> = (first..).zip(entries).collect();
        let numbered = |log: &InputLog, from: u64| {
            let (first, entries) = log.from(from);
            (first..).zip(entries.iter()).collect::<Vec<_>>()
        };
        let after: Vec<_> = naive.iter().filter(|(number, _)| *number >= from).cloned().collect();
        prop_assert_eq!(numbered(&log, from), after);
        log.truncate(cut);
        naive.retain(|(number, _)| *number < cut);
        log.forget(from);
        naive.retain(|(number, _)| *number >= from);
        prop_assert_eq!(numbered(&log, 0), naive);
    }
}

#[test]
fn a_usual_entry_takes_six_to_ten_bytes() {
    let mut log = InputLog::starting_at(0);
    for turn in 0..10_000_u64 {
        let told = vec![turn * 2];
        let input = match turn % 8 {
            7 => Input::Timer(turn / 8),
            _ => Input::Lane { from: (turn % 3) as u32, frames: 1 + (turn % 64) as u32, told },
        };
        log.append(&Entry { at: turn * 70, input });
    }
    let each = log.from(0).1.bytes() as f64 / 10_000.0;
    assert!((6.0..10.0).contains(&each), "{each} bytes");
}

#[test]
fn a_log_that_does_not_exist_is_refused() {
    let log = LogId { node: 20, rank: 0 };
    let ride = Ride {
        lengths: vec![0, 0],
        stable: vec![Stable { log, incarnation: 0, length: 1 }],
        ..Ride::default()
    };
    let mut bytes = Vec::new();
    ride.write(&mut bytes, SHAPE.pes_per_node);
    assert!(Ride::read(&bytes, SHAPE).is_err());
}
