//! The `talisman` command of the shell.
//!
//! `talisman run [runtime options] -- PROGRAM [its arguments]` runs a program with the runtime options in its
//! environment, as `TALISMAN_…` variables. The program takes this process's place, and itself starts the nodes.
//! `talisman mpirun -n RANKS PROGRAM` runs an MPI program on virtual ranks; so do `mpirun` and `mpiexec`, if they are links to `talisman`.
//! `talisman bench` measures what messages take on these nodes, beside what the machine allows.
//! `talisman list` shows the jobs that run here, and `talisman ranks JOB` what the ranks of an MPI program do.
//! `talisman top JOB` shows how it stands.
//! `talisman checkpoint JOB`, `talisman shrink JOB NODE…` and `talisman grow JOB [K]` ask a running job for something.
//! `talisman replay FOLDER --pe N` has a program run one of its PEs again from a record; `talisman check --replay --
//! PROGRAM` does so with all.
//! `talisman trace FILE` sums up what a trace says.
//! `talisman lb-replay SNAPSHOT` runs balancing strategies on what a balancing step of a program knew.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _};

use super::ExitStatus;
use super::bench::Bench;
use super::check::Check;
use super::lb_replay::LbReplay;
use super::listing;
use super::mpirun::{self, Mpirun};
use super::ranks::ranks;
use super::replay::Replay;
use super::top::Top;
use super::trace::command::Trace;
use talisman_job::asking::{self, Request};
use talisman_job::command_line::{as_given, asks_in_short, in_short, naming_variable, said_of_idle};
use talisman_job::options::RunArgs;
use talisman_job::options::numbers::{joined, whole};
use talisman_job::variables;

/// Runs the command with these words, the first of which is its own name. Returns only if there was nothing to run.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitStatus {
    // No other thread has been started.
    variables::unset_empty_ones();
    let error = match task(words) {
        Ok(Task::Run(mut command)) => {
            let error = command.exec();
            usage_error(RUN, &cannot_run(command.get_program(), &error))
        }
        Ok(Task::Tell(text)) => {
            // Whoever has read enough may have closed the pipe.
            let _ = io::stdout().write_all(text.as_bytes());
            return ExitStatus::Done;
        }
        Ok(Task::Found(text)) => {
            let _ = io::stdout().write_all(text.as_bytes());
            return ExitStatus::ProgramFailed;
        }
        Ok(Task::Refused(why)) => {
            eprintln!("talisman: error: {why}");
            return ExitStatus::ProgramFailed;
        }
        Err(error) => error,
    };
    // Nobody reads the message if this fails.
    let _ = error.print();
    if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Done }
}

