//! Virtual topologies, and grids (MPI-3.1, chapter 7). Ranks are never reordered: they move anyway.

use std::ffi::c_int;

use talisman_ampi::comm::topology::{Cartesian, Topology, dims_create};
use talisman_ampi::comm::{Choice, Communicator, Group};
use talisman_ampi::objects::Kind;

use super::agreement::new_number;
use super::call::{Outcome, known, length, list, put};
use super::communicator::{look, make};
use crate::abi::Abi;
use crate::class::Class;

fn grid(communicator: &Communicator) -> Result<&Cartesian, Class> {
    match &communicator.topology {
        Some(Topology::Cartesian(grid)) => Ok(grid),
        _ => Err(Class::Topology),
    }
}

fn with(made: Option<Communicator>, topology: Topology) -> Option<Communicator> {
    let mut made = made?;
    made.topology = Some(topology);
    Some(made)
}

/// A communicator of the first members of another, with a topology.
///
/// # Safety
/// `to` is the program's.
pub unsafe fn of_first<A: Abi>(
    name: &'static str,
    parent: u32,
    to: *mut A::Handle,
    topology: impl FnOnce(u32) -> Result<(Topology, u32), Class>,
) -> Outcome {
    let number = new_number::<A>(name, parent)?;
    // SAFETY: the caller's promise.
    unsafe {
        make::<A>(parent, to, |_, parent| {
            let (topology, size) = topology(parent.size())?;
            let first: Vec<u32> = parent.group().members().into_iter().take(size as usize).collect();
            Ok(with(parent.create(number, &Group::of(&first)), topology))
        })?;
    }
    Ok(())
}

unsafe fn create_grid<A: Abi>(
    communicator: A::Handle,
    dimensions: c_int,
    (lengths, periods): (*const c_int, *const c_int),
    to: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (parent, n) = (known::<A>(Kind::Comm, communicator)?, length(dimensions)?);
        let (lengths, periods) = (list(lengths, n)?, list(periods, n)?);
        of_first::<A>("MPI_Cart_create", parent, to, |size| {
            let (grid, places) = grid_of(lengths, periods)?;
            if places > size { Err(Class::Dims) } else { Ok((Topology::Cartesian(grid), places)) }
        })
    }
}

fn grid_of(lengths: &[c_int], periods: &[c_int]) -> Result<(Cartesian, u32), Class> {
    let dimension = |(length, periodic): (&c_int, &c_int)| match u32::try_from(*length) {
        Ok(length) if length > 0 => Ok((length, *periodic != 0)),
        _ => Err(Class::Dims),
    };
    let dimensions: Vec<(u32, bool)> =
        lengths.iter().zip(periods).map(dimension).collect::<Result<_, _>>()?;
    let grid = Cartesian::new(&dimensions).ok_or(Class::Dims)?;
    let places = grid.size();
    Ok((grid, places))
}

/// The dimensions and the place of the rank that calls.
unsafe fn get_grid<A: Abi>(
    communicator: A::Handle,
    room: c_int,
    (lengths, periods, place): (*mut c_int, *mut c_int, *mut c_int),
) -> Outcome {
    let room = length(room)?;
    // SAFETY: the caller's promise.
    unsafe {
        look::<A, _>(communicator, |found| {
            let (grid, rank) = (grid(found)?, found.rank().ok_or(Class::Comm)?);
            let dimensions = grid.dimensions().iter().zip(grid.coordinates(rank));
            for (at, ((length, is_periodic), coordinate)) in dimensions.enumerate().take(room) {
                put(lengths.add(at), *length as c_int)?;
                put(periods.add(at), c_int::from(*is_periodic))?;
                put(place.add(at), coordinate as c_int)?;
            }
            Ok(())
        })
    }
}

unsafe fn rank_at<A: Abi>(communicator: A::Handle, place: *const c_int, rank: *mut c_int) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let number = look::<A, _>(communicator, |found| {
            let grid = grid(found)?;
            let place = list(place, grid.dimensions().len())?;
            let place: Vec<i64> = place.iter().map(|at| i64::from(*at)).collect();
            grid.member(&place).ok_or(Class::Arg)
        })?;
        put(rank, number as c_int)
    }
}

unsafe fn place_of<A: Abi>(communicator: A::Handle, rank: c_int, room: c_int, place: *mut c_int) -> Outcome {
    let room = length(room)?;
    // SAFETY: the caller's promise.
    unsafe {
        look::<A, _>(communicator, |found| {
            let (grid, rank) = (grid(found)?, u32::try_from(rank).map_err(|_| Class::Rank)?);
            if rank >= grid.size() {
                return Err(Class::Rank);
            }
            let mut coordinates = grid.coordinates(rank).into_iter().take(room).enumerate();
            coordinates.try_for_each(|(at, coordinate)| put(place.add(at), coordinate as c_int))
        })
    }
}

