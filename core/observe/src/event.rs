//! What happens on PEs that people may want to see: one closed set.
//!
//! An event is a variant here, with a sentence and a subject, and a line where it happens (`Pe::observe`). Where events go is
//! a [`Sink`]: the diagnostics of `--log debug` today. None is on a message's way: counters are for that ([`crate::stats`]).

use std::fmt;

use crate::subjects;

/// Something has happened on a PE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// At the root: a checkpoint begins.
    CheckpointBegins {
        /// Which.
        version: u64,
        /// What for.
        trigger: &'a str,
        /// Whether it is to be on disk, where others are not.
        on_disk: bool,
        /// Nodes that are about to go when it is there.
        leaving: &'a [u32],
    },
    /// At the root: all PEs have taken their parts, and the program goes on.
    CheckpointTaken {
        /// Of which checkpoint.
        version: u64,
        /// In all parts.
        objects: u64,
        /// Of all parts.
        bytes: u64,
    },
    /// At the root: a checkpoint is what the job goes back to.
    CheckpointCommitted {
        /// Which.
        version: u64,
    },
    /// After a loss, a PE begins with what a checkpoint has.
    GoesBack {
        /// To which checkpoint.
        version: u64,
        /// Of which nodes it takes the parts.
        restore: &'a [u32],
    },
    /// At the root: a balancing step begins.
    StepBegins {
        /// Which.
        step: u64,
        /// What for.
        trigger: &'a str,
    },
    /// At the root: loads were added up, to know whether a balancing step is worth it.
    LoadsSeen {
        /// Entries since the last step.
        entries: u64,
        /// Of the PE with most, in seconds.
        max_s: f64,
        /// Of all PEs, in seconds.
        average_s: f64,
    },
    /// At the root: a balancing step is over.
    StepEnds {
        /// Which.
        step: u64,
        /// That may be balanced.
        objects: u64,
        /// That go to another PE.
        moves: u64,
        /// The load of the PE with most, in seconds, before the step.
        max_before_s: f64,
        /// Of all PEs.
        average_before_s: f64,
        /// The load of the PE with most that is to be expected.
        max_predicted_s: f64,
        /// How long it took.
        step_s: f64,
    },
    /// An object leaves its PE.
    Moves {
        /// What it is called.
        object: &'a str,
        /// The PE that it goes to.
        to: u32,
        /// How often it has moved, this time included.
        moves: u32,
    },
}

impl Event<'_> {
    /// What it is about: one of [`subjects::ALL`].
    pub fn subject(&self) -> &'static str {
        match self {
            Event::CheckpointBegins { .. }
            | Event::CheckpointTaken { .. }
            | Event::CheckpointCommitted { .. } => subjects::CHECKPOINT,
            Event::GoesBack { .. } => subjects::RECOVERY,
            Event::StepBegins { .. } | Event::LoadsSeen { .. } | Event::StepEnds { .. } => subjects::BALANCE,
            Event::Moves { .. } => subjects::COLLECTION,
        }
    }
}

/// The sentence, and the values: `a step begins step=3 trigger="sync"`.
impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::CheckpointBegins { version, trigger, on_disk, leaving } => write!(
                f,
                "a checkpoint begins version={version} trigger={trigger:?} on_disk={on_disk} leaving={leaving:?}"
            ),
            Event::CheckpointTaken { version, objects, bytes } => write!(
                f,
                "all parts are taken, and the program goes on version={version} objects={objects} bytes={bytes}"
            ),
            Event::CheckpointCommitted { version } => {
                write!(f, "a checkpoint is committed version={version}")
            }
            Event::GoesBack { version, restore } => {
                write!(f, "a PE goes back version={version} restore={restore:?}")
            }
            Event::StepBegins { step, trigger } => write!(f, "a step begins step={step} trigger={trigger:?}"),
            Event::LoadsSeen { entries, max_s, average_s } => {
                write!(f, "loads were looked at entries={entries} max_s={max_s} average_s={average_s}")
            }
            Event::StepEnds {
                step,
                objects,
                moves,
                max_before_s,
                average_before_s,
                max_predicted_s,
                step_s,
            } => write!(
                f,
                "a step is over step={step} objects={objects} moves={moves} max_before_s={max_before_s} \
                 average_before_s={average_before_s} max_predicted_s={max_predicted_s} step_s={step_s}"
            ),
            Event::Moves { object, to, moves } => {
                write!(f, "an object moves object={object} to={to} moves={moves}")
            }
        }
    }
}

/// Where events go.
pub trait Sink: Sync {
    /// Whether anybody looks: an event is made only then.
    fn is_wanted(&self) -> bool;

    /// One has happened on this PE.
    fn take(&self, pe: u32, event: &Event<'_>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_what_it_is_about() {
        let events = [
            Event::CheckpointBegins { version: 3, trigger: "steps", on_disk: false, leaving: &[2] },
            Event::CheckpointTaken { version: 3, objects: 8, bytes: 4096 },
            Event::CheckpointCommitted { version: 3 },
            Event::GoesBack { version: 3, restore: &[0, 1] },
            Event::StepBegins { step: 1, trigger: "sync" },
            Event::Moves { object: "Block[3]", to: 1, moves: 2 },
        ];
        let told: Vec<_> = events.iter().map(|event| format!("{}: {event}", event.subject())).collect();
        assert_eq!(
            told,
            [
                "talisman::checkpoint: a checkpoint begins version=3 trigger=\"steps\" on_disk=false leaving=[2]",
                "talisman::checkpoint: all parts are taken, and the program goes on version=3 objects=8 bytes=4096",
                "talisman::checkpoint: a checkpoint is committed version=3",
                "talisman::recovery: a PE goes back version=3 restore=[0, 1]",
                "talisman::balance: a step begins step=1 trigger=\"sync\"",
                "talisman::collection: an object moves object=Block[3] to=1 moves=2",
            ]
        );
        assert!(events.iter().all(|event| subjects::ALL.contains(&event.subject())));
    }
}
