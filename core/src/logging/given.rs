//! What a PE is given beside messages, timers and chores, as entries of its log have it.

use talisman_ft::logging::Input;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::turn::Command;
use talisman_pup::{Pup, PupError, from_bytes, to_bytes};

/// An input that is no message.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Given {
    /// Its clock says this from now on, in nanoseconds.
    Time(u64),
    /// It had been idle, and had given its core to others, in nanoseconds.
    Idle { idle_ns: u64, released_ns: u64 },
    /// [`Command::Suspect`].
    Suspect,
    /// [`Command::Checkpoint`].
    Checkpoint { asked: Option<bool>, leaving: Vec<u32> },
    /// [`Command::Balance`].
    Balance,
    /// [`Command::CannotKeep`].
    CannotKeep(u64),
}

impl Given {
    /// As an entry has it.
    pub fn input(&self) -> Input {
        Input::Command(to_bytes(self))
    }

    /// What an entry has.
    ///
    /// # Errors
    /// If the bytes are anything else.
    pub fn read(bytes: &[u8]) -> Result<Given, PupError> {
        from_bytes(bytes)
    }

    /// Gives it to a PE that runs again, whose clock is set by `set_clock`.
    pub fn give(self, pe: &Pe, set_clock: impl Fn(u64)) {
        match self {
            Given::Time(now) => set_clock(now),
            Given::Idle { idle_ns, released_ns } => pe.was_idle(idle_ns, released_ns),
            Given::Suspect => pe.command(Command::Suspect),
            Given::Checkpoint { asked, leaving } => pe.command(Command::Checkpoint { asked, leaving }),
            Given::Balance => pe.command(Command::Balance),
            Given::CannotKeep(version) => pe.command(Command::CannotKeep(version)),
        }
    }
}

impl From<&Command> for Given {
    fn from(command: &Command) -> Given {
        match command {
            Command::Suspect => Given::Suspect,
            Command::Checkpoint { asked, leaving } => {
                Given::Checkpoint { asked: *asked, leaving: leaving.clone() }
            }
            Command::Balance => Given::Balance,
            Command::CannotKeep(version) => Given::CannotKeep(*version),
        }
    }
}
