//! Records of nodes of several PEs, each of which runs again alone: without those beside it, whose messages came by memory.

use std::process::Command;

use crate::executions::{Left, Relay};
use crate::job::{Ended, Scratch, Shape, example, program, run};
use crate::losses::{ROUNDS, SLOW, kill};
use crate::records::{Record, check, recorded, said_by};

crate::trials::checks!(
    each_pe_of_several_runs_again,
    each_pe_of_several_that_log_runs_again,
    several_pes_of_one_process,
    several_pes_that_log_and_lose_a_node,
    a_panic_of_one_pe_of_several_comes_again,
    a_killed_node_of_several_pes_leaves_what_was_written,
    one_pe_of_several_stops_where_it_is_asked_to,
    a_record_that_is_cut_off_anywhere_says_so,
    programs_with_all_that_goes_within_a_node,
    jobs_that_are_balanced,
    what_pes_of_a_node_tell_each_other_in_memory_is_found,
);

/// All PEs have sent what they sent, and printed what they printed.
#[track_caller]
fn print_the_same(record: &Record, pes: u32, left: &Left) {
    for (pe, printed) in record.replay_all(pes).iter().enumerate() {
        let said = said_by(pe, &left.ended.stdout);
        assert_eq!(said.len(), ROUNDS as usize, "{}", left.ended.said());
        assert_eq!(said_by(pe, printed), said);
    }
}

fn each_pe_of_several_runs_again() {
    let shapes: [(Shape, u32); 4] =
        [((2, 3, "tcp"), 8), ((2, 2, "shm"), 8), ((2, 3, "shm"), 40_000), ((3, 2, "mixed"), 4000)];
    for (shape, words) in shapes {
        let record = Record::new();
        let left = recorded(&record, shape, &format!("--words {words}"));
        print_the_same(&record, shape.0 * shape.1, &left);
    }
}

fn each_pe_of_several_that_log_runs_again() {
    for (shape, words) in [((2, 3, "tcp"), 8), ((2, 2, "shm"), 40_000)] {
        let record = Record::new();
        let left = recorded(&record, shape, &format!("--ft logging --words {words}"));
        print_the_same(&record, shape.0 * shape.1, &left);
    }
}

/// Nothing but rings is between them. Without `--pes` there may be several as well.
fn several_pes_of_one_process() {
    let record = Record::new();
    let left = recorded(&record, (1, 3, "shm"), "");
    print_the_same(&record, 3, &left);
}

/// The PEs of the process that came last are run from where they began.
fn several_pes_that_log_and_lose_a_node() {
    for cuts in ["--ckpt-every 100000steps", "--ckpt-every 20steps"] {
        let record = Record::new();
        let options = format!("--ft logging {cuts} {SLOW} --kill 1@step30");
        let left = recorded(&record, (2, 2, "tcp"), &options);
        for (pe, printed) in record.replay_all(4).iter().enumerate() {
            let (again, said) = (said_by(pe, printed), said_by(pe, &left.ended.stdout));
            assert!(!again.is_empty() && said.ends_with(&again), "PE {pe}: {again:?}");
            assert_eq!(again.len() < said.len(), pe >= 2 && cuts.contains(" 20steps"), "PE {pe}: {again:?}");
        }
    }
}

fn a_panic_of_one_pe_of_several_comes_again() {
    for options in ["", "--ft logging"] {
        let record = Record::new();
        let options = format!("{} {options} --who 3 --panic-at 20", record.option());
        let ended = Relay::start((2, 2, "shm"), &options).end(1, &["enough of it"]).ended;
        let told = |ended: &Ended| {
            let line = ended.stderr.iter().find(|line| line.contains("enough of it")).expect("just seen");
            line[line.find("Runner[3], entry `take` (node 1").expect("who, and which entry")..].to_owned()
        };
        let again = record.replay(3, "").expect(1, &["to where the job ended", "enough of it"]);
        assert_eq!(told(&again), told(&ended));
        assert_eq!(said_by(3, &again.stdout).len(), 19, "{}", again.said());
        for pe in 0..3 {
            record.replay(pe, "").expect(0, &["messages again"]);
        }
    }
}

fn a_killed_node_of_several_pes_leaves_what_was_written() {
    let record = Record::new();
    let relay = Relay::start((2, 2, "shm"), &format!("{SLOW} {}", record.option()));
    kill(relay.wait_for(3, 20, &[]));
    relay.end(3, &["node 1"]);
    for pe in [2, 3] {
        let again = record.replay(pe, "").expect(0, &["its process died"]);
        let rounds = said_by(pe as usize, &again.stdout).len();
        assert!((19..=ROUNDS as usize).contains(&rounds), "{}", again.said());
    }
}

