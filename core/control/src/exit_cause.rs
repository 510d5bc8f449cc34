//! What became of a node, in words: who was lost, how it was noticed, and what that means.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::job_result::UNRECOVERABLE;
use talisman_observe::mutations::mutated;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// With an exit status of its own.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// Its end is seen, but nobody is told how it came: it is not a child of the launcher.
    Vanished,
}

impl How {
    /// A node that cannot go on, and has said why. A job that survives losses takes an exit status for the program's own end, and a launcher
    /// that is lost as it hears the reason cannot tell the next one: there the process ends by a signal.
    pub fn of_failed(survives: bool) -> How {
        match survives && !mutated("failed-node-exits") {
            true => How::Signalled(SIGKILL),
            false => How::Exited(UNRECOVERABLE),
        }
    }

    /// Whether the process has done this itself, as another one would that does the same.
    pub fn is_own_fault(self) -> bool {
        matches!(self, How::Signalled(signal) if OWN_FAULTS.contains(&signal))
    }

    pub fn of(status: ExitStatus) -> How {
        match (status.code(), status.signal()) {
            (Some(code), _) => How::Exited(code),
            (None, signal) => How::Signalled(signal.unwrap_or(0)),
        }
    }
}

/// Why the launcher killed a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// Fault injection: the option, as it was written.
    Injected(String),
    /// Nothing was heard of it for so long.
    Silent(Duration),
    /// It did not stop when told to.
    Straggler,
    /// It cannot go on, for this reason of its own.
    Failed(String),
    /// Another node cannot reach it, as this one says.
    Suspected {
        /// Who says so.
        by: u32,
        /// In words.
        why: String,
    },
}

impl std::fmt::Display for How {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            How::Exited(status) => write!(f, "ended with status {status}"),
            How::Signalled(signal) => write!(f, "killed by signal {signal}"),
            How::Vanished => f.write_str("it is gone"),
        }
    }
}

/// A node that ended before it was told to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitCause<'a> {
    pub node: u32,
    /// Unknown before the process has started.
    pub pid: Option<u32>,
    /// Where it was, if not here.
    pub host: Option<&'a str>,
    pub how: How,
    /// Whether the program ran already.
    pub running: bool,
    /// Why the launcher killed it, if it did.
    pub doom: Option<&'a KillReason>,
    /// Whether the system has killed any process for want of memory since the job began.
    pub out_of_memory: bool,
}

impl ExitCause<'_> {
    /// One line for people, of a job that ends with the node.
    pub fn message(&self) -> String {
        let consequence =
            if self.running { "the job cannot go on without it" } else { "the job cannot start without it" };
        format!("{}; {consequence}", self.in_short())
    }

    /// Who it was, and what became of it.
    pub fn in_short(&self) -> String {
        format!("{} {}", named(self.node, self.pid, self.host), self.what())
    }

    fn what(&self) -> String {
        match self.doom {
            Some(KillReason::Injected(option)) => format!("was killed, as {option} asked"),
            Some(KillReason::Silent(limit)) => silent(*limit),
            Some(KillReason::Straggler) => "did not stop when told to and was killed".into(),
            Some(KillReason::Failed(why)) => format!("cannot go on: {why}"),
            Some(KillReason::Suspected { by, why }) => {
                format!("was killed, as node {by} cannot reach it ({why})")
            }
            None => self.by_itself(),
        }
    }

    fn by_itself(&self) -> String {
        match self.how {
            How::Signalled(SIGKILL) if self.out_of_memory => {
                "was killed by the system, which was out of memory (signal 9, SIGKILL)".into()
            }
            How::Signalled(signal) => match name_of(signal) {
                Some((name, why)) => format!("was killed by signal {signal} ({name}{why})"),
                None => format!("was killed by signal {signal}"),
            },
            How::Vanished => "is gone".into(),
            How::Exited(status) if self.running => {
                format!(
                    "ended by itself with status {status} (does the program call `exit`? end a job with `cx.exit`)"
                )
            }
            How::Exited(status) => format!("ended with status {status} before it had joined the job"),
        }
    }
}

