//! `cargo +nightly fuzz run pup`: bytes from outside, read as a type that uses everything.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../pup/tests/common/hostile.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::run(data));
