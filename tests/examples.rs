//! The examples as their users run them: their own checks, the same bits on any number of PEs, packed after every message
//! or simulated, and what they say to wrong options and wrong files.
//!
//! The programs are those of the same build (`target/PROFILE/examples`), which `cargo test` makes before it runs this.

#[path = "examples/refusals.rs"]
mod refusals;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Map, Value};

/// Ways to run an example that must all give the same results.
const WAYS: [&[&str]; 5] = [
    &["--pes", "1"],
    &["--pes", "2"],
    &["--pes", "8"],
    &["--pes", "2", "--pack-all", "--repack"],
    &["--simulate", "--nodes", "3", "--pes", "2", "--seed", "7"],
];

/// The second of them, for tests that need no other.
const TWO_PES: &[&str] = WAYS[1];

#[test]
fn hello_greets_from_every_pe() {
    for (way, pes) in WAYS.iter().zip([1, 2, 8, 2, 6]) {
        let output = command("hello", &[], way).output().expect("the example has been built");
        let greetings: Vec<String> = (0..pes).map(|pe| format!("hello from PE {pe} of {pes}")).collect();
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().collect::<Vec<_>>(), greetings, "{way:?}");
        assert_eq!(run("hello", &[], way)["greetings_per_pe"], 1.0);
    }
}

#[test]
fn ring_passes_its_token_on() {
    let results = same_on_all("ring", &["--members", "7", "--laps", "30"], &["per_hop_s"]);
    assert_eq!(results["hops"], 7 * 30);
}

#[test]
fn an_interrupt_ends_a_program_in_order() {
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let report = scratch(&format!("interrupted-{signal}.json"));
        let mut command = command("ring", &["--laps", "4000000000"], TWO_PES);
        let ring = command.arg("--report").arg(&report).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut ring = ring.spawn().expect("the example has been built");
        // The program is at work once its threads are there.
        let threads = format!("/proc/{}/task", ring.id());
        while std::fs::read_dir(&threads).map_or(0, Iterator::count) < 3 {
            assert!(ring.try_wait().expect("it is our child").is_none(), "it ended before the signal");
            std::thread::yield_now();
        }
        let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", ring.id())]).status();
        assert!(sent.expect("every system has a shell").success());
        let output = ring.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(status), "{}", said(&output));
        let text = std::fs::read_to_string(&report).expect("the report is written all the same");
        std::fs::remove_file(&report).expect("just read");
        assert!(text.contains("\"program\": \"ring\""), "{text}");
    }
}

#[test]
fn pingpong_brings_its_message_back() {
    for bytes in ["1", "8", "100000"] {
        same_on_all("pingpong", &["--bytes", bytes, "--rounds", "50"], &["one_way_s"]);
    }
}

#[test]
fn nqueens_finds_the_published_number() {
    let results = same_on_all("nqueens", &["--queens", "8", "--grain", "5"], &["wall_s"]);
    assert_eq!(results["solutions"], 92);
}

#[test]
fn golomb_finds_the_published_length() {
    let results = same_on_all("golomb", &["--marks", "7", "--depth", "3"], &["wall_s"]);
    assert_eq!(results["length"], 25);
}

/// A step of balancing begins, and ends, while queues are long: it does not wait for what is in them.
#[test]
fn a_search_is_balanced_as_often_as_it_was_asked_for() {
    let balanced = ["--balancer", "greedy", "--lb-every", "5ms"];
    let task = ["--marks", "8", "--depth", "4"];
    let report = report("golomb", &[&task[..], &balanced].concat(), WAYS[4]);
    let (steps, wall_s) = (&report["balancing"], report["wall_s"].as_f64().expect("a number"));
    let steps = steps.as_array().expect("a report tells of balancing").len();
    // By the simulated clock; each step takes as long as what it waits for, and half of them are enough.
    assert!(steps as f64 > wall_s / 10e-3, "{steps} steps in {wall_s} s");
    assert_eq!(report["results"]["length"], 34);
}

