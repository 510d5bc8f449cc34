//! Virtual topologies (MPI-3.1, chapter 7). Ranks are never reordered: they move anyway.

use std::ffi::c_int;

use talisman_ampi::comm::topology::{Adjacent, Cartesian, Graph, Topology, dims_create};
use talisman_ampi::comm::{Choice, Communicator, Group};
use talisman_ampi::objects::Kind;

use super::agreement::{from_all, lists_of_all, new_number};
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

fn graph(communicator: &Communicator) -> Result<&Graph, Class> {
    match &communicator.topology {
        Some(Topology::Graph(graph)) => Ok(graph),
        _ => Err(Class::Topology),
    }
}

fn adjacent(communicator: &Communicator) -> Result<&Adjacent, Class> {
    match &communicator.topology {
        Some(Topology::Adjacent(own)) => Ok(own),
        _ => Err(Class::Topology),
    }
}

fn with(made: Option<Communicator>, topology: Topology) -> Option<Communicator> {
    let mut made = made?;
    made.topology = Some(topology);
    Some(made)
}

/// A communicator of the first members of another, with a topology.
unsafe fn of_first<A: Abi>(
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

/// As unsigned numbers; a negative one is an error.
fn unsigned(numbers: &[c_int]) -> Result<Vec<u32>, Class> {
    numbers.iter().map(|number| u32::try_from(*number).map_err(|_| Class::Arg)).collect()
}

unsafe fn create_graph<A: Abi>(
    communicator: A::Handle,
    members: c_int,
    (index, edges): (*const c_int, *const c_int),
    to: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let index = list(index, length(members)?)?;
        let edges = list(edges, length(index.last().copied().unwrap_or(0))?)?;
        of_first::<A>("MPI_Graph_create", parent, to, |size| {
            let graph = Graph::new(&unsigned(index)?, &unsigned(edges)?).ok_or(Class::Topology)?;
            let places = graph.size();
            if places > size { Err(Class::Arg) } else { Ok((Topology::Graph(graph), places)) }
        })
    }
}

unsafe fn get_graph<A: Abi>(
    communicator: A::Handle,
    (index_room, edges_room): (c_int, c_int),
    (index, edges): (*mut c_int, *mut c_int),
) -> Outcome {
    let (index_room, edges_room) = (length(index_room)?, length(edges_room)?);
    // SAFETY: the caller's promise.
    unsafe {
        look::<A, _>(communicator, |found| {
            let graph = graph(found)?;
            let mut n = 0;
            for member in 0..graph.size() {
                for edge in graph.neighbors(member) {
                    if n < edges_room {
                        put(edges.add(n), *edge as c_int)?;
                    }
                    n += 1;
                }
                if (member as usize) < index_room {
                    put(index.add(member as usize), n as c_int)?;
                }
            }
            Ok(())
        })
    }
}

unsafe fn graph_neighbors<A: Abi>(
    communicator: A::Handle,
    rank: c_int,
    room: c_int,
    neighbors: *mut c_int,
) -> Outcome {
    let room = length(room)?;
    // SAFETY: the caller's promise.
    unsafe {
        look::<A, _>(communicator, |found| {
            let rank = u32::try_from(rank).map_err(|_| Class::Rank)?;
            let mut all = graph(found)?.neighbors(rank).iter().take(room).enumerate();
            all.try_for_each(|(at, neighbor)| put(neighbors.add(at), *neighbor as c_int))
        })
    }
}

/// Neighbours and weights of the program: how many, who, how much.
type Edges = (c_int, *const c_int, *const c_int);

/// Weights; none if the graph has none. Where there is no edge the list may be a special value.
unsafe fn weights_of<A: Abi>(weights: *const c_int, n: usize) -> Result<Option<Vec<u32>>, Class> {
    let [unweighted, empty] = (A::WEIGHTS)();
    match weights as usize {
        at if at == unweighted => Ok(None),
        at if at == empty || n == 0 => Ok(Some(Vec::new())),
        // SAFETY: the caller's promise.
        _ => unsigned(unsafe { list(weights, n) }?).map(Some),
    }
}

