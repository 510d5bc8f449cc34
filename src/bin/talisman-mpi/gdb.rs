//! `--gdb-script`: where gdb finds the functions and lines of ranks.
//!
//! A rank's program and libraries are at the same addresses in every process of a job, whichever the rank is in: so one
//! script is for all of them. Libraries that a rank has loaded while it ran (`dlopen`) are not in it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use talisman_ampi::slot::SlotSpace;

use crate::rank::{MpiProgram, Prepared};

/// Writes the script, once the addresses are known.
///
/// # Errors
/// If the file cannot be written, with its name.
pub fn write(file: &str, program: &MpiProgram, prepared: Prepared) -> Result<(), String> {
    let script = script(program, prepared)?;
    fs::write(file, script).map_err(|error| format!("--gdb-script {file}: {error}"))
}

fn script(program: &MpiProgram, prepared: Prepared) -> Result<String, String> {
    let space = SlotSpace::get().map_err(|error| error.to_string())?;
    // gdb would ask whether it is sure.
    let mut text =
        "# gdb -p PROCESS -x THIS: functions and lines of the ranks of this job.\nset confirm off\n"
            .to_owned();
    // A program at fixed addresses is there once in a process.
    let ranks = if prepared.images().fixed().is_some() { 1 } else { program.ranks };
    for rank in 0..ranks {
        let slot = space.address(rank).map_err(|error| error.to_string())?;
        writeln!(text, "# rank {rank}").expect("a text takes all");
        for (path, at) in prepared.objects_of(rank, slot + space.layout().images_start()) {
            writeln!(text, "{}", command(path, at)).expect("a text takes all");
        }
    }
    text.push_str("set confirm on\n");
    Ok(text)
}

/// All sections of a file are so many bytes behind where the file says.
fn command(path: &Path, at: usize) -> String {
    let path = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("add-symbol-file \"{path}\" -o {at:#x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_blanks_and_quotes() {
        let path = Path::new("/a b/\"c\".so");
        assert_eq!(command(path, 4096), "add-symbol-file \"/a b/\\\"c\\\".so\" -o 0x1000");
    }
}
