//! Files of MPI (`MPI_File_open` and its kin): what programs print and write is what they do under the library that they
//! were built for, however their ranks are moved and whichever nodes are lost.

use std::fs;
use std::path::Path;

use crate::groups::{built, fortran, native_with, wrappers};
use crate::job::{BOTH, folder, mpirun, printed, sorted};
use crate::trials::checks;

checks!(
    files_of_c needs wrappers,
    files_of_fortran needs fortran,
    names_with_a_kind_of_file_system needs wrappers,
    pointers_begin_at_the_end_that_all_have_seen needs wrappers,
);

fn files_of_c() {
    everywhere("files.c", &["offsets", "views", "blocks", "external", "later", "states"]);
}

fn files_of_fortran() {
    everywhere("records.f90", &["records", "turns"]);
}

/// Under MPICH it is taken off; under Open MPI it is a part of the name.
fn names_with_a_kind_of_file_system() {
    for interface in BOTH {
        let file = built("names.c", interface);
        let file = file.to_str().expect("a name that is text");
        let place = folder().join(format!("names-{interface:?}"));
        fs::create_dir_all(&place).expect("the folder of this run");
        let place = place.to_str().expect("text");
        let native = native_with(interface, file, &[place]);
        for way in [&[][..], &["--nodes", "2", "--move-always"]] {
            let printed = printed(&mut mpirun(&[&["-n", RANKS], way, &[file, place]].concat()));
            assert!(printed.lines().count() == 8, "{printed}");
            assert_eq!(printed, native.clone().unwrap_or(printed.clone()), "{interface:?} {way:?}");
        }
    }
}

/// Who comes first from opening a file to append writes to it at once.
fn pointers_begin_at_the_end_that_all_have_seen() {
    for interface in BOTH {
        let file = built("appended.c", interface);
        let name = folder().join(format!("appended-{interface:?}"));
        let words = ["-n", RANKS, file.to_str().expect("text"), name.to_str().expect("text")];
        let of_all = |line: &str| (0..4).map(|rank| format!("rank {rank}: {line}")).collect::<Vec<_>>();
        for way in [&[][..], &["--nodes", "2"], &["--nodes", "2", "--move-always"]] {
            let printed = printed(&mut mpirun(&[way, &words].concat()));
            assert_eq!(sorted(&printed), of_all("10, for all 10"), "{interface:?} {way:?}");
        }
    }
}

const WAYS: [(&str, &[&str]); 4] = [
    ("alone", &[]),
    ("apart", &["--nodes", "3"]),
    ("moved", &["--nodes", "3", "--move-always"]),
    (
        "lost",
        &["--nodes", "3", "--move-always", "--ft", "double", "--ckpt-every", "50ms", "--kill", "1@300ms"],
    ),
];

const RANKS: &str = "4";

/// How often all is done: under its own library once, since Open MPI 4.1 may not come back from opening a file again.
const ROUNDS: &str = "3";

fn everywhere(source: &str, files: &[&str]) {
    for interface in BOTH {
        let file = built(source, interface);
        let file = file.to_str().expect("a name that is text");
        let prefix = |of: &str| folder().join(format!("{source}-{interface:?}-{of}"));
        let job = |name: &str, way: &[&str]| {
            let prefix = prefix(name);
            let prefix = prefix.to_str().expect("text");
            printed(&mut mpirun(&[&["-n", RANKS], way, &[file, ROUNDS, prefix]].concat()))
        };
        let of_native = prefix("native");
        let arguments = ["1", of_native.to_str().expect("text")];
        let expected = native_with(interface, file, &arguments).unwrap_or_else(|| job("native", &[]));
        assert!(expected.lines().count() >= 12, "{expected}");
        for (name, way) in WAYS {
            assert_eq!(different(&job(name, way)), different(&expected), "{source} {interface:?} {way:?}");
            for of in files {
                let [one, other] = ["native", name].map(|name| content(&prefix(name), of));
                assert!(one == other, "{source} {interface:?} {way:?}: the file `{of}` differs");
            }
            assert_eq!(left_behind(&prefix(name)), [""; 0], "files of pointers");
        }
    }
}

/// Each round prints the same.
fn different(text: &str) -> Vec<&str> {
    let mut lines = sorted(text);
    lines.dedup();
    lines
}

fn content(prefix: &Path, of: &str) -> Vec<u8> {
    let name = format!("{}-{of}", prefix.display());
    fs::read(&name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Files beside those of the program, which are deleted at the end.
fn left_behind(prefix: &Path) -> Vec<String> {
    let start = format!(".{}", prefix.file_name().expect("a name").to_string_lossy());
    let all = fs::read_dir(folder()).expect("the folder of this run").flatten();
    all.map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(&start))
        .collect()
}
