//! The programs for other languages: they call `talisman-mpicc`, which lies beside them.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Becomes `talisman-mpicc` for the language of this program.
pub fn call(name: &str) -> ExitCode {
    let own = std::env::current_exe().and_then(|file| file.canonicalize()).unwrap_or_default();
    let file = own.with_file_name("talisman-mpicc");
    let language = format!("--talisman-language={name}");
    let error = Command::new(&file).arg(language).args(std::env::args_os().skip(1)).exec();
    eprintln!("{name}: {} cannot be run: {error}", file.display());
    ExitCode::FAILURE
}
