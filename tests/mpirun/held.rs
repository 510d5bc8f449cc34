//! Ranks that have something which does not move with them.

use std::process::Output;

use crate::job::{Interface, c_compiler, folder, mpirun, output, program, text};
use crate::trials::checks;

checks!(
    ranks_stay_where_they_are_as_long_as_they_have_to needs c_compiler,
    a_loss_ends_the_job_while_a_rank_is_held needs c_compiler,
    plain_memory_goes_with_its_rank needs c_compiler,
    a_job_survives_once_nothing_holds_its_ranks needs c_compiler,
    files_without_names_go_with_their_rank needs c_compiler,
);

const ROUNDS: &str = "200";
const KEPT: [&str; 4] = ["--ft", "double", "--ckpt-every", "50ms"];

/// A job in which rank 1 has such a thing.
fn job(options: &[&str], what: &str, lost: &str) -> Output {
    let file = program("held.c", Interface::Mpich);
    let stem = folder().join(format!("held-{what}-{lost}-{}", options.len()));
    let (file, stem) = (file.to_str().expect("text"), stem.to_str().expect("text"));
    let task = ["-n", "3", "--nodes", "3"];
    output(&mut mpirun(&[&task, options, &[file, what, ROUNDS, stem, lost]].concat()))
}

fn ended_well(output: &Output) {
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), format!("used {ROUNDS} times\n"), "{}", text(&output.stderr));
}

fn ranks_stay_where_they_are_as_long_as_they_have_to() {
    let moves = ["--balancer", "rotate", "--lb-every", "20ms"];
    for what in ["pipe", "deleted", "stream", "mapped", "attached", "locked", "child"] {
        let output = job(&moves, what, "never");
        ended_well(&output);
        // Without `--ft` there is nothing to be said.
        assert_eq!(text(&output.stderr), "");
    }
}

fn a_loss_ends_the_job_while_a_rank_is_held() {
    let names = [
        ("pipe", "it has pipe:["),
        ("mapped", "it has mapped 8388608 bytes"),
        ("attached", "it has mapped 8388608 bytes"),
        ("locked", "it has locked a file"),
        ("child", "it has started a program"),
    ];
    for (what, name) in names {
        let output = job(&KEPT, what, "with");
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()), "{said}");
        assert_eq!(said.matches(&format!("rank 1 stays where it is: {name}")).count(), 1, "{said}");
        let refusal = format!("rank 1 cannot go on from a checkpoint: when it was made, {name}");
        assert!(said.contains(&refusal), "{said}");
    }
}

/// Also where there is much of it, as numerical libraries have, and where the system is called for it by number.
fn plain_memory_goes_with_its_rank() {
    for what in ["plain", "called"] {
        for (options, lost) in [(&["--balancer", "rotate", "--lb-every", "20ms"], "never"), (&KEPT, "with")] {
            let output = job(options, what, lost);
            ended_well(&output);
            assert!(!text(&output.stderr).contains("stays where it is"), "{}", text(&output.stderr));
        }
    }
}

fn a_job_survives_once_nothing_holds_its_ranks() {
    for what in ["pipe", "mapped", "attached", "locked", "child"] {
        let output = job(&KEPT, what, "after");
        ended_well(&output);
        assert!(text(&output.stderr).contains("rank 1 stays where it is"), "{}", text(&output.stderr));
    }
}

/// Scratch files: their rank has made them, and nobody else can open them.
fn files_without_names_go_with_their_rank() {
    let file = program("nameless.c", Interface::Mpich);
    let kept = |ft, period| ["--nodes", "3", "--ft", ft, "--ckpt-every", period];
    let runs = [
        ("alone", &[][..], &[][..]),
        ("moved", &["--nodes", "3", "--balancer", "rotate", "--lb-every", "20ms"], &[]),
        ("double", &kept("double", "30ms"), &["1@50"]),
        ("logging", &kept("logging", "30ms"), &["2@50"]),
        ("logging-all", &kept("logging", "1h"), &["0@30"]),
    ];
    for (name, way, lost) in runs {
        let stem = folder().join(format!("nameless-{name}"));
        let task = [file.to_str().expect("text"), stem.to_str().expect("text"), "100"];
        let ended = output(&mut mpirun(&[&["-n", "3"], way, &task, lost].concat()));
        let said = text(&ended.stderr);
        assert_eq!(
            (ended.status.code(), text(&ended.stdout)),
            (Some(0), "100 rounds\n".into()),
            "{name}: {said}"
        );
        assert!(!said.contains("stays where it is"), "{name}: {said}");
        let named = std::fs::read_dir(folder()).expect("a folder").flatten().map(|entry| entry.file_name());
        let left = named.filter(|left| left.to_string_lossy().starts_with(&format!("nameless-{name}.")));
        assert_eq!(left.filter(|left| !left.to_string_lossy().contains("killed")).count(), 0, "{name}");
    }
}
