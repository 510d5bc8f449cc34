//! Programs of their own for some of the ranks: `-n 2 one : -n 3 other`.

use crate::job::{c_compiler, cxx_compiler, mpirun, printed, sorted};
use crate::trials::checks;
use crate::wrappers::built;

checks!(
    ranks_run_their_own_programs needs c_compiler,
    programs_in_other_languages_are_together needs cxx_compiler,
);

/// However they are spread, and whether they move.
const WAYS: [&[&str]; 4] =
    [&[], &["--nodes", "2"], &["--nodes", "3", "--move-always"], &["--nodes", "2", "--label-output"]];

fn ranks_run_their_own_programs() {
    let (asks, answers) = (built("talisman-mpicc", "asks.c"), built("talisman-mpicc", "answers.c"));
    let [asks, answers] = [&asks, &answers].map(|file| file.to_str().expect("a name that is text"));
    for way in WAYS {
        let words =
            ["-n", "2", asks, "an", "argument", ":", "-np", "3", answers, "--", "-n", ":", "-n", "1", asks];
        let printed = printed(&mut mpirun(&[way, &words].concat()));
        let is_labelled = way.contains(&"--label-output");
        let label = |rank: u32| if is_labelled { format!("[{rank}] ") } else { String::new() };
        let mut expected: Vec<String> = Vec::new();
        for (rank, program, arguments) in [(0, 0, 3), (1, 0, 3), (5, 2, 1)] {
            expected
                .push(format!("{}asks {rank} of 6, program {program}: {arguments} words, 12", label(rank)));
        }
        for rank in 2..5 {
            expected.push(format!("{}answers {rank} of 6, program 1: 3 words, 3 questions", label(rank)));
        }
        expected.sort();
        assert_eq!(sorted(&printed), expected, "{way:?}");
    }
}

/// Each has its own libraries, thread-locals and data; all are of one world.
fn programs_in_other_languages_are_together() {
    let (c, cxx) = (built("talisman-mpicc", "tally.c"), built("talisman-mpicxx", "classes.cc"));
    let [c, cxx] = [&c, &cxx].map(|file| file.to_str().expect("a name that is text"));
    let alone = printed(&mut mpirun(&["-n", "4", cxx]));
    for way in WAYS {
        let both = printed(&mut mpirun(&[way, &["-n", "2", cxx, ":", "-n", "2", c]].concat()));
        let of = |printed: &str, name: &str| printed.lines().filter(|line| line.contains(name)).count();
        assert_eq!(
            (of(&alone, "tally"), of(&both, "tally"), of(&both, "classes")),
            (4, 4, 2),
            "{way:?} {both}"
        );
    }
}
