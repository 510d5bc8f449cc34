//! What cannot be run is refused before anything starts, with the reason.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::job::{BOTH, Interface, c_compiler, called, folder, mpirun, output, program, text};
use crate::trials::checks;

checks!(
    words_that_make_no_sense,
    files_that_are_no_programs,
    names_of_the_command,
    a_program_without_a_library needs c_compiler,
    what_a_program_needs_is_said_without_running_it needs c_compiler,
);

fn refusal(words: &[&str]) -> String {
    let output = output(&mut mpirun(words));
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}: {said}");
    said
}

fn words_that_make_no_sense() {
    for (words, expected) in [
        (&["-n", "0", "true"][..], "from 1 to 32768"),
        (&["-np", "four", "true"], "from 1 to 32768"),
        (&["-n", "2"], "PROGRAM"),
        (&["-n", "2", "no-such-program"], "there is no program `no-such-program` in PATH"),
        (&["-n", "2", "./no-such-program"], "there is no program `./no-such-program`"),
        (&["-n", "1", "true", ":", "true"], "behind a `:` needs its number of ranks"),
        (&["-n", "1", "true", ":", "-n", "1", "no-such-program"], "no program `no-such-program`"),
        (&["-n", "1", "true", ":", "-n", "32768", "true"], "from 1 to 32768"),
        (&["-n", "2", "-wdir", "/no/such/folder", "true"], "no folder `/no/such/folder`"),
        (
            &["-n", "1", "true", ":", "-n", "1", "-wdir", "/no/such/folder", "true"],
            "no folder `/no/such/folder`",
        ),
        (&["-n", "1", "true", ":", "--nodes", "2", "-n", "1", "true"], "before its first program"),
        (&["-n", "2", "--nodse", "2", "true"], "--nodse"),
        (&["-n", "2", "--nodes", "2", "--ft", "logging", "--slice", "20ms", "true"], "nobody logs"),
        (&["-n", "2", "--record", "no/such/folder", "--slice", "20ms", "true"], "leave --record out"),
        (&["-n", "2", "-hosts", "a:many", "true"], "number of slots"),
        (&["-n", "2", "-hostfile", "no/such/file", "true"], "no/such/file"),
    ] {
        let said = refusal(words);
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

fn files_that_are_no_programs() {
    let file = |name: &str, bytes: &[u8]| {
        let file = folder().join(name);
        fs::write(&file, bytes).expect("the folder is there");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
        file.to_str().expect("a name that is text").to_owned()
    };
    let elf = |class: u8, kind: u8, machine: u8| {
        [&b"\x7fELF"[..], &[class, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, kind, 0, machine, 0]].concat()
    };
    for (name, bytes, expected) in [
        ("script", b"#!/bin/sh\n".to_vec(), "is a script of sh"),
        ("found", b"#!/usr/bin/env bash\n".to_vec(), "is a script of bash"),
        ("lost", b"#!/no/such/interpreter\n".to_vec(), "no program `/no/such/interpreter`"),
        ("text", b"some text that is no program".to_vec(), "is no executable"),
        ("empty", Vec::new(), "is no executable"),
        ("narrow", elf(1, 3, 3), "another machine"),
        ("arm", elf(2, 3, 183), "another machine"),
    ] {
        let said = refusal(&["-n", "2", &file(name, &bytes)]);
        assert!(said.contains(expected), "{name}: {said}");
    }
    // Its header is right, and nothing else is.
    let output = output(&mut mpirun(&["-n", "2", &file("damaged", &elf(2, 3, 62))]));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("damaged"), "{}", text(&output.stderr));
}

fn names_of_the_command() {
    for name in ["mpirun", "mpiexec", "/usr/bin/mpiexec"] {
        let output = output(&mut called(name, &["-np", "0", "true"]));
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("from 1 to 32768"), "{name}: {}", text(&output.stderr));
    }
}

fn a_program_without_a_library() {
    let file = program("heat.c", Interface::Mpich);
    let text_of = fs::read(&file).expect("it was compiled");
    // Another name of the same length.
    let (from, to) = (b"libm.so.6".as_slice(), b"libx.so.6".as_slice());
    let at = text_of.windows(from.len()).position(|window| window == from).expect("it needs the library");
    let mut other = text_of;
    other[at..at + to.len()].copy_from_slice(to);
    let broken = folder().join("broken");
    fs::write(&broken, other).expect("the folder is there");
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let output = output(&mut mpirun(&["-n", "2", broken.to_str().expect("text"), "1", "1", "1"]));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("needs the library libx.so.6"), "{said}");
}

fn what_a_program_needs_is_said_without_running_it() {
    for interface in BOTH {
        let file = program("heat.c", interface);
        let output = output(&mut mpirun(&["--explain", file.to_str().expect("text")]));
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        for line in ["answered  MPI_Init", "answered  malloc", "answered library libmpi"] {
            assert!(said.contains(line), "no `{line}` in {said}");
        }
    }
}
