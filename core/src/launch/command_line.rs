//! The command line of a program: its own `clap` options and the runtime's, read together.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args as _, Command, FromArgMatches as _, Parser};

use super::options::{IDS, RunArgs};

/// What a program is called; filled in by `#[talisman::main]` from Cargo's environment variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// The binary or example: `leanmd`.
    pub name: &'static str,
    /// The package it belongs to, which is what `clap` calls a program that does not name itself.
    pub package: &'static str,
    /// The package's version, shown by `--version` if the program states none itself.
    pub version: &'static str,
}

/// The arguments of a program's `main`: none, `()`, or one that derives [`clap::Parser`], `(P,)`.
#[diagnostic::on_unimplemented(
    message = "the program's options cannot be read from the command line",
    note = "`main` takes `cx`, and one struct with `#[derive(clap::Parser, Pup)]` or nothing; but this is `{Self}`"
)]
pub trait ProgramArgs: Sized {
    /// The program's own command line, without the runtime's options unless the program flattens them.
    fn command(program: &Program) -> Command;

    /// The arguments from what was read.
    ///
    /// # Errors
    /// A value the program's own types refuse.
    fn from_matches(matches: &ArgMatches) -> Result<Self, clap::Error>;
}

impl ProgramArgs for () {
    fn command(program: &Program) -> Command {
        Command::new(program.name)
    }

    fn from_matches(_: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(())
    }
}

impl<P: Parser> ProgramArgs for (P,) {
    fn command(_: &Program) -> Command {
        P::command()
    }

    fn from_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok((P::from_arg_matches(matches)?,))
    }
}

/// Reads the command line of this process. On `--help` and `--version` it prints and ends the process with
/// status 0, on a usage error with status 2.
pub fn parse<A: ProgramArgs>(program: &Program) -> (RunArgs, A) {
    parse_from(program, std::env::args_os()).unwrap_or_else(|error| error.exit())
}

/// Reads a command line given as words, the first of which is the program itself.
///
/// # Errors
/// What `clap` or [`RunArgs::validate`] found; also `--help` and `--version`, which are errors to `clap`.
pub fn parse_from<A: ProgramArgs>(
    program: &Program,
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<(RunArgs, A), clap::Error> {
    let mut command = command::<A>(program);
    let matches = command.try_get_matches_from_mut(words)?;
    let run = RunArgs::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let args = A::from_matches(&matches).map_err(|error| error.format(&mut command))?;
    match run.validate() {
        Ok(()) => Ok((run, args)),
        Err(error) => Err(command.error(ErrorKind::ValueValidation, error)),
    }
}

/// The whole command line: the program's options first, the runtime's under their heading.
fn command<A: ProgramArgs>(program: &Program) -> Command {
    let own = named(A::command(program), program);
    let flattened = own.get_arguments().any(is_runtime);
    let both = if flattened { own } else { RunArgs::augment_args(own) };
    give_way(both)
}

/// `clap` names a program after its package, which is the same for all examples of one; the version it leaves out.
fn named(command: Command, program: &Program) -> Command {
    let unnamed = command.get_name() == program.package;
    let command = if unnamed { command.name(program.name) } else { command };
    if command.get_version().is_none() { command.version(program.version) } else { command }
}

fn is_runtime(arg: &Arg) -> bool {
    IDS.contains(&arg.get_id().as_str())
}

/// A name the program uses itself is the program's; the runtime's option is then called `--talisman-…`.
fn give_way(command: Command) -> Command {
    let taken: Vec<&str> = IDS.into_iter().filter(|id| is_taken(&command, id)).collect();
    taken.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg.long(id)))
}

