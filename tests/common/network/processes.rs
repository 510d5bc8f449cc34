//! The processes of this machine, whatever namespace they are in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A living process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number outside of all namespaces.
    pub id: u32,
    pub parent: u32,
    pub executable: PathBuf,
    pub arguments: Vec<String>,
}

impl Process {
    /// Whether both use the same network.
    pub fn shares_network_with(&self, other: u32) -> bool {
        let network = |id: u32| fs::read_link(format!("/proc/{id}/ns/net")).ok();
        network(self.id).is_some_and(|own| Some(own) == network(other))
    }

    /// Sends SIGKILL to a process; whether it was there.
    pub fn kill(id: u32) -> bool {
        signal(id, "KILL")
    }

    fn read(folder: &Path) -> Option<Process> {
        let id = folder.file_name()?.to_str()?.parse().ok()?;
        let status = fs::read_to_string(folder.join("stat")).ok()?;
        // The name, in parentheses, may have any bytes in it.
        let mut fields = status.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        if state == "Z" || state == "X" {
            return None;
        }
        let executable = fs::read_link(folder.join("exe")).ok()?;
        let arguments = fs::read(folder.join("cmdline")).ok()?;
        let words = arguments.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        Some(Process { id, parent, executable, arguments: words.collect() })
    }
}

/// Sends a signal by its name; whether the process was there.
pub fn signal(id: u32, name: &str) -> bool {
    let mut kill = Command::new("sh");
    kill.args(["-c", &format!("kill -{name} {id}")]).stdin(Stdio::null()).stderr(Stdio::null());
    kill.status().expect("every system has a shell").success()
}

/// Kills them all; none of them gets to do anything about the loss of another.
#[allow(dead_code, reason = "not all tests need it")]
pub fn kill_at_once(all: &[Process]) {
    // `nsenter` stops with the process that it has started, and would not see that one's end.
    let is_entered = |process: &Process| {
        let parent = fs::read_link(format!("/proc/{}/exe", process.parent));
        parent.is_ok_and(|program| program.ends_with("nsenter"))
    };
    let (entered, others): (Vec<_>, Vec<_>) = all.iter().partition(|process| is_entered(process));
    others.iter().for_each(|process| _ = signal(process.id, "STOP"));
    entered.iter().chain(&others).for_each(|process| _ = Process::kill(process.id));
}

/// Those that are alive and have a program; not the kernel's own, nor those that only wait to be forgotten.
pub fn processes() -> impl Iterator<Item = Process> {
    let all = fs::read_dir("/proc").expect("Linux has /proc");
    all.flatten().filter_map(|entry| Process::read(&entry.path()))
}
