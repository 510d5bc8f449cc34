//! `talisman mpirun`: runs an MPI program as it was built, on virtual ranks.
//!
//! The words are those of other systems' `mpirun` ([`words`]). The program's file is looked at before anything starts
//! ([`executable`]). Then the node program `talisman-mpi`, which lies beside `talisman`, takes this process's place: it
//! is started as any program of the runtime, and maps the MPI program for each rank.

pub mod executable;
mod hosts;
mod mpmd;
mod nodes;
mod words;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;

use talisman_job::RunArgs;
use talisman_job::faults::time;

use super::node_program;
use mpmd::Part;
pub use words::{as_options, is_name};

/// The file of the node program, beside `talisman`.
pub(crate) const NODE_PROGRAM: &str = "talisman-mpi";

/// More ranks have no addresses.
const RANKS_MAX: u32 = 32_768;

/// What `talisman mpirun` is given.
#[derive(clap::Args)]
pub struct Mpirun {
    /// Virtual MPI ranks (also -np); as many as this machine has processors, if that is not given
    #[arg(short = 'n', value_name = "RANKS", value_parser = ranks)]
    ranks: Option<u32>,
    /// Set a variable of the ranks' environment, or pass this one on to all hosts (several times)
    #[arg(short = 'x', value_name = "NAME[=VALUE]", action = clap::ArgAction::Append)]
    variables: Vec<OsString>,
    /// Run in this folder (also -wdir)
    #[arg(long, value_name = "FOLDER")]
    wdir: Option<PathBuf>,
    /// Heap of a rank, at most
    #[arg(long, value_name = "SIZE")]
    rank_memory: Option<OsString>,
    /// Stack of a rank; 8 MiB, or what `ulimit -s` says if that is more, up to 1 GiB
    #[arg(long, value_name = "SIZE")]
    rank_stack: Option<OsString>,
    /// Move each rank to the next node whenever it waits: a test that a program bears it
    #[arg(long)]
    move_always: bool,
    /// Interrupt a rank that computes for longer, and let others have their turn
    ///
    /// For programs in which a rank computes without a call for long while others wait for their turn in its process. Between a
    /// millisecond and a second is sensible.
    #[arg(long, value_name = "TIME", value_parser = slice)]
    slice: Option<Duration>,
    /// Have time stamps of the processor (rdtsc) be values that a rank which does again what it did gets again
    ///
    /// For programs that send what they have measured so, as GROMACS with several ranks, with `--ft logging` or `--record`. Each of them takes
    /// some microseconds then, and so does each look at a clock.
    #[arg(long)]
    trap_tsc: bool,
    /// Write a script for gdb, which knows functions and lines of all ranks then: gdb -p PROCESS -x FILE
    #[arg(long, value_name = "FILE")]
    gdb_script: Option<PathBuf>,
    /// Do not run the program, but list what it needs, and from whom it gets that
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    pub options: RunArgs,
    /// The MPI program, and its own arguments; others behind `:`, each as `: -n RANKS PROGRAM`
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

fn ranks(text: &str) -> Result<u32, String> {
    let ranks = text.parse().ok().filter(|ranks| (1..=RANKS_MAX).contains(ranks));
    ranks.ok_or_else(|| format!("give a number of ranks from 1 to {RANKS_MAX}"))
}

/// The shortest time after which it is worth it.
const SLICE_MIN: Duration = Duration::from_millis(1);

fn slice(text: &str) -> Result<Duration, String> {
    let slice = time(text)?;
    if slice < SLICE_MIN { Err("give 1ms at least".into()) } else { Ok(slice) }
}

/// Options of the runtime that mean something else here.
const LABEL_OUTPUT: &str = "talisman-label-output";
const LB_EVERY: &str = "talisman-lb-every";

/// Hosts are written as other systems have them, and passed on as the runtime has them.
const HOSTS: &str = "talisman-hosts";
const HOSTS_VARIABLE: &str = "TALISMAN_HOSTS";

impl Mpirun {
    /// The node program with all that it is told on its command line. The runtime's options are to be added as variables:
    /// all but those that [`Mpirun::is_own`] names.
    ///
    /// # Errors
    /// If the program cannot be run, with the reason.
    pub fn command(&self, given: &ArgMatches) -> Result<Command, String> {
        self.check_repeatable()?;
        let mut parts = mpmd::parts(self.ranks.unwrap_or_else(|| self.most_ranks()), &self.program, ranks)?;
        let files: Vec<PathBuf> = parts.iter_mut().map(|part| self.file(part)).collect::<Result<_, _>>()?;
        let all = parts.iter().try_fold(0u32, |sum, part| sum.checked_add(part.ranks)).unwrap_or(u32::MAX);
        ranks(&all.to_string())?;
        let variables = self.variables.iter().filter_map(|variable| valued(variable));
        let mut command = Command::new(node_program::beside(NODE_PROGRAM, "runs the ranks")?);
        match self.explain {
            true => command.arg("--explain"),
            false => command.args(["--ranks".into(), all.to_string()]),
        };
        for (part, file) in parts.iter().zip(&files) {
            command.arg("--file").arg(file).args(["--ranks-of".into(), part.ranks.to_string()]);
        }
        for (number, part) in parts.iter().enumerate() {
            add_own(part, number, &mut command)?;
        }
        let stack = self.rank_stack.clone().or_else(stack_of_limit);
        for (option, value) in [("--rank-memory", &self.rank_memory), ("--rank-stack", &stack)] {
            if let Some(value) = value {
                command.arg(option).arg(value);
            }
        }
        for variable in variables {
            command.arg("--env").arg(variable);
        }
        if let Some(slice) = self.slice {
            command.args(["--slice".into(), slice.as_nanos().to_string()]);
        }
        if self.trap_tsc {
            command.arg("--trap-tsc");
        }
        if let Some(file) = &self.gdb_script {
            // From where the command was given, whatever --wdir says.
            let file = std::path::absolute(file).map_err(|error| format!("--gdb-script: {error}"))?;
            command.arg("--gdb-script").arg(file);
        }
        if self.move_always {
            command.arg("--move-always");
        }
        if self.options.label_output {
            command.arg("--label-ranks");
        }
        self.add_defaults(&mut command, given);
        self.leave_preloading_to_ranks(&mut command);
        if let Some(file) = &self.options.hosts {
            self.add_hosts(file, all, given, &mut command)?;
        }
        if let ([file], false) = (&files[..], self.explain)
            && executable::is_fixed(file)
        {
            nodes::of_fixed(file, all, &self.options, given, &mut command)?;
        }
        if let Some(folder) = &self.wdir {
            command.current_dir(folder);
        }
        let between: &[OsString] = &[mpmd::BETWEEN.into()];
        let words: Vec<&[OsString]> = parts.iter().map(|part| &part.words[..]).collect();
        command.arg("--").args(words.join(between));
        Ok(command)
    }

