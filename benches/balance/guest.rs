//! Others who want a PE's core at times, modelled: how soon that is followed.

use talisman::launch::BalancingStep;
use talisman::simulation::{Core, Guest, Machine};

use super::figures::{Budget, Figures, median, table};
use super::machine::machine;
use super::skeleton::{self, Options, figures, value, with};
use super::steps;

/// Half of a core, of each second for half a second: some fifteen periods.
const GUEST: Guest = Guest { share: 0.5, comes_ns: 500_000_000, stays_ns: 500_000_000, away_ns: 500_000_000 };

/// Steps that a change may take to be followed.
const FOLLOWED_IN: usize = 2;

/// From when on a job counts as even.
const EVEN: f64 = 1.10;

pub fn measure() -> bool {
    let mut cores = vec![Core::default(); 4];
    cores[0].guest = Some(GUEST);
    let machine = Machine { cores, ..machine() };
    let options = Options { steps: steps(800), peak: 0.0, relaxation_ns: 40, ..Options::default() };
    let mut followed = true;
    let mut rows = Vec::new();
    for name in ["off", "greedy", "greedy-refine"] {
        let outcome = skeleton::run(options, &machine, &with(name));
        let capacity = 3.0 + share_left(value(&outcome, "seconds"));
        rows.push((figures(name, &outcome, capacity), Budget::default()));
        if name != "off" {
            followed &= tell_changes(name, &outcome.balancing);
        }
    }
    let rows: Vec<(Figures, Budget)> = rows;
    followed
        & table("Modelled: others have half of one core of four, for half of each second; even work", &rows)
}

/// The part of the first PE's core that the guest left to it, from the start for so many seconds.
fn share_left(seconds: f64) -> f64 {
    let round = GUEST.stays_ns + GUEST.away_ns;
    let there =
        (0..(seconds * 1e9) as u64).step_by(1_000_000).filter(|at| at % round >= GUEST.comes_ns).count();
    1.0 - GUEST.share * there as f64 * 1e-3 / seconds
}

/// For each coming and going of the guest, in which step after it the load was even again.
fn tell_changes(name: &str, balancing: &[BalancingStep]) -> bool {
    let end = balancing.last().map_or(0.0, |step| step.at_s);
    let changes = (1..).map(|n| n as f64 * GUEST.stays_ns as f64 * 1e-9).take_while(|at| *at < end);
    let periods: Vec<f64> = changes.filter_map(|change| periods_to_even(change, balancing)).collect();
    let worst = periods.iter().copied().fold(0.0, f64::max);
    println!(
        "{name}: {} comings and goings of others, even (max/average ≤ {EVEN}) again after {} periods, {worst} at most",
        periods.len(),
        median(&periods).unwrap_or(f64::NAN),
    );
    worst <= FOLLOWED_IN as f64
}

/// Periods that had begun after a change until one was even; the one in which it happens counts.
fn periods_to_even(change: f64, balancing: &[BalancingStep]) -> Option<f64> {
    let first = balancing.iter().position(|step| step.at_s > change)?;
    let later = &balancing[first..];
    // The first step after the change has measured it in part; what follows it has been decided with some knowledge.
    let even = |step: &BalancingStep| {
        step.max_after.zip(step.average_after).is_some_and(|(max, average)| max / average <= EVEN)
    };
    later.iter().position(even).map(|periods| periods as f64 + 1.0)
}
