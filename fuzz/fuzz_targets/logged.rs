//! `cargo +nightly fuzz run logged`: bytes as what a node of a job that logs hears.
#![no_main]

extern crate talisman as talisman;

use libfuzzer_sys::fuzz_target;

#[path = "../shared/doors.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::logged(data));
