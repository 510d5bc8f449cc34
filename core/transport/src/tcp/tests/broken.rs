//! Connections that break anywhere, and bytes that are altered on the way: nothing is lost, doubled, reordered or altered.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;

use super::*;
use crate::tcp::replace;

over_both! {
    nothing_is_lost_doubled_or_altered_however_connections_break
    a_reset_is_noticed_by_both_halves
}

/// A sequence of numbers that a seed decides.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 29)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A message, most often a small one.
    fn message(&mut self) -> (u16, Vec<u8>, Vec<Segment>) {
        let seed = self.next();
        let len = |random: &mut Random, most| random.below(most) as usize;
        match self.below(80) {
            0 => (3, bytes(20, seed), vec![segment(1 << 20, seed)]),
            1..4 => {
                (2, bytes(len(self, 40_000), seed), vec![segment(len(self, 90_000), seed), segment(9, seed)])
            }
            4..10 => (1, bytes(len(self, 60_000), seed), Vec::new()),
            _ => (0, bytes(len(self, 200), seed), Vec::new()),
        }
    }
}

/// Passes on what comes from either of two sockets, until so many bytes went through.
struct Relay {
    sockets: [TcpStream; 2],
    left: u64,
    /// In which byte from now a bit is flipped.
    flip: Option<u64>,
}

impl Relay {
    /// A relay, and the two sockets that are connected by it.
    fn new(left: u64, flip: Option<u64>) -> (Relay, [TcpStream; 2]) {
        let ((a, to_a), (b, to_b)) = (sockets(), sockets());
        to_a.set_nonblocking(true).unwrap();
        to_b.set_nonblocking(true).unwrap();
        (Relay { sockets: [to_a, to_b], left, flip }, [a, b])
    }

    /// Carries up to `most` bytes one way; whether it goes on.
    fn carry(&mut self, from: usize, most: u64) -> bool {
        let mut bytes = vec![0; most.min(self.left) as usize];
        let n = match self.sockets[from].read(&mut bytes) {
            Ok(0) => return false,
            Ok(n) => n,
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        };
        self.damage(&mut bytes[..n]);
        // A full socket would need the relay to keep bytes. It cuts the connection instead, which is as good.
        let whole = self.sockets[1 - from].write(&bytes[..n]).is_ok_and(|written| written == n);
        self.left -= n as u64;
        whole && self.left > 0
    }

    fn damage(&mut self, bytes: &mut [u8]) {
        match &mut self.flip {
            Some(at) if *at < bytes.len() as u64 => {
                bytes[*at as usize] ^= 1 << (*at % 8);
                self.flip = None;
            }
            Some(at) => *at -= bytes.len() as u64,
            None => {}
        }
    }
}

/// What one run did.
#[derive(Debug, Default)]
struct Tally {
    cuts: usize,
    messages: usize,
}

