//! What Ctrl-C does: the first signal asks the job to end, a second one ends the process at once.
//!
//! The first SIGINT or SIGTERM runs a callback on a thread of its own, which may therefore lock, allocate and
//! send messages. From then on, and again once the job is over, a signal ends the process inside its handler with
//! status 128 + its number: this works even if every other thread hangs.
//!
//! A job ends after the entries that run. If one does not return, people are told after half a second which it is (`run/held_up.rs`).

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// A signal that asks the job to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM: `kill`, or a batch system whose time is over.
    Terminate,
}

impl Signal {
    const ALL: [Signal; 2] = [Signal::Interrupt, Signal::Terminate];

    /// The exit status of a process this signal has ended: 128 + its number.
    pub fn exit_code(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
        }
    }

    fn number(self) -> i32 {
        match self {
            Signal::Interrupt => SIGINT,
            Signal::Terminate => SIGTERM,
        }
    }

    fn from_number(number: i32) -> Option<Signal> {
        Signal::ALL.into_iter().find(|signal| signal.number() == number)
    }
}

/// Signals are being listened to; dropping it ends that, so that a job started later may listen in its turn.
#[derive(Debug)]
pub struct Interrupts {
    process: &'static Process,
}

impl Interrupts {
    /// From now on the first signal runs `on_first`, on a thread of its own.
    ///
    /// # Errors
    /// Another job of this process is listening already, or the operating system refuses a handler or a thread.
    pub fn install(on_first: impl FnOnce(Signal) + Send + 'static) -> Result<Interrupts, InterruptError> {
        let listener = Listener { installed: true, received: None, on_first: Some(Box::new(on_first)) };
        let mut process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        let process = match *process {
            Some(process) => process.serve(listener)?,
            None => *process.insert(Process::begin(listener)?),
        };
        Ok(Interrupts { process })
    }

    /// The first signal since [`Interrupts::install`], if one came; it decides the job's exit status.
    pub fn received(&self) -> Option<Signal> {
        self.process.listener().received
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        // Nobody is left to end in order: from here on the first signal already ends the process.
        self.process.next_kills.store(true, Ordering::SeqCst);
        *self.process.listener() = Listener::default();
    }
}

/// Why signals cannot be listened to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterruptError {
    /// Two jobs of one process want the same signals.
    #[error("another job of this process already handles SIGINT and SIGTERM; end it first")]
    AlreadyInstalled,
    /// The operating system refused.
    #[error("cannot handle SIGINT and SIGTERM: {0}")]
    System(#[from] io::Error),
}

/// What there is once per process: handlers stay for good, only what they do changes.
#[derive(Debug)]
struct Process {
    /// Read by the signal handler itself: whether the next signal ends the process on the spot.
    next_kills: Arc<AtomicBool>,
    listener: Mutex<Listener>,
}

/// The job that is listening at present, if any.
#[derive(Default)]
struct Listener {
    installed: bool,
    received: Option<Signal>,
    on_first: Option<Box<dyn FnOnce(Signal) + Send>>,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Listener { installed, received, .. } = self;
        f.debug_struct("Listener").field("installed", installed).field("received", received).finish()
    }
}

static PROCESS: Mutex<Option<&'static Process>> = Mutex::new(None);

impl Process {
    /// Its first job: it has to be known before there are handlers, as a signal may come as soon as there is one.
    fn begin(listener: Listener) -> io::Result<&'static Process> {
        let next_kills = Arc::new(AtomicBool::new(false));
        let process = Process { next_kills, listener: Mutex::new(listener) };
        let process: &'static Process = Box::leak(Box::new(process));
        let (signals, early) = register(&process.next_kills)?;
        thread::Builder::new().name("signals".into()).spawn(|| process.listen(signals, early))?;
        Ok(process)
    }

    /// A later job, before which signals end the process.
    fn serve(&'static self, job: Listener) -> Result<&'static Process, InterruptError> {
        let mut listener = self.listener();
        if listener.installed {
            return Err(InterruptError::AlreadyInstalled);
        }
        *listener = job;
        self.next_kills.store(false, Ordering::SeqCst);
        drop(listener);
        Ok(self)
    }

    fn listener(&self) -> MutexGuard<'_, Listener> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, mut signals: Signals, early: Early) {
        early.came().for_each(|signal| self.on_signal(signal));
        signals.forever().filter_map(Signal::from_number).for_each(|signal| self.on_signal(signal));
    }

    fn on_signal(&self, signal: Signal) {
        let on_first = {
            let mut listener = self.listener();
            let on_first = listener.on_first.take();
            listener.received = listener.received.or(on_first.is_some().then_some(signal));
            on_first
        };
        // Called without the lock: the callback may ask `received`, or drop the guard.
        if let Some(on_first) = on_first {
            on_first(signal);
        }
    }
}

