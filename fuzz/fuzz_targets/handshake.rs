//! `cargo +nightly fuzz run handshake`: bytes from a peer, read as a handshake.
#![no_main]

extern crate talisman as talisman;

use libfuzzer_sys::fuzz_target;

#[path = "../shared/frames.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::handshake(data));
