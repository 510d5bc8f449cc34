//! What is recorded of ranks is what they did, and they do it again.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use crate::job::{Ended, Scratch, Shape, example, program, run};
use crate::record::Record;

crate::trials::checks!(
    each_rank_runs_again_and_says_what_it_said,
    ranks_of_one_process,
    examples,
    ranks_that_log_and_lose_a_node,
    ranks_that_move,
    ranks_that_are_balanced,
    a_panic_comes_again_at_the_same_place,
    a_process_that_aborts_does_so_again,
    a_rank_that_breaks_the_rule_is_told_of,
    programs_are_checked,
);

const LAPS: usize = 20;

/// What a rank has said, of all lines.
fn said_by(rank: u32, lines: &[String]) -> Vec<String> {
    let beginning = format!("rank {rank} in lap ");
    lines.iter().filter(|line| line.starts_with(&beginning)).cloned().collect()
}

/// Lines of ranks, in an order of theirs: those of several come as they come.
fn sorted<'a>(lines: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut of_ranks: Vec<String> = lines.filter(|line| line.starts_with("rank ")).cloned().collect();
    of_ranks.sort();
    of_ranks
}

/// Runs the program to its end, recorded.
#[track_caller]
fn recorded(record: &Record, shape: Shape, words: &str) -> Ended {
    run(program(&format!("{} {words}", record.option()), shape)).expect(0, &[])
}

/// All PEs send what they sent, and what their ranks say is together what was said.
#[track_caller]
fn all_say_the_same(record: &Record, pes: u32, ended: &Ended) -> Vec<Vec<String>> {
    let all = record.replay_all(pes);
    assert_eq!(sorted(all.iter().flatten()), sorted(ended.stdout.iter()));
    all
}

fn each_rank_runs_again_and_says_what_it_said() {
    for (shape, words) in [((3, 1, "tcp"), 8), ((2, 1, "shm"), 3000), ((3, 1, "mixed"), 40_000)] {
        let record = Record::new();
        let ended = recorded(&record, shape, &format!("--ranks 6 --words {words} --laps {LAPS}"));
        let all = all_say_the_same(&record, shape.0, &ended);
        // Ranks are dealt out in blocks, and each PE shows its own.
        let each = 6 / shape.0;
        for (pe, printed) in (0..).zip(&all) {
            for rank in pe * each..(pe + 1) * each {
                assert_eq!(said_by(rank, printed).len(), LAPS, "{printed:?}");
            }
        }
    }
}

fn ranks_of_one_process() {
    let record = Record::new();
    let ended = recorded(&record, (1, 1, "shm"), "--ranks 3 --words 2000");
    let again = record.replay(0, "").expect(0, &["to the end of its record"]);
    assert_eq!(sorted(again.stdout.iter()), sorted(ended.stdout.iter()));
    assert_eq!(again.stdout.last(), ended.stdout.last());
}

fn examples() {
    let all = [
        ("mpi_ring", "--ranks 7 --laps 5 --values 3000", (3, 1, "shm")),
        ("mpi_cg", "--ranks 4", (2, 1, "shm")),
        ("mpi_sort", "--ranks 5", (3, 1, "tcp")),
        ("mpi_jacobi", "--ranks 8 --grid 16,12,8 --steps 30", (2, 1, "mixed")),
    ];
    for (name, options, shape) in all {
        for ft in ["", "--ft logging"] {
            let record = Record::new();
            run(example(name, &format!("{options} {ft} {}", record.option()), shape)).expect(0, &[]);
            record.replay_all(shape.0);
        }
    }
}

/// What a lost node's process is given, from the cut on with which it began: memory of ranks is a part of that.
fn ranks_that_log_and_lose_a_node() {
    for cuts in ["--ckpt-every 100000steps", "--ckpt-every 5steps"] {
        let record = Record::new();
        let options = format!("--ranks 6 --ft logging {cuts} --laps {LAPS} --pause-us 20000 --kill 1@step12");
        let ended = recorded(&record, (3, 1, "tcp"), &options);
        let all = record.replay_all(3);
        for (pe, printed) in (0..).zip(&all) {
            for rank in [2 * pe, 2 * pe + 1] {
                let (again, said) = (said_by(rank, printed), said_by(rank, &ended.stdout));
                assert_eq!(said.len(), LAPS, "{}", ended.said());
                assert!(!again.is_empty() && said.ends_with(&again), "rank {rank}: {again:?}");
                let is_cut = pe == 1 && cuts.contains(" 5steps");
                assert_eq!(again.len() < said.len(), is_cut, "rank {rank}: {again:?}");
            }
        }
    }
}

/// Their memory is in the record of the PE that they come to. What a rank has left on its stack is not compared; all that
/// it sends is.
fn ranks_that_move() {
    for (shape, words) in [((2, 1, "shm"), "--move-every 1"), ((3, 1, "tcp"), "--move-every 2 --words 3000")]
    {
        let record = Record::new();
        let ended = recorded(&record, shape, &format!("--ranks 4 {words}"));
        let all = all_say_the_same(&record, shape.0, &ended);
        for rank in 0..4 {
            let places = all.iter().filter(|printed| !said_by(rank, printed).is_empty()).count();
            assert_eq!(places, shape.0 as usize, "rank {rank}: {all:?}");
        }
    }
    let record = Record::new();
    let ended = recorded(&record, (2, 1, "shm"), "--ranks 4 --move-always");
    all_say_the_same(&record, 2, &ended);
    let ring = format!("--ranks 5 --laps 6 --values 3000 --move-every 2 {}", record.option());
    drop(record);
    run(example("mpi_ring", &ring, (3, 1, "shm"))).expect(0, &[]).prints("30 hops, 15 moves");
}

