//! The limit of detection: how long the system needs to end a process that was killed, and to tell its parent of it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

pub const PROGRAM: &str = "@resident";

/// Seconds from SIGKILL until a process with so many bytes is known to have ended, while others, as many as the job has
/// nodes left, want the processor.
pub fn end_s(bytes: u64, others: u32) -> f64 {
    let mut victim = start(bytes);
    let others: Vec<Child> = (0..others).map(|_| start(1)).collect();
    let killed = Instant::now();
    end(&mut victim);
    let took = killed.elapsed().as_secs_f64();
    others.into_iter().for_each(|mut other| end(&mut other));
    took
}

fn start(bytes: u64) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("the system tells"))
        .args([PROGRAM, &bytes.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again");
    let said = BufReader::new(child.stdout.take().expect("it is a pipe")).lines().next();
    said.expect("it says when it has its memory").expect("it writes");
    child
}

fn end(child: &mut Child) {
    child.kill().expect("it is ours, and goes on until it is killed");
    child.wait().expect("it is ours");
}

/// Has memory, and computes.
pub fn program() {
    let bytes = std::env::args().nth(2).and_then(|word| word.parse().ok()).expect("how many bytes");
    let memory = vec![1_u8; bytes];
    println!("ready");
    loop {
        std::hint::black_box(&memory);
    }
}
