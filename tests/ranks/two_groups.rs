//! Collectives between the even ranks and the odd ones, checked by the ranks themselves.

use talisman_ampi::api::traits::*;
use talisman_ampi::api::{
    Color, Communicator, Error, InterCommunicator, Rank, Sided, Strides, SystemOperation, UserOperation,
    View, ViewMut, scope,
};

pub fn one_after_the_other(world: Communicator) -> Result<(), Error> {
    let (rank, size) = (world.rank(), world.size());
    let side = rank % 2;
    let both = connected(world)?;
    let remote = both.remote_size()?;
    assert_eq!(both.size() + remote, size);
    let mut all = vec![0; remote as usize];
    both.all_gather_into(&rank, &mut all)?;
    assert!(all.iter().zip(0..).all(|(one, number)| *one == 2 * number + 1 - side));
    both.barrier()?;
    let mut told = if rank == 2 { 77 } else { 0 };
    let root = match (rank, side) {
        (2, _) => Sided::Me,
        (_, 0) => Sided::Here,
        _ => Sided::There(1),
    };
    both.broadcast_into(root, &mut told)?;
    assert_eq!(told, if side == 1 || rank == 2 { 77 } else { 0 });
    let mut turned = vec![0; remote as usize];
    both.all_to_all_into(&vec![rank; remote as usize], &mut turned)?;
    assert_eq!(turned, all);
    let every_second = Strides { count: 2, length: 1, stride: 2 };
    let (sent, mut came) = ([rank, 7, -rank], vec![77; 3 * remote as usize]);
    let send = vec![View::new(&sent, every_second)?; remote as usize];
    let receive = came.chunks_mut(3).map(|place| ViewMut::new(place, every_second));
    both.all_to_all_views(&send, &mut receive.collect::<Result<Vec<_>, _>>()?)?;
    assert!(came.chunks(3).zip(&all).all(|(place, from)| place == [*from, 77, -from]));
    let mut sum = 0;
    both.all_reduce_into(&rank, &mut sum, SystemOperation::sum())?;
    assert_eq!(sum, all.iter().sum::<i32>());
    let wrong = both.process_at_rank(0).broadcast_into(&mut sum);
    assert_eq!(wrong, Err(Error::TwoGroups));
    let merged = both.merge(side == 0)?;
    assert_eq!(merged.rank(), rank / 2 + if side == 0 { remote } else { 0 });
    Ok(())
}

/// Even and odd ranks. Their leaders are the last of each.
fn connected(world: Communicator) -> Result<InterCommunicator, Error> {
    let (side, size) = (world.rank() % 2, world.size());
    let mine = world.split_by_color(Color::with_value(side))?.expect("each has a colour");
    mine.inter_communicator(mine.size() - 1, &world, last_of(1 - side, size), 9)
}

/// The last rank of a side.
fn last_of(side: i32, size: i32) -> i32 {
    (0..size).rfind(|rank| rank % 2 == side).expect("both sides have some")
}

/// What a member gives or gets where they differ in number.
fn part(member: Rank) -> Vec<u64> {
    vec![member as u64; member as usize % 3]
}

fn parts(members: Rank) -> (Vec<u64>, Vec<usize>) {
    ((0..members).flat_map(part).collect(), (0..members).map(|member| part(member).len()).collect())
}

/// Each rank is the root once.
pub fn with_roots(world: Communicator) -> Result<(), Error> {
    let both = connected(world)?;
    for root in 0..world.size() {
        match (root == world.rank(), root % 2 == world.rank() % 2) {
            (true, _) => root_of(both)?,
            (_, true) => (0..5).try_for_each(|_| both.stand_aside())?,
            _ => of_other_side(both, root / 2)?,
        }
    }
    let (remote, mut none) = (both.remote_size()?, 0u64);
    let error = Err(Error::Rank { rank: remote, size: remote });
    assert_eq!(both.gather_into(remote, &none), error);
    assert_eq!(both.broadcast_into(Sided::There(remote as u32), &mut none), error);
    Ok(())
}

fn root_of(both: InterCommunicator) -> Result<(), Error> {
    let remote = both.remote_size()?;
    let mut pairs = vec![u64::MAX; 2 * remote as usize];
    both.gather_into_root(&mut pairs)?;
    assert!(pairs.chunks(2).zip(0..).all(|(pair, member)| pair == [member; 2]));
    let (all, counts) = parts(remote);
    let mut gathered = vec![u64::MAX; all.len()];
    both.gather_varcount_into_root(&mut gathered, &counts)?;
    assert_eq!(gathered, all);
    both.scatter_into_root(&pairs)?;
    both.scatter_varcount_into_root(&all, &counts)?;
    let mut sum = 0u64;
    both.reduce_into_root(&mut sum, SystemOperation::sum())?;
    assert_eq!(sum, (0..remote as u64).sum::<u64>());
    Ok(())
}

