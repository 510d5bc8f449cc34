//! `cargo +nightly fuzz run page`: bytes from who comes to the page of a running job.
#![no_main]

extern crate talisman as talisman;

use libfuzzer_sys::fuzz_target;

#[path = "../shared/doors.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::page(data));
