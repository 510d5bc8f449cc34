//! Each call of the interface, checked by the ranks themselves.

use talisman::prelude::*;
use talisman::testing::Test;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{
    self as mpi, Color, Communicator, Error, Persistent, Strides, SystemOperation, Universe, UserOperation,
    View, ViewMut,
};
use talisman_ampi::rank::Program;

/// What each rank runs: all calls, with moves between them.
#[derive(Clone, Copy, Pup)]
pub struct Calls;

#[derive(Clone, Copy, Debug, PartialEq, Pup)]
#[repr(C)]
#[pup(plain)]
struct Atom {
    at: [f64; 3],
    number: u64,
}

/// The function that takes `x` to `slope * x + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Pup)]
#[repr(C)]
#[pup(plain)]
struct Line {
    slope: u64,
    offset: u64,
}

impl Line {
    /// First this one, then the next.
    fn then(self, next: Line) -> Line {
        let slope = self.slope.wrapping_mul(next.slope);
        Line { slope, offset: next.slope.wrapping_mul(self.offset).wrapping_add(next.offset) }
    }
}

talisman_ampi::equivalence!(Atom, Line);

impl Program for Calls {
    /// Nothing, or which call has failed, and how.
    type Output = Result<(), String>;

    fn main(self, universe: Universe) -> Result<(), String> {
        type Check = fn(Communicator) -> Result<(), Error>;
        let checks: [(&str, Check); 10] = [
            ("point to point", point_to_point),
            ("probes", probes),
            ("requests", requests),
            ("gathering", gathering),
            ("all to all", all_to_all),
            ("reductions", reductions),
            ("immediate collectives", immediate),
            ("persistent operations", persistent),
            ("views", views),
            ("errors", errors),
        ];
        for (name, check) in checks {
            check(universe.world()).map_err(|error| format!("{name}: {error}"))?;
            universe.move_to((universe.pe() + 1) % universe.pes());
        }
        communicators(universe).map_err(|error| format!("communicators: {error}"))
    }
}

fn ring(world: Communicator) -> (mpi::Process, mpi::Process) {
    let (rank, size) = (world.rank(), world.size());
    (world.process_at_rank((rank + size - 1) % size), world.process_at_rank((rank + 1) % size))
}

fn point_to_point(world: Communicator) -> Result<(), Error> {
    let (before, after) = ring(world);
    let rank = world.rank();
    after.send(&rank)?;
    let (value, status) = before.receive::<i32>()?;
    assert_eq!((value, status.source_rank(), status.tag()), (before.rank(), before.rank(), 0));
    after.buffered_send(&vec![2.5; 5_000])?;
    let (values, status) = before.receive_vec::<f64>()?;
    assert_eq!((values.len(), values[4_999], status.count::<f64>()?), (5_000, 2.5, 5_000));
    let atom = Atom { at: [1.0, 2.0, 3.0], number: rank as u64 };
    after.send_with_tag(&[atom; 3][..], 5)?;
    let mut atoms = [Atom { at: [0.0; 3], number: 0 }; 4];
    let status = world.any_process().receive_into_with_tag(&mut atoms, 5)?;
    assert_eq!((status.count::<Atom>()?, atoms[2].number), (3, before.rank() as u64));
    assert_eq!(atoms[3].number, 0, "what was not sent stays");
    let mut theirs = 0u8;
    mpi::point_to_point::send_receive_into(&(rank as u8), &after, &mut theirs, &before)?;
    assert_eq!(i32::from(theirs), before.rank());
    match rank % 2 {
        0 if rank + 1 < world.size() => after.synchronous_send(&1u16),
        1 => before.receive::<u16>().map(|_| ()),
        _ => Ok(()),
    }
}

