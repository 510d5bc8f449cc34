//! Work of a known length, and how long it takes at best when there are more workers than cores.

use std::hint::black_box;
use std::thread;

use super::ns_each;

/// Nanoseconds per unit of work when every core works at once, as they do in a stencil.
pub fn ns_per_unit() -> f64 {
    (0..5).map(|_| cores_at_once(1_000_000)).fold(f64::INFINITY, f64::min)
}

/// Units of work in so many microseconds.
pub fn units(grain_us: u32, ns_per_unit: f64) -> u64 {
    (f64::from(grain_us) * 1000.0 / ns_per_unit) as u64
}

/// Microseconds per step if the cores did nothing but the work of all cells of a ring, in which each waits for both
/// neighbours after each step.
pub fn ideal_us(cells: u32, grain: u64, steps: u32) -> f64 {
    let all = (0..steps).flat_map(|step| (0..cells).map(move |cell| share(grain, cell, step)));
    let units = (all.sum::<u64>() / cores()).max(longest_chain(cells, grain, steps));
    cores_at_once(units) * units as f64 / 1000.0 / f64::from(steps)
}

/// The work of which each part needs the one before, which no number of cores makes shorter.
fn longest_chain(cells: u32, grain: u64, steps: u32) -> u64 {
    let mut done = vec![0; cells as usize];
    for step in 0..steps {
        let worked: Vec<u64> =
            (0..cells).zip(&done).map(|(cell, done)| done + share(grain, cell, step)).collect();
        let n = worked.len();
        done = (0..n).map(|at| worked[at].max(worked[(at + 1) % n]).max(worked[(at + n - 1) % n])).collect();
    }
    done.into_iter().max().unwrap_or(0)
}

/// Half to one and a half grains, so that neighbours do not go in step.
pub fn share(grain: u64, cell: u32, step: u32) -> u64 {
    let thousandths = 500 + (cell.wrapping_mul(2_654_435_761) ^ step.wrapping_mul(40_503)) % 1000;
    grain * u64::from(thousandths) / 1000
}

/// A chain of dependent operations: as long as its count says, on any core.
pub fn work(units: u64) {
    black_box((0..units).fold(1.0f64, |x, _| x * 1.000_000_1 + 1e-9));
}

fn cores() -> u64 {
    thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

fn cores_at_once(units: u64) -> f64 {
    let all: Vec<_> = (0..cores()).map(|_| thread::spawn(move || ns_each(units, || work(units)))).collect();
    let all: Vec<f64> = all.into_iter().map(|one| one.join().expect("it only computes")).collect();
    all.iter().sum::<f64>() / all.len() as f64
}
