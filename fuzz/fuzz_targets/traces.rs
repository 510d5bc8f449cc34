//! `cargo +nightly fuzz run traces`: bytes as traces, and as parts of them.
#![no_main]

extern crate talisman as talisman;

use libfuzzer_sys::fuzz_target;

#[path = "../shared/doors.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::traces(data));
