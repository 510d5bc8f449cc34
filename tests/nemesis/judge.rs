//! What a job that was struck may do, and what it must not: go on as if nothing had happened, or end as the documentation says.

use std::fmt;
use std::time::Duration;

use crate::said::Said;

/// What a job says that ends since all copies of something were lost (`docs/src/explanation/unrecoverable.md`, "What cannot be survived").
const DOCUMENTED: [&str; 2] = ["all copies are lost of ", "all objects of the job are lost"];
/// What nodes say that have not begun, and end as their launcher is stopped ("Before the program has begun").
const UNHEARD: &str = "heard nothing of the launcher for ";
/// What a job says that has another launcher, and one that goes back to its beginning: nodes that had not begun have ended with their launcher.
const LED: &str = "leads now";
const ANEW: &str = "began the program anew";
/// What a job says of each loss.
const KNOWN: [&str; 3] = [LED, "; the others go back", " is gone too"];
/// The exit status of such a job.
const LOST: i32 = 3;
/// Lines that are shown of those that are wrong.
const SHOWN: usize = 3;

/// How the process ended that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exited(i32),
    Signalled(i32),
    /// It, or any other process of the job, had not ended after so long.
    Hung(Duration),
}

/// What a process was to the job when it was struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Launcher,
    /// Ready to start the job again, as long as the program has not begun.
    Standby,
    Node,
}

/// A strike that came in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struck {
    pub role: Role,
    /// It was to be the process's end: no stop that is shorter than silence is borne.
    pub fatal: bool,
    /// How many processes of the job were there then that nobody had struck.
    pub left: usize,
    /// As far as the job had told, everything was held twice by then.
    pub whole: bool,
}

/// All that is known of a job when it is over.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What an undisturbed run says.
    pub expected: Said,
    pub said: Said,
    pub ending: Ending,
    /// The job's status by its report; none if there is no report.
    pub reported: Option<i64>,
    /// How many losses of nodes the report tells of.
    pub losses: usize,
    pub errors: Vec<String>,
    pub struck: Vec<Struck>,
    /// Processes that were there when the launcher had ended by itself.
    pub processes_left: Vec<String>,
    /// Sockets, temporary files and checkpoints.
    pub files_left: Vec<String>,
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Survived,
    /// As it may, for this reason.
    Ended(&'static str),
    Failed(String),
}

impl Evidence {
    pub fn verdict(&self) -> Verdict {
        self.judge().unwrap_or_else(Verdict::Failed)
    }

    fn judge(&self) -> Result<Verdict, String> {
        if !self.processes_left.is_empty() {
            return Err(format!("processes are left behind: {}", self.processes_left.join("; ")));
        }
        let status = match self.ending {
            Ending::Hung(time) => return Err(format!("it hangs: it was not over after {time:?}")),
            Ending::Exited(status) => Some(i64::from(status)),
            Ending::Signalled(signal) if !self.was_fatal(Role::Launcher) => {
                return Err(format!("its launcher ended by signal {signal}, which nobody sent"));
            }
            Ending::Signalled(_) => self.reported,
        };
        if self.reported.is_some() && self.reported != status {
            return Err(format!("it ended with status {status:?}, and reports {:?}", self.reported));
        }
        match status {
            Some(0) => self.survived(),
            Some(status) if status == i64::from(LOST) => self.lost_all_copies(),
            Some(status) => Err(format!("it ended with status {status}")),
            None => self.nobody_was_left(),
        }
    }

    fn survived(&self) -> Result<Verdict, String> {
        self.says_nothing_wrong()?;
        let missing = self.expected.without(&self.said);
        if !missing.is_empty() {
            return Err(format!("lines are missing: {}", shown(&missing)));
        }
        if !self.said.has_the_results_of(&self.expected) {
            return Err(format!("other results: {:?} in place of {:?}", self.said, self.expected));
        }
        if self.said != self.expected {
            return Err("lines come more often than once".into());
        }
        let struck =
            self.struck.iter().filter(|struck| struck.fatal && struck.role != Role::Launcher).count();
        let ended_with_launcher = self.was_fatal(Role::Launcher) && self.tells(ANEW);
        if self.losses > struck && !ended_with_launcher {
            return Err(format!("it tells of {} lost nodes, of which {struck} were struck", self.losses));
        }
        match self.files_left.is_empty() {
            true => Ok(Verdict::Survived),
            false => Err(format!("files are left behind: {}", self.files_left.join(", "))),
        }
    }

    fn lost_all_copies(&self) -> Result<Verdict, String> {
        self.says_nothing_wrong()?;
        if self.was_fatal(Role::Launcher) && self.tells(UNHEARD) && !self.tells(LED) {
            return Ok(Verdict::Ended("the launcher was stopped before the program began"));
        }
        if !self.struck.iter().any(|struck| struck.fatal && !struck.whole) {
            return Err(format!("it ended with status {LOST}, though all was held twice at each loss"));
        }
        match DOCUMENTED.iter().any(|words| self.tells(words)) {
            true => Ok(Verdict::Ended("all copies of something were lost")),
            false => Err(format!("it ended with status {LOST} and does not say that copies were lost")),
        }
    }

    /// There is no report, and the status of the launcher is that of a kill.
    fn nobody_was_left(&self) -> Result<Verdict, String> {
        self.says_nothing_wrong()?;
        if self.was_fatal(Role::Launcher) && self.was_fatal(Role::Standby) {
            return Ok(Verdict::Ended("neither the launcher nor who stood by for it was left"));
        }
        // Whoever was to write the report was struck when the others had left.
        if self.expected.without(&self.said).is_empty() && !self.all_are_known() {
            return Ok(Verdict::Ended("all was said, and nobody was left to report it"));
        }
        match self.struck.iter().any(|struck| struck.left == 0) {
            true => Ok(Verdict::Ended("no process was left")),
            false => Err("it ended without a report, though processes were left to go on".into()),
        }
    }

    fn says_nothing_wrong(&self) -> Result<(), String> {
        let wrong = self.said.without(&self.expected);
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("wrong lines: {}", shown(&wrong))),
        }
    }

    /// Whether others have noticed each loss.
    fn all_are_known(&self) -> bool {
        let is_known = |line: &&String| KNOWN.iter().any(|words| line.contains(words));
        let losses = self.struck.iter().filter(|struck| struck.fatal).count();
        self.errors.iter().filter(is_known).count() >= losses
    }

    fn tells(&self, words: &str) -> bool {
        self.errors.iter().any(|line| line.contains(words))
    }

    fn was_fatal(&self, role: Role) -> bool {
        self.struck.iter().any(|struck| struck.fatal && struck.role == role)
    }
}

fn shown(lines: &[&str]) -> String {
    let more = lines.len().saturating_sub(SHOWN);
    let shown = lines[..lines.len() - more].join(" | ");
    if more == 0 { shown } else { format!("{shown} | and {more} more") }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Survived => f.write_str("survived"),
            Verdict::Ended(why) => write!(f, "ended as documented: {why}"),
            Verdict::Failed(why) => write!(f, "FAILED: {why}"),
        }
    }
}
