//! What waiting for each other costs on this machine without any runtime: threads with the same work in each step.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::real::cores;
use super::rival::{CAPACITY_LEFT, Rival, pin_this_thread};
use super::steps;

/// Milliseconds of a step as in the runs of `real`, and as in those of `rival`.
const STEPS_MS: [f64; 2] = [1.5, 60.0];
/// Each is measured for so long, in milliseconds.
const MEASURED_MS: f64 = 6_000.0;
/// Beside a competitor so many times.
const ROUNDS: usize = 5;
/// Turns of the loop by which it is learnt how many there are in a millisecond.
const LEARNT_BY: u64 = 50_000_000;

/// Prints how much longer the slower of the threads took at each step than both on average, and how much longer all takes than at best
/// beside a competitor, with the work divided as the cores' speeds are.
pub fn measure() -> bool {
    let threads = cores().min(2);
    let turns_per_ms = turns_per_ms(threads);
    println!(
        "\nNo runtime: {threads} threads, one per core, each with the same work in each step, that wait for each other after it"
    );
    println!("| {:>12} | {:>6} | {:>15} |", "step, ms", "steps", "slowest/average");
    println!("|{:->14}|{:->8}|{:->17}|", ":", ":", ":");
    for step_ms in STEPS_MS {
        let number = steps((MEASURED_MS / step_ms) as u32).max(1);
        let took = steps_of(&vec![(turns_per_ms * step_ms) as u64; threads], number);
        let slowest: Duration =
            (0..number as usize).map(|step| took.iter().map(|of| of[step]).max().unwrap_or_default()).sum();
        let average = took.iter().flatten().sum::<Duration>() / threads as u32;
        let ms = average.as_secs_f64() * 1e3 / f64::from(number);
        println!("| {ms:>12.2} | {number:>6} | {:>15.3} |", slowest.as_secs_f64() / average.as_secs_f64());
    }
    if threads > 1 {
        beside_a_rival();
    }
    true
}

fn beside_a_rival() {
    let [_, step_ms] = STEPS_MS;
    let number = steps((MEASURED_MS / step_ms) as u32).max(1);
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let turns = turns_per_ms(2) * step_ms;
            let shares = [2.0 * CAPACITY_LEFT - 1.0, 1.0].map(|speed| (turns * speed) as u64);
            let rival = Rival::start();
            let began = Instant::now();
            steps_of(&shares, number);
            let took = began.elapsed();
            drop(rival);
            took.as_secs_f64() * 1e3 / (step_ms * f64::from(number))
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let [least, middle, most] = [0, ratios.len() / 2, ratios.len() - 1].map(|place| ratios[place]);
    println!(
        "Beside a process that computes on the first core, divided by the cores' speeds, {step_ms} ms a step at best: \
         {middle:.3} × ({least:.3} to {most:.3} in {ROUNDS} rounds)"
    );
}

/// How long threads of so many turns a step took for each step, without what they waited.
fn steps_of(turns: &[u64], number: u32) -> Vec<Vec<Duration>> {
    let barrier = &Barrier::new(turns.len());
    let of_one = |core, turns| {
        pin_this_thread(core);
        let step = |_| {
            barrier.wait();
            let began = Instant::now();
            compute(turns);
            began.elapsed()
        };
        (0..number).map(step).collect()
    };
    thread::scope(|scope| {
        let spawned = turns.iter().enumerate().map(|(core, &turns)| scope.spawn(move || of_one(core, turns)));
        let all: Vec<_> = spawned.collect();
        all.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    })
}

fn turns_per_ms(threads: usize) -> f64 {
    let took = steps_of(&vec![LEARNT_BY; threads], 1);
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