/// Runs programs made with Talisman, and looks at what they left.
#[derive(clap::Parser)]
#[command(name = "talisman", version, arg_required_else_help = true)]
enum Tool {
    /// Run a program, on this machine or on several hosts
    ///
    /// The runtime options reach the program as its TALISMAN_… variables; options that stand after the program's name
    /// are its own, and win. It may be any program that uses Talisman.
    #[command(override_usage = "talisman run [OPTIONS] -- PROGRAM [ITS OPTIONS]...")]
    Run(Box<Run>),
    /// Run an MPI program as it was built, on virtual ranks
    ///
    /// The program is linked to MPICH or Open MPI, which need not be installed. Its ranks are objects of the runtime: many of them
    /// share a node, they move to where there is less to do (--balancer), and go on when nodes are lost (--ft double). Options stand
    /// before the program's name; what follows is the program's. The usual words of `mpirun` are understood: -np, -x, -wdir, -hostfile.
    #[command(version, override_usage = "talisman mpirun -n RANKS [OPTIONS] PROGRAM [ITS ARGUMENTS]...")]
    Mpirun(Box<Mpirun>),
    /// See what balancing strategies make of what a balancing step knew
    ///
    /// Prints how even each leaves the load, what goes between PEs and nodes then, what it moves, and how long it takes.
    /// Snapshots are written by programs with --balancer NAME --lb-dump FOLDER.
    LbReplay(LbReplay),
    /// Sum up what a trace of a job says
    ///
    /// Usage of PEs, time by entry, how long entries took, messages between PEs, the longest entries, balancing steps, checkpoints and losses.
    /// A program writes it with --trace FILE.pftrace, which Perfetto's viewer shows too. Of a job that died, its parts are put together.
    Trace(Trace),
    /// Run a PE of a program again, alone, from a record
    ///
    /// A program writes it with --record FOLDER, also one that failed. The program is started again for that, in one process, and prints what
    /// the PE printed. Each message that it sends is compared: a program whose entries depend on anything but their messages and the
    /// state of their objects is told so. Under a debugger: gdb --args talisman replay FOLDER --pe N
    Replay(Replay),
    /// Find out whether a program does the same when it is given the same
    ///
    /// Runs it, and each of its PEs again from what that was given. Of those that send something else, the chare, index and entry are
    /// printed. --ft logging rests on that; with two nodes unless --nodes says otherwise. Status 1 if any does.
    #[command(override_usage = "talisman check --replay [OPTIONS] -- PROGRAM [ITS OPTIONS]...")]
    Check(Box<Check>),
    /// Measure whether a machine or a cluster is set up well
    ///
    /// Starts nodes as `talisman run` does, and measures what their PEs compute and what messages between them take, beside what the
    /// machine itself allows: between PEs of a node, with --nodes between nodes of a host, with --hosts between hosts, with --ft a
    /// checkpoint. Says what stands out: slow PEs, slow links, shared cores.
    Bench(Box<Bench>),
    /// Show the jobs of yours that run on this machine
    ///
    /// By the process ids that they are called by, also those whose launcher is gone; not those that are simulated.
    List,
    /// Show the ranks of a running MPI program: where each is, what it waits for, its memory, messages and load
    ///
    /// Those on this machine, of a job of any kind. Nothing of the job is held up. Messages are counted since the rank came to its
    /// node, those that collectives are made of too; memory is what a rank has for itself; load is how often it was seen to run, in a
    /// fifth of a second.
    Ranks {
        /// The process id of the process that was started
        #[arg(value_parser = whole::<u32>(JOB))]
        job: u32,
        /// As JSON: an array with an object for each rank
        #[arg(long)]
        json: bool,
    },
    /// Show how a running job stands: nodes, PEs and their load, objects, messages, checkpoints, losses
    ///
    /// Each second, until q. With c, b and g it asks for a checkpoint, a balancing step, or for nodes to be added. A job of several nodes, or
    /// with --dashboard, which shows the same in a browser.
    Top(Top),
    /// Have a running job take a checkpoint now, and wait until it is kept
    ///
    /// A job of several nodes with --ft. The checkpoint is on disk then, and the answer says where (--ckpt-dir): the job can be started again
    /// from it (--restart), as long as it has not ended well. SIGUSR1 to the same process does the same.
    Checkpoint {
        /// The process id of the process that was started
        #[arg(value_parser = whole::<u32>(JOB))]
        job: u32,
    },
    /// Have a running job take a load balancing step now, and say what it did
    ///
    /// A job of several nodes with --balancer. It takes the step whatever --lb-every says.
    Balance {
        /// The process id of the process that was started
        #[arg(value_parser = whole::<u32>(JOB))]
        job: u32,
    },
    /// Have a running job go on without some of its nodes, whose processes end
    ///
    /// A job of several nodes with --ft. It takes a checkpoint and goes on from that without these nodes; with --balancer their objects
    /// are then spread over all that are left.
    Shrink {
        /// The process id of the process that was started
        #[arg(value_parser = whole::<u32>(JOB))]
        job: u32,
        /// The nodes that are to go
        #[arg(required = true, value_name = "NODE", value_parser = whole::<u32>("numbers of nodes"))]
        nodes: Vec<u32>,
    },
    /// Have a running job go on with more nodes
    ///
    /// A job of several nodes with --ft: nodes that are lost and not replaced, or were released (`talisman shrink`), come again, and
    /// others, up to as many as --max-nodes said at its start. Processes are started for them, or take the place of such as wait (--spares); it takes a checkpoint and goes on from that with them. With
    /// --balancer objects move to them at once.
    Grow {
        /// The process id of the process that was started
        #[arg(value_parser = whole::<u32>(JOB))]
        job: u32,
        /// How many nodes; all that are missing if nothing is said. Those with the lowest numbers come first
        #[arg(value_parser = clap::value_parser!(u32).range(1..))]
        count: Option<u32>,
    },
}

