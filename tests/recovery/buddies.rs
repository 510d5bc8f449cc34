//! A node and the one that holds its copy, lost at once: the job ends, and says what was lost.

use crate::job::Ended;
use crate::subjects::{ROUNDS, TRANSPORTS};

pub fn both_buddies_between_two_checkpoints() {
    for transport in TRANSPORTS {
        let options = "--ft double --ckpt-every 2steps --kill 1@step25 --kill 2@step25";
        tells_what_is_lost(&ROUNDS.start((5, 1, transport), options).job.end(), "");
    }
}

/// A job of five nodes with a PE each has lost nodes 1 and 2 at once, and the launcher and all that are left say what was lost with them. The launcher
/// says this besides.
#[track_caller]
pub fn tells_what_is_lost(ended: &Ended, besides: &str) {
    assert_eq!(ended.status.code(), Some(3), "{}", ended.said());
    let complaint = ended.stderr.iter().find_map(|line| line.strip_prefix("talisman: error: "));
    let complaint = complaint.and_then(|line| line.strip_suffix(besides));
    let complaint = complaint.unwrap_or_else(|| panic!("{}", ended.said()));
    let (objects, by_collection) = what_is_lost(complaint).unwrap_or_else(|| panic!("{complaint}"));
    let counted: u64 = by_collection.iter().map(|(count, _)| count).sum();
    assert_eq!(counted, objects, "{complaint}");
    // One clock is on each PE; the main chare is on node 0.
    let of = |name: &str| by_collection.iter().find(|(_, other)| *other == name).map(|(count, _)| *count);
    assert_eq!(of("group recovery::program::Clock"), Some(1), "{complaint}");
    assert_eq!(of("array recovery::program::Member"), Some(objects - 1), "{complaint}");
    let held = format!("; that is what node 1 ({objects} objects, held by nodes 1 and 2) had");
    assert!(complaint.ends_with(&held), "{complaint}");
    for survivor in [0, 3, 4] {
        let line = format!("node {survivor}: {complaint}");
        assert!(ended.stderr.contains(&line), "node {survivor} does not say it: {}", ended.said());
    }
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
