//! Collectives that move values without combining them.

use super::*;

fn broadcast(ranks: u32, root: u32, count: usize) {
    let mut bench = Bench::new(ranks, count, u64::from(ranks * 40 + root));
    bench.fill(Place::Receive, count, operand);
    let values = bench.values;
    bench.run(|me| bcast(me, root, count as u64, &values));
    for (rank, index) in (0..ranks).flat_map(|rank| (0..count).map(move |index| (rank, index))) {
        assert_eq!(bench.received(rank, index), operand(root, index), "{rank} of {ranks} from {root}");
    }
}

#[test]
fn bcast_reaches_everybody_from_any_root() {
    for ranks in RANKS {
        for root in 0..ranks {
            broadcast(ranks, root, SHORT[root as usize % 3]);
        }
    }
    for ranks in SOME_RANKS {
        broadcast(ranks, ranks - 1, 16_385);
        broadcast(ranks, ranks / 2, 1_500);
    }
}

/// Numbers of values per member: none, one, several.
fn uneven(ranks: u32) -> (Vec<u64>, Vec<i64>, usize) {
    let counts: Vec<u64> = (0..ranks).map(|rank| u64::from(rank * 7 + 3) % 5).collect();
    // The last block first, with gaps.
    let mut next = 0;
    let mut displacements = vec![0; counts.len()];
    for (at, count) in counts.iter().enumerate().rev() {
        displacements[at] = next;
        next += *count as i64 + 1;
    }
    (counts, displacements, next as usize)
}

#[test]
fn gather_and_scatter_are_each_others_reverse_at_any_root() {
    for ranks in RANKS {
        for root in 0..ranks {
            let count = [1, 3, 400][root as usize % 3].min(if ranks > 13 { 3 } else { 400 });
            let mut bench = Bench::new(ranks, ranks as usize * count, u64::from(ranks * 40 + root));
            let (values, blocks) = (bench.values, Blocks::even(ranks, count as u64, bench.values));
            let own = values.span(Place::Send, 0, count as u64);
            bench.fill(Place::Send, count, operand);
            bench.run(|me| gather(me, root, Some(own), &blocks));
            for (rank, index) in (0..ranks).flat_map(|rank| (0..count).map(move |index| (rank, index))) {
                assert_eq!(bench.received(root, rank as usize * count + index), operand(rank, index));
            }
            let own = values.span(Place::Receive, 0, count as u64);
            bench.fill(Place::Send, count * ranks as usize, operand);
            bench.run(|me| scatter(me, root, Some(own), &blocks));
            for (rank, index) in (0..ranks).flat_map(|rank| (0..count).map(move |index| (rank, index))) {
                assert_eq!(bench.received(rank, index), operand(root, rank as usize * count + index));
            }
        }
    }
}

#[test]
fn in_place_the_roots_block_stays() {
    for (ranks, root) in [(1, 0), (2, 1), (5, 2), (9, 8)] {
        let mut bench = Bench::new(ranks, ranks as usize, 0);
        let (values, blocks) = (bench.values, Blocks::even(ranks, 1, bench.values));
        bench.fill(Place::Send, ranks as usize, |rank, index| operand(rank, index + 100));
        bench.fill(Place::Receive, ranks as usize, |rank, index| operand(rank, index + 200));
        let own = |me: Member, place| (me.rank != root).then(|| values.span(place, 0, 1));
        bench.run(|me| gather(me, root, own(me, Place::Send), &blocks));
        for rank in 0..ranks {
            let expected = if rank == root { operand(root, 200 + root as usize) } else { operand(rank, 100) };
            assert_eq!(bench.received(root, rank as usize), expected);
        }
        bench.run(|me| scatter(me, root, own(me, Place::Receive), &blocks));
        for rank in (0..ranks).filter(|rank| *rank != root) {
            assert_eq!(bench.received(rank, 0), operand(root, 100 + rank as usize));
        }
    }
}

#[test]
fn blocks_of_different_lengths_are_gathered_and_scattered() {
    for ranks in RANKS {
        let root = ranks / 2;
        let (counts, displacements, room) = uneven(ranks);
        let mut bench = Bench::new(ranks, room, u64::from(ranks));
        let (values, blocks) = (bench.values, Blocks::uneven(&counts, &displacements, bench.values));
        let own = |me: Member, place| Some(values.span(place, 0, counts[me.rank as usize]));
        let cells = || {
            let of = |rank: u32| (0..counts[rank as usize] as usize).map(move |index| (rank, index));
            (0..ranks).flat_map(of)
        };
        bench.fill(Place::Send, 4, operand);
        bench.run(|me| gatherv(me, root, own(me, Place::Send), &blocks));
        for (rank, index) in cells() {
            let at = displacements[rank as usize] as usize + index;
            assert_eq!(bench.received(root, at), operand(rank, index));
        }
        bench.run(|me| allgatherv(me, own(me, Place::Send), &blocks));
        for (to, (rank, index)) in (0..ranks).flat_map(|to| cells().map(move |cell| (to, cell))) {
            let at = displacements[rank as usize] as usize + index;
            assert_eq!(bench.received(to, at), operand(rank, index));
        }
        bench.fill(Place::Send, room, operand);
        bench.run(|me| scatterv(me, root, own(me, Place::Receive), &blocks));
        for (rank, index) in cells() {
            let at = displacements[rank as usize] as usize + index;
            assert_eq!(bench.received(rank, index), operand(root, at));
        }
    }
}

