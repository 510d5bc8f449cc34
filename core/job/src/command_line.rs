//! The command line of a program: its own `clap` options and the runtime's, read together.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args as _, Command, FromArgMatches as _, Parser};

use crate::options::numbers::joined;
use crate::options::{IDS, OptionsError, RunArgs};
use crate::variables;

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
    let Read { run, args, .. } = read(program);
    (run, args)
}

/// A command line that was read.
pub struct Read<A> {
    pub run: RunArgs,
    pub args: A,
    /// What people should know: options that change nothing, variables that nobody reads.
    pub notes: Vec<String>,
}

/// The same, with what is to be said about it.
pub fn read<A: ProgramArgs>(program: &Program) -> Read<A> {
    read_from(program, std::env::args_os()).unwrap_or_else(|error| error.exit())
}

/// A usage error that is found once the command line has been read: prints it as the others, and ends the process with status 2.
pub fn refuse<A: ProgramArgs>(program: &Program, error: &OptionsError) -> ! {
    command::<A>(program).error(ErrorKind::ValueValidation, naming_variables(&error.to_string())).exit()
}

/// A message about options of this process, with the variables of those that are not on its command line.
pub fn naming_variables(message: &str) -> String {
    let (options, words) = (RunArgs::command_of_options(), std::env::args_os().collect::<Vec<_>>());
    let is_said = |option: &&Arg| {
        let id = option.get_id().as_str();
        let own = own_name(id);
        names(message, &format!("--{own}")) && !is_given(own, &words) && !is_given(id, &words)
    };
    let variable = |option: &Arg| {
        Some(format!("--{} is from {}", own_name(option.get_id().as_str()), variables::of(option)?))
    };
    let variables: Vec<String> = options.get_arguments().filter(is_said).filter_map(variable).collect();
    with_variables(message.to_owned(), &variables)
}

/// Reads a command line given as words, the first of which is the program itself.
///
/// # Errors
/// What `clap` or [`RunArgs::validate`] found; also `--help` and `--version`, which are errors to `clap`.
pub fn parse_from<A: ProgramArgs>(
    program: &Program,
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<(RunArgs, A), clap::Error> {
    read_from(program, words).map(|Read { run, args, .. }| (run, args))
}

fn read_from<A: ProgramArgs>(
    program: &Program,
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Read<A>, clap::Error> {
    let mut command = command::<A>(program);
    let words =
        joined(words.into_iter().map(Into::into), command.get_arguments().filter(|arg| is_runtime(arg)));
    if asks_in_short(&words) {
        command = in_short(command);
    }
    let read = command.try_get_matches_from_mut(&words);
    let matches = read.map_err(|error| naming_variable(error, command.get_arguments(), &words))?;
    let run = RunArgs::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    let args = A::from_matches(&matches).map_err(|error| error.format(&mut command))?;
    let valid = run.validate().map_err(|error| as_given(&error.to_string(), &command, &matches));
    let said = valid.and_then(|()| said_of_idle(&run, &command, &matches));
    let mut notes = said.map_err(|why| command.error(ErrorKind::ValueValidation, why))?;
    notes.extend(run.restart.as_ref().and_then(|_| said_of_ignored(&command, &matches)));
    notes.extend(variables::unknown(&command));
    Ok(Read { run, args, notes })
}

/// Whether the short help is asked for.
pub fn asks_in_short(words: &[OsString]) -> bool {
    words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "-h")
}

/// The runtime's options in a line each: without their variables, which `--help` names.
pub fn in_short(command: Command) -> Command {
    let in_short = |option: Arg| {
        let takes_values = option.get_action().takes_values();
        option.hide_env(true).hide_possible_values(takes_values)
    };
    IDS.into_iter().fold(command, |command, id| command.mut_arg(id, in_short))
}

/// A wrong value of a variable is its, not that of the option, which nobody has given.
pub fn naming_variable<'a>(
    mut error: clap::Error,
    mut options: impl Iterator<Item = &'a Arg>,
    words: &[OsString],
) -> clap::Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidArg) else { return error };
    let first = name.split([' ', '=']).next().and_then(|word| word.strip_prefix("--"));
    let option = options.find(|option| option.get_long().is_some_and(|long| Some(long) == first));
    let option = option.filter(|option| option.get_long().is_some_and(|long| !is_given(long, words)));
    if let Some(variable) = option.and_then(variables::of) {
        let name = format!("{variable} (the variable of {name})");
        error.insert(ContextKind::InvalidArg, ContextValue::String(name));
    }
    error
}

