//! Losses that are more than can be restored, of jobs with a checkpoint on disk: all go back to that, if nobody can tell.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;

use crate::executions::Relay;
use crate::job::{Scratch, Shape, until};
use crate::losses::{SLOW, undisturbed};
use crate::system::signal;

crate::trials::checks!(
    all_go_back_to_disk_if_nothing_was_printed_since,
    all_are_lost_at_once_and_go_back_to_disk,
    nobody_goes_back_to_disk_behind_what_was_printed,
);

const SHAPE: Shape = (4, 1, "tcp");
const GOES_BACK: &str = "which is on disk: all go back to it";

/// A folder for checkpoints, which a test takes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(Scratch::new("checkpoints").0.clone());
        let _ = fs::remove_dir_all(&folder.0);
        folder
    }

    /// How many nodes have a version of this number or a later one.
    fn nodes_with(&self, version: u64) -> usize {
        let nodes = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let has_it = |name: &str| {
            let number = name.strip_prefix('v').and_then(|name| name.strip_suffix(".manifest"));
            number.and_then(|number| number.parse().ok()) >= Some(version)
        };
        let names = |node: &fs::DirEntry| fs::read_dir(node.path()).into_iter().flatten().flatten();
        nodes.filter(|node| names(node).any(|file| has_it(&file.file_name().to_string_lossy()))).count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn start(folder: &Folder, options: &str) -> Relay {
    let dir = format!("--ft logging --ckpt-dir {} {SLOW}", folder.0.display());
    Relay::start(SHAPE, &format!("{dir} {options}"))
}

/// The processes of these runners are lost at once, when they have come so far and a checkpoint is on all disks. They are stopped first, so
/// that none of them is restored before the other is lost.
fn lose_at_once(relay: &Relay, folder: &Folder, round: u64, runners: &[u32], before: &[i32]) -> Vec<i32> {
    let victims: Vec<_> = runners.iter().map(|runner| relay.wait_for(*runner, round, before)).collect();
    let is_there = || (folder.nodes_with(1) == 4).then_some(());
    until(is_there).unwrap_or_else(|| panic!("no checkpoint is on disk: {}", relay.job.said()));
    victims.iter().for_each(|pid| signal(*pid, Signal::STOP));
    victims.iter().for_each(|pid| signal(*pid, Signal::KILL));
    victims
}

fn all_go_back_to_disk_if_nothing_was_printed_since() {
    let expected = undisturbed(SHAPE, "--quiet");
    for every in ["--ckpt-every 10steps", "--ckpt-every 3steps"] {
        let folder = Folder::new();
        let relay = start(&folder, &format!("--quiet {every}"));
        let first = lose_at_once(&relay, &folder, 25, &[1, 2], &[]);
        lose_at_once(&relay, &folder, 45, &[2, 3], &first);
        let left = relay.end(0, &["node 1 is lost with node 2", GOES_BACK]);
        left.is_like(&expected);
        assert_eq!(left.ended.stderr.iter().filter(|line| line.contains(GOES_BACK)).count(), 2);
        let mut lost = left.lost();
        lost.sort_unstable();
        assert_eq!(lost, [1, 2, 2, 3], "{}", left.ended.said());
        let all = left.went_back_to(60, &[(0, 3), (1, 3), (2, 3), (3, 3)]);
        assert!(all.values().flatten().all(|round| *round > 1), "the program does not begin anew: {all:?}");
        assert!(!folder.0.exists(), "a job that has ended leaves no checkpoints");
    }
}

fn all_are_lost_at_once_and_go_back_to_disk() {
    let folder = Folder::new();
    let relay = start(&folder, "--quiet --ckpt-every 10steps");
    lose_at_once(&relay, &folder, 25, &[0, 1, 2, 3], &[]);
    relay.end(0, &["no node is left", GOES_BACK]).is_like(&undisturbed(SHAPE, "--quiet"));
}

/// The runners print in each round. What is on disk is for who starts the job again.
fn nobody_goes_back_to_disk_behind_what_was_printed() {
    let folder = Folder::new();
    let relay = start(&folder, "--ckpt-every 10steps");
    lose_at_once(&relay, &folder, 26, &[1, 2], &[]);
    let left = relay.end(3, &["node 1 is lost with node 2", "it can go on from that: --restart"]);
    assert!(!left.ended.stderr.iter().any(|line| line.contains(GOES_BACK)), "{}", left.ended.said());
}
