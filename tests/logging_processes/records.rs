//! Jobs that are recorded, and their PEs that run again, each alone (`--record`, `talisman replay`, `talisman check
//! --replay`).

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use crate::executions::{Left, Relay};
use crate::job::{Ended, Scratch, Shape, example, program, run};
use crate::losses::{ROUNDS, SLOW, kill};
pub use crate::record::Record;

crate::trials::checks!(
    each_pe_runs_again_and_prints_what_it_printed,
    a_job_of_one_process,
    a_job_that_is_traced_as_well,
    a_job_that_logs_and_loses_a_node,
    a_panic_comes_again_at_the_same_place,
    a_process_that_aborts_does_so_again,
    a_process_that_is_killed_leaves_what_was_written,
    it_stops_where_it_is_asked_to,
    examples,
    what_is_damaged_is_told,
    what_cannot_be_recorded_is_refused,
    a_pe_that_breaks_the_rule_is_told_of,
    a_program_that_keeps_the_rule_passes_the_check,
    programs_that_break_the_rule_do_not,
    a_check_that_cannot_be_is_told,
);

/// What a runner says, of all lines.
pub fn said_by(runner: usize, lines: &[String]) -> Vec<String> {
    let beginning = format!("runner {runner} in ");
    lines.iter().filter(|line| line.starts_with(&beginning)).cloned().collect()
}

/// A relay that was recorded, to its end.
pub fn recorded(record: &Record, shape: Shape, options: &str) -> Left {
    Relay::start(shape, &format!("{} {options}", record.option())).end(0, &[])
}

fn each_pe_runs_again_and_prints_what_it_printed() {
    for (transport, words) in [("tcp", 8), ("shm", 8), ("mixed", 4000), ("shm", 40_000)] {
        let record = Record::new();
        let left = recorded(&record, (3, 1, transport), &format!("--words {words}"));
        for (pe, printed) in record.replay_all(3).iter().enumerate() {
            let said = said_by(pe, &left.ended.stdout);
            assert_eq!(said.len(), ROUNDS as usize, "{}", left.ended.said());
            assert_eq!(said_by(pe, printed), said);
        }
    }
}

fn a_job_of_one_process() {
    let record = Record::new();
    let mut command = program(&format!("--relay {}", record.option()), (1, 1, "shm"));
    command.env("TALISMAN_SEED", "7");
    let ended = run(command).expect(0, &[]);
    let again = record.replay(0, "").expect(0, &["to the end of its record"]);
    assert_eq!(again.stdout, ended.stdout);
}

/// Its record is one like others, and so is its trace. What runs again writes none.
fn a_job_that_is_traced_as_well() {
    for options in ["", "--ft logging --ckpt-every 20steps"] {
        let (record, trace) = (Record::new(), Scratch::new("trace.pftrace"));
        let left = recorded(&record, (3, 1, "shm"), &format!("--trace {} {options}", trace.name()));
        let mut summary = Command::new(env!("CARGO_BIN_EXE_talisman"));
        let summary = run({
            summary.arg("trace").arg(&trace.0);
            summary
        });
        let summary = summary.expect(0, &[]);
        let takes = summary.stdout.iter().any(|line| line.contains("Runner.take"));
        assert!(takes, "{}", summary.said());
        std::fs::remove_file(&trace.0).expect("the trace is there");
        for (pe, printed) in record.replay_all(3).iter().enumerate() {
            let said = said_by(pe, &left.ended.stdout);
            assert!(!said.is_empty() && said_by(pe, printed) == said, "{}", left.ended.said());
        }
        assert!(!trace.0.exists(), "a PE that runs again writes a trace");
    }
}

/// Two runs of the same program never have the same inputs: that of the process that came last is recorded from where
/// it began.
fn a_job_that_logs_and_loses_a_node() {
    for cuts in ["--ckpt-every 100000steps", "--ckpt-every 20steps"] {
        let record = Record::new();
        let options = format!("--ft logging {cuts} {SLOW} --kill 1@step30");
        let left = recorded(&record, (3, 1, "tcp"), &options);
        let printed = record.replay_all(3);
        for pe in [0, 2] {
            assert_eq!(said_by(pe, &printed[pe]), said_by(pe, &left.ended.stdout));
        }
        let (of_lost, said) = (said_by(1, &printed[1]), said_by(1, &left.ended.stdout));
        assert!(!of_lost.is_empty() && said.ends_with(&of_lost), "{of_lost:?}");
        assert_eq!(of_lost.len() < said.len(), cuts.contains(" 20steps"), "{of_lost:?}");
    }
}

