//! What each node does of a program, and when, as its processes note it in a file: also what they do again.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::own_program;

/// A step of a node.
#[derive(Clone, Copy, Debug)]
pub struct Note {
    pub node: u32,
    pub process: u32,
    pub step: u64,
    /// Nanoseconds since 1970, which all processes agree on.
    pub at: u64,
}

/// What is noted in a run of this program with these words, by time.
pub fn of_run(options: &str) -> Vec<Note> {
    let file = std::env::temp_dir().join(format!("talisman-bench-{}.notes", std::process::id()));
    own_program::run_with_notes(options, &file);
    let text = std::fs::read_to_string(&file).expect("something is noted");
    std::fs::remove_file(&file).expect("it is ours");
    let mut all: Vec<_> = text.lines().map(read).collect();
    all.sort_by_key(|note| note.at);
    all
}

fn read(line: &str) -> Note {
    let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [node, process, step, at] = numbers[..] else { panic!("{line}") };
    Note { node: node as u32, process: process as u32, step, at }
}

/// A process notes that its node does this step.
pub fn note(file: &str, node: u32, step: u32) {
    let line = format!("{node} {} {step} {}\n", std::process::id(), nanos());
    let opened = OpenOptions::new().append(true).create(true).open(file);
    opened.and_then(|mut file| file.write_all(line.as_bytes())).expect("the scratch folder can be written");
}

/// Nanoseconds since 1970.
pub fn nanos() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}
