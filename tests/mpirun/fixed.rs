//! Programs that are not position-independent: one rank in each process.

use std::path::PathBuf;

use crate::job::{BOTH, Interface, c_compiler, compiled, mpirun, output, printed, program, text};
use crate::trials::checks;

checks!(
    each_rank_has_a_node_of_its_own needs c_compiler,
    fewer_nodes_than_ranks_are_refused needs c_compiler,
    a_lost_rank_goes_on_in_another_process needs c_compiler,
);

const TASK: [&str; 3] = ["2000", "3000", "250"];
/// Long enough to be killed in, on any machine.
const LONG: [&str; 3] = ["2000", "30000", "2500"];

fn fixed(interface: Interface) -> PathBuf {
    compiled("heat.c", interface, ".fixed", &["-fno-pie", "-no-pie"])
}

/// What the same prints that is position-independent.
fn expected(interface: Interface, ranks: &str, task: [&str; 3]) -> String {
    let file = program("heat.c", interface);
    printed(&mut mpirun(&[&["-n", ranks, file.to_str().expect("text")][..], &task].concat()))
}

fn each_rank_has_a_node_of_its_own() {
    for interface in BOTH {
        let file = fixed(interface);
        let file = file.to_str().expect("text");
        for (ranks, options) in [
            ("1", &[][..]),
            ("3", &[]),
            ("2", &["--nodes", "3", "--balancer", "rotate", "--lb-every", "20ms"]),
        ] {
            let output = output(&mut mpirun(&[&["-n", ranks], options, &[file], &TASK].concat()));
            let said = text(&output.stderr);
            assert!(output.status.success(), "{said}");
            let expected = expected(interface, ranks, TASK);
            assert_eq!(text(&output.stdout), expected, "{interface:?} {ranks} {options:?}");
            let is_said = said.contains(&format!("each of its {ranks} ranks has a node of its own"));
            assert_eq!(is_said, ranks == "3", "{said}");
        }
    }
}

fn fewer_nodes_than_ranks_are_refused() {
    let file = fixed(Interface::Mpich);
    let job = ["-n", "3", "--nodes", "2", file.to_str().expect("text"), "1", "1", "1"];
    let output = output(&mut mpirun(&job));
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
    assert!(said.contains("3 ranks need --nodes 3") && said.contains("-pie"), "{said}");
}

fn a_lost_rank_goes_on_in_another_process() {
    let file = fixed(Interface::Mpich);
    let file = file.to_str().expect("text");
    let kept = ["-n", "3", "--nodes", "3", "--ft", "double", "--ckpt-every", "50ms", "--kill", "1@300ms"];
    let replaced = printed(&mut mpirun(&[&kept, &["--respawn", file][..], &LONG].concat()));
    assert_eq!(replaced, expected(Interface::Mpich, "3", LONG));
    // Without another process there is no place for it.
    let output = output(&mut mpirun(&[&kept, &[file][..], &LONG].concat()));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("needs as many nodes as ranks") && said.contains("--respawn"), "{said}");
}
