//! `cargo +nightly fuzz run requests`: bytes from who asks a running job.
#![no_main]

extern crate talisman as talisman;

use libfuzzer_sys::fuzz_target;

#[path = "../shared/doors.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::requests(data));
