//! Deliberate mistakes of the loader (`talisman_observe::mutations`): each is noticed by what the other tests look at.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::build::{Workshop, compilers};
use crate::cases::{build_libraries, lines, native};

crate::trials! {
    thread_locals_that_are_not_copied_in_are_noticed,
    thread_locals_that_are_not_copied_out_are_noticed,
    a_word_that_points_to_another_rank_is_noticed,
}

/// All of them.
pub const MISTAKES: [&str; 3] = ["pad-not-copied-in", "pad-not-copied-out", "got-word-of-another-slot"];

fn mistaken(mistake: &str, program: &Path) -> Output {
    let host = std::env::current_exe().expect("this program");
    let mut command = Command::new(host);
    command.args(["mistaken", mistake, "3", "stay"]).arg(program);
    command.output().expect("this program can be started again")
}

fn thread_locals_that_are_not_copied_in_are_noticed() {
    thread_locals_differ("pad-not-copied-in");
}

fn thread_locals_that_are_not_copied_out_are_noticed() {
    thread_locals_differ("pad-not-copied-out");
}

fn thread_locals_differ(mistake: &str) {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    build_libraries(&shop, "tls");
    let libraries = ["-luser", "-lgeneral", "-lnear", "-llocal", "-ldescribed", "-lfar"];
    let program = shop.build("tls", "tls.c", &libraries);
    let mut expected = BTreeMap::new();
    (0..3).for_each(|number| expected.extend(lines(&native(&program, number, &[]))));
    let output = mistaken(mistake, &program);
    assert_ne!(lines(&output), expected, "{mistake} is not noticed");
}

fn a_word_that_points_to_another_rank_is_noticed() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    build_libraries(&shop, "data");
    let output = mistaken("got-word-of-another-slot", &shop.build("data", "data.c", &["-ldata_lib"]));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains(" of rank 1 is of Some(0)"), "{errors}");
}
