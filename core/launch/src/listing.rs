//! `talisman list`: the jobs of this user that run on this machine.
//!
//! What is known of a job is what the system tells of its processes: each node carries its job's number and program in its environment
//! ([`talisman_cluster::naming`]). So a job is found whatever has become of its launcher. A job that is one process has threads that are called
//! like PEs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use talisman_cluster::naming::Named;
use talisman_job::variables::JOB_VARIABLE;

use super::mpirun::NODE_PROGRAM;

/// A job, as far as this machine has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// What it is called by.
    job: u32,
    program: String,
    /// Nodes that it began with.
    nodes: u32,
    /// Its processes on this machine, with such as wait to be nodes, without the launcher.
    here: usize,
    /// None if it needs none.
    launcher: Option<Launcher>,
    /// Clock ticks from the machine's start to its.
    began: u64,
}

/// What has become of the process that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launcher {
    Here,
    Gone,
}

/// All of them, as a table for people.
pub(crate) fn table() -> String {
    as_table(&jobs())
}

fn as_table(jobs: &[Listed]) -> String {
    if jobs.is_empty() {
        return "no job of yours runs on this machine\n".into();
    }
    let mut text =
        format!("{:>10}  {:<20}  {:>5}  {:>9}  LAUNCHER\n", "JOB", "PROGRAM", "NODES", "PROCESSES");
    for Listed { job, program, nodes, here, launcher, .. } in jobs {
        let launcher = match launcher {
            None => "none needed",
            Some(Launcher::Here) => "runs",
            Some(Launcher::Gone) => "gone, or on another host",
        };
        writeln!(text, "{job:>10}  {program:<20}  {nodes:>5}  {here:>9}  {launcher}")
            .expect("a text takes all");
    }
    text
}

/// The oldest first.
fn jobs() -> Vec<Listed> {
    let (mut jobs, mut alone) = (BTreeMap::<(u32, String), Listed>::new(), Vec::new());
    for process in own_processes() {
        match process.job() {
            Some(named) => {
                let Named { pid, nodes, program, .. } = named;
                let began = process.began().unwrap_or(u64::MAX);
                let key = (pid, program.clone());
                let program = process.program_of_ranks().unwrap_or(program);
                let new = Listed { job: pid, program, nodes, here: 0, launcher: None, began };
                let listed = jobs.entry(key).or_insert(new);
                listed.here += 1;
                listed.began = listed.began.min(began);
            }
            None if process.has_pes() => alone.push(process),
            None => {}
        }
    }
    let mut all: Vec<Listed> = jobs.into_values().map(with_launcher).collect();
    all.extend(alone.iter().map(Process::as_job));
    all.sort_by_key(|listed| (listed.began, listed.job));
    all
}

/// Another process may have the number of one that is gone: it has begun later than the nodes. What has ended and nobody has waited for is
/// gone too.
fn with_launcher(listed: Listed) -> Listed {
    let began = Process::of(listed.job).filter(Process::is_running).and_then(|process| process.began());
    let is_here = began.is_some_and(|began| began <= listed.began);
    Listed { launcher: Some(if is_here { Launcher::Here } else { Launcher::Gone }), ..listed }
}

/// A process of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) pid: u32,
    /// Nodes that the job began with.
    pub(crate) nodes: u32,
}

/// The processes of a job on this machine, without the launcher: of one of this user's, that is called by this number.
pub(crate) fn parts_of(job: u32) -> Vec<Part> {
    let part = |process: Process| match process.job() {
        Some(named) => (named.pid == job).then_some(Part { pid: process.pid, nodes: named.nodes }),
        None => (process.pid == job && process.has_pes()).then_some(Part { pid: job, nodes: 1 }),
    };
    own_processes().filter_map(part).collect()
}

/// A process of this machine, which may end at any moment: then nothing is known of it.
struct Process {
    pid: u32,
    user: u32,
    folder: PathBuf,
}

/// Those of this user.
fn own_processes() -> impl Iterator<Item = Process> {
    let own = rustix::process::getuid().as_raw();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| Process::of(entry.file_name().to_str()?.parse().ok()?));
    processes.filter(move |process| process.user == own || own == 0)
}

