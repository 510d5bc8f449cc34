//! The node programs that belong to the `talisman` command, and lie beside it.

use std::path::{Path, PathBuf};

/// The file of such a program, which does what it is for.
///
/// # Errors
/// If it is not there.
pub fn beside(name: &str, does: &str) -> Result<PathBuf, String> {
    let own =
        std::env::current_exe().map_err(|error| format!("this program's file is not known: {error}"))?;
    let named = |own: &Path| own.with_file_name(name);
    // The command may be called by a link to its file.
    let mut files = [named(&own), named(&own.canonicalize().unwrap_or_default())].into_iter();
    files.find(|file| file.is_file()).ok_or_else(|| {
        let folder = own.parent().unwrap_or(Path::new("."));
        format!(
            "there is no `{name}` in {}, which {does}: build it (`cargo build --release --bin {name}`) and put it there",
            folder.display()
        )
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_program_that_is_not_there_is_named_with_what_to_do() {
        let said = super::beside("no-such-program", "does nothing").unwrap_err();
        assert!(
            said.contains("there is no `no-such-program` in /") && said.contains("--bin no-such-program"),
            "{said}"
        );
    }
}
