//! `--ft logging:strict`: nothing leaves before all that it depends on is stable. Nothing rides then, and each
//! message waits for a keeper's acknowledgement.
//!
//! What a node takes was stable before it left its sender, so only the node's own logs have to be waited for.

use std::collections::VecDeque;

use talisman_observe::mutations::mutated;

/// What is to leave, in order.
#[derive(Clone, Debug)]
pub struct Gate<F> {
    waiting: VecDeque<(F, Vec<u64>)>,
}

impl<F> Default for Gate<F> {
    fn default() -> Self {
        Gate { waiting: VecDeque::new() }
    }
}

impl<F> Gate<F> {
    /// This was sent when the logs of the node's PEs were so long, by rank.
    pub fn push(&mut self, frame: F, lengths: Vec<u64>) {
        self.waiting.push_back((frame, lengths));
    }

    /// What may leave now that so much of them is stable.
    pub fn release(&mut self, stable: &[u64]) -> Vec<F> {
        let is_stable = |lengths: &Vec<u64>| {
            lengths.iter().zip(stable).all(|(length, stable)| length <= stable)
                || mutated("strict-leaves-before-stable")
        };
        let ready = self.waiting.iter().take_while(|(_, lengths)| is_stable(lengths)).count();
        self.waiting.drain(..ready).map(|(frame, _)| frame).collect()
    }

    /// What is not so does not wait any longer.
    pub fn retain(&mut self, is_so: impl Fn(&F) -> bool) {
        self.waiting.retain(|(frame, _)| is_so(frame));
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What waits, in order.
    pub fn waiting(&self) -> impl Iterator<Item = &F> {
        self.waiting.iter().map(|(frame, _)| frame)
    }
}
