//! Nodes that complain that they cannot reach others: which of them has to go.
//!
//! Pure. A suspicion proves nothing: the other may be dead, or the connection between the two cut, or the one who complains cut off
//! from everybody. So the launcher listens for a while; then as few nodes have to go as it takes for no two of those that stay to be in
//! dispute. Of a job that is cut in two the smaller side goes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::heartbeat::TICK;

/// Those that are in the same plight complain within so long of each other.
const LISTEN: Duration = TICK.saturating_mul(2);

/// Complaints that have not been decided on.
#[derive(Debug, Default)]
pub(crate) struct Suspicions {
    /// By who complains, and of whom: why.
    said: BTreeMap<(u32, u32), String>,
    decide_at: Option<Duration>,
}

/// A node that has to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suspect {
    pub(crate) node: u32,
    /// Who complains of it, or is complained of by it.
    pub(crate) by: u32,
    /// As it was said.
    pub(crate) why: String,
}

impl Suspicions {
    /// A node cannot reach another one.
    pub(crate) fn hear(&mut self, now: Duration, by: u32, of: u32, why: String) {
        self.said.entry((by, of)).or_insert(why);
        self.decide_at.get_or_insert(now + LISTEN);
    }

    /// A node has another process: nothing that was said of the former one, or by it, counts.
    pub(crate) fn forget(&mut self, node: u32) {
        self.said.retain(|(by, of), _| ![*by, *of].contains(&node));
    }

    /// Who has to go, once all that is to be known has had time to come: of those that are still there.
    pub(crate) fn decide(&mut self, now: Duration, living: &[u32]) -> Vec<Suspect> {
        if self.decide_at.is_none_or(|at| now < at) {
            return Vec::new();
        }
        self.decide_at = None;
        let mut disputes = std::mem::take(&mut self.said);
        disputes.retain(|(by, of), _| by != of && living.contains(by) && living.contains(of));
        let mut suspects = Vec::new();
        while let Some(node) = most_disputed(&disputes) {
            let ((by, of), why) =
                disputes.iter().find(|((by, of), _)| [*by, *of].contains(&node)).expect("it is in one");
            suspects.push(Suspect { node, by: by + of - node, why: why.clone() });
            disputes.retain(|(by, of), _| ![*by, *of].contains(&node));
        }
        suspects
    }
}

/// Whoever is in dispute with most others; of several the one of whom more complain, then the last.
fn most_disputed(disputes: &BTreeMap<(u32, u32), String>) -> Option<u32> {
    let others = |node: u32| {
        let with = |(by, of): &(u32, u32)| [*by, *of].contains(&node).then(|| by + of - node);
        let mut others: Vec<u32> = disputes.keys().filter_map(with).collect();
        others.sort_unstable();
        others.dedup();
        others.len()
    };
    let complaints = |node: u32| disputes.keys().filter(|(_, of)| *of == node).count();
    let nodes = disputes.keys().flat_map(|(by, of)| [*by, *of]);
    nodes.max_by_key(|node| (others(*node), complaints(*node), *node))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who has to go of five nodes, if these complain of those.
    fn decided(complaints: &[(u32, u32)]) -> Vec<u32> {
        let mut suspicions = Suspicions::default();
        for (by, of) in complaints {
            suspicions.hear(Duration::ZERO, *by, *of, "no answer".into());
        }
        assert_eq!(suspicions.decide(LISTEN / 2, &[0, 1, 2, 3, 4]), []);
        let suspects = suspicions.decide(LISTEN, &[0, 1, 2, 3, 4]);
        assert_eq!(suspicions.decide(LISTEN * 9, &[0, 1, 2, 3, 4]), []);
        suspects.into_iter().map(|suspect| suspect.node).collect()
    }

    #[test]
    fn whoever_is_complained_of_goes() {
        assert_eq!(decided(&[(3, 1)]), [1]);
        assert_eq!(decided(&[(3, 1), (1, 3)]), [3], "one of the two, the same whoever is first");
        assert_eq!(decided(&[(1, 3), (3, 1)]), [3]);
    }

    #[test]
    fn whoever_is_cut_off_from_all_goes_alone() {
        assert_eq!(decided(&[(2, 0), (2, 1), (2, 3), (2, 4)]), [2]);
        assert_eq!(decided(&[(2, 0), (2, 1), (2, 3), (2, 4), (0, 2), (1, 2), (3, 2)]), [2]);
    }

    #[test]
    fn of_a_job_that_is_cut_in_two_the_smaller_side_goes() {
        let across: Vec<_> = [0, 1].iter().flat_map(|a| [2, 3, 4].map(|b| (b, *a))).collect();
        assert_eq!(decided(&across), [1, 0]);
    }

    #[test]
    fn complaints_of_those_that_are_gone_and_about_them_are_settled() {
        let mut suspicions = Suspicions::default();
        for (by, of) in [(0, 1), (1, 2), (2, 3)] {
            suspicions.hear(Duration::ZERO, by, of, format!("no way from {by} to {of}"));
        }
        let suspect = Suspect { node: 3, by: 2, why: "no way from 2 to 3".into() };
        assert_eq!(suspicions.decide(LISTEN, &[0, 2, 3]), [suspect]);
    }
}
