//! The program in C under `talisman mpirun`, beside itself under the systems that it was compiled for.

use std::time::Instant;

use crate::common::{Budget, alone, row, table};
use crate::job::rounds;
use crate::systems::{self, Kind, MANY, PAIR, SYSTEMS, System};

const SIZES: [usize; 5] = [8, 1 << 10, 8 << 10, 64 << 10, 1 << 20];

/// `talisman mpirun` with these words, in front of a program and its words.
pub fn mpirun(words: &[&str]) -> Vec<String> {
    [env!("CARGO_BIN_EXE_talisman"), "mpirun"].iter().chain(words).map(|word| (*word).to_owned()).collect()
}

pub fn measure() {
    let (pair, many) = (systems::measured(&PAIR), systems::measured(&MANY));
    let mut rows = Vec::new();
    for (nodes, place) in [("1", "one PE"), ("2", "two nodes")] {
        for system in &SYSTEMS {
            let name = |what: &str| format!("built for {}, {place}, {what}", system.name);
            sample(system, nodes, &["2", PAIR.task], |bytes| name(&format!("{bytes} B")));
            sample(system, nodes, &["64", MANY.task], |_| name("allreduce over 64"));
            for bytes in SIZES {
                let budget = if nodes == "1" && bytes == 8 { Budget::AtMost(150.0) } else { Budget::Open };
                let row = row(name(&format!("{bytes} B")), budget);
                rows.push(systems::beside(row, &pair, Kind::PingPong, bytes));
            }
            let sums = row(name("allreduce over 64"), Budget::Open);
            rows.push(systems::beside(sums, &many, Kind::AllReduce, 8));
        }
    }
    table("A program in C under `talisman mpirun`", "ns", &rows);
}

/// Runs it, and keeps its lines as samples of the rows that they are named after.
fn sample(system: &System, nodes: &str, [ranks, task]: &[&str; 2], name: impl Fn(usize) -> String) {
    let Ok(program) = systems::compiled(system) else { return };
    for _ in 0..rounds(3) {
        let mut words = mpirun(&["-n", ranks, "--nodes", nodes]);
        words.extend([program.display().to_string(), (*task).to_owned()]);
        match systems::run(&words) {
            Ok(printed) => printed
                .lines()
                .filter_map(|line| systems::peer("", line))
                .for_each(|one| alone(name(one.bytes), one.ns)),
            Err(why) => println!("ours, built for {}: {why}", system.name),
        }
    }
}

const MANY_RANKS: u32 = 1_001;
const LOADED: &str = "loaded, begun and ended, each rank more (µs)";
const RESIDENT: &str = "memory of each rank more (KiB)";

/// A job of one rank, and one of a thousand more.
pub fn measure_loading() {
    let Some(program) = SYSTEMS.iter().find_map(|system| systems::compiled(system).ok()) else {
        return println!("loading skipped: there is no compiler for MPI");
    };
    let run = |ranks: u32| {
        let mut words = mpirun(&["-n", &ranks.to_string()]);
        words.extend([program.display().to_string(), "memory".into()]);
        let start = Instant::now();
        let printed = systems::run(&words).unwrap_or_else(|why| panic!("{why}"));
        (start.elapsed().as_secs_f64() * 1e6, resident(&printed))
    };
    for _ in 0..rounds(5) {
        let ((one_us, one_kib), (many_us, many_kib)) = (run(1), run(MANY_RANKS));
        alone(LOADED, (many_us - one_us) / f64::from(MANY_RANKS - 1));
        alone(RESIDENT, (many_kib - one_kib) / f64::from(MANY_RANKS - 1));
    }
    let rows = [row(LOADED, Budget::AtMost(200.0)), row(RESIDENT, Budget::AtMost(64.0))];
    table("A small program in C, loaded a thousand times", "µs, KiB", &rows);
}

fn resident(printed: &str) -> f64 {
    let line = printed.lines().find_map(|line| line.strip_prefix("resident 0 "));
    line.and_then(|kib| kib.trim().parse().ok()).expect("the program says so")
}
