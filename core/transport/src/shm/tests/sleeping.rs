//! A PE that sleeps in `epoll_wait` while another process sends to it.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};

use super::super::{Mapping, Receiver, Sender, Shape, create};
use super::process;
use crate::Peer;
use talisman_sched::bell::Bell;
use talisman_sched::park::Parker;

const TWO: Shape = Shape { nodes: 2, pes: 1 };
const TRIPS: u64 = 2000;

/// A PE with one link, which sleeps as soon as there is nothing.
struct Pe {
    sender: Sender,
    receiver: Receiver,
    bell: Arc<Bell>,
    parker: Parker,
}

impl Pe {
    /// On node `me`; the descriptors are the segment's and the bells' of both nodes.
    fn new(me: u32, [segment, first, second]: &[OwnedFd; 3]) -> Pe {
        let mapping = Mapping::open(segment, TWO).unwrap();
        let parker = |node: u32| {
            let descriptor = if node == 0 { first } else { second };
            let bell = Arc::new(Bell::of(descriptor.try_clone().unwrap()));
            let rung = bell.clone();
            (mapping.parker(node, 0, move || rung.ring()), bell)
        };
        let ((parker, bell), (theirs, _)) = (parker(me), parker(1 - me));
        let (sender, receiver) = mapping.link(me, 1 - me, Peer { node: 1 - me, lane: 0 }, Arc::new(theirs));
        Pe { sender, receiver, bell, parker }
    }

    fn send(&mut self, number: u64) {
        self.sender.send(0, &number.to_ne_bytes(), Vec::new());
    }

    fn receive(&mut self) -> u64 {
        let mut got = None;
        loop {
            let mut keep = |incoming: crate::Incoming<'_>| got = incoming.head.try_into().ok();
            self.receiver.receive(1, &mut keep).unwrap();
            if let Some(bytes) = got {
                return u64::from_ne_bytes(bytes);
            }
            let Pe { receiver, bell, parker, .. } = self;
            let sleep = || {
                poll(&mut [PollFd::new(&**bell, PollFlags::IN)], None).unwrap();
                bell.silence();
            };
            let _ = parker.park_in(|| receiver.has_work(), sleep);
        }
    }
}

/// Not a test by itself: the other process, which answers.
#[test]
fn child() {
    let Some(descriptors) = process::handed_over() else { return };
    let mut pe = Pe::new(1, &descriptors.try_into().unwrap());
    for _ in 0..TRIPS {
        let number = pe.receive();
        pe.send(number + 1);
    }
}

#[test]
#[cfg_attr(miri, ignore = "processes")]
fn no_wake_up_is_lost_between_two_processes() {
    let [first, second] = [(); 2].map(|()| Bell::new().unwrap());
    let own = |bell: &Bell| bell.as_fd().try_clone_to_owned().unwrap();
    let descriptors = [create(TWO).unwrap(), own(&first), own(&second)];
    let mut pe = Pe::new(0, &descriptors);
    let mut child = process::start("sleeping::child", &descriptors.each_ref().map(OwnedFd::as_fd));
    let mut number = 0;
    for trip in 0..TRIPS {
        pe.send(number);
        number = pe.receive();
        assert_eq!(number, trip + 1);
    }
    assert!(child.0.wait().unwrap().success());
}
