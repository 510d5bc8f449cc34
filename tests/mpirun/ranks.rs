//! `talisman ranks`: what the ranks of a job do, while one of them computes and answers nobody.

use crate::job::{BOTH, asked, begun, c_compiler, mpirun, program, said, text};
use crate::trials::checks;

checks!(
    each_rank_is_shown_with_what_it_waits_for needs c_compiler,
    a_job_without_ranks_is_refused,
);

fn each_rank_is_shown_with_what_it_waits_for() {
    for interface in BOTH {
        let file = program("shown.c", interface);
        let file = file.to_str().expect("a name that is text");
        for way in [&[][..], &["--nodes", "2"]] {
            let job = begun(&mut mpirun(&[&["-n", "3"], way, &[file]].concat()));
            // A message is announced when the rank is suspended, so all are there then.
            let is_it = |said: &str| said.matches("waits").count() >= 2 && said.contains("runs");
            let table = said(&job, &[], is_it);
            let lines: Vec<Vec<&str>> =
                table.lines().skip(1).take(3).map(|line| line.split_whitespace().collect()).collect();
            let states: Vec<[&str; 2]> = lines.iter().map(|words| [words[0], words[3]]).collect();
            assert_eq!(
                states,
                [["0", "runs"], ["1", "waits"], ["2", "waits"]],
                "{interface:?} {way:?}: {table}"
            );
            for end in ["MPI_Recv              tag 77 from 0", "MPI_Send              1 to receive tag 99"] {
                assert!(table.lines().any(|line| line.ends_with(end)), "{interface:?} {way:?}: {table}");
            }
            shown_as_json(&said(&job, &["--json"], is_it));
        }
    }
}

fn shown_as_json(said: &str) {
    let all: Vec<serde_json::Value> = serde_json::from_str(said).expect("JSON");
    let [computes, receives, sends] = &all[..] else { panic!("three ranks: {said}") };
    assert_eq!((&computes["state"], &computes["call"]), (&"runs".into(), &serde_json::Value::Null));
    // Crowded as the machine may be, nobody else of its PE is seen to run.
    assert!(computes["load"].as_f64() > receives["load"].as_f64(), "{said}");
    assert_eq!((&receives["waits_for"], &receives["peer"]), (&"message".into(), &0.into()));
    assert_eq!((&receives["tag"], &receives["call"]), (&77.into(), &"MPI_Recv".into()));
    assert_eq!(
        (&sends["waits_for"], &sends["peer"], &sends["tag"]),
        (&"receiver".into(), &1.into(), &99.into())
    );
    // Its values are in its own memory; and each has sent a message to rank 0.
    for rank in &all {
        assert!(rank["memory"].as_u64() > Some(4096), "{said}");
    }
    assert!(computes["received"].as_u64() >= Some(2) && sends["sent"].as_u64() >= Some(2), "{said}");
}

fn a_job_without_ranks_is_refused() {
    let answer = asked(std::process::id(), &[]);
    let said = text(&answer.stderr);
    assert!(!answer.status.success() && said.contains("no job of yours"), "{said}");
}
