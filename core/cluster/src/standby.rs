//! A process that starts the job again if its launcher is lost before the program has begun.
//!
//! From then on nodes go on without their launcher ([`takeover`](crate::takeover), [`succession`](crate::succession)); until then
//! they end with it. The *standby* is this program once more. It waits at a pipe, whose other end is held by the launcher
//! and all that would go on without it on this host:
//!
//! ```text
//! launcher ──► standby ─┬─ the launcher ends in order ─────────────────► it is killed
//!                       ├─ the program has begun, or is not to any more ─► it ends
//!                       └─ all of them are gone ───────────────────────► it becomes the launcher: nothing has begun
//! ```
//!
//! So nobody has to be asked, and nothing can happen in between: who will go on without its launcher says so while it
//! holds the pipe, before it does anything else. Of a job over several hosts the launcher says beforehand that nodes
//! elsewhere may begin now; if it is lost then, the process that looks for those ([`succession`](crate::succession)) says whether any has.

use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use talisman_job::variables::STANDBY_VARIABLE as VARIABLE;

use rustix::io::{FdFlags, fcntl_setfd, write};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tracing::{error, info};

use crate::children::{self, Executable, leave_open};
use crate::naming;
use talisman_ft::Version;
use talisman_job::ExitStatus;
use talisman_job::Program;
use talisman_job::diagnostics::{say, subjects::CONTROL};

/// So often a job is started again by others than its first launcher.
const STANDBYS: u32 = 3;

/// What a launcher is told by those before it, which were lost before the program had begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// So many others may start the job in its place, one after the other.
    pub others: u32,
    /// Whether one of those before it has made the folder for checkpoints, so that it is the job's to remove.
    pub made_folder: bool,
    /// The job goes on from no older version than this one: what it did before has been seen.
    pub back_to: Option<Version>,
}

impl Turn {
    /// Of the process that somebody started.
    const FIRST: Turn = Turn { others: STANDBYS, made_folder: false, back_to: None };
    /// Nobody stands by.
    pub const LAST: Turn = Turn { others: 0, ..Turn::FIRST };
}

/// A node of this host has begun, or nodes of other hosts are known to have; or somebody ends the job.
const NEEDLESS: u8 = b'x';
/// Nodes of other hosts may begin from now on.
const BEGINS: u8 = b'e';
/// No node of any host has begun, and none will.
const NOBODY: u8 = b'n';

/// The end of the pipe that is held as long as the program may begin.
#[derive(Clone, Debug)]
pub struct Pledge(Arc<OwnedFd>);

impl Pledge {
    /// Its number, which is the same in a process that inherits it.
    pub fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// One that this process has inherited under this number. Has to be called once.
    ///
    /// # Errors
    /// There is no such descriptor.
    pub fn inherited(number: RawFd) -> io::Result<Pledge> {
        keep_from_children(number)?;
        // SAFETY: it is open, and was left for this process alone, by this function's contract.
        Ok(Pledge(Arc::new(unsafe { OwnedFd::from_raw_fd(number) })))
    }

    /// The program has begun. Whoever says that goes on without the launcher already.
    pub fn begun(self) {
        self.say(NEEDLESS);
    }

    /// Somebody ends the job: it is not to be started again, even if its launcher is killed now.
    pub fn is_ending(&self) {
        self.say(NEEDLESS);
    }

    /// Nodes on other hosts are about to be told to begin.
    pub fn begins_elsewhere(&self) {
        self.say(BEGINS);
    }

    /// The launcher is gone, and no node of any host has begun.
    pub fn nobody_has_begun(self) {
        self.say(NOBODY);
    }

    fn say(&self, word: u8) {
        // Where nobody stands by any more, the program has begun already.
        let _ = write(&*self.0, &[word]);
    }
}

/// Programs that this process starts do not get this descriptor.
///
/// # Errors
/// There is none with this number.
pub fn keep_from_children(number: RawFd) -> io::Result<()> {
    // SAFETY: the borrow is only used for a call that fails if there is no such descriptor.
    Ok(fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC)?)
}

/// The launcher's side. Dropping it ends the process that stands by: the job has ended.
pub struct Standby {
    /// The launcher's own.
    _pledge: Pledge,
    /// The process, once it runs.
    process: Receiver<OwnedFd>,
    /// Starts it, and waits for its end, which may come long before that of the job.
    keeper: Option<JoinHandle<()>>,
}

/// A standby that is not there yet.
pub struct Prepared {
    /// What those get that would go on without the launcher.
    pub pledge: Pledge,
    pipe: io::PipeReader,
    /// The launcher's own.
    turn: Turn,
}

impl Prepared {
    /// For a launcher whose turn this is.
    ///
    /// # Errors
    /// The system gives no descriptors.
    pub fn new(turn: Turn) -> io::Result<Prepared> {
        let (pipe, pledge) = io::pipe()?;
        Ok(Prepared { pledge: Pledge(Arc::new(pledge.into())), pipe, turn })
    }

