//! The report as a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, fstat, stat};

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

/// Puts `text` in the place of the file, at once: written beside it under another name, then renamed. Where others write too, it is
/// added at the end.
pub(super) fn write(path: &Path, text: &str) -> Result<(), ReportError> {
    let written = match kind(path) {
        Kind::Shared => OpenOptions::new().append(true).open(path).and_then(|file| write_all(file, text)),
        Kind::Special => fs::write(path, text),
        Kind::File => target_of(path).and_then(|target| replace(&target, text)),
    };
    written.map_err(|source| ReportError::Write { path: path.to_path_buf(), source })
}

/// Whether it can be written, as far as can be told without: nothing is left of the trial.
///
/// # Errors
/// The system's reason.
pub fn try_out(path: &Path) -> io::Result<()> {
    if kind(path) != Kind::File {
        return Ok(access(path, Access::WRITE_OK)?);
    }
    let trial = temporary_for(&target_of(path)?)?;
    File::create(&trial)?;
    fs::remove_file(trial)
}

pub(super) fn read(path: &Path) -> Result<String, ReportError> {
    fs::read_to_string(path).map_err(|source| ReportError::Read { path: path.to_path_buf(), source })
}

/// How a report comes to where it is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A file of its own, or none yet.
    File,
    /// A file that this process has open, such as `/dev/stdout` where standard output goes to a file: what is there stays.
    Shared,
    /// A pipe or a device is written to; a file put in its place would be of no use.
    Special,
}

fn kind(path: &Path) -> Kind {
    match fs::metadata(path) {
        Ok(meta) if !meta.is_file() && !meta.is_dir() => Kind::Special,
        Ok(_) if is_descriptor(path) || is_a_standard_stream(path) => Kind::Shared,
        // A descriptor that is closed: to open it says so.
        Err(_) if is_descriptor(path) => Kind::Shared,
        _ => Kind::File,
    }
}

/// Whether it is a name of something that a process has open: `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/3`.
fn is_descriptor(path: &Path) -> bool {
    let (mut path, in_folder) = (path.to_path_buf(), |path: &Path| {
        let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
        folder.is_some_and(|folder| folder.starts_with("/proc") && folder.ends_with("fd"))
    });
    for _ in 0..LINKS_MAX {
        if in_folder(&path) {
            return true;
        }
        match (fs::read_link(&path), path.parent()) {
            (Ok(target), Some(folder)) => path = folder.join(target),
            _ => return false,
        }
    }
    false
}

/// The system follows no more symbolic links one after the other.
const LINKS_MAX: usize = 40;

/// Whether standard output or error goes to this very file.
fn is_a_standard_stream(path: &Path) -> bool {
    let Ok(file) = stat(path) else { return false };
    let is_it = |stream: io::Result<rustix::fs::Stat>| {
        stream.is_ok_and(|stream| (stream.st_dev, stream.st_ino) == (file.st_dev, file.st_ino))
    };
    is_it(fstat(io::stdout().as_fd()).map_err(Into::into))
        || is_it(fstat(io::stderr().as_fd()).map_err(Into::into))
}

/// Where a symbolic link leads, also to what is not there yet: the link stays, the file it names is replaced.
fn target_of(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        match (fs::read_link(&target), target.parent()) {
            (Ok(next), Some(folder)) => target = folder.join(next),
            _ => return Ok(target),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
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
    write_all(File::create(path)?, text)
}

fn write_all(mut file: File, text: &str) -> io::Result<()> {
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
        fs::remove_file(&file).unwrap();
        write(&link, "made").unwrap();
        assert_eq!(read(&file).unwrap(), "made");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let ring = folder.0.join("ring");
        std::os::unix::fs::symlink(&ring, &ring).unwrap();
        assert!(write(&ring, "never").is_err());
    }

    #[test]
    fn what_a_process_has_open_is_added_to() {
        let folder = Folder::new("open");
        let file = folder.0.join("output");
        fs::write(&file, "a line\n").unwrap();
        let open = File::open(&file).unwrap();
        let name = PathBuf::from(format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open)));
        try_out(&name).unwrap();
        write(&name, "a report").unwrap();
        assert_eq!(read(&file).unwrap(), "a line\na report");
        drop(open);
        assert!(try_out(&name).is_err() && write(&name, "never").is_err(), "it is closed");
    }

    #[test]
    fn a_trial_leaves_nothing() {
        let folder = Folder::new("trial");
        let file = folder.0.join("report.json");
        try_out(&file).unwrap();
        write(&file, "old").unwrap();
        try_out(&file).unwrap();
        assert_eq!((read(&file).unwrap().as_str(), folder.names()), ("old", vec!["report.json".into()]));
        assert!(try_out(Path::new("/proc/report.json")).is_err(), "nobody can make a file there");
    }

    #[test]
    fn a_device_is_written_to_not_replaced() {
        write(Path::new("/dev/null"), "text").unwrap();
        assert_eq!(kind(Path::new("/dev/null")), Kind::Special);
    }
}