/// Which signals have come: for those that came before there was anybody to wake.
#[derive(Default)]
struct Early([Arc<AtomicBool>; Signal::ALL.len()]);

impl Early {
    fn came(&self) -> impl Iterator<Item = Signal> {
        let came = Signal::ALL.into_iter().zip(&self.0);
        came.filter(|(_, came)| came.load(Ordering::SeqCst)).map(|(signal, _)| signal)
    }
}

/// The handlers, which run in the order of their registration: note that the signal has come, end the process if this is not the first one,
/// note that the next one is not, and wake the listening thread. None is lost from the first on: before the thread is there to be woken, it
/// is noted.
fn register(next_kills: &Arc<AtomicBool>) -> io::Result<(Signals, Early)> {
    let early = Early::default();
    for (signal, came) in Signal::ALL.into_iter().zip(&early.0) {
        let status = i32::from(signal.exit_code());
        flag::register(signal.number(), Arc::clone(came))?;
        flag::register_conditional_shutdown(signal.number(), status, Arc::clone(next_kills))?;
        flag::register(signal.number(), Arc::clone(next_kills))?;
    }
    Ok((Signals::new(Signal::ALL.map(Signal::number))?, early))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;
    use std::sync::mpsc;
    use std::time::Duration;

    use signal_hook::low_level::raise;

    use super::*;

    /// Set in a child process, which is this test binary again, to the case it plays.
    const CASE: &str = "TALISMAN_TEST_INTERRUPT_CASE";

    /// Runs one case in a process of its own, where signals may end it, and gives its exit status.
    fn status_of(case: &str) -> Option<i32> {
        let test = "interrupt::tests::child";
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([test, "--exact", "--nocapture"]).env(CASE, case).output().unwrap().status.code()
    }

    /// Not a test by itself: the other tests run it as their child process.
    #[test]
    fn child() {
        let Ok(case) = std::env::var(CASE) else { return };
        let (told, hears) = mpsc::channel();
        let install = || {
            let told = told.clone();
            Interrupts::install(move |signal| told.send(signal).expect("the test waits"))
        };
        let first = || hears.recv_timeout(Duration::from_secs(60)).expect("the callback runs");
        if case == "at once" {
            thread::spawn(|| raise_once_handled(SIGTERM));
        }
        let interrupts = install().unwrap();
        match case.as_str() {
            "first" => {
                raise(SIGTERM).unwrap();
                assert_eq!(first(), Signal::Terminate);
                assert_eq!(interrupts.received(), Some(Signal::Terminate));
                std::process::exit(77);
            }
            "at once" => {
                assert_eq!(first(), Signal::Terminate);
                // It may have come before a next one was known not to be the first.
                raise(SIGTERM).unwrap();
                raise(SIGTERM).unwrap();
            }
            "second" => {
                raise(SIGTERM).unwrap();
                raise(SIGINT).unwrap();
            }
            "after the job" => {
                drop(interrupts);
                raise(SIGTERM).unwrap();
            }
            "next job" => {
                assert!(matches!(install(), Err(InterruptError::AlreadyInstalled)));
                drop(interrupts);
                let next = install().unwrap();
                assert_eq!(next.received(), None);
                raise(SIGINT).unwrap();
                assert_eq!((first(), next.received()), (Signal::Interrupt, Some(Signal::Interrupt)));
                std::process::exit(78);
            }
            other => panic!("no case {other}"),
        }
        std::process::exit(99); // The signal should have ended this process.
    }

    /// As early as it does not end the process any more.
    fn raise_once_handled(signal: i32) {
        let is_handled = || {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (signal - 1) != 0
        };
        while !is_handled() {}
        raise(signal).unwrap();
    }

    #[test]
    fn a_signal_that_comes_while_handlers_are_registered_is_the_first() {
        for _ in 0..20 {
            assert_eq!(status_of("at once"), Some(143));
        }
    }

    #[test]
    fn the_first_signal_runs_the_callback_and_ends_nothing() {
        assert_eq!(status_of("first"), Some(77));
    }

    #[test]
    fn the_second_signal_ends_the_process_with_its_own_status() {
        assert_eq!(status_of("second"), Some(130));
    }

    #[test]
    fn a_signal_after_the_job_ends_the_process() {
        assert_eq!(status_of("after the job"), Some(143));
    }

    #[test]
    fn one_job_at_a_time_listens_and_a_later_one_may() {
        assert_eq!(status_of("next job"), Some(78));
    }
}
