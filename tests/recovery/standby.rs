//! Launchers that are killed before the program has begun: somebody stands by, and starts the job again.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use talisman::rng::Rng;

use crate::disk::Folder;
use crate::early::{DEATHS, deaths};
use crate::held::begin;
use crate::job::{Job, Shape, until};
use crate::subjects::{LONG, NEVER, Run, SAVED, Said};
use crate::system::{children, environment, signal, state};

/// What a process is told with that stands by.
const STANDS_BY: &str = "TALISMAN_STANDBY=";
const STARTS: &str = "the launcher is gone; nothing has begun, and process ";

/// The process that stands by for this launcher. It is no child of the launcher's main thread, as its nodes are: these look the same for a moment
/// if the launcher itself has stood by, until they run the program.
pub fn standby_of(launcher: i32) -> Option<i32> {
    let threads = fs::read_dir(format!("/proc/{launcher}/task")).ok()?.flatten();
    let others = threads.filter(|thread| thread.file_name().to_str() != Some(&launcher.to_string()));
    let started = others.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let started = started.flat_map(|text| text.split(' ').flat_map(str::parse).collect::<Vec<i32>>());
    started.into_iter().find(|pid| environment(*pid).iter().any(|word| word.starts_with(STANDS_BY)))
}

#[track_caller]
pub fn wait_for_standby(job: &Job, launcher: i32) -> i32 {
    until(|| standby_of(launcher)).unwrap_or_else(|| panic!("nobody stands by: {}", job.said()))
}

/// Who has started the job again, one after the other.
pub fn started_again_by(errors: &[String]) -> Vec<i32> {
    let starts = errors.iter().filter_map(|line| line.split_once(STARTS));
    starts.filter_map(|(_, rest)| rest.split(' ').next()?.parse().ok()).collect()
}

/// A run of which as many nodes as there are `deaths` stop before they have said anything, so that it does not begin.
fn start(shape: Shape, options: &str, deaths: &Folder) -> Run {
    SAVED.start_by(shape, options, |mut command| {
        command.env(DEATHS, &deaths.0);
        command
    })
}

/// Waits until some node of this launcher has stopped.
#[track_caller]
fn wait_until_one_has_stopped(job: &Job, launcher: i32) {
    let has_stopped = || children(launcher).into_iter().any(|node| state(node) == Some('T'));
    until(|| has_stopped().then_some(())).unwrap_or_else(|| panic!("no node stopped: {}", job.said()));
}

pub fn a_launcher_that_is_lost_before_the_program_begins_is_replaced() {
    let disk = Folder::new();
    let on_disk = format!("--ft disk --ckpt-dir {}", disk.0.display());
    for (options, shape) in [
        ("--ft double", (3, 1, "shm")),
        (&on_disk, (3, 1, "tcp")),
        ("--ft double --spares 1", (2, 2, "mixed")),
    ] {
        let expected = SAVED.undisturbed(shape);
        let deaths = deaths(1, "stopped");
        let run = start(shape, options, &deaths);
        let launcher = run.job.launcher_pid();
        let standby = wait_for_standby(&run.job, launcher);
        wait_until_one_has_stopped(&run.job, launcher);
        signal(launcher, Signal::KILL);
        let left = run.ends_without_its_launcher();
        assert_eq!(left.said, expected, "{}", left.ended.said());
        assert_eq!(left.status, Some(0), "{}", left.ended.said());
        assert_eq!(started_again_by(&left.ended.stderr), [standby], "{}", left.ended.said());
        assert_eq!(left.failures.len(), 0, "the program that ran has lost nobody");
        assert!(
            !disk.0.exists(),
            "the job has made the folder for checkpoints, whichever of its launchers did"
        );
    }
}

/// Not for ever.
pub fn a_job_whose_launchers_are_lost_each_time_that_it_starts_ends() {
    let deaths = deaths(64, "stopped");
    let run = start((3, 1, "shm"), "--ft double", &deaths);
    let mut launcher = run.job.launcher_pid();
    let mut standbys = Vec::new();
    for _ in 0..3 {
        let standby = wait_for_standby(&run.job, launcher);
        wait_until_one_has_stopped(&run.job, launcher);
        signal(launcher, Signal::KILL);
        launcher = standby;
        standbys.push(standby);
        run.job.wait_for_error(&format!("process {standby} starts the job again"));
    }
    wait_until_one_has_stopped(&run.job, launcher);
    assert_eq!(standby_of(launcher), None);
    signal(launcher, Signal::KILL);
    let ended = run.job.end_without_launcher();
    assert_eq!(started_again_by(&ended.stderr), standbys, "{}", ended.said());
}

