use std::sync::Arc;

use super::record::{HELLO_NONCE, Kind, encode};
use super::*;

fn identity(node: u32) -> Arc<Identity> {
    Arc::new(changed(node, |_| ()))
}

/// One that differs.
fn changed(node: u32, change: impl FnOnce(&mut Identity)) -> Identity {
    let mut identity = Identity {
        job: 7,
        build: 8,
        shape: Shape { nodes: 3, pes: 2 },
        secret: Secret::from_bytes([9; 32]),
        tls: None,
        node,
        incarnation: 4,
        known: Incarnations::new(3),
    };
    change(&mut identity);
    identity
}

const TO: Peer = Peer { node: 0, lane: 1 };

/// What both ends agreed on, or whose refusal ended it.
type Outcome = Result<(Agreed, Agreed), (&'static str, Refusal)>;

/// A handshake between the two, and the records that were sent; `Err` is whose refusal ended it.
fn shake(dials: &Arc<Identity>, accepts: &Arc<Identity>) -> (Outcome, Vec<Vec<u8>>) {
    let (mut dialer, hello) = Dialer::new(dials, TO, [1; 32]);
    let mut acceptor = Acceptor::new(accepts, [2; 32]);
    let mut said = vec![hello];
    let mut agreed = None;
    loop {
        match give(&said[said.len() - 1], Acceptor::wants, Acceptor::feed, &mut acceptor) {
            Ok(Step::Say(bytes)) => said.push(bytes),
            Ok(Step::Done(bytes, with)) => {
                said.push(bytes);
                agreed = Some(with);
            }
            Err(refusal) => {
                let told = give(&refusal.encode(), Dialer::wants, Dialer::feed, &mut dialer);
                assert_eq!(told, Err(Failure::RefusedBy(refusal)));
                return (Err(("acceptor", refusal)), said);
            }
        }
        match give(&said[said.len() - 1], Dialer::wants, Dialer::feed, &mut dialer) {
            Ok(Step::Say(bytes)) => said.push(bytes),
            Ok(Step::Done(_, with)) => return (Ok((with, agreed.expect("welcomed"))), said),
            Err(Failure::Refused(refusal)) => return (Err(("dialer", refusal)), said),
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// Gives a whole record in the pieces that are asked for, and in halves of those.
fn give<M, E>(
    bytes: &[u8],
    wants: fn(&M) -> usize,
    feed: fn(&mut M, &[u8]) -> Result<Step, E>,
    machine: &mut M,
) -> Result<Step, E> {
    let mut rest = bytes;
    loop {
        let n = (wants(machine) / 2).clamp(1, rest.len());
        let (now, later) = rest.split_at(n);
        let step = feed(machine, now)?;
        rest = later;
        if rest.is_empty() || step != Step::Say(Vec::new()) {
            assert!(rest.is_empty(), "an answer before the record is complete");
            return Ok(step);
        }
    }
}

#[test]
fn nodes_of_one_job_agree() {
    let (result, said) = shake(&identity(2), &identity(0));
    let dialled = Agreed { peer: TO, incarnation: 4 };
    let accepted = Agreed { peer: Peer { node: 2, lane: 1 }, incarnation: 4 };
    assert_eq!(result, Ok((dialled, accepted)));
    assert_eq!(said.iter().map(Vec::len).collect::<Vec<_>>(), [108, 92, 48, 16]);
}

#[test]
fn whoever_differs_is_refused_by_name() {
    let refused =
        |change: fn(&mut Identity)| shake(&Arc::new(changed(2, change)), &identity(0)).0.unwrap_err();
    assert_eq!(refused(|us| us.job = 0), ("acceptor", Refusal::Job));
    assert_eq!(refused(|us| us.build = 0), ("acceptor", Refusal::Build));
    assert_eq!(refused(|us| us.shape.pes = 3), ("acceptor", Refusal::Shape));
    assert_eq!(refused(|us| us.node = 3), ("acceptor", Refusal::Node));
    assert_eq!(refused(|us| us.node = 0), ("acceptor", Refusal::Node));
    assert_eq!(refused(|us| us.secret = Secret::from_bytes([0; 32])), ("dialer", Refusal::Secret));
    assert_eq!(shake(&identity(2), &identity(1)).0, Err(("acceptor", Refusal::Node)));
}

#[test]
fn an_earlier_life_is_refused_by_either_side() {
    let (new, old) = (identity(0), identity(2));
    new.known.raise(2, 5);
    assert_eq!(shake(&old, &new).0, Err(("acceptor", Refusal::Incarnation)));
    let (knows, replaced) = (identity(2), identity(0));
    knows.known.raise(0, 5);
    assert_eq!(shake(&knows, &replaced).0, Err(("dialer", Refusal::Incarnation)));
    let later = Arc::new(changed(2, |us| us.incarnation = 6));
    assert!(shake(&later, &new).0.is_ok());
    assert!(!new.known.admits(2, 5), "the sixth life ends the fifth");
}

#[test]
fn a_repeated_handshake_proves_nothing() {
    let (result, said) = shake(&identity(2), &identity(0));
    assert!(result.is_ok());
    let us = identity(0);
    let mut acceptor = Acceptor::new(&us, [3; 32]);
    assert!(give(&said[0], Acceptor::wants, Acceptor::feed, &mut acceptor).is_ok());
    assert_eq!(give(&said[2], Acceptor::wants, Acceptor::feed, &mut acceptor), Err(Refusal::Secret));
    let us = identity(2);
    let (mut dialer, _) = Dialer::new(&us, TO, [4; 32]);
    let repeated = give(&said[1], Dialer::wants, Dialer::feed, &mut dialer);
    assert_eq!(repeated, Err(Failure::Refused(Refusal::Secret)));
}

#[test]
fn ones_own_words_sent_back_prove_nothing() {
    let us = identity(0);
    let (_, mut hello) = Dialer::new(&us, TO, [5; 32]);
    let mut acceptor = Acceptor::new(&us, [2; 32]);
    assert_eq!(give(&hello, Acceptor::wants, Acceptor::feed, &mut acceptor), Err(Refusal::Node));
    let other = identity(2);
    hello = Dialer::new(&other, TO, [5; 32]).1;
    hello[HELLO_NONCE].copy_from_slice(&[2; 32]);
    let mut acceptor = Acceptor::new(&us, [2; 32]);
    assert_eq!(give(&hello, Acceptor::wants, Acceptor::feed, &mut acceptor), Err(Refusal::Reflected));
    // Our proof as the accepting side, given back as that of the dialling one.
    let (_, hello) = Dialer::new(&other, TO, [1; 32]);
    let mut acceptor = Acceptor::new(&us, [2; 32]);
    let Ok(Step::Say(challenge)) = give(&hello, Acceptor::wants, Acceptor::feed, &mut acceptor) else {
        panic!("no challenge");
    };
    let back = encode(Kind::Proof, &challenge[challenge.len() - 32..]);
    assert_eq!(give(&back, Acceptor::wants, Acceptor::feed, &mut acceptor), Err(Refusal::Secret));
}

#[test]
fn every_altered_bit_is_refused() {
    let (_, said) = shake(&identity(2), &identity(0));
    for bit in 0..said[0].len() * 8 {
        let us = identity(0);
        let mut hello = said[0].clone();
        hello[bit / 8] ^= 1 << (bit % 8);
        let mut acceptor = Acceptor::new(&us, [2; 32]);
        let first = acceptor.feed(&hello[..16]).and_then(|_| acceptor.feed(&hello[16..]));
        let then = first.and_then(|_| give(&said[2], Acceptor::wants, Acceptor::feed, &mut acceptor));
        assert!(then.is_err(), "bit {bit} of the hello");
    }
}

#[test]
fn strangers_are_known_by_their_first_bytes() {
    let us = identity(0);
    let fed = |bytes: &[u8]| Acceptor::new(&us, [2; 32]).feed(bytes);
    assert_eq!(fed(b"G"), Err(Refusal::Stranger));
    assert_eq!(fed(b"GET / HTTP/1.1\r\n"), Err(Refusal::Stranger));
    assert_eq!(fed(b"TALISMAN\x02\0\x01\0\x6c\0\0\0"), Err(Refusal::Version));
    assert_eq!(fed(b"TALISMAN\x04\0\x03\0\x20\0\0\0"), Err(Refusal::Record));
    assert_eq!(fed(b"TALISMAN\x04\0\x01\0\xff\xff\xff\xff"), Err(Refusal::Record));
    assert_eq!(fed(&[0; 17]), Err(Refusal::Record));
}
