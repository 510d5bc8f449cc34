//! Whoever ends the nemesis (Ctrl-C, a kill) has not ended its jobs, which are made to go on: somebody else does.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};

use crate::job;

/// The first argument of the process that does.
pub const GUARD: &str = "guard";

/// A process that hears by the end of a pipe that this one has ended.
pub struct Guard(Child);

impl Guard {
    pub fn post() -> Guard {
        let mut command = Command::new(std::env::current_exe().expect("a test knows where it is"));
        command.args([GUARD, &std::process::id().to_string()]).stdin(Stdio::piped()).process_group(0);
        Guard(command.spawn().expect("this program can be started"))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What it does.
pub fn main() -> ExitCode {
    let starter = std::env::args().nth(2).and_then(|word| word.parse().ok());
    // Nothing is ever said, and it ends with whoever holds the other end.
    let _ = std::io::stdin().read(&mut [0]);
    starter.into_iter().for_each(job::end_all_of);
    ExitCode::SUCCESS
}
