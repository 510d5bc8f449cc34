//! Tests of how two processes meet: benchmarks share that code, and have no tests.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};

use crate::raw::meeting::{Door, dial};

/// A word that no door has.
fn no_word() -> String {
    "00".repeat(16)
}

#[test]
fn the_two_meet_whoever_else_comes() {
    let door = Door::open().unwrap();
    let address = door.address();
    let port: u16 = address.split(' ').nth(1).unwrap().parse().unwrap();
    let mut stranger = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stranger.write_all(&[0; 16]).unwrap();
    let mut guest = dial(&address).unwrap();
    let mut host = door.accept().unwrap();
    guest.write_all(b"hello").unwrap();
    let mut heard = [0; 5];
    host.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"hello");
}

#[test]
fn what_is_no_address_is_refused() {
    let no_port = format!("{} x 127.0.0.1", no_word());
    for address in ["", "0123", "zz 1 127.0.0.1", &no_port, &"é".repeat(16), &format!("{} 1", no_word())] {
        assert_eq!(dial(address).unwrap_err().kind(), ErrorKind::InvalidData, "{address}");
    }
    // Nobody listens there.
    assert!(dial(&format!("{} 1 127.0.0.1", no_word())).is_err());
}
