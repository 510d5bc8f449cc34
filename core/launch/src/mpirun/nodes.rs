//! Nodes of a program that is not position-independent: a process can have it once, so each rank has a node of its own.

use std::path::Path;
use std::process::Command;

use clap::ArgMatches;
use clap::parser::ValueSource;

use talisman_job::RunArgs;

const NODES: &str = "talisman-nodes";
/// Says how many there are.
pub const NODES_VARIABLE: &str = "TALISMAN_NODES";

/// Whether nobody has said how many there are.
pub fn is_free(given: &ArgMatches) -> bool {
    given.value_source(NODES).is_none_or(|source| source == ValueSource::DefaultValue)
}

/// Gives the job as many nodes as ranks, and says so, unless it is told how many it has.
///
/// # Errors
/// If it is told fewer.
pub fn of_fixed(
    file: &Path,
    ranks: u32,
    options: &RunArgs,
    given: &ArgMatches,
    command: &mut Command,
) -> Result<(), String> {
    let name = file.display();
    if !is_free(given) {
        return match options.nodes < ranks {
            false => Ok(()),
            true => Err(format!(
                "`{name}` is not position-independent, so a node can have one rank: {ranks} ranks need --nodes {ranks} \
                 (or link it with -pie)"
            )),
        };
    }
    // On hosts of a list there are as many as it says.
    if options.hosts.is_none() && ranks > 1 {
        eprintln!(
            "talisman: `{name}` is not position-independent: each of its {ranks} ranks has a node of its own"
        );
        command.env(NODES_VARIABLE, ranks.to_string());
    }
    Ok(())
}
