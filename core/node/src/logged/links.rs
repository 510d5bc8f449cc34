//! The links of a node that logs, one to every other node for all its PEs. Unlike those of other jobs, one may come in another's
//! place while the PE runs, to another process of the same node.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use talisman_ft::Version;
use talisman_kernel::net::UNSENT_MAX;
use talisman_kernel::pe::input_log::Frame;
use talisman_pup::Segment;
use talisman_transport::link::Link;
use talisman_transport::poller::Poller;
use talisman_transport::reconnect::Reconnect;
use talisman_transport::tcp::Stream;
use talisman_transport::{LinkError, Peer};

/// Frames taken from one link before looking at the next.
const BURST: usize = 256;
/// What stands behind the head of all that goes on a link: the sender's line, little-endian, and of which kind it is.
pub(super) const BEHIND: usize = 9;
/// From so many bytes on, a word goes beside an empty head.
const LONG: usize = 1 << 20;

/// What a node's links are made of, on the thread that has them.
pub(crate) struct Parts {
    /// The PE that they are of.
    pub(crate) pe: u32,
    /// By node.
    pub(crate) links: BTreeMap<u32, Link>,
    pub(crate) poller: Poller,
    pub(crate) reconnect: Reconnect,
}

/// The rank of its lane, a frame's head, and its slices.
type Waiting = (u32, Vec<u8>, Vec<Segment>);

/// A node's links.
pub(super) struct Links {
    /// The PE that they are of.
    pe: u32,
    links: BTreeMap<u32, Link>,
    poller: Poller,
    reconnect: Reconnect,
    /// Links of which a poller may say nothing, though there is something to read.
    half_read: BTreeSet<u32>,
    /// Links with something to write.
    unflushed: BTreeSet<u32>,
    /// What is for processes that are not linked with this one yet.
    early: BTreeMap<u32, Vec<Waiting>>,
    /// The line that this node is in.
    line: Version,
}

/// What has come over a link, by the node that has sent it: as [`Links::send`] was given it.
pub(super) struct Came {
    pub(super) from: u32,
    /// The rank of the lane; of no meaning for a word.
    pub(super) rank: u32,
    /// The line that its sender was in.
    pub(super) line: Version,
    pub(super) kind: u8,
    pub(super) frame: Frame,
}

/// Nothing can be said or heard any more over the link with a node.
pub(super) struct Lost {
    pub(super) node: u32,
    pub(super) error: LinkError,
}

impl Links {
    /// # Errors
    /// What the system says when it is to watch their sockets.
    pub(super) fn new(Parts { pe, links, poller, reconnect }: Parts) -> io::Result<Self> {
        for (node, link) in &links {
            link.with_stream(|socket| poller.watch(socket, *node)).transpose()?;
        }
        // A connection may bring what arrived while it was made.
        let half_read = links.keys().copied().collect();
        let (unflushed, early) = (BTreeSet::new(), BTreeMap::new());
        Ok(Links { pe, links, poller, reconnect, half_read, unflushed, early, line: 0 })
    }

    /// This node is in this line from now on.
    pub(super) fn enter(&mut self, line: Version) {
        self.line = line;
    }

    /// Sends something of this kind to a node, on the lane of this rank; what is for one whose process is not linked yet waits for that.
    pub(super) fn send(
        &mut self,
        (to, rank): (u32, u32),
        kind: u8,
        mut head: Vec<u8>,
        segments: Vec<Segment>,
    ) {
        head.extend(self.line.to_le_bytes());
        head.push(kind);
        match self.links.contains_key(&to) {
            true => self.put((to, rank), &head, segments),
            false => self.early.entry(to).or_default().push((rank, head, segments)),
        }
    }

    /// A word, which may be long.
    pub(super) fn send_word(&mut self, to: u32, kind: u8, bytes: Vec<u8>) {
        match bytes.len() < LONG {
            true => self.send((to, 0), kind, bytes, Vec::new()),
            false => self.send((to, 0), kind, Vec::new(), vec![Segment::of_vec(bytes)]),
        }
    }

    fn put(&mut self, (to, rank): (u32, u32), head: &[u8], segments: Vec<Segment>) {
        let link = self.links.get(&to);
        if link.is_some_and(|link| link.send(rank as u16, head, segments)) {
            self.unflushed.insert(to);
        }
    }

    /// Writes what goes now; whether anything was written.
    pub(super) fn flush(&mut self) -> (bool, Option<Lost>) {
        let (mut wrote, mut lost) = (false, None);
        if self.unflushed.is_empty() {
            return (wrote, lost);
        }
        let links = &self.links;
        self.unflushed.retain(|node| {
            let Some(link) = links.get(node) else { return false };
            wrote |= link.flush();
            lost = lost.take().or(link.error().map(|error| Lost { node: *node, error }));
            link.stays_listed()
        });
        (wrote, lost)
    }

    /// Whether so much waits for a link that no more is to be sent.
    pub(super) fn is_behind(&self) -> bool {
        self.links.values().any(|link| link.unsent() > UNSENT_MAX)
    }

    /// Takes what has come.
    pub(super) fn receive(&mut self, came: &mut Vec<Came>) -> Option<Lost> {
        self.take_connections();
        let may_have_any = |link: &Link| link.is_watched() || link.has_work();
        if self.half_read.is_empty() && !self.links.values().any(may_have_any) {
            return None;
        }
        let mut ready = std::mem::take(&mut self.half_read);
        ready.extend(self.links.iter().filter(|(_, link)| link.has_work()).map(|(node, _)| *node));
        if self.links.values().any(Link::is_watched) {
            self.poller.ready(|node| _ = ready.insert(node));
        }
        ready.into_iter().filter_map(|node| self.receive_from(node, came)).last()
    }

