//! `cargo +nightly fuzz run messages`: bytes from agents, launchers and nodes, read as messages.
#![no_main]

extern crate talisman as talisman;

use libfuzzer_sys::fuzz_target;

#[path = "../shared/doors.rs"]
mod shared;

fuzz_target!(|data: &[u8]| shared::messages(data));
