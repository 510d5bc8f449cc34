//! Figures as people read them: one a line, beside what the machine allows.

use std::fmt::Write as _;

use crate::checkpoint;
use crate::figures::{Figures, median};
use crate::pair::LARGE;
use crate::place::{Between, Places};

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is called as a result of the job.
    pub name: &'static str,
    what: String,
    unit: Unit,
    /// In seconds, or in bytes or steps a second.
    pub measured: f64,
    /// The same of what the system itself does.
    pub allowed: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Seconds,
    BytesASecond,
    StepsASecond,
}

/// All that was measured.
pub fn rows(places: &Places, figures: &Figures) -> Vec<Row> {
    let mut rows = vec![speed(figures), copies(places, figures)];
    for between in [Between::Pes, Between::Nodes, Between::Hosts] {
        rows.extend(messages(places, figures, between));
    }
    if places.pes() > 1 {
        rows.push(together(places, figures));
    }
    rows.extend(checkpoint(places, figures));
    rows
}

fn row(name: &'static str, what: impl Into<String>, unit: Unit, measured: f64, allowed: f64) -> Row {
    Row { name, what: what.into(), unit, measured, allowed: (!allowed.is_nan()).then_some(allowed) }
}

fn speed(figures: &Figures) -> Row {
    let slowest = figures.speeds().iter().map(|(_, speed)| *speed).fold(f64::INFINITY, f64::min);
    let what = "slowest PE while all compute; one PE alone";
    row("slowest_pe", what, Unit::StepsASecond, slowest * 1e6, figures.speed_alone() * 1e6)
}

fn copies(places: &Places, figures: &Figures) -> Row {
    let of_hosts = places.hosts().into_iter().map(|(pes, _)| figures.copied(&pes));
    let slowest = of_hosts.fold(f64::INFINITY, f64::min);
    row(
        "memory",
        "memory copied by all PEs of a host, slowest host",
        Unit::BytesASecond,
        slowest * 1e9,
        f64::NAN,
    )
}

/// The slowest pair of this kind.
fn messages(places: &Places, figures: &Figures, between: Between) -> Vec<Row> {
    let of_kind = (0..places.pairs().len()).filter(|number| places.pairs()[*number].between == between);
    let all: Vec<_> = of_kind.map(|number| figures.pair(number)).collect();
    let Some(small) = all.iter().max_by(|a, b| a.0.to_and_fro.total_cmp(&b.0.to_and_fro)) else {
        return Vec::new();
    };
    let large = all.iter().max_by(|a, b| a.0.block.total_cmp(&b.0.block)).unwrap_or(small);
    let (names, what) = match between {
        Between::Pes => (["message_pes", "stream_pes"], "between PEs of a node"),
        Between::Nodes => (["message_nodes", "stream_nodes"], "between nodes of a host"),
        Between::Hosts => (["message_hosts", "stream_hosts"], "between hosts, slowest pair"),
    };
    let seconds = |ns: f64| ns * 1e-9;
    let rate = |ns: f64| LARGE as f64 * 1e9 / ns;
    let of_small = (seconds(small.0.to_and_fro), seconds(small.1.to_and_fro));
    let of_large = (rate(large.0.block), rate(large.1.block));
    let to_and_fro = row(names[0], format!("8 bytes {what}"), Unit::Seconds, of_small.0, of_small.1);
    match between {
        // No byte of it moves there.
        Between::Pes => vec![to_and_fro],
        _ => vec![
            to_and_fro,
            row(names[1], format!("1 MiB {what}"), Unit::BytesASecond, of_large.0, of_large.1),
        ],
    }
}

/// At best it goes down a tree and up again, of two more in each round.
fn together(places: &Places, figures: &Figures) -> Row {
    let slowest = |between| messages(places, figures, between).first().and_then(|row| row.allowed);
    let rounds = |count: usize| f64::from(count.next_power_of_two().trailing_zeros());
    let (hosts, nodes) = (places.hosts().len(), places.nodes());
    let hops = [
        (Between::Hosts, rounds(hosts)),
        (Between::Nodes, rounds(nodes.div_ceil(hosts))),
        (Between::Pes, rounds(places.pes().div_ceil(nodes))),
    ];
    let hop = |(between, count): (Between, f64)| match count {
        0.0 => 0.0,
        _ => 2.0 * count * slowest(between).unwrap_or(f64::NAN),
    };
    let best = hops.into_iter().map(hop).sum();
    let measured = median(figures.broadcasts.iter().copied()) * 1e-9;
    row("broadcast_reduction", "broadcast and reduction over all PEs", Unit::Seconds, measured, best)
}

/// What all PEs have, in the time until it is kept; the limit is a stream of one pair.
fn checkpoint(places: &Places, figures: &Figures) -> Option<Row> {
    let taken = median(figures.checkpoints.iter().copied());
    let bytes = (places.pes() * checkpoint::BYTES) as f64;
    (!taken.is_nan()).then(|| {
        row("checkpoint", "checkpoint of 16 MiB a PE", Unit::BytesASecond, bytes * 1e9 / taken, f64::NAN)
    })
}

/// The table.
pub fn drawn(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.what.chars().count()).max().unwrap_or(0);
    let mut text = format!("{:<width$}  {:>13}  {:>13}  {:>6}\n", "what", "measured", "allowed", "");
    for row in rows {
        let allowed = row.allowed.map_or("–".into(), |value| told(value, row.unit));
        let ratio = row.allowed.map_or(String::new(), |value| format!("{:.2} ×", row.measured / value));
        let measured = told(row.measured, row.unit);
        // A text takes no error.
        let _ = writeln!(text, "{:<width$}  {measured:>13}  {allowed:>13}  {ratio:>6}", row.what);
    }
    text
}

/// With three digits and a unit.
fn told(value: f64, unit: Unit) -> String {
    let (parts, units): (&[f64], &[&str]) = match unit {
        Unit::Seconds => (&[1.0, 1e-3, 1e-6], &["s", "ms", "µs"]),
        Unit::BytesASecond => (&[1e9, 1e6], &["GB/s", "MB/s"]),
        Unit::StepsASecond => (&[1e6], &["M/s"]),
    };
    let at = parts.iter().position(|part| value >= *part).unwrap_or(parts.len() - 1);
    let number = value / parts[at];
    let digits = match number {
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        x if x >= 1.0 => 2,
        _ => 3,
    };
    format!("{number:.digits$} {}", units[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_digits_and_a_unit() {
        let all = [
            (1.6e-7, Unit::Seconds),
            (4.25e-6, Unit::Seconds),
            (0.0125, Unit::Seconds),
            (9.87e9, Unit::BytesASecond),
        ];
        assert_eq!(
            all.map(|(value, unit)| told(value, unit)),
            ["0.160 µs", "4.25 µs", "12.5 ms", "9.87 GB/s"]
        );
        assert_eq!(told(2.5e7, Unit::BytesASecond), "25.0 MB/s");
    }

    #[test]
    fn a_table_has_a_line_a_row() {
        let rows = [
            row("a", "8 bytes", Unit::Seconds, 3e-7, 1.5e-7),
            row("b", "memory", Unit::BytesASecond, 1e10, f64::NAN),
        ];
        let expected = "what          measured        allowed        \n\
                        8 bytes       0.300 µs       0.150 µs  2.00 ×\n\
                        memory       10.0 GB/s              –        \n";
        assert_eq!(drawn(&rows), expected);
    }
}
