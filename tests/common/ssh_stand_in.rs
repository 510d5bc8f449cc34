//! Hosts that are all this one: what is called as ssh is starts agents that end neither with it nor with the launcher, as a real one does.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::job::{Job, Scratch, until};
use crate::system::{arguments, environment};

/// Starts what it is told on this host, and says in the environment which one it stands for.
pub const SSH: &str = "#!/bin/sh
while [ \"$1\" != -- ]; do shift; done
exec 3<&0
STAND_IN_FOR=\"$2\" SSH_CONNECTION='127.0.0.1 1 127.0.0.1 2' sh -c \"$3\" <&3 3<&- &
exec 3<&-
wait
";

/// A folder in which a job runs on such hosts, as its file `hosts` names them. It goes with this.
pub struct StandIn {
    pub folder: PathBuf,
}

impl StandIn {
    pub fn new(ssh: &str, hosts: &str) -> StandIn {
        let folder = Scratch::new("spread").0.clone();
        fs::create_dir_all(&folder).expect("the scratch folder can be written");
        fs::write(folder.join("ssh"), ssh).expect("the folder is ours");
        fs::set_permissions(folder.join("ssh"), PermissionsExt::from_mode(0o755)).expect("it is ours");
        fs::write(folder.join("hosts"), hosts).expect("the folder is ours");
        StandIn { folder }
    }

    /// A command that runs there.
    pub fn around(&self, mut command: Command) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.folder.display())).current_dir(&self.folder);
        command
    }

    /// What processes on other hosts than the launcher's have printed there: `out`, or `err`.
    pub fn printed_elsewhere(&self, kind: &str) -> Vec<String> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let of_kind = files.filter(|file| file.extension().is_some_and(|extension| extension == kind));
        let texts = of_kind.filter_map(|file| fs::read_to_string(file).ok());
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // What is left of it is only seen by people.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The agent of a host; that of the launcher's has no name.
#[track_caller]
pub fn agent(job: &Job, host: &str) -> i32 {
    let is_agent = |pid: &i32| {
        let name = environment(*pid)
            .into_iter()
            .find_map(|word| Some(word.strip_prefix("STAND_IN_FOR=")?.to_owned()));
        name.unwrap_or_default() == host
            && arguments(*pid).get(1).is_some_and(|word| word == "--talisman-agent")
    };
    let found = until(|| job.processes().into_iter().find(is_agent));
    found.unwrap_or_else(|| panic!("no agent of {host:?}: {}", job.said()))
}

/// A process on the launcher's host that leads after so many others.
#[track_caller]
pub fn leader(job: &Job, after: usize) -> i32 {
    let found = until(|| {
        let said = job.said();
        let leaders = said.split("the launcher is gone; process ").skip(1);
        leaders.filter_map(|rest| rest.split(' ').next()?.parse().ok()).nth(after)
    });
    found.unwrap_or_else(|| panic!("nobody leads: {}", job.said()))
}