/// What is wanted of who names a job.
const JOB: &str = "the job's process id, as `talisman list` shows it";

/// The names of the subcommands.
const RUN: &str = "run";
const MPIRUN: &str = "mpirun";
const LB_REPLAY: &str = "lb-replay";
const REPLAY: &str = "replay";
const CHECK: &str = "check";
const BENCH: &str = "bench";

#[derive(clap::Args)]
struct Run {
    #[command(flatten)]
    options: RunArgs,

    /// The program and its own options, after `--`
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// What is to be done.
#[derive(Debug)]
enum Task {
    Run(process::Command),
    /// Print this.
    Tell(String),
    /// It cannot be done, for this reason.
    Refused(String),
    /// Print this: something is wrong with a program.
    Found(String),
}

fn task(words: impl IntoIterator<Item = OsString>) -> Result<Task, clap::Error> {
    let options = RunArgs::command_of_options();
    let words = joined(words_of_mpirun(words.into_iter().collect()), options.get_arguments());
    let runs = [RUN, CHECK].into_iter().find(|name| words.get(1).is_some_and(|word| word == name));
    let error = |error| match runs {
        Some(name) => missing_dashes(name, naming_variable(error, options.get_arguments(), &words)),
        None => error,
    };
    let in_short = |tool: Command| match asks_in_short(&words) {
        true => [RUN, MPIRUN, CHECK, BENCH]
            .into_iter()
            .fold(tool, |tool, name| tool.mut_subcommand(name, in_short)),
        false => tool,
    };
    let matches = in_short(Tool::command()).try_get_matches_from(&words).map_err(error)?;
    match Tool::from_arg_matches(&matches)? {
        Tool::Run(run) => command_to_run(&run, &matches).map(Task::Run),
        Tool::Mpirun(mpirun) => command_of_ranks(&mpirun, &matches).map(Task::Run),
        Tool::Replay(replay) => {
            replay.command().map(Task::Run).map_err(|error| usage_error(REPLAY, &error.to_string()))
        }
        Tool::Trace(trace) => Ok(trace.run().map_or_else(|why| Task::Refused(why.to_string()), Task::Tell)),
        Tool::Check(check) => checked(&check, &matches),
        Tool::Bench(bench) => command_to_measure(&bench, &matches).map(Task::Run),
        Tool::List => Ok(Task::Tell(listing::table())),
        Tool::Ranks { job, json } => Ok(ranks(job, json).map_or_else(Task::Refused, Task::Tell)),
        Tool::Top(top) => Ok(top.run().map_or_else(Task::Refused, Task::Tell)),
        Tool::Checkpoint { job } => Ok(asked(job, &Request::Checkpoint)),
        Tool::Balance { job } => Ok(asked(job, &Request::Balance)),
        Tool::Shrink { job, nodes } => Ok(asked(job, &Request::Shrink(nodes))),
        Tool::Grow { job, count } => Ok(asked(job, &Request::Grow(count))),
        Tool::LbReplay(replay) => {
            replay.run().map(Task::Tell).map_err(|error| usage_error(LB_REPLAY, &error.to_string()))
        }
    }
}

/// What comes of a program's PEs that run again.
fn checked(check: &Check, matches: &ArgMatches) -> Result<Task, clap::Error> {
    let given = valid(CHECK, &check.options, matches)?;
    // What is in a folder of a former record would be taken for the program's.
    check.options.validate_paths().map_err(|error| usage_error(CHECK, &error.to_string()))?;
    let findings =
        check.run(variables(given, |_| true)).map_err(|error| usage_error(CHECK, &error.to_string()))?;
    let text: String = findings.lines.iter().map(|line| format!("{line}\n")).collect();
    Ok(if findings.differs { Task::Found(text) } else { Task::Tell(text) })
}

/// What the job says to this.
fn asked(job: u32, request: &Request) -> Task {
    asking::ask(job, request).map_or_else(Task::Refused, |text| Task::Tell(format!("{text}\n")))
}

/// Words of `mpirun`, if it is called by that name or as a subcommand, as options of ours.
fn words_of_mpirun(words: Vec<OsString>) -> Vec<OsString> {
    let is_link = words.first().is_some_and(|name| mpirun::is_name(name));
    let at = if is_link { 1 } else { 2 };
    if !is_link && words.get(1).is_none_or(|word| word != MPIRUN) {
        return words;
    }
    let tool = Tool::command();
    let own = tool.find_subcommand(MPIRUN).expect("it is one of those above");
    let rest = mpirun::as_options(words.into_iter().skip(at), own.get_arguments());
    ["talisman".into(), MPIRUN.into()].into_iter().chain(rest).collect()
}

fn command_of_ranks(mpirun: &Mpirun, matches: &ArgMatches) -> Result<process::Command, clap::Error> {
    let given = valid(MPIRUN, &mpirun.options, matches)?;
    let mut command = mpirun.command(given).map_err(|why| usage_error(MPIRUN, &why))?;
    command.envs(variables(given, |id| !Mpirun::is_own(id)));
    Ok(command)
}

/// What is given of a subcommand's options, if the runtime can do with them.
fn valid<'a>(
    subcommand: &str,
    options: &RunArgs,
    matches: &'a ArgMatches,
) -> Result<&'a ArgMatches, clap::Error> {
    let (_, given) = matches.subcommand().expect("there is one, or reading the words had failed");
    let all = RunArgs::command_of_options();
    let valid = options.validate().map_err(|error| as_given(&error.to_string(), &all, given));
    // What is only to be said, the program says.
    let said = valid.and_then(|()| said_of_idle(options, &all, given));
    said.map_err(|why| usage_error(subcommand, &why))?;
    Ok(given)
}