/// Whether an option of this long name is on a command line.
fn is_given(long: &str, words: &[OsString]) -> bool {
    let given = format!("--{long}");
    let mut words = words.iter().filter_map(|word| word.to_str());
    words.any(|word| word.strip_prefix(&*given).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
}

/// A message about options, with those that are called otherwise, or were given as variables, named as they were.
pub fn as_given(message: &str, command: &Command, matches: &ArgMatches) -> String {
    let (mut message, mut variables) = (message.to_owned(), Vec::new());
    for option in command.get_arguments().filter(|arg| is_runtime(arg)) {
        let id = option.get_id().as_str();
        let own = format!("--{}", own_name(id));
        if !names(&message, &own) {
            continue;
        }
        if option.get_long() == Some(id) {
            message = message.replace(&own, &format!("--{id}"));
        }
        if matches.value_source(id) == Some(ValueSource::EnvVariable) {
            variables.extend(variables::of(option).map(|name| format!("{own} is from {name}")));
        }
    }
    with_variables(message, &variables)
}

fn with_variables(message: String, variables: &[String]) -> String {
    if variables.is_empty() { message } else { format!("{message} ({})", variables.join(", ")) }
}

/// Whether a message has this option, and not only one that begins with the same letters.
fn names(message: &str, option: &str) -> bool {
    let goes_on =
        |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '-');
    message.match_indices(option).any(|(at, _)| !goes_on(&message[at + option.len()..]))
}

fn own_name(id: &str) -> &str {
    id.strip_prefix("talisman-").unwrap_or(id)
}

/// What is to be said of options that were given and change nothing.
///
/// # Errors
/// The first that stands on the command line without one that it needs.
pub fn said_of_idle(run: &RunArgs, command: &Command, matches: &ArgMatches) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    for idle in run.idle() {
        let source = matches.value_source(idle.id);
        let is_set = !matches!(matches.try_get_one::<bool>(idle.id), Ok(Some(false)));
        let said = format!("--{} has no effect: {}", own_name(idle.id), idle.why);
        match source {
            Some(ValueSource::CommandLine) if idle.is_refused && !is_turned_off(idle.needs, matches) => {
                return Err(as_given(&said, command, matches));
            }
            Some(ValueSource::CommandLine | ValueSource::EnvVariable) if is_set => {
                notes.push(as_given(&said, command, matches));
            }
            _ => {}
        }
    }
    Ok(notes)
}

/// Whether somebody has said no to the option that another needs: that is no slip.
fn is_turned_off(needed: Option<&str>, matches: &ArgMatches) -> bool {
    let source = needed.and_then(|id| matches.value_source(id));
    matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
}

/// The program's own options that were given, which a job that goes on from a checkpoint does not read.
fn said_of_ignored(command: &Command, matches: &ArgMatches) -> Option<String> {
    let is_given = |arg: &&Arg| {
        matches!(
            matches.value_source(arg.get_id().as_str()),
            Some(ValueSource::CommandLine | ValueSource::EnvVariable)
        )
    };
    let own = command.get_arguments().filter(|arg| !is_runtime(arg)).filter(is_given);
    let names: Vec<String> = own.map(said_as).collect();
    (!names.is_empty()).then(|| {
        format!(
            "with --restart the program goes on with the options that it began with; not read: {}",
            names.join(", ")
        )
    })
}

fn said_as(arg: &Arg) -> String {
    match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => arg.to_string(),
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

/// The program that is being compiled.
#[doc(hidden)]
#[macro_export]
macro_rules! program {
    () => {{
        const PACKAGE: &str = match option_env!("CARGO_PKG_NAME") {
            Some(package) => package,
            None => module_path!(),
        };
        $crate::Program {
            name: match option_env!("CARGO_BIN_NAME") {
                Some(name) => name,
                None => PACKAGE,
            },
            package: PACKAGE,
            version: match option_env!("CARGO_PKG_VERSION") {
                Some(version) => version,
                None => "",
            },
        }
    }};
}

#[cfg(test)]
mod tests;
