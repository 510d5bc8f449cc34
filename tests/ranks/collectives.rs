//! Every form of the collectives, blocking and immediate, in place, among neighbours and between two groups, checked by the
//! ranks themselves.

use talisman::prelude::*;
use talisman::testing::Test;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{
    Communicator, Error, Key, Strides, SystemOperation, Universe, UserOperation, View, ViewMut, scope,
};
use talisman_ampi::rank::Program;

use crate::two_groups;

/// What each rank runs, with moves between.
#[derive(Clone, Copy, Pup)]
pub struct Collectives;

#[derive(Clone, Copy, Debug, PartialEq, Pup, Equivalence)]
#[repr(C)]
#[pup(plain)]
struct Pair {
    key: u32,
    value: f32,
}

impl Program for Collectives {
    /// Nothing, or which has failed, and how.
    type Output = Result<(), String>;

    fn main(self, universe: Universe) -> Result<(), String> {
        type Check = fn(Communicator) -> Result<(), Error>;
        let checks: [(&str, Check); 12] = [
            ("in place", in_place),
            ("in place at once", immediate_in_place),
            ("in place at a root", in_place_at_roots),
            ("parts of their own lengths", uneven),
            ("immediate", immediate),
            ("immediate with a root", immediate_with_roots),
            ("views", views),
            ("grids and graphs", neighbors),
            ("two groups", two_groups::one_after_the_other),
            ("roots of two groups", two_groups::with_roots),
            ("two groups at once", two_groups::at_once),
            ("attributes", attributes),
        ];
        for (name, check) in checks {
            check(universe.world()).map_err(|error| format!("{name}: {error}"))?;
            universe.move_to((universe.pe() + 1) % universe.pes());
        }
        Ok(())
    }
}

fn numbers(communicator: Communicator) -> (usize, usize) {
    (communicator.rank() as usize, communicator.size() as usize)
}

/// The sum of the numbers below this one.
fn below(size: usize) -> u64 {
    (size * (size - 1) / 2) as u64
}

fn in_place(world: Communicator) -> Result<(), Error> {
    let (rank, size) = numbers(world);
    let mut all = vec![u64::MAX; 2 * size];
    all[2 * rank..][..2].fill(rank as u64);
    world.all_gather_in_place(&mut all)?;
    assert!(all.chunks(2).zip(0..).all(|(pair, member)| pair == [member; 2]));

    let counts: Vec<usize> = (0..size).map(|member| member % 3).collect();
    let first: usize = counts[..rank].iter().sum();
    let mut all = vec![u64::MAX; counts.iter().sum()];
    all[first..][..counts[rank]].fill(rank as u64);
    world.all_gather_varcount_in_place(&mut all, &counts)?;
    let expected: Vec<u64> = (0..size).flat_map(|member| vec![member as u64; counts[member]]).collect();
    assert_eq!(all, expected);

    let mut blocks: Vec<u64> = (0..size).map(|to| (rank * size + to) as u64).collect();
    world.all_to_all_in_place(&mut blocks)?;
    assert!(blocks.iter().enumerate().all(|(from, block)| *block == (from * size + rank) as u64));
    world.all_to_all_varcount_in_place(&mut blocks, &vec![1; size])?;
    assert!(blocks.iter().enumerate().all(|(to, block)| *block == (rank * size + to) as u64));

    let mut sums = [rank as u64, 1];
    world.all_reduce_in_place(&mut sums, SystemOperation::sum())?;
    assert_eq!(sums, [below(size), size as u64]);
    let mut parts: Vec<u64> = (0..size).map(|part| (part + rank) as u64).collect();
    world.reduce_scatter_block_in_place(&mut parts, SystemOperation::sum())?;
    assert_eq!(parts[0], (rank * size) as u64 + below(size));
    let mut up_to = rank as u64;
    let mut parts: Vec<u64> = (0..counts.iter().sum::<usize>()).map(|at| (at + rank) as u64).collect();
    world.reduce_scatter_in_place(&mut parts, &counts, SystemOperation::sum())?;
    let mine = parts.iter().zip(first..).take(counts[rank]);
    assert!(mine.into_iter().all(|(sum, at)| *sum == (at * size) as u64 + below(size)));
    world.scan_in_place(&mut up_to, SystemOperation::sum())?;
    assert_eq!(up_to, below(rank + 1));
    let mut before = rank as u64;
    world.exclusive_scan_in_place(&mut before, SystemOperation::sum())?;
    assert_eq!(before, if rank == 0 { 0 } else { below(rank) });
    Ok(())
}

