//! `setjmp` in one process and `longjmp` in another.

use crate::job::{Interface, c_compiler, compiled, mpirun, printed, sorted};
use crate::trials::checks;

checks!(
    jumps_go_back_after_moves needs c_compiler,
);

const ROUNDS: u32 = 40;

fn jumps_go_back_after_moves() {
    let expected: Vec<String> = (0..3)
        .flat_map(|rank| {
            [
                format!("rank {rank} has come back {ROUNDS}, {} and {ROUNDS} times", 2 * ROUNDS),
                format!("rank {rank}: last words"),
                format!("rank {rank}: status 0"),
            ]
        })
        .collect();
    for (name, options) in
        [("", &["-fPIE", "-pie"][..]), (".checked", &["-fPIE", "-pie", "-O2", "-D_FORTIFY_SOURCE=2"])]
    {
        let file = compiled("jumps.c", Interface::Mpich, name, options);
        let file = file.to_str().expect("a name that is text");
        for way in [
            &[][..],
            &["--nodes", "3", "--balancer", "rotate", "--lb-every", "5ms"],
            &["--nodes", "2", "--ft", "double", "--ckpt-every", "20ms", "--kill", "1@300ms"],
        ] {
            let rounds = ROUNDS.to_string();
            let job = [&["-n", "3"], way, &[file, &rounds]].concat();
            assert_eq!(sorted(&printed(&mut mpirun(&job))), expected, "{way:?} {name}");
        }
    }
}
