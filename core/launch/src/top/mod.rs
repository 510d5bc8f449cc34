//! `talisman top JOB`: how a running job stands, on a terminal.
//!
//! Its launcher is asked each second, as `talisman checkpoint` asks it, and answers with a [`Snapshot`]: the same that the dashboard's page
//! shows. [`text`] makes lines of it, [`screen`] a screen of these.

#[cfg(feature = "top")]
mod screen;
mod text;

#[cfg(feature = "top")]
use std::io::{self, IsTerminal as _};
use std::thread::sleep;
use std::time::Duration;

use talisman_job::asking::{self, Request};
use talisman_job::snapshot::Snapshot;

/// So wide are lines that go elsewhere than to a terminal.
const WIDTH: usize = 100;
/// From one look to the next.
const EVERY: Duration = Duration::from_secs(1);

/// Show how a running job stands
#[derive(clap::Args, Debug)]
pub(crate) struct Top {
    /// The process id of the process that was started
    #[arg(value_parser = talisman_job::options::numbers::whole::<u32>("the job's process id, as `talisman list` shows it"))]
    job: u32,
    /// Print it once, as plain text
    #[arg(long)]
    once: bool,
    /// The same, as JSON
    #[arg(long)]
    json: bool,
}

impl Top {
    /// What is to be printed; nothing if it has been on the screen.
    ///
    /// # Errors
    /// There is no such job, or no terminal: a sentence for people.
    pub(crate) fn run(&self) -> Result<String, String> {
        let first = look(self.job)?;
        #[cfg(feature = "top")]
        if !self.once && !self.json && io::stdout().is_terminal() {
            return screen::show(self.job, first);
        }
        // Loads and rates are of the time between two looks.
        sleep(EVERY);
        let snapshot = look(self.job).unwrap_or(first);
        Ok(if self.json { snapshot.to_json() + "\n" } else { text::whole(&snapshot, WIDTH) })
    }
}

/// How the job stands now.
fn look(job: u32) -> Result<Snapshot, String> {
    Snapshot::from_json(&asking::ask(job, &Request::Look)?)
}
