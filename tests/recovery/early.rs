//! Nodes that are lost before the program has begun: there is nothing to go back to, so the job is started again.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use rustix::process::{Signal, getpid, getppid, kill_process};

use crate::disk::Folder;
use crate::job::{Ended, Job, program};
use crate::subjects::SAVED;

/// As many nodes are lost as there are files in this folder, each before it has said anything: the file says how.
pub const DEATHS: &str = "RECOVERY_EARLY_DEATHS";
/// What a launcher says to its nodes in.
const IS_NODE: &str = "TALISMAN_CONTROL";
const AGAIN: &str = "; nothing has begun, and the job is started again";
const KILLED: &str = "was killed by signal 9 (SIGKILL); nothing has begun";

/// To be called before anything else.
pub fn die_if_it_is_ones_turn() {
    let folder = std::env::var_os(DEATHS).filter(|_| std::env::var_os(IS_NODE).is_some());
    let files = folder.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    // Whoever takes a file away is the one.
    let how = files.into_iter().find_map(|file| {
        let how = fs::read_to_string(file.path()).ok()?;
        fs::remove_file(file.path()).is_ok().then_some(how)
    });
    let _ = match how.as_deref() {
        Some("killed") => kill_process(getpid(), Signal::KILL),
        Some("stopped") => kill_process(getpid(), Signal::STOP),
        Some("host") => getppid().map_or(Ok(()), |agent| kill_process(agent, Signal::KILL)),
        other => return assert_eq!(other, None),
    };
}

/// A folder from which so many nodes take that they are lost, and how.
pub fn deaths(count: u32, how: &str) -> Folder {
    let folder = Folder::new();
    fs::create_dir_all(&folder.0).expect("the scratch folder can be written");
    (0..count).for_each(|number| fs::write(folder.0.join(number.to_string()), how).expect("it can"));
    folder
}

pub fn started_again(errors: &[String], why: &str) -> usize {
    errors.iter().filter(|line| line.contains(AGAIN) && line.contains(why)).count()
}

pub fn a_job_that_loses_a_node_before_it_begins_is_started_again() {
    let expected = SAVED.undisturbed((3, 1, "shm"));
    let disk = Folder::new();
    let on_disk = format!("--ft disk --ckpt-dir {}", disk.0.display());
    let stopped =
        "said nothing for 2s (is it stopped, or its machine overloaded? see --silence) and was killed";
    for (options, shape, how, why) in [
        ("--ft double", (3, 1, "shm"), "killed", KILLED),
        (&on_disk, (3, 1, "tcp"), "killed", KILLED),
        ("--ft double --silence 2s", (3, 1, "shm"), "stopped", stopped),
    ] {
        let deaths = deaths(1, how);
        let run = SAVED.start_by(shape, options, |mut command| {
            command.env(DEATHS, &deaths.0);
            command
        });
        let left = run.survives(&expected);
        assert_eq!(started_again(&left.ended.stderr, why), 1, "{}", left.ended.said());
        assert_eq!(left.failures.len(), 0, "the program that ran has lost nobody");
        assert!(!disk.0.exists(), "the job has made the folder for checkpoints, whichever of its starts did");
    }
}

/// Not for ever, and not without `--ft`.
pub fn a_job_that_loses_nodes_each_time_that_it_starts_ends() {
    for (options, times) in [("--ft double", 3), ("", 0)] {
        let deaths = deaths(64, "killed");
        let ended = run(options, deaths.0.as_os_str());
        let ended = ended.expect(3, &["was killed by signal 9 (SIGKILL); the job cannot start without it"]);
        assert_eq!(started_again(&ended.stderr, KILLED), times, "{}", ended.said());
        assert!(Path::new(&deaths.0).read_dir().expect("it is there").count() < 64);
    }
}

fn run(options: &str, deaths: &OsStr) -> Ended {
    let mut command = program(options, (3, 1, "shm"));
    command.env(DEATHS, deaths);
    Job::start(command).end()
}
