use super::*;

const SILENCE: Duration = Duration::from_secs(3);
const BOUND: Duration = SILENCE.saturating_add(ON_THE_WAY);

/// Who has to go of so many nodes on these hosts, in the order of their numbers, if these complain of those.
fn decided_on(hosts: &[u32], complaints: &[(u32, u32)]) -> Vec<u32> {
    let living: Vec<u32> = (0..hosts.len() as u32).collect();
    let mut suspicions = FailureDetector::new(SILENCE);
    for (by, of) in complaints {
        suspicions.hear(*by, *of, "no answer".into());
    }
    let mut settle = |now| suspicions.settle(now, &living, |_| true, |node| hosts[node as usize]);
    let first = settle(Duration::ZERO);
    if complaints.is_empty() {
        assert_eq!(first, Step::Wait);
        return Vec::new();
    }
    assert_eq!((first, settle(BOUND / 2)), (Step::Ask(1, living.clone()), Step::Wait));
    let Step::LetGo(suspects) = settle(BOUND) else { panic!("the bound is the bound") };
    assert_eq!(settle(BOUND * 9), Step::Wait);
    let mut nodes: Vec<u32> = suspects.into_iter().map(|suspect| suspect.node).collect();
    nodes.sort_unstable();
    nodes
}

/// Of five nodes, each on a host of its own.
fn decided(complaints: &[(u32, u32)]) -> Vec<u32> {
    decided_on(&[0, 1, 2, 3, 4], complaints)
}

#[test]
fn whoever_is_complained_of_goes() {
    assert_eq!(decided(&[(3, 1)]), [1]);
    assert_eq!(decided(&[(3, 1), (1, 3)]), [3], "one of the two, the same whoever is first");
    assert_eq!(decided(&[(1, 3), (3, 1)]), [3]);
    assert_eq!(decided_on(&[0; 2], &[(1, 0)]), [0], "no host is cut off from itself");
}

#[test]
fn whoever_is_cut_off_from_all_goes_alone() {
    assert_eq!(decided(&[(2, 0), (2, 1), (2, 3), (2, 4)]), [2]);
    assert_eq!(decided(&[(2, 0), (2, 1), (2, 3), (2, 4), (0, 2), (1, 2), (3, 2)]), [2]);
}

#[test]
fn of_a_job_that_is_cut_in_two_the_smaller_side_goes() {
    let across: Vec<_> = [0, 1].iter().flat_map(|a| [2, 3, 4].map(|b| (b, *a))).collect();
    assert_eq!(decided(&across), [0, 1]);
    assert_eq!(decided_on(&[0, 0, 1, 1, 1], &across), [0, 1]);
    assert_eq!(decided_on(&[0, 0, 1, 1, 2], &across), [0, 1]);
}

#[test]
fn a_host_that_is_cut_off_goes_as_a_whole() {
    assert_eq!(decided_on(&[0, 0, 1, 1], &[(2, 0), (2, 1), (3, 0), (3, 1)]), [2, 3]);
    // Not all of it is known; one by one a node of each host would go.
    let some = [(3, 0), (1, 2)];
    assert_eq!(decided(&some), [0, 2]);
    assert_eq!(decided_on(&[0, 0, 1, 1], &some), [2, 3]);
    // The third host reaches both.
    assert_eq!(decided_on(&[0, 0, 0, 1, 1, 2], &[(3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2)]), [3, 4]);
    // One connection is no reason to lose a host of two.
    assert_eq!(decided_on(&[0, 0, 1, 1], &[(3, 0)]), [0]);
}

#[test]
fn complaints_of_those_that_are_gone_and_about_them_are_settled() {
    let mut suspicions = FailureDetector::new(SILENCE);
    for (by, of) in [(0, 1), (1, 2), (2, 3)] {
        suspicions.hear(by, of, format!("no way from {by} to {of}"));
    }
    assert_eq!(
        suspicions.settle(Duration::ZERO, &[0, 2, 3], |_| true, |node| node),
        Step::Ask(1, vec![0, 2, 3])
    );
    let suspect = Suspect { node: 3, by: 2, why: "no way from 2 to 3".into() };
    assert_eq!(suspicions.settle(BOUND, &[0, 2, 3], |_| true, |node| node), Step::LetGo(vec![suspect]));
    suspicions.hear(0, 1, "no way".into());
    assert_eq!(
        suspicions.settle(BOUND, &[0, 2], |_| true, |node| node),
        Step::Wait,
        "nobody is asked for nothing"
    );
}

#[test]
fn the_verdict_waits_for_all_that_live() {
    let mut suspicions = FailureDetector::new(SILENCE);
    let mut living = vec![0, 1, 2, 3];
    let host = |node| node / 2;
    suspicions.hear(2, 0, "no answer".into());
    assert_eq!(suspicions.settle(Duration::ZERO, &living, |_| true, host), Step::Ask(1, living.clone()));
    suspicions.on_tried(2, 0, vec![3]);
    suspicions.on_tried(2, 1, vec![0, 1]);
    suspicions.on_tried(0, 1, vec![]);
    assert_eq!(suspicions.settle(TICK, &living, |_| true, host), Step::Wait);
    suspicions.on_tried(3, 1, vec![0, 1]);
    assert_eq!(suspicions.settle(TICK, &living, |_| true, host), Step::Wait, "node 1 has not answered");
    living.retain(|node| *node != 1);
    let suspect = Suspect { node: 0, by: 2, why: "no connection for 3s".into() };
    assert_eq!(suspicions.settle(TICK, &living, |_| true, host), Step::LetGo(vec![suspect]));
}