/// A graph of which each member tells its own edges.
unsafe fn create_adjacent<A: Abi>(
    communicator: A::Handle,
    sources: Edges,
    destinations: Edges,
    to: *mut A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let (ins, outs) = (length(sources.0)?, length(destinations.0)?);
        let (from, towards) = (list(sources.1, ins)?, list(destinations.1, outs)?);
        of_first::<A>("MPI_Dist_graph_create_adjacent", parent, to, |size| {
            let own = Adjacent {
                sources: unsigned(from)?,
                source_weights: weights_of::<A>(sources.2, ins)?,
                destinations: unsigned(towards)?,
                destination_weights: weights_of::<A>(destinations.2, outs)?,
            };
            let is_known = own.sources.iter().chain(&own.destinations).all(|rank| *rank < size);
            if is_known { Ok((Topology::Adjacent(own), size)) } else { Err(Class::Rank) }
        })
    }
}

/// A graph of which any member tells any edges.
unsafe fn create_distributed<A: Abi>(
    communicator: A::Handle,
    (n, sources, degrees): (c_int, *const c_int, *const c_int),
    (destinations, weights): (*const c_int, *const c_int),
    to: *mut A::Handle,
) -> Outcome {
    const NAME: &str = "MPI_Dist_graph_create";
    // SAFETY: the caller's promise.
    unsafe {
        let parent = known::<A>(Kind::Comm, communicator)?;
        let (sources, degrees) = (list(sources, length(n)?)?, list(degrees, length(n)?)?);
        let edges: usize = unsigned(degrees)?.iter().map(|degree| *degree as usize).sum();
        let destinations = list(destinations, edges)?;
        let weights = weights_of::<A>(weights, edges)?;
        let tellers = sources
            .iter()
            .zip(degrees)
            .flat_map(|(source, degree)| std::iter::repeat_n(*source, usize::try_from(*degree).unwrap_or(0)));
        let mut told = Vec::with_capacity(3 * edges);
        for (at, (source, destination)) in tellers.zip(destinations).enumerate() {
            let weight = weights.as_ref().and_then(|weights| weights.get(at)).copied().unwrap_or(1);
            told.extend([i64::from(source), i64::from(*destination), i64::from(weight)]);
        }
        let all = lists_of_all::<A>(NAME, parent, &told)?;
        let unweighted = from_all::<A, 1>(NAME, parent, [i64::from(weights.is_none())])?;
        let has_weights = unweighted.iter().all(|[none]| *none == 0);
        let rank = look::<A, _>(communicator, |found| found.rank().ok_or(Class::Comm))?;
        of_first::<A>(NAME, parent, to, |size| {
            let edges: Vec<_> =
                all.chunks_exact(3).map(|edge| (edge[0] as u32, edge[1] as u32, edge[2] as u32)).collect();
            if edges.iter().any(|edge| edge.0 >= size || edge.1 >= size) {
                return Err(Class::Rank);
            }
            let mut own = Adjacent::of(rank, &edges);
            if !has_weights {
                (own.source_weights, own.destination_weights) = (None, None);
            }
            Ok((Topology::Adjacent(own), size))
        })
    }
}

