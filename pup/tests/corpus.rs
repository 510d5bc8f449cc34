//! The fuzz corpus on a stable compiler. Its seeds also pin the format: a change of one byte fails here.
extern crate talisman_pup as talisman;

use std::path::{Path, PathBuf};

#[path = "common/hostile.rs"]
mod shared;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// With `WRITE_CORPUS=1` the files are written anew, after a change of the format that is meant.
#[test]
fn the_seeds_are_the_committed_files() {
    for (name, bytes) in shared::seeds() {
        let file = corpus().join(name);
        if std::env::var_os("WRITE_CORPUS").is_some() {
            std::fs::write(&file, &bytes).unwrap();
        }
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{name}: the format has changed");
    }
}

#[test]
fn seeds_that_are_not_hostile_are_read() {
    for (name, bytes) in shared::seeds() {
        let read = talisman::pup::from_bytes::<Vec<shared::Anything>>(&bytes);
        assert_eq!(read.is_err(), name.starts_with("hostile"), "{name}: {:?}", read.err());
    }
}

#[test]
fn the_corpus_replays() {
    let files: Vec<_> = std::fs::read_dir(corpus()).unwrap().map(|f| f.unwrap().path()).collect();
    assert!(files.len() >= shared::seeds().len());
    files.iter().for_each(|file| shared::run(&std::fs::read(file).unwrap()));
}

/// Every seed cut short at each byte, and with each byte changed: what a fuzzer would try first.
#[test]
fn damaged_seeds_do_no_harm() {
    for (_, mut bytes) in shared::seeds() {
        (0..bytes.len()).for_each(|n| shared::run(&bytes[..n]));
        for i in 0..bytes.len() {
            for flip in [1, 2, 4, 0x10, 0x40, 0x80, 0xff] {
                bytes[i] ^= flip;
                shared::run(&bytes);
                bytes[i] ^= flip;
            }
        }
    }
}
