//! What the meter costs a call that is not timed: `cargo bench -p talisman-lb --bench meter`.

#![allow(clippy::disallowed_methods, reason = "time is what is measured")]

use std::hint::black_box;
use std::time::Instant;

use talisman_lb::load::{Kind, Limits, Meter, Past};

const CALLS: u64 = 10_000_000;

fn main() {
    table("nothing measured (the limit)", || {
        (0..CALLS).map(|_| black_box(3)).sum::<i64>();
    });
    table("short entry, timed at few calls", || metered(100));
    table("long entry, always timed", || metered(10_000));
}

/// Without reading a clock, which costs the same whatever decides about it.
fn metered(ticks: u64) {
    let meter = Meter::new(Limits { long: 1000, huge: 100_000, cost: 60, gap_max: 1000 });
    let (mut past, mut kind) = (Past::default(), Kind::Short);
    for _ in 0..CALLS {
        let alone = meter.times_alone(kind, past.calls);
        past.calls += 1;
        if alone || meter.is_due() {
            let charge;
            (charge, kind) = meter.charge(kind, alone, black_box(ticks), past);
            past.ticks += charge;
        }
        black_box(&past);
    }
}

fn table(name: &str, run: impl Fn()) {
    let per_call = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64 / CALLS as f64
    };
    let mut times: Vec<f64> = (0..9).map(per_call).collect();
    times.sort_by(f64::total_cmp);
    println!("{name:40} {:.2} ns per call (fastest {:.2})", times[4], times[0]);
}
