//! Nodes that find each other, and strangers at the port.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Inbox, channel};

use super::*;
use crate::auth::Secret;
use crate::connect::{DialError, Established, serve};
use crate::connector::{Connector, Target};
use crate::handshake::{Identity, Incarnations, Shape};
use crate::tcp::Tcp;

fn identity(node: u32, secret: u8) -> Arc<Identity> {
    Arc::new(plain_identity(node, secret))
}

fn plain_identity(node: u32, secret: u8) -> Identity {
    Identity {
        job: 1,
        build: 2,
        shape: Shape { nodes: 3, pes: 2 },
        secret: Secret::from_bytes([secret; 32]),
        tls: None,
        node,
        incarnation: 0,
        known: Incarnations::new(3),
    }
}

/// The same of a node that encrypts.
#[cfg(feature = "tls")]
fn encrypting(node: u32, secret: u8) -> Arc<Identity> {
    let tls = crate::tls::Credentials::of(&Secret::from_bytes([secret; 32])).unwrap();
    Arc::new(Identity { tls: Some(tls), ..plain_identity(node, secret) })
}

/// Node 0 at a port: what it accepts and refuses. Ends with the test's process.
fn node_0() -> (SocketAddr, Inbox<Established>, Inbox<String>) {
    serving(identity(0, 1))
}

fn serving(identity: Arc<Identity>) -> (SocketAddr, Inbox<Established>, Inbox<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let ((link, links), (refusal, refusals)) = (channel(), channel());
    std::thread::spawn(move || {
        block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            serve(listener, identity, |new| _ = link.send(new), |why| _ = refusal.send(why)).await;
        })
    });
    (address, links, refusals)
}

async fn dial(
    address: SocketAddr,
    identity: Arc<Identity>,
    node: u32,
    lane: u32,
) -> Result<Established, DialError> {
    Tcp::dial(Target { peer: Peer { node, lane }, address: Some(address) }, identity).await
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn end(established: Established) -> End {
    let (sender, receiver) = pair(established.stream, established.peer);
    End { sender, receiver, arrived: Vec::new() }
}

#[test]
fn a_node_that_dials_gets_a_link() {
    gets_a_link(identity(0, 1), identity(2, 1));
}

fn gets_a_link(accepts: Arc<Identity>, dials: Arc<Identity>) {
    let (address, links, _) = serving(accepts);
    let dialled = block_on(dial(address, dials, 0, 1)).unwrap();
    let accepted = links.recv().unwrap();
    assert_eq!((dialled.peer, accepted.peer), (Peer { node: 0, lane: 1 }, Peer { node: 2, lane: 1 }));
    let (mut a, mut b) = (end(dialled), end(accepted));
    a.sender.send(3, b"from a", Vec::new());
    b.sender.send(4, b"from b", vec![segment(1 << 20, 3)]);
    run(&mut a, &mut b, |a, b| a.arrived.len() + b.arrived.len() == 2);
    assert_eq!((a.arrived[0].0, b.arrived[0].0), (4, 3));
}

#[test]
fn strangers_are_refused_with_a_line_each_and_nodes_still_get_in() {
    let (address, links, refusals) = node_0();
    let said = |bytes: &[u8]| {
        let mut stranger = TcpStream::connect(address).unwrap();
        stranger.write_all(bytes).unwrap();
        stranger.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        _ = stranger.read_to_end(&mut answer);
        let line = refusals.recv().unwrap();
        let (_, why) = line.split_once(": ").unwrap();
        (answer.len(), why.to_owned())
    };
    assert_eq!(said(b"GET / HTTP/1.1\r\n\r\n"), (0, "it does not speak Talisman's protocol".into()));
    let version = said(b"TALISMAN\x09\0\x01\0\x5c\0\0\0");
    assert!(version.0 == 17 && version.1.starts_with("it speaks another version"), "{version:?}");
    assert!(said(b"TALIS").1.starts_with("it closed the connection"));
    let wrong = block_on(dial(address, identity(2, 9), 0, 0)).unwrap_err();
    assert!(wrong.to_string().contains("does not know the job's secret"), "{wrong}");
    assert!(!wrong.is_passing());
    assert!(block_on(dial(address, identity(2, 1), 0, 0)).is_ok());
    assert_eq!(links.recv().unwrap().peer.node, 2);
}

/// Connects as node 1, again where that was in vain for a while, as nodes do: on a busy machine an answer may take too long.
fn get_through(address: SocketAddr) {
    let mut attempts = 0;
    while let Err(error) = block_on(dial(address, identity(1, 1), 0, 0)) {
        attempts += 1;
        assert!(error.is_passing() && attempts < 100, "{error}, after {attempts} attempts");
    }
}

#[test]
fn a_crowd_of_silent_strangers_keeps_nobody_out() {
    let (address, links, refusals) = node_0();
    let silent: Vec<_> = (0..80).map(|_| TcpStream::connect(address).unwrap()).collect();
    get_through(address);
    assert_eq!(links.recv().unwrap().peer.node, 1);
    assert!(refusals.recv().unwrap().contains("too many connections"));
    drop(silent);
}

/// Strangers come as fast as they can, and say nothing or what anybody knows.
#[test]
fn crowds_that_do_not_end_keep_nobody_out() {
    let (address, links, _) = node_0();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let comes = |words: &'static [u8]| {
        let stop = stop.clone();
        std::thread::spawn(move || {
            let mut kept = std::collections::VecDeque::new();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let Ok(mut stranger) = TcpStream::connect(address) else { continue };
                _ = stranger.write_all(words);
                kept.push_back(stranger);
                if kept.len() > 200 {
                    kept.pop_front();
                }
            }
        })
    };
    let crowds = [comes(b""), comes(b"TALISMAN")];
    for _ in 0..20 {
        get_through(address);
        assert_eq!(links.recv().unwrap().peer.node, 1);
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    crowds.into_iter().for_each(|crowd| crowd.join().unwrap());
}

