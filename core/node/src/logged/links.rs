//! The links of a node that logs, one to every other node for all its PEs. Unlike those of other jobs, one may come in another's
//! place while the PE runs, to another process of the same node.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use super::part_lending::Written;
use talisman_core::logging::letter::Letter;
use talisman_ft::Version;
use talisman_kernel::net::UNSENT_MAX;
use talisman_pup::Segment;
use talisman_transport::link::Link;
use talisman_transport::poller::Poller;
use talisman_transport::reconnect::Reconnect;
use talisman_transport::tcp::Stream;
use talisman_transport::{Arrived, Incoming, LinkError, Peer};

/// Frames taken from one link before looking at the next.
const BURST: usize = 256;
/// The other connections are looked at once in so many looks at the one that was last busy: `recv` on one costs 200 ns, asking for all of
/// them 145, and what has come is to be received after that.
const HOT_LOOKS: u32 = 8;
/// With more connections than these all are looked at each time.
const FEW: u32 = 16;
/// What stands in front of all that goes on a link: the sender's line, little-endian, and of which kind it is.
const FRONT: usize = 9;
/// What is on a link: a letter; a word beside it; one of which slices are in the sender's memory; that such a one cannot be read.
const LETTER: u8 = 0;
const WORD: u8 = 1;
const LENT: u8 = 2;
const UNREAD: u8 = 3;
/// What is longer is not kept for the next head.
const SCRATCH_MAX: usize = 64 << 10;
/// From so many bytes on, the head of a frame is not copied to what stands before it.
const APART: usize = 256;
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

/// The rank of its lane, its head, and its slices.
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
    /// Where heads are written.
    scratch: Vec<u8>,
    /// Which links may have something, while these are read.
    ready: Vec<u32>,
    /// The one with a connection that has brought something last, and how often it was looked.
    hot: Option<u32>,
    looks: u32,
}

/// What has come over a link, by the node that has sent it.
pub(super) struct Came {
    pub(super) from: u32,
    /// The line that its sender was in.
    pub(super) line: Version,
    pub(super) what: What,
}

