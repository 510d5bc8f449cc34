//! Programs of this benchmark, which are this executable, started again.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::words;

/// The only number that it prints when it is run with these words.
pub fn number(options: &str) -> f64 {
    let said = output(options, Command::new(me()).args(words(options)));
    said.trim().parse().unwrap_or_else(|error| panic!("{options}: {said}: {error}"))
}

/// Runs it so that it notes something in this file meanwhile.
pub fn run_with_notes(options: &str, file: &Path) {
    output(options, Command::new(me()).args(words(options)).arg("--notes").arg(file));
}

fn me() -> std::path::PathBuf {
    std::env::current_exe().expect("the system tells")
}

fn output(options: &str, command: &mut Command) -> String {
    let done = command.stdin(Stdio::null()).output().expect("it is there");
    assert!(done.status.success(), "{options}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}
