//! What is told of a run, as a row of a table.

use talisman::launch::BalancingStep;

/// A run, beside the time that its work would take if it were always evenly spread.
pub struct Figures {
    pub what: String,
    /// Seconds in all.
    pub seconds: f64,
    /// The same if all were even.
    pub even_s: f64,
    /// Max/average after each step, as the next one measured it.
    pub after: Vec<f64>,
    /// Objects moved in each step, as shares of all.
    pub moved: Vec<f64>,
    /// Seconds of all steps.
    pub balancing_s: f64,
    /// Times what its PEs were busy on average, in the same run: what waiting for each other costs, whatever else the machine did
    /// meanwhile. Of processes only.
    pub over_busy: Option<f64>,
}

/// What is allowed, if anything.
#[derive(Clone, Copy, Default)]
pub struct Budget {
    /// Times the even time, at most.
    pub time: Option<f64>,
    /// Times what its PEs were busy on average, at most.
    pub over_busy: Option<f64>,
    /// Times the even time, at least: without balancing.
    pub time_least: Option<f64>,
    /// Median of max/average after a step.
    pub after: Option<f64>,
    /// Median share of the objects that a step moves.
    pub moved: Option<f64>,
}

impl Figures {
    /// Of a run that took so long and balanced so.
    pub fn new(what: impl Into<String>, seconds: f64, even_s: f64, steps: &[BalancingStep]) -> Self {
        let after = |step: &BalancingStep| Some(step.max_after? / step.average_after?);
        Figures {
            what: what.into(),
            seconds,
            even_s,
            after: steps.iter().filter_map(after).collect(),
            moved: steps.iter().map(|step| step.moves as f64 / step.objects as f64).collect(),
            balancing_s: steps.iter().fold(0.0, |sum, step| sum + step.step_s),
            over_busy: None,
        }
    }

    /// The same, of which is known what it took times what its PEs were busy on average.
    pub fn with_over_busy(self, ratio: f64) -> Self {
        Figures { over_busy: Some(ratio), ..self }
    }

    /// The one in the middle by its ratio, of several runs of the same.
    pub fn middle(mut runs: Vec<Figures>) -> Figures {
        runs.sort_by(|one, other| one.over_even().total_cmp(&other.over_even()));
        runs.swap_remove(runs.len() / 2)
    }

    fn over_even(&self) -> f64 {
        self.seconds / self.even_s
    }
}

/// Prints a table; whether all budgets are kept.
pub fn table(title: &str, rows: &[(Figures, Budget)]) -> bool {
    println!("\n{title}");
    println!(
        "| {:<44} | {:>8} | {:>8} | {:>6} | {:>9} | {:>21} | {:>21} | {:>5} | {:>11} |",
        "balancer",
        "time, s",
        "even, s",
        "ratio",
        "over busy",
        "max/average after",
        "moved in a step",
        "steps",
        "balancing, s"
    );
    println!(
        "|{:-<46}|{:->10}|{:->10}|{:->8}|{:->11}|{:->23}|{:->23}|{:->7}|{:->14}|",
        "", ":", ":", ":", ":", ":", ":", ":", ":"
    );
    let kept: Vec<bool> = rows.iter().map(|(figures, budget)| row(figures, budget)).collect();
    kept.into_iter().all(|kept| kept)
}

fn row(figures: &Figures, budget: &Budget) -> bool {
    let (after, moved) = (median(&figures.after), median(&figures.moved));
    let missed = [
        budget.time.filter(|most| figures.over_even() > *most).map(|most| format!("time ≤ {most} ×")),
        budget
            .over_busy
            .filter(|most| figures.over_busy.is_none_or(|ratio| ratio > *most))
            .map(|most| format!("over busy ≤ {most} ×")),
        budget
            .time_least
            .filter(|least| figures.over_even() < *least)
            .map(|least| format!("time ≥ {least} ×")),
        budget
            .after
            .filter(|most| after.is_none_or(|after| after > *most))
            .map(|most| format!("after ≤ {most}")),
        budget
            .moved
            .filter(|most| moved.is_none_or(|moved| moved > *most))
            .map(|most| format!("moved ≤ {most}")),
    ];
    let missed: Vec<String> = missed.into_iter().flatten().collect();
    println!(
        "| {:<44} | {:>8.4} | {:>8.4} | {:>6.3} | {:>9} | {:>21} | {:>21} | {:>5} | {:>11.5} |{}",
        figures.what,
        figures.seconds,
        figures.even_s,
        figures.over_even(),
        figures.over_busy.map_or("–".into(), |ratio| format!("{ratio:.3}")),
        spread(&figures.after, 1.0, ""),
        spread(&figures.moved, 100.0, " %"),
        figures.moved.len(),
        figures.balancing_s,
        if missed.is_empty() { String::new() } else { format!(" missed: {}", missed.join(", ")) }
    );
    missed.is_empty()
}

/// Median and worst.
fn spread(values: &[f64], times: f64, unit: &str) -> String {
    let worst = values.iter().copied().fold(0.0, f64::max);
    match median(values) {
        Some(median) if unit.is_empty() => format!("{median:.3}, worst {worst:.3}"),
        Some(median) => format!("{:.1}{unit}, most {:.1}{unit}", median * times, worst * times),
        None => "–".into(),
    }
}

/// The one in the middle, of those there are.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
