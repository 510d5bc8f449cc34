//! What ranks have for themselves, and what they print.

use std::process::Command;

use crate::job::{
    BOTH, Interface, c_compiler, compiled, cxx_compiler, folder, mpirun, printed, printed_of, program, sorted,
};
use crate::trials::checks;

checks!(
    ranks_have_what_processes_have needs c_compiler,
    large_arrays_have_room needs c_compiler,
    code_runs_on_stacks needs c_compiler,
    parts_of_the_c_library_are_the_same_everywhere needs c_compiler,
    lines_are_whole_and_labelled needs c_compiler,
    input_goes_to_rank_0 needs c_compiler,
    calls_are_in_the_trace needs c_compiler,
    exceptions_are_caught needs cxx_compiler,
    a_program_with_a_profile_moves needs c_compiler,
);

/// Of one node, and of several.
const WAYS: [&[&str]; 2] = [&[], &["--nodes", "2"]];

fn ranks_have_what_processes_have() {
    for interface in BOTH {
        let file = program("basics.c", interface);
        let file = file.to_str().expect("a name that is text");
        for (ranks, way) in [(1, WAYS[0]), (2, WAYS[0]), (7, WAYS[0]), (4, WAYS[1]), (9, WAYS[1])] {
            let count = ranks.to_string();
            let words = [way, &["-np", &count, "-x", "GIVEN=a value", file, "two words", "-n"]].concat();
            let sum = f64::from(ranks) * f64::from(ranks) / 2.0;
            let expected: Vec<String> =
                (0..ranks).map(|rank| format!("rank {rank} of {ranks}: sum {sum}, a value")).collect();
            assert_eq!(sorted(&printed(&mut mpirun(&words))), expected, "{interface:?} {words:?}");
        }
    }
}

/// Programs take as much of a slot's addresses as they need, and of memory what they touch.
fn large_arrays_have_room() {
    let file = program("large.c", Interface::OpenMpi);
    let file = file.to_str().expect("a name that is text");
    for way in [&["--nodes", "2"][..], &["--nodes", "2", "--move-always"]] {
        let printed = printed(&mut mpirun(&[&["-n", "4"], way, &[file]].concat()));
        assert_eq!(sorted(&printed), [0, 1, 2, 3].map(|rank| format!("rank {rank}: 6")), "{way:?}");
    }
}

/// Functions inside of functions are called by code on the stack, which moves with its rank.
fn code_runs_on_stacks() {
    let lost =
        ["--nodes", "3", "--move-always", "--ft", "double", "--ckpt-every", "20ms", "--kill", "1@150ms"];
    for interface in BOTH {
        let file = program("nested.c", interface);
        let file = file.to_str().expect("a name that is text");
        for way in [&[][..], &["--nodes", "2", "--move-always"], &lost] {
            let printed = printed(&mut mpirun(&[&["-n", "4"], way, &[file]].concat()));
            let expected = [0, 1, 2, 3].map(|rank| format!("rank {rank}: {}", 300 * (4 * rank + 6)));
            assert_eq!(sorted(&printed), expected, "{way:?}");
        }
    }
}

/// Also such as the runtime itself does not need, and handles of them.
fn parts_of_the_c_library_are_the_same_everywhere() {
    let killed = ["--nodes", "3", "--ft", "double", "--ckpt-every", "20ms", "--kill", "1@150ms", "--respawn"];
    for interface in BOTH {
        let file = program("libraries.c", interface);
        let file = file.to_str().expect("a name that is text");
        for way in [&[][..], &["--nodes", "3", "--move-always"], &killed] {
            let printed = printed(&mut mpirun(&[&["-n", "4"], way, &[file]].concat()));
            let expected = [0, 1, 2, 3].map(|rank| format!("rank {rank}: 200 200 200"));
            assert_eq!(sorted(&printed), expected, "{interface:?} {way:?}");
        }
    }
}

fn calls_are_in_the_trace() {
    for interface in BOTH {
        let file = program("basics.c", interface);
        let file = file.to_str().expect("a name that is text");
        let trace = folder().join(format!("{interface:?}.pftrace"));
        let name = trace.to_str().expect("a name that is text");
        printed(&mut mpirun(&[
            "-n",
            "4",
            "--nodes",
            "2",
            "--trace",
            name,
            "-x",
            "GIVEN=a value",
            file,
            "two words",
            "-n",
        ]));
        let summary = Command::new(env!("CARGO_BIN_EXE_talisman")).arg("trace").arg(&trace).output();
        let said = String::from_utf8_lossy(&summary.expect("it has been built").stdout).into_owned();
        for call in ["Calls of ranks", "MPI_Init", "MPI_Comm_rank", "MPI_Finalize"] {
            assert!(said.contains(call), "{interface:?} {call}: {said}");
        }
    }
}

fn lines_are_whole_and_labelled() {
    let file = program("ends.c", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let plain = printed(&mut mpirun(&["-n", "2", file, "lines"]));
    let expected = [
        "begun by 0, ended by 0",
        "begun by 1, ended by 1",
        "without an endlast words",
        "without an endlast words",
    ];
    assert_eq!(sorted(&plain), expected);
    for option in ["--label-output", "-l"] {
        let labelled = printed(&mut mpirun(&[option, "-n", "2", "--nodes", "2", file, "lines"]));
        let expected = [
            "[0] begun by 0, ended by 0",
            "[0] without an endlast words",
            "[1] begun by 1, ended by 1",
            "[1] without an endlast words",
        ];
        assert_eq!(sorted(&labelled), expected);
    }
}

fn input_goes_to_rank_0() {
    let file = program("ends.c", Interface::OpenMpi);
    let file = file.to_str().expect("a name that is text");
    for way in WAYS {
        let words = [way, &["-n", "3", file, "input"]].concat();
        let printed = printed_of(&mut mpirun(&words), "one\ntwo\n");
        let expected = ["last words", "last words", "last words", "rank 0 read one", "rank 0 read two"];
        assert_eq!(sorted(&printed), expected, "{way:?}");
    }
}

fn exceptions_are_caught() {
    let file = program("throws.cc", Interface::OpenMpi);
    let file = file.to_str().expect("a name that is text");
    for way in WAYS {
        let printed = printed(&mut mpirun(&[way, &["-n", "3", file]].concat()));
        let mut expected = vec!["destroyed".to_owned(); 3];
        for rank in 0..3 {
            expected.extend((0..3).map(|round| format!("from rank {rank}, round {round}, 3")));
        }
        assert_eq!(sorted(&printed), expected, "{way:?}");
    }
}

/// Of a program that was compiled with `-pg` nothing is counted: it does all else.
fn a_program_with_a_profile_moves() {
    let file = compiled("heat.c", Interface::Mpich, ".profiled", &["-fPIE", "-pie", "-pg"]);
    let task = [file.to_str().expect("text"), "200", "100", "50"];
    let undisturbed = printed(&mut mpirun(&[&["-n", "3"], &task[..]].concat()));
    let moved = printed(&mut mpirun(&[&["-n", "3", "--nodes", "2", "--move-always"], &task[..]].concat()));
    assert_eq!(undisturbed, moved);
}