/// `node 2 (pid 4711 on the host b)`.
pub fn named(node: u32, pid: Option<u32>, host: Option<&str>) -> String {
    match (pid, host) {
        (Some(pid), Some(host)) => format!("node {node} (pid {pid} on the host {host})"),
        (Some(pid), None) => format!("node {node} (pid {pid})"),
        (None, Some(host)) => format!("node {node} (on the host {host})"),
        (None, None) => format!("node {node}"),
    }
}

fn silent(limit: Duration) -> String {
    format!(
        "said nothing for {limit:?} (is it stopped, or its machine overloaded? see --silence) and was killed"
    )
}

const SIGKILL: i32 = 9;

/// SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS.
const OWN_FAULTS: [i32; 9] = [4, 5, 6, 7, 8, 11, 24, 25, 31];

/// A signal's name, and what usually sends it.
fn name_of(signal: i32) -> Option<(&'static str, &'static str)> {
    Some(match signal {
        1 => ("SIGHUP", ""),
        2 => ("SIGINT", ""),
        3 => ("SIGQUIT", ""),
        4 => ("SIGILL", ": an instruction this processor does not have"),
        6 => ("SIGABRT", ": it aborted, see its last lines"),
        7 => ("SIGBUS", ": memory that cannot be had"),
        8 => ("SIGFPE", ""),
        SIGKILL => ("SIGKILL", ""),
        11 => ("SIGSEGV", ": it used memory that is not its own, or its stack ran over"),
        13 => ("SIGPIPE", ""),
        15 => ("SIGTERM", ""),
        24 => ("SIGXCPU", ": its limit of processor time"),
        25 => ("SIGXFSZ", ": its limit of file size"),
        31 => ("SIGSYS", ": a system call that is forbidden here"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(how: How) -> ExitCause<'static> {
        ExitCause {
            node: 2,
            pid: Some(4711),
            host: None,
            how,
            running: true,
            doom: None,
            out_of_memory: false,
        }
    }

    #[test]
    fn a_message_names_the_node_and_what_happened() {
        for (fate, message) in [
            (
                fate(How::Signalled(9)),
                "node 2 (pid 4711) was killed by signal 9 (SIGKILL); the job cannot go on without it",
            ),
            (
                ExitCause { out_of_memory: true, ..fate(How::Signalled(9)) },
                "node 2 (pid 4711) was killed by the system, which was out of memory (signal 9, SIGKILL); \
                 the job cannot go on without it",
            ),
            (
                fate(How::Signalled(6)),
                "node 2 (pid 4711) was killed by signal 6 (SIGABRT: it aborted, see its last lines); \
                 the job cannot go on without it",
            ),
            (
                fate(How::Signalled(64)),
                "node 2 (pid 4711) was killed by signal 64; the job cannot go on without it",
            ),
            (
                ExitCause { host: Some("b"), ..fate(How::Signalled(9)) },
                "node 2 (pid 4711 on the host b) was killed by signal 9 (SIGKILL); the job cannot go on without it",
            ),
            (
                ExitCause { running: false, pid: None, ..fate(How::Exited(7)) },
                "node 2 ended with status 7 before it had joined the job; the job cannot start without it",
            ),
        ] {
            assert_eq!(fate.message(), message);
        }
    }

    #[test]
    fn what_the_launcher_did_is_said_rather_than_the_signal() {
        let with = |doom: &KillReason| ExitCause { doom: Some(doom), ..fate(How::Signalled(9)) }.message();
        assert!(with(&KillReason::Injected("--kill 2@step40".into())).contains("as --kill 2@step40 asked"));
        assert!(with(&KillReason::Silent(Duration::from_secs(10))).contains("said nothing for 10s"));
        assert!(with(&KillReason::Straggler).contains("did not stop when told to"));
    }

    #[test]
    fn a_loss_that_is_survived_is_told_without_its_consequence() {
        let doom = KillReason::Suspected { by: 1, why: "no answer for 2s".into() };
        let suspected = ExitCause { doom: Some(&doom), ..fate(How::Signalled(9)) };
        assert_eq!(
            suspected.in_short(),
            "node 2 (pid 4711) was killed, as node 1 cannot reach it (no answer for 2s)"
        );
    }

    #[test]
    fn an_exit_of_the_program_is_called_that() {
        assert!(fate(How::Exited(0)).message().contains("ended by itself with status 0"));
    }
}
