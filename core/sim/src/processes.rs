//! The processes of a simulated job: one of each node at a time, and another one in its place if the node comes back.

use std::cell::OnceCell;
use std::ops::Index;
use std::ptr;

use super::process::Process;

/// All that there are and were. A process stays when it is no more: who stands on the stack may be one of its PEs.
pub(super) struct Processes(Vec<Life>);

/// A process of a node, and the one that came after it.
struct Life {
    process: Process,
    next: OnceCell<Box<Life>>,
}

impl Processes {
    /// The first one of each node.
    pub(super) fn new(first: Vec<Process>) -> Self {
        Processes(first.into_iter().map(Life::of).collect())
    }

    /// The process that each node is, or was last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Process> {
        self.0.iter().map(|first| &first.last().process)
    }

    /// All, also those in whose place others have come.
    pub(super) fn ever(&self) -> impl Iterator<Item = &Process> {
        self.0.iter().flat_map(Life::chain).map(|life| &life.process)
    }

    /// A node is this process from now on.
    pub(super) fn replace(&self, process: Process) {
        let last = self.0[process.number as usize].last();
        assert!(last.next.set(Box::new(Life::of(process))).is_ok(), "nobody comes after the last one");
    }

    /// Which of its processes a node is, counted from 0.
    pub(super) fn life(&self, node: u32) -> u32 {
        self.0[node as usize].chain().count() as u32 - 1
    }

    /// Whether nobody has come in the place of this one.
    pub(super) fn is_last(&self, process: &Process) -> bool {
        ptr::eq(process, &self[process.number as usize])
    }
}

impl Index<usize> for Processes {
    type Output = Process;

    fn index(&self, node: usize) -> &Process {
        &self.0[node].last().process
    }
}

impl Life {
    fn of(process: Process) -> Self {
        Life { process, next: OnceCell::new() }
    }

    fn chain(&self) -> impl Iterator<Item = &Life> {
        std::iter::successors(Some(self), |life| life.next.get().map(|next| &**next))
    }

    fn last(&self) -> &Life {
        let mut life = self;
        while let Some(next) = life.next.get() {
            life = next;
        }
        life
    }
}
