//! Output commit: what a PE said leaves when all that it depends on is stable. Then no loss can make it unsaid.
//!
//! It stays until it is known to have been printed: an image may be taken, and its node lost, while it is on its way.
//! So it may be sent twice, and has a number by which whoever prints it knows that.

use std::collections::VecDeque;

use super::lengths::Lengths;
use talisman_observe::mutations::mutated;

/// What a PE wants to be known outside the job, in order: lines, results, the end.
#[derive(Clone, Debug)]
pub struct Output<T> {
    kept: VecDeque<(u64, T, Lengths)>,
    /// So many of those have left.
    sent: usize,
    next: u64,
}

impl<T> Default for Output<T> {
    fn default() -> Self {
        Output { kept: VecDeque::new(), sent: 0, next: 0 }
    }
}

impl<T: Clone> Output<T> {
    /// How much it has said since the job began.
    #[must_use]
    pub fn said(&self) -> u64 {
        self.next
    }

    /// How much of that is not known to be printed.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// How much of it is known to be printed.
    #[must_use]
    pub fn printed(&self) -> u64 {
        self.next - self.kept.len() as u64
    }

    /// It says something, which depends on these entries that are not known to be stable
    /// ([`super::Spread::unstable`]). Returns its number.
    pub fn say(&mut self, what: T, depends_on: Lengths) -> u64 {
        self.kept.push_back((self.next, what, depends_on));
        self.next += 1;
        self.next - 1
    }

    /// What the next thing to leave waits for: nodes that are to be asked how much of their logs is stable. Such
    /// counts ride on frames, of which none may come any more.
    #[must_use]
    pub fn waits_for(&self, stable: &Lengths) -> Lengths {
        let first = self.kept.get(self.sent).map(|(_, _, depends_on)| depends_on);
        let open = first.into_iter().flat_map(Lengths::iter);
        open.filter(|(log, length)| stable.get(*log) < *length).collect()
    }

    /// What may leave by now and has not, with its numbers, in order.
    pub fn release(&mut self, stable: &Lengths) -> Vec<(u64, T)> {
        let is_stable = |depends_on: &Lengths| stable.covers(depends_on) || mutated("line-before-stable");
        let waiting = self.kept.iter().skip(self.sent);
        let ready = waiting.take_while(|(_, _, depends_on)| is_stable(depends_on));
        let ready: Vec<_> = ready.map(|(number, what, _)| (*number, what.clone())).collect();
        self.sent += ready.len();
        if mutated("line-forgotten-when-sent") {
            self.kept.drain(..std::mem::take(&mut self.sent));
        }
        ready
    }

    /// All that was said before this number has been printed.
    pub fn on_printed(&mut self, before: u64) {
        while self.kept.front().is_some_and(|(number, ..)| *number < before) {
            self.kept.pop_front();
            self.sent = self.sent.saturating_sub(1);
        }
    }

    /// Restored from an image, or heard of another who prints: what had left may not have arrived.
    pub fn send_again(&mut self) {
        self.sent = 0;
    }
}
