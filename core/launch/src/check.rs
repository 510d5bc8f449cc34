//! `talisman check --replay -- PROGRAM`: whether all PEs of a program do the same when they are given the same.
//!
//! The program runs once and is recorded. Then each PE is run again from its record. What it sends is compared, within
//! PEs too: message logging rests on that, and a chare that breaks the rule is found before any node is lost.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus as Exit, Stdio};

use super::replay::program_of;
use super::replay_pe::RAN_AGAIN;
use talisman_core::record::file::{RecordError, find, records_in};
use talisman_core::record::replayer::DIFFERS;
use talisman_job::options::RunArgs;

/// Options, and the program.
#[derive(clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) options: RunArgs,

    /// Run each PE again from what it was given, and compare what it sends
    #[arg(long, required = true)]
    replay: bool,

    /// The program and its own options, after `--`
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// It could not be found out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// There is no folder to record it in.
    #[error("{} cannot be made: {why}; give a folder with --record", path.display())]
    NoFolder {
        /// Which.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// The program cannot be started.
    #[error("`{program}` cannot be run: {why}")]
    NotRun {
        /// Which.
        program: String,
        /// What the system says.
        why: io::Error,
    },
    /// It ran, and left no record: it may be no program of Talisman, or its options were refused.
    #[error("`{program}` ended ({exit}), and has recorded nothing")]
    NotRecorded {
        /// Which.
        program: String,
        /// How.
        exit: Exit,
    },
    /// What it recorded cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// A line for each PE, and one for all.
    pub(crate) lines: Vec<String>,
    /// Some PE did something else, or could not be run again.
    pub(crate) differs: bool,
}

impl Check {
    /// Runs the program with these variables, and all its PEs again.
    pub(crate) fn run(&self, variables: Vec<(OsString, OsString)>) -> Result<Findings, CheckError> {
        let folder = Folder::of(&self.options)?;
        let (program, words) = self.program.split_first().expect("clap requires one word at least");
        let mut command = Command::new(program);
        command.args(words).envs(variables).envs(self.beside(&folder.path));
        let name = || program.display().to_string();
        let exit = command.status().map_err(|why| CheckError::NotRun { program: name(), why })?;
        let mut pes: Vec<u32> = match folder.path.is_dir() {
            true => records_in(&folder.path)?.into_iter().map(|(pe, _)| pe).collect(),
            false => Vec::new(),
        };
        pes.dedup();
        if pes.is_empty() {
            return Err(CheckError::NotRecorded { program: name(), exit });
        }
        findings(&folder.path, &pes, exit)
    }

    /// What the program has to be told beside the options that are given. Messages between two nodes are compared as
    /// they are packed; so are those that stay on a PE, for which all are.
    fn beside(&self, folder: &Path) -> Vec<(&'static str, OsString)> {
        let nodes =
            (self.options.nodes == 1 && self.options.hosts.is_none()).then(|| ("TALISMAN_NODES", "2".into()));
        let all = [("TALISMAN_RECORD", folder.as_os_str().to_owned()), ("TALISMAN_PACK_ALL", "1".into())];
        all.into_iter().chain(nodes).collect()
    }
}

fn findings(folder: &Path, pes: &[u32], exit: Exit) -> Result<Findings, CheckError> {
    let mut findings = Findings::default();
    for pe in pes {
        let verdict = verdict_on(&find(folder, *pe)?)?;
        findings.differs |= verdict.differs;
        findings.lines.push(verdict.line);
    }
    let all = match findings.differs {
        true => {
            "not all PEs do the same when they are given the same: what an entry does has to follow from its messages and \
                 the state of its object, not from a clock, the order of a hash map, or random numbers other than cx.rng()"
        }
        false => "all PEs do the same when they are given the same",
    };
    findings.lines.push(all.into());
    if !exit.success() {
        findings.lines.push(format!("the program itself failed ({exit})"));
    }
    Ok(findings)
}

struct Verdict {
    line: String,
    differs: bool,
}

/// Runs a PE again. How that went is told by what it says.
fn verdict_on(record: &Path) -> Result<Verdict, CheckError> {
    let mut command = program_of(record, None)?;
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let ended =
        command.output().map_err(|why| CheckError::NotRun { program: record.display().to_string(), why })?;
    let said = String::from_utf8_lossy(&ended.stderr);
    Ok(verdict(&said).unwrap_or_else(|| Verdict {
        line: format!(
            "{}: the program has not said how that went ({}): {}",
            record.display(),
            ended.status,
            said.trim()
        ),
        differs: true,
    }))
}

/// By what was said; none if nothing was.
fn verdict(said: &str) -> Option<Verdict> {
    let line_with = |text: &str| said.lines().find(|line| line.contains(text));
    let difference = line_with(DIFFERS);
    // A panic of the program comes again: that is the same.
    let told = difference.or_else(|| line_with(RAN_AGAIN))?;
    // Without the program's name before it.
    let line = told.find("PE ").map_or(told, |at| &told[at..]).to_owned();
    Some(Verdict { line, differs: difference.is_some() })
}

/// Where the record is; a folder for this alone is removed.
struct Folder {
    path: PathBuf,
    is_own: bool,
}

impl Folder {
    /// The one that was asked for, or a new one that nobody else can look into.
    fn of(options: &RunArgs) -> Result<Folder, CheckError> {
        if let Some(folder) = &options.record {
            // The program may be run in another folder.
            let path = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            return Ok(Folder { path, is_own: false });
        }
        let path = std::env::temp_dir().join(format!("talisman-check-{}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Folder { path, is_own: true }),
            Err(why) => Err(CheckError::NoFolder { path, why }),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_own {
            // Whoever cannot remove it leaves it.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_has_said_of_its_pe_is_read() {
        let same =
            format!("app: panicked\napp: PE 1 has run 5 {RAN_AGAIN}, and 2 that it sent were the same\n");
        let same = verdict(&same).expect("it says so");
        assert!(!same.differs && same.line.starts_with("PE 1 has run 5"), "{}", same.line);
        let other = format!("app: error: PE 0 {DIFFERS}: that\napp: PE 0 has run 5 {RAN_AGAIN}\n");
        let other = verdict(&other).expect("it says so");
        assert!(other.differs && other.line.starts_with("PE 0 does not"), "{}", other.line);
        assert!(verdict("").is_none() && verdict("app: error: no such file").is_none());
    }
}
