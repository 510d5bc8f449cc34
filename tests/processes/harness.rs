//! Where the jobs of these tests leave what they leave.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::Trial;

use crate::trials;

/// Runs them.
pub fn run(tests: Vec<Trial>) -> ExitCode {
    let folder = own_temporary_folder();
    let code = trials::run(tests);
    // Sockets of launchers that were killed, checkpoints of jobs that were lost. What cannot be removed is only seen by people.
    let _ = fs::remove_dir_all(folder);
    code
}

/// Makes a folder that all jobs take for the system's temporary one, also those of other users. Its name is short: a socket's is limited.
fn own_temporary_folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("talisman-tests-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files is there");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777)).expect("it is ours");
    // SAFETY: no other thread has been started yet, which might look at the environment.
    unsafe {
        std::env::set_var("TMPDIR", &folder);
        std::env::remove_var("XDG_RUNTIME_DIR");
    }
    folder
}
