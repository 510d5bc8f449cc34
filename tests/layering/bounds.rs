//! Where bounds are that are held against bytes of other nodes.

use std::path::Path;

/// Files that read such bytes.
const READERS: [&str; 13] = [
    "core/kernel/src/wire.rs",
    "core/kernel/src/wire/check.rs",
    "core/kernel/src/wire/compact.rs",
    "core/transport/src/lib.rs",
    "core/transport/src/frame.rs",
    "core/transport/src/shm/arriving.rs",
    "core/transport/src/shm/table.rs",
    "core/transport/src/tcp/assembly.rs",
    "core/src/reduction/tally.rs",
    "pup/src/unpacker.rs",
    "pup/src/via_serde.rs",
    "pup/src/packed.rs",
    "pup/src/bulk.rs",
];

/// Not bounds of what comes: how large a message is for another form, what is kept, or what is read again after it was
/// refused.
const OTHERS: [&str; 4] = ["SCRATCH_MAX", "START_MAX", "SMALL_MAX", "PLACED_MAX"];

/// Every bound is in `core/base/src/limits.rs` or `pup/src/limits.rs`, where both sides have it. Control messages are
/// checked by `frame.rs` when they are written, small frames and inline heads by whoever chooses the form.
#[test]
fn no_reader_has_a_bound_of_its_own() {
    for reader in READERS {
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(reader)).expect("it is there");
        let bounds =
            text.lines().map(str::trim).filter(|line| line.contains("const ") && line.contains("_MAX:"));
        let own: Vec<_> = bounds.filter(|line| !OTHERS.iter().any(|other| line.contains(other))).collect();
        assert!(own.is_empty(), "{reader} has a bound of its own: {own:?}");
    }
}