    /// As many as others' `mpirun` starts if nobody says how many.
    fn most_ranks(&self) -> u32 {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        if self.explain { 1 } else { u32::try_from(processors).unwrap_or(RANKS_MAX).min(RANKS_MAX) }
    }

    /// Where what nodes are given is kept, a rank has to do the same when it is given the same.
    fn check_repeatable(&self) -> Result<(), String> {
        let (logs, records) = (self.options.ft.logs(), self.options.record.is_some());
        if self.slice.is_some() && (logs || records) {
            let instead = if logs { "take --ft double" } else { "leave --record out" };
            return Err(format!(
                "--slice interrupts ranks at moments that nobody logs: leave it out, or {instead}"
            ));
        }
        Ok(())
    }

    /// Where a program is, if ranks can run it. A script becomes its interpreter.
    fn file(&self, part: &mut Part) -> Result<PathBuf, String> {
        let program = part.words.first().ok_or("give the program to run")?;
        let folder = part.folder.as_deref().or(self.wdir.as_deref());
        let (file, words) = executable::interpreted(executable::find(program, folder)?, &part.words)?;
        part.words = words;
        Ok(file)
    }

    /// Whether an option of the runtime, by its `clap` name, is not passed on as it is.
    pub fn is_own(id: &str) -> bool {
        matches!(id, LABEL_OUTPUT | HOSTS)
    }

    /// The hosts that were given; of no more nodes than ranks, if nobody says how many there are.
    fn add_hosts(
        &self,
        file: &Path,
        ranks: u32,
        given: &ArgMatches,
        command: &mut Command,
    ) -> Result<(), String> {
        let hosts = hosts::of(file)?;
        command.env(HOSTS_VARIABLE, hosts.value);
        if nodes::is_free(given) && hosts.slots.saturating_sub(self.options.spares) > ranks {
            command.env(nodes::NODES_VARIABLE, ranks.to_string());
        }
        Ok(())
    }

    /// MPI programs do not say when it is a good moment to balance them.
    fn add_defaults(&self, command: &mut Command, given: &ArgMatches) {
        let is_default = given.value_source(LB_EVERY) == Some(ValueSource::DefaultValue);
        if is_default && self.options.balancer != RunArgs::default().balancer {
            command.env("TALISMAN_LB_EVERY", "auto");
        }
        // All ranks have the processors that there are together. On other hosts they have what logging in gives them.
        let threads = std::env::var_os(THREADS).unwrap_or_else(|| "1".into());
        self.add_variable(THREADS, &threads, command);
    }