#[test]
fn what_is_found_out_counts_like_a_complaint() {
    let mut suspicions = FailureDetector::new(SILENCE);
    let (living, host) = (vec![0, 1, 2, 3], |node: u32| node / 2);
    suspicions.hear(2, 0, "no answer".into());
    assert_eq!(suspicions.settle(Duration::ZERO, &living, |_| true, host), Step::Ask(1, living.clone()));
    for (by, missed) in [(0, vec![]), (1, vec![]), (2, vec![0, 1]), (3, vec![0, 1])] {
        suspicions.on_tried(by, 1, missed);
    }
    let told = |node| Suspect { node, by: 0, why: "no connection for 3s".into() };
    assert_eq!(suspicions.settle(TICK, &living, |_| true, host), Step::LetGo(vec![told(2), told(3)]));
    // Too late.
    suspicions.on_tried(1, 1, vec![0]);
    assert_eq!(suspicions.settle(TICK, &living, |_| true, host), Step::Wait);
    suspicions.hear(1, 0, "no answer".into());
    assert_eq!(suspicions.settle(TICK, &living, |_| true, host), Step::Ask(2, living.clone()));
}

#[test]
fn whoever_has_another_process_is_neither_waited_for_nor_in_dispute() {
    let mut suspicions = FailureDetector::new(SILENCE);
    suspicions.hear(1, 0, "no answer".into());
    assert_eq!(suspicions.settle(Duration::ZERO, &[0, 1], |_| true, |node| node), Step::Ask(1, vec![0, 1]));
    suspicions.on_tried(1, 1, vec![]);
    suspicions.forget(0);
    assert_eq!(suspicions.settle(TICK, &[0, 1], |_| true, |node| node), Step::LetGo(vec![]));
}

/// Every way in which up to five nodes can be on hosts and in dispute. (Who complains matters only where all else is equal.)
#[test]
fn no_two_that_stay_are_in_dispute_and_no_fewer_could_go() {
    for nodes in 2..=5_u32 {
        let pairs: Vec<(u32, u32)> =
            (0..nodes).flat_map(|of| (of + 1..nodes).map(move |by| (by, of))).collect();
        for chosen in 0..1_u32 << pairs.len() {
            let is_chosen = |(number, _): &(usize, &(u32, u32))| chosen >> number & 1 == 1;
            let disputes: Vec<_> =
                pairs.iter().enumerate().filter(is_chosen).map(|(_, pair)| *pair).collect();
            let settles = |gone: u32| disputes.iter().all(|(by, of)| (gone >> by | gone >> of) & 1 == 1);
            let fewest = (0..1_u32 << nodes).filter(|gone| settles(*gone)).map(u32::count_ones).min();
            for hosts in layouts(nodes) {
                let gone = decided_on(&hosts, &disputes);
                let set = gone.iter().fold(0, |set, node| set | 1 << node);
                assert!(settles(set), "{hosts:?} {disputes:?} {gone:?}");
                assert_eq!(Some(set.count_ones()), fewest, "{hosts:?} {disputes:?} {gone:?}");
            }
        }
    }
}

/// Whatever two hosts of those are cut off from each other, one of the two goes, and nobody else.
#[test]
fn between_two_hosts_one_goes_as_a_whole() {
    for nodes in 2..=6_u32 {
        for hosts in layouts(nodes) {
            let last = hosts.iter().copied().max().expect("there is one");
            for one in 0..=last {
                for other in one + 1..=last {
                    let of = |host: u32| -> Vec<u32> {
                        (0..nodes).filter(|node| hosts[*node as usize] == host).collect()
                    };
                    let across = |of_one: u32| {
                        of(other).into_iter().flat_map(move |node| [(node, of_one), (of_one, node)])
                    };
                    let disputes: Vec<_> = of(one).into_iter().flat_map(across).collect();
                    let expected = if of(one).len() < of(other).len() { of(one) } else { of(other) };
                    assert_eq!(decided_on(&hosts, &disputes), expected, "{hosts:?} {one} {other}");
                }
            }
        }
    }
}

/// Every way in which nodes can be on hosts: each is on one that is there before it, or on the next.
fn layouts(nodes: u32) -> Vec<Vec<u32>> {
    let mut layouts = vec![vec![0]];
    for _ in 1..nodes {
        layouts = layouts
            .into_iter()
            .flat_map(|layout| {
                let next = layout.iter().copied().max().map_or(0, |last| last + 1);
                (0..=next).map(move |host| [layout.clone(), vec![host]].concat())
            })
            .collect();
    }
    layouts
}
