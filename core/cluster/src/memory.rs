//! What the nodes of one host inherit from the launcher: their shared memory, and the bells that wake their PEs.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::event::{EventfdFlags, eventfd};

use talisman_control::protocol::Host;
use talisman_transport::inherited;

/// The descriptors themselves; the processes inherit them under the same numbers.
#[derive(Debug, Default)]
pub struct Inheritance {
    memory: Option<OwnedFd>,
    bells: Vec<OwnedFd>,
}

impl Inheritance {
    /// This memory, and so many bells.
    ///
    /// # Errors
    /// The system gives no descriptors.
    pub fn new(memory: OwnedFd, bells: u32) -> io::Result<Self> {
        let bell = |_| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Inheritance { memory: Some(memory), bells: (0..bells).map(bell).collect::<Result<_, _>>()? })
    }

    /// The numbers, for the nodes' tasks.
    pub fn numbers(&self, nodes: Vec<u32>) -> Host {
        let number = |descriptor: &OwnedFd| descriptor.as_raw_fd();
        Host {
            nodes,
            memory: self.memory.as_ref().map(number),
            bells: self.bells.iter().map(number).collect(),
        }
    }

    pub fn all(&self) -> Vec<RawFd> {
        self.memory.iter().chain(&self.bells).map(AsRawFd::as_raw_fd).collect()
    }
}

/// Memory for the links of so many nodes of one host with so many PEs each.
///
/// # Errors
/// The system gives none.
pub fn host_memory(nodes: u32, pes: u32) -> io::Result<OwnedFd> {
    inherited::create(nodes, pes).map_err(io::Error::other)
}
