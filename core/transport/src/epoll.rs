//! An `epoll` that a PE sleeps in, and the bell by which the other PEs wake it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};

/// Events taken from the kernel at once; more stay for the next look.
const EVENTS: usize = 64;
/// The bell's token; those of sockets are the numbers of nodes, which are below.
const BELL: u64 = u64::MAX;

/// An `epoll` with a bell in it.
pub struct Epoll {
    epoll: OwnedFd,
    bell: Arc<Bell>,
}

/// An eventfd that ends a sleep, or the next one if it has not begun yet.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// # Errors
    /// What the system says: too many descriptors.
    pub fn new() -> io::Result<Bell> {
        Ok(Bell(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    /// One that was made elsewhere.
    pub fn of(eventfd: OwnedFd) -> Bell {
        Bell(eventfd)
    }

    pub fn ring(&self) {
        // A full counter rings as well; nothing else can go wrong with an eventfd of one's own.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    fn silence(&self) {
        let _ = rustix::io::read(&self.0, &mut [0u8; 8]);
    }
}

impl Epoll {
    pub(super) fn new(bell: Arc<Bell>) -> io::Result<Epoll> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &bell.0, EventData::new_u64(BELL), EventFlags::IN)?;
        Ok(Epoll { epoll, bell })
    }

    pub(super) fn watch(&self, socket: BorrowedFd<'_>, node: u32) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(node.into()), EventFlags::IN)?)
    }

    pub(super) fn forget(&self, socket: BorrowedFd<'_>) {
        // One that is not watched is forgotten already.
        let _ = epoll::delete(&self.epoll, socket);
    }

    pub(super) fn watch_room(&self, socket: BorrowedFd<'_>, node: u32, room: bool) {
        let flags = if room { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        // A socket that broke meanwhile is no longer watched; its PE finds that out when it reads.
        let _ = epoll::modify(&self.epoll, socket, EventData::new_u64(node.into()), flags);
    }

    pub(super) fn ready(&self, f: impl FnMut(u32)) {
        let mut events = [const { MaybeUninit::uninit() }; EVENTS];
        nodes(self.wait(&mut events, Some(Duration::ZERO))).for_each(f);
    }

    pub(super) fn sleep(&self, timeout: Option<Duration>) {
        let mut events = [const { MaybeUninit::uninit() }; EVENTS];
        if self.wait(&mut events, timeout).iter().any(|event| event.data.u64() == BELL) {
            self.bell.silence();
        }
    }

    fn wait<'a>(&self, events: &'a mut Events, timeout: Option<Duration>) -> &'a [Event] {
        let timeout = timeout.map(|timeout| {
            let secs = timeout.as_secs().min(1 << 30) as i64;
            Timespec { tv_sec: secs, tv_nsec: timeout.subsec_nanos().into() }
        });
        // An interrupted wait is one that found nothing.
        epoll::wait(self.epoll.as_fd(), events.as_mut_slice(), timeout.as_ref())
            .map_or(&[], |(events, _)| events)
    }
}

type Events = [MaybeUninit<Event>; EVENTS];

fn nodes(events: &[Event]) -> impl Iterator<Item = u32> + '_ {
    events.iter().map(|event| event.data.u64()).filter(|token| *token != BELL).map(|node| node as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_ends_this_sleep_or_the_next() {
        let bell = Arc::new(Bell::new().unwrap());
        let poller = Epoll::new(bell.clone()).unwrap();
        bell.ring();
        poller.sleep(None);
        poller.sleep(Some(Duration::from_millis(1)));
        let mut events = [const { MaybeUninit::uninit() }; EVENTS];
        assert!(poller.wait(&mut events, Some(Duration::ZERO)).is_empty(), "the bell is silent again");
        let ringer = std::thread::spawn(move || bell.ring());
        poller.sleep(None);
        ringer.join().unwrap();
    }

    #[test]
    fn a_socket_with_something_to_read_is_ready() {
        let (a, b) = std::os::unix::net::UnixStream::pair().unwrap();
        let poller = Epoll::new(Arc::new(Bell::new().unwrap())).unwrap();
        poller.watch(a.as_fd(), 7).unwrap();
        poller.ready(|node| panic!("node {node} has sent nothing"));
        std::io::Write::write_all(&mut &b, b"x").unwrap();
        let mut ready = Vec::new();
        poller.ready(|node| ready.push(node));
        assert_eq!(ready, [7]);
        poller.watch_room(a.as_fd(), 7, true);
        poller.sleep(None);
    }
}
