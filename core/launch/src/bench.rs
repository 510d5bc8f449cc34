//! `talisman bench`: figures that tell whether a machine or a cluster is set up well.

use std::process::Command;

use talisman_job::RunArgs;

use super::node_program;

/// The file of the node program, beside `talisman`.
const NODE_PROGRAM: &str = "talisman-bench";

/// What `talisman bench` is given.
#[derive(clap::Args)]
pub struct Bench {
    /// Rounds; each figure is a median over them
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    #[command(flatten)]
    pub options: RunArgs,
}

impl Bench {
    /// The node program with what it is told on its command line. The runtime's options are to be added as variables.
    ///
    /// # Errors
    /// If it is not there.
    pub fn command(&self) -> Result<Command, String> {
        let mut command = Command::new(node_program::beside(NODE_PROGRAM, "measures")?);
        command.args(["--rounds", &self.rounds.to_string()]);
        // PEs have to wait for each other here.
        command.env("TALISMAN_NO_ADVICE", "1");
        Ok(command)
    }
}