    /// Starts this program once more. Nobody waits until it runs. From before this to the end of the standby, no signal that asks this
    /// process to end may end it at once: whoever sends one does not want the job to be started again.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(self) -> io::Result<Standby> {
        let Prepared { pledge, pipe, turn } = self;
        let (tell, process) = channel();
        let keeper = thread::Builder::new().name("standby".into());
        let keeper = keeper.spawn(move || keep(pipe, turn, &tell))?;
        Ok(Standby { _pledge: pledge, process, keeper: Some(keeper) })
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        if let Ok(process) = self.process.recv() {
            children::kill(process.as_fd());
        }
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// If the system gives no process for this, the job begins without.
fn keep(pipe: io::PipeReader, turn: Turn, tell: &Sender<OwnedFd>) {
    let Executable { path, args, .. } = Executable::this();
    let mut command = Command::new(path);
    let mut args = args.iter();
    if let Some(name) = args.next() {
        command.arg0(name);
    }
    // Nobody stands by for a job that may go back so.
    let Turn { others, made_folder, back_to: _ } = turn;
    command.args(args).env(VARIABLE, format!("{} {others} {}", pipe.as_raw_fd(), u8::from(made_folder)));
    leave_open(&mut command, vec![pipe.as_raw_fd()]);
    let Ok(mut child) = command.spawn() else { return };
    drop(pipe);
    match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
        Ok(process) => drop(tell.send(process)),
        // Nobody could end it.
        Err(_) => drop(child.kill()),
    }
    let _ = child.wait();
}

/// If this process was started to stand by, waits until it is to start the job, or ends it. Whose turn it is then.
///
/// Has to be called before any other thread is started: it changes the environment, so that no child process takes itself for one.
pub fn stand_by(program: &Program) -> Turn {
    let Some(value) = std::env::var_os(VARIABLE) else { return Turn::FIRST };
    // SAFETY: no other thread reads the environment, by this function's contract.
    unsafe { std::env::remove_var(VARIABLE) };
    let name = program.name;
    let Some((pipe, turn)) = value.to_str().and_then(inherit) else {
        say(|| error!(target: CONTROL, program = name, "{VARIABLE} is set, but not by a launcher: unset it"));
        std::process::exit(ExitStatus::Usage.code().into());
    };
    naming::call(name);
    match listen(pipe) {
        Heard::Needless => std::process::exit(ExitStatus::Done.code().into()),
        Heard::Unclear => {
            let unclear = "whether the program has begun on other hosts cannot be told here";
            let advice = "if nothing more comes of the job, start it again";
            say(|| error!(target: CONTROL, program = name, "the launcher is gone, and {unclear}; {advice}"));
            std::process::exit(ExitStatus::Unrecoverable.code().into());
        }
        Heard::Nobody => {
            let pid = std::process::id();
            let again = format!("nothing has begun, and process {pid} starts the job again");
            say(|| info!(target: CONTROL, program = name, "the launcher is gone; {again}"));
            Turn { others: turn.others.saturating_sub(1), ..turn }
        }
    }
}

fn inherit(value: &str) -> Option<(io::PipeReader, Turn)> {
    let words: Vec<&str> = value.split(' ').collect();
    let [number, others, made] = words[..] else { return None };
    let number = number.parse().ok().filter(|number| *number > 2)?;
    let made_folder = ["0", "1"].iter().position(|known| *known == made)? == 1;
    let turn = Turn { others: others.parse().ok()?, made_folder, ..Turn::FIRST };
    keep_from_children(number).ok()?;
    // SAFETY: it is open, and the launcher left it for this process alone; the variable that names it is gone.
    Some((unsafe { OwnedFd::from_raw_fd(number) }.into(), turn))
}

/// What has become of the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    /// The program has begun, or is not to any more.
    Needless,
    /// It is gone, and the program had not begun.
    Nobody,
    /// It is gone, and who could tell is, too.
    Unclear,
}

/// Waits until it is known: as long as the launcher, or whoever may go on without it, is there and says nothing.
fn listen(mut pipe: impl Read) -> Heard {
    let (mut may_have_begun, mut word) = (false, [0]);
    loop {
        match pipe.read(&mut word) {
            Ok(0) if may_have_begun => return Heard::Unclear,
            Ok(0) => return Heard::Nobody,
            Ok(_) if word[0] == NEEDLESS => return Heard::Needless,
            Ok(_) => may_have_begun = word[0] == BEGINS,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The launcher may be there.
            Err(_) => return Heard::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_heard_before_the_end_decides() {
        for (words, heard) in [
            (&b""[..], Heard::Nobody),
            (b"x", Heard::Needless),
            (b"e", Heard::Unclear),
            (b"en", Heard::Nobody),
            (b"ex", Heard::Needless),
            (b"enx", Heard::Needless),
        ] {
            assert_eq!(listen(words), heard, "{:?}", String::from_utf8_lossy(words));
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_end() {
        struct Fails(Vec<io::ErrorKind>);
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                self.0.pop().map_or(Ok(0), |kind| Err(kind.into()))
            }
        }
        assert_eq!(listen(Fails(vec![io::ErrorKind::Interrupted; 3])), Heard::Nobody);
        assert_eq!(listen(Fails(vec![io::ErrorKind::Other])), Heard::Unclear);
    }

    #[test]
    fn the_end_comes_once_nobody_holds_the_pledge() {
        let (pipe, pledge) = io::pipe().unwrap();
        let pledge = Pledge(Arc::new(pledge.into()));
        let other = pledge.clone();
        let listening = thread::spawn(move || listen(pipe));
        drop(pledge);
        other.begins_elsewhere();
        other.nobody_has_begun();
        assert_eq!(listening.join().unwrap(), Heard::Nobody);
    }

    #[test]
    fn nobody_minds_what_is_said_when_nobody_stands_by() {
        let (pipe, pledge) = io::pipe().unwrap();
        drop(pipe);
        Pledge(Arc::new(pledge.into())).begun();
    }

    #[test]
    fn what_no_launcher_has_said_is_not_believed() {
        for value in ["", "7", "7 3", "x 3 0", "1 3 0", "4000 3 0", "3 x 0", "3 3 2", "3 3 0 0"] {
            assert!(inherit(value).is_none(), "{value:?}");
        }
    }
}
