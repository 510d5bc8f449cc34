//! Paths that a job will write to: what cannot be written is found out before the program begins.
//!
//! Beside the checks of [`RunArgs::validate`], as these look at the files of this host: only the process that is started does.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{OptionsError, RunArgs};
use crate::report;

/// What the names of the files of a record end with.
pub const RECORD_ENDING: &str = ".record";

/// What the names of the parts of a trace end with.
pub const TRACE_PART_ENDING: &str = ".part";

/// What the file is called, in the folder of the parts of a trace, that the job's launcher has locked.
pub const TRACE_LOCK: &str = "lock";

/// The folder of the parts of a trace: beside its file.
pub fn trace_parts(file: &Path) -> PathBuf {
    let mut folder = file.as_os_str().to_owned();
    folder.push(".parts");
    folder.into()
}

/// That folder, which is made if there is none. It has to be this user's alone: whoever may write there could have a node
/// write to another file.
///
/// # Errors
/// What the system says, or whose it is.
pub fn own_trace_parts(file: &Path) -> io::Result<PathBuf> {
    let folder = trace_parts(file);
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(&folder)?;
    let is_own = found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0;
    if is_own {
        return Ok(folder);
    }
    let why = "is no folder, is another user's, or others may write to it: remove it, or name another file";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {why}", folder.display())))
}

impl RunArgs {
    /// Whether the files that these options name can be written, as far as this host can tell.
    ///
    /// # Errors
    /// The first that cannot, with the reason.
    pub fn validate_paths(&self) -> Result<(), OptionsError> {
        self.validate_report()?;
        self.validate_record_folder()?;
        self.validate_trace()?;
        // With hosts, the node that writes may be on another one, and finds out there.
        if self.hosts.is_none() { self.validate_dump() } else { Ok(()) }
    }

    /// A report that cannot be written is said before hours of computing, not after.
    fn validate_report(&self) -> Result<(), OptionsError> {
        let Some(file) = &self.report else { return Ok(()) };
        let folder = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if file.is_dir() || file.file_name().is_none() {
            return Err(OptionsError::ReportIsNoFile { file: file.clone() });
        }
        if !folder.is_dir() {
            return Err(OptionsError::NoReportFolder { file: file.clone(), folder });
        }
        let refused =
            |error: io::Error| OptionsError::ReportRefused { file: file.clone(), why: error.to_string() };
        report::try_out(file).map_err(refused)
    }

    /// The folder of a record is made, if there is none. One that has a record already is not written to.
    fn validate_record_folder(&self) -> Result<(), OptionsError> {
        let Some(folder) = &self.record else { return Ok(()) };
        let is_record = |name: &String| name.ends_with(RECORD_ENDING);
        let look = || -> io::Result<Option<String>> {
            fs::create_dir_all(folder)?;
            let mut names =
                fs::read_dir(folder)?.filter_map(|file| file.ok()?.file_name().into_string().ok());
            let found = names.find(is_record);
            if found.is_none() { try_out(folder).map(|()| None) } else { Ok(found) }
        };
        match look() {
            Ok(None) => Ok(()),
            Ok(Some(file)) => Err(OptionsError::HasRecord { folder: folder.clone(), file }),
            Err(error) => Err(OptionsError::RecordRefused { folder: folder.clone(), why: error.to_string() }),
        }
    }

    /// The trace can be written, and so can its parts. Those of a former job are removed.
    fn validate_trace(&self) -> Result<(), OptionsError> {
        let Some(file) = &self.trace else { return Ok(()) };
        let refused = |why: String| OptionsError::TraceRefused { file: file.clone(), why };
        if file.is_dir() || file.file_name().is_none() {
            return Err(refused("it is a folder; give a file, such as job.pftrace".into()));
        }
        let parts = trace_parts(file);
        let try_both = || -> io::Result<()> {
            report::try_out(file)?;
            try_out(&own_trace_parts(file)?)?;
            if !lock_trace(&parts)? {
                return Err(io::Error::other("another job is writing it: name another file"));
            }
            remove_parts(&parts)
        };
        try_both().map_err(|error| refused(error.to_string()))
    }

    /// The same of the folder for what balancing steps know.
    pub fn validate_dump(&self) -> Result<(), OptionsError> {
        match &self.lb_dump {
            Some(folder) if !folder.is_dir() => Err(OptionsError::NoDumpFolder { folder: folder.clone() }),
            Some(folder) => try_out(folder).map_err(|error| OptionsError::DumpRefused {
                folder: folder.clone(),
                why: error.to_string(),
            }),
            None => Ok(()),
        }
    }
}

/// Locks the parts of a trace for this process, as long as it lives; whether no other one has.
fn lock_trace(parts: &Path) -> io::Result<bool> {
    static LOCKED: Mutex<Option<(PathBuf, File)>> = Mutex::new(None);
    let mut locked = LOCKED.lock().unwrap_or_else(PoisonError::into_inner);
    if locked.as_ref().is_some_and(|(folder, _)| folder == parts) {
        return Ok(true);
    }
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(parts.join(TRACE_LOCK))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(false),
        result => result?,
    }
    *locked = Some((parts.to_owned(), file));
    Ok(true)
}

/// Removes the parts of a trace that a former job left.
fn remove_parts(folder: &Path) -> io::Result<()> {
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.to_str().is_some_and(|name| name.ends_with(TRACE_PART_ENDING)) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Whether a file can be made in this folder.
fn try_out(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!(".trial.{}.tmp", std::process::id()));
    File::create(&file)?;
    fs::remove_file(&file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn parts_of_a_trace_are_written_to_a_folder_of_ones_own_alone() {
        let folder = std::env::temp_dir().join(format!("talisman-parts-{}", std::process::id()));
        let lock = |of: &Path| lock_trace(of).expect("the folder is ours");
        let file = folder.join("job.pftrace");
        let parts = own_trace_parts(&file).expect("there is none yet");
        assert_eq!(fs::metadata(&parts).expect("just made").mode() & 0o777, 0o700);
        assert_eq!(own_trace_parts(&file).expect("it is ours"), parts);
        let other = File::create(parts.join(TRACE_LOCK)).expect("it is ours");
        flock(&other, FlockOperation::NonBlockingLockExclusive).expect("nobody has");
        assert!(!lock(&parts), "another job writes there");
        drop(other);
        assert!(lock(&parts) && lock(&parts), "it is this process's");
        fs::remove_file(parts.join(TRACE_LOCK)).expect("it is ours");
        let refused = || own_trace_parts(&file).expect_err("others may write there").to_string();
        fs::set_permissions(&parts, fs::Permissions::from_mode(0o777)).expect("it is ours");
        assert!(refused().contains("job.pftrace.parts is no folder, is another user's, or others may write"));
        fs::remove_dir(&parts).expect("it is empty");
        symlink("/tmp", &parts).expect("there is nothing");
        assert!(refused().contains("remove it"));
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
