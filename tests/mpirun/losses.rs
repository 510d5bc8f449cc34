//! Ranks that move, are checkpointed, and whose nodes are killed: what is printed is what is printed without all that.

use crate::job::{BOTH, Interface, c_compiler, cxx_compiler, folder, mpirun, printed, program, sorted};
use crate::trials::checks;

checks!(
    ranks_move needs c_compiler,
    ranks_survive_the_loss_of_nodes needs c_compiler,
    files_that_ranks_have_open_go_with_them needs c_compiler,
    exceptions_are_caught_after_moves needs cxx_compiler,
    coroutines_go_with_their_rank needs c_compiler,
    each_rank_has_a_number_of_its_own needs c_compiler,
);

/// Long enough for something to happen in it; whether it does, nothing depends on.
const TASK: [&str; 3] = ["2000", "3000", "250"];

fn same(ways: &[&[&str]]) {
    for interface in BOTH {
        let file = program("heat.c", interface);
        let job = |way: &[&str]| {
            let task = [&["-n", "6", file.to_str().expect("a name that is text")][..], &TASK].concat();
            printed(&mut mpirun(&[way, &task].concat()))
        };
        let undisturbed = job(&[]);
        assert_eq!(undisturbed.lines().count(), 12, "{undisturbed}");
        for way in ways {
            assert_eq!(job(way), undisturbed, "{interface:?} {way:?}");
        }
    }
}

fn ranks_move() {
    same(&[
        &["--nodes", "2", "--balancer", "rotate", "--lb-every", "20ms"],
        &["--nodes", "3", "--balancer", "greedy"],
    ]);
}

fn ranks_survive_the_loss_of_nodes() {
    let kept = ["--ft", "double", "--ckpt-every", "50ms", "--nodes", "3"];
    let ways: Vec<Vec<&str>> = [
        &["--kill", "1@300ms"][..],
        &["--kill", "2@200ms,1@500ms", "--respawn"],
        &["--kill", "0@400ms", "--balancer", "rotate", "--lb-every", "30ms"],
    ]
    .iter()
    .map(|loses| [&kept[..], loses].concat())
    .collect();
    same(&ways.iter().map(Vec::as_slice).collect::<Vec<_>>());
}

/// As natively, though some are in one process: programs name files by it, and begin random numbers with it.
fn each_rank_has_a_number_of_its_own() {
    let file = program("own_number.c", Interface::OpenMpi);
    let kept = |ft, period| ["--nodes", "3", "--ft", ft, "--ckpt-every", period];
    let ways = [
        ("alone", &[][..], &[][..]),
        ("moves", &["--nodes", "2", "--move-always"], &[]),
        ("double", &kept("double", "15ms"), &["2@20"]),
        ("logging", &kept("logging", "15ms"), &["2@20"]),
        ("logging-first", &kept("logging", "1h"), &["5@15"]),
    ];
    for (name, way, killed) in ways {
        let stem = folder().join(format!("own-number-{name}"));
        let task = [file.to_str().expect("text"), stem.to_str().expect("text"), "30"];
        let said = printed(&mut mpirun(&[&["-n", "6"], way, &task, killed].concat()));
        assert_eq!(said, "30 rounds\n", "{name}");
    }
}

/// Which wait on stacks that the program has made.
fn coroutines_go_with_their_rank() {
    let file = program("coroutines.c", Interface::Mpich);
    let kept = |ft, period| ["--nodes", "3", "--ft", ft, "--ckpt-every", period];
    let ways = [
        ("alone", &[][..], &[][..]),
        ("moves", &["--nodes", "2", "--move-always"], &[]),
        ("double", &kept("double", "15ms"), &["2@25"]),
        ("logging", &kept("logging", "15ms"), &["2@25"]),
        ("logging-first", &kept("logging", "1h"), &["5@30"]),
    ];
    let expected: Vec<_> = (0..6).map(|rank| format!("rank {rank}: 5280 9960")).collect();
    for (name, way, killed) in ways {
        let stem = folder().join(format!("coroutines-{name}"));
        let task = [file.to_str().expect("text"), stem.to_str().expect("text")];
        let said = printed(&mut mpirun(&[&["-n", "6"], way, &task, killed].concat()));
        assert_eq!(sorted(&said), expected, "{name}");
    }
}

/// Ranks write to a file each, one line a round, with a stream and with a descriptor; and read what they have written.
fn files_that_ranks_have_open_go_with_them() {
    let file = program("files.c", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let moves = ["--nodes", "2", "--balancer", "rotate", "--lb-every", "20ms"];
    let loses = ["--nodes", "2", "--ft", "double", "--ckpt-every", "50ms", "--kill", "1@300ms"];
    for (name, way) in [("one", &[][..]), ("moves", &moves[..]), ("loses", &loses[..])] {
        let stem = folder().join(format!("files-{name}"));
        let stem = stem.to_str().expect("a name that is text");
        let printed = printed(&mut mpirun(&[&["-n", "4"], way, &[file, stem, "400"]].concat()));
        let expected = [0, 1, 2, 3].map(|rank| format!("rank {rank} has read 800 lines"));
        assert_eq!(sorted(&printed), expected, "{way:?}");
        for rank in 0..4 {
            let written = std::fs::read_to_string(format!("{stem}.{rank}")).expect("it was written");
            let expected: String =
                (0..400).map(|round| format!("stream {rank} {round}\ndescriptor {rank} {round}\n")).collect();
            assert!(written == expected, "{way:?}: rank {rank} has written {} bytes", written.len());
        }
    }
}

fn exceptions_are_caught_after_moves() {
    let file = program("throws.cc", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let undisturbed = printed(&mut mpirun(&["-n", "4", file, "60"]));
    for way in [
        &["--nodes", "2", "--balancer", "rotate", "--lb-every", "5ms"][..],
        &["--nodes", "2", "--ft", "double", "--ckpt-every", "20ms", "--kill", "0@100ms"],
    ] {
        let disturbed = printed(&mut mpirun(&[&["-n", "4"], way, &[file, "60"]].concat()));
        assert_eq!(sorted(&disturbed), sorted(&undisturbed), "{way:?}");
    }
}