fn of_other_side(both: InterCommunicator, root: Rank) -> Result<(), Error> {
    let me = both.rank();
    both.gather_into(root, &[me as u64; 2])?;
    both.gather_into(root, &part(me))?;
    let (mut pair, mut some) = ([u64::MAX; 2], vec![u64::MAX; part(me).len()]);
    both.scatter_into(root, &mut pair)?;
    both.scatter_into(root, &mut some)?;
    assert_eq!((pair, some), ([me as u64; 2], part(me)));
    both.reduce_into(root, &(me as u64), SystemOperation::sum())
}

/// All that have no root, and those of the root 0 among the even ranks, all at once.
pub fn at_once(world: Communicator) -> Result<(), Error> {
    let both = connected(world)?;
    let (me, here, remote) = (both.rank(), both.size() as usize, both.remote_size()? as usize);
    let (all, counts) = parts(remote as Rank);
    let (mine, own) = (part(me), vec![me as u64; remote]);
    let (mut evenly, mut gathered) = (vec![u64::MAX; remote], vec![u64::MAX; all.len()]);
    let (mut turned, mut varied) = (vec![u64::MAX; remote], vec![u64::MAX; remote]);
    let (ones, op) = (vec![1; remote], SystemOperation::sum());
    let (mut sum, operands) = (0, vec![me as u64; here * remote]);
    // The first has what the second has not.
    let mut shares = vec![remote; here];
    if here > 1 {
        (shares[0], shares[1]) = (2 * remote, 0);
    }
    let (mut block, mut share) = (vec![u64::MAX; remote], vec![u64::MAX; shares[me as usize]]);
    let (mut dealt, mut told, mut largest) = (0u64, 0u64, 0u64);
    let (mut came, numbers) = (vec![u64::MAX; remote], (0..remote as u64).collect::<Vec<_>>());
    let (root, max) = (0, UserOperation::commutative(|left: &u64, into| *into = *left.max(into))?);
    let one = me as u64;
    scope(|scope| {
        both.immediate_barrier(scope)?;
        both.immediate_all_gather_into(scope, &one, &mut evenly)?;
        both.immediate_all_gather_varcount_into(scope, &mine, &mut gathered, &counts)?;
        both.immediate_all_to_all_into(scope, &own, &mut turned)?;
        both.immediate_all_to_all_varcount_into(scope, &own, &ones, &mut varied, &ones)?;
        both.immediate_all_reduce_into(scope, &one, &mut sum, &op)?;
        both.immediate_reduce_scatter_block_into(scope, &operands, &mut block, &op)?;
        both.immediate_reduce_scatter_into(scope, &operands, &mut share, &shares, &op)?;
        match (world.rank() % 2, me) {
            (0, 0) => {
                told = 9;
                both.immediate_broadcast_into(scope, Sided::Me, &mut told)?;
                both.immediate_gather_into_root(scope, &mut came)?;
                both.immediate_scatter_into_root(scope, &numbers)?;
                both.immediate_reduce_into_root(scope, &mut largest, &max)?;
            }
            (0, _) => (0..4).try_for_each(|_| both.stand_aside())?,
            _ => {
                both.immediate_broadcast_into(scope, Sided::There(0), &mut told)?;
                both.immediate_gather_into(scope, root, &one)?;
                both.immediate_scatter_into(scope, root, &mut dealt)?;
                both.immediate_reduce_into(scope, root, &one, &max)?;
            }
        }
        Ok::<_, Error>(())
    })?;
    let total: u64 = numbers.iter().sum();
    assert_eq!((&evenly, &turned, &varied), (&numbers, &numbers, &numbers));
    assert_eq!((gathered, sum), (all, total));
    assert!(block.iter().chain(&share).all(|one| *one == total), "{block:?} {share:?}");
    match (world.rank() % 2, me) {
        (0, 0) => assert_eq!((came, largest), (numbers, remote as u64 - 1)),
        (0, _) => assert_eq!(told, 0),
        _ => assert_eq!((told, dealt), (9, me as u64)),
    }
    Ok(())
}
