//! What a PE with links to other nodes sleeps on: its connections, and a bell that the other PEs ring.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::epoll::Epoll;
use crate::sim::SimPoller;
use crate::tcp::Stream;
use talisman_base::ids::PeId;

pub use crate::epoll::Bell;

/// What tells which connections are ready.
pub enum Poller {
    /// The system, of its descriptors.
    System(Epoll),
    /// Simulated connections themselves.
    Simulated(SimPoller),
}

impl Poller {
    /// # Errors
    /// What the system says: too many descriptors.
    pub fn new(bell: Arc<Bell>) -> io::Result<Poller> {
        Ok(Poller::System(Epoll::new(bell)?))
    }

    /// One for simulated connections.
    pub fn simulated() -> Poller {
        Poller::Simulated(SimPoller::default())
    }

    /// Watches a node's connection.
    ///
    /// # Errors
    /// What the system says.
    pub fn watch(&self, stream: &Stream, node: u32) -> io::Result<()> {
        match self {
            Poller::System(epoll) => epoll.watch(stream.descriptor(), node),
            Poller::Simulated(watched) => {
                watched.watch(stream.simulated(), node);
                Ok(())
            }
        }
    }

    /// Watches a node's connection no longer.
    pub fn forget(&self, stream: &Stream, node: u32) {
        match self {
            Poller::System(epoll) => epoll.forget(stream.descriptor()),
            Poller::Simulated(watched) => watched.forget(node),
        }
    }

    /// Whether room for sending is waited for too. In a simulation it always is.
    pub fn watch_room(&self, stream: &Stream, node: u32, room: bool) {
        if let Poller::System(epoll) = self {
            epoll.watch_room(stream.descriptor(), node, room);
        }
    }

    /// Calls `f` with each node whose connection is ready, without waiting.
    #[inline]
    pub fn ready(&self, f: impl FnMut(u32)) {
        match self {
            Poller::System(epoll) => epoll.ready(f),
            Poller::Simulated(watched) => watched.ready(f),
        }
    }

    /// Whether a simulated connection is ready. What the system has to be asked for counts as not ready.
    pub fn shows_ready(&self) -> bool {
        matches!(self, Poller::Simulated(watched) if watched.any_is_ready())
    }

    /// The same of a node's.
    pub fn shows_ready_of(&self, node: u32) -> bool {
        matches!(self, Poller::Simulated(watched) if watched.is_ready(node))
    }

    /// Sleeps until a connection is ready, the bell rings, or the time is over. In a simulation the rest of the world goes
    /// on meanwhile, and says when that is.
    pub fn sleep(&self, pe: PeId, timeout: Option<Duration>) {
        match self {
            Poller::System(epoll) => epoll.sleep(timeout),
            Poller::Simulated(watched) => watched.sleep(pe),
        }
    }

    /// Whether there may be other threads that bring something if this one but waits.
    pub fn is_of_system(&self) -> bool {
        matches!(self, Poller::System(_))
    }
}