/// Lists of neighbours and weights, each with room for so many.
unsafe fn get_adjacent<A: Abi>(
    communicator: A::Handle,
    (in_room, sources, source_weights): (c_int, *mut c_int, *mut c_int),
    (out_room, destinations, destination_weights): (c_int, *mut c_int, *mut c_int),
) -> Outcome {
    let special = (A::WEIGHTS)();
    let (ins, outs) = (length(in_room)?, length(out_room)?);
    let copy = |from: &[u32], room: usize, to: *mut c_int| {
        // SAFETY: the caller's promise.
        from.iter()
            .take(room)
            .enumerate()
            .try_for_each(|(at, number)| unsafe { put(to.add(at), *number as c_int) })
    };
    let copy_weights = |from: &Option<Vec<u32>>, room: usize, to: *mut c_int| match from {
        Some(from) if !special.contains(&(to as usize)) => copy(from, room, to),
        _ => Ok(()),
    };
    // SAFETY: the caller's promise.
    unsafe {
        look::<A, _>(communicator, |found| {
            let own = adjacent(found)?;
            copy(&own.sources, ins, sources)?;
            copy_weights(&own.source_weights, ins, source_weights)?;
            copy(&own.destinations, outs, destinations)?;
            copy_weights(&own.destination_weights, outs, destination_weights)
        })
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
    "Graph_create" graph_create<>(
        communicator: A::Handle, members: c_int, index: *const c_int, edges: *const c_int,
        _reorder: c_int, to: *mut A::Handle,
    ) on communicator => create_graph::<A>(communicator, members, (index, edges), to);
    "Graphdims_get" graphdims_get<>(
        communicator: A::Handle, members: *mut c_int, edges: *mut c_int,
    ) on communicator => {
        let (n, all) = look::<A, _>(communicator, |found| {
            let graph = graph(found)?;
            Ok((graph.size(), (0..graph.size()).map(|member| graph.neighbors(member).len()).sum::<usize>()))
        })?;
        put(members, n as c_int)?;
        put(edges, all as c_int)
    };
    "Graph_get" graph_get<>(
        communicator: A::Handle, index_room: c_int, edges_room: c_int, index: *mut c_int, edges: *mut c_int,
    ) on communicator => get_graph::<A>(communicator, (index_room, edges_room), (index, edges));
    "Graph_neighbors_count" graph_neighbors_count<>(
        communicator: A::Handle, rank: c_int, count: *mut c_int,
    ) on communicator => {
        let member = u32::try_from(rank).map_err(|_| Class::Rank)?;
        put(count, look::<A, _>(communicator, |found| Ok(graph(found)?.neighbors(member).len()))? as c_int)
    };
    "Graph_neighbors" neighbors_of_graph<>(
        communicator: A::Handle, rank: c_int, room: c_int, neighbors: *mut c_int,
    ) on communicator => graph_neighbors::<A>(communicator, rank, room, neighbors);
    "Graph_map" graph_map<>(
        communicator: A::Handle, members: c_int, _index: *const c_int, _edges: *const c_int, rank: *mut c_int,
    ) on communicator => {
        let own = look::<A, _>(communicator, |found| found.rank().ok_or(Class::Comm))? as c_int;
        put(rank, if own < members { own } else { A::UNDEFINED })
    };
    "Dist_graph_create_adjacent" dist_graph_create_adjacent<>(
        communicator: A::Handle,
        ins: c_int, sources: *const c_int, source_weights: *const c_int,
        outs: c_int, destinations: *const c_int, destination_weights: *const c_int,
        _info: A::Handle, _reorder: c_int, to: *mut A::Handle,
    ) on communicator => {
        let (sources, destinations) = ((ins, sources, source_weights), (outs, destinations, destination_weights));
        create_adjacent::<A>(communicator, sources, destinations, to)
    };
    "Dist_graph_create" dist_graph_create<>(
        communicator: A::Handle, n: c_int, sources: *const c_int, degrees: *const c_int,
        destinations: *const c_int, weights: *const c_int, _info: A::Handle, _reorder: c_int, to: *mut A::Handle,
    ) on communicator => create_distributed::<A>(communicator, (n, sources, degrees), (destinations, weights), to);
    "Dist_graph_neighbors_count" dist_graph_neighbors_count<>(
        communicator: A::Handle, ins: *mut c_int, outs: *mut c_int, weighted: *mut c_int,
    ) on communicator => {
        let (sources, destinations, has_weights) = look::<A, _>(communicator, |found| {
            let own = adjacent(found)?;
            Ok((own.sources.len(), own.destinations.len(), own.source_weights.is_some()))
        })?;
        put(ins, sources as c_int)?;
        put(outs, destinations as c_int)?;
        put(weighted, c_int::from(has_weights))
    };
    "Dist_graph_neighbors" dist_graph_neighbors<>(
        communicator: A::Handle, in_room: c_int, sources: *mut c_int, source_weights: *mut c_int,
        out_room: c_int, destinations: *mut c_int, destination_weights: *mut c_int,
    ) on communicator => {
        let (ins, outs) = ((in_room, sources, source_weights), (out_room, destinations, destination_weights));
        get_adjacent::<A>(communicator, ins, outs)
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
