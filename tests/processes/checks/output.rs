//! What nodes print and read.

use std::io::Write;
use std::process::Stdio;

use super::checks;
use crate::job::{Ended, Job, Shape, program, run};
use crate::program::line;

checks!(
    arrives_whole_and_in_order,
    is_labelled_if_asked,
    goes_nowhere_without_a_reader,
    input_goes_to_the_first_node,
    input_that_stays_open_keeps_nobody,
);

const LINES: u32 = 3000;
const SHAPE: Shape = (4, 2, "mixed");

fn arrives_whole_and_in_order() {
    check_lines(run(program(&format!("lines --lines {LINES}"), SHAPE)), |_| String::new());
}

fn is_labelled_if_asked() {
    let ended = run(program(&format!("--label-output lines --lines {LINES}"), SHAPE));
    check_lines(ended, |pe| format!("[{}] ", pe / SHAPE.1));
}

/// All lines of all PEs are there, those of each in order and whole, and nothing else.
fn check_lines(ended: Ended, label: impl Fn(u32) -> String) {
    let ended = ended.expect(0, &[]);
    let mut next = vec![0; (SHAPE.0 * SHAPE.1) as usize];
    for said in &ended.stdout {
        let is_next = |pe: &u32| *said == label(*pe) + &line(*pe, next[*pe as usize]);
        let pe = (0..).take(next.len()).find(is_next).unwrap_or_else(|| panic!("{said:?} after {next:?}"));
        next[pe as usize] += 1;
    }
    assert_eq!(next, vec![LINES; next.len()]);
    for pe in 0..next.len() as u32 {
        let of_pe = |said: &&String| said.starts_with(&format!("{}PE {pe} error ", label(pe)));
        let said: Vec<&String> = ended.stderr.iter().filter(of_pe).collect();
        let errors = (0..LINES).step_by(10).map(|number| format!("{}PE {pe} error {number}", label(pe)));
        assert!(said.into_iter().eq(&errors.collect::<Vec<_>>()), "errors of PE {pe}");
    }
    assert_eq!(ended.stderr.len(), next.len() * LINES.div_ceil(10) as usize);
}

/// As in `program | head -1`.
fn goes_nowhere_without_a_reader() {
    let program = program(&format!("lines --lines {LINES}"), SHAPE);
    let script = "exec 3>/dev/null; \"$@\" 2>&3 3>&- | head -1; echo status ${PIPESTATUS[0]}";
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", script, "bash"]).arg(program.get_program()).args(program.get_args());
    let ended = run(shell).expect(0, &[]).quietly();
    assert_eq!(ended.stdout.len(), 2, "{}", ended.said());
    assert_eq!(ended.stdout[1], "status 0");
}

fn input_goes_to_the_first_node() {
    let mut command = program("echo", (3, 1, "mixed"));
    command.stdin(Stdio::piped());
    let mut job = Job::start(command);
    let mut input = job.launcher.stdin.take().expect("it was asked for");
    for word in ["one", "two", "three"] {
        writeln!(input, "{word}").expect("it is read");
        // Nothing waits for the end of the input.
        job.wait_for(&format!("read {word}"));
    }
    drop(input);
    let ended = job.end().expect(0, &[]).quietly();
    assert_eq!(ended.stdout, ["read one", "read two", "read three"]);
}

fn input_that_stays_open_keeps_nobody() {
    let mut command = program("traffic --messages 100", (3, 1, "shm"));
    command.stdin(Stdio::piped());
    let mut job = Job::start(command);
    let input = job.launcher.stdin.take().expect("it was asked for");
    job.end().expect(0, &[]).quietly();
    drop(input);
}
