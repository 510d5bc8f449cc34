//! Runs that do not end before they are let go: what is done to them is done in time, however fast they are or busy the machine is.

use rustix::process::Signal;

use crate::disk::Folder;
use crate::job::Shape;
use crate::subjects::{Left, Run, Said, Subject};
use crate::system::signal;

/// A run that goes on, by [`Folder::holding`].
pub struct Held {
    pub run: Run,
    pub folder: Folder,
}

/// Starts a run that can be held.
pub fn begin(subject: Subject, shape: Shape, options: &str) -> Held {
    let folder = Folder::new();
    let run = subject.start(shape, &format!("--ft double {options} {}", folder.holding()));
    Held { run, folder }
}

impl Held {
    pub fn kill_launcher(&self) {
        signal(self.run.job.launcher_pid(), Signal::KILL);
    }

    /// Like [`Job::wait_until_held_twice`](crate::job::Job::wait_until_held_twice).
    #[track_caller]
    pub fn wait_until_held_twice(&self, recovery: &str) {
        self.run.job.wait_until_held_twice(recovery);
    }

    /// Like [`Run::survives`].
    #[track_caller]
    pub fn survives(self, expected: &Said) -> Left {
        self.folder.let_go();
        self.run.survives(expected)
    }

    /// Like [`Run::survives_its_launchers`], of launchers that have been killed by now.
    #[track_caller]
    pub fn survives_its_launcher(self, expected: &Said) -> Left {
        self.folder.let_go();
        self.run.survives_its_launchers(expected)
    }

    /// Like [`Run::ends_without_its_launcher`].
    #[track_caller]
    pub fn ends_without_its_launcher(self) -> Left {
        self.folder.let_go();
        self.run.ends_without_its_launcher()
    }
}