fn command_to_run(run: &Run, matches: &ArgMatches) -> Result<process::Command, clap::Error> {
    let given = valid(RUN, &run.options, matches)?;
    let (program, arguments) = run.program.split_first().expect("clap requires one word at least");
    let mut command = process::Command::new(program);
    command.args(arguments).envs(variables(given, |_| true));
    Ok(command)
}

fn command_to_measure(bench: &Bench, matches: &ArgMatches) -> Result<process::Command, clap::Error> {
    let given = valid(BENCH, &bench.options, matches)?;
    let mut command = bench.command().map_err(|why| usage_error(BENCH, &why))?;
    command.envs(variables(given, |_| true));
    Ok(command)
}

/// A program without `--` before it is a common slip, which clap calls an unexpected argument.
fn missing_dashes(subcommand: &str, error: clap::Error) -> clap::Error {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word))
            if error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-') =>
        {
            usage_error(subcommand, &format!("write `--` before the program: -- {word}"))
        }
        _ => error,
    }
}

/// The runtime options given on this command line, as variables. Those that were variables already remain so.
fn variables(given: &ArgMatches, is_passed: impl Fn(&str) -> bool) -> Vec<(OsString, OsString)> {
    let options = RunArgs::command_of_options();
    let variable = |option: &clap::Arg| {
        let id = option.get_id().as_str();
        let ours = given.value_source(id) == Some(ValueSource::CommandLine) && is_passed(id);
        let values: Vec<&OsStr> = given.get_raw(id).filter(|_| ours)?.collect();
        Some((option.get_env()?.to_owned(), values.join(OsStr::new(","))))
    };
    options.get_arguments().filter_map(variable).collect()
}

fn cannot_run(program: &OsStr, error: &io::Error) -> String {
    let program = program.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no program `{program}`{}", hint(&program.to_string())),
        io::ErrorKind::PermissionDenied => format!("`{program}` is no program that you may run"),
        _ => format!("`{program}` cannot be run: {error}"),
    }
}

fn hint(program: &str) -> String {
    if program.contains('/') { String::new() } else { format!(" in PATH; if it is here, write ./{program}") }
}

