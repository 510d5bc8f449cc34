//! What ranks find when they begin: words, folders and variables, of all programs or of their own; and scripts, which
//! their interpreters run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::job::{
    BOTH, Interface, c_compiler, compiled, folder, mpirun, output, printed, program, sorted, text,
};
use crate::trials::checks;

checks!(
    ranks_know_who_they_are_before_they_begin needs c_compiler,
    what_scripts_say_of_places_is_passed_over needs c_compiler,
    each_program_has_its_own_folder_and_variables needs c_compiler,
    libraries_are_those_of_the_variables needs c_compiler,
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

/// As with others' `mpirun`: a script may say more than there is here.
fn what_scripts_say_of_places_is_passed_over() {
    let file = program("surroundings.c", Interface::OpenMpi);
    let words = [
        "-x",
        "NO_SUCH_VARIABLE",
        "-npernode",
        "2",
        "-q",
        "--report-bindings",
        "-wdir",
        "/",
        name(&file),
        "-q",
    ];
    let said = output(&mut mpirun(&words));
    let ranks = std::thread::available_parallelism().map_or(1, usize::from);
    let expected: Vec<_> =
        (0..ranks).map(|rank| format!("rank {rank} of {ranks} in /, OWN=- ALL=-: -q")).collect();
    assert_eq!(sorted(&text(&said.stdout)), sorted(&expected.join("\n")));
    assert!(text(&said.stderr).contains("-x NO_SUCH_VARIABLE: there is no such variable here"));
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
    for text in ["given.c", "names.c"] {
        all_is_there(text);
    }
}

fn all_is_there(text: &str) {
    let file = program(text, Interface::Mpich);
    for way in [&[][..], &["--nodes", "2"], &["--nodes", "2", "--move-always"]] {
        let printed = printed(&mut mpirun(&[&["-n", "4"], way, &[name(&file)]].concat()));
        let expected = [0, 1, 2, 3].map(|rank| format!("{rank}: all there"));
        assert_eq!(sorted(&printed), expected, "{text} {way:?}");
    }
}

/// A profiler that the program knows nothing of: found by its path, or in the folder that a variable names.
fn libraries_are_those_of_the_variables() {
    for interface in BOTH {
        let file = program("profiled.c", interface);
        let options = ["-shared", "-fPIC", "-DPROFILER"];
        let profiler = compiled("profiled.c", interface, ".profiler", &options);
        let place = format!("LD_LIBRARY_PATH={}", name(folder()));
        let of = |library: &str| format!("LD_PRELOAD={library}");
        let (whole, short) =
            (of(name(&profiler)), of(profiler.file_name().and_then(|n| n.to_str()).expect("text")));
        let ways = [&["-x", &whole][..], &["-x", &short, "-x", &place, "--nodes", "2", "--move-always"]];
        for way in ways {
            let said = printed(&mut mpirun(&[&["-n", "3"], way, &[name(&file)]].concat()));
            let expected = ["rank 0 has sent 0", "rank 1 has sent 1", "rank 2 has sent 2"];
            assert_eq!(sorted(&said), expected, "{interface:?} {way:?}");
        }
        // The launcher finds a library of this name there, which nobody calls.
        let mut command = mpirun(&["-n", "2", name(&file)]);
        command.env("LD_PRELOAD", &profiler).env("LD_LIBRARY_PATH", folder());
        assert_eq!(
            sorted(&printed(&mut command)),
            ["rank 0 has sent 0", "rank 1 has sent 1"],
            "{interface:?}"
        );
        let second = [":", "-n", "1", "-x", &whole, name(&file)];
        let said = printed(&mut mpirun(&[&["-n", "2", name(&file)], &second[..]].concat()));
        assert_eq!(said, "rank 2 has sent 2\n", "{interface:?}");
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
