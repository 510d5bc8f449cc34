//! The folder in which ranks keep what they write over in files.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{SystemTime, UNIX_EPOCH};

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

/// The folder of a job that has come to its end.
static SPENT: Mutex<Option<String>> = Mutex::new(None);

/// It is removed when this process exits: until then a loss may take the job's end back.
pub fn remove_at_exit(folder: String) {
    extern "C" fn remove() {
        if let Some(folder) = SPENT.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Mostly nothing was written over.
            let _none = std::fs::remove_dir_all(folder);
        }
    }
    let former = SPENT.lock().unwrap_or_else(PoisonError::into_inner).replace(folder);
    if former.is_none() {
        // SAFETY: a function that needs nothing.
        unsafe { libc::atexit(remove) };
    }
}
