//! A node and the one that holds its copy, lost at once: the job ends, and says what was lost.

use crate::held::begin;
use crate::job::Ended;
use crate::spread::Hosts;
use crate::subjects::{LONG, ROUNDS, TRANSPORTS};

/// Of five nodes with a PE each, of which two are on a host.
pub const BOTH: &str = "--kill 1@step65 --kill 2@step65";

/// They are missed, or processes take their places, with nothing of what they had.
pub const EITHER: [&str; 2] = ["", "--respawn"];

pub fn both_buddies_between_two_checkpoints() {
    let both = "--ft double --ckpt-every 2steps --kill 1@step25 --kill 2@step25";
    for transport in TRANSPORTS {
        for more in EITHER.into_iter().chain(["--spares 1"]) {
            let ended = ROUNDS.start((5, 1, transport), &format!("{both} {more}")).job.end();
            tells_what_is_lost(&ended, "");
        }
    }
}

/// Only the launcher is left to say it.
pub fn all_nodes_between_two_checkpoints() {
    for transport in TRANSPORTS {
        let both = "--ft double --ckpt-every 2steps --kill 0@step25 --kill 1@step25";
        let ended = ROUNDS.start((2, 1, transport), both).job.end();
        assert_eq!(ended.status.code(), Some(3), "{}", ended.said());
        let counts = |line: &String| {
            line.contains("all objects of the job are lost; checkpoint ")
                && line.contains(" 24 of array recovery::program::Member")
                && line.contains(" 2 of group recovery::program::Clock")
        };
        assert!(ended.stderr.iter().any(counts), "{}", ended.said());
    }
}

/// Whoever leads then says it.
pub fn both_buddies_without_the_launcher() {
    for more in EITHER {
        let held = begin(LONG, (5, 1, "mixed"), &format!("--ckpt-every 2steps --ft-log {BOTH} {more}"));
        held.run.job.wait_for("at 14");
        held.kill_launcher();
        held.wait_until_held_twice("after the loss of the launcher");
        let left = held.ends_without_its_launcher();
        assert_eq!(left.status, Some(3), "{}", left.ended.said());
        says_what_is_lost(&left.ended, "");
    }
}

/// The copy of what a node has is on another host.
pub fn both_buddies_of_several_hosts() {
    for more in EITHER {
        let hosts = Hosts::new("a slots=2\nb slots=2\nc slots=2\n");
        let run = hosts.start((5, 1, "mixed"), &format!("--ckpt-every 2steps {BOTH} {more}"));
        let ended = run.job.end();
        for (node, host) in [(1, "a"), (2, "b")] {
            let was_there = |line: &String| {
                line.starts_with(&format!("talisman: node {node} (pid "))
                    && line.contains(&format!(" on the host {host})"))
            };
            assert!(ended.stderr.iter().any(was_there), "{}", ended.said());
        }
        tells_what_is_lost(&ended, "");
    }
}

/// A job of five nodes with a PE each has lost nodes 1 and 2 at once, and the launcher and all that are left say what was lost with them. The launcher
/// says this besides.
#[track_caller]
pub fn tells_what_is_lost(ended: &Ended, besides: &str) {
    assert_eq!(ended.status.code(), Some(3), "{}", ended.said());
    says_what_is_lost(ended, besides);
}

/// The same, whatever the status of the process that was started.
#[track_caller]
pub fn says_what_is_lost(ended: &Ended, besides: &str) {
    let complaint = ended.stderr.iter().find_map(|line| line.strip_prefix("talisman: error: "));
    let complaint = complaint.and_then(|line| line.strip_suffix(besides));
    let complaint = complaint.unwrap_or_else(|| panic!("{}", ended.said()));
    counts_what_is_lost(complaint);
    for survivor in [0, 3, 4] {
        let line = format!("node {survivor}: {complaint}");
        assert!(ended.stderr.contains(&line), "node {survivor} does not say it: {}", ended.said());
    }
}

#[track_caller]
fn counts_what_is_lost(complaint: &str) {
    let (objects, by_collection) = what_is_lost(complaint).unwrap_or_else(|| panic!("{complaint}"));
    let counted: u64 = by_collection.iter().map(|(count, _)| count).sum();
    assert_eq!(counted, objects, "{complaint}");
    // One clock is on each PE; the main chare is on node 0.
    let of = |name: &str| by_collection.iter().find(|(_, other)| *other == name).map(|(count, _)| *count);
    assert_eq!(of("group recovery::program::Clock"), Some(1), "{complaint}");
    assert_eq!(of("array recovery::program::Member"), Some(objects - 1), "{complaint}");
    let held = format!("; that is what node 1 ({objects} objects, held by nodes 1 and 2) had");
    assert!(complaint.ends_with(&held), "{complaint}");
}

/// `… all copies are lost of 7 objects: 6 of array A and 1 of group B; …`: the sum, and the counts with their collections.
fn what_is_lost(complaint: &str) -> Option<(u64, Vec<(u64, &str)>)> {
    let (_, rest) = complaint.split_once("all copies are lost of ")?;
    let (rest, _) = rest.split_once("; ")?;
    let (sum, rest) = rest.split_once(" object")?;
    let (_, rest) = rest.split_once(": ")?;
    let each = rest.split(", ").flat_map(|text| text.split(" and ")).map(|text| text.split_once(" of "));
    let counts = each.map(|of| of.and_then(|(count, name)| Some((count.parse().ok()?, name))));
    Some((sum.parse().ok()?, counts.collect::<Option<_>>()?))
}
