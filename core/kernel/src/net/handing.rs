//! Parts of checkpoints that go to a process which has none of its own: what a PE sends behind its marker, before it sends anything else.
//!
//! Who is to have a part reads the link with whoever sends it, and no other, until it is there: what comes meanwhile waits, most of it
//! unread. So the part is there before the PE does anything else, and nothing overtakes anything.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Aside, BURST, Net, Wait};
use crate::pe::Pe;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Segment;
use talisman_transport::TO_STORE;
use talisman_transport::link::Link;

/// Between two looks at what has come, if nothing says that something has.
const LOOK: Duration = Duration::from_millis(1);

impl Net {
    /// Sends something for what holds parts at the other end; it is not waited for.
    pub fn hand(&self, node: u32, head: &[u8], segments: Vec<Segment>) {
        let Some(link) = &self.links[node as usize] else { return };
        link.send(TO_STORE, head, segments);
        link.flush();
        if link.list() {
            self.unflushed.borrow_mut().push(node);
        }
    }

    /// Takes what a node sends for what holds parts here, until `take` says that this was all; whether that came before the job
    /// halted or ended.
    pub fn fetch(&self, pe: &Pe, node: u32, take: impl FnMut(&[u8], Vec<Segment>) -> bool) -> bool {
        self.waiting.set(Some(Wait::Part(node)));
        let is_all = mutated("newcomer-without-its-part") || self.fetch_all(pe, node, take);
        if !is_all {
            sometimes("a job halted again before a newcomer had its part");
        }
        self.waiting.set(None);
        is_all
    }

    fn fetch_all(&self, pe: &Pe, node: u32, mut take: impl FnMut(&[u8], Vec<Segment>) -> bool) -> bool {
        let mut is_all = self.take_kept(node, &mut take);
        while !is_all && !pe.node.job.is_over() {
            let Some(link) = &self.links[node as usize] else { return false };
            if self.reconnect.is_notified() {
                self.take_connections(pe);
            }
            let received = link.receive(BURST, &mut |message| match self.of_this_epoch(node, message) {
                // One of an earlier epoch may have been cut short.
                Some(message) if message.rank == TO_STORE => is_all |= take(message.head, message.segments),
                Some(message) => self.aside.borrow_mut().push_back(Aside::of(node, message)),
                None => {}
            });
            match received {
                Ok(0) if link.is_newly_broken() => self.miss(pe, node, link),
                Ok(0) => {
                    self.poller.sleep(pe.id, Some(LOOK));
                    // In a simulation, rounds of waiting have put aside what came meanwhile.
                    is_all |= self.take_kept(node, &mut take);
                }
                Ok(_) => {}
                Err(error) => self.give_up(pe, node, &error),
            }
            self.flush(pe);
        }
        is_all
    }

    /// Whether anything may have come of what a node sends for what holds parts here.
    pub(super) fn may_have_come(&self, node: u32) -> bool {
        let is_kept = || self.aside.borrow().iter().any(|aside| aside.is_handed_by(node));
        self.reconnect.is_notified()
            || self.poller.shows_ready_of(node)
            || self.link(node).is_none_or(Link::has_more)
            || is_kept()
    }

    /// What has been put aside of it, or had come before this PE was in its epoch.
    fn take_kept(&self, node: u32, mut take: impl FnMut(&[u8], Vec<Segment>) -> bool) -> bool {
        if !self.aside.borrow().iter().any(|aside| aside.is_handed_by(node)) {
            return false;
        }
        sometimes("what is for a newcomer's store came before that looked for it");
        let (handed, others): (VecDeque<_>, _) =
            self.aside.take().into_iter().partition(|aside| aside.is_handed_by(node));
        self.aside.replace(others);
        handed.into_iter().fold(false, |is_all, Aside { head, segments, .. }| is_all | take(&head, segments))
    }
}

impl Aside {
    fn is_handed_by(&self, node: u32) -> bool {
        self.node == node && self.rank == TO_STORE
    }
}
