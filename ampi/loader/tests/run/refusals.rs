//! What is not run, and what is said about it.

use std::path::Path;

use talisman_loader::{LoadError, NoImports, Program, Search};

use crate::build::{Workshop, compilers};

crate::trials! {
    other_files_are_refused,
    executables_that_cannot_move_are_refused,
    missing_libraries_are_named,
    missing_symbols_are_named,
    places_have_names,
}

fn refusal(path: &Path) -> LoadError {
    match Program::prepare(path, &Search::default(), &NoImports) {
        Ok(_) => panic!("{} was accepted", path.display()),
        Err(error) => error,
    }
}

fn other_files_are_refused() {
    let shop = Workshop::new();
    let write = |name: &str, bytes: &[u8]| {
        let path = shop.0.join(name);
        std::fs::write(&path, bytes).expect("a folder of our own");
        path
    };
    let script = refusal(&write("script", b"#!/usr/bin/env python3\nprint()\n"));
    assert!(
        matches!(&script, LoadError::Script { interpreter, .. } if interpreter == "/usr/bin/env python3"),
        "{script}"
    );
    assert!(matches!(refusal(&write("text", b"hello")), LoadError::NotElf { .. }));
    assert!(matches!(refusal(&write("empty", b"")), LoadError::NotElf { .. }));
    assert!(matches!(refusal(&shop.0), LoadError::NotElf { .. }), "a folder");
    assert!(matches!(refusal(&shop.0.join("nothing")), LoadError::Read { .. }));
    let mut foreign = vec![0; 64];
    foreign[..8].copy_from_slice(b"\x7fELF\x01\x01\x01\0");
    assert!(refusal(&write("old", &foreign)).to_string().contains("32-bit"));
    foreign[4] = 2;
    foreign[18] = 183;
    assert!(refusal(&write("arm", &foreign)).to_string().contains("aarch64"));
}

fn executables_that_cannot_move_are_refused() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    let build = |name: &str, options: &[&str]| refusal(&shop.build(name, "small.c", options));
    assert!(matches!(build("static", &["-static"]), LoadError::Static { .. }));
    assert!(matches!(build("static-pie", &["-static-pie"]), LoadError::Static { .. }));
    assert!(matches!(build("fixed", &["-no-pie"]), LoadError::FixedAddress { .. }));
    assert!(matches!(build("library.so", &["-shared", "-fPIC"]), LoadError::Library { .. }));
}

fn missing_libraries_are_named() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    shop.library("data_lib", "data_lib.c", &[]);
    let program = shop.build("data", "data.c", &["-ldata_lib"]);
    std::fs::remove_file(shop.0.join("libdata_lib.so")).expect("it was built");
    let error = refusal(&program);
    let LoadError::MissingLibrary { name, wanted_by, searched } = &error else { panic!("{error}") };
    assert_eq!((&name[..], wanted_by), ("libdata_lib.so", &program));
    assert!(searched.contains(&shop.0.canonicalize().expect("it exists")), "{error}");
}

/// A library that has lost a function, and one of another version.
fn missing_symbols_are_named() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    shop.library("data_lib", "data_lib.c", &[]);
    let program = shop.build("data", "data.c", &["-ldata_lib"]);
    shop.library("data_lib", "data_lib.c", &["-Dlib_count=renamed", "-Dlib_names=renamed_too"]);
    let error = refusal(&program);
    let LoadError::MissingSymbols { symbols } = &error else { panic!("{error}") };
    let mut names: Vec<&str> = symbols.iter().map(|symbol| &symbol.name[..]).collect();
    names.sort_unstable();
    assert_eq!(names, ["lib_count", "lib_names"]);
    assert!(symbols.iter().all(|symbol| symbol.wanted_by == program), "{error}");
}

fn places_have_names() {
    if !compilers() {
        return;
    }
    let shop = Workshop::new();
    shop.library("data_lib", "data_lib.c", &[]);
    let path = shop.build("data", "data.c", &["-ldata_lib"]);
    let program = Program::prepare(&path, &Search::default(), &NoImports).expect("a program that runs");
    // `main` is not exported, but `shared_name` is, as the library refers to it.
    let shared = program.symbol("shared_name").expect("it is exported");
    assert_eq!(program.symbol("main"), None);
    assert_eq!(program.name_of(shared + 1), Some(("data", "shared_name", 1)));
    let entry = program.name_of(program.entry(0) + 4);
    assert_eq!(entry, Some(("data", "_start", 4)));
    let count = program.symbol("lib_count").expect("it is exported");
    assert_eq!(program.name_of(count + 1), Some(("libdata_lib.so", "lib_count", 1)));
    let stripped = shop.build("stripped", "data.c", &["-ldata_lib", "-s"]);
    let stripped = Program::prepare(&stripped, &Search::default(), &NoImports).expect("a program that runs");
    let shared = stripped.symbol("shared_name").expect("it is exported");
    assert_eq!(stripped.name_of(shared + 1), Some(("stripped", "shared_name", 1)));
    assert_eq!((program.symbol("no_such_name"), program.name_of(program.span())), (None, None));
    assert_eq!(program.objects_at(0).count(), 2);
}
