//! NetPIPE as a distribution ships it: under the system that it was built for, and under `talisman mpirun`.

use crate::common::{Budget, Row, alone, row, sample, table};
use crate::executables::mpirun;
use crate::systems::{self, SYSTEMS, System};

/// Lengths that rows are of; NetPIPE measures more, up to the last.
const SIZES: [u64; 8] = [1, 8, 64, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20];

pub fn measure() {
    let mut rows: Vec<Row> = Vec::new();
    for system in &SYSTEMS {
        let theirs = curve(systems::launch(system), system);
        for (nodes, place) in [("1", "one PE"), ("2", "two nodes")] {
            let ours = curve(mpirun(&["--nodes", nodes]), system);
            for bytes in SIZES {
                let Some(us) = at(&ours, bytes) else { continue };
                let what = format!("{}, {bytes} B, {place} | {}", system.netpipe, system.name);
                match at(&theirs, bytes) {
                    Some(limit) => sample(what.as_str(), us, limit),
                    None => alone(what.as_str(), us),
                }
                rows.push(row(what, Budget::Open));
            }
        }
    }
    table("NetPIPE, one way", "µs", &rows);
}

/// Lengths and microseconds; none if it cannot be run, and why.
fn curve(mut words: Vec<String>, system: &System) -> Vec<(u64, f64)> {
    let last = SIZES[SIZES.len() - 1].to_string();
    let results = std::env::temp_dir().join(format!("talisman-netpipe-{}", std::process::id()));
    words.extend(["-n", "2", system.netpipe, "-p", "0", "-u", &last, "-o"].map(String::from));
    words.push(results.display().to_string());
    let printed = systems::run(&words);
    // It is not there if the program did not run.
    let _ = std::fs::remove_file(&results);
    match printed {
        Ok(printed) => printed.lines().filter_map(point).collect(),
        Err(why) => {
            println!("NetPIPE skipped: {why}");
            Vec::new()
        }
    }
}

/// A line `0: 8 bytes 1000 times --> 100.00 Mbps in 0.50 usec`.
fn point(line: &str) -> Option<(u64, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let before =
        |unit: &str| words.iter().position(|word| *word == unit).and_then(|at| words.get(at.checked_sub(1)?));
    Some((before("bytes")?.parse().ok()?, before("usec")?.parse().ok()?))
}

fn at(curve: &[(u64, f64)], bytes: u64) -> Option<f64> {
    curve.iter().find(|(length, _)| *length == bytes).map(|(_, us)| *us)
}
