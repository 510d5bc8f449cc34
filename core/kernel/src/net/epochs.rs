//! Links that outlive their PEs, and what is obsolete in them.
//!
//! When a node is lost, the PEs of all others are dropped and made anew, in the next *epoch*; their links stay. Each link is first in
//! first out, so one *marker* in it, the first thing that a PE sends in its epoch, tells what was sent before from what is sent now:
//!
//! | what comes behind a marker of | is |
//! |---|---|
//! | an earlier epoch than one's own | dropped unread |
//! | one's own | delivered |
//! | a later one | kept: the link is not read any further before one is there too |
//!
//! So of what comes too early no more is kept than one look at the link brings, and the peer waits for room like any sender.
//! Where all links are in the PE's own epoch, a message costs one test of a flag.

use std::io;

use super::{Aside, Net};
use talisman_ft::Epoch;
use talisman_ft::view::View;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_transport::link::Link;
use talisman_transport::tcp::Stream;
use talisman_transport::{Incoming, Peer, TO_LINK};

impl Net {
    /// For the PE's next life: links with nodes that are gone are dropped, all others begin with a marker, and nothing of what was
    /// sent in an earlier epoch is delivered any more.
    pub fn next_epoch(&mut self, view: &View) {
        self.epoch = view.epoch;
        self.drop_links(|node| !view.is_there(node));
        self.forget_what_came();
        for node in 0..self.links.len() as u32 {
            if let Some(link) = &self.links[node as usize] {
                self.mark(link, node);
                self.read_again(link, node);
            }
        }
        self.see_epochs();
        self.sort_kept();
    }

    /// Another process is a node now: this connection with it takes the place of the link with the former one. To be called before
    /// [`Net::next_epoch`].
    ///
    /// # Errors
    /// The system watches no further connection.
    pub fn join(&mut self, peer: Peer, stream: Stream) -> io::Result<()> {
        let node = peer.node;
        self.drop_links(|one| one == node);
        let link = Link::over(stream, peer);
        link.with_stream(|socket| self.poller.watch(socket, node)).transpose()?;
        self.sockets.push(node);
        self.links[node as usize] = Some(link);
        Ok(())
    }

    fn drop_links(&mut self, is_gone: impl Fn(u32) -> bool) {
        for (node, link) in (0..).zip(&mut self.links).filter(|(node, _)| is_gone(*node)) {
            let socket = link.as_ref().filter(|link| !link.is_missed());
            socket.and_then(|link| link.with_stream(|socket| self.poller.forget(socket, node)));
            *link = None;
        }
        self.through_memory.retain(|node| !is_gone(*node));
        self.sockets.retain(|node| !is_gone(*node));
        self.unflushed.get_mut().retain(|node| !is_gone(*node));
        self.kept.get_mut().retain(|message| !is_gone(message.node));
    }

    /// What the former life was about to do.
    fn forget_what_came(&mut self) {
        if !self.aside.get_mut().is_empty() {
            sometimes("what had been put aside was dropped with its epoch");
        }
        self.aside.get_mut().clear();
        *self.half_read.get_mut() = self.sockets.clone();
        self.hot.set(None);
        self.staged.set(0);
        self.waiting.set(None);
        self.waited.set(false);
        self.taking_in.set(false);
        self.taken.set(0);
    }

    fn mark(&self, link: &Link, node: u32) {
        if mutated("epoch-not-marked") {
            return;
        }
        link.send(TO_LINK, &self.epoch.to_le_bytes(), Vec::new());
        link.flush();
        if link.list() {
            self.unflushed.borrow_mut().push(node);
        }
    }

    /// A link that was ahead is read on, if this PE is as far now.
    fn read_again(&self, link: &Link, node: u32) {
        if !link.is_left_alone() || link.epoch() > self.epoch {
            return;
        }
        link.leave_alone(false);
        if !link.is_missed() {
            // One that cannot be watched is read whenever all are, which is often enough to notice that it is broken.
            let _ = link.with_stream(|socket| self.poller.watch(socket, node));
        }
    }

    /// What was kept is looked at again: it came before anything that is read from now on.
    fn sort_kept(&self) {
        for Aside { node, rank, head, segments } in self.kept.take() {
            let message = Incoming { rank, head: &head, segments };
            if let Some(message) = self.of_this_epoch(node, message) {
                sometimes("a message of a later epoch waited until its receiver was there");
                self.aside.borrow_mut().push_back(Aside::of(node, message));
            }
        }
    }

    /// Gives the message back if it is to be delivered now. Markers are taken note of, what is obsolete is dropped, and
    /// what is too early is kept.
    #[cold]
    pub(super) fn of_this_epoch<'a>(&self, node: u32, message: Incoming<'a>) -> Option<Incoming<'a>> {
        let link = self.links[node as usize].as_ref()?;
        if link.epoch() > self.epoch && !mutated("later-epoch-delivered") {
            self.kept.borrow_mut().push(Aside::of(node, message));
            return None;
        }
        if message.rank == TO_LINK {
            self.on_marker(node, message.head);
            return None;
        }
        let is_obsolete = link.epoch() < self.epoch && !mutated("obsolete-delivered");
        if is_obsolete {
            sometimes("an obsolete message was dropped");
        }
        (!is_obsolete).then_some(message)
    }

    /// The peer is in this epoch from here on. One that cannot be read is an epoch in which nobody will ever be: nothing more
    /// of this peer is let in.
    #[cold]
    pub(super) fn on_marker(&self, node: u32, head: &[u8]) {
        let Some(link) = &self.links[node as usize] else { return };
        let epoch = head.try_into().map_or(Epoch::MAX, u32::from_le_bytes);
        link.enter(epoch);
        if epoch > self.epoch {
            sometimes("a node was in the next epoch before this one");
            link.leave_alone(!mutated("later-epoch-delivered"));
        }
        self.see_epochs();
    }

    /// After a look at a link: if that is not read any more, what is in its socket is no reason to look again.
    #[cold]
    pub(super) fn see_left_alone(&self, node: u32, link: &Link) {
        if link.is_left_alone() {
            link.with_stream(|socket| self.poller.forget(socket, node));
            self.hot.set(None);
        }
    }

    fn see_epochs(&self) {
        self.sorts.set(self.links.iter().flatten().any(|link| link.epoch() != self.epoch));
    }
}
