//! `cargo +nightly fuzz run wire`: frames from outside come to the PEs of a running job.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../core/src/tests/frames/shared.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::run(data));
