//! Ranks that start threads, themselves or by OpenMP.

use crate::job::{BOTH, Interface, c_compiler, compiled, mpirun, output, printed, program, sorted, text};
use crate::trials::checks;

checks!(
    threads_have_what_is_theirs needs c_compiler,
    a_rank_with_threads_stays_and_it_is_said_once needs c_compiler,
    openmp_has_one_thread_unless_more_are_wanted needs c_compiler,
);

/// Lines of `threads.c` with so many ranks and rounds.
fn expected(ranks: u64, rounds: u64) -> Vec<String> {
    let total = rounds * (3 * 5 + 20_000 * 6);
    let (sum, results) = (total * ranks, rounds * 6);
    (0..ranks).map(|rank| format!("rank {rank}: {total} {sum} {results} {results} kept")).collect()
}

fn threads_have_what_is_theirs() {
    for interface in BOTH {
        let file = program("threads.c", interface);
        let file = file.to_str().expect("a name that is text");
        for way in [&[][..], &["--nodes", "2", "--balancer", "rotate", "--lb-every", "20ms"]] {
            let printed = printed(&mut mpirun(&[&["-n", "4"], way, &[file, "10"]].concat()));
            assert_eq!(sorted(&printed), expected(4, 10), "{interface:?} {way:?}");
        }
    }
}

fn a_rank_with_threads_stays_and_it_is_said_once() {
    let file = program("threads.c", Interface::Mpich);
    let kept = ["-n", "3", "--nodes", "3", "--ft", "double", "--ckpt-every", "20ms"];
    let output = output(&mut mpirun(&[&kept[..], &[file.to_str().expect("text"), "20"]].concat()));
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(sorted(&text(&output.stdout)), expected(3, 20));
    for rank in 0..3 {
        let line = format!("rank {rank} stays where it is: it has started threads of its own");
        assert_eq!(said.matches(&line).count(), 1, "{said}");
    }
}

fn openmp_has_one_thread_unless_more_are_wanted() {
    let file = compiled("openmp.c", Interface::OpenMpi, ".omp", &["-fPIE", "-pie", "-fopenmp"]);
    let file = file.to_str().expect("a name that is text");
    for (threads, options) in [(1, &[][..]), (3, &["-x", "OMP_NUM_THREADS=3"])] {
        let mut command = mpirun(&[&["-n", "2"], options, &[file]].concat());
        let expected = [9_990_000, 19_980_000].iter().enumerate();
        let line = |(rank, sum)| format!("rank {rank}: {threads} threads, {sum} of 29970000");
        let expected: Vec<String> = expected.map(line).collect();
        assert_eq!(sorted(&printed(command.env_remove("OMP_NUM_THREADS"))), expected, "{options:?}");
    }
}
