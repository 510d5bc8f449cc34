//! Ranks that move, are checkpointed, and whose nodes are killed: what is printed is what is printed without all that.

use crate::job::{BOTH, c_compiler, mpirun, printed, program};
use crate::trials::checks;

checks!(
    ranks_move needs c_compiler,
    ranks_survive_the_loss_of_nodes needs c_compiler,
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
