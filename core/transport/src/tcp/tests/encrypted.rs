//! Links on which everything is encrypted, where that makes a difference. The other tests run over them, too.

use std::io::{ErrorKind, Read, Write};

use super::*;
use crate::auth::Secret;
use crate::tls::{Credentials, pair};

/// What a new connection of two nodes goes over.
pub(super) fn streams(sockets: [TcpStream; 2]) -> [Stream; 2] {
    let credentials = Credentials::of(&Secret::from_bytes([1; 32])).unwrap();
    let [a, b] = pair(&credentials).unwrap();
    let [to_b, to_a] = sockets;
    [(to_b, a), (to_a, b)].map(|(socket, session)| Stream::encrypted(socket.into(), session).unwrap())
}

/// All that passes between the two ends of a link in the course of `talk`.
fn overheard(over: Over, talk: impl FnOnce(&mut End, &mut End, &mut dyn FnMut())) -> Vec<u8> {
    let ((a, mut near), (b, mut far)) = (sockets(), sockets());
    near.set_nonblocking(true).unwrap();
    far.set_nonblocking(true).unwrap();
    let [a, b] = over.streams([a, b]);
    let (mut a, mut b, mut heard) = (End::over(a, 1), End::over(b, 0), Vec::new());
    talk(&mut a, &mut b, &mut || {
        heard.extend(pass(&mut near, &mut far));
        heard.extend(pass(&mut far, &mut near));
    });
    heard
}

fn pass(from: &mut TcpStream, to: &mut TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 100_000];
    match from.read(&mut bytes) {
        Ok(n) => bytes.truncate(n),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            bytes.clear();
        }
    }
    to.write_all(&bytes).unwrap();
    bytes
}

#[test]
fn what_is_overheard_is_not_what_is_said() {
    const WORDS: &[u8] = b"nobody else is to know this";
    let talk = |a: &mut End, b: &mut End, pass: &mut dyn FnMut()| {
        a.sender.send(0, WORDS, Vec::new());
        b.sender.send(0, b"", vec![Segment::of_vec(WORDS.repeat(1000))]);
        while a.arrived.is_empty() || b.arrived.is_empty() {
            pass();
            a.turn().unwrap();
            b.turn().unwrap();
        }
    };
    let hears = |over, words: &[u8]| overheard(over, talk).windows(words.len()).any(|heard| heard == words);
    assert!(hears(Over::Plain, WORDS) && hears(Over::Plain, b"Ta"));
    // Not even a part, which would be there by chance once in so many thousand years.
    assert!(!hears(Over::Tls, &WORDS[..12]));
}

#[test]
fn alterations_break_the_connection_and_nothing_else() {
    for round in 0..5 {
        let ((a, mut near), (b, mut far)) = (sockets(), sockets());
        let [to_b, to_a] = streams([a, b]);
        let (mut one, mut other) = (End::over(to_b, 1), End::over(to_a, 0));
        one.sender.send(0, b"a message", Vec::new());
        one.turn().unwrap();
        let mut bytes = vec![0; 1000];
        let n = near.read(&mut bytes).unwrap();
        bytes[n - 1 - round * 7] ^= 1;
        far.write_all(&bytes[..n]).unwrap();
        let broken = (0..1_000_000).any(|_| {
            other.turn().unwrap();
            other.receiver.broken()
        });
        assert!(broken && other.arrived.is_empty());
    }
}