pub(super) enum What {
    /// On the lane of this rank. None if it is shorter than it says.
    Letter(u32, Option<Letter>),
    /// The bytes of a word, and what is beside them.
    Word(Segment, Vec<Segment>),
    /// The same of one that is lent in part.
    Lent(Segment, Vec<Segment>),
    /// Such a one that was sent to that node could not be read there.
    Unread,
    /// Something that no node sends.
    Unknown,
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
        Ok(Links {
            pe,
            links,
            poller,
            reconnect,
            half_read,
            unflushed: BTreeSet::new(),
            early: BTreeMap::new(),
            line: 0,
            scratch: Vec::new(),
            ready: Vec::new(),
            hot: None,
            looks: 0,
        })
    }

    /// This node is in this line from now on.
    pub(super) fn enter(&mut self, line: Version) {
        self.line = line;
    }

    /// Sends a letter to a node, on the lane of this rank; what is for one whose process is not linked yet waits for that.
    pub(super) fn send_letter(&mut self, (to, rank): (u32, u32), letter: &Letter) {
        let is_memory = self.links.get(&to).is_some_and(|link| !link.is_watched());
        if is_memory && letter.frame.segments.is_empty() && letter.frame.head.len() >= APART {
            return self.send_apart((to, rank), letter);
        }
        let segments = letter.frame.segments.clone();
        self.send((to, rank), LETTER, |head| letter.write(head), segments);
    }

    /// The same of one whose head goes into memory from where it is kept.
    fn send_apart(&mut self, (to, rank): (u32, u32), letter: &Letter) {
        let mut front = self.begin_head(LETTER);
        letter.write_front(&mut front);
        let link = self.links.get(&to);
        if link.is_some_and(|link| link.send_parts(rank as u16, [&front, &letter.frame.head])) {
            self.unflushed.insert(to);
        }
        self.scratch = front;
    }

    fn begin_head(&mut self, kind: u8) -> Vec<u8> {
        let mut head = std::mem::take(&mut self.scratch);
        head.clear();
        head.extend(self.line.to_le_bytes());
        head.push(kind);
        head
    }

    /// The same of a word, which may be long, and what goes beside.
    pub(super) fn send_word(&mut self, to: u32, word: Written) {
        self.send_long(to, WORD, word);
    }

    /// The same of one that is lent in part.
    pub(super) fn send_lent(&mut self, to: u32, word: Written) {
        self.send_long(to, LENT, word);
    }

    /// Tells a node that what it has lent cannot be read here.
    pub(super) fn send_unread(&mut self, to: u32) {
        self.send((to, 0), UNREAD, |_| {}, Vec::new());
    }

    fn send_long(&mut self, to: u32, kind: u8, (bytes, mut beside): Written) {
        match bytes.len() < LONG {
            true => self.send((to, 0), kind, |head| head.extend_from_slice(&bytes), beside),
            false => {
                beside.insert(0, Segment::of_vec(bytes));
                self.send((to, 0), kind, |_| {}, beside);
            }
        }
    }

    fn send(
        &mut self,
        (to, rank): (u32, u32),
        kind: u8,
        write: impl FnOnce(&mut Vec<u8>),
        beside: Vec<Segment>,
    ) {
        let mut head = self.begin_head(kind);
        write(&mut head);
        if !self.links.contains_key(&to) {
            return self.early.entry(to).or_default().push((rank, head, beside));
        }
        self.put((to, rank), &head, beside);
        if head.capacity() <= SCRATCH_MAX {
            self.scratch = head;
        }
    }

    fn put(&mut self, (to, rank): (u32, u32), head: &[u8], segments: Vec<Segment>) {
        let link = self.links.get(&to);
        if link.is_some_and(|link| link.send(rank as u16, head, segments)) {
            self.unflushed.insert(to);
        }
    }

    /// Writes what goes now; whether anything was written.
    #[inline]
    pub(super) fn flush(&mut self) -> (bool, Option<Lost>) {
        // While a node rests, it is asked again and again.
        if self.unflushed.is_empty() { (false, None) } else { self.flush_some() }
    }

    fn flush_some(&mut self) -> (bool, Option<Lost>) {
        let (mut wrote, mut lost) = (false, None);
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
        let mut ready = std::mem::take(&mut self.ready);
        let mut watched = 0;
        for (node, link) in &self.links {
            watched += u32::from(link.is_watched());
            if link.has_work() {
                ready.push(*node);
            }
        }
        if watched > 0 {
            self.looks = self.looks.wrapping_add(1);
            match self.hot.filter(|_| watched <= FEW && !self.looks.is_multiple_of(HOT_LOOKS)) {
                Some(hot) => ready.push(hot),
                None => self.poller.ready(|node| ready.push(node)),
            }
        }
        if !self.half_read.is_empty() {
            ready.extend(std::mem::take(&mut self.half_read));
        }
        if ready.len() > 1 {
            ready.sort_unstable();
            ready.dedup();
        }
        let lost = ready.drain(..).filter_map(|node| self.receive_from(node, came)).last();
        self.ready = ready;
        lost
    }

    /// The same of one link.
    fn receive_from(&mut self, node: u32, came: &mut Vec<Came>) -> Option<Lost> {
        let link = self.links.get(&node)?;
        let came = RefCell::new(came);
        let put = |line, what| came.borrow_mut().push(Came { from: node, line, what });
        // A letter without slices that comes through memory is copied from there to where it stays.
        let mut take = |arrived: &Arrived<'_>| {
            let (line, kind, start) = parts_of(arrived.start);
            let is_taken = kind == LETTER && !arrived.rest.is_empty();
            if is_taken {
                put(line, What::Letter(arrived.rank.into(), Letter::open_with(start, &arrived.rest)));
            }
            is_taken
        };
        let mut take_whole = |message: Incoming<'_>| {
            let (line, kind, head) = parts_of(message.head);
            let what = match kind {
                LETTER => What::Letter(message.rank.into(), Letter::open(head, message.segments)),
                WORD => in_two(head, message.segments, What::Word),
                LENT => in_two(head, message.segments, What::Lent),
                UNREAD => What::Unread,
                _ => What::Unknown,
            };
            put(line, what);
        };
        let received = match link.is_watched() {
            true => link.receive(BURST, &mut take_whole),
            false => hear(link, &mut take, &mut take_whole),
        };
        match received {
            Err(error) => return Some(Lost { node, error }),
            Ok(0) => {}
            Ok(_) if link.is_watched() => self.hot = Some(node),
            Ok(_) => {}
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

/// Takes what has come through memory, one after the other, but no more than of a connection; how many of its pieces.
fn hear(
    link: &Link,
    take: &mut dyn FnMut(&Arrived<'_>) -> bool,
    take_whole: &mut dyn FnMut(Incoming<'_>),
) -> Result<usize, LinkError> {
    let mut heard = 0;
    while heard < BURST && link.hear(take, take_whole)? > 0 {
        heard += 1;
    }
    Ok(heard)
}

/// What a link has brought: its sender's line, its kind, its head. What is too short is of no kind that there is.
fn parts_of(bytes: &[u8]) -> (Version, u8, &[u8]) {
    let Some((front, head)) = bytes.split_first_chunk::<FRONT>() else { return (0, u8::MAX, &[]) };
    let [line @ .., kind] = front;
    (Version::from_le_bytes(*line), *kind, head)
}

/// A word, whose bytes are in the head, or first beside it.
fn in_two(head: &[u8], mut segments: Vec<Segment>, word: impl Fn(Segment, Vec<Segment>) -> What) -> What {
    match head.is_empty() && !segments.is_empty() {
        true => word(segments.remove(0), segments),
        false => word(Segment::of_vec(head.to_vec()), segments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_has_its_line_and_kind_in_front_of_it() {
        let mut bytes = 7_u64.to_le_bytes().to_vec();
        bytes.push(1);
        bytes.extend(b"word");
        assert_eq!(parts_of(&bytes), (7, 1, &b"word"[..]));
        for end in 0..FRONT {
            assert_eq!(parts_of(&bytes[..end]).1, u8::MAX, "{end} bytes");
        }
    }

    #[test]
    fn a_word_is_in_its_head_or_first_beside_it() {
        let (long, slice) = (Segment::of_vec(vec![5_u8; LONG]), Segment::of_vec(vec![1.0_f64; 8]));
        for (head, beside) in [(&b"word"[..], vec![slice.clone()]), (&[], vec![long.clone(), slice.clone()])]
        {
            let What::Word(bytes, rest) = in_two(head, beside, What::Word) else { panic!("it is one") };
            assert_eq!(rest, std::slice::from_ref(&slice));
            assert_eq!(bytes.bytes(), if head.is_empty() { long.bytes() } else { head });
        }
    }
}
