//! Standard error of ranks, in jobs that do again what they have done before.

use std::process::Output;

use crate::job::{Interface, c_compiler, mpirun, output, program, sorted, text};
use crate::trials::checks;

checks!(
    lines_of_errors_come_once needs c_compiler,
    lines_of_errors_come_before_a_bad_end needs c_compiler,
);

const ROUNDS: u32 = 150;

fn job(options: &[&str], how: &str) -> Output {
    let file = program("errors.c", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let rounds = ROUNDS.to_string();
    output(&mut mpirun(&[&["-n", "3"], options, &[file, &rounds, how]].concat()))
}

/// Those of ranks, and not the runtime's own.
fn of_ranks(errors: &str) -> Vec<&str> {
    let lines = sorted(errors).into_iter();
    lines.filter(|line| line.starts_with("error ") || line.starts_with("written ")).collect()
}

fn expected() -> Vec<String> {
    let lines = |round| {
        let rank =
            move |rank| [format!("error {round} of rank {rank}"), format!("written {round} by rank {rank}")];
        (0..3).flat_map(rank)
    };
    let mut expected: Vec<String> = (0..ROUNDS).flat_map(lines).collect();
    expected.sort();
    expected
}

const DONE: [&str; 3] = ["rank 0 is done", "rank 1 is done", "rank 2 is done"];
const KEPT: [&str; 6] = ["--nodes", "2", "--ft", "double", "--ckpt-every", "50ms"];

fn lines_of_errors_come_once() {
    for options in [
        &[][..],
        &["--nodes", "2", "--balancer", "rotate", "--lb-every", "10ms"],
        &[&KEPT[..], &["--kill", "1@250ms"]].concat(),
        &[&KEPT[..], &["--kill", "0@250ms"]].concat(),
    ] {
        let output = job(options, "well");
        let said = text(&output.stderr);
        assert!(output.status.success(), "{options:?}: {said}");
        assert_eq!(of_ranks(&said), expected(), "{options:?}");
        assert_eq!(sorted(&text(&output.stdout)), DONE, "{options:?}");
    }
}

/// What was held is said before the job ends.
fn lines_of_errors_come_before_a_bad_end() {
    for (how, status, why) in [
        ("abort", 6, "MPI_Abort"),
        (
            "fault",
            139,
            "rank 1: segmentation fault at address 0x30 in function strlen (libc.so.6), called by measure",
        ),
    ] {
        for options in
            [&["--nodes", "2"][..], &[&KEPT[..2], &["--ft", "double", "--ckpt-every", "1h"]].concat()]
        {
            let output = job(options, how);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{options:?}: {said}");
            assert!(said.contains(why), "{options:?}: {said}");
            assert_eq!(of_ranks(&said), expected(), "{options:?}");
            assert_eq!(sorted(&text(&output.stdout)), DONE, "{options:?}");
        }
    }
}
