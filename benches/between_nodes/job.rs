//! Jobs of several nodes: this very program, started again as a program on the runtime.

use std::fmt;
use std::process::{Command, Output};

use talisman::prelude::*;

use crate::common::sample;
use crate::raw::Way;

/// What two nodes are linked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup, clap::ValueEnum)]
pub enum Transport {
    /// Loopback.
    Tcp,
    /// Memory of both.
    Shm,
}

/// Both.
pub const TRANSPORTS: [Transport; 2] = [Transport::Tcp, Transport::Shm];

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Transport::Tcp => "tcp",
            Transport::Shm => "shm",
        })
    }
}

impl Transport {
    /// What its limit is measured by.
    pub fn way(self) -> Way {
        match self {
            Transport::Tcp => Way::Tcp,
            Transport::Shm => Way::Memory,
        }
    }
}

/// A job of nodes with one PE each.
pub struct Job {
    /// The first word on the command line, by which `main` knows the program.
    pub program: &'static str,
    /// How many nodes.
    pub nodes: u32,
    /// How they are linked.
    pub transport: Transport,
    /// The program's own options.
    pub options: Vec<String>,
}

impl Job {
    /// Runs it to its end; what it printed.
    pub fn run(&self) -> String {
        let Output { status, stdout, stderr } =
            self.command().output().expect("this program can be started again");
        let said = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "{} on {} nodes, {}: {said}", self.program, self.nodes, self.transport);
        String::from_utf8(stdout).expect("it prints rows")
    }

    /// Runs it to its end, and keeps the samples that it printed with [`line`].
    pub fn sample(&self) {
        for line in self.run().lines() {
            let words: Vec<&str> = line.split('\t').collect();
            let [what, ours, limit] = words[..] else { panic!("`{line}` is no sample") };
            let number = |word: &str| word.parse().expect("a number");
            sample(what, number(ours), number(limit));
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("the system tells"));
        command.arg(self.program).args(&self.options);
        command.args(["--pes", "1", "--nodes", &self.nodes.to_string()]);
        command.args(["--transport", &self.transport.to_string()]);
        command
    }
}

/// What a round gave for one row, as a program prints it.
pub fn line(what: &str, ours: f64, limit: f64) -> String {
    format!("{what}\t{ours}\t{limit}")
}

/// As many rounds, or one with `--smoke` on the command line: to see whether all goes.
pub fn rounds(usual: u32) -> u32 {
    if std::env::args().any(|word| word == "--smoke") { 1 } else { usual }
}
