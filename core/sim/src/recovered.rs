//! When a job has got over a loss, as only the world can tell: it knows what every process knows.

use super::control_messages::Letter;
use super::process::{Process, Stage};
use super::world::World;
use talisman_control::protocol::ToNode;

impl World {
    /// The launcher is about to send this. Whoever is told to go on has the loss behind it when all know of a later checkpoint that it is
    /// committed.
    pub(super) fn note_going_back(&self, letter: &Letter) {
        if let Letter::ToNode(_, ToNode::Resume(order)) = letter {
            self.awaited.set(Some(order.next_version));
            self.recovered.set(None);
        }
    }

    /// A node has done something, after which it may know more.
    pub(super) fn note_recovered(&self) {
        let Some(awaited) = self.awaited.get() else { return };
        let knows = |process: &Process| process.lives.store.committed() >= Some(awaited);
        let is_there = |process: &&Process| process.stage.get() == Stage::Up && !process.is_let_go.get();
        // Whoever waits to take a lost node's place holds nothing.
        let takes_part = |process: &&Process| !process.is_late || process.lives.has_begun.get();
        if self.nodes.iter().filter(is_there).filter(takes_part).all(knows) {
            self.awaited.set(None);
            self.recovered.set(Some(self.steps.get()));
        }
    }
}
