//! Ranks whose nodes log what they are given (`--ft logging`): those of a lost node alone do again what they did, and
//! nobody sees it.

use crate::job::{
    Interface, c_compiler, folder, library_of, mpirun, output, printed, printed_of, program, sorted, text,
};
use crate::packages::{lammps, lammps_job, table};
use crate::trials::checks;

checks!(
    ranks_of_lost_nodes_do_again_what_they_did needs c_compiler,
    values_of_the_world_are_what_they_were needs c_compiler,
    time_stamps_of_the_processor_are_what_they_were needs c_compiler,
    what_was_never_written_is_sent_again needs c_compiler,
    waits_with_a_time_end_as_they_did needs c_compiler,
    a_library_that_is_loaded_later_calls_what_it_called needs c_compiler,
    lammps_prints_the_same_though_its_first_node_is_lost needs lammps,
);

/// So many that two can be lost, neither with its keeper, however long the first takes to come back.
const NODES: &str = "4";

fn ranks_of_lost_nodes_do_again_what_they_did() {
    let ways: [(Interface, &[&str]); 3] = [
        (Interface::OpenMpi, &["--ft", "logging", "--kill", "0@200ms,2@500ms"]),
        (Interface::Mpich, &["--ft", "logging", "--kill", "2@700ms", "--ckpt-every", "200ms"]),
        (Interface::Mpich, &["--ft", "logging:strict", "--kill", "1@200ms"]),
    ];
    for (interface, way) in ways {
        let file = program("heat.c", interface);
        let task = ["-n", "6", file.to_str().expect("a name that is text"), "2000", "2000", "250"];
        let undisturbed = printed(&mut mpirun(&task));
        let disturbed = printed(&mut mpirun(&[&["--nodes", NODES], way, &task].concat()));
        assert_eq!(disturbed, undisturbed, "{interface:?} {way:?}");
    }
}

/// What a lost rank had of clocks, of random numbers and of its input, others have got: it gets the same again.
fn values_of_the_world_are_what_they_were() {
    let file = program("world.c", Interface::Mpich);
    let file = file.to_str().expect("a name that is text");
    let input: String = (0..1000).map(|number| format!("{number}\n")).collect();
    for lost in ["0@250ms", "0@150ms,2@600ms"] {
        let way = ["-n", "4", "--nodes", NODES, "--ft", "logging", "--kill", lost, file, "1000"];
        let printed = printed_of(&mut mpirun(&way), &input);
        let expected = [0, 1, 2, 3].map(|rank| format!("rank {rank}: as it was"));
        assert_eq!(sorted(&printed), expected, "{lost}");
    }
}

/// A process to which such a rank comes, or in which it goes on, may never have heard of what the library calls.
fn a_library_that_is_loaded_later_calls_what_it_called() {
    let (file, library) = (program("later.c", Interface::Mpich), library_of("later.c", Interface::Mpich));
    let kept = |period| ["-n", "6", "--nodes", "3", "--ft", "logging", "--ckpt-every", period];
    for (name, way, lost) in [
        ("first", &kept("1h")[..], "0@70"),
        ("kept", &kept("20ms")[..], "2@80"),
        ("moved", &[&kept("20ms")[..], &["--move-always"]].concat()[..], "4@60"),
    ] {
        let stem = folder().join(format!("later-{name}"));
        let [file, library, stem] = [&file, &library, &stem].map(|path| path.to_str().expect("text"));
        let said = printed(&mut mpirun(&[way, &[file, library, stem, "100", lost]].concat()));
        assert_eq!(said, "600\n", "{name}");
    }
}

/// What ranks wait for does not come: they have waited as long, and looked as often.
fn waits_with_a_time_end_as_they_did() {
    let file = program("timed_waits.c", Interface::Mpich);
    for (name, lost) in [("first", &["0@41"][..]), ("two", &["3@20", "5@50"])] {
        let stem = folder().join(format!("timed-waits-{name}"));
        let task = [file.to_str().expect("text"), stem.to_str().expect("text"), "64"];
        let kept = ["-n", "6", "--nodes", "3", "--ft", "logging", "--ckpt-every", "1h"];
        assert_eq!(printed(&mut mpirun(&[&kept, &task[..], lost].concat())), "all the same\n", "{name}");
    }
}

/// What the runtime leaves on a rank's stack is not what it had left there, so it leaves nothing.
fn what_was_never_written_is_sent_again() {
    let kept = |period| ["-n", "6", "--nodes", "3", "--ft", "logging", "--ckpt-every", period];
    for (name, interface, way, lost) in [
        ("first", Interface::Mpich, &kept("1h")[..], &["0@33"][..]),
        ("last", Interface::OpenMpi, &kept("1h")[..], &["5@28"][..]),
        ("each", Interface::Mpich, &kept("20ms")[..], &["2@15", "0@31", "4@47"][..]),
        ("moved", Interface::OpenMpi, &[&kept("50ms")[..], &["--move-always"]].concat()[..], &["3@37"][..]),
    ] {
        let file = program("unwritten.c", interface);
        let stem = folder().join(format!("unwritten-{name}"));
        let task = [file.to_str().expect("text"), stem.to_str().expect("text"), "60"];
        let said = printed(&mut mpirun(&[way, &task, lost].concat()));
        assert_eq!(said, "60 rounds\n", "{name}");
    }
}

/// Who does not say so is told that what is sent is something else.
fn time_stamps_of_the_processor_are_what_they_were() {
    let file = program("stamps.c", Interface::OpenMpi);
    let file = file.to_str().expect("a name that is text");
    let run = |name: &str, way: &[&str], lost: &[&str]| {
        let stem = folder().join(format!("stamps-{name}"));
        let task = ["-n", "4"];
        // One that always moves would do so at each look whether a program that it has started has ended.
        let rounds = if name == "moved" { "20" } else { "100" };
        let words = [file, stem.to_str().expect("text"), rounds];
        output(&mut mpirun(&[&task[..], way, &words, lost].concat()))
    };
    let kept = |period| ["--nodes", NODES, "--ft", "logging", "--ckpt-every", period, "--trap-tsc"];
    for (name, way, lost) in [
        ("one", &["--trap-tsc"][..], &[][..]),
        ("moved", &["--nodes", "2", "--move-always", "--trap-tsc"][..], &[][..]),
        ("first", &kept("1h")[..], &["0@50"][..]),
        ("several", &kept("50ms")[..], &["1@30", "3@70"][..]),
    ] {
        let ended = run(name, way, lost);
        let expected = [0, 1, 2, 3].map(|rank| format!("{rank}: went on"));
        assert_eq!(sorted(&text(&ended.stdout)), expected, "{name}: {}", text(&ended.stderr));
    }
    let untrapped = text(&run("untrapped", &kept("1h")[..6], &["0@50"]).stderr);
    assert!(untrapped.contains("sends node"), "{untrapped}");
}

/// Its image is many megabytes, which go to the new process.
fn lammps_prints_the_same_though_its_first_node_is_lost() {
    let undisturbed = printed(&mut lammps_job(&[]));
    let lost = ["--nodes", "2", "--ft", "logging", "--kill", "0@1500ms", "--ckpt-every", "500ms"];
    assert_eq!(table(&printed(&mut lammps_job(&lost))), table(&undisturbed));
}