/// Random traffic in both directions over connections that break after `connection` bytes at most.
fn storm(over: Over, seed: u64, messages: usize, connection: u64) -> Tally {
    let mut random = Random(seed);
    let (mut relay, [a, b]) = Relay::new(random.below(connection) + 1, None);
    let [a, b] = over.streams([a, b]);
    let mut ends = [End::over(a, 1), End::over(b, 0)];
    let mut sent: [Vec<Message>; 2] = Default::default();
    let mut tally = Tally::default();
    for turn in 0.. {
        assert!(turn < 3_000_000, "seed {seed}: nothing comes of it: {ends:?}");
        for (end, sent) in ends.iter_mut().zip(&mut sent) {
            if sent.len() < messages && end.sender.unsent() < 3 << 20 && random.below(3) == 0 {
                sent.push(send(end, random.message()));
            }
            end.turn().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        let (from, most) = (random.below(2) as usize, 1 << random.below(18));
        if !relay.carry(from, most) {
            relay = reconnect(over, &mut random, &mut ends, connection, tally.cuts);
            tally.cuts += 1;
        }
        if ends[0].arrived.len() == messages && ends[1].arrived.len() == messages {
            break;
        }
    }
    let same = ends[0].arrived == sent[1] && ends[1].arrived == sent[0];
    assert!(same, "seed {seed}: what arrived is not what was sent");
    tally.messages = 2 * messages;
    tally
}

fn send(end: &mut End, (rank, head, segments): (u16, Vec<u8>, Vec<Segment>)) -> Message {
    let copies = segments.iter().map(|segment| (segment.align(), segment.bytes().to_vec())).collect();
    end.sender.send(rank, &head, segments);
    (rank, head, copies)
}

/// The connection is no more, in one way or another; both ends go on over a new one, through a relay that will break,
/// too, and now and then alters a bit.
fn reconnect(over: Over, random: &mut Random, ends: &mut [End; 2], connection: u64, cuts: usize) -> Relay {
    // Connections grow so that even the largest message comes through in the end.
    let left = 1 + random.below(connection << (cuts % 12));
    let flip = (cuts % 16 == 3).then(|| random.below(left));
    let (relay, sockets) = Relay::new(left, flip);
    let [a, b] = over.streams(sockets);
    let [first, second] = ends;
    let mut order = [(first, a), (second, b)];
    if random.below(2) == 0 {
        order.reverse();
    }
    for (end, stream) in order {
        // One side may not have noticed yet, or read a part of what was under way.
        (0..random.below(3)).for_each(|_| _ = end.turn().unwrap());
        replace(&mut end.sender, &mut end.receiver, stream);
    }
    relay
}

fn nothing_is_lost_doubled_or_altered_however_connections_break(over: Over) {
    let mut cuts = 0;
    for seed in 0..12 {
        cuts += storm(over, seed, 120, 30_000).cuts;
    }
    for seed in 100..118 {
        cuts += storm(over, seed, 60, 3_000).cuts;
    }
    assert!(cuts > 200, "only {cuts} connections broke");
}

fn a_reset_is_noticed_by_both_halves(over: Over) {
    let (mut a, mut b) = ends(over);
    a.sender.send(0, b"before", Vec::new());
    run(&mut a, &mut b, |_, b| b.arrived.len() == 1);
    a.receiver.break_off();
    run(&mut a, &mut b, |a, b| a.sender.broken() && b.sender.broken());
    a.sender.send(0, b"while broken", vec![segment(1 << 20, 1)]);
    assert!(!a.sender.flush() && !a.sender.blocked());
    let [left, right] = over.streams(sockets().into());
    replace(&mut a.sender, &mut a.receiver, left);
    replace(&mut b.sender, &mut b.receiver, right);
    run(&mut a, &mut b, |_, b| b.arrived.len() == 2);
    assert_eq!((&b.arrived[1].1[..], a.sender.broken()), (&b"while broken"[..], false));
}

#[test]
fn what_arrives_damaged_again_and_again_is_an_error() {
    let (mut a, mut b) = ends(Over::Plain);
    run(&mut a, &mut b, |_, b| b.arrived.is_empty());
    a.sender.send(0, &[7; 100], Vec::new());
    let mut faults = Vec::new();
    for _ in 0..3 {
        let (mut relay, [left, right]) = Relay::new(1 << 20, Some(80));
        replace(&mut a.sender, &mut a.receiver, Stream::plain(left.into()).unwrap());
        replace(&mut b.sender, &mut b.receiver, Stream::plain(right.into()).unwrap());
        faults.push((0..1000).find_map(|_| {
            a.turn().unwrap();
            relay.carry(0, 1000);
            b.turn().err().or(b.receiver.broken().then_some(LinkError::Damaged { peer: PEER, times: 0 }))
        }));
    }
    let again = |times| Some(LinkError::Damaged { peer: PEER, times });
    assert_eq!(faults, [again(0), again(0), again(3)]);
}

/// Nothing in any of its frames is wrong, but one of them is not there, or comes twice.
#[test]
fn a_frame_that_is_missing_as_a_whole_is_noticed_and_comes_again() {
    use crate::frame::{HEADER, Header, Kind};
    let frame = |number: u32| {
        let position = u64::from(number) * HEADER as u64;
        Header { kind: Kind::Small, rank: number as u16, head: 0, segments: 0, offset: 0, sum: 0 }
            .encode(position)
    };
    let begin = Header::bare(Kind::Begin, 0).encode(0);
    for wrong in [[0, 2, 3], [0, 0, 1]] {
        let (mut raw, socket) = sockets();
        let mut b = End::new(socket.into(), 0);
        raw.write_all(&[begin, frame(wrong[0]), frame(wrong[1]), frame(wrong[2])].concat()).unwrap();
        let broken = (0..1000).any(|_| {
            b.turn().unwrap();
            b.receiver.broken()
        });
        assert!(broken && b.arrived.len() == 1, "{wrong:?}: {:?}", b.arrived);
        let (mut raw, socket) = sockets();
        replace(&mut b.sender, &mut b.receiver, Stream::plain(socket.into()).unwrap());
        raw.write_all(&[begin, frame(0), frame(1), frame(2)].concat()).unwrap();
        let all = (0..1000).any(|_| {
            b.turn().unwrap();
            b.arrived.len() == 3
        });
        assert!(all, "{wrong:?}: {:?}", b.arrived);
    }
}

const PEER: Peer = Peer { node: 0, lane: 0 };

/// What `b` says of these bytes, after a proper beginning.
fn told(bytes: &[u8]) -> LinkError {
    use crate::frame::{Header, Kind};
    let (mut raw, socket) = sockets();
    let mut b = End::new(socket.into(), 0);
    raw.write_all(&Header::bare(Kind::Begin, 0).encode(0)).unwrap();
    raw.write_all(bytes).unwrap();
    raw.shutdown(Shutdown::Write).unwrap();
    (0..1000).find_map(|_| b.turn().err()).expect("an error")
}

#[test]
fn what_no_peer_sends_ends_the_link_with_a_clear_line() {
    use crate::frame::{HEADER, Header, Kind};
    let small = Header { kind: Kind::Small, rank: 0, head: 0, segments: 0, offset: 0, sum: 0 };
    let line = |header: &Header| told(&header.encode(0)).to_string();
    assert_eq!(
        line(&Header { head: 13_000, ..small }),
        "node 0 sent what cannot be read: a small frame of 13000 bytes, above the most there can be (12288); is something \
         else writing to this connection?"
    );
    assert!(line(&Header { offset: 1, ..small }).contains("more is acknowledged than was sent"));
    assert!(line(&Header::bare(Kind::Begin, 0)).contains("begins twice"));
    let after = [Header::bare(Kind::Goodbye, 0).encode(0), small.encode(HEADER as u64)].concat();
    assert!(told(&after).to_string().contains("after the goodbye"));
}

#[test]
fn a_hostile_length_takes_no_memory() {
    use crate::frame::{Entry, Header, Kind};
    let entry = Entry { len: 1 << 36, align: 8 }.encode();
    let sum = crc32fast::hash(&entry);
    let header = Header { kind: Kind::Large, rank: 0, head: 0, segments: 1, offset: 0, sum };
    let (mut raw, socket) = sockets();
    let mut b = End::new(socket.into(), 0);
    raw.write_all(&Header::bare(Kind::Begin, 0).encode(0)).unwrap();
    raw.write_all(&[&header.encode(0)[..], &entry, &[1; 5000]].concat()).unwrap();
    // 64 GiB are more than there is, but only lines of the page table until bytes come. Where even those are refused
    // the error says so.
    let error = (0..1000).find_map(|_| b.turn().err());
    assert!(error.is_none_or(|error| error.to_string().contains("no memory for a segment")));
}

#[test]
fn a_connection_that_leaves_something_out_is_an_error() {
    use crate::frame::{Header, Kind};
    let (mut raw, socket) = sockets();
    let mut b = End::new(socket.into(), 0);
    raw.write_all(&Header::bare(Kind::Begin, 64).encode(0)).unwrap();
    let error = (0..1_000_000).find_map(|_| b.turn().err());
    assert_eq!(error, Some(LinkError::Lost { peer: PEER, offset: 64, received: 0 }));
}
