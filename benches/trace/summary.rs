//! How long a long trace takes to be summed up, and how much memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Budget, alone, example, row, table, wanted};

const TIME: &str = "100 million events summed up";
const MEMORY: &str = "most memory for that";
/// Each is two messages, of three events each. Few are dropped where the disk is fast enough.
const ROUNDS: u32 = 17_000_000;
const EVENTS: f64 = 100e6;

pub fn measure() {
    if !wanted(TIME) {
        return;
    }
    let file = std::env::temp_dir().join(format!("talisman-bench-long-{}.pftrace", std::process::id()));
    let options = format!("--rounds {ROUNDS} --pes 1 --trace-size 64GiB --trace {}", file.display());
    example::report("pingpong", options.split(' '));
    let bytes = fs::metadata(&file).expect("the job has written it").len();
    let Summed { seconds, memory_kib, events } = sum_up(&file);
    let _ = fs::remove_file(&file);
    println!("a trace of {events} events in {bytes} bytes was summed up in {seconds:.1} s");
    alone(TIME, seconds * EVENTS / events as f64);
    alone(MEMORY, memory_kib as f64 / 1024.0);
    table("A long trace", "s", &[row(TIME, Budget::AtMost(20.0))]);
    table("The same", "MiB", &[row(MEMORY, Budget::AtMost(256.0))]);
}

struct Summed {
    seconds: f64,
    memory_kib: u64,
    events: u64,
}

/// As a user has it summed up.
fn sum_up(trace: &Path) -> Summed {
    let start = Instant::now();
    let mut child = Command::new(talisman())
        .arg("trace")
        .arg(trace)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`cargo build --profile bench --bins` has made it");
    let memory_kib = most_memory(&mut child);
    let seconds = start.elapsed().as_secs_f64();
    let said = child.wait_with_output().expect("it is ours");
    assert!(said.status.success(), "it can be read");
    let said = String::from_utf8(said.stdout).expect("it prints text");
    // A call begins and ends, and a message is sent.
    let [calls, messages] = ["calls", "messages"].map(|what| count_of(what, &said));
    Summed { seconds, memory_kib, events: 2 * calls + messages }
}

/// The most that it had, in KiB, looked at until it ends.
fn most_memory(child: &mut Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("it is ours").is_none() {
        let said = fs::read_to_string(&status).unwrap_or_default();
        let line = said.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(most);
        sleep(Duration::from_millis(5));
    }
    most
}

/// The number before a word in the first lines.
fn count_of(what: &str, said: &str) -> u64 {
    let words: Vec<&str> = said.split_whitespace().collect();
    let place = words.iter().position(|word| word.trim_end_matches([',', '.']) == what);
    let number = place.and_then(|place| words.get(place.checked_sub(1)?)?.parse().ok());
    number.unwrap_or_else(|| panic!("it says how many {what} there were: {said}"))
}

/// The command of the same build.
fn talisman() -> PathBuf {
    let me = std::env::current_exe().expect("the system tells");
    let profile = me.parent().and_then(Path::parent).expect("benchmarks are in `deps`");
    profile.join("talisman")
}