    /// The same of one link.
    fn receive_from(&mut self, node: u32, came: &mut Vec<Came>) -> Option<Lost> {
        let link = self.links.get(&node)?;
        let received = link.receive(BURST, &mut |message| {
            let (head, line, kind) = parts_of(message.head);
            let frame = Frame { head: head.into(), segments: message.segments };
            came.push(Came { from: node, rank: message.rank.into(), line, kind, frame });
        });
        if let Err(error) = received {
            return Some(Lost { node, error });
        }
        if link.is_newly_broken() {
            link.with_stream(|socket| self.poller.forget(socket, node));
            if !link.is_ended() {
                self.reconnect.ask(Peer { node, lane: 0 });
            }
        }
        if link.has_more() {
            self.half_read.insert(node);
        }
        None
    }

    /// All that has come from a node that is lost. Its link is no more.
    pub(super) fn read_out(&mut self, node: u32) -> Vec<Came> {
        let mut came = Vec::new();
        loop {
            let before = came.len();
            let lost = self.receive_from(node, &mut came);
            if lost.is_some() || came.len() == before {
                break;
            }
        }
        if let Some(link) = self.links.remove(&node) {
            link.with_stream(|socket| self.poller.forget(socket, node));
        }
        self.early.remove(&node);
        self.half_read.remove(&node);
        came
    }

    /// A node's new process is linked with this one.
    ///
    /// # Errors
    /// What the system says when it is to watch the connection.
    pub(super) fn join(&mut self, node: u32, stream: Stream) -> io::Result<()> {
        let link = Link::over(stream, Peer { node, lane: 0 });
        link.with_stream(|socket| self.poller.watch(socket, node)).transpose()?;
        self.links.insert(node, link);
        self.half_read.insert(node);
        for (rank, head, segments) in self.early.remove(&node).unwrap_or_default() {
            self.put((node, rank), &head, segments);
        }
        Ok(())
    }

    /// Further connections for links that broke.
    fn take_connections(&mut self) {
        if !self.reconnect.is_notified() {
            return;
        }
        for (node, stream) in self.reconnect.take() {
            let Some(link) = self.links.get(&node) else { continue };
            link.with_stream(|socket| self.poller.forget(socket, node));
            link.replace(stream);
            // What is not watched breaks again, and is asked for anew.
            let _ = link.with_stream(|socket| self.poller.watch(socket, node));
            self.half_read.insert(node);
            self.unflushed.insert(node);
        }
    }

    /// Whether anything may have come, as far as memory shows.
    pub(super) fn has_work(&self) -> bool {
        !self.half_read.is_empty() || self.reconnect.is_notified() || self.links.values().any(Link::has_work)
    }

    /// Whether something is left of a long message, for which there may be room: writing stops now and then, so that others
    /// are heard, and nobody tells when to go on.
    pub(super) fn may_write(&self) -> bool {
        let may_write =
            |node: &u32| self.links.get(node).is_some_and(|link| link.is_watched() && link.may_write());
        self.unflushed.iter().any(may_write)
    }

    /// Whether something waits for room in memory, of which nobody tells.
    pub(super) fn is_behind_in_memory(&self) -> bool {
        let is_memory = |node: &u32| self.links.get(node).is_some_and(|link| !link.is_watched());
        self.unflushed.iter().any(is_memory)
    }

    /// Tells the others how far this node has read, before it sleeps.
    pub(super) fn publish(&self) {
        self.links.values().for_each(Link::publish);
    }

    /// Sleeps until a connection is ready, the bell rings, or the time is over.
    pub(super) fn sleep(&self, timeout: Option<Duration>) {
        self.watch_room(true);
        self.poller.sleep(self.pe, timeout);
        self.watch_room(false);
    }

    fn watch_room(&self, room: bool) {
        for node in &self.unflushed {
            let link = self.links.get(node).filter(|link| link.waits_for_room());
            link.and_then(|link| link.with_stream(|socket| self.poller.watch_room(socket, *node, room)));
        }
    }

    /// Says that nothing follows.
    pub(super) fn goodbye(&self) {
        self.links.values().for_each(Link::goodbye);
    }
}

/// What a link has brought: its head, its sender's line, its kind. What is too short is of no kind that there is.
fn parts_of(bytes: &[u8]) -> (&[u8], Version, u8) {
    let Some((head, behind)) = bytes.split_last_chunk::<BEHIND>() else { return (&[], 0, u8::MAX) };
    let [line @ .., kind] = behind;
    (head, Version::from_le_bytes(*line), *kind)
}

/// The bytes of a word: in the head, or beside it.
pub(super) fn bytes_of(frame: &Frame) -> &[u8] {
    match &frame.segments[..] {
        [long] if frame.head.is_empty() => long.bytes(),
        _ => &frame.head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_has_its_line_and_kind_behind_it() {
        let mut bytes = b"word".to_vec();
        bytes.extend(7_u64.to_le_bytes());
        bytes.push(1);
        assert_eq!(parts_of(&bytes), (&b"word"[..], 7, 1));
        for end in 0..BEHIND {
            assert_eq!(parts_of(&bytes[..end]).2, u8::MAX, "{end} bytes");
        }
    }

    #[test]
    fn a_word_is_in_its_head_or_beside_it() {
        let short = Frame { head: b"short".as_slice().into(), segments: Vec::new() };
        assert_eq!(bytes_of(&short), b"short");
        let long = Frame { head: Box::default(), segments: vec![Segment::of_vec(vec![5_u8; LONG])] };
        assert_eq!(bytes_of(&long).len(), LONG);
    }
}