fn is_taken(command: &Command, id: &str) -> bool {
    let long_of = |arg: &Arg| arg.get_long().map(str::to_owned);
    let ours = command.get_arguments().find(|arg| arg.get_id() == id).and_then(long_of);
    let mut others = command.get_arguments().filter(|arg| !is_runtime(arg));
    ours.is_some() && others.any(|arg| long_of(arg) == ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PI: Program = Program { name: "pi", package: "talisman-core", version: "1.2.3" };

    #[derive(Parser, Debug, PartialEq)]
    /// Computes a circle's number
    struct Options {
        /// Slices of the integral
        #[arg(long, default_value_t = 1000)]
        slices: i32,
    }

    #[derive(Parser)]
    struct Flattening {
        #[command(flatten)]
        run: RunArgs,
        #[arg(long)]
        slices: Option<i32>,
    }

    #[derive(Parser)]
    struct Taking {
        /// The program's own seed
        #[arg(long, default_value_t = 5)]
        seed: u64,
    }

    fn read<A: ProgramArgs>(words: &[&str]) -> Result<(RunArgs, A), clap::Error> {
        parse_from(&PI, [&["pi"], words].concat())
    }

    fn refused<A: ProgramArgs>(words: &[&str]) -> clap::Error {
        read::<A>(words).err().expect("must be refused")
    }

    #[test]
    fn both_kinds_of_options_are_read_in_any_order() {
        let (run, (options,)) =
            read::<(Options,)>(&["--pes", "3", "--slices", "7", "--seed", "9", "--progress"]).unwrap();
        let expected = RunArgs { pes: Some(3), seed: 9, progress: true, ..RunArgs::default() };
        assert_eq!((run, options), (expected, Options { slices: 7 }));
    }

    #[test]
    fn a_program_without_options_has_the_defaults() {
        assert_eq!(read::<()>(&[]).unwrap().0, RunArgs::default());
    }

    #[test]
    fn with_hosts_the_number_of_nodes_is_theirs_unless_given() {
        let nodes = |words: &[&str]| read::<()>(words).unwrap().0.nodes;
        assert_eq!(nodes(&["--hosts", "file"]), 0);
        assert_eq!(nodes(&["--hosts", "file", "--nodes", "1"]), 1);
    }

    #[test]
    fn a_program_may_flatten_the_runtime_options_itself() {
        let (run, (own,)) = read::<(Flattening,)>(&["--nodes", "4", "--simulate", "--slices", "2"]).unwrap();
        assert_eq!((run.nodes, run.simulate, own.slices), (4, true, Some(2)));
        assert_eq!(own.run, run);
    }

    #[test]
    fn a_name_the_program_uses_is_the_programs() {
        let (run, (own,)) = read::<(Taking,)>(&["--seed", "1", "--talisman-seed", "2"]).unwrap();
        assert_eq!((run.seed, own.seed), (2, 1));
    }

    #[test]
    fn usage_errors_have_status_2_and_say_what_to_do() {
        for (words, said) in [
            (&["--pes", "0"][..], "at least one PE"),
            (&["--pes", "5000"], "at most 1024"),
            (&["--pes", "many"], "invalid value 'many'"),
            (&["--nodes", "2000"], "at most 1024 processes"),
            (&["--kill", "1@noon"], "write for example 1@2s"),
            (&["--nodes", "2", "--kill", "0@2s,2@3s"], "the last one is 1"),
            (&["--silence", "10"], "write for example"),
            (&["--transport", "ofi"], "possible values: tcp, shm, mixed"),
            (&["--listen", "here"], "invalid value 'here'"),
            (&["--slice", "3"], "--slices"),
        ] {
            let error = refused::<(Options,)>(words);
            assert_eq!(error.exit_code(), 2, "{words:?}");
            assert!(error.to_string().contains(said), "{words:?}: {error}");
        }
    }

    #[test]
    fn help_shows_the_programs_options_first() {
        let help = refused::<(Options,)>(&["--help"]);
        assert_eq!(help.exit_code(), 0);
        let text = help.to_string();
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}"));
        assert!(text.starts_with("Computes a circle's number"));
        assert!(place("--slices") < place("Runtime options:"));
        assert!(place("Runtime options:") < place("--pes <P>"));
        assert!(text.contains("[env: TALISMAN_PES]"));
        assert!(!text.contains("--repack"), "testing options are hidden");
    }

    #[test]
    fn the_version_names_the_binary_not_its_package() {
        let version = refused::<(Options,)>(&["--version"]);
        assert_eq!((version.exit_code(), version.to_string().as_str()), (0, "pi 1.2.3\n"));
    }

    #[test]
    fn the_command_line_is_consistent() {
        command::<()>(&PI).debug_assert();
        command::<(Options,)>(&PI).debug_assert();
        command::<(Flattening,)>(&PI).debug_assert();
        command::<(Taking,)>(&PI).debug_assert();
    }

    #[test]
    fn every_option_has_a_variable_and_is_in_the_list() {
        let command = RunArgs::augment_args(Command::new("any"));
        let found: Vec<&str> = command.get_arguments().map(|arg| arg.get_id().as_str()).collect();
        assert_eq!(found, IDS);
        for arg in command.get_arguments() {
            let variable = arg.get_id().as_str().to_uppercase().replace('-', "_");
            assert_eq!(arg.get_env().and_then(|name| name.to_str()), Some(variable.as_str()));
        }
    }

    /// Not a test by itself: run as a child process, whose environment is its own.
    #[test]
    fn child() {
        if std::env::var_os(CHILD).is_none() {
            return;
        }
        let (run, ()) = read::<()>(&["--seed", "2"]).unwrap_or_else(|error| error.exit());
        println!("{:?} {} {} {}", run.pes, run.seed, run.progress, run.simulate);
    }

    const CHILD: &str = "TALISMAN_TEST_COMMAND_LINE";

    fn child_with(variables: &[(&str, &str)]) -> (Option<i32>, String) {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["launch::command_line::tests::child", "--exact", "--nocapture"]).env(CHILD, "1");
        let done = child.envs(variables.iter().copied()).output().unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    }

    #[test]
    fn variables_are_read_and_the_command_line_wins() {
        let variables = [
            ("TALISMAN_PES", "3"),
            ("TALISMAN_SEED", "1"),
            ("TALISMAN_PROGRESS", "1"),
            ("TALISMAN_SIMULATE", "0"),
        ];
        let (status, text) = child_with(&variables);
        assert!(status == Some(0) && text.contains("Some(3) 2 true false"), "{status:?} {text}");
    }

    #[test]
    fn a_wrong_variable_is_a_usage_error() {
        assert_eq!(child_with(&[("TALISMAN_PES", "0")]).0, Some(2));
        assert_eq!(child_with(&[("TALISMAN_PES", "few")]).0, Some(2));
    }
}
