//! `cargo +nightly fuzz run executables`: bytes as a program that ranks are to run.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../ampi/loader/tests/run/executables.rs"]
mod shared;

fuzz_target!(|data: &[u8]| {
    shared::run(data);
});
