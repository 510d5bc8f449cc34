//! Options do what they say, and what cannot be done is said: before the program begins, or at its end.

use std::fs;
use std::process::Command;

use super::checks;
use crate::job::{Ended, Scratch, Shape, example, program, run};

checks!(
    faults_that_did_not_happen,
    faults_that_happened,
    paths_that_cannot_be_written,
    a_report_after_the_output,
    a_trial_leaves_nothing,
    variables,
    without_effect,
    a_mark_before_the_hosts,
    nothing_to_log_in_with,
    wrong_numbers,
);

const SHAPE: Shape = (2, 1, "shm");
const WORK: &str = "--grid 16,16,16 --block 8,8,8 --steps 5";

fn faults_that_did_not_happen() {
    for (options, option, why) in [
        ("--kill 1@step400", "--kill 1@step400", "the last step of the program was 5"),
        ("--kill 1@24h", "--kill 1@", "the job had ended by then"),
        (
            "--chaos mtbf=10000h,seed=1",
            "--chaos mtbf=",
            "the job had ended before the first node was to be killed",
        ),
        ("--simulate --kill 1@step400", "--kill 1@step400", "the last step of the program was 5"),
    ] {
        let report = Scratch::new("report.json");
        let words = format!("{WORK} --report {} {options}", report.name());
        let ended = run(example("jacobi3d", &words, SHAPE)).expect(0, &[" killed nobody: ", option, why]);
        let known = read(&report);
        let told = known["not_injected"].as_array().unwrap_or_else(|| panic!("{known}"));
        assert_eq!(told.len(), 1, "{options}: {}", ended.said());
        assert!(told[0]["option"].as_str().is_some_and(|told| told.starts_with(option)), "{known}");
        assert_eq!(told[0]["why"], why, "{known}");
    }
    let ended = run(program("--kill 1@step4 lines --lines 3", SHAPE));
    ended.expect(0, &["--kill 1@step4 killed nobody: the program has reported no step"]);
}

fn faults_that_happened() {
    let report = Scratch::new("report.json");
    let words = format!("{WORK} --report {} --ft double --kill 1@step2", report.name());
    let ended = run(example("jacobi3d", &words, SHAPE)).expect(0, &[]);
    assert!(!ended.said().contains("killed nobody"), "{}", ended.said());
    assert_eq!(read(&report)["not_injected"].as_array().map(Vec::len), Some(0));
}

/// Nobody can make files in `/proc`, not even who may do anything else.
fn paths_that_cannot_be_written() {
    for (options, said) in [
        ("--report /proc/report.json", "--report /proc/report.json: it cannot be written"),
        ("--report /no/such/report.json", "--report /no/such/report.json: there is no folder /no/such"),
        ("--report /", "--report /: this is a folder"),
        ("--balancer greedy --lb-dump /proc", "--lb-dump /proc: no file can be written there"),
        ("--balancer greedy --lb-dump /no/such", "--lb-dump /no/such: there is no such folder"),
        (
            "--ft disk --ckpt-dir /proc/checkpoints",
            "--ckpt-dir: cannot keep checkpoints in /proc/checkpoints",
        ),
        (
            "--ft double --ckpt-dir /proc/checkpoints",
            "--ckpt-dir: cannot keep checkpoints in /proc/checkpoints",
        ),
        ("--restart /no/such", "--restart: "),
        ("--hosts /no/such", "--hosts /no/such: No such file"),
    ] {
        // A job of one process that does not keep checkpoints on disk makes no folder.
        let shapes =
            [SHAPE, (1, 1, "shm")].into_iter().filter(|shape| shape.0 > 1 || !options.contains("double"));
        for shape in shapes {
            begins_nothing(run(program(&format!("{options} lines --lines 3"), shape)), said);
        }
    }
}

/// As in `program --report /dev/stdout > file`.
fn a_report_after_the_output() {
    for shape in [SHAPE, (1, 2, "shm")] {
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "OUT"] {
            let out = Scratch::new("out");
            let name = name.replace("OUT", out.name());
            let program = program(&format!("--report {name} lines --lines 3"), shape);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("exec \"$@\" > {}", out.name()), "sh"]);
            shell.arg(program.get_program()).args(program.get_args());
            run(shell).expect(0, &[]);
            let text = fs::read_to_string(&out.0).expect("it has been written");
            let (lines, report) = text.split_once("{\n").unwrap_or_else(|| panic!("{name}: {text}"));
            assert_eq!(lines.lines().count(), 6, "{name}: {text}");
            let report: serde_json::Value = serde_json::from_str(&format!("{{{report}")).expect("a report");
            assert_eq!(report["status"], 0, "{name}");
        }
    }
}

