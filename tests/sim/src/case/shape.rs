//! What the cluster of a case is like, and what it runs.

use std::time::Duration;

use talisman::rng::Rng;
use talisman::simulation::{Limits, Line, Network, Rates, Schedule};

use super::{Overrides, magnitude, one_of};
use crate::workloads::NAMES;

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;

/// Nodes of each host: mostly a few, on hosts of their own, on one, or dealt out.
pub(super) fn hosts(rng: &mut Rng) -> Vec<u32> {
    let nodes = match rng.below(16) {
        0 => 6 + rng.below(7) as u32,
        _ => 2 + rng.below(4) as u32,
    };
    match rng.below(6) {
        0 => vec![nodes],
        1..=3 => vec![1; nodes as usize],
        _ => {
            let mut hosts = vec![1];
            for _ in 1..nodes {
                match rng.below(2) {
                    0 => hosts.push(1),
                    _ => *hosts.last_mut().expect("there is one") += 1,
                }
            }
            hosts
        }
    }
}

/// The same hosts with another number of nodes: the last ones go, or come on hosts of their own.
pub(super) fn resized(hosts: &[u32], nodes: u32) -> Vec<u32> {
    let mut left = nodes.max(1);
    let mut resized = Vec::new();
    for host in hosts.iter().copied().chain(std::iter::repeat(1)) {
        if left == 0 {
            break;
        }
        resized.push(host.min(left));
        left -= host.min(left);
    }
    resized
}

pub(super) fn workload(rng: &mut Rng, asked: Option<&str>) -> Result<&'static str, String> {
    // Nothing else fills links, rings and sockets.
    let drawn = if rng.below(10) == 0 { "flood" } else { one_of(rng, NAMES) };
    let Some(asked) = asked else { return Ok(drawn) };
    let known = NAMES.iter().find(|name| **name == asked);
    known.copied().ok_or_else(|| format!("there is no workload `{asked}`; there are {}", NAMES.join(", ")))
}

pub(super) fn size(rng: &mut Rng) -> u32 {
    one_of(rng, &[1, 1, 1, 2, 2, 3, 4])
}

pub(super) fn pes(rng: &mut Rng) -> u32 {
    1 + rng.below(3) as u32
}

pub(super) fn silence(rng: &mut Rng) -> Duration {
    // With the last two, nodes give up waiting for a connection just before the launcher misses its node.
    Duration::from_millis(one_of(rng, &[2_000, 5_000, 10_500, 11_000]))
}

pub(super) fn network(rng: &mut Rng, (rates, late_ppm): (Rates, u32), overrides: &Overrides) -> Network {
    // A cluster, a slow network, one where everything takes as long as it likes, and one far away.
    const NEAR_US: [(u64, u64); 4] = [(1, 5), (5, 100), (1, 1_000), (1, 5)];
    const FAR_US: [(u64, u64); 4] = [(5, 50), (100, 2_000), (1, 5_000), (5_000, 20_000)];
    let kind = rng.below(4) as usize;
    let late_ppm = if overrides.is_calm("late") { 0 } else { late_ppm };
    let mut line = |(low, high): (u64, u64), fastest| Line {
        latency_ns: (low * MICROSECOND, high * MICROSECOND),
        late_ppm,
        bytes_per_us: magnitude(rng, 10, fastest) as f64,
    };
    let unless_calm = |class, ppm| if overrides.is_calm(class) { 0 } else { ppm };
    Network {
        near: line(NEAR_US[kind], 4_000),
        far: line(FAR_US[kind], 1_200),
        rates: Rates {
            lost_ppm: unless_calm("lost", rates.lost_ppm),
            doubled_ppm: unless_calm("doubled", rates.doubled_ppm),
            altered_ppm: unless_calm("altered", rates.altered_ppm),
            truncated_ppm: unless_calm("truncated", rates.truncated_ppm),
            reset_ppm: unless_calm("reset", rates.reset_ppm),
        },
    }
}

pub(super) fn schedule(rng: &mut Rng, overrides: &Overrides) -> Schedule {
    let pause_ppm = one_of(rng, &[0, 0, 1_000, 15_000, 125_000]);
    Schedule {
        turn_ns: one_of(rng, &[(200, 2_000), (1_000, 1_000), (100, 50_000)]),
        pause_ppm: if overrides.is_calm("pause") { 0 } else { pause_ppm },
        pause_ns: one_of(rng, &[(5_000, 500_000), (5_000, 20 * MILLISECOND)]),
        batch: one_of(rng, &[1, 4, 64]),
    }
}

pub(super) fn limits(rng: &mut Rng, overrides: &Overrides) -> Limits {
    let drawn = Limits {
        socket_bytes: one_of(rng, &[4 << 10, 4 << 10, 16 << 10, 128 << 10, 2 << 20]),
        unsent_bytes: one_of(rng, &[4 << 10, 16 << 10, 64 << 10, 4 << 20, 64 << 20]),
        few: one_of(rng, &[1, 3, 512, 512]),
    };
    if overrides.is_calm("limits") { Limits::default() } else { drawn }
}
