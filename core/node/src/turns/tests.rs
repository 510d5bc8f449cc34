//! Whole programs on simulated connections, in one thread.

mod programs;
mod world;

use programs::{flood, stuck, talk};
use world::{Nature, Seen};

use talisman_job::job::End;

const CALM: Nature =
    Nature { nodes: 2, seed: 1, room: 64 << 10, unsent_max: 64 << 20, breaks_ppm: 0, killed: None };

#[test]
fn a_program_ends_with_the_right_result_however_connections_break() {
    let mut breaks = 0;
    for seed in 0..12 {
        let nodes = 2 + seed as u32 % 2;
        let breaks_ppm = [0, 1_000, 6_000][seed as usize % 3];
        let seen = talk::run(Nature { nodes, seed, room: 2_000 << (seed % 6), breaks_ppm, ..CALM });
        assert_eq!(
            (ended_well(&seen), &seen.output[..]),
            (true, &[talk::result()][..]),
            "seed {seed}: {seen:?}"
        );
        breaks += seen.breaks;
    }
    assert!(breaks > 20, "{breaks} connections broke");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let nature = Nature { nodes: 3, seed: 7, room: 3_000, breaks_ppm: 3_000, ..CALM };
    assert_eq!(talk::run(nature), talk::run(nature));
}

#[test]
fn senders_that_wait_for_each_other_go_on() {
    let mut most = 0;
    for seed in 0..8 {
        let seen = flood::run(Nature { seed, room: 1000, unsent_max: 3000, ..CALM });
        assert!(ended_well(&seen) && seen.output.last().is_some_and(|line| line == "160 of 160"), "{seen:?}");
        most = most.max(seen.waited);
    }
    assert!(most > 1, "at most {most} waited at once");
}

#[test]
fn senders_that_wait_survive_breaks() {
    for seed in 0..8 {
        let nature = Nature { seed, room: 1000, unsent_max: 3000, breaks_ppm: 5_000, ..CALM };
        let seen = flood::run(nature);
        assert!(ended_well(&seen) && seen.output.last().is_some_and(|line| line == "160 of 160"), "{seen:?}");
    }
}

#[test]
fn a_sender_that_is_killed_while_it_waits_does_nothing_more() {
    let seen = flood::run(Nature { room: 1000, unsent_max: 3000, killed: Some(0), ..CALM });
    assert_eq!(seen.end, Some(End { status: 1, message: None }));
    assert!(seen.output.len() < 4, "{seen:?}");
}

#[test]
fn who_is_stuck_is_told() {
    let seen = stuck::run(CALM);
    let message = seen.end.and_then(|end| end.message).expect("it ends with a failure");
    assert!(message.contains("never"), "{message}");
}

fn ended_well(seen: &Seen) -> bool {
    seen.end == Some(End { status: 0, message: None })
}
