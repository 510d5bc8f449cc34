//! Checkpoints on disk of a job that logs: each that is committed, where the job was given a folder, or those that somebody asks for.
//!
//! ```text
//! the next line has begun ─► Write ─(Written, of all)─► AllWritten
//! ```
//!
//! Nobody waits for that but who has asked. A node that is lost meanwhile writes its part again when it is live.

use talisman_ft::Version;

use super::{Action, Back, Coordinator};
use crate::logging::messages::ToMember;
use talisman_store::restart::Keeping;

impl Coordinator {
    /// A line has begun: it is written, if it is to be, and no other is.
    pub(super) fn write_line(&mut self, version: Version) {
        let Some(dirs) = &self.plan.keeping.checkpoint_dirs else {
            return self.answer_with_checkpoint(version, usize::MAX, None);
        };
        let (asked, nodes) = (self.requests.waiting.len(), self.those_running());
        let is_to_be = dirs.has_all || asked > 0;
        let Some(logging) = self.logging.as_mut().filter(|_| is_to_be) else { return };
        if logging.begin_writing(nodes.iter().copied(), asked) {
            nodes.into_iter().for_each(|node| self.tell_logged(node, &ToMember::Write { version }));
        }
    }

    /// The checkpoint on disk that all may go back to, as nobody has seen anything of what was done since.
    pub(super) fn what_is_on_disk(&self) -> Option<Back> {
        let version = self.logging.as_ref()?.unseen_since()?;
        let Keeping { checkpoint_dirs, restart, .. } = &self.plan.keeping;
        let former = restart.as_ref().filter(|restart| restart.version == version);
        let own = checkpoint_dirs.as_ref().map(|dirs| &dirs.dir);
        let dir = former.map(|restart| &restart.dir).or(own)?.clone();
        Some(Back { dir, version })
    }

    /// A node is live again: another process may not have written what it has.
    pub(super) fn write_line_again(&mut self, node: u32) {
        let version = self.logging.as_mut().and_then(|logging| logging.writing().on_live(node));
        version.into_iter().for_each(|version| self.tell_logged(node, &ToMember::Write { version }));
    }

    /// A node has written what it has of a line, or cannot.
    pub(super) fn on_written_logged(&mut self, node: u32, version: Version, wrong: Option<String>) {
        let written = self.logging.as_mut().map(|logging| logging.on_written(node, version, wrong));
        let Some(written) = written.flatten() else { return };
        let word = ToMember::AllWritten { version, is_whole: written.wrong.is_none() };
        self.those_running().into_iter().for_each(|node| self.tell_logged(node, &word));
        if let Some(why) = &written.wrong {
            let text = format!(
                "checkpoint {version} is not on disk: {why}. The job goes on; the next one is tried when it is taken"
            );
            self.actions.push(Action::Warn(text));
        }
        self.answer_with_checkpoint(version, written.asked, written.wrong.as_deref());
        // What was asked for while this one was written has had its checkpoint, and that is on no disk.
        self.ask_for_checkpoints_again();
    }
}
