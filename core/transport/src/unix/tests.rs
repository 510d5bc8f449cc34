//! Nodes that find each other at Unix-domain sockets, strangers there, and links whose connections break.

use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream as Stranger};
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::auth::Secret;
use crate::connect::serve;
use crate::handshake::{Incarnations, Shape};
use crate::link::Link;
use crate::{Incoming, Peer};
use talisman_pup::Segment;

/// What a node of the job that `job` numbers tells others of itself.
fn identity(node: u32, job: u8) -> Arc<Identity> {
    Arc::new(Identity {
        job: job.into(),
        build: 2,
        shape: Shape { nodes: 3, pes: 2 },
        secret: Secret::from_bytes([job; 32]),
        tls: None,
        node,
        incarnation: 0,
        known: Incarnations::new(3),
    })
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Node 0 of a job that no other test has: whom it accepts and refuses. Ends with the test's process.
fn node_0(job: u8) -> (Receiver<Established>, Receiver<String>) {
    let ((link, links), (refusal, refusals), (ready, is_ready)) = (channel(), channel(), channel());
    std::thread::spawn(move || {
        block_on(async {
            let own = identity(0, job);
            let (listener, _) = Unix::listen(&own, [127, 0, 0, 1].into()).unwrap();
            ready.send(()).unwrap();
            serve(listener, own, |new| _ = link.send(new), |why| _ = refusal.send(why)).await;
        })
    });
    is_ready.recv().unwrap();
    (links, refusals)
}

/// Dials node 0 of a job.
fn dial(node: u32, job: u8) -> Result<Established, DialError> {
    let to = Target { peer: Peer { node: 0, lane: 1 }, address: None };
    block_on(Unix::dial(to, identity(node, job)))
}

/// One end of a link, and the heads and lengths of what arrived there.
struct End {
    link: Link,
    arrived: Vec<(Vec<u8>, usize)>,
}

impl End {
    fn over(stream: Stream, node: u32) -> End {
        End { link: Link::over(stream, Peer { node, lane: 0 }), arrived: Vec::new() }
    }

    fn turn(&mut self) {
        let arrived = &mut self.arrived;
        let mut keep = |Incoming { head, segments, .. }: Incoming<'_>| {
            arrived.push((head.to_vec(), segments.iter().map(|segment| segment.bytes().len()).sum()));
        };
        self.link.receive(64, &mut keep).unwrap();
        self.link.flush();
    }
}

/// Turns of both until so many messages have arrived at `b`; `disturb` has a turn as well.
fn run(a: &mut End, b: &mut End, messages: usize, mut disturb: impl FnMut(usize, &mut End, &mut End)) {
    for turn in 1.. {
        if b.arrived.len() >= messages {
            return;
        }
        assert!(turn < 2_000_000, "{} of {messages} messages have arrived", b.arrived.len());
        a.turn();
        b.turn();
        disturb(turn, a, b);
    }
}

#[test]
fn a_node_that_dials_gets_a_link() {
    let (links, _) = node_0(11);
    let dialled = dial(2, 11).unwrap();
    let accepted = links.recv().unwrap();
    assert_eq!((dialled.peer, accepted.peer), (Peer { node: 0, lane: 1 }, Peer { node: 2, lane: 1 }));
    let (mut a, mut b) = (End::over(dialled.stream, 0), End::over(accepted.stream, 2));
    a.link.send(0, b"from a", vec![Segment::of_vec(vec![7u8; 1 << 20])]);
    run(&mut a, &mut b, 1, |_, _, _| ());
    b.link.send(0, b"from b", Vec::new());
    run(&mut b, &mut a, 1, |_, _, _| ());
    assert_eq!(b.arrived, [(b"from a".to_vec(), 1 << 20)]);
    assert_eq!(a.arrived, [(b"from b".to_vec(), 0)]);
}

#[test]
fn strangers_are_refused_with_a_line_that_names_their_user() {
    let (links, refusals) = node_0(12);
    let address = Address::of(&identity(0, 12), 0);
    let address = UnixAddress::from_abstract_name(&address.path()[1..]).unwrap();
    let mut stranger = Stranger::connect_addr(&address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // It may be told that what it said was not read to the end.
    _ = stranger.read_to_end(&mut answer);
    assert_eq!(answer, [], "it gets no answer");
    let user = rustix::process::getuid().as_raw();
    let line = format!("refused a connection from user {user}: it does not speak Talisman's protocol");
    assert_eq!(refusals.recv().unwrap(), line);
    assert!(dial(1, 12).is_ok());
    assert_eq!(links.recv().unwrap().peer.node, 1);
}

#[test]
fn who_does_not_know_the_secret_finds_nobody() {
    let (links, _) = node_0(13);
    let error = dial(1, 14).unwrap_err();
    assert!(matches!(error, DialError::Network { .. }) && error.is_passing(), "{error}");
    assert!(error.to_string().starts_with("cannot connect to node 0 at @talisman-0-"), "{error}");
    assert!(links.try_recv().is_err());
}

#[test]
fn an_address_is_one_nodes_of_one_job() {
    let addresses = [(0, 15), (1, 15), (0, 16)].map(|(node, job)| Address::of(&identity(2, job), node).0);
    assert_eq!(Address::of(&identity(1, 15), 0).0, addresses[0], "all of the job know it");
    assert!(addresses[0] != addresses[1] && addresses[0] != addresses[2], "{addresses:?}");
    let held = block_on(async {
        let _held = Unix::listen(&identity(0, 15), [127, 0, 0, 1].into()).unwrap();
        Unix::listen(&identity(0, 15), [127, 0, 0, 1].into()).map(drop)
    });
    assert!(held.unwrap_err().starts_with("cannot listen at the socket @talisman-0-"));
}

#[test]
fn nothing_is_lost_doubled_or_reordered_however_often_connections_break() {
    let [a, b] = Unix::pair().unwrap();
    let (mut a, mut b) = (End::over(a, 1), End::over(b, 0));
    let message = |number: u32| (number.to_le_bytes().to_vec(), (number as usize * 977) % 100_000);
    for (head, len) in (0..500).map(message) {
        a.link.send(0, &head, vec![Segment::of_vec(vec![1u8; len])]);
    }
    let mut breaks = 0;
    run(&mut a, &mut b, 500, |turn, a, b| {
        if turn % 7 == 0 {
            let [near, far] = Unix::pair().unwrap();
            a.link.replace(near);
            b.link.replace(far);
            breaks += 1;
        }
    });
    assert!(breaks > 10, "{breaks}");
    assert!(b.arrived.iter().cloned().eq((0..500).map(message)));
}
