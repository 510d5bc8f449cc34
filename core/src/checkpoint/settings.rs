//! When checkpoints are taken, as the options say.

use std::time::Duration;

use super::message::Why;
use talisman_job::RunArgs;
use talisman_job::checkpoints::{CkptEvery, FaultTolerance};

/// What the options say of checkpoints, if there are any.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub every: CkptEvery,
    /// The mean time between two failures, as far as the user knows it.
    pub mtbf: Option<Duration>,
    /// Whether to write a line about each checkpoint.
    pub logs: bool,
}

impl Settings {
    /// None if there are no checkpoints.
    pub fn of(options: &RunArgs) -> Option<Self> {
        (options.ft != FaultTolerance::Off).then(|| Settings {
            every: options.ckpt_every.unwrap_or_default(),
            mtbf: options.mtbf,
            logs: options.ft_log || options.progress,
        })
    }

    /// What a reason for a checkpoint is called in the log and the report.
    pub(super) fn name_of(&self, why: Why) -> &'static str {
        match why {
            Why::Period if self.every == CkptEvery::Auto => "auto",
            Why::Period => "period",
            Why::Step(_) => "steps",
            Why::Request => "request",
            Why::Asked { .. } => "asked",
            Why::Failure => "failure",
        }
    }

    /// Whether a step of the program is a reason for a checkpoint, where this one was the last such.
    pub(super) fn is_due_at(&self, last: u64, step: u64) -> bool {
        match self.every {
            CkptEvery::Steps(steps) => step / steps > last / steps,
            CkptEvery::Time(_) | CkptEvery::Auto => false,
        }
    }
}
