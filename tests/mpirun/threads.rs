//! Ranks that start threads, themselves or by OpenMP.

use crate::groups::{built, wrappers};
use crate::job::{BOTH, Interface, c_compiler, compiled, mpirun, output, printed, program, sorted, text};
use crate::trials::checks;

checks!(
    threads_have_what_is_theirs needs c_compiler,
    a_rank_with_threads_stays_and_it_is_said_once needs c_compiler,
    a_job_that_logs_has_no_checkpoint_while_a_rank_has_threads needs c_compiler,
    openmp_has_one_thread_unless_more_are_wanted needs c_compiler,
    threads_call_mpi_at_once needs wrappers,
    threads_call_mpi_while_their_rank_does_anything_else needs wrappers,
    another_thread_begins_and_ends_mpi needs wrappers,
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

/// All would go on from it, also if nobody is lost.
fn a_job_that_logs_has_no_checkpoint_while_a_rank_has_threads() {
    let file = program("threads.c", Interface::Mpich);
    let logs = ["-n", "3", "--nodes", "3", "--ft", "logging", "--ckpt-every", "20ms"];
    let output = output(&mut mpirun(&[&logs[..], &[file.to_str().expect("text"), "60"]].concat()));
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(sorted(&text(&output.stdout)), expected(3, 60));
    assert!(said.contains("there are no checkpoints, as all would go on from them"), "{said}");
    let given_up = said.matches("is given up: node ").count();
    assert!(given_up == 1 && said.contains("has more than a checkpoint can keep"), "{said}");
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

/// The sum that a thread of `multiple.c` with this number makes.
fn talked(number: i64, ranks: i64, rounds: i64) -> i64 {
    let of_round = |round| (0..ranks).map(|rank| rank * 100 + number * 10 + round).sum::<i64>();
    (0..rounds).map(of_round).sum()
}

/// Its lines.
fn all_talked(ranks: i64, rounds: i64) -> Vec<String> {
    const THREADS: i64 = 4;
    let total = (0..THREADS).fold(0, |total, number| total * 31 + talked(number, ranks, rounds));
    let of_first = |way| if way == 3 { talked(THREADS, ranks, rounds) } else { 0 };
    let line = |rank, way| format!("rank {rank}, way {way}: {total} {}", of_first(way));
    (0..ranks)
        .flat_map(|rank| (0..5).map(move |way| (rank, way)))
        .map(|(rank, way)| line(rank, way))
        .collect()
}

fn talk_at_once(interface: Interface, ways: &[&[&str]]) {
    let file = built("multiple.c", interface);
    let file = file.to_str().expect("a name that is text");
    for way in ways {
        let printed = printed(&mut mpirun(&[&["-n", "3"], *way, &[file, "3"]].concat()));
        assert_eq!(sorted(&printed), all_talked(3, 3), "{interface:?} {way:?}");
    }
}

fn threads_call_mpi_at_once() {
    talk_at_once(Interface::Mpich, &[&[], &["--nodes", "3"], &["--nodes", "2", "--transport", "tcp"]]);
}

fn threads_call_mpi_while_their_rank_does_anything_else() {
    talk_at_once(Interface::OpenMpi, &[&["--slice", "5ms"], &["--nodes", "2"]]);
}

fn another_thread_begins_and_ends_mpi() {
    for interface in BOTH {
        let file = built("begins.c", interface);
        let file = file.to_str().expect("a name that is text");
        for nodes in ["1", "2"] {
            let begun = |way: &[&str]| mpirun(&[&["-n", "3", "--nodes", nodes, file], way].concat());
            let lines = |lines: [&'static str; 3]| lines.map(|line| [line; 3]).concat();
            let by_other = ["begun: 0, granted: 1", "other: 1", "sum: 3, own: 1"];
            assert_eq!(sorted(&printed(&mut begun(&[]))), lines(by_other), "{interface:?} {nodes}");
            let by_first = ["first: 1", "other: 0", "sum: 3, own: 1"];
            assert_eq!(sorted(&printed(&mut begun(&["first"]))), lines(by_first), "{interface:?} {nodes}");
        }
    }
}
