//! A process of ssh or `srun`, and the agent's first word through it.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::agent::FLAG;
use super::{srun, ssh};
use crate::children::{die_with_this_process, ignore_termination, leave_open};
use crate::standby::Pledge;
use crate::takeover::streams::Streams;
use talisman_control::exit_cause::How;
use talisman_control::greeting::{Greeting, Listener};
use talisman_control::hosts::{Host, Login};
use talisman_job::variables::SSH_VARIABLE;

/// So long ssh may take to end once there is nothing more to say, or its connection is gone.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);
/// Bytes kept of what ssh says on standard error.
const SAID_MAX: usize = 4 << 10;
/// Bytes read at a time.
const READ: usize = 16 << 10;

/// What the agent of the launcher's own host inherits.
pub struct Heir {
    /// Where it listens.
    pub door: TcpListener,
    /// What the launcher prints to.
    pub streams: Streams,
    /// What it says that to, when it is known whether the program has begun.
    pub pledge: Option<Pledge>,
}

/// The process of ssh or `srun`, which ends with this one. What it says on standard error is kept.
pub(super) struct Session {
    child: Child,
    login: Login,
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
    said: Arc<Mutex<Vec<u8>>>,
    listening: JoinHandle<()>,
}

impl Session {
    /// Logs in and starts the agent.
    pub(super) fn start(host: &Host, program: &Path) -> io::Result<Session> {
        let mut command = match host.login {
            Login::Ssh => {
                let options = std::env::var_os(SSH_VARIABLE).unwrap_or_default();
                let mut command = ssh::command(host, &options, program);
                // A batch system tells all processes here to end; the launcher sees to what is on other hosts.
                ignore_termination(&mut command);
                command
            }
            Login::Srun => srun::command(&host.name, program),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        die_with_this_process(&mut command);
        Session::of(command, host.login)
    }

    /// Starts the agent on this host, without ssh: it finds out by the end of its input that this process has ended.
    pub(super) fn start_here(heir: &Heir) -> io::Result<Session> {
        let pledge = heir.pledge.as_ref().map(Pledge::number);
        let inherited: Vec<RawFd> = heir.streams.all().chain([heir.door.as_raw_fd()]).chain(pledge).collect();
        let mut command = std::process::Command::new("/proc/self/exe");
        command.arg(FLAG);
        if let Some(name) = std::env::args_os().next() {
            command.arg0(name);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C at the terminal is not for it.
        command.process_group(0);
        leave_open(&mut command, inherited);
        Session::of(command, Login::default())
    }

    fn of(command: std::process::Command, login: Login) -> io::Result<Session> {
        let mut child = Command::from(command).kill_on_drop(true).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().expect("it was asked for"));
        let said = Arc::default();
        let stderr = child.stderr.take().expect("it was asked for");
        let listening = tokio::spawn(keep(stderr, Arc::clone(&said)));
        Ok(Session { child, login, stdin, stdout, said, listening })
    }

    /// The greeting, and what came with it; nothing if the stream ends before.
    pub(super) async fn greeting(&mut self) -> Result<Option<(Greeting, Vec<u8>)>, String> {
        let (mut listener, mut bytes) = (Listener::default(), vec![0; READ]);
        while let Ok(count @ 1..) = self.stdout.read(&mut bytes).await {
            match listener.push(&bytes[..count]) {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                Err(error) => {
                    return Err(format!("its login shell, or the program, talks without an end: {error}"));
                }
            }
        }
        Ok(None)
    }

    /// Waits for its end, which comes since nobody talks to it any more, or is made to come.
    pub(super) async fn end(&mut self) -> How {
        self.stdin = None;
        let ended = timeout(LEAVE_LIMIT, async {
            let _ = (&mut self.listening).await;
            self.child.wait().await
        });
        match ended.await {
            Ok(Ok(status)) => How::of(status),
            _ => {
                let _ = self.child.kill().await;
                How::Signalled(9)
            }
        }
    }

    /// Why there was no agent: it has ended, or ends now.
    pub(super) async fn no_agent(&mut self, host: &Host, program: &Path) -> String {
        let how = self.end().await;
        match self.login {
            Login::Ssh => ssh::no_agent(how, &self.said(), host, program),
            Login::Srun => srun::no_agent(how, &self.said(), host, program),
        }
    }

    /// Why the agent is lost, by how this has ended.
    pub(super) fn lost(&self, how: How) -> String {
        match self.login {
            Login::Ssh => ssh::lost(how, &self.said()),
            Login::Srun => srun::lost(how, &self.said()),
        }
    }

    /// The last it said on standard error.
    fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).into_owned()
    }
}

/// Keeps the end of what somebody says.
async fn keep(mut from: impl AsyncRead + Unpin, said: Arc<Mutex<Vec<u8>>>) {
    let mut bytes = vec![0; READ];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(&bytes[..count]);
        let excess = said.len().saturating_sub(SAID_MAX);
        said.drain(..excess);
    }
}
