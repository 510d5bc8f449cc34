//! How Slurm's `srun` is called, and what its failures mean.
//!
//! Each agent is a step of the job, which shares what the job has on its host with all other steps: so Slurm counts and
//! limits it, and ends it with the job.

use std::path::Path;
use std::process::Command;

use super::ssh;
use talisman_control::exit_cause::How;
use talisman_control::hosts::Host;

/// What each step is started with. Options win over what the job's own were, which are in the environment.
const OPTIONS: [&str; 8] = [
    "--nodes=1",
    "--ntasks=1",
    // The launcher may be a step itself, and the job's processors would be taken by it.
    "--overlap",
    // The agent starts nodes, which place their PEs themselves.
    "--cpu-bind=none",
    "--mpi=none",
    "--unbuffered",
    "--quiet",
    // What is lost ends nobody else.
    "--kill-on-bad-exit=0",
];

/// What it says on standard error that explains nothing: by what `--cpu-bind` is answered where nothing is bound, and how the
/// task ended, which its status says too.
const NOISE: [&str; 2] = ["lacks support for cpu binding", " task 0: "];

/// The command that runs the agent of a host.
pub fn command(host: &str, program: &Path) -> Command {
    let mut command = Command::new("srun");
    command.args(OPTIONS).arg(format!("--nodelist={host}"));
    command.args(["--", "/bin/sh", "-c"]).arg(ssh::agent_command(program));
    // The step has this process's environment: not what is for this process alone, nor how somebody has logged in here.
    let own = |name: &std::ffi::OsString| name.as_encoded_bytes().starts_with(b"TALISMAN_");
    for name in std::env::vars_os().map(|(name, _)| name).filter(own) {
        command.env_remove(name);
    }
    command.env_remove("SSH_CONNECTION");
    command
}

/// Why there was no agent, by how `srun` ended and what was said on standard error.
pub fn no_agent(how: How, said: &str, host: &Host, program: &Path) -> String {
    let said = without_noise(said);
    match how {
        // Its own status, or the program's.
        How::Exited(1) if said.contains("srun: ") => {
            format!("srun failed{}; try `{}`", ssh::last_line(&said), host.trial())
        }
        How::Exited(_) => ssh::no_agent(how, &said, host, program),
        _ => lost(how, &said),
    }
}

/// Why the agent is lost, by how `srun` ended.
pub fn lost(how: How, said: &str) -> String {
    let said = ssh::last_line(&without_noise(said));
    match how {
        How::Exited(status @ 129..) => format!("its agent was killed by signal {}{said}", status - 128),
        How::Exited(status) => format!("its agent ended with status {status}{said}"),
        How::Signalled(signal) => format!("srun was killed by signal {signal}"),
        How::Vanished => "srun is gone".into(),
    }
}

fn without_noise(said: &str) -> String {
    let says_something = |line: &&str| !NOISE.iter().any(|noise| line.contains(noise));
    said.lines().filter(says_something).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_BINDING: &str = "srun: cluster configuration lacks support for cpu binding\n";

    #[test]
    fn a_step_has_one_task_on_its_host() {
        let command = command("h1", Path::new("/opt/my program"));
        let all: Vec<&str> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        assert!(
            ["--ntasks=1", "--nodes=1", "--overlap", "--nodelist=h1"].iter().all(|word| all.contains(word))
        );
        assert_eq!(all[all.len() - 4..], ["--", "/bin/sh", "-c", "exec '/opt/my program' --talisman-agent"]);
        assert!(command.get_envs().any(|(name, value)| name == "SSH_CONNECTION" && value.is_none()));
    }

    /// As Slurm 22.05 says it.
    #[test]
    fn failures_say_what_is_wrong_with_what() {
        let host = Host::named("h1").unwrap();
        let host = Host { login: talisman_control::hosts::Login::Srun, ..host };
        let why = |status, said: &str| {
            no_agent(How::Exited(status), &format!("{NO_BINDING}{said}"), &host, Path::new("/opt/prog"))
        };
        let said =
            "srun: error: Unable to create step for job 31: Requested node configuration is not available\n";
        let refused = why(1, said);
        assert!(
            refused.starts_with("srun failed (srun: error: Unable to create step for job 31"),
            "{refused}"
        );
        assert!(refused.ends_with("try `srun --overlap --nodelist=h1 true`"), "{refused}");
        let said = "/usr/bin/sh: 1: exec: /opt/prog: not found\nsrun: error: h1: task 0: Exited with exit code 127\n";
        let missing = why(127, said);
        assert!(missing.starts_with("there is no program /opt/prog there"), "{missing}");
        assert!(missing.ends_with("(/usr/bin/sh: 1: exec: /opt/prog: not found)"), "{missing}");
        let other = why(1, "srun: error: h1: task 0: Exited with exit code 1\n");
        assert!(other.ends_with("is another program than here: it ended with status 1"), "{other}");
        let killed = lost(How::Exited(137), "srun: error: h1: task 0: Killed\n");
        assert_eq!(killed, "its agent was killed by signal 9");
    }
}
