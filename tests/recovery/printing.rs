//! What a program says comes once, also when its launcher is killed while it prints.

use std::fs::{self, File, OpenOptions};
use std::io::{PipeReader, Read, pipe};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::thread::{sleep, spawn};
use std::time::Duration;

use rustix::io::ioctl_fionread;
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use talisman::rng::Rng;

use crate::job::{Job, Scratch, Shape, program, until};
use crate::subjects::NEVER;
use crate::system::signal;

const SHAPE: Shape = (3, 1, "shm");
/// More than a pipe holds, in each of some periods, or at the end.
const LOUD: &str = "--rounds 24 --loud 250 --stay";

/// Lines, sorted, without those that may come twice.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().filter(|line| !line.starts_with("at ")).map(str::to_owned).collect();
    lines.sort();
    lines
}

fn start(options: &str, out: impl Into<Stdio>) -> Job {
    Job::printing_to(program(&format!("{LOUD} {options}"), SHAPE), out.into())
}

fn undisturbed() -> Vec<String> {
    let out = Scratch::new("said");
    let file = File::create(&out.0).unwrap();
    start("", file).end().expect(0, &[]);
    lines(&fs::read_to_string(&out.0).unwrap())
}

/// Waits until nothing more comes: there is no room, and somebody is amid printing, and waits for us.
fn wait_until_full(from: &PipeReader) {
    let (mut before, mut same) = (0, 0);
    let is_full = until(|| {
        let now = ioctl_fionread(from).unwrap();
        same = if now > 0 && now == before { same + 1 } else { 0 };
        before = now;
        sleep(Duration::from_millis(20));
        (same == 10).then_some(())
    });
    is_full.expect("it prints more than a pipe holds");
}

/// A pipe that nobody reads from until the launcher is gone, and, every other time, whoever came after it.
pub fn what_a_launcher_was_printing_is_printed_once() {
    let (expected, mut rng) = (undisturbed(), Rng::new(28));
    for options in ["--ckpt-every 4steps", NEVER] {
        for successor_is_lost in [false, true, true] {
            let (mut from, to) = pipe().unwrap();
            let job = start(&format!("--ft double {options}"), to);
            let nodes = job.nodes(3);
            wait_until_full(&from);
            signal(job.launcher_pid(), Signal::KILL);
            job.wait_for_error("leads now");
            if successor_is_lost {
                // It waits for us too by then, unless the machine is busy.
                sleep(Duration::from_millis(rng.below(60)));
                signal(nodes[0], Signal::KILL);
            }
            let reading = spawn(move || {
                let mut text = String::new();
                from.read_to_string(&mut text).map(|_| text)
            });
            job.end_without_launcher();
            let text = reading.join().unwrap().expect("it is text");
            assert!(lines(&text) == expected, "{options}: {}", differences(&text, &expected));
        }
    }
}

/// Nothing is missing where files in memory may not be as long as what is printed, or as short as that of what is known of it.
pub fn what_is_printed_where_files_are_short() {
    let expected = undisturbed();
    // Of so many bytes.
    for most in [8 << 10, 64 << 10] {
        let (mut from, to) = pipe().unwrap();
        let mut command = program(&format!("{LOUD} --ft double {NEVER}"), (3, 1, "tcp"));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        // SAFETY: one system call.
        unsafe { command.pre_exec(move || Ok(setrlimit(Resource::Fsize, limit)?)) };
        let job = Job::printing_to(command, to.into());
        job.nodes(3);
        wait_until_full(&from);
        signal(job.launcher_pid(), Signal::KILL);
        let reading = spawn(move || {
            let mut text = String::new();
            from.read_to_string(&mut text).map(|_| text)
        });
        job.end_without_launcher();
        let text = reading.join().unwrap().expect("it is text");
        let said = lines(&text);
        let is_missing = |line: &&String| said.binary_search(line).is_err();
        assert_eq!(
            expected.iter().filter(is_missing).count(),
            0,
            "{most}: {}",
            differences(&text, &expected)
        );
    }
}

/// Files that are written anew, and appended to.
pub fn what_goes_to_a_file_is_there_once() {
    let expected = undisturbed();
    let len: usize = expected.iter().map(|line| line.len() + 1).sum();
    let mut rng = Rng::new(27);
    for round in 0..8 {
        let out = Scratch::new("said");
        fs::write(&out.0, "").unwrap();
        let file = OpenOptions::new().write(true).append(round % 2 == 0).open(&out.0).unwrap();
        let options = ["--ckpt-every 4steps", NEVER][round / 2 % 2];
        let job = start(&format!("--ft double {options}"), file);
        job.nodes(3);
        let some = rng.below(len as u64 * 3 / 4);
        let is_there = until(|| (fs::metadata(&out.0).unwrap().len() > some).then_some(()));
        is_there.expect("it prints as much");
        signal(job.launcher_pid(), Signal::KILL);
        job.end_without_launcher();
        let text = fs::read_to_string(&out.0).unwrap();
        assert!(lines(&text) == expected, "round {round}, {options}: {}", differences(&text, &expected));
    }
}

fn differences(text: &str, expected: &[String]) -> String {
    let said = lines(text);
    let repeated = said.chunk_by(|one, other| one == other).filter(|same| same.len() > 1).count();
    let missing = expected.iter().filter(|line| said.binary_search(line).is_err()).count();
    let wrong: Vec<_> = said.iter().filter(|line| expected.binary_search(line).is_err()).take(3).collect();
    format!("{} lines of {}, {repeated} repeated, {missing} missing, {wrong:?}", said.len(), expected.len())
}
