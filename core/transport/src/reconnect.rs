//! Reconnecting: how a PE asks for a new connection for a link whose former one broke, and where it finds it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Peer, tcp};

/// A PE's side: what it asks for, and where it finds it.
pub struct Reconnect {
    inbox: Arc<Inbox>,
    ask: Box<dyn Fn(Peer) + Send>,
}

/// Connections for a PE, put there by the thread that makes them.
#[derive(Default)]
pub struct Inbox {
    notified: AtomicBool,
    new: Mutex<Vec<(u32, tcp::Stream)>>,
}

impl Inbox {
    /// A connection with this node. The PE is to be woken then.
    pub fn put(&self, node: u32, stream: tcp::Stream) {
        self.new.lock().unwrap_or_else(PoisonError::into_inner).push((node, stream));
        self.notified.store(true, Ordering::Release);
    }

    /// Has the PE look in, though there is no connection.
    pub fn notify(&self) {
        self.notified.store(true, Ordering::Release);
    }

    /// Connections with this node are with a process that is no more.
    pub fn forget(&self, node: u32) {
        self.new.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| *of != node);
    }

    /// The new connections, each with its node.
    pub fn take(&self) -> Vec<(u32, tcp::Stream)> {
        self.notified.store(false, Ordering::Relaxed);
        std::mem::take(&mut *self.new.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Reconnect {
    /// `ask` hears of each connection that broke.
    pub fn new(inbox: Arc<Inbox>, ask: impl Fn(Peer) + Send + 'static) -> Self {
        Reconnect { inbox, ask: Box::new(ask) }
    }

    /// One that no connection ever comes by.
    pub fn never() -> Self {
        Reconnect::new(Arc::default(), |_| ())
    }

    /// The connection with this PE broke.
    pub fn ask(&self, peer: Peer) {
        (self.ask)(peer);
    }

    #[inline]
    pub fn is_notified(&self) -> bool {
        self.inbox.notified.load(Ordering::Relaxed)
    }

    /// The new connections, each with its node.
    pub fn take(&self) -> Vec<(u32, tcp::Stream)> {
        self.inbox.take()
    }
}
