//! `cargo +nightly fuzz run frames`: bytes from a peer, read as the frames of a link.
#![no_main]

extern crate talisman as talisman;

use libfuzzer_sys::fuzz_target;

#[path = "../shared/frames.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::frames(data));
