//! What every benchmark needs: a clock, samples taken in rounds, and the table of them.
//!
//! Ours and the limit are measured one right after the other in each round, because a machine that others use, or whose
//! cores share execution units, is twice as fast at one time as at another. So only the ratio within a round means
//! anything; the table shows the median of these ratios and its quartiles, beside the medians of both sides.

// Each benchmark uses its part of this module.
#![allow(dead_code)]

pub mod bare;
pub mod example;
pub mod grain;

use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use talisman::RunArgs;
use talisman::chare::{Args, MainChare};
use talisman::launch::{Output, Progress, ResultValue};
use talisman::run::{Measures, Outcome, Watch, run};

/// What is measured for load balancing, and how rows say it.
pub const MEASURED: [(&str, Measures); 3] = [
    ("", Measures { loads: false, edges: false, sizes: false }),
    ("; loads measured", Measures { loads: true, edges: false, sizes: false }),
    ("; loads and messages measured", Measures { loads: true, edges: true, sizes: false }),
];

static START: LazyLock<Instant> = LazyLock::new(Instant::now);
static SAMPLES: Mutex<Vec<Sample>> = Mutex::new(Vec::new());

/// What a round gave for one row.
struct Sample {
    what: String,
    ours: f64,
    limit: f64,
}

/// Nanoseconds since the first call: a plain number, so that it can be kept in an async entry.
pub fn nanos() -> u64 {
    START.elapsed().as_nanos() as u64
}

/// Nanoseconds per operation of `operations` of them.
pub fn ns_each(operations: u64, f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_nanos() as f64 / operations as f64
}

/// Keeps what a round measured for the row `what`, on whatever thread.
pub fn sample(what: impl Into<String>, ours: f64, limit: f64) {
    SAMPLES.lock().expect("no one panics with it").push(Sample { what: what.into(), ours, limit });
}

/// Keeps what a round measured where nothing is at hand to compare with.
pub fn alone(what: impl Into<String>, ours: f64) {
    sample(what, ours, f64::NAN);
}

/// One round of both, of which each goes first in every other round: keeps what they measured.
pub fn sample_both(what: String, round: u32, ours: impl Fn() -> f64, limit: impl Fn() -> f64) {
    let (ours, limit) = match round % 2 {
        0 => (ours(), limit()),
        _ => {
            let limit = limit();
            (ours(), limit)
        }
    };
    sample(what, ours, limit);
}

/// The median of what was kept for a row.
pub fn median_of(what: &str) -> Option<f64> {
    let kept = kept(what);
    (!kept.is_empty()).then(|| median(&sorted(kept.into_iter())))
}

/// The least of what was kept for a row.
pub fn least_of(what: &str) -> Option<f64> {
    kept(what).into_iter().min_by(f64::total_cmp)
}

/// What was kept for a row last, in order.
pub fn last_of<const N: usize>(what: &str) -> [f64; N] {
    let kept = kept(what);
    *kept.last_chunk().expect("it was measured")
}

fn kept(what: &str) -> Vec<f64> {
    let samples = SAMPLES.lock().expect("no one panics with it");
    samples.iter().filter(|sample| sample.what == what).map(|sample| sample.ours).collect()
}

/// Runs a program in this process on so many PEs, and stops the benchmark if it fails.
pub fn on_pes<C: MainChare>(pes: u32, args: impl Args + Send) -> Outcome {
    on_pes_measured::<C>(pes, Measures::default(), args)
}

/// The same, with measurements for load balancing.
pub fn on_pes_measured<C: MainChare>(pes: u32, measures: Measures, args: impl Args + Send) -> Outcome {
    let options = RunArgs { pes: Some(pes), measures, ..RunArgs::default() };
    let outcome = run::<C, _>(args, &options, Watch::new(Output::capture(), Progress::off()));
    assert_eq!((outcome.status, &outcome.message), (0, &None), "the measured program failed");
    outcome
}

/// A number that a program reported.
pub fn result(outcome: &Outcome, name: &str) -> f64 {
    match outcome.results.value(name) {
        Some(ResultValue::F64(value)) => *value,
        other => panic!("the program reports `{name}` as a number, not {other:?}"),
    }
}

/// Whether a word was given on the command line: benchmarks have parts that can be run alone.
pub fn wanted(part: &str) -> bool {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    words.is_empty() || words.iter().any(|word| part.contains(word.as_str()))
}

