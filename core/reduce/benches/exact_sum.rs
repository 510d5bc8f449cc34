//! The exact sum against a plain `f64` one, which is the limit: `cargo bench -p talisman-reduce --bench exact_sum`.
//!
//! Times are medians of rounds in which the variants take turns, in nanoseconds per operation.

use std::hint::black_box;
use std::time::Instant;

use talisman_pup::{from_bytes, to_bytes};
use talisman_reduce::{AnyPartial, ExactSum, Reducer, Row, Sum};

const ROUNDS: usize = 11;

fn main() {
    for (title, spread) in [("exponents within 10 of one", 10), ("exponents within 300 of one", 300)] {
        adds(title, &numbers(4096, spread));
        merges(title, &numbers(1000, spread));
    }
    rows(&numbers(1000, 6));
    println!("\nsize of an ExactSum: {} B", size_of::<ExactSum>());
}

fn adds(title: &str, numbers: &[f64]) {
    let mut exact = ExactSum::new();
    let mut erased = AnyPartial::lift::<_, Sum>(0.0, 0).expect("no other reducer has its name");
    table(
        &format!("add, {title}"),
        numbers.len() * 64,
        &mut [
            ("plain f64 (the limit)", &mut || {
                let mut sum = 0.0;
                (0..64).for_each(|_| black_box(numbers).iter().for_each(|number| sum += number));
                black_box(sum);
            }),
            ("exact", &mut || {
                (0..64).for_each(|_| black_box(numbers).iter().for_each(|&number| exact.add(number)));
                black_box(&exact);
            }),
            ("exact, as the runtime does", &mut || {
                for &number in (0..64).flat_map(|_| black_box(numbers)) {
                    erased.add::<_, Sum>(number, 0).expect("of the same reducer");
                }
                black_box(&erased);
            }),
        ],
    );
}

fn merges(title: &str, numbers: &[f64]) {
    const COUNT: usize = 10_000;
    let mut part = ExactSum::new();
    numbers.iter().for_each(|&number| part.add(number));
    let packed = to_bytes(&part);
    let (mut total, mut received) = (ExactSum::new(), ExactSum::new());
    table(
        &format!("partial sums of 1000 numbers, {title}; {} B packed", packed.len()),
        COUNT,
        &mut [
            ("merge", &mut || (0..COUNT).for_each(|_| total.merge(black_box(&part)))),
            ("unpack and merge", &mut || {
                (0..COUNT).for_each(|_| received.merge(&from_bytes(black_box(&packed)).unwrap()))
            }),
            ("pack", &mut || {
                (0..COUNT).for_each(|_| {
                    black_box(to_bytes(black_box(&part)));
                })
            }),
            ("round to f64", &mut || {
                (0..COUNT).for_each(|_| {
                    black_box(black_box(&part).to_f64());
                })
            }),
        ],
    );
}

fn rows(numbers: &[f64]) {
    let mut plain = numbers.to_vec();
    let mut exact: Row<ExactSum> = Sum::lift(numbers.to_vec(), 0);
    table(
        "rows of 1000 columns, per column",
        numbers.len() * 100,
        &mut [
            ("plain f64 (the limit)", &mut || {
                for _ in 0..100 {
                    let row = black_box(numbers).to_vec();
                    plain.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
                }
                black_box(&plain);
            }),
            ("exact", &mut || {
                (0..100).for_each(|_| Sum::add(&mut exact, black_box(numbers).to_vec(), 0));
            }),
        ],
    );
}

/// Prints the median time of each variant, for `operations` of them a run.
fn table(title: &str, operations: usize, variants: &mut [(&str, &mut dyn FnMut())]) {
    let mut times = vec![Vec::new(); variants.len()];
    for _ in 0..ROUNDS {
        for ((_, run), times) in variants.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run();
            times.push(start.elapsed().as_nanos() as f64 / operations as f64);
        }
    }
    println!("\n{title}");
    for ((name, _), times) in variants.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        println!("  {name:28} {:8.2} ns  (fastest {:.2})", times[ROUNDS / 2], times[0]);
    }
}

/// Pseudo-random numbers of both signs, `2^-spread` to `2^spread` in size.
fn numbers(count: usize, spread: i32) -> Vec<f64> {
    let mut state = 88_172_645_463_325_252u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let mantissa = 0.5 + (state >> 12) as f64 / (1u64 << 52) as f64;
        let exponent = ((state >> 3) % (2 * spread as u64 + 1)) as i32 - spread;
        let size = mantissa * 2f64.powi(exponent);
        if state & 1 == 0 { size } else { -size }
    };
    (0..count).map(|_| next()).collect()
}
