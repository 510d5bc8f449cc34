//! Processes of this host: started so that none outlives the launcher, watched and killed without mistaking one for another.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use talisman_job::variables::CONTROL_VARIABLE;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, pidfd_send_signal, set_parent_process_death_signal,
};

use crate::{fixed_layout, naming};
use talisman_control::exit_cause::How;

/// What to run as a node.
#[derive(Clone, Debug)]
pub struct Executable {
    pub path: PathBuf,
    /// The arguments, the name it is called by first.
    pub args: Vec<OsString>,
    /// Variables that it has beside those of this process.
    pub variables: Vec<(OsString, OsString)>,
}

impl Executable {
    /// This program as it was called. Its file is found even if another has taken its name since.
    pub fn this() -> Self {
        Executable {
            path: "/proc/self/exe".into(),
            args: std::env::args_os().collect(),
            variables: Vec::new(),
        }
    }
}

/// A process that was started.
pub struct Started {
    pub process: Process,
    /// The launcher's end of its control connection.
    pub control: UnixStream,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

/// Whether a process inherits the launcher's ends of its own pipes too, so that it can do without the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipes {
    Ours,
    Shared,
}

/// Starts the node of this number with its control connection and the descriptors it inherits, which keep their numbers.
///
/// The system kills it when the thread that calls this ends, unless it asks not to be: that has to be the thread that lives as long as
/// the launcher.
///
/// # Errors
/// The executable cannot be run, or the system gives no process or descriptor.
pub fn start(
    executable: &Executable,
    number: u32,
    inherited: &[RawFd],
    stdin: Stdio,
    pipes: Pipes,
) -> io::Result<Started> {
    let (control, theirs) = UnixStream::pair()?;
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    let mut command = Command::new(&executable.path);
    let mut args = executable.args.iter();
    let name = args.next().cloned();
    if let Some(name) = naming::title(executable, number).or(name) {
        command.arg0(name);
    }
    command.args(args).envs(naming::variable());
    command.envs(executable.variables.iter().map(|(name, value)| (name, value)));
    command.env(CONTROL_VARIABLE, theirs.as_raw_fd().to_string());
    command.stdin(stdin).stdout(out).stderr(err);
    let mut kept: Vec<RawFd> = inherited.iter().copied().chain([theirs.as_raw_fd()]).collect();
    if pipes == Pipes::Shared {
        kept.extend([stdout.as_raw_fd(), stderr.as_raw_fd()]);
    }
    let launcher = getpid();
    // SAFETY: between fork and exec only system calls are made; nothing is allocated and no lock is taken.
    unsafe {
        command.pre_exec(move || {
            fixed_layout::set();
            prepare(launcher, &kept)
        })
    };
    let process = Process::watch(command.spawn()?)?;
    Ok(Started { process, control, stdout: stdout.into(), stderr: stderr.into() })
}

/// Makes the system kill the process that this command will start when the thread that starts it ends. Ctrl-C at the
/// terminal is not for it.
pub fn die_with_this_process(command: &mut Command) {
    let launcher = getpid();
    command.process_group(0);
    // SAFETY: between fork and exec only system calls are made; nothing is allocated and no lock is taken.
    unsafe { command.pre_exec(move || prepare(launcher, &[])) };
}

/// SIGTERM is not for the process that this command will start, unless its program has another opinion.
pub fn ignore_termination(command: &mut Command) {
    let ignore = || {
        // SAFETY: nobody's handler is replaced: this is a new process, whose program has not begun.
        let done = unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
        if done == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: between fork and exec only system calls are made; nothing is allocated and no lock is taken.
    unsafe { command.pre_exec(ignore) };
}

/// The process that this command will start inherits these descriptors, which keep their numbers.
pub fn leave_open(command: &mut Command, kept: Vec<RawFd>) {
    // SAFETY: between fork and exec only system calls are made; nothing is allocated and no lock is taken.
    unsafe { command.pre_exec(move || hand_down(&kept)) };
}

/// In the new process, before its program begins.
fn prepare(launcher: Pid, kept: &[RawFd]) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the launcher died before that, nobody would send the signal any more.
    if getppid() != Some(launcher) {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::SRCH.raw_os_error()));
    }
    hand_down(kept)
}

fn hand_down(kept: &[RawFd]) -> io::Result<()> {
    for number in kept {
        // SAFETY: the descriptors are open in the launcher, which holds them until the process has started.
        let descriptor = unsafe { BorrowedFd::borrow_raw(*number) };
        fcntl_setfd(descriptor, FdFlags::empty())?;
    }
    Ok(())
}

/// A process of our own. Dropping it kills the process and waits for its end: nothing is left behind.
pub struct Process {
    child: Child,
    /// Names this process and no other, even after its end.
    pidfd: OwnedFd,
}

impl Process {
    fn watch(mut child: Child) -> io::Result<Self> {
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Ok(pidfd) => Ok(Process { child, pidfd }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error.into())
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A descriptor that can be read once the process has ended, and through which it can be killed.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Waits for its end, which has come if the descriptor can be read.
    pub fn how_it_ended(&mut self) -> How {
        self.child.wait().map_or(How::Exited(-1), How::of)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        kill(self.pidfd());
        let _ = self.child.wait();
    }
}

/// Kills the process of a pidfd; one that has ended already stays as it is.
pub fn kill(pidfd: BorrowedFd<'_>) {
    let _ = pidfd_send_signal(pidfd, Signal::KILL);
}
