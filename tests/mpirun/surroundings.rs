//! What ranks find when they begin: words, folders and variables, of all programs or of their own; and scripts, which
//! their interpreters run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::job::{BOTH, Interface, c_compiler, folder, mpirun, printed, program, sorted};
use crate::trials::checks;

checks!(
    ranks_know_who_they_are_before_they_begin needs c_compiler,
    each_program_has_its_own_folder_and_variables needs c_compiler,
    scripts_are_run_by_their_interpreters needs c_compiler,
    what_the_c_library_gives_stays_with_a_rank needs c_compiler,
);

fn name(file: &Path) -> &str {
    file.to_str().expect("a name that is text")
}

/// The program ends with a status otherwise.
fn ranks_know_who_they_are_before_they_begin() {
    for interface in BOTH {
        let file = program("surroundings.c", interface);
        for way in [&[][..], &["--nodes", "2"]] {
            let printed =
                printed(&mut mpirun(&[&["-n", "3", "-wdir", "/"], way, &[name(&file), "a"]].concat()));
            let line = |rank| format!("rank {rank} of 3 in /, OWN=- ALL=-: a");
            assert_eq!(sorted(&printed), [0, 1, 2].map(line), "{interface:?} {way:?}");
        }
    }
}

fn each_program_has_its_own_folder_and_variables() {
    let file = program("surroundings.c", Interface::Mpich);
    let file = name(&file);
    let own = ["-wdir", "/usr", "-x", "OWN=second", "-x", "ALL=other", "-n", "2", file, "b"];
    for way in [&[][..], &["--nodes", "2"], &["--nodes", "2", "--move-always"]] {
        let first = ["-n", "1", "-wdir", "/", "-x", "ALL=all", file, "a", ":"];
        let third = [":", "-n", "1", file];
        let printed = printed(&mut mpirun(&[way, &first, &own, &third].concat()));
        let expected = [
            "rank 0 of 4 in /, OWN=- ALL=all: a",
            "rank 1 of 4 in /usr, OWN=second ALL=other: b",
            "rank 2 of 4 in /usr, OWN=second ALL=other: b",
            "rank 3 of 4 in /, OWN=- ALL=all:",
        ];
        assert_eq!(sorted(&printed), expected, "{way:?}");
    }
}

fn what_the_c_library_gives_stays_with_a_rank() {
    let file = program("given.c", Interface::Mpich);
    for way in [&[][..], &["--nodes", "2"], &["--nodes", "2", "--move-always"]] {
        let printed = printed(&mut mpirun(&[&["-n", "4"], way, &[name(&file)]].concat()));
        assert_eq!(sorted(&printed), [0, 1, 2, 3].map(|rank| format!("{rank}: all there")), "{way:?}");
    }
}

fn scripts_are_run_by_their_interpreters() {
    let interpreter = program("surroundings.c", Interface::OpenMpi);
    let script = |name: &str, line: String| {
        let file = folder().join(name);
        fs::write(&file, format!("#!{line}\nwhat follows is the interpreter's\n"))
            .expect("the folder is there");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
        file
    };
    let inner = script("inner", format!("{} one argument", name(&interpreter)));
    let outer = script("outer", format!(" {} ", inner.display()));
    let (inner, outer) = (name(&inner), name(&outer));
    for (file, words) in
        [(inner, format!("one argument {inner} x y")), (outer, format!("one argument {inner} {outer} x y"))]
    {
        let printed = printed(&mut mpirun(&["-n", "2", "-wdir", "/", file, "x", "y"]));
        let line = |rank| format!("rank {rank} of 2 in /, OWN=- ALL=-: {words}");
        assert_eq!(sorted(&printed), [0, 1].map(line));
    }
}
