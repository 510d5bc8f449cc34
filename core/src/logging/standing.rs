//! What a node says to whoever leads next, when the one that led is lost (`talisman_ft::logging::Gathering`).

use super::member::{Member, Stage};
use talisman_ft::Version;
use talisman_ft::logging::{LogId, Output, Standing};
use talisman_observe::mutations::mutated;

impl Member {
    /// Where it is, for another that leads from now on. What it had said and does not know to be printed it says again when that asks it
    /// what it holds: the former one may have been the only one to hear it.
    pub fn introduce(&mut self) -> Standing {
        self.says_again = !mutated("unprinted-is-not-said-again");
        let (incarnations, cuts) = match &self.stage {
            Stage::Fetching { incarnations, cuts, .. } => (&incarnations[..], cuts),
            _ => self.spread.heard_of(),
        };
        let (incarnations, cuts) = (incarnations.to_vec(), cuts.clone());
        let own = self.shape.logs_of(self.node).zip(&self.output);
        let mut printed = self.printed_of_wards.clone();
        own.for_each(|(log, output)| printed.raise(log, output.printed()));
        let (is_live, line, session) = (self.is_live(), self.line, self.session);
        let membership = Some(self.membership.clone()).filter(|membership| membership.number > 0);
        let coming = self.coming.clone();
        Standing { is_live, line, session, incarnations, cuts, printed, membership, coming }
    }

    /// So much of what was said in that line on a PE was printed: on one of its own, or of a node whose keeper it is.
    pub fn on_printed(&mut self, line: Version, log: LogId, before: u64) {
        if line != self.line {
            return;
        }
        match log.node == self.node {
            true => self
                .output
                .get_mut(log.rank as usize)
                .into_iter()
                .for_each(|output| output.on_printed(before)),
            false if mutated("keeper-forgets-what-is-printed") => {}
            false => self.printed_of_wards.raise(log, before),
        }
    }

    /// Whoever asks what it holds may have taken another's place.
    pub(super) fn say_again_if_due(&mut self) {
        if std::mem::take(&mut self.says_again) {
            self.output.iter_mut().for_each(Output::send_again);
            self.release();
        }
    }
}
