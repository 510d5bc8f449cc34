//! What the meter costs a call that is not timed: `cargo bench -p talisman-lb --bench meter`.

use std::hint::black_box;
use std::time::Instant;

use talisman_lb::load::Meter;

const CALLS: u64 = 10_000_000;

fn main() {
    for (name, ticks) in [("short entry, timed at one call in 16", 100), ("long entry, always timed", 10_000)]
    {
        let mut times: Vec<f64> = (0..9).map(|_| per_call(ticks)).collect();
        times.sort_by(f64::total_cmp);
        println!("{name}: {:.2} ns per call (fastest {:.2}), without the clock", times[4], times[0]);
    }
}

fn per_call(ticks: u64) -> f64 {
    let (mut meter, mut load) = (Meter::new(1000), 0);
    let start = Instant::now();
    for _ in 0..CALLS {
        let entry = black_box(3);
        load += if meter.begin(entry) { meter.end(entry, ticks) } else { meter.estimate(entry) };
    }
    black_box(load);
    start.elapsed().as_nanos() as f64 / CALLS as f64
}