/// All at once, each in its own buffer.
fn immediate_in_place(world: Communicator) -> Result<(), Error> {
    let (rank, size) = numbers(world);
    let (root, op) = (world.process_at_rank(size as i32 - 1), SystemOperation::sum());
    let is_root = rank + 1 == size;
    let own = |place: usize, value: u64| if place == rank { value } else { u64::MAX };
    let mut gathered: Vec<u64> = (0..size).map(|place| own(place, rank as u64)).collect();
    let (mut varied, ones, mine) = (gathered.clone(), vec![1; size], rank as u64);
    let (mut turned, mut parts, mut scanned, mut before) = (vec![mine; size], vec![mine; size], mine, mine);
    let (mut at_root, mut dealt, mut part, mut sum) = (gathered.clone(), vec![5; size], 0, mine);
    dealt[rank] = 6;
    scope(|scope| {
        world.immediate_all_gather_in_place(scope, &mut gathered)?;
        world.immediate_all_gather_varcount_in_place(scope, &mut varied, &ones)?;
        world.immediate_all_to_all_in_place(scope, &mut turned)?;
        world.immediate_reduce_scatter_block_in_place(scope, &mut parts, &op)?;
        world.immediate_scan_in_place(scope, &mut scanned, &op)?;
        world.immediate_exclusive_scan_in_place(scope, &mut before, &op)?;
        if is_root {
            root.immediate_gather_in_place(scope, &mut at_root)?;
            root.immediate_scatter_in_place(scope, &dealt)?;
            root.immediate_reduce_in_place(scope, &mut sum, &op)?;
        } else {
            root.immediate_gather_into(scope, &mine)?;
            root.immediate_scatter_into(scope, &mut part)?;
            root.immediate_reduce_into(scope, &mine, &op)?;
        }
        Ok::<_, Error>(())
    })?;
    let all: Vec<u64> = (0..size as u64).collect();
    assert_eq!((&gathered, &varied, &turned), (&all, &all, &all));
    assert_eq!((parts[0], scanned), (below(size), below(rank + 1)));
    assert_eq!(before, if rank == 0 { 0 } else { below(rank) });
    match is_root {
        true => assert_eq!((at_root, sum, dealt[rank]), (all, below(size), 6)),
        false => assert_eq!(part, 5),
    }
    Ok(())
}

fn in_place_at_roots(world: Communicator) -> Result<(), Error> {
    let (rank, size) = numbers(world);
    for number in 0..size {
        let root = world.process_at_rank(number as i32);
        if rank == number {
            let mut all = vec![0; size];
            all[rank] = rank as u64 + 1;
            root.gather_in_place(&mut all)?;
            assert!(all.iter().zip(1..).all(|(one, member)| *one == member));
            root.scatter_in_place(&all)?;
            let (counts, pairs) = parts(size);
            let first: usize = counts[..rank].iter().sum();
            let mut gathered = vec![Pair { key: 99, value: 0.0 }; pairs.len()];
            gathered[first..][..counts[rank]].copy_from_slice(&pairs[first..][..counts[rank]]);
            root.gather_varcount_in_place(&mut gathered, &counts)?;
            assert_eq!(gathered, pairs);
            root.scatter_varcount_in_place(&gathered, &counts)?;
            let mut sum = rank as u64;
            root.reduce_in_place(&mut sum, SystemOperation::sum())?;
            assert_eq!(sum, below(size));
        } else {
            root.gather_into(&(rank as u64 + 1))?;
            let mut mine = 0u64;
            root.scatter_into(&mut mine)?;
            assert_eq!(mine, rank as u64 + 1);
            let own = vec![Pair { key: rank as u32, value: 0.5 }; rank % 3];
            root.gather_varcount_into(&own)?;
            let mut some = vec![Pair { key: 99, value: 0.0 }; rank % 3];
            root.scatter_varcount_into(&mut some)?;
            assert_eq!(some, own);
            root.reduce_into(&(rank as u64), SystemOperation::sum())?;
            let wrong = root.reduce_in_place(&mut mine, SystemOperation::sum());
            assert!(matches!(wrong, Err(Error::Rank { .. })), "only the root has a place: {wrong:?}");
        }
    }
    Ok(())
}