#[test]
fn jacobi3d_is_the_serial_solver_for_sizes_that_do_not_divide() {
    let sizes = ["--grid", "21,13,10", "--block", "8,8,4"];
    let steps = same_on_all("jacobi3d", &[&sizes[..], &["--steps", "12", "--check"]].concat(), TIMES);
    assert_eq!((&steps["steps"], &steps["differences"]), (&Value::from(12), &Value::from(0)));
    let to_end = same_on_all("jacobi3d", &[&sizes[..], &["--tolerance", "1e-3", "--check"]].concat(), TIMES);
    assert!(to_end["residual"].as_f64().is_some_and(|residual| residual <= 1e-3), "{to_end:?}");
    assert_eq!(to_end["converged"], true);
}

#[test]
fn nodes_that_encrypt_compute_the_same() {
    let task = ["--grid", "21,13,10", "--block", "8,8,4", "--steps", "12", "--check"];
    let ways = [TWO_PES, &["--nodes", "3", "--pes", "1", "--transport", "tcp", "--tls"]];
    let [one, encrypted] = ways.map(|way| {
        let mut results = run("jacobi3d", &task, way);
        TIMES.iter().for_each(|time| _ = results.remove(*time));
        results
    });
    assert_eq!(one, encrypted);
}

#[test]
fn jacobi3d_does_not_depend_on_its_blocks() {
    let one = run("jacobi3d", &["--grid", "12,12,12", "--block", "12,12,12", "--steps", "5"], WAYS[0]);
    let many = run("jacobi3d", &["--grid", "12,12,12", "--block", "5,4,12", "--steps", "5"], TWO_PES);
    assert_eq!(one["residual"], many["residual"]);
}

#[test]
fn leanmd_is_the_serial_simulation_and_keeps_its_energy() {
    let fluid = ["--cells", "3,3,2", "--atoms-per-cell", "20", "--steps", "45", "--check"];
    let results = same_on_all("leanmd", &fluid, TIMES);
    assert_eq!(
        (&results["atoms"], &results["cells"], &results["pairs"]),
        (&360.into(), &18.into(), &252.into())
    );
    let open = ["--cells", "2,3,3", "--atoms-per-cell", "12", "--steps", "21", "--open", "--check"];
    same_on_all("leanmd", &open, TIMES);
}

#[test]
fn leanmd_computes_the_same_wherever_its_objects_are_moved() {
    let fluid =
        ["--cells", "6,2,2", "--atoms-per-cell", "12", "--gradient", "0.8", "--steps", "25", "--check"];
    let moved = ["--balancer", "rotate", "--sync-every", "5"];
    let moved = same_on_all("leanmd", &[&fluid[..], &moved].concat(), TIMES);
    assert_eq!(moved["atoms"], 288, "the gradient keeps the average");
    let mut unmoved = run("leanmd", &fluid, TWO_PES);
    TIMES.iter().for_each(|time| _ = unmoved.remove(*time));
    assert_eq!(moved, unmoved);
}

#[test]
fn imbalance_computes_the_same_whatever_balances_it() {
    let task = ["--grid", "40", "--steps", "24", "--sync-every", "4", "--lap", "90", "--check"];
    let unmoved = same_on_all("imbalance", &task, MEASURED);
    assert_eq!((&unmoved["cells"], &unmoved["steps"]), (&1600.into(), &24.into()));
    let ways = WAYS.iter().chain(FOUR_NODES).cycle();
    for (known, way) in talisman::lb::strategies::KNOWN.iter().zip(ways) {
        let moved = run("imbalance", &[&task[..], &["--balancer", known.name]].concat(), way);
        assert_eq!(moved["fingerprint"], unmoved["fingerprint"], "{} {way:?}", known.name);
    }
    let chain = run("imbalance", &[&task[..], &["--balancer", "greedy+refine"]].concat(), FOUR_NODES[0]);
    assert_eq!(chain["fingerprint"], unmoved["fingerprint"]);
}

#[test]
fn imbalance_without_points_of_synchronization_is_balanced_all_the_same() {
    let task =
        ["--grid", "40", "--steps", "60", "--no-sync", "--objects-per-pe", "16", "--balancer", "rotate"];
    let simulated = ["--simulate", "--nodes", "2", "--pes", "2", "--seed", "3"];
    for every in ["1ms", "auto"] {
        let report = report("imbalance", &[&task[..], &["--lb-every", every]].concat(), &simulated);
        let balancing = report["balancing"].as_array().expect("a report tells of balancing");
        assert!(every == "auto" || balancing.iter().any(|step| step["moves"] != 0), "{every}: {report}");
        let unmoved = run("imbalance", &task[..7], TWO_PES);
        assert_eq!(report["results"]["fingerprint"], unmoved["fingerprint"], "{every}");
    }
}