/// The same words, of the same chare and entry, and the same line of the program.
fn a_panic_comes_again_at_the_same_place() {
    for options in ["", "--ft logging"] {
        let record = Record::new();
        let relay = Relay::start((3, 1, "shm"), &format!("{} {options} --panic-at 20", record.option()));
        let ended = relay.end(1, &["enough of it"]).ended;
        let told = |ended: &Ended| {
            let line = ended.stderr.iter().find(|line| line.contains("enough of it")).expect("just seen");
            line[line.find("Runner[1], entry `take`").expect("who, and which entry")..].to_owned()
        };
        let again = record.replay(1, "").expect(1, &["to where the job ended", "enough of it"]);
        assert_eq!(told(&again), told(&ended));
        assert!(told(&ended).contains("relay.rs:"), "{}", ended.said());
        assert_eq!(said_by(1, &again.stdout).len(), 19, "{}", again.said());
        record.replay(0, "").expect(0, &["messages again"]);
    }
}

fn a_process_that_aborts_does_so_again() {
    let record = Record::new();
    Relay::start((3, 1, "tcp"), &format!("{} --abort-at 20", record.option())).end(3, &["node 1"]);
    let again = record.replay(1, "");
    assert_eq!(again.status.signal(), Some(libc_abort()), "{}", again.said());
    assert_eq!(said_by(1, &again.stdout).len(), 19, "{}", again.said());
}

fn libc_abort() -> i32 {
    rustix::process::Signal::ABORT.as_raw()
}

fn a_process_that_is_killed_leaves_what_was_written() {
    let record = Record::new();
    let relay = Relay::start((3, 1, "shm"), &format!("{SLOW} {}", record.option()));
    kill(relay.wait_for(1, 20, &[]));
    relay.end(3, &["node 1"]);
    let again = record.replay(1, "").expect(0, &["its process died"]);
    let rounds = said_by(1, &again.stdout).len();
    assert!((19..=ROUNDS as usize).contains(&rounds), "{}", again.said());
}

fn it_stops_where_it_is_asked_to() {
    let record = Record::new();
    recorded(&record, (2, 1, "shm"), "");
    let whole = record.replay(1, "").expect(0, &[]);
    let part = record.replay(1, "--until 60").expect(0, &["PE 1 has run 60 messages again", "--until"]);
    assert!(whole.stdout.starts_with(&part.stdout), "{}", part.said());
    assert!((1..ROUNDS as usize).contains(&part.stdout.len()), "{}", part.said());
    record.replay(1, "--until 1000000").expect(0, &[": to the end of its record"]);
}

fn examples() {
    let jacobi = "--grid 44,42,21 --block 21,21,21 --steps 20";
    let leanmd = "--cells 3,3,3 --atoms-per-cell 8 --steps 20 --migrate-every 10";
    for (name, options, transport) in [("jacobi3d", jacobi, "tcp"), ("leanmd", leanmd, "shm")] {
        let record = Record::new();
        run(example(name, &format!("{options} {}", record.option()), (3, 1, transport))).expect(0, &[]);
        record.replay_all(3);
    }
    for options in ["--tower --pendulums", ""] {
        let record = Record::new();
        run(program(&format!("{options} {}", record.option()), (3, 1, "mixed"))).expect(0, &[]);
        record.replay_all(3);
    }
}

fn what_is_damaged_is_told() {
    let record = Record::new();
    recorded(&record, (2, 1, "shm"), "");
    let (file, whole) = (record.file(1), std::fs::read(record.file(1)).expect("a job leaves it"));
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        std::fs::write(&file, bytes).expect("the scratch folder can be written");
        record.replay(1, "")
    };
    let middle = whole.len() / 2;
    with(&|bytes| bytes[middle] ^= 1).expect(1, &["is damaged at byte", "has run"]);
    with(&|bytes| bytes.truncate(middle)).expect(0, &["its process died"]);
    with(&|bytes| bytes.truncate(10)).expect(2, &["is no record", "within its header"]);
    with(&|bytes| bytes.truncate(40)).expect(2, &["is no record", "within its header"]);
    with(&|bytes| bytes[3] = b'x').expect(2, &["is no record", "begins with something else"]);
    with(&|bytes| bytes[16] = 9).expect(2, &["is no record", "its format is 9"]);
    with(&|bytes| bytes[33] ^= 1).expect(2, &["is damaged at byte 20"]);
    with(&|_| ()).expect(0, &["to the end"]);
    record.replay(7, "").expect(2, &["no record of PE 7", "2 of them, of PEs 0 to 1"]);
    std::fs::remove_file(&file).expect("it is ours");
    record.replay(1, "").expect(2, &["no record of PE 1", "it has that of PE 0"]);
    Record::new().replay(0, "").expect(2, &["cannot be read", "No such file"]);
}

