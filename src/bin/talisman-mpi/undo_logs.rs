//! The folder in which ranks keep what they write over in files.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use talisman::testing::{committed, end_of_job};
use talisman_loader::libc::{UndoLogs, keep_undo_logs};

/// A folder that no other job has, where the job's files are likely to be: all nodes have it then.
pub fn folder() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let folder = std::env::current_dir().ok().filter(|folder| is_writable(folder));
    let name = format!(".talisman-undo-{}-{now:x}", std::process::id());
    folder.unwrap_or_else(std::env::temp_dir).join(name).to_string_lossy().into_owned()
}

fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

/// The folder of this process's job, and whether that has ended.
static JOB: OnceLock<(String, Box<dyn Fn() -> bool + Send + Sync>)> = OnceLock::new();

/// From now on ranks of this process keep undo logs there. They are removed when it exits, however the job has ended; not by a node
/// that leaves a job which goes on. Until then a loss may take the job's end back.
pub fn keep(folder: &str) {
    extern "C" fn remove() {
        if let Some((folder, has_ended)) = JOB.get()
            && has_ended()
        {
            // Mostly nothing was written over; and each node removes it.
            let _none = std::fs::remove_dir_all(folder);
        }
    }
    keep_undo_logs(UndoLogs { folder: folder.into(), committed });
    if let Some(has_ended) = end_of_job()
        && JOB.set((folder.into(), Box::new(has_ended))).is_ok()
    {
        // SAFETY: a function that needs nothing.
        unsafe { libc::atexit(remove) };
    }
}
