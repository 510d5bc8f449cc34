//! Where new connections come in, for links whose former one broke.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Peer, tcp};

/// A PE's side: what it asks for, and where it finds it.
pub struct Door {
    inbox: Arc<Inbox>,
    ask: Box<dyn Fn(Peer) + Send>,
}

/// Connections for a PE, put there by the thread that makes them.
#[derive(Default)]
pub struct Inbox {
    knock: AtomicBool,
    new: Mutex<Vec<(u32, tcp::Stream)>>,
}

impl Inbox {
    /// A connection with this node. The PE is to be woken then.
    pub fn put(&self, node: u32, stream: tcp::Stream) {
        self.new.lock().unwrap_or_else(PoisonError::into_inner).push((node, stream));
        self.knock.store(true, Ordering::Release);
    }

    /// Has the PE look in, though there is no connection.
    pub fn knock(&self) {
        self.knock.store(true, Ordering::Release);
    }

    /// Connections with this node are with a process that is no more.
    pub fn forget(&self, node: u32) {
        self.new.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| *of != node);
    }

    /// The new connections, each with its node.
    pub fn empty(&self) -> Vec<(u32, tcp::Stream)> {
        self.knock.store(false, Ordering::Relaxed);
        std::mem::take(&mut *self.new.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Door {
    /// `ask` hears of each connection that broke.
    pub fn new(inbox: Arc<Inbox>, ask: impl Fn(Peer) + Send + 'static) -> Self {
        Door { inbox, ask: Box::new(ask) }
    }

    /// One at which nobody ever comes in.
    pub fn closed() -> Self {
        Door::new(Arc::default(), |_| ())
    }

    /// The connection with this PE broke.
    pub fn ask(&self, peer: Peer) {
        (self.ask)(peer);
    }

    #[inline]
    pub fn has_knock(&self) -> bool {
        self.inbox.knock.load(Ordering::Relaxed)
    }

    /// The new connections, each with its node.
    pub fn let_in(&self) -> Vec<(u32, tcp::Stream)> {
        self.inbox.empty()
    }
}
