//! Options, sizes and files that examples cannot do anything with, and the largest that they can.

use std::process::{Command, Stdio};

use super::{TWO_PES, command, refused, run, scratch};

#[test]
fn wrong_options_are_refused_with_what_to_do() {
    refused("jacobi3d", &["--steps", "-3"], 2, &["--steps", "-3 is not in 1.."]);
    refused("jacobi3d", &["--steps", "0"], 2, &["--steps", "0 is not in 1.."]);
    refused("jacobi3d", &["--grid", "64,64"], 2, &["--grid", "three whole numbers"]);
    refused("jacobi3d", &["--block", "8,0,8"], 2, &["--block", "above zero"]);
    refused("jacobi3d", &["--tolerance", "-1"], 2, &["--tolerance"]);
    refused("jacobi3d", &["--tolerance", "nan"], 2, &["--tolerance", "above zero"]);
    refused("jacobi3d", &["--colour"], 2, &["--colour", "--help"]);
    refused(
        "jacobi3d",
        &["--grid", "8,8,8", "--block", "8,9,8"],
        1,
        &["9 cells along y", "at most --block 8"],
    );
    refused("leanmd", &["--steps", "0"], 2, &["--steps"]);
    refused("leanmd", &["--atoms-per-cell", "0"], 2, &["--atoms-per-cell"]);
    refused("leanmd", &["--replicate", "2,2,1"], 2, &["--pdb"]);
    refused("leanmd", &["--cutoff", "-9"], 2, &["--cutoff"]);
    refused("leanmd", &["--cells", "40000,1,1"], 1, &["40000 cells along x"]);
    refused("leanmd", &["--time-step", "60", "--steps", "5"], 1, &["--time-step", "--skin"]);
    refused("leanmd", &["--gradient", "1.5"], 2, &["--gradient", "from 0 to 1"]);
    refused("leanmd", &["--fill", "1,1"], 2, &["--fill", "three whole numbers"]);
    refused("leanmd", &["--cells", "3,3,3", "--fill", "1,1,4"], 1, &["--fill 4 cells", "--cells"]);
    refused("leanmd", &["--sync-every", "0"], 2, &["--sync-every"]);
    refused("leanmd", &["--pdb", "x", "--gradient", "0.5"], 2, &["--gradient"]);
    refused("imbalance", &["--steps", "0"], 2, &["--steps"]);
    refused("imbalance", &["--peak", "-1"], 2, &["--peak", "from 0"]);
    refused("imbalance", &["--width", "nan"], 2, &["--width", "above 0"]);
    refused("imbalance", &["--no-sync", "--sync-every", "5"], 2, &["--no-sync", "--sync-every"]);
    refused("imbalance", &["--grid", "4"], 1, &["16 × 8", "larger --grid"]);
    refused("imbalance", &["--balancer", "greed"], 2, &["--balancer", "greedy-refine", "rotate"]);
    refused("nqueens", &["--queens", "33"], 2, &["--queens"]);
    refused("golomb", &["--marks", "15"], 2, &["--marks"]);
    refused("golomb", &["--marks", "-1"], 2, &["--marks", "-1 is not in 2..=14"]);
    refused("golomb", &["--marks", "14", "--depth", "14"], 1, &["2000000 beginnings", "smaller --depth"]);
    refused("ring", &["--members", "0"], 2, &["--members"]);
    refused("pingpong", &["--bytes", "0"], 2, &["--bytes"]);
}

#[test]
fn what_no_memory_holds_is_refused_with_the_numbers() {
    let available = "GB available";
    refused(
        "leanmd",
        &["--cells", "1000,1000,1000", "--atoms-per-cell", "4"],
        1,
        &["4000000000 atoms", available],
    );
    refused(
        "leanmd",
        &["--cells", "30000,1,1", "--atoms-per-cell", "100000"],
        1,
        &["3000000000 atoms", available],
    );
    refused("jacobi3d", &["--grid", "20000,20000,20000"], 1, &["8000000000000 cells", available, "--grid"]);
    refused(
        "jacobi3d",
        &["--grid", "4294967296,1,1", "--block", "1,1,1"],
        1,
        &["4294967296 blocks", available],
    );
    refused("jacobi3d", &["--grid", "20000,20000,20000", "--simulate", "--nodes", "2"], 1, &[available]);
    refused("ring", &["--members", "2147483647"], 1, &["2147483647 members", available]);
}

