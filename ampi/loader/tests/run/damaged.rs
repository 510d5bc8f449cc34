//! Files that were cut or changed: refused, or read, but nothing else happens.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use talisman_loader::{LoadError, NoImports, Program, Search};

use crate::build::{Workshop, compilers};

crate::trials! {
    cut_programs_are_refused,
    changed_programs_do_no_harm,
}

/// A program with a bit of everything, and its file.
fn program(shop: &Workshop) -> (PathBuf, Vec<u8>) {
    let map = concat!("-Wl,--version-script=", env!("CARGO_MANIFEST_DIR"), "/tests/programs/symbols_lib.map");
    shop.library("symbols_lib", "symbols_lib.c", &[map]);
    let path =
        shop.build("symbols", "symbols.c", &["-lsymbols_lib", "-rdynamic", "-Wl,-z,pack-relative-relocs"]);
    let bytes = std::fs::read(&path).expect("it was built");
    (path, bytes)
}

fn prepare(path: &Path) -> Result<Program, LoadError> {
    Program::prepare(path, &Search::default(), &NoImports)
}

/// The library also: it is read by the same code, but after the program.
fn cut_programs_are_refused() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let (path, bytes) = program(&shop);
    prepare(&path).expect("the whole program is accepted");
    let loaded = 0x3000;
    assert!(bytes.len() > loaded);
    let file = std::fs::File::options().write(true).open(&path).expect("it was built");
    for len in (0..loaded).rev().step_by(61) {
        file.set_len(len as u64).expect("our own file");
        let error = prepare(&path).expect_err("a part of a program");
        assert!(!error.to_string().is_empty());
    }
}

fn changed_programs_do_no_harm() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let (path, bytes) = program(&shop);
    let library = shop.0.join("libsymbols_lib.so");
    let library_bytes = std::fs::read(&library).expect("it was built");
    change(&path, &path, &bytes);
    change(&path, &library, &library_bytes);
}

/// Changes a few bytes of `changed`, which `program` needs, or is. Headers and tables are at the beginning, and at the
/// end of what is loaded.
fn change(program: &Path, changed: &Path, bytes: &[u8]) {
    let file = std::fs::File::options().write(true).open(changed).expect("it was built");
    let (start, tables, end) = (0..0x400usize, 0..0x1000usize, bytes.len() - 0x800..bytes.len());
    let place = prop_oneof![4 => start, 4 => tables, 2 => 0x2000..0x4000usize, 1 => 0..bytes.len(), 1 => end];
    let value = prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(0x7f)];
    let changes = prop::collection::vec((place, value), 1..6);
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() });
    let result = runner.run(&changes, |changes| {
        for (at, value) in changes.iter().filter(|(at, _)| *at < bytes.len()) {
            file.write_all_at(&[*value], *at as u64).expect("our own file");
        }
        let prepared = prepare(program);
        if let Ok(program) = &prepared {
            let named = program.name_of(program.entry(0));
            prop_assert!(named.is_none_or(|(object, ..)| !object.is_empty()));
        }
        for (at, _) in changes.iter().filter(|(at, _)| *at < bytes.len()) {
            file.write_all_at(&bytes[*at..*at + 1], *at as u64).expect("our own file");
        }
        if let Err(error) = prepared {
            prop_assert!(!error.to_string().is_empty());
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    prepare(program).expect("it is as it was");
}
