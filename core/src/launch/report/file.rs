//! The report as a file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a report could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The operating system refused to write it.
    #[error("cannot write the report {}: {source}", path.display())]
    Write {
        /// The report.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The operating system refused to read it.
    #[error("cannot read the report {}: {source}", path.display())]
    Read {
        /// The report.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a report: {source}", path.display())]
    NoReport {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        source: serde_json::Error,
    },
}

impl ReportError {
    pub(super) fn no_report(path: &Path, source: serde_json::Error) -> ReportError {
        ReportError::NoReport { path: path.to_path_buf(), source }
    }
}

/// Puts `text` in the place of the file, at once: written beside it under another name, then renamed.
pub(super) fn write(path: &Path, text: &str) -> Result<(), ReportError> {
    let written = if is_special(path) { fs::write(path, text) } else { replace(&target_of(path), text) };
    written.map_err(|source| ReportError::Write { path: path.to_path_buf(), source })
}

pub(super) fn read(path: &Path) -> Result<String, ReportError> {
    fs::read_to_string(path).map_err(|source| ReportError::Read { path: path.to_path_buf(), source })
}

/// A pipe or a device, such as `/dev/stdout`, is written to; a file put in its place would be of no use.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// Where a symbolic link leads: the link stays, the file it names is replaced.
fn target_of(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let temporary = temporary_for(path)?;
    let done = write_durably(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        // Only tidying up; the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    done
}

/// In the same folder, since a rename does not cross file systems, and unlike any other process's.
fn temporary_for(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(hidden))
}

/// The bytes reach the disk before the rename does, or a crash could leave an empty file under the final name.
fn write_durably(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for each test, gone at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("talisman-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = Folder::new("replaced");
        let file = folder.0.join("report.json");
        write(&file, "old and longer").unwrap();
        write(&file, "new").unwrap();
        assert_eq!((read(&file).unwrap().as_str(), folder.names()), ("new", vec!["report.json".into()]));
    }

    #[test]
    fn a_failure_names_file_and_reason_and_leaves_nothing() {
        let folder = Folder::new("failure");
        let file = folder.0.join("folder-in-the-way");
        fs::create_dir(&file).unwrap();
        let error = write(&file, "text").unwrap_err().to_string();
        assert!(error.contains("folder-in-the-way: ") && error.contains("irectory"), "{error}");
        assert_eq!(folder.names(), ["folder-in-the-way"]);
        assert!(write(&folder.0.join("missing/report.json"), "text").is_err());
        assert!(matches!(read(&folder.0.join("none")), Err(ReportError::Read { .. })));
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = Folder::new("link");
        let (link, file) = (folder.0.join("link.json"), folder.0.join("file.json"));
        write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, "new").unwrap();
        assert_eq!(read(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_device_is_written_to_not_replaced() {
        write(Path::new("/dev/null"), "text").unwrap();
        assert!(is_special(Path::new("/dev/null")));
    }
}