/// Parts of 0 to 2 pairs.
fn parts(size: usize) -> (Vec<usize>, Vec<Pair>) {
    let counts: Vec<usize> = (0..size).map(|member| member % 3).collect();
    let part = |member: usize| vec![Pair { key: member as u32, value: 0.5 }; counts[member]];
    let all = (0..size).flat_map(part).collect();
    (counts, all)
}

fn uneven(world: Communicator) -> Result<(), Error> {
    let (rank, size) = numbers(world);
    let (counts, all) = parts(size);
    for number in 0..size {
        let root = world.process_at_rank(number as i32);
        let mut mine = vec![Pair { key: 99, value: 0.0 }; counts[rank]];
        match rank == number {
            true => root.scatter_varcount_into_root(&all, &mut mine, &counts)?,
            false => root.scatter_varcount_into(&mut mine)?,
        }
        assert_eq!(mine, vec![Pair { key: rank as u32, value: 0.5 }; counts[rank]]);
    }
    let total: usize = counts.iter().sum();
    let send: Vec<u64> = (0..total).map(|at| (at + rank) as u64).collect();
    let mut mine = vec![0u64; counts[rank]];
    world.reduce_scatter_into(&send, &mut mine, &counts, SystemOperation::sum())?;
    let first: usize = counts[..rank].iter().sum();
    assert!(mine.iter().zip(first..).all(|(sum, at)| *sum == (at * size) as u64 + below(size)));
    let wrong = world.reduce_scatter_into(&send, &mut mine, &counts[1..], SystemOperation::sum());
    assert!(matches!(wrong, Err(Error::Count { .. })), "{wrong:?}");
    Ok(())
}

/// All at once: they are kept apart by their order alone.
fn immediate(world: Communicator) -> Result<(), Error> {
    let (rank, size) = numbers(world);
    let (counts, all) = parts(size);
    let mine = vec![Pair { key: rank as u32, value: 0.5 }; counts[rank]];
    let mut gathered = vec![Pair { key: 99, value: 0.0 }; all.len()];
    let (ones, mut turned) = (vec![rank as u64; size], vec![99u64; size]);
    let (mut block, mut part, mut before, mut sum) = (0u64, vec![0u64; counts[rank]], 0u64, rank as u64);
    let (total, op) = (counts.iter().sum(), SystemOperation::sum());
    let (operands, own) = (vec![1u64; total], rank as u64);
    let each = vec![1; size];
    scope(|scope| {
        world.immediate_all_gather_varcount_into(scope, &mine, &mut gathered, &counts)?;
        world.immediate_all_to_all_varcount_into(scope, &ones, &each, &mut turned, &each)?;
        world.immediate_reduce_scatter_block_into(scope, &ones, &mut block, &op)?;
        world.immediate_reduce_scatter_into(scope, &operands, &mut part, &counts, &op)?;
        world.immediate_exclusive_scan_into(scope, &own, &mut before, &op)?;
        world.immediate_all_reduce_in_place(scope, &mut sum, &op)?.wait().map(|_| ())
    })?;
    assert_eq!(gathered, all);
    assert!(turned.iter().zip(0..).all(|(value, member)| *value == member));
    assert_eq!((block, sum), (below(size), below(size)));
    assert_eq!(part, vec![size as u64; counts[rank]]);
    assert_eq!(before, if rank == 0 { 0 } else { below(rank) });
    Ok(())
}

