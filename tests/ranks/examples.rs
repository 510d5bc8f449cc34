//! The examples of virtual ranks as their users run them, on real processes that are killed too.

use std::path::Path;
use std::process::{Command, Output};

/// Ways to run an example that must all give the same.
const WAYS: [&[&str]; 4] = [
    &[],
    &["--nodes", "3"],
    &["--simulate", "--nodes", "3", "--pes", "1", "--seed", "7"],
    &["--simulate", "--nodes", "2", "--pes", "1", "--seed", "3", "--pack-all", "--repack"],
];

fn run(example: &str, options: &[&str]) -> Output {
    let test = std::env::current_exe().expect("a test knows where it is");
    let profile = test.parent().and_then(Path::parent).expect("tests stand in target/PROFILE/deps");
    let mut command = Command::new(profile.join("examples").join(example));
    command.args(options).env("TALISMAN_NO_ADVICE", "1").output().expect("the example has been built")
}

/// What an example prints that must succeed.
fn printed(example: &str, options: &[&str]) -> String {
    let output = run(example, options);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{example} {options:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn same_on_all(example: &str, options: &[&str]) -> String {
    let all = WAYS.map(|way| printed(example, &[options, way].concat()));
    assert!(all.iter().all(|printed| printed == &all[0]), "{example} {options:?}: {all:?}");
    all[0].clone()
}

#[test]
fn mpi_ring_passes_its_token_on() {
    assert_eq!(same_on_all("mpi_ring", &["--ranks", "7", "--laps", "5"]), "35 hops, 0 moves\n");
    let long = ["--ranks", "5", "--laps", "6", "--values", "3000", "--move-every", "2"];
    assert_eq!(printed("mpi_ring", &[&long[..], WAYS[1]].concat()), "30 hops, 15 moves\n");
    assert_eq!(printed("mpi_ring", &[&long[..], WAYS[2]].concat()), "30 hops, 15 moves\n");
}

#[test]
fn mpi_ring_survives_the_loss_of_nodes() {
    let task = ["--ranks", "6", "--laps", "60", "--values", "3000", "--move-every", "2"];
    let loses = ["--ft", "double", "--ckpt-every", "10steps", "--kill", "2@step25,1@step45"];
    for way in [&["--nodes", "4"][..], &["--simulate", "--nodes", "4", "--pes", "1"]] {
        let printed = printed("mpi_ring", &[&task[..], &loses, way].concat());
        assert!(printed.starts_with("360 hops, "), "{way:?}: {printed}");
    }
}

/// Cells of the block of one rank, as `jacobi3d` has them.
const GRID: [&str; 4] = ["--grid", "16,12,8", "--steps", "30"];

#[test]
fn mpi_jacobi_computes_the_cells_of_jacobi3d() {
    let chares = printed("jacobi3d", &[&GRID[..], &["--block", "8,6,4", "--pes", "1"]].concat());
    let ranks = same_on_all("mpi_jacobi", &[&GRID[..], &["--ranks", "8"]].concat());
    assert_eq!(ranks, chares);
    let checked = printed("mpi_jacobi", &[&GRID[..], &["--ranks", "8", "--check"], WAYS[1]].concat());
    assert_eq!(checked, format!("{chares}every cell is the serial solver's\n"));
}

#[test]
fn mpi_jacobi_is_balanced_and_survives_the_loss_of_nodes() {
    let task = [&GRID[..], &["--ranks", "8", "--balance-every", "7"]].concat();
    let undisturbed = printed("mpi_jacobi", &task);
    let disturbed = [
        &["--ft", "double", "--ckpt-every", "5steps", "--balancer", "rotate", "--kill", "2@step12"][..],
        &["--ft", "double", "--checkpoint-every", "4", "--balancer", "greedy", "--kill", "1@step17"],
        &[
            "--ft",
            "double",
            "--ckpt-every",
            "3steps",
            "--balancer",
            "greedy",
            "--lb-every",
            "5ms",
            "--kill",
            "2@step20",
        ],
    ];
    for way in [&["--nodes", "3"][..], &["--simulate", "--nodes", "3", "--pes", "1", "--seed", "4"]] {
        for how in disturbed {
            assert_eq!(
                printed("mpi_jacobi", &[&task[..], how, way].concat()),
                undisturbed,
                "{how:?} {way:?}"
            );
        }
    }
}

/// Arrays of such a size have their memory from a PE's store, if chares make them: those of ranks have to be in their slots.
#[test]
fn mpi_jacobi_takes_large_arrays_back_from_checkpoints() {
    let task = ["--grid", "48,48,48", "--steps", "40", "--ranks", "8"];
    let undisturbed = printed("mpi_jacobi", &task);
    let loses = [
        "--nodes",
        "3",
        "--ft",
        "double",
        "--ckpt-every",
        "5steps",
        "--balancer",
        "rotate",
        "--kill",
        "2@step27",
    ];
    assert_eq!(printed("mpi_jacobi", &[&task[..], &loses].concat()), undisturbed);
}

#[test]
fn mpi_sort_sorts() {
    let printed = same_on_all("mpi_sort", &["--ranks", "6", "--keys", "500", "--rounds", "2"]);
    assert!(printed.starts_with("3000 keys in order, "), "{printed}");
}

#[test]
fn mpi_cg_finds_the_published_value() {
    let printed = same_on_all("mpi_cg", &["--ranks", "4"]);
    assert!(printed.starts_with("zeta 8.59717750786"), "{printed}");
}

/// `file.rs:12` as `file.rs`.
fn without_numbers_of_lines(line: &str) -> String {
    let mut parts = line.split(".rs:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, part| line + ".rs" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

#[test]
fn mpi_hang_says_who_waits_for_what() {
    for way in WAYS {
        let output = run("mpi_hang", &[&["--ranks", "3"][..], way].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{way:?}: {said}");
        // What ranks on other nodes do is known as well.
        let lines: Vec<String> = said.lines().map(without_numbers_of_lines).collect();
        let all = [
            "  rank 0 in receive (examples/mpi_hang.rs) waits for tag 8 from 1 in MPI_COMM_WORLD; 1 has sent it tag 7, \
             and waits in receive (examples/mpi_hang.rs)",
            "  rank 1 in receive (examples/mpi_hang.rs) waits for tag 8 from 2 in MPI_COMM_WORLD; 2 has sent it tag 7, \
             and waits in barrier (examples/mpi_hang.rs)",
            "  rank 2 in barrier (examples/mpi_hang.rs) waits for 1 to come, in MPI_COMM_WORLD; 1 waits in receive \
             (examples/mpi_hang.rs)",
        ];
        for line in all {
            assert!(lines.iter().any(|other| other == line), "{way:?}: `{line}` is not in {said}");
        }
    }
    assert_eq!(printed("mpi_hang", &["--ranks", "3", "--tag", "7"]), "nobody waits any more\n");
}

#[test]
fn programs_with_ranks_have_one_pe_per_node() {
    let output = run("mpi_ring", &["--pes", "2"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--nodes 2"), "{said}");
}

#[test]
fn mpi_jacobi_is_started_again_from_files_on_other_nodes() {
    let task = [&GRID[..], &["--ranks", "8"]].concat();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi-jacobi-checkpoints");
    let folder = folder.to_str().expect("a name that is text");
    // Of a run that failed.
    let _gone = std::fs::remove_dir_all(folder);
    // Ranks wait for these checkpoints, so there is one when the nodes die.
    let kept = ["--ft", "disk", "--ckpt-dir", folder, "--checkpoint-every", "4"];
    let dies = ["--nodes", "3", "--kill", "0@step18,1@step18,2@step18"];
    let output = run("mpi_jacobi", &[&task[..], &kept, &dies].concat());
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(printed("mpi_jacobi", &["--restart", folder, "--nodes", "2"]), printed("mpi_jacobi", &task));
    // The job has made the folder, but those that were killed have left it.
    let _gone = std::fs::remove_dir_all(folder);
}

/// A job that runs until it is killed with this.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// One process, so that none is left.
#[test]
fn ranks_of_a_running_job_are_shown() {
    let test = std::env::current_exe().expect("a test knows where it is");
    let profile = test.parent().and_then(Path::parent).expect("tests stand in target/PROFILE/deps");
    let mut ring = Command::new(profile.join("examples/mpi_ring"));
    let ring = ring.args(["--ranks", "3", "--laps", "2000000000"]).env("TALISMAN_NO_ADVICE", "1");
    let job = Running(ring.spawn().expect("the example has been built"));
    let asked = || {
        let mut talisman = Command::new(env!("CARGO_BIN_EXE_talisman"));
        talisman.args(["ranks", &job.0.id().to_string()]).output().expect("`talisman` was built")
    };
    let begun = std::time::Instant::now();
    loop {
        let said = String::from_utf8_lossy(&asked().stdout).into_owned();
        let waits = said.lines().any(|line| line.contains("waits") && line.contains(" receive "));
        if said.lines().count() == 4 && waits {
            break;
        }
        assert!(begun.elapsed().as_secs() < 60, "{said}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
