//! `cargo +nightly fuzz run succession`: bytes from who comes to the door of a successor.
#![no_main]

extern crate talisman as talisman;

use libfuzzer_sys::fuzz_target;

#[path = "../shared/doors.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::succession(data));
