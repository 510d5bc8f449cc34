//! Sessions with each other, and with bytes that are not each other's.

use std::io::IoSlice;
use std::mem::MaybeUninit;

use rustls::crypto::CipherSuiteCommon;
use rustls::{SupportedCipherSuite, Tls13CipherSuite};

use super::credentials::provider;
use super::pair::{agree, carry};
use super::*;
use crate::auth::Secret;

fn credentials(secret: u8) -> Credentials {
    Credentials::of(&Secret::from_bytes([secret; 32])).unwrap()
}

fn ends() -> [Session; 2] {
    pair(&credentials(1)).unwrap()
}

/// Everything that `session` has for its reader, in pieces of at most this size.
fn read(session: &mut Session, size: usize) -> Result<Vec<u8>, Broken> {
    let (mut all, mut room) = (Vec::new(), vec![MaybeUninit::uninit(); size]);
    loop {
        let n = session.open(&mut room)?;
        // SAFETY: so many are initialised.
        all.extend(room[..n].iter().map(|byte| unsafe { byte.assume_init() }));
        if n < size {
            return Ok(all);
        }
    }
}

fn text(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 % 251) as u8).collect()
}

#[test]
fn pieces_of_every_size_arrive_in_order_in_both_directions() {
    let [mut a, mut b] = ends();
    let text = text(200_000);
    for cuts in [vec![0, 1, 40], vec![5, 16_384, 32_768], vec![100, 60_000, 4], vec![16_384], vec![199_999]] {
        let mut rest = &text[..];
        let slices = cuts.iter().map(|&len| {
            let (piece, after) = rest.split_at(len);
            rest = after;
            IoSlice::new(piece)
        });
        let slices: Vec<_> = slices.collect();
        let n = a.seal(&slices).unwrap();
        assert_eq!(n, cuts.iter().sum::<usize>().min(64 << 10));
        carry(&mut a, &mut b).unwrap();
        assert!(read(&mut b, 10_000).unwrap() == text[..n]);
        b.seal(&slices).unwrap();
        carry(&mut b, &mut a).unwrap();
        assert!(read(&mut a, 3).unwrap() == text[..n]);
    }
}

#[test]
fn what_arrives_before_something_is_said_is_kept() {
    let [mut a, mut b] = ends();
    a.seal(&[IoSlice::new(b"to b")]).unwrap();
    carry(&mut a, &mut b).unwrap();
    b.seal(&[IoSlice::new(b"to a")]).unwrap();
    assert_eq!(read(&mut b, 3).unwrap(), b"to b");
    carry(&mut b, &mut a).unwrap();
    assert_eq!(read(&mut a, 9).unwrap(), b"to a");
}

#[test]
fn an_altered_bit_ends_it_after_what_came_before() {
    for bit in [40, 100, 8 * 30] {
        let [mut a, mut b] = ends();
        a.seal(&[IoSlice::new(b"whole")]).unwrap();
        carry(&mut a, &mut b).unwrap();
        a.seal(&[IoSlice::new(b"altered on the way")]).unwrap();
        let mut altered = a.leaving().to_vec();
        altered[bit / 8] ^= 1 << (bit % 8);
        b.room().unwrap()[..altered.len()].copy_from_slice(&altered);
        b.filled(altered.len());
        let mut room = [MaybeUninit::uninit(); 100];
        assert_eq!((b.open(&mut room), b.open(&mut room)), (Ok(5), Err(Broken)), "bit {bit}");
        assert_eq!(b.seal(&[IoSlice::new(b"x")]), Err(Broken));
    }
}

#[test]
fn after_a_farewell_nothing_comes() {
    let [mut a, mut b] = ends();
    a.seal(&[IoSlice::new(b"last")]).unwrap();
    a.farewell();
    assert_eq!(a.seal(&[IoSlice::new(b"more")]), Err(Broken));
    carry(&mut a, &mut b).unwrap();
    let mut room = [MaybeUninit::uninit(); 100];
    assert_eq!((b.open(&mut room), b.open(&mut room)), (Ok(4), Err(Broken)));
}

#[test]
fn another_key_is_refused_by_both() {
    let mut ends =
        [Session::dialling(&credentials(1)).unwrap(), Session::accepting(&credentials(2)).unwrap()];
    assert_eq!(agree(&mut ends), Err(Broken));
    let [mut a, mut b] = ends;
    assert_eq!(a.greet(), Err(Broken));
    // The alert of the one who dialled tells the other.
    carry(&mut a, &mut b).unwrap();
    assert_eq!(b.greet(), Err(Broken));
}

#[test]
fn garbage_is_refused_and_takes_little_memory() {
    let mut session = Session::accepting(&credentials(1)).unwrap();
    for _ in 0..1000 {
        let Ok(room) = session.room() else { return };
        // Records of a handshake that announces more than it says.
        for (byte, value) in room.iter_mut().zip([22, 3, 1, 0, 60, 1, 0, 255, 0].into_iter().cycle()) {
            *byte = value;
        }
        let n = room.len();
        session.filled(n);
        if session.greet().is_err() {
            return;
        }
    }
    panic!("it still listens");
}

#[test]
fn damaged_greetings_are_refused_or_waited_for() {
    let hello = {
        let mut session = Session::dialling(&credentials(1)).unwrap();
        session.greet().unwrap();
        session.leaving().to_vec()
    };
    for at in 0..4 * hello.len() {
        let mut damaged = hello.clone();
        damaged[at / 4] ^= [1, 0x80, 0xff, 3][at % 4];
        let mut session = Session::accepting(&credentials(1)).unwrap();
        session.room().unwrap()[..damaged.len()].copy_from_slice(&damaged);
        session.filled(damaged.len());
        assert_ne!(session.greet(), Ok(true));
    }
}

/// Keys wear out after some 16 million messages, which the two then change without anybody noticing.
#[test]
fn worn_keys_are_changed() {
    let Some(SupportedCipherSuite::Tls13(suite)) = provider().cipher_suites.pop() else { panic!("TLS 1.3") };
    let common = CipherSuiteCommon { confidentiality_limit: 5, ..suite_common(suite) };
    let suite = Tls13CipherSuite { common, ..suite_parts(suite) };
    let mut provider = provider();
    provider.cipher_suites = vec![SupportedCipherSuite::Tls13(Box::leak(Box::new(suite)))];
    let credentials = Credentials::with(&Secret::from_bytes([1; 32]), provider).unwrap();
    let [mut a, mut b] = pair(&credentials).unwrap();
    let text = text(150_000);
    for round in 0..100 {
        let slices = [IoSlice::new(&text[..round * 997])];
        let n = a.seal(&slices).unwrap();
        carry(&mut a, &mut b).unwrap();
        assert!(read(&mut b, 5000).unwrap() == text[..n]);
        if round % 3 == 0 {
            let n = b.seal(&slices).unwrap();
            carry(&mut b, &mut a).unwrap();
            assert!(read(&mut a, 5000).unwrap() == text[..n]);
        }
    }
}

fn suite_common(suite: &Tls13CipherSuite) -> CipherSuiteCommon {
    CipherSuiteCommon {
        suite: suite.common.suite,
        hash_provider: suite.common.hash_provider,
        confidentiality_limit: suite.common.confidentiality_limit,
    }
}

fn suite_parts(suite: &Tls13CipherSuite) -> Tls13CipherSuite {
    Tls13CipherSuite {
        common: suite_common(suite),
        hkdf_provider: suite.hkdf_provider,
        aead_alg: suite.aead_alg,
        quic: None,
    }
}