fn what_cannot_be_recorded_is_refused() {
    let record = Record::new();
    for (words, shape, texts) in [
        ("--ft double", (2, 2, "shm"), &["--record --ft double"][..]),
        ("--ft disk", (2, 1, "shm"), &["--record --ft disk"]),
        ("--simulate", (2, 1, "shm"), &["--record --simulate", "--seed"]),
    ] {
        run(program(&format!("--relay {} {words}", record.option()), shape)).expect(2, texts);
    }
    recorded(&record, (2, 1, "shm"), "");
    let again = program(&format!("--relay {}", record.option()), (2, 1, "shm"));
    run(again).expect(2, &["there is a record in it already", "pe-"]);
    run(program("--relay --record /dev/null", (2, 1, "shm"))).expect(2, &["no file can be written there"]);
}

/// Two nodes, of one PE each.
const ALONE: Shape = (2, 1, "shm");

/// What programs look at that is not theirs, by the name of the option that has them do so.
const BREAKS: [&str; 3] = ["clock", "hash", "random"];

fn a_pe_that_breaks_the_rule_is_told_of() {
    for breaks in BREAKS {
        let record = Record::new();
        recorded(&record, (2, 1, "shm"), &format!("--breaks {breaks}"));
        let texts =
            ["PE 1 does not do the same", "Runner[1], entry `pass` sends PE 0", "Runner[0]", "of as many"];
        record.replay(1, "").expect(1, &texts);
    }
}

/// The command that checks a relay.
#[track_caller]
pub fn check(words: &str, shape: Shape) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    command.args(["check", "--replay"]);
    let relay = program(&format!("--relay {words}"), shape);
    command.arg("--").arg(relay.get_program()).args(relay.get_args());
    run(command)
}

fn a_program_that_keeps_the_rule_passes_the_check() {
    let ended = check("--rounds 20", ALONE).expect(0, &[]);
    ended.prints("all PEs do the same when they are given the same");
    // Whatever it is told to say.
    let ended = check("--rounds 5 --log error", ALONE).expect(0, &[]);
    ended.prints("all PEs do the same when they are given the same");
    // A failure that comes again is no difference.
    let ended = check("--rounds 20 --panic-at 7", ALONE).expect(0, &["enough of it"]);
    ended.prints("all PEs do the same when they are given the same");
    assert!(ended.stdout.iter().any(|line| line.contains("the program itself failed")), "{}", ended.said());
}

fn programs_that_break_the_rule_do_not() {
    for breaks in BREAKS {
        let ended = check(&format!("--rounds 5 --breaks {breaks}"), ALONE).expect(1, &[]);
        for pe in 0..2 {
            let who = format!("Runner[{pe}], entry `pass` sends PE {}", 1 - pe);
            let beginning = format!("PE {pe} does not do the same when it is given the same:");
            let told = |line: &String| line.starts_with(&beginning) && line.contains(&who);
            assert!(ended.stdout.iter().any(told), "{}", ended.said());
        }
    }
    // What stays on a PE is compared too.
    let ended = check("--rounds 5 --breaks clock --pairs", ALONE).expect(1, &[]);
    let told = ended.stdout.iter().any(|line| line.contains("Runner[0], entry `pass` sends PE 0"));
    assert!(told, "{}", ended.said());
}

fn a_check_that_cannot_be_is_told() {
    let check = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
        command.arg("check").args(words);
        run(command)
    };
    check(&["--", "true"]).expect(2, &["--replay"]);
    check(&["--replay"]).expect(2, &["PROGRAM"]);
    check(&["--replay", "--", "no-such-program"]).expect(2, &["no-such-program"]);
    check(&["--replay", "--", "true"]).expect(2, &["has recorded nothing"]);
    check(&["--replay", "--pes", "2", "--", "true"]).expect(2, &["has recorded nothing"]);
    // What is found in a folder that has a record would be taken for the program's.
    let folder = Scratch::new("checked-before");
    std::fs::create_dir_all(&folder.0).expect("it can be made");
    std::fs::write(folder.0.join("pe-0.0.record"), "").expect("it can be written");
    check(&["--replay", "--record", folder.name(), "--", "true"])
        .expect(2, &["there is a record in it already"]);
    let replay = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
        command.arg("replay").arg(folder.name()).args(words);
        run(command)
    };
    replay(&["--pe", "x"]).expect(2, &["write which PE", "decimal digits"]);
    replay(&["--pe", "0"]).expect(2, &["pe-0.0.record is no record", "within its header"]);
}