#[test]
fn allgather_brings_all_blocks_to_all() {
    for ranks in RANKS {
        for (count, in_place) in [(0, false), (1, false), (3, true), (150, false)] {
            let mut bench = Bench::new(ranks, ranks as usize * count, u64::from(ranks));
            let (values, blocks) = (bench.values, Blocks::even(ranks, count as u64, bench.values));
            let first = |rank: u32| rank as usize * count;
            bench.fill(Place::Send, count, operand);
            bench.fill(Place::Receive, ranks as usize * count, |rank, index| {
                index.checked_sub(first(rank)).map_or([9, 9], |index| operand(rank, index))
            });
            let own = (!in_place).then(|| values.span(Place::Send, 0, count as u64));
            bench.run(|me| allgather(me, own, &blocks));
            for (to, rank) in (0..ranks).flat_map(|to| (0..ranks).map(move |rank| (to, rank))) {
                for index in 0..count {
                    assert_eq!(bench.received(to, first(rank) + index), operand(rank, index));
                }
            }
        }
    }
}

#[test]
fn alltoall_transposes() {
    for ranks in RANKS {
        for (count, in_place) in [(0, false), (1, false), (3, true), (40, false), (40, true)] {
            let mut bench = Bench::new(ranks, ranks as usize * count, u64::from(ranks));
            let blocks = Blocks::even(ranks, count as u64, bench.values);
            let place = if in_place { Place::Receive } else { Place::Send };
            bench.fill(place, ranks as usize * count, operand);
            bench.run(|me| alltoall(me, (!in_place).then_some(&blocks), &blocks));
            for (to, from) in (0..ranks).flat_map(|to| (0..ranks).map(move |from| (to, from))) {
                for index in 0..count {
                    let sent = operand(from, to as usize * count + index);
                    assert_eq!(
                        bench.received(to, from as usize * count + index),
                        sent,
                        "{from} to {to} of {ranks}"
                    );
                }
            }
        }
    }
}

#[test]
fn alltoallw_with_blocks_of_any_length() {
    for ranks in RANKS {
        let length = |from: u32, to: u32| u64::from(from * 3 + to * 5) % 4;
        let mut bench = Bench::new(ranks, ranks as usize * 4, u64::from(ranks));
        let values = bench.values;
        let at = |peer: u32| i64::from(peer) * 4 * EXTENT as i64;
        bench.fill(Place::Send, ranks as usize * 4, operand);
        bench.run(|me| {
            let send: Vec<_> =
                (0..ranks).map(|to| values.span(Place::Send, at(to), length(me.rank, to))).collect();
            let receive: Vec<_> =
                (0..ranks).map(|from| values.span(Place::Receive, at(from), length(from, me.rank))).collect();
            alltoallw(me, Some(&send), &receive)
        });
        for (to, from) in (0..ranks).flat_map(|to| (0..ranks).map(move |from| (to, from))) {
            for index in 0..length(from, to) as usize {
                assert_eq!(
                    bench.received(to, from as usize * 4 + index),
                    operand(from, to as usize * 4 + index)
                );
            }
        }
    }
}

#[test]
fn neighbours_exchange_also_with_the_same_one_twice() {
    for ranks in RANKS {
        let mut bench = Bench::new(ranks, 2, u64::from(ranks));
        let values = bench.values;
        bench.fill(Place::Send, 2, operand);
        let span = |place, index: i64| values.span(place, index * EXTENT as i64, 1);
        // A ring: value 0 goes to the one before, value 1 to the one after.
        bench.run(|me| {
            let sends = [(me.after(1), span(Place::Send, 1)), (me.before(1), span(Place::Send, 0))];
            let receives = [(me.before(1), span(Place::Receive, 0)), (me.after(1), span(Place::Receive, 1))];
            neighbors(&sends, &receives)
        });
        for rank in 0..ranks {
            let me = Member { rank, size: ranks };
            assert_eq!(bench.received(rank, 0), operand(me.before(1), 1));
            assert_eq!(bench.received(rank, 1), operand(me.after(1), 0));
        }
    }
}