    /// What comes before the libraries of programs is loaded for each rank, and not for the process: a profiler of MPI would
    /// find another MPI there.
    fn leave_preloading_to_ranks(&self, command: &mut Command) {
        if let Some(libraries) = std::env::var_os(PRELOAD) {
            self.add_variable(PRELOAD, &libraries, command);
            command.env_remove(PRELOAD);
        }
    }

    /// Ranks have this variable, unless another value was given.
    fn add_variable(&self, name: &str, value: &OsStr, command: &mut Command) {
        if !self.variables.iter().any(|variable| is_of(variable, name)) {
            let mut variable = OsString::from(name);
            variable.push("=");
            variable.push(value);
            command.arg("--env").arg(variable);
        }
    }
}

/// What ranks of one of several programs have by themselves.
fn add_own(part: &Part, number: usize, command: &mut Command) -> Result<(), String> {
    let of = |value: &OsStr| {
        let mut numbered = OsString::from(format!("{number}:"));
        numbered.push(value);
        numbered
    };
    for variable in &part.variables {
        valued(variable).into_iter().for_each(|variable| _ = command.arg("--env-of").arg(of(&variable)));
    }
    if let Some(folder) = &part.folder {
        // From where the command was given, as of the first program.
        let folder = std::path::absolute(folder).map_err(|error| format!("-wdir: {error}"))?;
        command.arg("--wdir-of").arg(of(folder.as_os_str()));
    }
    Ok(())
}

/// How many threads programs with OpenMP start.
const THREADS: &str = "OMP_NUM_THREADS";

/// Libraries that the dynamic linker puts before all others.
const PRELOAD: &str = "LD_PRELOAD";

/// Whether this is a variable of this name, with or without a value.
fn is_of(variable: &OsStr, name: &str) -> bool {
    let rest = variable.as_encoded_bytes().strip_prefix(name.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
}

/// The stack that programs have here (`ulimit -s`), if that is more than a rank has anyway; of those without a limit as much as is
/// sensible.
fn stack_of_limit() -> Option<OsString> {
    const USUAL: u64 = 8 << 20;
    const MOST: u64 = 1 << 30;
    const PAGE: u64 = 4096;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    let stack = limit.unwrap_or(MOST).min(MOST) / PAGE * PAGE;
    (stack > USUAL).then(|| stack.to_string().into())
}

/// `NAME=VALUE` of `NAME`, as it is here. As with Open MPI a script may pass on what there is not everywhere.
fn valued(variable: &OsStr) -> Option<OsString> {
    if variable.as_encoded_bytes().contains(&b'=') {
        return Some(variable.to_owned());
    }
    let Some(value) = std::env::var_os(variable) else {
        eprintln!(
            "talisman mpirun: -x {}: there is no such variable here, and none for the ranks",
            variable.display()
        );
        return None;
    };
    let mut valued = variable.to_owned();
    valued.push("=");
    valued.push(value);
    Some(valued)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_ranks_is_one() {
        assert_eq!(ranks("1"), Ok(1));
        assert_eq!(ranks("32768"), Ok(RANKS_MAX));
        for wrong in ["0", "-1", "32769", "four", "", "99999999999"] {
            assert!(ranks(wrong).unwrap_err().contains("from 1 to 32768"), "{wrong}");
        }
    }

    #[test]
    fn a_slice_is_a_time() {
        assert_eq!(slice("20ms"), Ok(Duration::from_millis(20)));
        assert!(slice("0.5ms").unwrap_err().contains("1ms") && slice("20").unwrap_err().contains("250ms"));
    }

    #[test]
    fn a_variable_is_known_by_its_name() {
        let is = |variable: &str| is_of(OsStr::new(variable), THREADS);
        assert!(is("OMP_NUM_THREADS") && is("OMP_NUM_THREADS=3"));
        assert!(!is("OMP_NUM_THREADS_LIMIT=3") && !is("OMP") && !is("X=OMP_NUM_THREADS"));
    }

    #[test]
    fn variables_have_values() {
        assert_eq!(valued(OsStr::new("A=b=c")).unwrap(), "A=b=c");
        assert_eq!(valued(OsStr::new("TALISMAN_TEST_NO_SUCH")), None);
        let mut path = OsString::from("PATH=");
        path.push(std::env::var_os("PATH").unwrap());
        assert_eq!(valued(OsStr::new("PATH")).unwrap(), path);
    }
}