#[test]
fn greedy_takes_the_work_to_those_that_have_none() {
    // Simulated, an object takes time as its work, and a run is the same each time.
    let task = ["--steps", "60", "--report-every", "30"];
    let simulated = ["--simulate", "--nodes", "4", "--pes", "1", "--seed", "1"];
    let second_half = |balancer| {
        let results = run("imbalance", &[&task[..], &["--balancer", balancer]].concat(), &simulated);
        ["max_over_average_ratio", "per_step_s"]
            .map(|name| results[&format!("stretch_2_{name}")].as_f64().expect("a number"))
    };
    let (off, greedy) = (second_half("off"), second_half("greedy"));
    assert!(off[0] > 2.0 && greedy[0] < 1.2, "work {} without, {} with", off[0], greedy[0]);
    assert!(greedy[1] < off[1] / 1.5, "{} s a step without, {} with", off[1], greedy[1]);
}

#[test]
fn a_balancing_step_is_replayed() {
    let folder = scratch("snapshots");
    std::fs::create_dir_all(&folder).expect("the scratch folder can be written");
    let path = |name: &std::path::Path| name.to_str().expect("a path of letters").to_owned();
    let task = ["--grid", "40", "--steps", "12", "--sync-every", "4", "--balancer", "greedy", "--lb-dump"];
    run("imbalance", &[&task[..], &[&path(&folder)]].concat(), FOUR_NODES[0]);
    let files = std::fs::read_dir(&folder).expect("just made");
    let files: Vec<PathBuf> = files.map(|file| file.expect("it can be read").path()).collect();
    assert_eq!(files.len(), 2, "a file for each step: {files:?}");

    let (status, all) = replayed(&[&path(&files[0])]);
    assert_eq!(status, Some(0), "{all}");
    assert!(all.contains("256 objects, 4 PEs, 4 nodes") && all.contains("(as it was)"), "{all}");
    for known in talisman::lb::strategies::KNOWN {
        assert!(all.contains(&format!("| {} ", known.name)), "{}: {all}", known.name);
    }
    let (status, one) = replayed(&[&path(&files[0]), "--balancer", "greedy+refine"]);
    assert!(status == Some(0) && one.contains("| greedy+refine ") && !one.contains("| rotate "), "{one}");

    let whole = std::fs::read(&files[0]).expect("just written");
    let broken = scratch("broken.lb");
    for (bytes, says) in [
        (&whole[..whole.len() / 2], "cut off or damaged"),
        (&whole[..5], "no snapshot"),
        (b"", "no snapshot"),
        (b"{\"program\": \"imbalance\"}", "no snapshot"),
    ] {
        std::fs::write(&broken, bytes).expect("the scratch folder can be written");
        let (status, said) = replayed(&[&path(&broken)]);
        assert!(status == Some(2) && said.contains(says) && said.contains("broken.lb"), "{status:?} {said}");
    }
    let (status, said) = replayed(&[&path(&files[0]), "--balancer", "greed"]);
    assert!(status == Some(2) && said.contains("greedy-refine") && said.contains("rotate"), "{said}");
    let (status, said) = replayed(&[&path(&folder)]);
    assert!(status == Some(2) && said.contains("--lb-dump"), "{said}");
    std::fs::remove_file(broken).expect("just written");
    std::fs::remove_dir_all(folder).expect("just made");
}

#[test]
fn leanmd_has_the_cells_and_pairs_of_the_paper() {
    let size = ["--cells", "7,10,10", "--open", "--atoms-per-cell", "2", "--steps", "1"];
    let results = run("leanmd", &size, TWO_PES);
    assert_eq!((&results["cells"], &results["pairs"]), (&700.into(), &7798.into()));
}

#[test]
fn leanmd_simulates_the_water_that_comes_with_it() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/leanmd/water.pdb");
    let options = ["--pdb", file.to_str().expect("a path of letters"), "--steps", "10", "--check"];
    let results = same_on_all("leanmd", &options, TIMES);
    assert_eq!(
        (&results["atoms"], &results["cells"], &results["pairs"]),
        (&1536.into(), &8.into(), &112.into())
    );
}

