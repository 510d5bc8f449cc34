//! A barrier that is not waited for, as it goes on.

use super::*;

/// When it has ended for one, all others know that all have come.
#[test]
fn all_know_that_all_have_come_before_one_leaves() {
    for (size, seed) in SOME_RANKS.into_iter().flat_map(|size| (0..20).map(move |seed| (size, seed))) {
        let mut bench = Bench::new(size, 0, seed);
        let first = bench.world.below(u64::from(size)) as u32;
        let mut begun = Vec::new();
        for rank in (first..size).chain(0..first) {
            begun.push((rank, bench.begin(rank, immediate_barrier(Member { rank, size }))));
            let has_left = leaves(&bench, &begun);
            assert!(!has_left || begun.len() == size as usize, "one has left before all had come");
        }
        while bench.world.step() {
            if leaves(&bench, &begun) {
                let knows = |(rank, request): &(u32, Token)| {
                    let process = &bench.world.processes[*rank as usize];
                    process.finds_nothing() || process.engine.status(*request).unwrap().is_some()
                };
                assert!(begun.iter().all(knows), "{size} ranks, seed {seed}");
            }
        }
    }
}

fn leaves(bench: &Bench, begun: &[(u32, Token)]) -> bool {
    let has_ended = |(rank, request): &(u32, Token)| {
        bench.world.processes[*rank as usize].engine.status(*request).unwrap().is_some()
    };
    begun.iter().any(has_ended)
}
