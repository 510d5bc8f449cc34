//! `cargo +nightly fuzz run checkpoints`: bytes as files of checkpoints.
#![no_main]

extern crate talisman as talisman;

use libfuzzer_sys::fuzz_target;

#[path = "../shared/doors.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::checkpoints(data));