fn ranks_that_are_balanced() {
    let (record, report) = (Record::new(), Scratch::new("report"));
    let words =
        format!("--ranks 6 --pause-us 3000 --balance-every 5 --balancer rotate --report {}", report.name());
    let ended = recorded(&record, (2, 1, "shm"), &words);
    let text = std::fs::read_to_string(&report.0).expect("a job that ends well writes its report");
    let report: serde_json::Value = serde_json::from_str(&text).expect("it is a report");
    let moves = report["balancing"].as_array().expect("a list").iter();
    let moves: u64 = moves.filter_map(|step| step["moves"].as_u64()).sum();
    assert!(moves > 0, "{report}");
    all_say_the_same(&record, 2, &ended);
}

/// The same words of the same rank, the same line of the program, and the same exit status.
fn a_panic_comes_again_at_the_same_place() {
    for options in ["", "--ft logging"] {
        let record = Record::new();
        let words = format!("{} {options} --ranks 4 --panic-at 7", record.option());
        let ended = run(program(&words, (2, 1, "shm"))).expect(1, &["enough of it"]);
        let told = |ended: &Ended| {
            let line = ended.stderr.iter().find(|line| line.contains("enough of it")).expect("just seen");
            line[line.find("rank 1 panicked at ").expect("which rank")..].to_owned()
        };
        let again = record.replay(0, "").expect(1, &["to where the job ended", "enough of it"]);
        assert_eq!(told(&again), told(&ended));
        assert!(told(&ended).contains("program.rs:"), "{}", ended.said());
        assert_eq!(said_by(1, &again.stdout).len(), 6, "{}", again.said());
        let other = record.replay(1, "");
        assert!(other.stderr.join("\n").contains("messages again"), "{}", other.said());
        // Rank 1 has got what all sent in lap 6; that the others had got that as well is not said.
        assert!((5..=6).contains(&said_by(2, &other.stdout).len()), "{}", other.said());
    }
}

fn a_process_that_aborts_does_so_again() {
    let record = Record::new();
    run(program(&format!("{} --ranks 4 --abort-at 7", record.option()), (2, 1, "tcp")))
        .expect(3, &["node 0"]);
    let again = record.replay(0, "");
    let abort = rustix::process::Signal::ABORT.as_raw();
    assert_eq!(again.status.signal(), Some(abort), "{}", again.said());
    assert_eq!(said_by(1, &again.stdout).len(), 6, "{}", again.said());
}

/// What ranks look at that is neither theirs nor the runtime's.
const BREAKS: [&str; 2] = ["clock", "pid"];

/// Rank 1 is the last one of PE 0, so what it sends goes to another PE.
fn a_rank_that_breaks_the_rule_is_told_of() {
    for breaks in BREAKS {
        let record = Record::new();
        recorded(&record, (2, 1, "shm"), &format!("--ranks 4 --breaks {breaks}"));
        let texts = [
            "PE 0 does not do the same",
            ">[1], entry `frame` sends PE 1",
            "` for talisman_ampi::",
            "of as many",
        ];
        record.replay(0, "").expect(1, &texts);
        // The others have got what was recorded.
        record.replay(1, "").expect(0, &["to the end of its record"]);
    }
}

/// How a rank is called that has sent something else.
fn who(rank: u32) -> String {
    format!("RankElement<recorded_ranks::program::Options>[{rank}], entry `")
}

fn check(words: &str, options: &str) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    command.args(["check", "--replay"]).args(options.split_whitespace());
    let checked = std::env::current_exe().expect("a test knows where it is");
    command.arg("--").arg(checked).arg("program").args(words.split_whitespace());
    run(crate::job::clean(command))
}

fn programs_are_checked() {
    check("--ranks 4 --laps 5", "").expect(0, &[]).prints("all PEs do the same when they are given the same");
    check("--ranks 4 --laps 5 --panic-at 3", "")
        .expect(0, &["enough of it"])
        .prints("all PEs do the same when they are given the same");
    for breaks in BREAKS {
        let ended = check(&format!("--ranks 4 --laps 5 --breaks {breaks}"), "").expect(1, &[]);
        let told = |line: &String| line.contains("PE 0 does not do the same") && line.contains(&who(1));
        assert!(ended.stdout.iter().any(told), "{}", ended.said());
    }
    // What goes between ranks of one PE is a message too then: rank 0 is told of, not who passes it on.
    let ended = check("--ranks 4 --laps 5 --breaks pid --who 0", "").expect(1, &[]);
    let told = |line: &String| line.contains(&who(0)) && line.contains(" sends PE 0 ");
    assert!(ended.stdout.iter().any(told), "{}", ended.said());
}
