//! `talisman replay FOLDER --pe N`: has a program run one of its PEs again from a record.
//!
//! What the PE's objects do is in the program alone. So that is started as the process of the PE was, in the same
//! folder, with the same words and variables, and a variable that names the record.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use talisman_core::record::file::{RecordError, RecordFile, find};
use talisman_job::RunArgs;
use talisman_job::options::numbers::whole;

/// What is said of a record, and where it is.
#[derive(clap::Args)]
pub(crate) struct Replay {
    /// A folder that a program wrote with --record
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// Which PE
    #[arg(long, value_name = "N", value_parser = whole::<u32>("which PE, from 0 on"))]
    pe: u32,

    /// Stop before it runs more than so many messages
    #[arg(long, value_name = "STEP", value_parser = whole::<u64>("after how many messages"))]
    until: Option<u64>,
}

impl Replay {
    /// The program, as it is to be started.
    ///
    /// # Errors
    /// There is no record of that PE, or it cannot be read.
    pub(crate) fn command(&self) -> Result<Command, RecordError> {
        let file = find(&self.folder, self.pe)?;
        let refused = |why| RecordError::Refused { file: file.clone(), why };
        program_of(&file.canonicalize().map_err(refused)?, self.until)
    }
}

/// The variables that name a record, and how far it is to be run.
const RECORD: &str = "TALISMAN_RUN_AGAIN";
const UNTIL: &str = "TALISMAN_RUN_AGAIN_UNTIL";

/// The program of a record, as it is to be started for it. Its path has to be absolute.
///
/// # Errors
/// The record cannot be read.
pub(crate) fn program_of(record: &Path, until: Option<u64>) -> Result<Command, RecordError> {
    let origin = RecordFile::open(record)?.origin;
    let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let mut command = Command::new(text(&origin.executable));
    command.current_dir(text(&origin.folder)).args(origin.words.iter().map(|word| text(word)));
    for variable in variables() {
        command.env_remove(variable);
    }
    command.envs(origin.variables.iter().map(|(name, value)| (text(name), text(value))));
    command.env(RECORD, record);
    until.into_iter().for_each(|until| _ = command.env(UNTIL, until.to_string()));
    Ok(command)
}

/// Those of all options.
fn variables() -> Vec<OsString> {
    let options = RunArgs::command_of_options();
    options.get_arguments().filter_map(|option| option.get_env().map(OsStr::to_owned)).collect()
}
