//! What waiting for each other costs on this machine without any runtime: threads with the same work in each step.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::real::cores;
use super::steps;

/// Milliseconds of a step as in the runs of `real`, and as in those of `rival`.
const STEPS_MS: [f64; 2] = [1.5, 60.0];
/// Each is measured for so long, in milliseconds.
const MEASURED_MS: f64 = 6_000.0;
/// Turns of the loop by which it is learnt how many there are in a millisecond.
const LEARNT_BY: u64 = 50_000_000;

/// Prints how much longer the slower of the threads took at each step than both on average.
pub fn measure() -> bool {
    let threads = cores().min(2);
    let turns_per_ms = turns_per_ms(threads);
    println!(
        "\nNo runtime: {threads} threads, one per core, each with the same work in each step, that wait for each other after it"
    );
    println!(
        "| {:>12} | {:>6} | {:>15} |\n|{:->14}|{:->8}|{:->17}|",
        "step, ms", "steps", "slowest/average", ":", ":", ":"
    );
    for step_ms in STEPS_MS {
        let number = steps((MEASURED_MS / step_ms) as u32).max(1);
        let turns = (turns_per_ms * step_ms) as u64;
        let took = steps_of(threads, number, turns);
        let slowest: Duration =
            (0..number as usize).map(|step| took.iter().map(|of| of[step]).max().unwrap_or_default()).sum();
        let average = took.iter().flatten().sum::<Duration>() / threads as u32;
        let ms = average.as_secs_f64() * 1e3 / f64::from(number);
        println!("| {ms:>12.2} | {number:>6} | {:>15.3} |", slowest.as_secs_f64() / average.as_secs_f64());
    }
    true
}

/// How long each thread took for each step, without what it waited.
fn steps_of(threads: usize, number: u32, turns: u64) -> Vec<Vec<Duration>> {
    let barrier = Barrier::new(threads);
    let one = || {
        let step = |_| {
            barrier.wait();
            let began = Instant::now();
            compute(turns);
            began.elapsed()
        };
        (0..number).map(step).collect()
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    })
}

fn turns_per_ms(threads: usize) -> f64 {
    let took = steps_of(threads, 1, LEARNT_BY);
    let average = took.iter().flatten().sum::<Duration>() / threads as u32;
    LEARNT_BY as f64 / (average.as_secs_f64() * 1e3)
}

/// Work that touches no memory.
fn compute(turns: u64) {
    let mut number = 1_u64;
    for turn in 0..turns {
        number = black_box(number.rotate_left(5) ^ turn);
    }
}