unsafe fn shift<A: Abi>(
    communicator: A::Handle,
    (dimension, by): (c_int, c_int),
    (source, destination): (*mut c_int, *mut c_int),
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (from, to) = look::<A, _>(communicator, |found| {
            let (grid, rank) = (grid(found)?, found.rank().ok_or(Class::Comm)?);
            let dimension = length(dimension)?;
            if dimension >= grid.dimensions().len() {
                return Err(Class::Dims);
            }
            Ok(grid.shift(rank, dimension, i64::from(by)))
        })?;
        let number = |rank: Option<u32>| rank.map_or(A::PROC_NULL, |rank| rank as c_int);
        put(source, number(from))?;
        put(destination, number(to))
    }
}

/// Parts of a grid in which only some dimensions vary.
unsafe fn parts<A: Abi>(communicator: A::Handle, kept: *const c_int, to: *mut A::Handle) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let dimensions = look::<A, _>(communicator, |found| Ok(grid(found)?.dimensions().len()))?;
        let kept = list(kept, dimensions)?;
        let number = new_number::<A>("MPI_Cart_sub", parent)?;
        make::<A>(parent, to, |_, parent| {
            let kept: Vec<bool> = kept.iter().map(|kept| *kept != 0).collect();
            let (grid, rank) = (grid(parent)?, parent.rank().ok_or(Class::Comm)?);
            let choice = |member| {
                let (_, color, key) = grid.part(member, &kept);
                Choice { color: Some(color as i32), key: key as i32 }
            };
            let choices: Vec<Choice> = (0..parent.size()).map(choice).collect();
            let (part, ..) = grid.part(rank, &kept);
            Ok(with(parent.split(number, &choices), Topology::Cartesian(part)))
        })?;
    }
    Ok(())
}

unsafe fn choose_dimensions(members: c_int, count: c_int, lengths: *mut c_int) -> Outcome {
    let (members, count) = (u32::try_from(members).map_err(|_| Class::Arg)?, length(count)?);
    // SAFETY: the caller's promise.
    unsafe {
        let given = list(lengths.cast_const(), count)?.iter();
        let mut all: Vec<u32> =
            given.map(|length| u32::try_from(*length).map_err(|_| Class::Dims)).collect::<Result<_, _>>()?;
        if count > 0 {
            dims_create(members, &mut all).map_err(|_| Class::Dims)?;
        }
        all.iter().enumerate().try_for_each(|(at, length)| put(lengths.add(at), *length as c_int))
    }
}

super::calls! {
    "Cart_create" cart_create<>(
        communicator: A::Handle, dimensions: c_int, lengths: *const c_int, periods: *const c_int,
        _reorder: c_int, to: *mut A::Handle,
    ) on communicator => create_grid::<A>(communicator, dimensions, (lengths, periods), to);
    "Cartdim_get" cartdim_get<>(communicator: A::Handle, dimensions: *mut c_int) on communicator => {
        put(dimensions, look::<A, _>(communicator, |found| Ok(grid(found)?.dimensions().len()))? as c_int)
    };
    "Cart_get" cart_get<>(
        communicator: A::Handle, room: c_int, lengths: *mut c_int, periods: *mut c_int, place: *mut c_int,
    ) on communicator => get_grid::<A>(communicator, room, (lengths, periods, place));
    "Cart_rank" cart_rank<>(communicator: A::Handle, place: *const c_int, rank: *mut c_int) on communicator => {
        rank_at::<A>(communicator, place, rank)
    };
    "Cart_coords" cart_coords<>(
        communicator: A::Handle, rank: c_int, room: c_int, place: *mut c_int,
    ) on communicator => place_of::<A>(communicator, rank, room, place);
    "Cart_shift" cart_shift<>(
        communicator: A::Handle, dimension: c_int, by: c_int, source: *mut c_int, destination: *mut c_int,
    ) on communicator => shift::<A>(communicator, (dimension, by), (source, destination));
    "Cart_sub" cart_sub<>(communicator: A::Handle, kept: *const c_int, to: *mut A::Handle) on communicator => {
        parts::<A>(communicator, kept, to)
    };
    "Cart_map" cart_map<>(
        communicator: A::Handle, dimensions: c_int, lengths: *const c_int, periods: *const c_int, rank: *mut c_int,
    ) on communicator => {
        let n = length(dimensions)?;
        let (_, places) = grid_of(list(lengths, n)?, list(periods, n)?)?;
        let own = look::<A, _>(communicator, |found| found.rank().ok_or(Class::Comm))?;
        put(rank, if own < places { own as c_int } else { A::UNDEFINED })
    };
    "Dims_create" create_dims<>(members: c_int, count: c_int, lengths: *mut c_int) => {
        choose_dimensions(members, count, lengths)
    };
    "Topo_test" topo_test<>(communicator: A::Handle, kind: *mut c_int) on communicator => {
        let [graph, cartesian, adjacent] = A::TOPOLOGIES;
        let found = look::<A, _>(communicator, |found| Ok(match &found.topology {
            None => A::UNDEFINED,
            Some(Topology::Graph(_)) => graph,
            Some(Topology::Cartesian(_)) => cartesian,
            Some(Topology::Adjacent(_)) => adjacent,
        }))?;
        put(kind, found)
    };
}