/// How much is allowed.
#[derive(Clone, Copy)]
pub enum Budget {
    /// Times the limit.
    Times(f64),
    /// More than the limit, in the table's unit.
    Plus(f64),
    /// The value itself, in the table's unit: the limit is only for comparison.
    AtMost(f64),
    /// None is set.
    Open,
}

/// A line of the table: which samples, and what they may be.
pub struct Row {
    what: String,
    budget: Budget,
    beside: Vec<(&'static str, f64)>,
}

/// The column of what Charm++ takes for the same, measured on a quiet machine of the same kind.
pub const CHARM: &str = "Charm++";

/// A row of the samples `what` with nothing to compare with but its limit.
pub fn row(what: impl Into<String>, budget: Budget) -> Row {
    Row { what: what.into(), budget, beside: Vec::new() }
}

impl Row {
    /// What another system takes for the same, in the table's unit.
    pub fn beside(mut self, system: &'static str, value: f64) -> Row {
        self.beside.push((system, value));
        self
    }
}

/// Prints the rows that were measured. With `--check` on the command line, ends the process with status 1 if one
/// misses its budget.
pub fn table(title: &str, unit: &str, rows: &[Row]) {
    let samples = SAMPLES.lock().expect("no one panics with it");
    println!("\n{title} ({unit}; medians over the rounds, quartiles of the ratio)");
    let systems = systems(rows);
    let names: String = systems.iter().map(|system| format!(" {system:>8} |")).collect();
    let lines: String = systems.iter().map(|_| format!("{:->10}|", ":")).collect();
    println!(
        "| {:<62} | {:>9} | {:>9} | {:>5} | {:>11} | {:>9} |{names}",
        "what", "ours", "limit", "ratio", "quartiles", "budget"
    );
    println!("|{:-<64}|{:->11}|{:->11}|{:->7}|{:->13}|{:->11}|{lines}", "", ":", ":", ":", ":", ":");
    let mut missed = false;
    for row in rows {
        let of_row: Vec<&Sample> = samples.iter().filter(|sample| sample.what == row.what).collect();
        if !of_row.is_empty() {
            missed |= !print_row(row, &of_row, &systems);
        }
    }
    if missed && std::env::args().any(|word| word == "--check") {
        std::process::exit(1);
    }
}

/// The other systems that any row names, in the order in which they come.
fn systems(rows: &[Row]) -> Vec<&'static str> {
    let mut systems = Vec::new();
    for (system, _) in rows.iter().flat_map(|row| &row.beside) {
        if !systems.contains(system) {
            systems.push(*system);
        }
    }
    systems
}

/// Prints one row; whether it keeps its budget.
fn print_row(row: &Row, samples: &[&Sample], systems: &[&str]) -> bool {
    let ours = sorted(samples.iter().map(|sample| sample.ours));
    let limit = sorted(samples.iter().map(|sample| sample.limit));
    let ratio = sorted(samples.iter().map(|sample| sample.ours / sample.limit));
    let difference = sorted(samples.iter().map(|sample| sample.ours - sample.limit));
    let (budget, kept) = match row.budget {
        Budget::Times(most) => (format!("≤ {most:.2} ×"), median(&ratio) <= most),
        Budget::Plus(most) => (format!("≤ + {most}"), median(&difference) <= most),
        Budget::AtMost(most) => (format!("≤ {most}"), median(&ours) <= most),
        Budget::Open => ("–".into(), true),
    };
    let beside: String = systems.iter().map(|system| format!(" {:>8} |", beside(row, system))).collect();
    let [limit, ratio, quartiles]: [String; 3] = match median(&limit).is_nan() {
        true => ["–".into(), "–".into(), "–".into()],
        false => {
            let quartiles = format!("{:.2}–{:.2}", quantile(&ratio, 0.25), quantile(&ratio, 0.75));
            [significant(median(&limit)), format!("{:.2}", median(&ratio)), quartiles]
        }
    };
    println!(
        "| {:<62} | {:>9} | {limit:>9} | {ratio:>5} | {quartiles:>11} | {budget:>9} |{beside}{}",
        row.what,
        significant(median(&ours)),
        if kept { "" } else { " missed" }
    );
    kept
}

fn beside(row: &Row, system: &str) -> String {
    let value = row.beside.iter().find(|(name, _)| *name == system);
    value.map_or("–".into(), |(_, value)| significant(*value))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.5)
}

fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

/// A figure with three significant digits.
fn significant(value: f64) -> String {
    match value.abs() {
        x if x >= 100.0 => format!("{value:.0}"),
        x if x >= 10.0 => format!("{value:.1}"),
        x if x >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