/// Who asks a job to end, and then kills it, does not want it to go on.
pub fn a_job_that_is_to_end_is_not_started_again() {
    // A launcher that is asked to end does so after a moment: by then it might not be there to be killed, if this machine stalls.
    assert!((0..5).any(|_| is_killed_while_it_ends()), "whoever stands by does so to the end");
}

/// Whether the launcher was still there when nobody stood by any more.
fn is_killed_while_it_ends() -> bool {
    let deaths = deaths(1, "stopped");
    let run = start((3, 1, "shm"), "--ft double", &deaths);
    let launcher = run.job.launcher_pid();
    let standby = wait_for_standby(&run.job, launcher);
    wait_until_one_has_stopped(&run.job, launcher);
    signal(launcher, Signal::INT);
    let is_gone = until(|| (!run.job.processes().contains(&standby)).then_some(()));
    assert!(is_gone.is_some(), "somebody still stands by: {}", run.job.said());
    let is_ending = children(launcher).into_iter().any(|node| state(node) == Some('T'));
    signal(launcher, Signal::KILL);
    let ended = run.job.end_without_launcher();
    assert!(started_again_by(&ended.stderr).is_empty(), "{}", ended.said());
    is_ending
}

/// Nor does anybody wait beside a job that has begun, or has no fault tolerance.
pub fn nobody_stands_by_once_the_program_has_begun() {
    let shape = (3, 1, "mixed");
    let expected = LONG.undisturbed(shape);
    let held = begin(LONG, shape, NEVER);
    held.run.job.wait_for("at 5");
    let launcher = held.run.job.launcher_pid();
    let count = || held.run.job.processes().len();
    until(|| (count() == 4).then_some(())).unwrap_or_else(|| panic!("{} processes", count()));
    assert_eq!(standby_of(launcher), None);
    held.survives(&expected);
    let deaths = deaths(1, "stopped");
    let run = start(shape, "", &deaths);
    let launcher = run.job.launcher_pid();
    wait_until_one_has_stopped(&run.job, launcher);
    assert_eq!(standby_of(launcher), None);
    signal(launcher, Signal::KILL);
    let ended = run.job.end_without_launcher();
    assert!(started_again_by(&ended.stderr).is_empty(), "{}", ended.said());
}

/// Whether nobody, some, or all nodes have begun by then.
pub fn the_launcher_at_any_moment_of_its_start() {
    let mut rng = Rng::new(61);
    let rounds =
        std::env::var("TALISMAN_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(12);
    let ways = [(3, 1, "shm"), (4, 1, "tcp"), (2, 2, "mixed")].map(Way::of);
    let (mut again, mut led) = (0, 0);
    for round in 0..rounds {
        let Way { shape, expected, begun_after } = &ways[round % 3];
        let held = begin(LONG, *shape, NEVER);
        let launcher = held.run.job.launcher_pid();
        let (start, has_begun) = (Instant::now(), || held.run.job.said().contains("at 1"));
        while standby_of(launcher).is_none() && !has_begun() {}
        let moment = begun_after.mul_f64(1.1 * rng.unit_f64());
        sleep(moment.saturating_sub(start.elapsed()));
        held.kill_launcher();
        let left = held.survives_its_launcher(expected);
        match started_again_by(&left.ended.stderr).len() {
            0 => led += 1,
            1 => again += 1,
            more => panic!("started again {more} times: {}", left.ended.said()),
        }
    }
    println!("of {rounds} jobs, {again} were started again, and {led} went on without their launcher");
}

struct Way {
    shape: Shape,
    expected: Said,
    /// After so long the program says something, so that moments are about the one at which it begins.
    begun_after: Duration,
}

impl Way {
    fn of(shape: Shape) -> Way {
        let expected = LONG.undisturbed(shape);
        let (start, held) = (Instant::now(), begin(LONG, shape, NEVER));
        held.run.job.wait_for("at 1");
        let begun_after = start.elapsed();
        held.survives(&expected);
        Way { shape, expected, begun_after }
    }
}
