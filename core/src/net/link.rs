//! A PE's link to one other node.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex};

use crate::pup::Segment;
use crate::transport::{Incoming, LinkError, Peer};

type Queue = Arc<Mutex<VecDeque<(u16, Vec<u8>, Vec<Segment>)>>>;

/// The two halves of a link, each reached by itself: what is received may be answered at once.
pub(crate) struct Link {
    peer: Peer,
    out: RefCell<Queue>,
    inbound: RefCell<Queue>,
    bell: Arc<dyn Fn() + Send + Sync>,
    unflushed: Cell<bool>,
}

impl Link {
    pub(crate) fn memory(peer: Peer, out: Queue, inbound: Queue, bell: Arc<dyn Fn() + Send + Sync>) -> Link {
        Link { peer, out: out.into(), inbound: inbound.into(), bell, unflushed: Cell::new(false) }
    }
    pub(crate) fn is_socket(&self) -> bool {
        false
    }
    pub(crate) fn socket(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    pub(crate) fn send(&self, rank: u16, head: &[u8], segments: Vec<Segment>) {
        self.out.borrow().lock().unwrap().push_back((rank, head.to_vec(), segments));
    }
    pub(crate) fn flush(&self) -> bool {
        self.unflushed.set(false);
        (self.bell)();
        true
    }
    pub(crate) fn is_unflushed(&self) -> bool {
        false
    }
    pub(crate) fn note_unflushed(&self) -> bool {
        !self.unflushed.replace(true)
    }
    pub(crate) fn has_answers(&self) -> bool {
        false
    }
    pub(crate) fn unsent(&self) -> usize {
        0
    }
    pub(crate) fn has_work(&self) -> bool {
        !self.inbound.borrow().lock().unwrap().is_empty()
    }
    pub(crate) fn receive(&self, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> Result<usize, LinkError> {
        let inbound = self.inbound.borrow_mut();
        for i in 0..budget {
            let Some((rank, head, segments)) = inbound.lock().unwrap().pop_front() else { return Ok(i) };
            f(Incoming { rank, head: &head, segments });
        }
        Ok(budget)
    }
}
