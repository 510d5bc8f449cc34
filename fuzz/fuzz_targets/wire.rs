//! `cargo +nightly fuzz run wire`: frames from outside come to the PEs of a running job.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../shared/wire.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::run(data));