#[test]
fn nobody_there_is_a_clear_error_that_may_pass() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = block_on(dial(address, identity(1, 1), 0, 0)).unwrap_err();
    assert!(matches!(error, DialError::Network { .. }) && error.is_passing());
    assert!(error.to_string().starts_with(&format!("cannot connect to node 0 at {address}: ")), "{error}");
}

#[cfg(feature = "tls")]
#[test]
fn nodes_that_encrypt_get_a_link() {
    gets_a_link(encrypting(0, 1), encrypting(2, 1));
}

#[cfg(feature = "tls")]
#[test]
fn nodes_that_encrypt_and_nodes_that_do_not_refuse_each_other_and_say_why() {
    for (accepts, dials, why) in [
        (encrypting(0, 1), identity(1, 1), "it does not encrypt its connections, and this job does (--tls)"),
        (identity(0, 1), encrypting(1, 1), "it encrypts its connections (--tls), and this job does not"),
    ] {
        let (address, _, refusals) = serving(accepts);
        let error = block_on(dial(address, dials, 0, 0)).unwrap_err();
        let line = refusals.recv().unwrap();
        assert!(line.ends_with(why) && error.to_string().ends_with(why), "{line}; {error}");
        assert!(error.to_string().contains("refuses this node") && !error.is_passing());
    }
}

#[cfg(feature = "tls")]
#[test]
fn strangers_are_refused_where_everything_is_encrypted() {
    let (address, links, refusals) = serving(encrypting(0, 1));
    let wrong = block_on(dial(address, encrypting(2, 9), 0, 0)).unwrap_err();
    assert!(wrong.to_string().contains("does not know the job's secret") && !wrong.is_passing(), "{wrong}");
    assert!(refusals.recv().unwrap().contains("does not know the job's secret"));
    let said = |bytes: &[u8]| {
        let mut stranger = TcpStream::connect(address).unwrap();
        stranger.write_all(bytes).unwrap();
        stranger.shutdown(std::net::Shutdown::Write).unwrap();
        _ = stranger.read_to_end(&mut Vec::new());
        refusals.recv().unwrap()
    };
    assert!(said(b"GET / HTTP/1.1\r\n\r\n").ends_with("it does not speak Talisman's protocol"));
    assert!(said(b"\x16\x03\x01\0\x05garbage").contains("does not know the job's secret"));
    assert!(said(b"\x16\x03\x01").contains("closed the connection"));
    assert!(block_on(dial(address, encrypting(2, 1), 0, 0)).is_ok());
    assert_eq!(links.recv().unwrap().peer.node, 2);
}
