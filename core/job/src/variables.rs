//! The `TALISMAN_…` variables of this process's environment.

use std::ffi::OsString;

use clap::{Arg, Command};

use crate::options::RunArgs;
use crate::slips::distance;

/// What all variables of the runtime begin with.
const PREFIX: &str = "TALISMAN_";

/// Tests are told by these what to try; the programs that they start have them too.
const OF_TESTS: &str = "TALISMAN_TEST_";

/// Tells a process of which job it is: see `Named`.
pub const JOB_VARIABLE: &str = "TALISMAN_JOB";
/// Tells a process that it is a node: the number of the descriptor of its control connection.
pub const CONTROL_VARIABLE: &str = "TALISMAN_CONTROL";
/// Tells a process that it stands by: the number of the descriptor at which it waits, how often it and those after it may start the job, and whether the
/// launcher has made the folder for checkpoints (1) or has not (0).
pub const STANDBY_VARIABLE: &str = "TALISMAN_STANDBY";
/// Options for ssh, separated by spaces.
pub const SSH_VARIABLE: &str = "TALISMAN_SSH";
/// Tells a process that it is to take a launcher's place: the number of the descriptor at which it listens. What else it has to know comes
/// by its standard input.
pub const SUCCESSION_VARIABLE: &str = "TALISMAN_SUCCESSION";
/// Tells a process that it has started itself anew, so that it does not a second time.
pub const LAYOUT_VARIABLE: &str = "TALISMAN_LAYOUT";

/// Variables that no option has: how ssh is called, and what processes of a job tell those that they start.
const OTHERS: [&str; 6] =
    [SSH_VARIABLE, CONTROL_VARIABLE, STANDBY_VARIABLE, SUCCESSION_VARIABLE, JOB_VARIABLE, LAYOUT_VARIABLE];

/// An empty variable says nothing: from now on it is not set, for this process and those that it starts.
///
/// Has to be called before any other thread is started: it changes the environment.
pub fn unset_empty_ones() {
    for (name, _) in ours().into_iter().filter(|(_, value)| value.is_empty()) {
        // SAFETY: no other thread reads the environment, by this function's contract.
        unsafe { std::env::remove_var(name) };
    }
}

/// What is to be said of variables that nothing reads: neither an option of this command line nor the runtime.
pub fn unknown(command: &Command) -> Vec<String> {
    let runtime = RunArgs::command_of_options();
    let known: Vec<&str> = [command, &runtime]
        .into_iter()
        .flat_map(Command::get_arguments)
        .filter_map(|option| option.get_env()?.to_str())
        .chain(OTHERS)
        .collect();
    let unknown = ours().into_iter().map(|(name, _)| name.to_string_lossy().into_owned());
    let unknown = unknown.filter(|name| !name.starts_with(OF_TESTS) && !known.contains(&name.as_str()));
    unknown.map(|name| said_of(&name, &known)).collect()
}

/// Where the value of an option comes from that was not given on the command line: its variable, if that is set.
pub fn of(option: &Arg) -> Option<&str> {
    let name = option.get_env()?.to_str()?;
    std::env::var_os(name).map(|_| name)
}

fn ours() -> Vec<(OsString, OsString)> {
    let ours = |(name, _): &(OsString, OsString)| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    std::env::vars_os().filter(ours).collect()
}

fn said_of(name: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|other| (distance(name, other), *other)).min();
    match nearest.filter(|(steps, _)| *steps <= 2) {
        Some((_, other)) => format!("{name} is set, and nothing reads it; is it to be {other}?"),
        None => format!("{name} is set, and nothing reads it; --help names the variable of each option"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_seen() {
        let known = ["TALISMAN_PES", "TALISMAN_NODES"];
        assert!(said_of("TALISMAN_PE", &known).ends_with("is it to be TALISMAN_PES?"));
        assert!(said_of("TALISMAN_COLOUR", &known).contains("--help"));
    }
}