#[test]
#[ignore = "its file is not part of the project: ../shared/data/5dfr_solv-cube_equil.pdb"]
fn leanmd_simulates_the_benchmark_structure() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/5dfr_solv-cube_equil.pdb");
    let file = file.to_str().expect("a path of letters");
    let results = run("leanmd", &["--pdb", file, "--steps", "2"], TWO_PES);
    assert_eq!(
        (&results["atoms"], &results["cells"], &results["pairs"]),
        (&23_558.into(), &125.into(), &1750.into())
    );
    let four = run("leanmd", &["--pdb", file, "--replicate", "2,2,1", "--steps", "1"], TWO_PES);
    assert_eq!(four["atoms"], 94_232);
}

#[test]
fn a_simulated_job_loses_its_node_as_a_real_one_does() {
    let lost = |options: &[&str]| {
        let way = ["--simulate", "--nodes", "4", "--pes", "1", "--seed", "7"];
        let output = command("jacobi3d", options, &way).output().expect("the example has been built");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for options in [["--kill", "2@0ms"], ["--kill", "2@step3"]] {
        let (status, says) = lost(&options);
        assert_eq!(status, Some(3), "{says}");
        assert!(says.contains("node 2") && says.contains("trace of"), "{says}");
        assert_eq!(lost(&options).1, says, "the same seed loses it the same way");
    }
    let (status, says) = lost(&["--chaos", "mtbf=1ms,seed=3"]);
    assert_eq!(status, Some(3), "{says}");
    let (status, says) = lost(&["--kill", "2@1h"]);
    assert_eq!(status, Some(0), "{says}");
}

#[test]
fn a_box_far_larger_than_its_atoms_is_simulated() {
    let oxygen = |serial: usize, at: [f64; 3]| {
        let [x, y, z] = at;
        format!("HETATM{serial:>5}  O   HOH A   1    {x:8.3}{y:8.3}{z:8.3}  1.00  0.00           O\n")
    };
    // As far apart as may be, and side by side.
    for (side, apart, cells, pairs) in
        [(999.0, 111.0, 729, 729), (9_999.0, 1_111.0, 729, 729), (9_999.0, 3.6, 64, 532)]
    {
        let box_record =
            format!("CRYST1{side:9.3}{side:9.3}{side:9.3}  90.00  90.00  90.00 P 1           1\n");
        let place = |n: usize| [n / 81, n / 9 % 9, n % 9].map(|place| 5.5 + place as f64 * apart);
        let atoms = (0..729).map(|n| oxygen(n, place(n)));
        let file = scratch(&format!("{side}-{apart}.pdb"));
        std::fs::write(&file, box_record + &atoms.collect::<String>())
            .expect("the scratch folder can be written");
        let path = file.to_str().expect("a path of letters");
        let options = ["--pdb", path, "--steps", "3", "--migrate-every", "2", "--check"];
        let results = run("leanmd", &options, TWO_PES);
        assert_eq!(
            (&results["atoms"], &results["cells"], &results["pairs"]),
            (&729.into(), &cells.into(), &pairs.into())
        );
        let output =
            command("leanmd", &["--pdb", path, "--steps", "1"], TWO_PES).output().expect("it has been built");
        assert!(said(&output).contains("note: the box is large for its atoms"), "{}", said(&output));
        std::fs::remove_file(file).expect("just written");
    }
}

/// A few hot atoms in a box that repeats: their cells are made, go, and are made again. Of those that ever were, most are gone at the end.
const DROP: &[&str] = &[
    "--cells",
    "4,4,4",
    "--fill",
    "1,1,2",
    "--atoms-per-cell",
    "6",
    "--cutoff",
    "3",
    "--temperature",
    "9000",
    "--steps",
    "400",
    "--migrate-every",
    "4",
    "--energy-every",
    "50",
    "--energy-bound",
    "1",
    "--check",
];

#[test]
fn cells_come_and_go_with_the_atoms() {
    let results = same_on_all("leanmd", DROP, TIMES);
    assert_eq!(
        (&results["atoms"], &results["cells"], &results["pairs"]),
        (&12.into(), &12.into(), &44.into())
    );
    let moved = ["--balancer", "rotate", "--sync-every", "5"];
    for way in [WAYS[4], FOUR_NODES[0]] {
        assert_eq!(
            run("leanmd", &[DROP, &moved].concat(), way)["fingerprint"],
            results["fingerprint"],
            "{way:?}"
        );
    }
}

#[test]
fn cells_that_come_and_go_survive_losses() {
    let fingerprint = &run("leanmd", DROP, TWO_PES)["fingerprint"];
    let loses = ["--ft", "double", "--ckpt-every", "20steps", "--kill", "2@step70,1@step250"];
    for way in [FOUR_NODES[0], &["--simulate", "--nodes", "4", "--pes", "2", "--seed", "1"]] {
        let report = report("leanmd", &[DROP, &loses].concat(), way);
        assert_eq!(&report["results"]["fingerprint"], fingerprint, "{way:?}");
        assert_eq!(report["failures"].as_array().map(Vec::len), Some(2), "{way:?}");
    }
}

/// Results that differ from run to run.
const TIMES: &[&str] = &["per_step_s"];

/// Those of `imbalance` in two stretches, which tell of PEs.
const MEASURED: &[&str] = &[
    "per_step_s",
    "max_over_average_ratio",
    "stretch_1_per_step_s",
    "stretch_1_max_over_average_ratio",
    "stretch_2_per_step_s",
    "stretch_2_max_over_average_ratio",
];

/// Objects that are moved leave their process.
const FOUR_NODES: &[&[&str]] = &[&["--nodes", "4", "--pes", "1"]];

/// Runs in every way; gives the results, which must be the same to the bit but for `times`.
fn same_on_all(example: &str, options: &[&str], times: &[&str]) -> Map<String, Value> {
    let mut all = WAYS.map(|way| run(example, options, way));
    for results in &mut all {
        times.iter().for_each(|time| assert!(results.remove(*time).is_some(), "{example} reports no {time}"));
    }
    for (way, results) in WAYS.iter().zip(&all) {
        assert_eq!(results, &all[0], "{example} {options:?} {way:?}, and {:?}", WAYS[0]);
    }
    all[0].clone()
}

/// Runs an example that must succeed; gives the `results` of its report.
fn run(example: &str, options: &[&str], way: &[&str]) -> Map<String, Value> {
    let report = report(example, options, way);
    report["results"].as_object().expect("a report has results").clone()
}

/// Runs an example that must succeed; gives its report.
fn report(example: &str, options: &[&str], way: &[&str]) -> Value {
    let report = scratch(&format!("{example}.json"));
    let mut command = command(example, options, way);
    let output = command.arg("--report").arg(&report).output().expect("the example has been built");
    assert!(output.status.success(), "{example} {options:?} {way:?}: {}", said(&output));
    let text = std::fs::read_to_string(&report).expect("a report was asked for");
    std::fs::remove_file(&report).expect("just read");
    serde_json::from_str(&text).expect("a report is JSON")
}

/// What `talisman lb-replay` says, and its exit status.
fn replayed(words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    let output = command.arg("lb-replay").args(words).output().expect("the command has been built");
    (output.status.code(), said(&output))
}

/// Runs an example that must end with a status, and an error that says certain things.
fn refused(example: &str, options: &[&str], status: i32, says: &[&str]) {
    let output = command(example, options, TWO_PES).output().expect("the example has been built");
    assert_eq!(output.status.code(), Some(status), "{example} {options:?}: {}", said(&output));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("error: "), "{example} {options:?}: {message}");
    for part in says {
        assert!(message.contains(part), "{example} {options:?} does not say `{part}`: {message}");
    }
}

fn command(example: &str, options: &[&str], way: &[&str]) -> Command {
    let test = std::env::current_exe().expect("a test knows where it is");
    let profile = test.parent().and_then(Path::parent).expect("tests stand in target/PROFILE/deps");
    let mut command = Command::new(profile.join("examples").join(example));
    // A job gets advice if it takes long, as it may on a crowded machine.
    command.args(options).args(way).env("TALISMAN_NO_ADVICE", "1");
    command
}

/// A file of this test alone: tests run side by side.
fn scratch(name: &str) -> PathBuf {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").to_string();
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{name}"))
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}