fn immediate_with_roots(world: Communicator) -> Result<(), Error> {
    let (rank, size) = numbers(world);
    let (counts, all) = parts(size);
    let (root, is_root) = (world.process_at_rank(1 % size as i32), rank == 1 % size);
    let mine = vec![Pair { key: rank as u32, value: 0.5 }; counts[rank]];
    let (mut gathered, mut scattered) = (all.clone(), mine.clone());
    gathered.fill(Pair { key: 99, value: 0.0 });
    scattered.fill(Pair { key: 99, value: 0.0 });
    let (own, mut sum, mut one) = (rank as u64, 0u64, 0u64);
    let (each, op) = (
        (0..size as u64).collect::<Vec<_>>(),
        UserOperation::non_commutative(|left: &u64, into| *into += left)?,
    );
    scope(|scope| {
        if is_root {
            root.immediate_gather_varcount_into_root(scope, &mine, &mut gathered, &counts)?;
            root.immediate_scatter_into_root(scope, &each, &mut one)?;
            root.immediate_scatter_varcount_into_root(scope, &all, &mut scattered, &counts)?;
            root.immediate_reduce_into_root(scope, &own, &mut sum, &op)?;
        } else {
            root.immediate_gather_varcount_into(scope, &mine)?;
            root.immediate_scatter_into(scope, &mut one)?;
            root.immediate_scatter_varcount_into(scope, &mut scattered)?;
            root.immediate_reduce_into(scope, &own, &op)?;
        }
        Ok::<_, Error>(())
    })?;
    assert_eq!((scattered, one), (mine, rank as u64));
    if is_root {
        assert_eq!((gathered, sum), (all, below(size)));
    }
    Ok(())
}

/// The first value goes to one neighbour, two that are apart to the other.
fn neighbor_views(graph: Communicator, sources: [u64; 2]) -> Result<(), Error> {
    let rank = graph.rank() as u64;
    let (one, apart) =
        (Strides { count: 1, length: 1, stride: 1 }, Strides { count: 2, length: 1, stride: 2 });
    let values = [rank, 7, rank + 100];
    let send = [View::new(&values, one)?, View::new(&values, apart)?];
    let (mut first, mut second) = ([u64::MAX; 1], [u64::MAX; 3]);
    let mut receive = [ViewMut::new(&mut first, one)?, ViewMut::new(&mut second, apart)?];
    graph.neighbor_all_to_all_views(&send, &mut receive)?;
    assert_eq!((first, second), ([sources[0]], [sources[1], u64::MAX, sources[1] + 100]));
    (first, second) = ([u64::MAX], [u64::MAX; 3]);
    let mut receive = [ViewMut::new(&mut first, one)?, ViewMut::new(&mut second, apart)?];
    scope(|scope| graph.immediate_neighbor_all_to_all_views(scope, &send, &mut receive)?.wait().map(|_| ()))?;
    assert_eq!((first, second), ([sources[0]], [sources[1], u64::MAX, sources[1] + 100]));
    Ok(())
}

/// A matrix of which each has a row is turned around: each sends columns of blocks, and has rows of them.
fn views(world: Communicator) -> Result<(), Error> {
    let (rank, size) = numbers(world);
    let row: Vec<u64> = (0..2 * size).map(|column| (rank * 100 + column) as u64).collect();
    let mut column = vec![u64::MAX; 3 * size];
    // Two values that are `size` apart.
    let apart = Strides { count: 2, length: 1, stride: size };
    let together = Strides { count: 1, length: 2, stride: 2 };
    let sends: Vec<View<'_, u64>> =
        (0..size).map(|to| View::new(&row[to..], apart)).collect::<Result<_, _>>()?;
    let mut receives: Vec<ViewMut<'_, u64>> =
        column.chunks_mut(3).map(|place| ViewMut::new(place, together)).collect::<Result<_, _>>()?;
    world.all_to_all_views(&sends, &mut receives)?;
    for (from, place) in column.chunks(3).enumerate() {
        let first = (from * 100 + rank) as u64;
        assert_eq!(place, [first, first + size as u64, u64::MAX], "what is not of a view stays");
    }
    let mut receives: Vec<ViewMut<'_, u64>> =
        column.chunks_mut(3).map(|place| ViewMut::new(place, together)).collect::<Result<_, _>>()?;
    world.all_to_all_views_in_place(&mut receives)?;
    for (to, place) in column.chunks(3).enumerate() {
        let first = (rank * 100 + to) as u64;
        assert_eq!(place, [first, first + size as u64, u64::MAX], "and back again");
    }
    Ok(())
}

