//! What is left of files, whatever happens to a disk.

mod folder;
mod format;
mod power;
mod replaced;

use super::*;
use crate::simulation::DiskRates;
use talisman_base::rng::Rng;

/// One on which nothing goes wrong by itself.
fn calm(seed: u64) -> SimulatedDisk {
    SimulatedDisk::new(DiskRates::default(), Rng::new(seed))
}

/// Bytes of which no two sectors are alike, and none is zeros only; sometimes none at all.
fn bytes(rng: &mut Rng) -> Vec<u8> {
    let bytes = rng.below(4) * rng.below(700);
    (0..bytes).map(|_| rng.below(255) as u8 + 1).collect()
}

fn pick<'a>(rng: &mut Rng, names: &[&'a str]) -> &'a str {
    names[rng.below(names.len() as u64) as usize]
}
