//! How likely it is that a job loses both copies of something: the formula against simulated jobs, at the figures of
//! the FTC-Charm++ paper.
//!
//! `cargo bench -p talisman-ft --bench reliability [-- RUNS]`: without a number, ten million jobs of each kind,
//! eleven seconds.
//!
//! The paper gives 0.99999 for a job without checkpoints, and 0.000977 % with. The first is 11.5 losses in the time
//! that the job runs, however many nodes it has; the second is then an exposure of 8.5e-7 of a node's life (fixed,
//! pairs): four and a half minutes of ten years. A residual exposure of the same length on average is a checkpoint
//! period of twice that.
//!
//! Beside it the figures of FTL-Charm++ (section 5.6): 5,000 nodes that fail once in 20 years, 1,200 hours, an image
//! every six minutes. The paper has 1.956e-5, for an exposure of one period after each loss and one node that depends
//! on it; around a ring two do.

use talisman_ft::reliability::{Buddies, Exposure, Job};

const JOB: Job = Job { nodes: 1024, life: 1.0, runs: 11.513 / 1024.0 };
const EXPOSED: f64 = 8.486e-7;

fn main() {
    let runs: u32 = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(10_000_000);
    let mut random = random(7);
    let share = |count: f64| count / f64::from(runs);
    let survived = (0..runs).filter(|_| !JOB.simulate_without(&mut random)).count() as f64;
    println!(
        "without checkpoints ({:.2} losses): {:.7} by the formula, {:.7} ± {:.7} of {runs} simulated jobs fail",
        JOB.losses(),
        JOB.fails_without(),
        1.0 - share(survived),
        share(survived.sqrt())
    );
    println!("with, in per cent of as many jobs, with one standard deviation:");
    println!("| exposure | buddies | formula | simulated |\n|---|---|---|---|");
    for (name, exposure) in
        [("fixed", Exposure::Fixed(EXPOSED)), ("residual", Exposure::Residual(2.0 * EXPOSED))]
    {
        for buddies in [Buddies::Pairs, Buddies::Ring] {
            let failed = (0..runs).filter(|_| JOB.simulate(exposure, buddies, &mut random)).count() as f64;
            println!(
                "| {name} | {buddies:?} | {:.6} | {:.6} ± {:.6} |",
                100.0 * JOB.fails_with(exposure, buddies),
                100.0 * share(failed),
                100.0 * share(failed.sqrt())
            );
        }
    }
    of_ftl(runs, &mut random);
}

/// The same for jobs that log, at the figures of FTL-Charm++.
fn of_ftl(runs: u32, random: &mut impl FnMut() -> f64) {
    let (life, period) = (1.0 / 5.71e-6, 0.1);
    let short = Job { nodes: 5000, life, runs: 400.0 };
    let survived = (0..runs).filter(|_| !short.simulate_without(random)).count() as f64;
    println!(
        "FTL, 400 h without: {:.7} by the formula, {:.7} simulated",
        short.fails_without(),
        1.0 - survived / f64::from(runs)
    );
    let job = Job { nodes: 5000, life, runs: 1200.0 };
    println!("FTL, 1,200 h with an image every 0.1 h:\n| buddies | formula | simulated |\n|---|---|---|");
    for buddies in [Buddies::Pairs, Buddies::Ring] {
        let failed =
            (0..runs).filter(|_| job.simulate(Exposure::Fixed(period), buddies, random)).count() as f64;
        let (formula, share) =
            (job.fails_with(Exposure::Fixed(period), buddies), |count: f64| count / f64::from(runs));
        println!("| {buddies:?} | {formula:.4e} | {:.4e} ± {:.1e} |", share(failed), share(failed.sqrt()));
    }
}

/// Numbers between 0 and 1 (xorshift64*).
fn random(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