fn probes(world: Communicator) -> Result<(), Error> {
    let (before, after) = ring(world);
    after.send_with_tag(&[7u32; 3][..], 9)?;
    after.send_with_tag(&[8u32; 2][..], 10)?;
    let status = before.probe_with_tag(10)?;
    assert_eq!(status.count::<u32>()?, 2);
    assert!(before.immediate_probe()?.is_some(), "the first came before the second");
    let (message, status) = before.matched_probe()?;
    assert_eq!((status.tag(), status.count::<u32>()?), (9, 3));
    let (second, _) = before.receive_vec::<u32>()?;
    let mut first = [0u32; 3];
    message.receive_into(&mut first)?;
    assert_eq!((first, second), ([7; 3], vec![8; 2]));
    // Messages of all have been received, and none is there before the next is sent.
    world.barrier()?;
    assert!(world.any_process().immediate_matched_probe()?.is_none());
    world.barrier()
}

fn requests(world: Communicator) -> Result<(), Error> {
    let (before, after) = ring(world);
    let (mut one, mut two, mut three) = ([0u64; 2_000], 0u64, 0u64);
    let mine = [5u64; 2_000];
    mpi::scope(|scope| {
        let mut receives = vec![
            before.immediate_receive_into_with_tag(scope, &mut one, 1)?,
            before.immediate_receive_into_with_tag(scope, &mut two, 2)?,
        ];
        // Nobody sends this one.
        let never = before.immediate_receive_into_with_tag(scope, &mut three, 3)?;
        assert!(mpi::request::test_any(&mut Vec::new())?.is_none());
        let sent = after.immediate_send_with_tag(scope, &mine, 1)?;
        after.immediate_send_with_tag(scope, &6u64, 2)?.wait()?;
        let (_, first) = mpi::request::wait_any(&mut receives)?.expect("two are open");
        let (_, second) = mpi::request::wait_any(&mut receives)?.expect("one is open");
        assert_eq!(first.tag() + second.tag(), 3);
        never.cancel()?;
        assert!(never.wait()?.is_cancelled());
        let mut sent = sent;
        while let Err(open) = sent.test()? {
            sent = open;
        }
        Ok::<_, Error>(())
    })?;
    assert_eq!((one, two, three), (mine, 6, 0));
    Ok(())
}

fn gathering(world: Communicator) -> Result<(), Error> {
    let (rank, size) = (world.rank(), world.size());
    for root in 0..size {
        let process = world.process_at_rank(root);
        let mut values = [if rank == root { 3.5f32 } else { 0.0 }; 3];
        process.broadcast_into(&mut values)?;
        assert_eq!(values, [3.5; 3]);
        let ranks: Vec<i32> = (0..size).collect();
        let varied: Vec<i32> = (0..size).flat_map(|rank| vec![rank; rank as usize]).collect();
        let counts: Vec<usize> = (0..size as usize).collect();
        let (mine, mut part) = (vec![rank; rank as usize], 0);
        if rank == root {
            let mut all = vec![0; size as usize];
            process.gather_into_root(&rank, &mut all)?;
            assert_eq!(all, ranks);
            let mut all = vec![0; varied.len()];
            process.gather_varcount_into_root(&mine, &mut all, &counts)?;
            assert_eq!(all, varied);
            process.scatter_into_root(&ranks, &mut part)?;
        } else {
            process.gather_into(&rank)?;
            process.gather_varcount_into(&mine)?;
            process.scatter_into(&mut part)?;
        }
        assert_eq!(part, rank);
    }
    let mut all = vec![0; 2 * size as usize];
    world.all_gather_into(&[rank, -rank], &mut all)?;
    assert!(all.chunks(2).zip(0..).all(|(pair, rank)| pair == [rank, -rank]));
    Ok(())
}

fn all_to_all(world: Communicator) -> Result<(), Error> {
    let (rank, size) = (world.rank(), world.size());
    let mine: Vec<i32> = (0..size).map(|to| 100 * rank + to).collect();
    let mut theirs = vec![0; size as usize];
    world.all_to_all_into(&mine, &mut theirs)?;
    assert!(theirs.iter().zip(0..).all(|(value, from)| *value == 100 * from + rank));
    // As many values for a rank as its number says.
    let counts: Vec<usize> = (0..size as usize).collect();
    let mine: Vec<i32> = (0..size).flat_map(|to| vec![rank; to as usize]).collect();
    let mut theirs = vec![0; (rank * size) as usize];
    world.all_to_all_varcount_into(&mine, &counts, &mut theirs, &vec![rank as usize; size as usize])?;
    let expected: Vec<i32> = (0..size).flat_map(|from| vec![from; rank as usize]).collect();
    assert_eq!(theirs, expected);
    Ok(())
}