fn one_pe_of_several_stops_where_it_is_asked_to() {
    let record = Record::new();
    recorded(&record, (1, 2, "shm"), "");
    let whole = record.replay(1, "").expect(0, &[]);
    let part = record.replay(1, "--until 60").expect(0, &["PE 1 has run 60 messages again", "--until"]);
    assert!(whole.stdout.starts_with(&part.stdout), "{}", part.said());
    assert!((1..ROUNDS as usize).contains(&part.stdout.len()), "{}", part.said());
}

/// What ran behind the last whole block may need what was lost with the rest: that is said, and nobody is blamed for it.
fn a_record_that_is_cut_off_anywhere_says_so() {
    let record = Record::new();
    run(example("golomb", &format!("--marks 6 {}", record.option()), (2, 2, "shm"))).expect(0, &[]);
    let whole = std::fs::read(record.file(1)).expect("just written");
    for length in (700..whole.len()).step_by(whole.len() / 12) {
        std::fs::write(record.file(1), &whole[..length]).expect("the folder is ours");
        let again = record.replay(1, "");
        let errors = again.stderr.join("\n");
        assert!(errors.contains("its process died"), "of {length} bytes: {}", again.said());
        assert!(!errors.contains("does not do the same"), "of {length} bytes: {}", again.said());
    }
}

/// Objects that move from a PE to one beside it, read-only values, nodegroups, sections, reductions, large slices.
fn programs_with_all_that_goes_within_a_node() {
    let recorded = |record: &Record, make: &dyn Fn(&str) -> Command, pes: u32| {
        run(make(&record.option())).expect(0, &[]);
        record.replay_all(pes);
    };
    for (name, options, shape) in [
        ("jacobi3d", "--grid 44,42,21 --block 21,21,21 --steps 20", (2, 2, "tcp")),
        ("leanmd", "--cells 3,3,3 --atoms-per-cell 8 --steps 20 --migrate-every 10", (1, 3, "shm")),
        ("golomb", "--marks 7", (2, 2, "shm")),
    ] {
        let make = |option: &str| example(name, &format!("{options} {option}"), shape);
        recorded(&Record::new(), &make, shape.0 * shape.1);
    }
    for (options, shape) in [("--tower --pendulums", (2, 2, "mixed")), ("", (2, 3, "shm"))] {
        for ft in ["", "--ft logging --ckpt-every 15steps"] {
            let make = |option: &str| program(&format!("{options} {ft} {option}"), shape);
            recorded(&Record::new(), &make, shape.0 * shape.1);
        }
    }
}

/// What is measured of entries is in the record, so a step of balancing comes again as it was.
fn jobs_that_are_balanced() {
    let hot = "--grid 44 --steps 60 --lap 30 --peak 30 --objects-per-pe 4 --sync-every 4";
    for (ft, shape) in [("", (2, 2, "shm")), ("", (3, 1, "tcp")), ("--ft logging", (2, 2, "tcp"))] {
        let (record, report) = (Record::new(), Scratch::new("report"));
        let options = format!("{ft} --balancer greedy --report {} {}", report.name(), record.option());
        run(example("imbalance", &format!("{hot} {options}"), shape)).expect(0, &[]);
        let text = std::fs::read_to_string(&report.0).expect("a job that ends well writes its report");
        let report: serde_json::Value = serde_json::from_str(&text).expect("it is a report");
        let steps = report["balancing"].as_array().expect("a list");
        let moves: u64 = steps.iter().filter_map(|step| step["moves"].as_u64()).sum();
        assert!(moves > 0, "{ft}: {report}");
        record.replay_all(shape.0 * shape.1);
    }
}

/// A counter of their process: with one PE in it, it would be the same again.
fn what_pes_of_a_node_tell_each_other_in_memory_is_found() {
    check("--rounds 5", (2, 2, "shm"))
        .expect(0, &[])
        .prints("all PEs do the same when they are given the same");
    check("--rounds 5 --breaks counter", (2, 1, "shm")).expect(0, &[]);
    let ended = check("--rounds 5 --breaks counter", (1, 2, "shm")).expect(1, &[]);
    for pe in 0..2 {
        let who = format!("Runner[{pe}], entry `pass` sends PE {}", 1 - pe);
        let told = |line: &String| line.contains(&who) && line.contains("does not do the same");
        assert!(ended.stdout.iter().any(told), "{}", ended.said());
    }
}