fn neighbors(world: Communicator) -> Result<(), Error> {
    let (rank, size) = numbers(world);
    assert_eq!(world.shift(0, 1).map(|_| ()), Err(Error::Topology));
    let ring = world.cartesian(&[(size as u32, true)])?.expect("all are in it");
    let (before, after) = ring.shift(0, 1)?;
    let at = |by: usize| ((rank + by) % size) as u64;
    assert_eq!(before.map(|process| process.rank() as u64), Some(at(size - 1)));
    assert_eq!(after.map(|process| process.rank() as u64), Some(at(1)));
    let mut around = [u64::MAX; 2];
    ring.neighbor_all_to_all_into(&[10 + rank as u64, 20 + rank as u64], &mut around)?;
    assert_eq!(around, [20 + at(size - 1), 10 + at(1)], "to the one before, to the one after");

    let to = |by: usize| at(by) as i32;
    let graph = world.graph(&[to(size - 1), to(size - 2 % size)], &[to(1), to(2 % size)])?;
    let (mut one, mut some, mut same) = ([u64::MAX; 2], [u64::MAX; 3], [u64::MAX; 2]);
    let (mine, values) = (rank as u64, [rank as u64, 7, 8]);
    scope(|scope| {
        graph.immediate_neighbor_all_gather_into(scope, &mine, &mut one)?;
        let (send, receive) = (&values, &mut some);
        graph.immediate_neighbor_all_to_all_varcount_into(scope, send, &[1, 2], receive, &[1, 2])?.wait()
    })?;
    graph.neighbor_all_gather_varcount_into(&mine, &mut same, &[1, 1])?;
    assert_eq!(one, [at(size - 1), at(size - 2 % size)]);
    assert_eq!((some, same), ([at(size - 1), 7, 8], one));
    neighbor_views(graph, [at(size - 1), at(size - 2 % size)])?;

    let Some(grid) = world.cartesian(&[(2, false), (size as u32 / 2, false)])? else { return Ok(()) };
    let row = grid.part_of_grid(&[false, true])?;
    assert_eq!((row.size(), row.coordinates(row.rank())?[0] as i32), (size as i32 / 2, row.rank()));
    Ok(())
}

fn attributes(world: Communicator) -> Result<(), Error> {
    let (copied, own) = (Key::copied()?, Key::of_one()?);
    world.set_attribute(copied, 1)?;
    world.set_attribute(own, 2)?;
    world.set_attribute(own, 3)?;
    let other = world.duplicate()?;
    assert_eq!(
        (other.attribute(copied)?, other.attribute(own)?, world.attribute(own)?),
        (Some(1), None, Some(3))
    );
    assert_eq!((world.delete_attribute(own)?, world.delete_attribute(own)?), (true, false));
    copied.free()?;
    assert_eq!((copied.free(), world.set_attribute(copied, 5)), (Err(Error::Key), Err(Error::Key)));
    assert_eq!(world.attribute(copied)?, Some(1), "values of a key that was freed stay");
    Ok(())
}

#[derive(clap::Parser, Clone, Copy, Pup)]
struct Options {
    #[arg(long)]
    ranks: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let call = talisman_ampi::run(options.ranks, Collectives).map_err(|error| error.to_string())?;
    let ended: Vec<Result<(), String>> = call.await;
    ended.into_iter().collect::<Result<Vec<()>, String>>()?;
    writeln!(cx.output(), "all forms");
    Ok(())
}

#[test]
fn every_form_gives_its_result() {
    let tests = [
        (3, Test::new()),
        (4, Test::new()),
        (9, Test::new().simulated(3, 2)),
        (5, Test::new().simulated(2, 3).packing_messages().repacking_objects()),
    ];
    for (ranks, test) in tests {
        let tested = test.run::<__Main>((Options { ranks },));
        crate::assert_ended_well(&format!("{ranks} ranks"), &tested);
        assert_eq!(tested.output, ["all forms"]);
    }
}
