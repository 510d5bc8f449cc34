//! `--slice`: a rank that computes is interrupted, and others of its process go on.

use std::path::Path;

use crate::job::{BOTH, Interface, c_compiler, compiled, mpirun, printed};
use crate::trials::checks;

checks!(
    a_rank_that_computes_does_not_hold_up_the_others needs c_compiler,
    a_rank_that_was_interrupted_moves_and_survives needs c_compiler,
);

fn slice(interface: Interface) -> std::path::PathBuf {
    let has_avx = std::arch::is_x86_feature_detected!("avx");
    compiled("slice.c", interface, "", &["-fPIE", "-pie", if has_avx { "-mavx" } else { "-msse2" }])
}

fn job(file: &Path, way: &[&str], words: &[&str]) -> String {
    let file = file.to_str().expect("a name that is text");
    printed(&mut mpirun(&[&["-n", "3"], way, &[file], words].concat()))
}

/// It would not end otherwise: nobody else of the process gets a turn.
fn a_rank_that_computes_does_not_hold_up_the_others() {
    for interface in BOTH {
        let file = slice(interface);
        let expected = job(&file, &[], &["waits"]);
        assert!(expected.lines().count() == 11 && expected.ends_with("flag 19\n"), "{expected}");
        assert_eq!(job(&file, &["--slice", "2ms"], &[]), expected, "{interface:?}");
    }
}

/// Where it was interrupted, which is nowhere in a call: it goes to another process, and back to a checkpoint.
fn a_rank_that_was_interrupted_moves_and_survives() {
    let file = slice(Interface::Mpich);
    let expected = job(&file, &[], &["waits"]);
    for way in [
        &["--slice", "20ms", "--nodes", "2", "--move-always"][..],
        &["--slice", "5ms", "--nodes", "2", "--balancer", "rotate", "--lb-every", "30ms"],
        &["--slice", "5ms", "--nodes", "3", "--ft", "double", "--ckpt-every", "30ms", "--kill", "0@200ms"],
        &[
            "--slice",
            "5ms",
            "--nodes",
            "2",
            "--ft",
            "double",
            "--ckpt-every",
            "30ms",
            "--kill",
            "0@250ms,1@600ms",
            "--respawn",
        ],
    ] {
        assert_eq!(job(&file, way, &[]), expected, "{way:?}");
    }
}
