//! Random programs, by [`program`], with moves, losses and balancing.

use talisman::launch::balancing::Every;
use talisman::launch::options::Transport;
use talisman::testing::Test;

use program::Options;
pub use program::Storm;

#[path = "storm/program.rs"]
mod program;

fn storm(seed: u64, rounds: u64, moves: bool) -> Storm {
    Storm { seed, rounds, moves, long: 20_000 }
}

/// Its lines, each once, in any order.
fn output(name: &str, test: Test, ranks: u32, storm: Storm) -> Vec<String> {
    let tested = test.run::<program::Main>((Options { ranks: ranks.into(), storm },));
    crate::assert_ended_well(name, &tested);
    let mut lines = tested.output.clone();
    lines.sort_unstable();
    lines
}

fn expected(ranks: u32, storm: Storm) -> Vec<String> {
    output("undisturbed", crate::undisturbed(), ranks, Storm { moves: false, ..storm })
}

/// So many ranks on so many simulated nodes, by a seed.
fn sizes(seed: u64) -> (u32, u32) {
    (2 + seed as u32 * 5 % 9, 1 + seed as u32 % 4)
}

#[test]
fn ranks_that_move_get_their_messages() {
    for seed in 0..12 {
        let (ranks, nodes) = sizes(seed);
        let storm = storm(seed, 6, true);
        let (name, test) = (format!("seed {seed}"), Test::new().simulated(nodes, seed));
        assert_eq!(output(&name, test, ranks, storm), expected(ranks, storm), "{name}");
    }
}

#[test]
fn ranks_are_packed_after_each_message() {
    let storm = storm(3, 3, true);
    let test = Test::new().simulated(2, 5).repacking_objects().packing_messages();
    assert_eq!(output("repacked", test, 5, storm), expected(5, storm));
}

#[test]
fn ranks_go_back_to_checkpoints() {
    for seed in 0..16 {
        let (ranks, storm) = (3 + seed as u32 % 5, storm(seed, 5, true));
        let (after, later) = (10 + seed * 37 % 400, 5 + seed * 61 % 300);
        let lost: &[u32] = [&[][..], &[1], &[0], &[2, 1]][seed as usize % 4];
        let test = Test::new().simulated(4, seed).going_back(after, lost).going_back(later, &[]);
        let name = format!("seed {seed}, back after {after} and {later} events without {lost:?}");
        assert_eq!(output(&name, test, ranks, storm), expected(ranks, storm), "{name}");
    }
}

/// Nodes log their messages: ranks of those that are lost do again what they did, and no others. Some of them move: what a rank is packed
/// to has bytes that nothing determines.
#[test]
fn ranks_of_lost_nodes_alone_run_again() {
    let mut steps = 0;
    for seed in 0..16 {
        let (ranks, storm) = (3 + seed as u32 % 5, storm(seed, 5, seed % 4 > 0));
        let (after, later) = (10 + seed * 37 % 400, 5 + seed * 61 % 300);
        let lost: &[u32] = [&[2][..], &[1], &[0], &[3, 1]][seed as usize % 4];
        let test = Test::new().simulated(4, seed).logging().losing(after, lost);
        // New processes are on other hosts, and what is lost then may keep what the other one has: one of them.
        let again = &lost[..1];
        let test = if seed % 2 == 0 { test } else { test.cutting(100).losing(later, again) };
        let every = Every::Time(std::time::Duration::from_micros(20 + 15 * seed));
        let test = if seed % 3 == 0 { test.balancing("rotate", every) } else { test };
        let name = format!("seed {seed}, without {lost:?} after {after} and perhaps {later} events");
        let tested = test.run::<program::Main>((Options { ranks: ranks.into(), storm },));
        crate::assert_ended_well(&name, &tested);
        let mut said = tested.output.clone();
        said.sort_unstable();
        assert_eq!(said, expected(ranks, storm), "{name}");
        assert!(tested.went_back.restored.keys().all(|node| lost.contains(node)), "{name}");
        steps += tested.went_back.steps;
    }
    assert!(steps > 100, "{steps} steps were done again");
}

#[test]
fn ranks_are_balanced_while_they_wait() {
    for seed in 0..12 {
        let storm = storm(seed, 4, false);
        let every = Every::Time(std::time::Duration::from_micros(20 + 15 * seed));
        let test = Test::new().simulated(3, seed).balancing("rotate", every);
        assert_eq!(output("rotated", test, 7, storm), expected(7, storm), "seed {seed}");
    }
}

#[test]
fn ranks_send_over_real_links() {
    for transport in [Transport::Shm, Transport::Tcp] {
        let storm = storm(8, 5, true);
        let test = Test::new().nodes(3, transport);
        assert_eq!(output("links", test, 6, storm), expected(6, storm), "{transport:?}");
    }
}
