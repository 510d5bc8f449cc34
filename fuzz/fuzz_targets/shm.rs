//! `cargo +nightly fuzz run shm`: another process writes anything into a live link through shared memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use talisman::transport::shm::hostile;

fuzz_target!(|data: &[u8]| hostile::run(data));
