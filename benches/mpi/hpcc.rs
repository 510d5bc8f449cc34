//! The HPC Challenge as a distribution ships it, built for Open MPI: its own figures under that, and under `talisman mpirun`. There is no
//! package of it for MPICH.
//!
//! It tells rates of some of its parts and times of others. Here all are times, of so much of each that they can be read.

use std::path::{Path, PathBuf};

use crate::common::{Budget, row, sample, table};
use crate::executables::mpirun;
use crate::job::rounds;
use crate::systems::{self, SYSTEMS};

const INPUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/mpi/hpccinf.txt");
const ROUNDS: u32 = 3;
const RANKS: &str = "2";

/// One of its figures.
struct Figure {
    /// As its summary calls it.
    key: &'static str,
    /// Of a rate, per second: so much (a name, and the number of units) is timed here. None of a time in microseconds.
    of: Option<(&'static str, f64)>,
}

const fn time(key: &'static str) -> Figure {
    Figure { key, of: None }
}

const fn rate(key: &'static str, what: &'static str, units: f64) -> Figure {
    Figure { key, of: Some((what, units)) }
}

const FIGURES: [Figure; 12] = [
    // In 10¹² a second; all rates behind it in 10⁹.
    rate("HPL_Tflops", "10⁶ operations", 1e-6),
    rate("PTRANS_GBs", "1 MB", 1e-3),
    rate("MPIRandomAccess_GUPs", "1,000 updates", 1e-6),
    rate("MPIFFT_Gflops", "10⁶ operations", 1e-3),
    rate("StarDGEMM_Gflops", "10⁶ operations", 1e-3),
    rate("StarSTREAM_Triad", "1 MB", 1e-3),
    time("AvgPingPongLatency_usec"),
    time("NaturallyOrderedRingLatency_usec"),
    time("RandomlyOrderedRingLatency_usec"),
    rate("AvgPingPongBandwidth_GBytes", "1 MB", 1e-3),
    rate("NaturallyOrderedRingBandwidth_GBytes", "1 MB", 1e-3),
    rate("RandomlyOrderedRingBandwidth_GBytes", "1 MB", 1e-3),
];

impl Figure {
    fn name(&self, place: &str) -> String {
        let of = self.of.map_or(String::new(), |(what, _)| format!(", {what}"));
        format!("`hpcc`, {place}: {}{of} | Open MPI", self.key)
    }

    /// Microseconds, of what a summary says.
    fn us(&self, summary: &str) -> f64 {
        let line = summary.lines().find_map(|line| line.strip_prefix(self.key)?.strip_prefix('='));
        let value: f64 = line.and_then(|value| value.trim().parse().ok()).expect("the summary has it");
        self.of.map_or(value, |(_, units)| units / value * 1e6)
    }
}

pub fn measure() {
    let folder = std::env::temp_dir().join(format!("talisman-bench-hpcc-{}", std::process::id()));
    for place in PLACES {
        for _ in 0..rounds(ROUNDS) {
            let told = summary(&folder, &ours(place.1))
                .and_then(|ours| Ok((ours, summary(&folder, &systems::launch(&SYSTEMS[0]))?)));
            match told {
                Ok((ours, theirs)) => FIGURES
                    .iter()
                    .for_each(|figure| sample(figure.name(place.0), figure.us(&ours), figure.us(&theirs))),
                Err(why) => return println!("hpcc skipped: {why}"),
            }
        }
    }
    let rows: Vec<_> = PLACES
        .iter()
        .flat_map(|(place, _)| FIGURES.iter().map(|figure| row(figure.name(place), Budget::Open)))
        .collect();
    table("HPC Challenge, 2 ranks", "µs", &rows);
}

/// One PE for both ranks, and one for each.
const PLACES: [(&str, &str); 2] = [("one PE", "1"), ("two nodes", "2")];

fn ours(nodes: &str) -> Vec<String> {
    mpirun(&["--nodes", nodes])
}

/// What it has written at its end, if a command starts it.
fn summary(folder: &Path, start: &[String]) -> Result<String, String> {
    let folder = Folder::new(folder)?;
    let words: Vec<String> = start.iter().cloned().chain(["-n", RANKS, "hpcc"].map(String::from)).collect();
    systems::run_in(&folder.0, &words)?;
    std::fs::read_to_string(folder.0.join("hpccoutf.txt")).map_err(|error| error.to_string())
}

/// Where it finds its input, and writes; gone with this.
struct Folder(PathBuf);

impl Folder {
    fn new(path: &Path) -> Result<Folder, String> {
        let made =
            std::fs::create_dir_all(path).and_then(|()| std::fs::copy(INPUT, path.join("hpccinf.txt")));
        made.map(|_| Folder(path.to_owned())).map_err(|error| error.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Somebody else may have taken it away.
        _ = std::fs::remove_dir_all(&self.0);
    }
}