fn reductions(world: Communicator) -> Result<(), Error> {
    let (rank, size) = (world.rank(), world.size());
    let mut sums = [0.0; 2];
    world.all_reduce_into(&[f64::from(rank), 1.0], &mut sums, SystemOperation::sum())?;
    assert_eq!(sums, [f64::from(size * (size - 1) / 2), f64::from(size)]);
    // Functions x -> a x + b, one after the other: the order counts.
    let after = UserOperation::non_commutative(|left: &Line, into: &mut Line| {
        *into = left.then(*into);
    })?;
    let step = |rank: i32| Line { slope: 2 + rank as u64, offset: 3 * rank as u64 + 1 };
    let chain = |last: i32| (1..=last).fold(step(0), |line, rank| line.then(step(rank)));
    let (none, other) = (Line { slope: 0, offset: 0 }, Line { slope: 9, offset: 9 });
    let root = world.process_at_rank(size - 1);
    let mut result = none;
    match rank == size - 1 {
        true => root.reduce_into_root(&step(rank), &mut result, &after)?,
        false => root.reduce_into(&step(rank), &after)?,
    }
    assert_eq!(result, if rank == size - 1 { chain(size - 1) } else { none });
    let (mut up_to, mut before) = (none, other);
    world.scan_into(&step(rank), &mut up_to, &after)?;
    world.exclusive_scan_into(&step(rank), &mut before, &after)?;
    assert_eq!((up_to, before), (chain(rank), if rank == 0 { other } else { chain(rank - 1) }));
    let mut part = 0;
    let parts: Vec<i32> = (0..size).map(|to| rank + to).collect();
    world.reduce_scatter_block_into(&parts, &mut part, SystemOperation::max())?;
    assert_eq!(part, size - 1 + rank);
    Ok(())
}

fn immediate(world: Communicator) -> Result<(), Error> {
    let (rank, size) = (world.rank(), world.size());
    let (mut sum, mut all, mut value) = (0, vec![0; size as usize], if rank == 0 { 4 } else { 0 });
    let op = SystemOperation::sum();
    mpi::scope(|scope| {
        let sum = world.immediate_all_reduce_into(scope, &rank, &mut sum, &op)?;
        let gathered = world.immediate_all_gather_into(scope, &rank, &mut all)?;
        let sent = world.process_at_rank(0).immediate_broadcast_into(scope, &mut value)?;
        let barrier = world.immediate_barrier(scope)?;
        mpi::request::wait_all(vec![barrier, sent, gathered, sum])
    })?;
    assert_eq!((sum, value), (size * (size - 1) / 2, 4));
    assert_eq!(all, (0..size).collect::<Vec<_>>());
    Ok(())
}

fn persistent(world: Communicator) -> Result<(), Error> {
    let (before, after) = ring(world);
    let (rank, size) = (world.rank(), world.size());
    let (mut mine, mut theirs) = ([0; 3_000], [0; 3_000]);
    mpi::scope(|scope| {
        let mut send = Persistent::send(scope, &mut mine, &after, 6)?;
        let mut receive = Persistent::receive(scope, &mut theirs, &world.any_process(), Some(6))?;
        for round in 0..4 {
            send.buffer()?.fill(100 * round + rank);
            receive.start()?;
            send.start()?;
            assert_eq!(send.start(), Err(Error::Active));
            assert_eq!(receive.wait()?.source_rank(), before.rank());
            send.wait()?;
            assert_eq!(receive.buffer()?[2_999], 100 * round + (rank + size - 1) % size);
        }
        // One that nobody waits for: the scope does.
        receive.start()?;
        after.send_with_tag(&[7; 4], 6)
    })?;
    assert_eq!(theirs[..4], [7; 4]);
    Ok(())
}