#[test]
fn the_largest_values_of_options_do_not_break_a_program() {
    refused("leanmd", &["--cutoff", "1e300"], 2, &["--cutoff", "1e6"]);
    refused("leanmd", &["--cells", "1,1,1", "--cutoff", "1e6", "--skin", "1e-6"], 1, &["--skin"]);
    refused("leanmd", &["--temperature", "1e308", "--steps", "1"], 1, &["--time-step"]);
    refused("imbalance", &["--objects-per-pe", "65536", "--grid", "1"], 1, &["--grid"]);
    let cells = ["--cells", "1,1,1", "--atoms-per-cell", "2"];
    let longest =
        ["--migrate-every", "4294967295", "--energy-every", "4294967295", "--sync-every", "4294967295"];
    run("leanmd", &[&cells[..], &longest, &["--steps", "3"]].concat(), TWO_PES);
    let longest = ["--sync-every", "4294967295", "--report-every", "4294967295", "--lap", "4294967295"];
    run(
        "imbalance",
        &[&longest[..], &["--steps", "3", "--grid", "8", "--objects-per-pe", "4", "--peak", "1e6"]].concat(),
        TWO_PES,
    );
    run(
        "jacobi3d",
        &["--grid", "3,3,3", "--block", "3,3,3", "--look-every", "4294967295", "--steps", "3"],
        TWO_PES,
    );
    run("nqueens", &["--queens", "6", "--grain", "4294967295"], TWO_PES);
    run("nqueens", &["--queens", "6", "--grain", "0"], TWO_PES);
    run("golomb", &["--marks", "5", "--depth", "4294967295"], TWO_PES);
    run("pingpong", &["--rounds", "1", "--warm-up", "0", "--bytes", "1"], TWO_PES);
    // Programs that would go on for years are at work.
    for (example, options) in [
        ("pingpong", &["--rounds", "4294967295", "--warm-up", "4294967295"][..]),
        ("golomb", &["--marks", "13"]),
        ("golomb", &["--marks", "14"]),
        ("nqueens", &["--queens", "32"]),
        ("ring", &["--laps", "18446744073709551615"]),
        (
            "leanmd",
            &["--cells", "1,1,1", "--atoms-per-cell", "2", "--steps", "4294967295", "--energy-bound", "1e9"],
        ),
    ] {
        ended_by_hand(example, options);
    }
}

/// Runs an example that would not end soon, until all its threads have worked for a while; it must still run, and end in order.
fn ended_by_hand(example: &str, options: &[&str]) {
    let mut command = command(example, options, TWO_PES);
    let mut running =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the example has been built");
    // In ticks of 10 ms, so much of processors, or the end.
    while running.try_wait().expect("it is our child").is_none() && ticks(running.id()) < 30 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let sent = Command::new("sh").args(["-c", &format!("kill -TERM {}", running.id())]).status();
    assert!(sent.expect("every system has a shell").success(), "{example} {options:?} has ended");
    // An entry that does not end is not waited for after a second signal.
    while running.try_wait().expect("it is our child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(200));
        let _ =
            Command::new("sh").args(["-c", &format!("kill -TERM {} 2> /dev/null", running.id())]).status();
    }
    let output = running.wait_with_output().expect("it has ended");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!message.contains("panicked"), "{example} {options:?}: {message}");
    assert!(
        matches!(output.status.code(), Some(143) | None),
        "{example} {options:?}: {} {message}",
        output.status
    );
}

/// The time a process has had of processors.
fn ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    [11, 12].iter().filter_map(|place| fields.get(*place)?.parse::<u64>().ok()).sum()
}

#[test]
fn wrong_files_are_refused_with_their_line() {
    let atom = "ATOM      1  O   HOH A   1      11.000  12.000  13.000  1.00  0.00           O\n";
    let cryst =
        |side: &str| format!("CRYST1{side:>9}{side:>9}{side:>9}  90.00  90.00  90.00 P 1           1\n");
    let good = cryst("40.000");
    let cases: [(&str, Vec<u8>, &[&str]); 10] = [
        ("empty", Vec::new(), &["is empty"]),
        ("foreign", b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe".to_vec(), &["is not a PDB file"]),
        ("boxless", atom.into(), &["no CRYST1"]),
        ("truncated", format!("{good}{}", &atom[..44]).into(), &["line 2", "truncated"]),
        (
            "nan",
            format!("{good}{}", atom.replace("12.000", "   nan")).into(),
            &["line 2", "columns 39-46", "nan"],
        ),
        ("infinite", format!("{good}{}", atom.replace("12.000", " 1e300")).into(), &["line 2", "1e300"]),
        (
            "shifted",
            format!("{good}{}", atom.replace("     1  O", " 100000  O")).into(),
            &["line 2", "columns 31-38"],
        ),
        (
            "nameless",
            format!("{good}{}", atom.replace(" O   HOH", "CO   B12").replace("  O\n", "\n")).into(),
            &["line 2", "atom `CO` of `B12`", "columns 77-78"],
        ),
        ("tilted", format!("{}{atom}", good.replacen("90.00", "75.00", 1)).into(), &["line 1", "75°"]),
        ("small", format!("{}{atom}", cryst("10.000")).into(), &["10 Å along x", "--replicate"]),
    ];
    for (name, bytes, says) in cases {
        let file = scratch(&format!("{name}.pdb"));
        std::fs::write(&file, bytes).expect("the scratch folder can be written");
        refused("leanmd", &["--pdb", file.to_str().expect("a path of letters")], 1, says);
        std::fs::remove_file(file).expect("just written");
    }
    refused("leanmd", &["--pdb", "no/such.pdb"], 1, &["no/such.pdb", "--pdb"]);
}