impl Process {
    fn of(pid: u32) -> Option<Process> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let user = fs::metadata(&folder).ok()?.uid();
        Some(Process { pid, user, folder })
    }

    /// The job that it is a node of.
    fn job(&self) -> Option<Named> {
        named_in(&fs::read(self.folder.join("environ")).ok()?)
    }

    /// Whether its threads are PEs.
    fn has_pes(&self) -> bool {
        let threads = fs::read_dir(self.folder.join("task")).into_iter().flatten().flatten();
        threads.into_iter().any(|thread| name(&thread.path()).is_some_and(|name| name == "pe0"))
    }

    /// What its ranks run, if it is a node of `talisman mpirun`.
    fn program_of_ranks(&self) -> Option<String> {
        (name(&self.folder)? == NODE_PROGRAM).then_some(())?;
        file_in(&fs::read(self.folder.join("cmdline")).ok()?)
    }

    fn is_running(&self) -> bool {
        let stat = fs::read_to_string(self.folder.join("stat"));
        stat.is_ok_and(|stat| is_running_in(&stat))
    }

    /// Clock ticks from the machine's start to its.
    fn began(&self) -> Option<u64> {
        began_in(&fs::read_to_string(self.folder.join("stat")).ok()?)
    }

    fn as_job(&self) -> Listed {
        let began = self.began().unwrap_or(u64::MAX);
        let program = self.program_of_ranks().or_else(|| name(&self.folder)).unwrap_or_default();
        Listed { job: self.pid, program, nodes: 1, here: 1, launcher: None, began }
    }
}

fn name(folder: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(folder.join("comm")).ok()?).trim_end().to_owned())
}

/// The name of the file that a node of `talisman mpirun` is given.
fn file_in(words: &[u8]) -> Option<String> {
    let mut words = words.split(|byte| *byte == 0);
    words.find(|word| *word == b"--file")?;
    let file = String::from_utf8_lossy(words.next()?).into_owned();
    Some(Path::new(&file).file_name()?.to_string_lossy().into_owned())
}

fn named_in(environment: &[u8]) -> Option<Named> {
    let mut variables = environment.split(|byte| *byte == 0);
    let ours = |variable: &[u8]| {
        let value = variable.strip_prefix(JOB_VARIABLE.as_bytes())?.strip_prefix(b"=")?;
        Named::read(std::str::from_utf8(value).ok()?)
    };
    variables.find_map(ours)
}

/// By the letter of its state, the third word.
fn is_running_in(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// The 22nd word, where the second stands in brackets and may be anything.
fn began_in(stat: &str) -> Option<u64> {
    stat.rsplit_once(") ")?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_known_by_their_environment() {
        let job = Named { pid: 7, nodes: 4, numbers: 4, program: "lean md".into() };
        let environment = format!("HOME=/\0NOT_{JOB_VARIABLE}=1\0{JOB_VARIABLE}={}\0A=", job.written());
        assert_eq!(named_in(environment.as_bytes()), Some(job));
        assert_eq!(named_in(b"HOME=/\0TALISMAN_JOB=x\0"), None);
    }

    #[test]
    fn a_job_of_ranks_is_known_by_their_program() {
        let words = b"/opt/talisman-mpi\0--ranks\x004\0--file\0/usr/bin/lmp\0--ranks-of\x004\0--\0lmp\0";
        assert_eq!(file_in(words).as_deref(), Some("lmp"));
        assert_eq!((file_in(b"talisman-mpi\0--file"), file_in(b"")), (None, None));
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let rest = (4..=52).map(|word| word.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(began_in(&format!("17 (a ) b) S {rest}\n")), Some(22));
        assert_eq!(began_in("17 (cut"), None);
        assert!(is_running_in("17 (a) Z) S 1") && !is_running_in("17 (a) S) Z 1") && !is_running_in(""));
        let own = Process::of(std::process::id()).expect("this one runs");
        assert!(own.is_running() && own.began().is_some_and(|began| began > 0));
    }

    #[test]
    fn each_job_has_a_line() {
        let job =
            |job, launcher| Listed { job, program: "leanmd".into(), nodes: 4, here: 3, launcher, began: 1 };
        let table = as_table(&[job(17, Some(Launcher::Here)), job(18, Some(Launcher::Gone)), job(19, None)]);
        let lines: Vec<&str> = table.lines().collect();
        assert!(
            lines[1].starts_with("        17  leanmd ") && lines[1].ends_with("    4          3  runs"),
            "{table}"
        );
        assert!(lines[2].contains("gone") && lines[3].contains("none"), "{table}");
        assert!(as_table(&[]).contains("no job"));
    }
}
