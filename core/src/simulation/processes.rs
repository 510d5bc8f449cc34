//! The processes of a simulated job: each node has one at a time, and another one if it is added again after a loss.

use std::cell::Cell;
use std::ops::Index;

use super::process::Process;

/// One life after the other of each node.
pub(super) struct Processes {
    lives: Vec<Vec<Process>>,
    /// Which of them each node is in.
    now: Vec<Cell<usize>>,
}

impl Processes {
    /// The lives that each node may have.
    pub(super) fn new(lives: Vec<Vec<Process>>) -> Self {
        let now = lives.iter().map(|_| Cell::new(0)).collect();
        Processes { lives, now }
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.lives.len()
    }

    /// The process that each node is now, or was last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Process> {
        self.lives.iter().zip(&self.now).map(|(lives, now)| &lives[now.get()])
    }

    /// A node is to be another process; whether there is one.
    pub(super) fn begin_next(&self, node: u32) -> bool {
        let (lives, now) = (&self.lives[node as usize], &self.now[node as usize]);
        let there_is = now.get() + 1 < lives.len();
        now.update(|now| now + usize::from(there_is));
        there_is
    }

    /// Which of its lives a node is in.
    pub(super) fn life(&self, node: u32) -> usize {
        self.now[node as usize].get()
    }
}

impl Index<usize> for Processes {
    type Output = Process;

    fn index(&self, node: usize) -> &Process {
        &self.lives[node][self.now[node].get()]
    }
}