fn usage_error(subcommand: &str, message: &str) -> clap::Error {
    let mut tool = Tool::command();
    tool.build();
    let subcommand = tool.find_subcommand_mut(subcommand).expect("it is one of those above");
    subcommand.error(ErrorKind::ValueValidation, message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn read(words: &[&str]) -> Result<process::Command, clap::Error> {
        match task(["talisman"].iter().chain(words).map(OsString::from))? {
            Task::Run(command) => Ok(command),
            Task::Tell(text) | Task::Refused(text) | Task::Found(text) => {
                panic!("nothing is to be run, but to be told: {text}")
            }
        }
    }

    fn refused(words: &[&str]) -> String {
        read(words).expect_err("must be refused").to_string()
    }

    #[test]
    fn the_command_is_consistent() {
        Tool::command().debug_assert();
    }

    #[test]
    fn options_become_variables_and_the_rest_is_the_programs() {
        let words =
            ["run", "--nodes", "1", "--pes", "2", "--progress", "--", "./prog", "--seed", "3", "--", "x"];
        let command = read(&words).unwrap();
        let variables: BTreeMap<_, _> =
            command.get_envs().map(|(name, value)| (name, value.unwrap())).collect();
        let expected = [("TALISMAN_NODES", "1"), ("TALISMAN_PES", "2"), ("TALISMAN_PROGRESS", "true")];
        assert_eq!(variables, expected.map(|(name, value)| (OsStr::new(name), OsStr::new(value))).into());
        assert_eq!(command.get_program(), "./prog");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--seed", "3", "--", "x"]);
    }

    #[test]
    fn an_option_with_many_values_can_be_a_variable() {
        for option in RunArgs::command_of_options().get_arguments() {
            let many = matches!(option.get_action(), clap::ArgAction::Append);
            assert!(!many || option.get_value_delimiter() == Some(','), "{option}");
        }
    }

    #[test]
    fn errors_say_what_to_write() {
        for (words, said) in [
            (&["run", "--pes", "2", "./prog"][..], "-- ./prog"),
            (&["run", "--pes", "2"], "PROGRAM"),
            (&["run", "--pes", "0", "--", "./prog"], "at least one PE"),
            (&["run", "--pe", "0", "--", "./prog"], "--pes"),
            (&["walk"], "walk"),
            (&["mpirun", "-n", "0", "sh"], "from 1 to 32768"),
            (&["mpirun", "-np", "4"], "PROGRAM"),
            (&["mpirun", "-np", "4", "no-such-program"], "no program `no-such-program` in PATH"),
            (&["mpirun", "-n", "2", "/dev/null"], "may run"),
            (&["mpirun", "-n", "2", "sh", ":", "sh"], "behind a `:` needs its number of ranks"),
            (&["mpirun", "-n", "2", "--nodes", "0", "sh"], "node"),
            (&["bench", "--rounds", "0"], "0 is not in 1..=1000"),
            (&["bench", "--node", "2"], "--nodes"),
            (&["bench"], "no `talisman-bench` in"),
            (&["lb-replay"], "SNAPSHOT"),
            (&["trace"], "FILE.pftrace"),
            (&["checkpoint"], "JOB"),
            (&["top"], "JOB"),
            (&["ranks"], "JOB"),
            (&["ranks", "one"], "`talisman list` shows it"),
            (&["shrink", "17"], "NODE"),
            (&["grow"], "JOB"),
            (&["grow", "17", "0"], "0 is not in 1.."),
            (&["lb-replay", "no/such.lb"], "no/such.lb"),
            (&["lb-replay", "no/such.lb", "--balancer", "greed"], "greedy"),
            (&["lb-replay", "one.lb", "two.lb"], "unexpected argument 'two.lb'"),
        ] {
            let error = read(words).expect_err("must be refused");
            assert!(error.use_stderr() && error.to_string().contains(said), "{words:?}: {error}");
        }
        assert!(refused(&["--help"]).contains("run"));
        assert!(refused(&["run", "--help"]).contains("--hosts <FILE>"));
        assert_eq!(refused(&["--version"]), format!("talisman {}\n", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn a_program_that_cannot_be_run_is_named() {
        let said = |kind: io::ErrorKind| cannot_run(OsStr::new("prog"), &kind.into());
        assert!(said(io::ErrorKind::NotFound).contains("./prog"));
        assert!(said(io::ErrorKind::PermissionDenied).contains("may run"));
    }
}
