//! `--lb-dump`: what a step knew, as a file. Beside the members that decide there are others then, which gather everything.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use talisman_lb::dump::Dump;
use talisman_lb::member::central::Central;
use talisman_lb::member::{Action, Decided, Event, Member};
use talisman_lb::plan::Plan;
use talisman_lb::snapshot::Snapshot;
use talisman_lb::strategy::Strategy;
use tracing::warn;

use talisman_job::job::Job;
use talisman_observe::subjects::BALANCE;

/// A member that decides, and one that gathers. Notes of either have a byte at their end that tells whose they are.
pub(super) struct Recorded {
    pub(super) member: Box<dyn Member>,
    pub(super) gatherer: Central,
    /// What the member knows at the end, until the other has come to its end too.
    decided: Option<Decided>,
    gathered: bool,
}

/// Whose a note is.
const MEMBER: u8 = 0;
const GATHERER: u8 = 1;

impl Recorded {
    pub(super) fn new(member: Box<dyn Member>, gatherer: Central) -> Self {
        Recorded { member, gatherer, decided: None, gathered: false }
    }

    fn with_member(&mut self, event: Event, actions: &mut Vec<Action>) {
        let mut own = Vec::new();
        self.member.step(event, &mut own);
        for action in own {
            match action {
                Action::Decided(decided) => self.decided = Some(decided),
                other => actions.push(marked(other, MEMBER)),
            }
        }
    }

    fn with_gatherer(&mut self, event: Event, actions: &mut Vec<Action>) {
        let mut own = Vec::new();
        self.gatherer.step(event, &mut own);
        for action in own {
            match action {
                Action::Decided(_) => self.gathered = true,
                other => actions.push(marked(other, GATHERER)),
            }
        }
    }
}

fn marked(action: Action, whose: u8) -> Action {
    match action {
        Action::Send { to, mut note } => {
            note.push(whose);
            Action::Send { to, note }
        }
        other => other,
    }
}

impl Member for Recorded {
    fn step(&mut self, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Begin(local) => {
                self.with_gatherer(Event::Begin(local.clone()), actions);
                self.with_member(Event::Begin(local), actions);
            }
            Event::Note { from, mut note } => match note.pop() {
                Some(GATHERER) => self.with_gatherer(Event::Note { from, note }, actions),
                _ => self.with_member(Event::Note { from, note }, actions),
            },
        }
        if self.gathered {
            actions.extend(self.decided.take().map(Action::Decided));
        }
    }

    fn held(&self) -> usize {
        self.member.held() + self.gatherer.held()
    }
}

/// Writes what it is told, and moves nothing.
pub(super) struct Recorder {
    pub(super) folder: PathBuf,
    pub(super) step: u32,
    pub(super) trigger: String,
    pub(super) strategy: String,
    /// Where it is said that a file could not be written.
    pub(super) job: Arc<Job>,
}

impl Strategy for Recorder {
    fn name(&self) -> &str {
        "--lb-dump"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let dump = Dump {
            step: self.step.into(),
            trigger: self.trigger.clone(),
            strategy: self.strategy.clone(),
            snapshot: snapshot.clone(),
        };
        let file = self.folder.join(format!("step-{:06}.snapshot", self.step));
        if let Err(error) = fs::write(&file, dump.to_bytes()) {
            let file = file.display();
            self.job.say(|| warn!(target: BALANCE, "--lb-dump: {file} cannot be written: {error}"));
        }
        Plan::default()
    }
}