fn views(world: Communicator) -> Result<(), Error> {
    let (before, after) = ring(world);
    // Rows of four: the second column goes to the third one of the next, and then as a row.
    let matrix: Vec<i32> = (0..4 * 1_000).map(|cell| cell + world.rank()).collect();
    let mut theirs = vec![-1; matrix.len()];
    let column = Strides { count: 1_000, length: 1, stride: 4 };
    let sent = View::new(&matrix[1..], column)?;
    mpi::scope(|scope| {
        let mut row = vec![0; 1_000];
        sent.send(&after, 1)?;
        before.receive_into_with_tag(&mut row, 1)?;
        assert!(row.iter().zip(0..).all(|(value, at)| *value == 4 * at + 1 + before.rank()));
        after.immediate_send_with_tag(scope, &matrix[..1_000], 2)?;
        ViewMut::new(&mut theirs[2..], column)?.receive(&before, Some(2)).map(|_| ())
    })?;
    for (at, cell) in theirs.iter().enumerate() {
        let expected = if at % 4 == 2 { at as i32 / 4 + before.rank() } else { -1 };
        assert_eq!(*cell, expected, "cell {at}");
    }
    assert!(View::new(&matrix[2..], Strides { count: 1_001, ..column }).is_err());
    Ok(())
}

fn errors(world: Communicator) -> Result<(), Error> {
    let size = world.size();
    let nobody = world.process_at_rank(size);
    assert_eq!(nobody.send(&1), Err(Error::Rank { rank: size, size }));
    assert_eq!(world.this_process().send_with_tag(&1, -2), Err(Error::Tag(-2)));
    let short = world.all_gather_into(&1, &mut vec![0; size as usize + 1]);
    let wanted = size as usize;
    assert_eq!(short, Err(Error::Count { buffer: "receive", here: wanted + 1, wanted }));
    let flags = world.all_reduce_into(&1.0, &mut 0.0, SystemOperation::bitwise_or());
    assert_eq!(flags.unwrap_err().to_string(), "BitOr is not defined for F64");
    world.barrier()
}

fn communicators(universe: Universe) -> Result<(), Error> {
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let twin = world.duplicate()?;
    let (before, after) = ring(world);
    after.send_with_tag(&1, 4)?;
    twin.process_at_rank(after.rank()).send_with_tag(&2, 4)?;
    let (in_twin, _) = twin.process_at_rank(before.rank()).receive_with_tag::<i32>(4)?;
    let (in_world, _) = before.receive_with_tag::<i32>(4)?;
    assert_eq!((in_world, in_twin), (1, 2));
    let color = if rank == 0 { Color::undefined() } else { Color::with_value(rank % 2) };
    let part = world.split_by_color_with_key(color, -rank)?;
    assert_eq!(part.is_none(), rank == 0);
    if let Some(part) = part {
        let (mut sum, others) = (0, (1..size).filter(|other| other % 2 == rank % 2));
        part.all_reduce_into(&rank, &mut sum, SystemOperation::sum())?;
        assert_eq!(sum, others.clone().sum::<i32>());
        assert_eq!(part.rank() as usize, others.filter(|other| *other > rank).count(), "by key");
        part.free()?;
    }
    assert_eq!((universe.alone().size(), universe.alone().rank()), (1, 0));
    assert!(world.free().is_err());
    twin.free()
}

#[derive(clap::Parser, Clone, Copy, Pup)]
struct Options {
    #[arg(long)]
    ranks: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let call = talisman_ampi::run(options.ranks, Calls).map_err(|error| error.to_string())?;
    let ended: Vec<Result<(), String>> = call.await;
    ended.into_iter().collect::<Result<Vec<()>, String>>()?;
    writeln!(cx.output(), "all calls did what they should");
    Ok(())
}

#[test]
fn calls_do_what_mpi_says() {
    for ranks in [1u32, 2, 5, 8] {
        for (name, test) in [
            ("one PE", Test::new()),
            ("simulated", Test::new().simulated(3, u64::from(ranks))),
            ("simulated and packed", Test::new().simulated(2, 7).packing_messages()),
        ] {
            let tested = test.run::<__Main>((Options { ranks },));
            crate::assert_ended_well(&format!("{name}, {ranks} ranks"), &tested);
            assert_eq!(tested.output, ["all calls did what they should"]);
        }
    }
}