fn a_trial_leaves_nothing() {
    let folder = Scratch::new("folder");
    fs::create_dir(&folder.0).expect("the scratch folder can be written");
    let words = format!("--report {0}/r.json --balancer greedy --lb-dump {0} lines --lines 3", folder.name());
    run(program(&words, SHAPE)).expect(0, &[]);
    let entries = fs::read_dir(&folder.0).expect("it is there");
    let names: Vec<_> = entries.map(|entry| entry.expect("it is there").file_name()).collect();
    fs::remove_dir_all(&folder.0).expect("it is ours");
    assert_eq!(names, ["r.json"]);
}

fn variables() {
    let with = |name: &str, value: &str| {
        let mut command = program("lines --lines 3", SHAPE);
        command.env(name, value);
        run(command)
    };
    let said = "warning: TALISMAN_SEDE is set, and nothing reads it; is it to be TALISMAN_SEED?";
    let ended = with("TALISMAN_SEDE", "3").expect(0, &[said]);
    let told = ended.stderr.iter().filter(|line| line.contains("TALISMAN_SEDE"));
    assert_eq!(told.count(), 1, "the launcher alone: {}", ended.said());
    let quiet = with("TALISMAN_SEED", "").expect(0, &[]);
    assert!(!quiet.said().contains("TALISMAN_SEED"), "{}", quiet.said());
    begins_nothing(with("TALISMAN_SEED", "0x10"), "TALISMAN_SEED");
    begins_nothing(with("TALISMAN_SILENCE", "1ms"), "--silence is from TALISMAN_SILENCE");
    begins_nothing(with("TALISMAN_REPORT", "/proc/report.json"), "--report is from TALISMAN_REPORT");
    begins_nothing(with("TALISMAN_HOSTS", "/no/such"), "--hosts is from TALISMAN_HOSTS");
    begins_nothing(with("TALISMAN_RESTART", "/no/such"), "--restart is from TALISMAN_RESTART");
}

fn without_effect() {
    begins_nothing(run(program("--mtbf 1h lines --lines 3", SHAPE)), "--mtbf has no effect: without --ft");
    #[cfg(feature = "tls")]
    begins_nothing(
        run(program("--tls lines --lines 3", SHAPE)),
        "--tls has no effect: the nodes of one host",
    );
    let ended = run(program("--label-output lines --lines 3", (1, 1, "shm")));
    ended.expect(0, &["warning: --label-output has no effect: the whole job is one process"]);
}

fn a_mark_before_the_hosts() {
    let hosts = Scratch::new("hosts");
    fs::write(&hosts.0, "\u{feff}localhost slots=2\r\n").expect("the scratch folder can be written");
    let ended = run(program(&format!("--hosts {} lines --lines 3", hosts.name()), SHAPE)).expect(0, &[]);
    assert_eq!(ended.stdout.len(), 6, "{}", ended.said());
}

/// Where the program is not installed that starts others on hosts.
fn nothing_to_log_in_with() {
    let ssh = "ssh cannot be run: No such file or directory (os error 2); install ssh's client here";
    let srun = "srun cannot be run: No such file or directory (os error 2); put Slurm's commands into PATH";
    for (hosts, said) in [("list:elsewhere", ssh), ("slurm", srun)] {
        let mut command = Command::new(example("hello", "", SHAPE).get_program());
        command.args(["--transport", "tcp", "--hosts", hosts]);
        command.env("PATH", "/no/such").env("SLURM_JOB_NODELIST", "elsewhere").env_remove("TALISMAN_SSH");
        run(command).expect(3, &["host elsewhere (node 0): ", said]);
    }
}

fn wrong_numbers() {
    for (words, said) in [
        ("--nodes abc", "invalid value 'abc' for '--nodes <N>': write how many nodes, from 1 to 65536"),
        ("--nodes -1", "invalid value '-1' for '--nodes <N>': write how many nodes"),
        ("--seed 0x10", "invalid value '0x10' for '--seed <S>': write a number from 0 to"),
    ] {
        let mut command = Command::new(example("hello", "", SHAPE).get_program());
        command.args(words.split(' '));
        begins_nothing(run(command), said);
    }
}

#[track_caller]
fn begins_nothing(ended: Ended, said: &str) {
    let ended = ended.expect(2, &["error: ", said]);
    assert!(ended.stdout.is_empty(), "{}", ended.said());
}

fn read(report: &Scratch) -> serde_json::Value {
    serde_json::from_slice(&fs::read(&report.0).expect("it has been written")).expect("it is a report")
}
