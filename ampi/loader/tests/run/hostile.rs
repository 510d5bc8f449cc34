//! The fuzz corpus on a stable compiler.

use std::path::{Path, PathBuf};

use talisman_loader::Meaning;

use crate::executables;

crate::trials! {
    hostile_seeds_are_the_committed_files,
    hostile_seeds_reach_what_they_are_for,
    hostile_files_do_no_harm,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// With `WRITE_CORPUS=1` the files are written anew.
fn hostile_seeds_are_the_committed_files() {
    for (name, bytes) in executables::seeds() {
        let file = corpus().join(name);
        if std::env::var_os("WRITE_CORPUS").is_some() {
            std::fs::write(&file, &bytes).expect("the corpus can be written");
        }
        assert!(std::fs::read(&file).expect("it was committed") == bytes, "{name} has changed");
    }
}

fn hostile_seeds_reach_what_they_are_for() {
    for (name, bytes) in executables::seeds() {
        let explained = executables::explained(&bytes);
        let is_program = ["program", "fixed"].contains(&name);
        assert_eq!(executables::run(&bytes), is_program, "{name}");
        if !is_program {
            assert!(explained.is_err(), "{name}");
            continue;
        }
        let explained = explained.unwrap_or_else(|error| panic!("{name}: {error}"));
        let imports: Vec<(&str, Meaning)> =
            explained.imports.iter().map(|i| (&i.name[..], i.meaning)).collect();
        assert_eq!(
            imports,
            [("printf@GLIBC_2.2.5", Meaning::Shared), ("environ", Meaning::Variable)],
            "{name}"
        );
    }
}

/// The seeds cut short and with bytes changed, and what a fuzzer has added.
fn hostile_files_do_no_harm() {
    for file in std::fs::read_dir(corpus()).expect("it was committed") {
        executables::run(&std::fs::read(file.expect("a file").path()).expect("a file"));
    }
    for (_, mut bytes) in executables::seeds() {
        for len in (0..bytes.len()).step_by(37) {
            assert!(!executables::run(&bytes[..len]), "{len} bytes");
        }
        for at in (0..bytes.len()).filter(|at| *at < 0x600 || (0x1000..0x1100).contains(at)) {
            if bytes[at] == 0 && at % 4 != 0 {
                continue;
            }
            for flip in [1, 0x40, 0xff] {
                bytes[at] ^= flip;
                executables::run(&bytes);
                bytes[at] ^= flip;
            }
        }
    }
}
