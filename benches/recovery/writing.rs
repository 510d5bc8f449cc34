//! The limit of a checkpoint on disk: as many processes as the job has nodes, each of which writes as much as a node does and waits
//! until the disk has it, all at once.

use std::fs::File;
use std::io::{Write, stdin};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::copying::Process;

pub const PROGRAM: &str = "@writing";

/// Bytes of one write.
const AT_ONCE: usize = 1 << 20;

/// Seconds until the last process had its bytes on the disk, in files of its own in this folder.
pub fn at_once(dir: &Path, processes: u32, bytes_each: u64) -> f64 {
    let start = |number: u32| {
        let file = dir.join(format!("limit-{number}"));
        Process::start(&[PROGRAM, &bytes_each.to_string(), &file.to_string_lossy()])
    };
    let mut all: Vec<Process> = (0..processes).map(start).collect();
    all.iter_mut().for_each(Process::wait);
    let start = Instant::now();
    all.iter_mut().for_each(Process::go);
    all.iter_mut().for_each(Process::wait);
    let took = start.elapsed().as_secs_f64();
    all.into_iter().for_each(Process::end);
    took
}

pub fn program() {
    let mut words = std::env::args().skip(2);
    let bytes: usize = words.next().and_then(|word| word.parse().ok()).expect("how many bytes");
    let path = PathBuf::from(words.next().expect("the name of a file"));
    let from = vec![1_u8; bytes];
    println!("ready");
    for _ in stdin().lines() {
        let mut file = File::create(&path).expect("it can be made");
        from.chunks(AT_ONCE).for_each(|chunk| file.write_all(chunk).expect("there is room"));
        file.sync_all().expect("the disk takes it");
        println!("done");
    }
    std::fs::remove_file(&path).expect("it is ours");
}
