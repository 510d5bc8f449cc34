//! Records of jobs (`--record`), and their PEs that run again.

use std::path::PathBuf;
use std::process::Command;

use crate::job::{Ended, Scratch, run};

/// A folder that a job writes to.
pub struct Record(PathBuf);

impl Record {
    pub fn new() -> Record {
        Record(Scratch::new("record").0.clone())
    }

    pub fn option(&self) -> String {
        format!("--record {}", self.0.display())
    }

    /// Runs a PE again.
    pub fn replay(&self, pe: u32, words: &str) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
        command.arg("replay").arg(&self.0).arg("--pe").arg(pe.to_string()).args(words.split_whitespace());
        run(command)
    }

    /// All of them, to their ends, each of which sends what it sent; what each prints.
    #[track_caller]
    pub fn replay_all(&self, pes: u32) -> Vec<Vec<String>> {
        let ended = |pe| self.replay(pe, "").expect(0, &["messages again", ": to the end of its record"]);
        let all: Vec<Ended> = (0..pes).map(ended).collect();
        for ended in &all {
            let said = ended.stderr.join("\n");
            assert!(!said.contains(" and 0 that it sent") && !said.contains("died"), "{said}");
        }
        all.into_iter().map(|ended| ended.stdout).collect()
    }

    /// The file of a PE's first process.
    pub fn file(&self, pe: u32) -> PathBuf {
        self.0.join(format!("pe-{pe}.0.record"))
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
