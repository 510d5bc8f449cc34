//! Jobs that log (`--ft logging`), keep their checkpoints on disk, lose all their processes, and are started again.

use std::path::Path;

use crate::asking::{ask, said};
use crate::disk::{Folder, cut_off, goes_on, kill_all};
use crate::job::{Shape, until};
use crate::subjects::{LONG, Left, NEVER, Run, Said};

const EVERY: &str = "--ckpt-every 5steps";

/// A run that does not end before it is let go, whose checkpoints are in this folder.
fn begin(folder: &Folder, shape: Shape, options: &str) -> Run {
    let dir = format!("--ft logging --ft-log --ckpt-dir {}", folder.0.display());
    LONG.start(shape, &format!("{dir} {options} {}", folder.holding()))
}

/// Kills everything that belongs to it, once it has come so far and all of a checkpoint is on disk; what it has said is left.
fn end_all(run: Run, folder: &Folder, (nodes, pes, _): Shape, after: &str) -> Vec<String> {
    run.job.wait_for(after);
    wait_for_whole(folder, nodes, pes, &run);
    // Those that are there now: they go on without the launcher, and some may have come in a lost one's place.
    let processes = run.job.processes();
    kill_all(run, folder, processes)
}

#[track_caller]
fn wait_for_whole(folder: &Folder, nodes: u32, pes: u32, run: &Run) {
    let is_whole = || folder.has_whole(nodes, pes).then_some(());
    until(is_whole).unwrap_or_else(|| panic!("{:?}: {}", folder.copies(), run.job.said()));
}

fn goes_on_in(folder: &Folder, shape: Shape, options: &str, before: &[String], expected: &Said) -> Left {
    goes_on(LONG, shape, &folder.restart(options), before, expected)
}

pub fn a_job_that_logs_is_started_again() {
    let shape = (3, 2, "shm");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let before = end_all(begin(&folder, shape, EVERY), &folder, shape, "at 22");
    for (ft, nodes, pes) in [
        ("logging", 3, 2),
        ("logging", 2, 2),
        ("logging", 5, 1),
        ("logging:strict", 2, 3),
        ("double", 3, 2),
        ("disk", 2, 1),
        ("off", 1, 2),
    ] {
        let copy = folder.copy();
        let left = goes_on_in(&copy, (nodes, pes, "mixed"), &format!("--ft {ft}"), &before, &expected);
        assert!(left.said.first_round() >= Some(5), "what was said before the checkpoint is not said again");
    }
}

/// Others' checkpoints, on as many nodes and on others. A node that is lost before the first own checkpoint reads the files again.
pub fn a_job_goes_on_with_logging() {
    let expected = LONG.undisturbed((3, 2, "shm"));
    let folder = Folder::new();
    let before = cut_off(LONG.start((3, 2, "shm"), &folder.held(EVERY)), &folder, 3, "at 22");
    for (shape, options) in [
        ((3, 2, "tcp"), NEVER.to_owned()),
        ((3, 2, "shm"), format!("{NEVER} --kill 1@step40")),
        ((2, 2, "tcp"), format!("{NEVER} --kill 0@step40")),
        ((4, 2, "mixed"), format!("{NEVER} --kill 3@step40 --kill 1@step60")),
        ((2, 2, "shm"), format!("{EVERY} --kill 1@step40")),
    ] {
        let copy = folder.copy();
        let left = goes_on_in(&copy, shape, &format!("--ft logging {options}"), &before, &expected);
        let lost = options.matches("--kill").count();
        let alone = left.ended.stderr.iter().filter(|line| line.contains("it alone goes back")).count();
        assert_eq!(alone, lost, "{}", left.ended.said());
    }
}

/// In the same folder, with nodes that are lost meanwhile, also while disks are at work.
pub fn a_job_that_logs_is_started_again_more_than_once() {
    let expected = LONG.undisturbed((4, 1, "shm"));
    let folder = Folder::new();
    let shape = (4, 1, "tcp");
    let kills = "--ckpt-every 3steps --kill 1@step8 --kill 3@step13";
    let mut before = end_all(begin(&folder, shape, kills), &folder, shape, "at 17");
    for (shape, after) in [((3, 1, "shm"), "at 35"), ((2, 2, "tcp"), "at 54")] {
        let again = format!("--restart {} --ckpt-every 3steps", folder.0.display());
        let known = folder.versions().into_iter().max().expect("there is one");
        let run = begin(&folder, shape, &again);
        let processes = run.job.nodes(shape.0 as usize);
        run.job.wait_for(after);
        let has_newer = || folder.versions().into_iter().min().filter(|oldest| *oldest > known);
        until(has_newer).unwrap_or_else(|| panic!("{:?}: {}", folder.versions(), run.job.said()));
        before.extend(kill_all(run, &folder, processes));
    }
    goes_on_in(&folder, (2, 1, "tcp"), "--ft logging --ckpt-every 1h --kill 1@step70", &before, &expected);
}

/// The answer comes when all of it is on disk.
pub fn a_checkpoint_of_a_job_that_logs_when_it_is_asked_for() {
    let shape = (3, 2, "shm");
    let expected = LONG.undisturbed(shape);
    let folder = Folder::new();
    let run = begin(&folder, shape, NEVER);
    let processes = run.job.nodes(3);
    run.job.wait_for("at 9");
    assert_eq!(folder.versions(), [0_u64; 0], "nobody has asked");
    for version in [1, 2] {
        let text = format!("checkpoint {version} is taken; after the loss of all nodes: --restart");
        said(&ask(&run, "checkpoint", ""), 0, &text);
        assert!(folder.has_whole(3, 2), "{:?}", folder.copies());
        assert!(folder.versions().contains(&version));
    }
    let before = kill_all(run, &folder, processes);
    goes_on_in(&folder, (2, 2, "tcp"), "--ft logging", &before, &expected);
}

/// A job that has ended leaves nothing, whoever had been lost.
pub fn nothing_is_left_of_a_job_that_logs_and_ends() {
    let expected = LONG.undisturbed((3, 1, "shm"));
    for options in [EVERY, "--ckpt-every 5steps --kill 1@step22", NEVER] {
        let folder = Folder::new();
        let dir = format!("--ft logging --ckpt-dir {} {options}", folder.0.display());
        LONG.start((3, 1, "tcp"), &dir).survives(&expected);
        assert!(!Path::new(&folder.0).exists(), "{options}: {:?}", folder.copies());
    }
}
