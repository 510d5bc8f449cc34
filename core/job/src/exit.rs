//! Exit statuses and what they mean to a script.

use std::process::ExitCode;

use super::interrupt::Signal;

/// The exit status of a job that has lost what it needs.
pub const UNRECOVERABLE: i32 = 3;

/// How a job ended, as its exit status tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitStatus {
    /// 0: the program ran to its end.
    Done,
    /// 1: the program failed: its `main` returned an error, an entry method panicked, or its report or output
    /// could not be written.
    ProgramFailed,
    /// 2: invalid command line; nothing was started.
    Usage,
    /// 3: state was lost that nothing can bring back; the message names what.
    Unrecoverable,
    /// The program ended itself with a status of its own (`cx.exit_with`).
    Program(u8),
    /// 128 + the signal's number: 130 after Ctrl-C, 143 after SIGTERM. The job ended in order, but early.
    Interrupted(Signal),
}

impl ExitStatus {
    /// The number the process ends with.
    pub fn code(self) -> u8 {
        match self {
            ExitStatus::Done => 0,
            ExitStatus::ProgramFailed => 1,
            ExitStatus::Usage => 2,
            ExitStatus::Unrecoverable => 3,
            ExitStatus::Program(status) => status,
            ExitStatus::Interrupted(signal) => signal.exit_code(),
        }
    }

    /// The worse of two ends, for a job that fails in several places: the first failure stays, success gives way.
    #[must_use]
    pub fn or(self, later: ExitStatus) -> ExitStatus {
        if self == ExitStatus::Done { later } else { self }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        ExitCode::from(status.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_scripts_rely_on() {
        let all = [
            ExitStatus::Done,
            ExitStatus::ProgramFailed,
            ExitStatus::Usage,
            ExitStatus::Unrecoverable,
            ExitStatus::Interrupted(Signal::Interrupt),
            ExitStatus::Interrupted(Signal::Terminate),
        ];
        assert_eq!(all.map(ExitStatus::code), [0, 1, 2, 3, 130, 143]);
    }

    #[test]
    fn the_first_failure_stays() {
        let (done, failed, lost) = (ExitStatus::Done, ExitStatus::ProgramFailed, ExitStatus::Unrecoverable);
        assert_eq!(done.or(failed), failed);
        assert_eq!(failed.or(done), failed);
        assert_eq!(lost.or(failed), lost);
    }
}
