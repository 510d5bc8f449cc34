//! The end of a job of several processes: what its nodes kept, and what is still to be printed.

use crate::printer::Printer;
use talisman_control::outcome::ClusterOutcome;
use talisman_store::restart::CheckpointDirs;

/// All nodes have ended: looks after what they kept, and waits until all is printed.
pub fn conclude(outcome: &mut ClusterOutcome, checkpoint_dirs: Option<&CheckpointDirs>, printer: Printer) {
    checkpoint_dirs.iter().for_each(|checkpoint_dirs| is_kept_on(outcome, checkpoint_dirs));
    printer.finish().unwrap_or_else(|error| outcome.lose_output(&error));
}

/// Its checkpoints were kept there: after a failure, they may still be.
fn is_kept_on(outcome: &mut ClusterOutcome, checkpoint_dirs: &CheckpointDirs) {
    let has_ended_well = outcome.status == 0 && outcome.interrupted.is_none();
    // If nothing has begun there are no checkpoints, and whoever starts the job again finds what it found.
    if has_ended_well || outcome.early_loss.is_some() {
        checkpoint_dirs.tidy();
    }
    if has_ended_well {
        return;
    }
    if let Some(message) = outcome.message.as_mut().filter(|_| checkpoint_dirs.may_have_any()) {
        let dir = checkpoint_dirs.dir.display();
        message.push_str(&format!("; if it had taken a checkpoint, it can go on from that: --restart {dir}"));
    }
}
