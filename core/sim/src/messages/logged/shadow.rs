//! What has happened, as nobody in the job knows it: what a restarted node does is held against it.

use std::collections::BTreeMap;

use talisman_core::logging::words::Said;
use talisman_ft::NodeId;
use talisman_kernel::pe::input_log::Frame;

/// What has happened since the line.
#[derive(Default)]
pub(super) struct Shadow {
    /// Frames as they were taken, by sender, receiver, and number.
    taken: BTreeMap<(NodeId, NodeId, u64), Frame>,
    /// What was printed, by node.
    printed: BTreeMap<NodeId, Vec<Said>>,
}

impl Shadow {
    /// A node takes a frame of another.
    pub(super) fn take(&mut self, from: NodeId, to: NodeId, number: u64, frame: Frame) {
        self.taken.insert((from, to, number), frame);
    }

    /// A restarted node makes a frame again that its receiver, which was not lost, has taken.
    pub(super) fn make_again(
        &self,
        from: NodeId,
        to: NodeId,
        number: u64,
        frame: &Frame,
    ) -> Result<(), String> {
        match self.taken.get(&(from, to, number)) {
            Some(taken) if taken == frame => Ok(()),
            Some(_) => {
                Err(format!("frame {number} of node {from} to node {to} is another one than was taken"))
            }
            None => Err(format!("frame {number} of node {from} to node {to} was never taken")),
        }
    }

    /// Something is printed that a node said as its so-manieth: whether it is new.
    pub(super) fn print(&mut self, node: NodeId, number: u64, said: &Said) -> Result<bool, String> {
        let printed = self.printed.entry(node).or_default();
        match printed.get(number as usize) {
            Some(before) if before == said => Ok(false),
            Some(before) => Err(format!("node {node} says {said:?} in the place of {before:?}")),
            None if printed.len() as u64 == number => {
                printed.push(said.clone());
                Ok(true)
            }
            None => Err(format!("node {node} says {said:?}, and what it said before that is missing")),
        }
    }
}
