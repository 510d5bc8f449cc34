//! Test programs of OpenCoarrays, as a distribution ships them: images of Fortran, which read and write each other's memory by
//! one-sided communication of MPI. They look themselves whether all is right.

use std::path::{Path, PathBuf};

use crate::job::{BOTH, Interface, mpirun, printed};
use crate::trials::checks;

checks!(images_access_each_others_memory needs open_coarrays);

const PROGRAMS: [&str; 6] = [
    "atomics",
    // Waits for events of its own window, which it has locked so that nobody need wait for that.
    "asynchronous_hello_world",
    // Operations of the program are functions inside of functions.
    "co_reduce_test",
    "strided_sendget",
    "syncimages",
    "teams_coarray_sendget",
];

/// What is looked for in what each prints.
const PASSED: &str = "Test passed";

fn open_coarrays() -> Option<String> {
    let is_there = BOTH.iter().all(|interface| PROGRAMS.iter().all(|name| path(*interface, name).is_file()));
    (!is_there).then(|| "libcoarrays-mpich-dev and libcoarrays-openmpi-dev are not installed".to_owned())
}

fn path(interface: Interface, name: &str) -> PathBuf {
    let of = if interface == Interface::Mpich { "mpich" } else { "openmpi" };
    let folder = Path::new("/usr/lib/x86_64-linux-gnu/open-coarrays").join(of);
    folder.join("bin/OpenCoarrays-2.10.1-tests").join(name)
}

fn images_access_each_others_memory() {
    for interface in BOTH {
        for name in PROGRAMS {
            let file = path(interface, name);
            let file = file.to_str().expect("a name that is text");
            for way in [&[][..], &["--nodes", "3", "--move-always"]] {
                let printed = printed(&mut mpirun(&[&["-n", "4"], way, &[file]].concat()));
                assert!(printed.contains(PASSED), "{name} {interface:?} {way:?}: {printed}");
            }
        }
    }
}
