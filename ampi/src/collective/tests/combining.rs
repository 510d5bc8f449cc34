//! Reductions and scans, with an operation that is not commutative.

use super::*;

fn reduced_at(ranks: u32, root: u32, count: usize, in_place: bool, commutative: bool) {
    let mut bench = Bench::new(ranks, count, u64::from(ranks * 40 + root));
    bench.fill(Place::Send, count, operand);
    if in_place {
        bench.fill(Place::Receive, count, operand);
    }
    let values = bench.values;
    bench.run(|me| reduce(me, root, count as u64, &values, in_place && me.rank == root, commutative));
    for index in 0..count {
        assert_eq!(
            bench.received(root, index),
            combined(0..ranks, index),
            "{ranks} ranks, root {root}, {index}"
        );
    }
}

#[test]
fn reduce_combines_in_the_order_of_ranks_at_any_root() {
    for ranks in RANKS {
        for root in 0..ranks {
            reduced_at(ranks, root, SHORT[root as usize % 3], false, false);
            reduced_at(ranks, root, 3, true, false);
        }
    }
    for ranks in SOME_RANKS {
        for root in [0, ranks / 2, ranks - 1] {
            reduced_at(ranks, root, LONG, root == 0, false);
        }
    }
}

fn all_reduced(ranks: u32, count: usize, in_place: bool) {
    let mut bench = Bench::new(ranks, count, u64::from(ranks));
    bench.fill(if in_place { Place::Receive } else { Place::Send }, count, operand);
    let values = bench.values;
    bench.run(|me| allreduce(me, count as u64, &values, in_place, false));
    for rank in 0..ranks {
        for index in 0..count {
            assert_eq!(bench.received(rank, index), combined(0..ranks, index), "{rank} of {ranks}, {index}");
        }
    }
}

#[test]
fn allreduce_gives_everybody_the_same() {
    for ranks in RANKS {
        for count in SHORT {
            all_reduced(ranks, count, false);
            all_reduced(ranks, count, true);
        }
    }
    for ranks in SOME_RANKS {
        all_reduced(ranks, LONG, ranks % 2 == 0);
    }
}

#[test]
fn long_vectors_of_a_commutative_operation_are_summed() {
    for ranks in [4, 6, 33] {
        let mut bench = Bench::new(ranks, LONG, 1);
        bench.op = crate::op::Ops::handle_of(crate::op::Predefined::Sum);
        bench.fill(Place::Send, LONG, operand);
        let values = bench.values;
        bench.run(|me| allreduce(me, LONG as u64, &values, false, true));
        let sum = |index, word: usize| {
            (0..ranks).fold(0u32, |sum, rank| sum.wrapping_add(operand(rank, index)[word]))
        };
        for (rank, index) in (0..ranks).flat_map(|rank| [0, 1_000, LONG - 1].map(|index| (rank, index))) {
            assert_eq!(bench.received(rank, index), [sum(index, 0), sum(index, 1)]);
        }
    }
}

fn scattered(ranks: u32, counts: &[u64], in_place: bool) {
    let total = counts.iter().sum::<u64>() as usize;
    let mut bench = Bench::new(ranks, total, u64::from(ranks));
    bench.fill(if in_place { Place::Receive } else { Place::Send }, total, operand);
    let values = bench.values;
    bench.run(|me| reduce_scatter(me, counts, &values, in_place));
    let mut first = 0;
    for (rank, count) in (0..ranks).zip(counts) {
        for index in 0..*count as usize {
            assert_eq!(bench.received(rank, index), combined(0..ranks, first + index), "{rank} of {ranks}");
        }
        first += *count as usize;
    }
}

#[test]
fn reduce_scatter_gives_each_its_block() {
    for ranks in RANKS {
        let counts: Vec<u64> = (0..ranks).map(|rank| u64::from(rank * 7 + 3) % 5).collect();
        scattered(ranks, &counts, false);
        scattered(ranks, &counts, true);
    }
    for ranks in SOME_RANKS {
        let counts: Vec<u64> = (0..ranks).map(|rank| u64::from(LONG as u32 / ranks + rank)).collect();
        scattered(ranks, &counts, ranks % 2 == 0);
    }
}

#[test]
fn scans_combine_what_comes_before() {
    for ranks in RANKS {
        for (count, in_place) in [(1, false), (5, true), (0, false)] {
            let place = if in_place { Place::Receive } else { Place::Send };
            let mut bench = Bench::new(ranks, count, u64::from(ranks));
            let values = bench.values;
            bench.fill(place, count, operand);
            bench.run(|me| scan(me, count as u64, &values, in_place));
            for (rank, index) in (0..ranks).flat_map(|rank| (0..count).map(move |index| (rank, index))) {
                assert_eq!(bench.received(rank, index), combined(0..rank + 1, index));
            }
            bench.fill(place, count, operand);
            bench.run(|me| exscan(me, count as u64, &values, in_place));
            for (rank, index) in (1..ranks).flat_map(|rank| (0..count).map(move |index| (rank, index))) {
                assert_eq!(bench.received(rank, index), combined(0..rank, index));
            }
        }
    }
}
